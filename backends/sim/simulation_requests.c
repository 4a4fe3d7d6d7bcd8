/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What nodes are asked, and what they answer. */
#include "simulation_state.h"

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The local client's way to the engine and back costs no fabric time. */
#define BOUND_SLACK ACM_NSEC_PER_MSEC

/* Rule 3: an answer that needs no retry takes this long at most, and this much longer for each
 * other thing that the node is busy with: a multicast request that nobody answers yet. */
#define PROMPT_TIME (10 * ACM_NSEC_PER_MSEC)
#define AHEAD_TIME  (2 * ACM_NSEC_PER_MSEC)

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

/* `port` from 1; 0: the first. */
static bool facts_of(struct simulation *simulation, uint32_t node, uint8_t port,
		     struct acm_port_facts *facts)
{
	struct sim_port_ref ref = {.node = node, .port = port ? port : 1};

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
	if (!facts_of(simulation, target, resolve->to_port, &facts) ||
	    !facts_of(simulation, node, resolve->from_port, &own))
		return;
	request->kind = ACM_REQUEST_PATH;
	request->path.sgid = own.gids[0];
	request->path.pkey = resolve->pkey;
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
	uint64_t due = simulation->now + simulation->hosts[node].bound + BOUND_SLACK;
	struct sim_asked *asked;
	uint32_t id = 1;

	while ((asked = sim_ledger_next(&simulation->ledger, node, &id)))
		sim_ledger_expect(&simulation->ledger, asked, due);
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
			 !sim_ledger_at(&simulation->ledger, deferred.request.id)->answered)
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
	struct sim_asked entry = *asked;
	struct sim_fabric_stats stats;

	sim_fabric_stats(simulation->fabric, &stats);
	entry.time = simulation->now;
	entry.joined = sim_inquiries_oldest(&simulation->inquiries, asked->node, asked->address);
	if (entry.joined > entry.time)
		entry.joined = entry.time;
	entry.due = simulation->now + simulation->hosts[asked->node].bound + BOUND_SLACK;
	entry.overruns = stats.dropped[SIM_DROP_NO_BUFFER];
	entry.ahead = simulation->ledger.open_of[asked->node] +
		      sim_inquiries_count(&simulation->inquiries, asked->node);
	entry.by_sa = request->query_sa;
	entry.excused = sim_resident_is_paused(resident);
	numbered.id = sim_ledger_enter(&simulation->ledger, &entry);
	if (!numbered.id) {
		simulation->error = -ENOMEM;
		return false;
	}
	simulation->result->requests++;
	numbered.tid = numbered.id;
	numbered.opcode = ACM_OPCODE_RESOLVE;
	return deliver(simulation, resident, &numbered);
}

static void ask_one(struct simulation *simulation, uint32_t step, uint32_t node, uint32_t target)
{
	const struct sim_resolve *resolve = &simulation->scenario->steps[step].resolve;
	struct sim_asked asked = {.step = step,
				  .node = node,
				  .target = target,
				  .sought = SIM_NONE,
				  .pkey = resolve->pkey};
	struct acm_request request = {.kind = ACM_REQUEST_RESOLVE,
				      .query_sa = resolve->query_sa,
				      .no_delay = resolve->no_delay,
				      .has_source = resolve->has_source,
				      .source = resolve->source,
				      .destination = resolve->address};
	uint32_t first = simulation->ledger.count;

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

static void step_loses_one(struct simulation *simulation, uint32_t step)
{
	if (step != SIM_STEP_NONE && !--simulation->progress[step].outstanding)
		simulation_finish_step(simulation, step);
}

void simulation_cancel(struct simulation *simulation, uint32_t request)
{
	struct sim_asked *asked = sim_ledger_at(&simulation->ledger, request + 1);
	struct sim_resident *resident =
		sim_population_resident(simulation->population, asked->node);
	struct acm_event event = {
		.type = ACM_EVENT_CANCEL, .time = simulation->now, .cancel = request + 1};

	if (asked->answered || !resident)
		return;
	sim_ledger_cancel(&simulation->ledger, asked);
	simulation->error = sim_resident_step(resident, &event);
	step_loses_one(simulation, asked->step);
}

void simulation_excuse(struct simulation *simulation, uint32_t node)
{
	bool gone = !sim_population_resident(simulation->population, node);
	struct sim_asked *asked;
	uint32_t id = 1;

	if (gone)
		sim_invariants_addresses_reset(&simulation->invariants, node, simulation->now);
	while ((asked = sim_ledger_next(&simulation->ledger, node, &id))) {
		sim_ledger_excuse(&simulation->ledger, asked);
		if (gone) {
			sim_ledger_cancel(&simulation->ledger, asked);
			step_loses_one(simulation, asked->step);
		}
	}
}

/* ---- answers ---- */

/* Whether both are members of the partition, and one of them a full one. */
static bool share_partition(struct simulation *simulation, const struct sim_asked *asked)
{
	struct acm_port_facts own, other;
	uint16_t pkey, other_pkey;

	if (!facts_of(simulation, asked->node, 0, &own) ||
	    !facts_of(simulation, asked->target, 0, &other))
		return false;
	pkey = sim_pkey_entry(&own, asked->pkey);
	other_pkey = sim_pkey_entry(&other, asked->pkey);
	return pkey && other_pkey && ((pkey | other_pkey) & ACM_PKEY_FULL);
}

/* Rule 3 holds where the target answers, the packets arrive, and neither decides as ibacm. */
static bool is_answered_at_once(struct simulation *simulation, const struct sim_asked *asked)
{
	const struct acm_engine_config *config =
		sim_scenario_config(simulation->scenario, asked->node);
	struct sim_fabric_stats stats;

	if (asked->excused || asked->target == SIM_NONE || config->compat == ACM_COMPAT_IBACM ||
	    sim_scenario_config(simulation->scenario, asked->target)->compat == ACM_COMPAT_IBACM ||
	    (asked->target == asked->node && !config->loopback) ||
	    !share_partition(simulation, asked))
		return false;
	sim_fabric_stats(simulation->fabric, &stats);
	return stats.dropped[SIM_DROP_NO_BUFFER] == asked->overruns;
}

static void check_promptness(struct simulation *simulation, const struct sim_asked *asked)
{
	uint64_t patience = simulation->hosts[asked->node].patience.first;
	struct sim_wait wait = {.node = asked->node,
				.target = asked->target,
				.asked = asked->time,
				.joined = asked->joined,
				.answered = simulation->now,
				.allowed = PROMPT_TIME};

	if (simulation->options->control == SIM_UNDER_IBSIM) /* a busy machine costs retries */
		patience = sim_scenario_config(simulation->scenario, asked->node)->timeout;
	if (patience > wait.allowed)
		wait.allowed = patience;
	wait.allowed += asked->ahead * AHEAD_TIME + simulation->allowance;
	if (simulation->now - asked->time > wait.allowed &&
	    is_answered_at_once(simulation, asked) &&
	    !sim_hindrances_met(&simulation->hindrances, &wait))
		sim_disturbances_check_wait(&simulation->disturbances, &wait);
}

static void check_truth(struct simulation *simulation, const struct sim_asked *asked,
			const struct acm_reply *reply)
{
	const struct acm_engine_config *config =
		sim_scenario_config(simulation->scenario, asked->node);
	uint64_t life = config->address_life > config->route_life ? config->address_life
								  : config->route_life;
	uint64_t memory = simulation_memory_of(simulation, asked);
	struct sim_success success = {
		.node = asked->node,
		.path = &reply->path,
		.address = asked->address,
		.pkey = asked->pkey,
		/* What it knew when it began to ask holds until it has the route. */
		.life = memory == ACM_NEVER ? ACM_NEVER : memory + simulation->now - asked->joined,
		.of_group =
			config->route_protocol == ACM_ROUTE_ACM && asked->address && !asked->by_sa,
		.routes_hold = sim_disturbances_routes_hold(&simulation->disturbances, life,
							    simulation->now)};

	sim_invariants_success(&simulation->invariants, &success, simulation->now);
}

void simulation_reply(void *context, const struct acm_reply *reply)
{
	struct sim_host *host = context;
	struct simulation *simulation = host->simulation;
	struct sim_asked *asked =
		sim_ledger_answer(&simulation->ledger, host->node, reply->id, simulation->now);

	if (!asked)
		return;
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

	sim_inquiries_trace(&simulation->inquiries, host->node, trace, &host->patience);
	sim_memberships_trace(&simulation->memberships, host->node, trace);
	if (trace->type == ACM_TRACE_COALESCED)
		sim_ledger_join(&simulation->ledger, host->node, trace->request,
				trace->time - trace->value);
	if (trace->type == ACM_TRACE_SA_QUERY || trace->type == ACM_TRACE_MULTICAST)
		count_for_steps(simulation, host->node, trace);
	if (simulation->options->trace || simulation->options->hash)
		write_trace(simulation, host->node, trace);
}
