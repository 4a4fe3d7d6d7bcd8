/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the answers and counters make of the steps. */
#include "simulation_state.h"

#include <acmite/wire.h>
#include <inttypes.h>

static const char *const status_words[16] = {
	[ACM_STATUS_OK] = "success",
	[ACM_STATUS_NO_MEMORY] = "no_memory",
	[ACM_STATUS_INVALID] = "invalid",
	[ACM_STATUS_NO_DATA] = "no_data",
	[ACM_STATUS_NOT_CONNECTED] = "not_connected",
	[ACM_STATUS_TIMED_OUT] = "timed_out",
	[ACM_STATUS_SOURCE_ADDRESS] = "source_address",
	[ACM_STATUS_SOURCE_TYPE] = "source_type",
	[ACM_STATUS_DESTINATION_ADDRESS] = "destination_address",
	[ACM_STATUS_DESTINATION_TYPE] = "destination_type",
};

static const char *status_word(enum acm_status status)
{
	const char *word = (unsigned int)status < 16 ? status_words[status] : NULL;

	return word ? word : "unknown";
}

/* ---- answers ---- */

static void expect_path(struct simulation *simulation, const struct sim_expectation *expect,
			const struct acm_path *path, char *wrong, size_t size)
{
	if (expect->mtu && acm_mtu_bytes(path->mtu) != expect->mtu)
		snprintf(wrong, size, "MTU %u", acm_mtu_bytes(path->mtu));
	else if (expect->rate && path->rate != expect->rate)
		snprintf(wrong, size, "rate %u.%u Gb/s", acm_rate_tenths_gbps(path->rate) / 10,
			 acm_rate_tenths_gbps(path->rate) % 10);
	else if (expect->has_sl && path->sl != expect->sl)
		snprintf(wrong, size, "SL %u", path->sl);
	else if (expect->pkey && path->pkey != expect->pkey)
		snprintf(wrong, size, "P_Key 0x%04x", path->pkey);
	else if (expect->node != SIM_NONE &&
		 sim_invariants_node_of(&simulation->invariants, &path->dgid) != expect->node)
		snprintf(wrong, size, "a path to %s",
			 simulation_node_name(
				 simulation,
				 sim_invariants_node_of(&simulation->invariants, &path->dgid)));
}

void simulation_judge_answer(struct simulation *simulation, const struct sim_asked *asked,
			     const struct acm_reply *reply)
{
	const struct sim_expectation *expect = &simulation->scenario->steps[asked->step].expect;
	struct sim_progress *progress = &simulation->progress[asked->step];
	uint64_t took = simulation->now - asked->time;
	uint64_t late = took > expect->within ? took - expect->within : 0;
	char wrong[128] = "";

	progress->statuses[reply->status & 15]++;
	if (expect->statuses && !(expect->statuses >> reply->status & 1))
		snprintf(wrong, sizeof(wrong), "%s after %.3f ms", status_word(reply->status),
			 (double)took / 1e6);
	else if (late > simulation->allowance || took < expect->after)
		snprintf(wrong, sizeof(wrong), "%s after %.3f ms, too %s",
			 status_word(reply->status), (double)took / 1e6, late ? "late" : "soon");
	else if (reply->status == ACM_STATUS_OK)
		expect_path(simulation, expect, &reply->path, wrong, sizeof(wrong));
	if (!wrong[0] && late > progress->late_most)
		progress->late_most = late;
	if (wrong[0] && !progress->wrong++)
		snprintf(progress->first_wrong, sizeof(progress->first_wrong),
			 "%s, asked for %s: %s", simulation_node_name(simulation, asked->node),
			 asked->target == SIM_NONE
				 ? "the address"
				 : simulation_node_name(simulation, asked->target),
			 wrong);
}

/* ---- steps ---- */

static bool within(const struct sim_bounds *bounds, uint64_t count)
{
	return !bounds->given || (count >= bounds->least && count <= bounds->most);
}

static void describe_resolve(const struct simulation *simulation, uint32_t step, char *what)
{
	const struct sim_resolve *resolve = &simulation->scenario->steps[step].resolve;
	char asking[64], target[80];

	if (resolve->on.count == 1)
		snprintf(asking, sizeof(asking), "%.63s",
			 simulation_node_name(simulation, resolve->on.nodes[0]));
	else
		snprintf(asking, sizeof(asking), "%u nodes", resolve->on.count);
	if (!resolve->to.count)
		acm_address_format(&resolve->address, target, sizeof(target));
	else if (resolve->to.count == 1)
		snprintf(target, sizeof(target), "%.63s",
			 simulation_node_name(simulation, resolve->to.nodes[0]));
	else
		snprintf(target, sizeof(target), "%u nodes", resolve->to.count);
	snprintf(what, SIM_WHAT_SIZE, "%.60s resolve%s %.64s", asking,
		 resolve->on.count == 1 ? "s" : "", target);
}

static void check_counts(struct simulation *simulation, uint32_t step)
{
	const struct sim_expectation *expect = &simulation->scenario->steps[step].expect;
	struct sim_progress *progress = &simulation->progress[step];
	bool cached = !progress->sa_queries && !progress->multicasts;

	if (within(&expect->sa_queries, progress->sa_queries) &&
	    within(&expect->multicasts, progress->multicasts) && within(&expect->cached, cached))
		return;
	if (!progress->wrong++)
		snprintf(progress->first_wrong, sizeof(progress->first_wrong),
			 "%" PRIu64 " SA queries and %" PRIu64 " multicasts", progress->sa_queries,
			 progress->multicasts);
}

void simulation_finish_step(struct simulation *simulation, uint32_t step)
{
	struct sim_progress *progress = &simulation->progress[step];
	struct sim_outcome *outcome = &simulation->result->outcomes[step];

	check_counts(simulation, step);
	progress->done = true;
	describe_resolve(simulation, step, outcome->what);
	outcome->at = progress->begun - simulation->origin;
	outcome->took = simulation->now - progress->begun;
	if (progress->skipped) {
		outcome->verdict = SIM_SKIPPED;
		snprintf(outcome->came, sizeof(outcome->came), "%s", simulation->skips);
	} else if (progress->wrong) {
		outcome->verdict = SIM_FAILED;
		snprintf(outcome->came, sizeof(outcome->came), "%s%s", progress->first_wrong,
			 progress->wrong > 1 ? " (and others)" : "");
	} else if (progress->late_most) {
		snprintf(outcome->came, sizeof(outcome->came),
			 "%.3f ms later than said, which is allowed in real time",
			 (double)progress->late_most / 1e6);
	}
}

void simulation_check_step(struct simulation *simulation, uint32_t step)
{
	const struct sim_check *check = &simulation->scenario->steps[step].check;
	struct sim_outcome *outcome = &simulation->result->outcomes[step];
	struct sim_fabric_stats fabric;
	uint64_t count = 0;

	sim_fabric_stats(simulation->fabric, &fabric);
	if (check->of_drop)
		count = fabric.dropped[check->counter];
	for (uint32_t i = 0; i < check->on.count; i++) {
		struct sim_resident *resident =
			sim_population_resident(simulation->population, check->on.nodes[i]);
		struct acm_engine_stats stats;

		if (!resident)
			continue;
		acm_engine_stats(sim_resident_engine(resident), &stats);
		count += stats.counters[check->counter];
	}
	simulation->progress[step].done = true;
	outcome->at = simulation_time(simulation);
	snprintf(outcome->what, sizeof(outcome->what), "%s %s",
		 check->of_drop ? "packets dropped:" : "counted:",
		 check->of_drop ? sim_drop_name((enum sim_drop)check->counter)
				: acm_counter_name((enum acm_counter)check->counter));
	if (simulation->skips) {
		outcome->verdict = SIM_SKIPPED;
		snprintf(outcome->came, sizeof(outcome->came), "%s", simulation->skips);
	} else if (!within(&check->bounds, count)) {
		outcome->verdict = SIM_FAILED;
		snprintf(outcome->came, sizeof(outcome->came), "%" PRIu64, count);
	}
}
