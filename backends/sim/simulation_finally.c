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

/* The node's membership in the default partition: 0: none. */
static uint16_t default_pkey(const struct acm_port_facts *facts)
{
	for (uint16_t i = 0; i < facts->pkey_count; i++) {
		if ((facts->pkeys[i] & 0x7fff) == 0x7fff)
			return facts->pkeys[i];
	}
	return 0;
}

/* Marks all that links which are up join with the subnet manager. */
static bool mark_connected(const struct simulation *simulation, bool *connected)
{
	const struct sim_topology *topology = simulation->topology;
	uint32_t *queue = calloc(topology->node_count, sizeof(*queue));
	uint32_t count = 0;

	if (!queue)
		return false;
	connected[simulation->sm] = true;
	queue[count++] = simulation->sm;
	for (uint32_t next = 0; next < count; next++) {
		const struct sim_node *node = &topology->nodes[queue[next]];

		for (uint32_t i = 1; i <= node->port_count; i++) {
			const struct sim_port *port = &node->ports[i];

			if (port->peer == SIM_NONE || connected[port->peer] ||
			    simulation->link_down[port->link])
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
	    !simulation->topology->nodes[node].address_count ||
	    simulation->control->ops->port_facts(simulation->control, port, &facts))
		return 0;
	/* One that is coming up may have no table yet. */
	return facts.state == ACM_PORT_ACTIVE ? default_pkey(&facts) : ACM_PKEY_DEFAULT;
}

static bool was_disclaimed(const struct simulation *simulation, uint32_t node)
{
	for (uint32_t i = 0; i < simulation->invariants.move_count; i++) {
		if (simulation->invariants.moves[i].node == node)
			return true;
	}
	return false;
}

static bool list_pairs(struct simulation *simulation, const uint16_t *pkeys)
{
	const struct sim_topology *topology = simulation->topology;
	uint64_t most = (uint64_t)topology->host_count * topology->host_count;

	simulation->pairs = malloc((most + 1) * sizeof(*simulation->pairs));
	if (!simulation->pairs)
		return false;
	for (uint32_t from = topology->switch_count; from < topology->node_count; from++) {
		for (uint32_t to = topology->switch_count; to < topology->node_count; to++) {
			if (from == to || !pkeys[from] || !pkeys[to] ||
			    !((pkeys[from] | pkeys[to]) & ACM_PKEY_FULL) ||
			    was_disclaimed(simulation, to))
				continue;
			simulation->pairs[simulation->pair_count++] = (uint64_t)from << 32 | to;
		}
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
	if (!pkeys || !connected || !mark_connected(simulation, connected))
		simulation->error = -ENOMEM;
	for (uint32_t node = simulation->topology->switch_count;
	     !simulation->error && node < simulation->topology->node_count; node++)
		pkeys[node] = connected[node] ? is_there(simulation, node) : 0;
	if (!simulation->error && !list_pairs(simulation, pkeys))
		simulation->error = -ENOMEM;
	simulation->pair_total = simulation->pair_count;
	free(pkeys);
	free(connected);
}

void simulation_pair_answered(struct simulation *simulation, const struct sim_asked *asked,
			      const struct acm_reply *reply)
{
	bool good = reply->status == ACM_STATUS_OK &&
		    sim_invariants_node_of(&simulation->invariants, &reply->path.dgid) ==
			    asked->target &&
		    sim_invariants_leads(&simulation->invariants, &reply->path);

	simulation->pairs_open--;
	if (good)
		return;
	simulation->pairs[simulation->failed_count] = (uint64_t)asked->node << 32 | asked->target;
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
		simulation_ask_pair(simulation, (uint32_t)(pair >> 32), (uint32_t)pair, true);
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
