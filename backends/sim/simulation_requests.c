/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What nodes are asked, and what they answer. */
#include "simulation_state.h"

#include <acmite/wire.h>
#include <inttypes.h>
#include <string.h>

/* The local client's way to the engine and back costs no fabric time. */
#define BOUND_SLACK ACM_NSEC_PER_MSEC

/* ---- asking ---- */

const struct acm_address *simulation_address_of(const struct sim_node *node, uint8_t type)
{
	for (uint32_t i = 0; i < node->address_count; i++) {
		if (!type || node->addresses[i].type == type)
			return &node->addresses[i];
	}
	return NULL;
}

/* By enum sim_by, as far as it is one of a node's addresses. */
static const uint8_t types[] = {ACM_ADDRESS_NAME, ACM_ADDRESS_IP, ACM_ADDRESS_IP6};

static bool facts_of(struct simulation *simulation, uint32_t node, struct acm_port_facts *facts)
{
	struct sim_port_ref ref = {.node = node, .port = 1};

	return !simulation->control->ops->port_facts(simulation->control, ref, facts);
}

static void name_target(struct simulation *simulation, const struct sim_resolve *resolve,
			uint32_t node, uint32_t target, struct acm_request *request)
{
	const struct sim_node *of = &simulation->topology->nodes[target];
	struct acm_port_facts facts, own;

	if (resolve->by <= SIM_BY_IP6) {
		request->destination = *simulation_address_of(of, types[resolve->by]);
		return;
	}
	if (!facts_of(simulation, target, &facts) || !facts_of(simulation, node, &own))
		return;
	request->kind = ACM_REQUEST_PATH;
	request->path.sgid = own.gids[0];
	if (resolve->by == SIM_BY_GID)
		request->path.dgid = facts.gids[0];
	else
		request->path.dlid = facts.lid;
}

static bool deliver(struct simulation *simulation, struct sim_resident *resident,
		    const struct acm_request *request)
{
	struct acm_event event = {
		.type = ACM_EVENT_REQUEST, .time = simulation->now, .request = request};

	if (!sim_resident_is_paused(resident)) {
		simulation->error = sim_resident_step(resident, &event);
	} else if (simulation_grow(simulation, &simulation->deferred, simulation->deferred_count,
				   &simulation->deferred_room, sizeof(*simulation->deferred))) {
		simulation->deferred[simulation->deferred_count++] =
			(struct sim_deferred){sim_resident_node(resident), *request};
	}
	return !simulation->error;
}

/* What a node was asked before or while it was paused is to be answered now. */
static void expect_again(struct simulation *simulation, uint32_t node)
{
	for (uint32_t i = simulation->asked_count; i-- > 0;) {
		struct sim_asked *asked = &simulation->asked[i];

		if (asked->node != node || asked->answered || !asked->excused)
			continue;
		asked->excused = false;
		asked->due = simulation->now + simulation->hosts[node].bound + BOUND_SLACK;
		simulation->open++;
		if (i < simulation->oldest)
			simulation->oldest = i;
	}
}

void simulation_deliver_deferred(struct simulation *simulation, uint32_t node)
{
	struct sim_resident *resident = sim_population_resident(simulation->population, node);
	uint32_t kept = 0, count = simulation->deferred_count;

	if (resident)
		expect_again(simulation, node);
	for (uint32_t i = 0; i < count; i++) {
		struct sim_deferred deferred = simulation->deferred[i];

		if (deferred.node != node)
			simulation->deferred[kept++] = deferred;
		else if (resident && !simulation->error &&
			 !simulation->asked[deferred.request.id - 1].answered)
			deliver(simulation, resident, &deferred.request);
	}
	simulation->deferred_count = kept;
}

/* The node's answer may come before this returns. False: no memory. */
static bool ask(struct simulation *simulation, const struct acm_request *request,
		const struct sim_asked *asked)
{
	struct sim_resident *resident =
		sim_population_resident(simulation->population, asked->node);
	struct acm_request numbered = *request;
	uint32_t place = simulation->asked_count;

	if (!simulation_grow(simulation, &simulation->asked, place, &simulation->asked_room,
			     sizeof(*asked)))
		return false;
	simulation->asked[place] = *asked;
	simulation->asked[place].time = simulation->now;
	simulation->asked[place].due =
		simulation->now + simulation->hosts[asked->node].bound + BOUND_SLACK;
	simulation->asked[place].excused = sim_resident_is_paused(resident);
	simulation->asked_count++;
	simulation->open += !simulation->asked[place].excused;
	simulation->result->requests++;
	numbered.id = place + 1;
	numbered.tid = place + 1;
	numbered.opcode = ACM_OPCODE_RESOLVE;
	return deliver(simulation, resident, &numbered);
}

static void ask_one(struct simulation *simulation, uint32_t step, uint32_t node, uint32_t target)
{
	const struct sim_resolve *resolve = &simulation->scenario->steps[step].resolve;
	struct sim_asked asked = {.step = step, .node = node, .target = target, .sought = SIM_NONE};
	struct acm_request request = {.kind = ACM_REQUEST_RESOLVE,
				      .query_sa = resolve->query_sa,
				      .no_delay = resolve->no_delay,
				      .has_source = resolve->has_source,
				      .source = resolve->source,
				      .destination = resolve->address};
	uint32_t first = simulation->asked_count;

	if (!sim_population_resident(simulation->population, node)) {
		simulation->progress[step].outstanding--;
		simulation->progress[step].wrong += !simulation->scenario->drawn;
		snprintf(simulation->progress[step].first_wrong,
			 sizeof(simulation->progress[step].first_wrong), "%s is stopped",
			 simulation_node_name(simulation, node));
		return;
	}
	if (target != SIM_NONE)
		name_target(simulation, resolve, node, target, &request);
	if (request.kind == ACM_REQUEST_RESOLVE && request.destination.type < ACM_ADDRESS_GID)
		asked.address =
			target == SIM_NONE
				? &resolve->address
				: simulation_address_of(&simulation->topology->nodes[target],
							types[resolve->by]);
	simulation->invariants.several_ways |= resolve->query_sa;
	if (ask(simulation, &request, &asked) && resolve->cancel_after != ACM_NEVER)
		simulation_schedule(simulation, (struct sim_due){.time = simulation->now +
									 resolve->cancel_after,
								 .kind = SIM_DUE_CANCEL,
								 .index = first});
}

void simulation_begin_resolve(struct simulation *simulation, uint32_t step)
{
	const struct sim_resolve *resolve = &simulation->scenario->steps[step].resolve;
	struct sim_progress *progress = &simulation->progress[step];
	uint32_t targets = resolve->to.count ? resolve->to.count : 1;

	progress->begun = simulation->now;
	progress->skipped = simulation->skips;
	progress->outstanding = resolve->on.count * targets * resolve->times + 1;
	for (uint32_t i = 0; i < resolve->on.count; i++) {
		for (uint32_t j = 0; j < targets; j++) {
			for (uint32_t k = 0; k < resolve->times && !simulation->error; k++)
				ask_one(simulation, step, resolve->on.nodes[i],
					resolve->to.count ? resolve->to.nodes[j] : SIM_NONE);
		}
	}
	if (!--progress->outstanding)
		simulation_finish_step(simulation, step);
}

static bool ask_address(struct simulation *simulation, const struct sim_asked *asked)
{
	struct acm_request request = {.kind = ACM_REQUEST_RESOLVE};

	if (!asked->address || !sim_population_resident(simulation->population, asked->node))
		return false;
	request.destination = *asked->address;
	return ask(simulation, &request, asked);
}

bool simulation_ask_pair(struct simulation *simulation, uint32_t node, uint32_t target)
{
	return ask_address(simulation,
			   &(struct sim_asked){.step = SIM_STEP_NONE,
					       .node = node,
					       .target = target,
					       .sought = SIM_NONE,
					       .address = simulation_address_of(
						       &simulation->topology->nodes[target], 0)});
}

bool simulation_ask_target(struct simulation *simulation, uint32_t node, uint32_t target)
{
	const struct sim_target *sought = &simulation->targets[target];

	return ask_address(simulation, &(struct sim_asked){.step = SIM_STEP_NONE,
							   .node = node,
							   .target = sought->node,
							   .sought = target,
							   .address = &sought->address});
}

static void close_request(struct simulation *simulation, struct sim_asked *asked)
{
	if (!asked->answered && !asked->excused)
		simulation->open--;
}

static void step_loses_one(struct simulation *simulation, uint32_t step)
{
	if (step != SIM_STEP_NONE && !--simulation->progress[step].outstanding)
		simulation_finish_step(simulation, step);
}

void simulation_cancel(struct simulation *simulation, uint32_t request)
{
	struct sim_asked *asked = &simulation->asked[request];
	struct sim_resident *resident =
		sim_population_resident(simulation->population, asked->node);
	struct acm_event event = {
		.type = ACM_EVENT_CANCEL, .time = simulation->now, .cancel = request + 1};

	if (asked->answered || !resident)
		return;
	close_request(simulation, asked);
	asked->answered = true; /* any answer from now on is one too many */
	simulation->error = sim_resident_step(resident, &event);
	step_loses_one(simulation, asked->step);
}

void simulation_excuse(struct simulation *simulation, uint32_t node)
{
	bool gone = !sim_population_resident(simulation->population, node);

	if (gone)
		sim_invariants_addresses_reset(&simulation->invariants, node, simulation->now);
	for (uint32_t i = 0; i < simulation->asked_count; i++) {
		struct sim_asked *asked = &simulation->asked[i];

		if (asked->node != node || asked->answered)
			continue;
		close_request(simulation, asked);
		asked->excused = true;
		if (gone) {
			asked->answered = true;
			step_loses_one(simulation, asked->step);
		}
	}
}

uint64_t simulation_request_deadline(struct simulation *simulation)
{
	while (simulation->oldest < simulation->asked_count &&
	       (simulation->asked[simulation->oldest].answered ||
		simulation->asked[simulation->oldest].excused))
		simulation->oldest++;
	if (simulation->oldest == simulation->asked_count)
		return ACM_NEVER;
	return simulation->asked[simulation->oldest].due;
}

/* ---- answers ---- */

/* 3: nothing happened to anybody but nodes that are asked for by others only, and no packet was
 * lost. */
static void check_promptness(struct simulation *simulation, const struct sim_asked *asked)
{
	const struct acm_engine_config *config =
		sim_scenario_config(simulation->scenario, asked->node);
	uint64_t took = simulation->now - asked->time;
	struct sim_fabric_stats stats;

	if (simulation->invariants.disturbed || asked->target == SIM_NONE ||
	    (asked->target == asked->node && !config->loopback) || /* nobody answers it */
	    config->compat == ACM_COMPAT_IBACM || took <= config->timeout + simulation->allowance ||
	    simulation->hosts[asked->node].ever_stopped ||
	    simulation->hosts[asked->target].ever_stopped)
		return;
	sim_fabric_stats(simulation->fabric, &stats);
	if (!stats.dropped[SIM_DROP_NO_BUFFER])
		simulation_broken(simulation, "no request waits on an unrelated destination",
				  "%s waited %.3f ms for %s, to which nothing happened",
				  simulation_node_name(simulation, asked->node), (double)took / 1e6,
				  simulation_node_name(simulation, asked->target));
}

static void check_truth(struct simulation *simulation, const struct sim_asked *asked,
			const struct acm_reply *reply)
{
	const struct acm_engine_config *config =
		sim_scenario_config(simulation->scenario, asked->node);

	sim_invariants_success(&simulation->invariants, &reply->path, asked->address,
			       config->address_life, simulation->now);
}

void simulation_reply(void *context, const struct acm_reply *reply)
{
	struct sim_host *host = context;
	struct simulation *simulation = host->simulation;
	struct sim_asked *asked;

	if (!reply->id || reply->id > simulation->asked_count ||
	    simulation->asked[reply->id - 1].node != host->node ||
	    simulation->asked[reply->id - 1].answered) {
		simulation_broken(simulation, "each request gets exactly one answer",
				  "%s answered request %" PRIu64
				  " once more, or after it was cancelled",
				  simulation_node_name(simulation, host->node), reply->id);
		return;
	}
	asked = &simulation->asked[reply->id - 1];
	close_request(simulation, asked);
	asked->answered = true;
	if (reply->status == ACM_STATUS_OK)
		check_truth(simulation, asked, reply);
	check_promptness(simulation, asked);
	if (asked->sought != SIM_NONE)
		simulation_pair_answered(simulation, asked, reply);
	if (asked->step == SIM_STEP_NONE)
		return;
	simulation_judge_answer(simulation, asked, reply);
	step_loses_one(simulation, asked->step);
}

/* ---- what steps count ---- */

static bool concerns(const struct simulation *simulation, uint32_t step, uint32_t node,
		     const struct acm_address *destination)
{
	const struct sim_resolve *resolve = &simulation->scenario->steps[step].resolve;
	bool on = false;

	for (uint32_t i = 0; i < resolve->on.count && !on; i++)
		on = resolve->on.nodes[i] == node;
	if (!on)
		return false;
	if (!resolve->to.count)
		return acm_address_equal(&resolve->address, destination);
	if (resolve->by > SIM_BY_IP6)
		return true;
	for (uint32_t i = 0; i < resolve->to.count; i++) {
		const struct sim_node *to = &simulation->topology->nodes[resolve->to.nodes[i]];

		if (acm_address_equal(simulation_address_of(to, types[resolve->by]), destination))
			return true;
	}
	return false;
}

static void count_for_steps(struct simulation *simulation, uint32_t node,
			    const struct acm_trace *trace)
{
	for (uint32_t i = 0; i < simulation->scenario->step_count; i++) {
		const struct sim_expectation *expect = &simulation->scenario->steps[i].expect;
		struct sim_progress *progress = &simulation->progress[i];

		if (!progress->outstanding ||
		    !(expect->sa_queries.given || expect->multicasts.given ||
		      expect->cached.given) ||
		    !concerns(simulation, i, node, &trace->destination))
			continue;
		if (trace->type == ACM_TRACE_SA_QUERY)
			progress->sa_queries++;
		else
			progress->multicasts++;
	}
}

static void write_trace(struct simulation *simulation, uint32_t node, const struct acm_trace *trace)
{
	const char *name = simulation_node_name(simulation, node);
	char text[512], line[640];
	int length;

	acm_trace_format(trace, text, sizeof(text));
	length = snprintf(line, sizeof(line), "%" PRIu64 " %s %s\n",
			  simulation->now - simulation->start, name, text);
	if (simulation->options->trace)
		fwrite(line, 1, (size_t)length, simulation->options->trace);
	for (int i = 0; i < length; i++)
		simulation->result->trace_hash =
			(simulation->result->trace_hash ^ (uint8_t)line[i]) *
			UINT64_C(0x100000001b3);
}

void simulation_trace(void *context, const struct acm_trace *trace)
{
	struct sim_host *host = context;
	struct simulation *simulation = host->simulation;

	/* The reference daemon asks on when it has heard the answer, and ends that without a word.
	 */
	if (sim_scenario_config(simulation->scenario, host->node)->compat != ACM_COMPAT_IBACM)
		sim_invariants_trace(&simulation->invariants, host->node, trace);
	if (trace->type == ACM_TRACE_SA_QUERY || trace->type == ACM_TRACE_MULTICAST)
		count_for_steps(simulation, host->node, trace);
	if (simulation->options->trace || simulation->options->hash)
		write_trace(simulation, host->node, trace);
}
