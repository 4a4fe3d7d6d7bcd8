/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the nodes are, as far as it can be seen from outside: for the rules that need them well. */
#include "simulation_state.h"

#include <errno.h>
#include <stdlib.h>

/* Under ibsim only the tables tell: no change for so long. */
#define SETTLE_TIME (500 * ACM_NSEC_PER_MSEC)
/*
 * From a fault until OpenSM has swept, which it does every 10 s where it hears of nothing: nobody
 * tells when it has, and it may change no table.
 */
#define SWEEP_TIME (12 * ACM_NSEC_PER_SEC)

/* Groups have their members before the switches know of them. */
bool simulation_is_settled(struct simulation *simulation)
{
	const struct sim_tables *tables;

	if (simulation->options->control == SIM_UNDER_BUILTIN)
		return sim_subnet_deadline(sim_builtin_subnet(simulation->fabric_faults.control)) ==
		       ACM_NEVER;
	tables = simulation->control->ops->tables(simulation->control);
	if (tables->generation != simulation->tables_seen) {
		simulation->tables_seen = tables->generation;
		simulation->settles_at = simulation->now + SETTLE_TIME;
	}
	return simulation->now >= simulation->settles_at;
}

void simulation_unsettle(struct simulation *simulation)
{
	uint64_t swept = simulation->now + SWEEP_TIME;

	if (simulation->options->control == SIM_UNDER_IBSIM && simulation->settles_at < swept)
		simulation->settles_at = swept;
}

static bool is_ready(const struct simulation *simulation, uint32_t node)
{
	const struct sim_resident *resident = sim_population_resident(simulation->population, node);
	struct acm_engine_stats stats;

	if (!resident || sim_resident_is_paused(resident))
		return false;
	acm_engine_stats(sim_resident_engine(resident), &stats);
	return stats.endpoints && stats.endpoints_ready == stats.endpoints;
}

static bool is_port_reached(const struct simulation *simulation, struct sim_port_ref ref)
{
	struct acm_port_facts facts;

	if (simulation->control->ops->port_facts(simulation->control, ref, &facts) ||
	    facts.state != ACM_PORT_ACTIVE)
		return false;
	/* OpenSM cannot tell those that it has lost, and their ports stay active. */
	if (simulation->options->control == SIM_UNDER_IBSIM)
		return simulation->connected[ref.node];
	return sim_subnet_reaches_manager(sim_builtin_subnet(simulation->fabric_faults.control),
					  ref);
}

/* All its ports, as far as they are connected by the topology. */
static bool is_reached(const struct simulation *simulation, uint32_t node)
{
	const struct sim_node *of = &simulation->topology->nodes[node];

	for (uint32_t port = 1; port <= of->port_count; port++) {
		struct sim_port_ref ref = {.node = node, .port = (uint8_t)port};

		if ((port == 1 || of->ports[port].peer != SIM_NONE) &&
		    !is_port_reached(simulation, ref))
			return false;
	}
	return true;
}

/* Under ibsim nobody but a tool can tell. */
static bool is_a_member(const struct simulation *simulation, uint32_t node)
{
	return simulation->options->control == SIM_UNDER_IBSIM ||
	       sim_memberships_hold(&simulation->memberships, node,
				    sim_builtin_subnet(simulation->fabric_faults.control));
}

static bool is_well(void *context, uint32_t node)
{
	const struct simulation *simulation = context;

	return is_ready(simulation, node) && is_reached(simulation, node) &&
	       is_a_member(simulation, node);
}

static uint64_t oldest_inquiry(void *context, uint32_t node)
{
	const struct simulation *simulation = context;
	uint64_t inquiry = sim_inquiries_oldest(&simulation->inquiries, node, NULL);
	uint64_t join = sim_memberships_oldest_join(&simulation->memberships, node);

	return join < inquiry ? join : inquiry;
}

static void heal(struct simulation *simulation)
{
	const struct sim_health health = {
		.is_well = is_well, .oldest_inquiry = oldest_inquiry, .context = simulation};
	bool *connected = NULL;

	if (simulation->options->control == SIM_UNDER_IBSIM) {
		connected = calloc(simulation->topology->node_count, sizeof(*connected));
		if (!connected || !simulation_mark_connected(simulation, connected))
			simulation->error = -ENOMEM;
	}
	simulation->connected = connected;
	if (!simulation->error)
		sim_disturbances_heal(&simulation->disturbances, &health, simulation->now);
	free(connected);
	simulation->connected = NULL;
}

void simulation_heal(struct simulation *simulation)
{
	if (!simulation->was_ready && !sim_population_unready(simulation->population, NULL))
		simulation->was_ready = simulation_is_settled(simulation);
	if (simulation->was_ready && simulation->disturbances.ailing_count &&
	    simulation_is_settled(simulation))
		heal(simulation);
}
