/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* After the faults: all pairs that the fabric can connect resolve, and to the right port. */
#include "simulation_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Pairs that are asked for at the same time. */
#define WINDOW 256
/* Between a round and the next, for pairs that did not hold. */
#define PAUSE (100 * ACM_NSEC_PER_MSEC)

bool simulation_mark_connected(const struct simulation *simulation, bool *connected)
{
	const struct sim_topology *topology = simulation->topology;
	uint32_t *queue = calloc(topology->node_count, sizeof(*queue));
	uint32_t count = 0;

	if (!queue)
		return false;
	connected[simulation->fabric_faults.sm] = true;
	queue[count++] = simulation->fabric_faults.sm;
	for (uint32_t next = 0; next < count; next++) {
		const struct sim_node *node = &topology->nodes[queue[next]];

		for (uint32_t i = 1; i <= node->port_count; i++) {
			const struct sim_port *port = &node->ports[i];

			if (port->peer == SIM_NONE || connected[port->peer] ||
			    simulation->fabric_faults.link_down[port->link])
				continue;
			connected[port->peer] = true;
			queue[count++] = port->peer;
		}
	}
	free(queue);
	return true;
}

/* The P_Key by which a node is to be found in the default partition; 0: not at all. */
static uint16_t is_there(struct simulation *simulation, uint32_t node)
{
	const struct sim_resident *resident = sim_population_resident(simulation->population, node);
	struct sim_port_ref port = {.node = node, .port = 1};
	struct acm_port_facts facts;

	if (!resident || sim_resident_is_paused(resident) ||
	    simulation->control->ops->port_facts(simulation->control, port, &facts))
		return 0;
	/* One that is coming up may have no table yet. */
	return facts.state == ACM_PORT_ACTIVE ? sim_pkey_entry(&facts, 0) : ACM_PKEY_DEFAULT;
}

/* The first of a node's addresses that it has not given up; NULL: none. */
static const struct acm_address *address_left_to(const struct simulation *simulation, uint32_t node)
{
	const struct sim_node *of = &simulation->topology->nodes[node];

	for (uint32_t i = 0; i < of->address_count; i++) {
		if (sim_invariants_holds(&simulation->invariants, node, &of->addresses[i], 0,
					 simulation->now))
			return &of->addresses[i];
	}
	return NULL;
}

static bool is_listed(const struct simulation *simulation, const struct sim_move *move)
{
	for (uint32_t i = 0; i < simulation->target_count; i++) {
		const struct sim_target *target = &simulation->targets[i];

		if (target->node == move->node &&
		    acm_address_equal(&target->address, &move->address))
			return true;
	}
	return false;
}

/* An address for each node that is there, and all that nodes have taken over. */
static bool list_targets(struct simulation *simulation, const uint16_t *pkeys)
{
	const struct sim_topology *topology = simulation->topology;
	const struct sim_invariants *invariants = &simulation->invariants;

	simulation->targets = malloc((topology->host_count + invariants->move_count + 1) *
				     sizeof(*simulation->targets));
	if (!simulation->targets)
		return false;
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++) {
		const struct acm_address *address = address_left_to(simulation, node);

		if (pkeys[node] && address)
			simulation->targets[simulation->target_count++] =
				(struct sim_target){node, *address};
	}
	for (uint32_t i = 0; i < invariants->move_count; i++) {
		const struct sim_move *move = &invariants->moves[i];

		if (pkeys[move->node] && move->left == ACM_NEVER && !is_listed(simulation, move))
			simulation->targets[simulation->target_count++] =
				(struct sim_target){move->node, move->address};
	}
	return true;
}

static void add_pair(struct simulation *simulation, const uint16_t *pkeys, uint32_t from,
		     uint32_t target)
{
	uint32_t to = simulation->targets[target].node;

	if (from != to && pkeys[from] && ((pkeys[from] | pkeys[to]) & ACM_PKEY_FULL))
		simulation->pairs[simulation->pair_count++] = (uint64_t)from << 32 | target;
}

/*
 * Each node's first question comes before anybody's second, and they are for different targets: so
 * all hear of all by then, and no node is asked by many at once.
 */
static bool list_pairs(struct simulation *simulation, const uint16_t *pkeys)
{
	const struct sim_topology *topology = simulation->topology;
	uint64_t count = simulation->target_count;

	simulation->pairs = malloc((topology->host_count * count + 1) * sizeof(*simulation->pairs));
	if (!simulation->pairs)
		return false;
	for (uint64_t ahead = 1; ahead <= count; ahead++) {
		for (uint32_t i = 0; i < topology->host_count; i++)
			add_pair(simulation, pkeys, topology->switch_count + i,
				 (uint32_t)((i + ahead) % count));
	}
	return true;
}

void simulation_begin_finally(struct simulation *simulation)
{
	uint16_t *pkeys = calloc(simulation->topology->node_count, sizeof(*pkeys));
	bool *connected = calloc(simulation->topology->node_count, sizeof(*connected));

	simulation->in_finally = true;
	simulation->finally_end = simulation->now + simulation->scenario->finally_within;
	simulation->next_round = simulation->now;
	if (!pkeys || !connected || !simulation_mark_connected(simulation, connected))
		simulation->error = -ENOMEM;
	for (uint32_t node = simulation->topology->switch_count;
	     !simulation->error && node < simulation->topology->node_count; node++)
		pkeys[node] = connected[node] ? is_there(simulation, node) : 0;
	if (!simulation->error &&
	    (!list_targets(simulation, pkeys) || !list_pairs(simulation, pkeys)))
		simulation->error = -ENOMEM;
	simulation->pair_total = simulation->pair_count;
	free(pkeys);
	free(connected);
}

/*
 * It leads to a port that holds the address now; or to one that held it, for the asking node may
 * remember that until after the end.
 */
static bool is_right(const struct simulation *simulation, const struct sim_asked *asked,
		     const struct acm_path *path)
{
	const struct sim_invariants *invariants = &simulation->invariants;
	uint64_t life = simulation_memory_of(simulation, asked);
	uint32_t node = sim_invariants_node_of(invariants, &path->dgid);

	if (node == SIM_NONE)
		return false;
	if (sim_invariants_holds(invariants, node, asked->address, 0, simulation->now))
		return sim_invariants_leads(invariants, path);
	return sim_invariants_holds(invariants, node, asked->address, life,
				    simulation->finally_end);
}

void simulation_pair_answered(struct simulation *simulation, const struct sim_asked *asked,
			      const struct acm_reply *reply)
{
	simulation->pairs_open--;
	if (reply->status == ACM_STATUS_OK && is_right(simulation, asked, &reply->path))
		return;
	simulation->pairs[simulation->failed_count] = (uint64_t)asked->node << 32 | asked->sought;
	simulation->failed_count++;
	snprintf(simulation->finally_wrong, sizeof(simulation->finally_wrong), "%.80s to %.80s: %s",
		 simulation_node_name(simulation, asked->node),
		 simulation_node_name(simulation, asked->target),
		 reply->status == ACM_STATUS_OK ? "a path that leads elsewhere"
						: acm_status_text(reply->status));
}

static void conclude(struct simulation *simulation, uint32_t missing)
{
	struct sim_outcome *outcome =
		simulation_outcome(simulation, missing ? SIM_FAILED : SIM_HELD);

	simulation->finally_done = true;
	if (!outcome)
		return;
	outcome->at =
		simulation->finally_end - simulation->scenario->finally_within - simulation->origin;
	outcome->took =
		simulation->now + simulation->scenario->finally_within - simulation->finally_end;
	snprintf(outcome->what, sizeof(outcome->what), "finally: all %u pairs resolve",
		 simulation->pair_total);
	if (missing)
		snprintf(outcome->came, sizeof(outcome->came), "%u do not; %.270s", missing,
			 simulation->finally_wrong);
}

void simulation_run_finally(struct simulation *simulation)
{
	if (simulation->now >= simulation->finally_end &&
	    (simulation->pairs_open || simulation->pair_next < simulation->pair_count ||
	     simulation->failed_count)) {
		conclude(simulation, simulation->pairs_open + simulation->failed_count +
					     simulation->pair_count - simulation->pair_next);
		return;
	}
	if (simulation->now < simulation->next_round)
		return;
	/* Answers can come while it is asked: those that fail go to places that are read already.
	 */
	while (!simulation->error && simulation->pair_next < simulation->pair_count &&
	       simulation->pairs_open < WINDOW) {
		uint64_t pair = simulation->pairs[simulation->pair_next++];

		simulation->pairs_open++;
		simulation_ask_target(simulation, (uint32_t)(pair >> 32), (uint32_t)pair);
	}
	if (simulation->pairs_open || simulation->pair_next < simulation->pair_count)
		return;
	if (!simulation->failed_count) {
		conclude(simulation, 0);
		return;
	}
	simulation->pair_count = simulation->failed_count;
	simulation->pair_next = 0;
	simulation->failed_count = 0;
	simulation->next_round = simulation->now + PAUSE;
}
