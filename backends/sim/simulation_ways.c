/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which links a request and its answer pass, by the switches' tables. */
#include "simulation_state.h"
#include "walk.h"

/* Any length that all links carry. */
#define LENGTH ACM_DATAGRAM_MAX

static uint64_t generation(void *context)
{
	const struct simulation *simulation = context;

	return simulation->control->ops->tables(simulation->control)->generation;
}

/* Marks what passes one of them, and all copies of it behind that. */
static void mark(void *context, const struct sim_packet *packet, uint32_t from, uint32_t link,
		 struct sim_meddling *meddling)
{
	const struct sim_nodes *links = context;

	(void)packet;
	(void)from;
	for (uint32_t i = 0; i < links->count; i++) {
		if (links->nodes[i] == link)
			meddling->twice = true;
	}
}

static bool is_marked(const struct sim_walk *walk, uint32_t port)
{
	for (uint32_t i = 0; i < walk->count; i++) {
		if (walk->ends[i].arrived && walk->ends[i].port == port &&
		    walk->ends[i].meddling.twice)
			return true;
	}
	return false;
}

/* The request, by whichever of its groups the node sends it. */
static bool request_passes(const struct simulation *simulation, struct sim_walk *walk,
			   const struct sim_wait *wait, uint32_t from, uint32_t to)
{
	uint16_t mlid;

	for (uint32_t i = 0; sim_memberships_mlid(&simulation->memberships, wait->node, i, &mlid);
	     i++) {
		if (sim_walk_multicast(walk, from, mlid, LENGTH) || is_marked(walk, to))
			return true;
	}
	return false;
}

static bool answer_passes(const struct simulation *simulation, struct sim_walk *walk,
			  const struct sim_wait *wait, uint32_t from, uint32_t to)
{
	struct sim_port_ref ref = {.node = wait->node, .port = 1};
	struct acm_port_facts facts;

	if (simulation->control->ops->port_facts(simulation->control, ref, &facts))
		return true;
	for (uint32_t i = 0; i < 1u << facts.lmc; i++) {
		if (sim_walk_unicast(walk, to, (uint16_t)(facts.lid + i), LENGTH) ||
		    is_marked(walk, from))
			return true;
	}
	return false;
}

/* As if all links were up: of those that are not, others know. */
static bool pass(void *context, const struct sim_wait *wait, const struct sim_nodes *links)
{
	const struct simulation *simulation = context;
	struct sim_nodes marked = *links;
	struct sim_packet packet = {0};
	struct sim_wiring wiring;
	struct sim_walk walk;
	uint32_t from, to;
	bool passes;

	if (sim_wiring_init(&wiring, simulation->topology))
		return true;
	sim_walk_init(&walk, &wiring);
	walk.tables = simulation->control->ops->tables(simulation->control);
	walk.packet = &packet;
	walk.meddler = (struct sim_meddler){.on_link = mark, .context = &marked};
	from = sim_wiring_index(&wiring, wait->node, 1);
	to = sim_wiring_index(&wiring, wait->target, 1);
	passes = request_passes(simulation, &walk, wait, from, to) ||
		 answer_passes(simulation, &walk, wait, from, to);
	sim_walk_free(&walk);
	sim_wiring_free(&wiring);
	return passes;
}

void simulation_watch_ways(struct simulation *simulation)
{
	sim_hindrances_init(
		&simulation->hindrances,
		&(struct sim_ways){.generation = generation, .pass = pass, .context = simulation});
}
