/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far switches are from each other, and by which of their ports, by the rules of OpenSM's
 * engines minhop and updn. Where updn finds no roots, minhop takes its place, as there.
 */
#include "subnet_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_RANK  UINT32_MAX
#define HOPS_MAX 64 /* counted when roots are looked for */

/* ---- links between switches ---- */

static bool is_between_switches(const struct sim_topology *topology, const struct sim_port *port)
{
	return port->peer != SIM_NONE && topology->nodes[port->peer].kind == SIM_SWITCH;
}

static uint32_t number_ends(struct sim_subnet *subnet, uint32_t *end_of_port)
{
	const struct sim_topology *topology = subnet->topology;
	uint32_t count = 0;

	for (uint32_t node = 0; node < topology->switch_count; node++) {
		subnet->routing.first_end[node] = count;
		for (uint32_t i = 1; i <= topology->nodes[node].port_count; i++) {
			const struct sim_port *port = &topology->nodes[node].ports[i];

			if (is_between_switches(topology, port) && port->peer != node)
				end_of_port[subnet->first[node] + i] = count++;
		}
	}
	subnet->routing.first_end[topology->switch_count] = count;
	return count;
}

static void join_ends(struct sim_subnet *subnet, const uint32_t *end_of_port)
{
	const struct sim_topology *topology = subnet->topology;
	struct subnet_end *end = subnet->routing.ends;

	for (uint32_t node = 0; node < topology->switch_count; node++) {
		for (uint32_t i = 1; i <= topology->nodes[node].port_count; i++) {
			const struct sim_port *port = &topology->nodes[node].ports[i];

			if (!is_between_switches(topology, port) || port->peer == node)
				continue;
			*end++ = (struct subnet_end){
				.far = port->peer,
				.far_end = end_of_port[subnet->first[port->peer] + port->peer_port],
				.link = port->link,
				.port = (uint8_t)i,
				.far_port = port->peer_port};
		}
	}
}

int subnet_routing_init(struct sim_subnet *subnet)
{
	struct subnet_routing *routing = &subnet->routing;
	size_t switches = (size_t)subnet->topology->switch_count + 1, ends;
	uint32_t *end_of_port = calloc((size_t)subnet->port_count + 1, sizeof(uint32_t));

	routing->first_end = calloc(switches, sizeof(uint32_t));
	if (!end_of_port || !routing->first_end) {
		free(end_of_port);
		return -ENOMEM;
	}
	ends = (size_t)number_ends(subnet, end_of_port) + 1;
	routing->ends = calloc(ends, sizeof(struct subnet_end));
	routing->rank = calloc(switches, sizeof(uint32_t));
	routing->hops = calloc(switches, 1);
	routing->end_hops = calloc(ends, 1);
	routing->farthest = calloc(switches, 1);
	routing->queue = calloc(switches, sizeof(uint32_t));
	routing->queued = calloc(switches, sizeof(bool));
	routing->downwards = calloc(switches, sizeof(bool));
	routing->load_order = calloc(switches, sizeof(uint32_t));
	routing->load = calloc((size_t)subnet->port_count + 1, sizeof(uint32_t));
	if (routing->ends)
		join_ends(subnet, end_of_port);
	free(end_of_port);
	return routing->ends && routing->rank && routing->hops && routing->end_hops &&
			       routing->farthest && routing->queue && routing->queued &&
			       routing->downwards && routing->load_order && routing->load
		       ? 0
		       : -ENOMEM;
}

void subnet_routing_free(struct sim_subnet *subnet)
{
	struct subnet_routing *routing = &subnet->routing;

	free(routing->first_end);
	free(routing->ends);
	free(routing->rank);
	free(routing->hops);
	free(routing->end_hops);
	free(routing->farthest);
	free(routing->queue);
	free(routing->queued);
	free(routing->downwards);
	free(routing->load_order);
	free(routing->load);
}

/* ---- fewest hops ---- */

static void shortest_towards(struct subnet_routing *routing, uint32_t target)
{
	uint32_t count = 1;

	routing->hops[target] = 0;
	routing->queue[0] = target;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = routing->queue[i];
		uint8_t hops = routing->hops[node];

		/* As far as the tables' numbers go. */
		if (hops + 1 >= SUBNET_NO_PATH)
			return;
		for (uint32_t e = routing->first_end[node]; e < routing->first_end[node + 1]; e++) {
			const struct subnet_end *end = &routing->ends[e];

			if (!end->usable || routing->hops[end->far] != SUBNET_NO_PATH)
				continue;
			routing->hops[end->far] = (uint8_t)(hops + 1);
			routing->queue[count++] = end->far;
		}
	}
}

/* ---- up, then down ---- */

static bool goes_down(const struct sim_subnet *subnet, uint32_t from, uint32_t to)
{
	const uint32_t *rank = subnet->routing.rank;

	if (!rank[from] && !rank[to])
		return false;
	if (rank[from] != rank[to])
		return rank[from] < rank[to];
	return subnet->topology->nodes[from].guid <= subnet->topology->nodes[to].guid;
}

/* A step from a switch that has been reached, outwards; true: the other switch is to be looked at.
 */
static bool step_out(struct sim_subnet *subnet, uint32_t from, const struct subnet_end *end)
{
	struct subnet_routing *routing = &subnet->routing;
	bool down = goes_down(subnet, from, end->far);
	uint8_t hops = (uint8_t)(routing->hops[from] + 1);

	if (!end->usable || (routing->downwards[from] && !down))
		return false;
	if (hops >= routing->end_hops[end->far_end])
		return false;
	routing->end_hops[end->far_end] = hops;
	if (hops < routing->hops[end->far])
		routing->hops[end->far] = hops;
	if (routing->queued[end->far])
		return false;
	routing->downwards[end->far] = down;
	return true;
}

static void up_down_towards(struct sim_subnet *subnet, uint32_t target)
{
	struct subnet_routing *routing = &subnet->routing;
	uint32_t switches = subnet->topology->switch_count, first = 0, count = 1;

	memset(routing->end_hops, SUBNET_NO_PATH, routing->first_end[switches]);
	routing->hops[target] = 0;
	routing->downwards[target] = false;
	routing->queue[0] = target;
	while (count) {
		uint32_t node = routing->queue[first];

		first = (first + 1) % switches;
		count--;
		routing->queued[node] = false;
		for (uint32_t e = routing->first_end[node]; e < routing->first_end[node + 1]; e++) {
			const struct subnet_end *end = &routing->ends[e];

			if (!step_out(subnet, node, end))
				continue;
			routing->queued[end->far] = true;
			routing->queue[(first + count++) % switches] = end->far;
		}
	}
}

void subnet_hops_towards(struct sim_subnet *subnet, uint32_t target)
{
	struct subnet_routing *routing = &subnet->routing;

	memset(routing->hops, SUBNET_NO_PATH, subnet->topology->switch_count);
	if (routing->up_down)
		up_down_towards(subnet, target);
	else
		shortest_towards(routing, target);
}

bool subnet_end_leads(const struct sim_subnet *subnet, uint32_t node, uint32_t end)
{
	const struct subnet_routing *routing = &subnet->routing;
	uint8_t hops = routing->hops[node];

	if (!routing->ends[end].usable || hops == SUBNET_NO_PATH)
		return false;
	if (routing->up_down)
		return routing->end_hops[end] == hops;
	return routing->hops[routing->ends[end].far] + 1 == hops;
}

/* ---- roots and ranks ---- */

static uint32_t count_hosts(const struct sim_subnet *subnet, uint32_t node)
{
	const struct sim_node *of = &subnet->topology->nodes[node];
	uint32_t count = 0;

	for (uint32_t i = 1; i <= of->port_count; i++) {
		const struct sim_port *port = &of->ports[i];

		if (port->peer != SIM_NONE && !is_between_switches(subnet->topology, port) &&
		    subnet->ports[subnet->first[port->peer] + port->peer_port].known)
			count++;
	}
	return count;
}

/* A root sees nearly all hosts at one distance, and hardly any at others. */
static bool is_root(const uint32_t *hosts_at, uint32_t hosts)
{
	uint32_t high = 0, low = 0;

	for (uint32_t i = 0; i < HOPS_MAX; i++) {
		high += hosts_at[i] > hosts * 0.9;
		low += hosts_at[i] > hosts * 0.05;
	}
	return high == 1 && low == 1;
}

/* histogram: by switch and distance. */
static uint32_t find_roots(struct sim_subnet *subnet, uint32_t (*histogram)[HOPS_MAX])
{
	struct subnet_routing *routing = &subnet->routing;
	uint32_t switches = subnet->topology->switch_count, hosts = 0, roots = 0;

	for (uint32_t target = 0; target < switches; target++) {
		uint32_t here = subnet->ports[subnet->first[target]].known
					? count_hosts(subnet, target)
					: 0;

		if (!here)
			continue;
		hosts += here;
		subnet_hops_towards(subnet, target);
		for (uint32_t node = 0; node < switches; node++)
			if (routing->hops[node] < HOPS_MAX)
				histogram[node][routing->hops[node]] += here;
	}
	for (uint32_t node = 0; node < switches; node++) {
		bool root =
			subnet->ports[subnet->first[node]].known && is_root(histogram[node], hosts);

		routing->rank[node] = root ? 0 : NO_RANK;
		roots += root;
	}
	return roots;
}

static void rank_switches(struct subnet_routing *routing, uint32_t switches)
{
	uint32_t count = 0;

	for (uint32_t node = 0; node < switches; node++)
		if (!routing->rank[node])
			routing->queue[count++] = node;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = routing->queue[i];

		for (uint32_t e = routing->first_end[node]; e < routing->first_end[node + 1]; e++) {
			const struct subnet_end *end = &routing->ends[e];

			if (!end->usable || routing->rank[end->far] != NO_RANK)
				continue;
			routing->rank[end->far] = routing->rank[node] + 1;
			routing->queue[count++] = end->far;
		}
	}
}

/* Without memory for the histogram, or without roots, it stays off. */
static void set_up_down(struct sim_subnet *subnet)
{
	uint32_t switches = subnet->topology->switch_count;
	uint32_t(*histogram)[HOPS_MAX];

	subnet->routing.up_down = false;
	if (subnet->topology->routing != SIM_ROUTING_UPDN)
		return;
	histogram = calloc((size_t)switches + 1, sizeof(*histogram));
	if (!histogram)
		return;
	if (find_roots(subnet, histogram)) {
		rank_switches(&subnet->routing, switches);
		subnet->routing.up_down = true;
	}
	free(histogram);
}

/* ---- after a sweep ---- */

static void order_by_load(struct sim_subnet *subnet)
{
	uint32_t switches = subnet->topology->switch_count, most = 0, place = 0;

	for (uint32_t i = 0; i < switches; i++) {
		uint32_t hosts = count_hosts(subnet, i);

		subnet->routing.queue[i] = hosts;
		if (hosts > most)
			most = hosts;
	}
	for (uint32_t hosts = most + 1; hosts-- > 0;)
		for (uint32_t i = 0; i < switches; i++)
			if (subnet->routing.queue[subnet->guid_switches[i]] == hosts)
				subnet->routing.load_order[place++] = subnet->guid_switches[i];
}

void subnet_survey_switches(struct sim_subnet *subnet)
{
	struct subnet_routing *routing = &subnet->routing;
	uint32_t switches = subnet->topology->switch_count;

	for (uint32_t node = 0; node < switches; node++) {
		bool known = subnet->ports[subnet->first[node]].known;

		for (uint32_t e = routing->first_end[node]; e < routing->first_end[node + 1]; e++)
			routing->ends[e].usable = known && subnet->link_seen[routing->ends[e].link];
	}
	order_by_load(subnet);
	set_up_down(subnet);
}
