/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Brings faults about, and undoes them. */
#include "simulation_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the steps and the invariants look at; the rest is many times as much. */
#define TRACE_BIT(type) (UINT64_C(1) << (type))
#define TRACES_NEEDED                                                                              \
	(TRACE_BIT(ACM_TRACE_COALESCED) | TRACE_BIT(ACM_TRACE_SA_QUERY) |                          \
	 TRACE_BIT(ACM_TRACE_MULTICAST) | TRACE_BIT(ACM_TRACE_ADDRESS) |                           \
	 TRACE_BIT(ACM_TRACE_ROUTE) | TRACE_BIT(ACM_TRACE_SA_STATUS) |                             \
	 TRACE_BIT(ACM_TRACE_SA_WITHDRAWN) | TRACE_BIT(ACM_TRACE_FAILED) |                         \
	 TRACE_BIT(ACM_TRACE_LEARNED) | TRACE_BIT(ACM_TRACE_JOIN) | TRACE_BIT(ACM_TRACE_JOINED) |  \
	 TRACE_BIT(ACM_TRACE_JOIN_FAILED) | TRACE_BIT(ACM_TRACE_LEFT))

static const struct acm_driver_hooks *hooks_of(struct sim_host *host,
					       struct acm_driver_hooks *hooks)
{
	*hooks = (struct acm_driver_hooks){.reply = simulation_reply,
					   .trace = simulation_trace,
					   .find_source = simulation_find_source,
					   .context = host};
	return hooks;
}

int simulation_add_host(struct simulation *simulation, uint32_t node)
{
	struct acm_engine_config config = *sim_scenario_config(simulation->scenario, node);
	struct acm_driver_hooks hooks;
	struct sim_resident *resident;
	int error;

	/* What it claimed or gave up while it was stopped is nothing to it. */
	sim_invariants_addresses_reset(&simulation->invariants, node, simulation->now);
	config.seed = simulation->options->seed;
	if (!simulation->options->trace && !simulation->options->hash)
		config.trace_mask = TRACES_NEEDED;
	error = sim_population_add(simulation->population, simulation->topology->nodes[node].name,
				   &config, hooks_of(&simulation->hosts[node], &hooks),
				   simulation->now, &resident);
	return error ? error : sim_resident_add_addresses(resident, simulation->now);
}

/* ---- nodes ---- */

static void stop(struct simulation *simulation, uint32_t node)
{
	struct sim_resident *resident = sim_population_resident(simulation->population, node);

	if (!resident)
		return;
	sim_population_remove(resident);
	simulation_deliver_deferred(simulation, node); /* to nobody */
	sim_inquiries_forget(&simulation->inquiries, node);
	sim_memberships_forget(&simulation->memberships, node);
	simulation_excuse(simulation, node);
}

static void start(struct simulation *simulation, uint32_t node)
{
	if (sim_population_resident(simulation->population, node))
		return;
	simulation->error = simulation_add_host(simulation, node);
	/* What it was told while it was not there. */
	sim_invariants_addresses_reset(&simulation->invariants, node, simulation->now);
}

static void set_address(struct simulation *simulation, uint32_t node,
			const struct acm_address *address, enum acm_event_type type)
{
	struct sim_resident *resident = sim_population_resident(simulation->population, node);
	struct acm_local_address local = {.address = *address};
	struct acm_event event = {.type = type, .time = simulation->now, .address = &local};
	char text[65];
	bool noted = type == ACM_EVENT_ADDRESS_ADDED
			     ? sim_invariants_address_came(&simulation->invariants, node, address,
							   simulation->now)
			     : sim_invariants_address_left(&simulation->invariants, node, address,
							   simulation->now);

	if (!noted) {
		simulation->error = -ENOMEM;
		return;
	}
	acm_address_format(address, text, sizeof(text));
	memcpy(local.text, text, strnlen(text, sizeof(local.text) - 1));
	if (resident)
		simulation->error = sim_resident_step(resident, &event);
}

/* From its holders to another node, or back, all at once. */
static void move(struct simulation *simulation, const struct sim_fault_plan *plan,
		 enum acm_event_type to_holders, enum acm_event_type to_node)
{
	uint32_t taker = plan->nodes.nodes[0];

	for (uint32_t i = 0; i < plan->holders.count && !simulation->error; i++) {
		if (plan->holders.nodes[i] != taker)
			set_address(simulation, plan->holders.nodes[i], &plan->address, to_holders);
	}
	if (!simulation->error)
		set_address(simulation, taker, &plan->address, to_node);
}

static void on_node(struct simulation *simulation, const struct sim_fault_plan *plan, uint32_t node)
{
	struct sim_resident *resident = sim_population_resident(simulation->population, node);
	struct acm_event reload = {.type = ACM_EVENT_RELOAD, .time = simulation->now};

	switch (plan->kind) {
	case SIM_FAULT_STOP:
		stop(simulation, node);
		break;
	case SIM_FAULT_START:
		start(simulation, node);
		break;
	case SIM_FAULT_RESTART:
		stop(simulation, node);
		start(simulation, node);
		break;
	case SIM_FAULT_PAUSE:
		if (resident)
			sim_resident_pause(resident);
		simulation_excuse(simulation, node);
		break;
	case SIM_FAULT_RESUME:
		simulation->hosts[node].was_paused = true;
		simulation->hosts[node].resumed = simulation->now;
		if (resident)
			sim_resident_resume(resident);
		simulation_deliver_deferred(simulation, node);
		break;
	case SIM_FAULT_RELOAD:
		if (resident)
			simulation->error = sim_resident_step(resident, &reload);
		break;
	case SIM_FAULT_CLAIM:
		set_address(simulation, node, &plan->address, ACM_EVENT_ADDRESS_ADDED);
		break;
	case SIM_FAULT_DISCLAIM:
		set_address(simulation, node, &plan->address, ACM_EVENT_ADDRESS_REMOVED);
		break;
	case SIM_FAULT_MOVE:
		move(simulation, plan, ACM_EVENT_ADDRESS_REMOVED, ACM_EVENT_ADDRESS_ADDED);
		break;
	default:
		break;
	}
}

static void undo_on_nodes(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	static const enum sim_fault_kind opposites[] = {
		[SIM_FAULT_STOP] = SIM_FAULT_START,
		[SIM_FAULT_PAUSE] = SIM_FAULT_RESUME,
		[SIM_FAULT_CLAIM] = SIM_FAULT_DISCLAIM,
		[SIM_FAULT_DISCLAIM] = SIM_FAULT_CLAIM,
	};
	struct sim_fault_plan opposite = *plan;

	if (plan->kind == SIM_FAULT_MOVE) {
		move(simulation, plan, ACM_EVENT_ADDRESS_ADDED, ACM_EVENT_ADDRESS_REMOVED);
		return;
	}
	opposite.kind = opposites[plan->kind];
	for (uint32_t i = 0; i < plan->nodes.count && !simulation->error; i++)
		on_node(simulation, &opposite, plan->nodes.nodes[i]);
}

/* The fault could not be brought about; the scenario's author is to know, not the run to end. */
static void take_error(struct simulation *simulation, int error, const char *why)
{
	if (error == -ENOENT && simulation->scenario->drawn)
		return; /* dice do not know what groups there are */
	if (error == -ENOENT || error == -ENOTSUP)
		simulation_broken(simulation, "the scenario makes sense", "%s", why);
	else
		simulation->error = error;
}

static void apply(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	char why[SIM_CAME_SIZE - 64];

	simulation->error =
		sim_disturbances_begin(&simulation->disturbances, plan, simulation->now);
	if (!simulation->error && sim_fault_hinders(plan))
		simulation->error =
			sim_hindrances_begin(&simulation->hindrances, plan, simulation->now);
	if (simulation->error)
		return;
	if (sim_fault_is_of_nodes(plan->kind)) {
		for (uint32_t i = 0; i < plan->nodes.count && !simulation->error; i++)
			on_node(simulation, plan, plan->nodes.nodes[i]);
	} else {
		simulation_unsettle(simulation);
		take_error(simulation,
			   sim_fabric_faults_apply(&simulation->fabric_faults, plan,
						   simulation->now, why, sizeof(why)),
			   why);
	}
	if (plan->duration != ACM_NEVER)
		simulation_schedule(simulation,
				    (struct sim_due){.time = simulation->now + plan->duration,
						     .kind = SIM_DUE_UNDO,
						     .plan = plan});
}

void simulation_undo(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	char why[SIM_CAME_SIZE - 64];

	sim_disturbances_end(&simulation->disturbances, plan, simulation->now);
	sim_hindrances_end(&simulation->hindrances, plan, simulation->now);
	if (sim_fault_is_of_nodes(plan->kind)) {
		undo_on_nodes(simulation, plan);
	} else {
		simulation_unsettle(simulation);
		take_error(
			simulation,
			sim_fabric_faults_undo(&simulation->fabric_faults, plan, why, sizeof(why)),
			why);
	}
}

static void describe(const struct simulation *simulation, const struct sim_fault_plan *plan,
		     char *what)
{
	const char *name = sim_fault_kind_name(plan->kind);

	if (plan->nodes.count == 1)
		snprintf(what, SIM_WHAT_SIZE, "fault %s: %.100s", name,
			 simulation_node_name(simulation, plan->nodes.nodes[0]));
	else if (plan->nodes.count)
		snprintf(what, SIM_WHAT_SIZE, "fault %s: %u nodes", name, plan->nodes.count);
	else if (plan->links.count)
		snprintf(what, SIM_WHAT_SIZE, "fault %s: %u link%s", name, plan->links.count,
			 plan->links.count == 1 ? "" : "s");
	else
		snprintf(what, SIM_WHAT_SIZE, "fault %s", name);
}

void simulation_fault_step(struct simulation *simulation, uint32_t step)
{
	const struct sim_fault_plan *plan = &simulation->scenario->steps[step].fault;
	struct sim_outcome *outcome = &simulation->result->outcomes[step];

	simulation->progress[step].done = true;
	outcome->at = simulation_time(simulation);
	describe(simulation, plan, outcome->what);
	if (!sim_fault_is_possible(plan, simulation->options->control)) {
		simulation->skips = "a fault before it is not under ibsim";
		outcome->verdict = SIM_SKIPPED;
		snprintf(outcome->came, sizeof(outcome->came), "not under ibsim");
		return;
	}
	apply(simulation, plan);
}

void simulation_drawn_fault(struct simulation *simulation, const struct sim_fault_plan *plan)
{
	struct sim_outcome *outcome;

	if (sim_fault_is_possible(plan, simulation->options->control)) {
		apply(simulation, plan);
		return;
	}
	outcome = simulation_outcome(simulation, SIM_SKIPPED);
	if (!outcome)
		return;
	describe(simulation, plan, outcome->what);
	snprintf(outcome->came, sizeof(outcome->came), "not under ibsim");
}
