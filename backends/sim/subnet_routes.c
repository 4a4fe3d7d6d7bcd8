/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unicast tables, by OpenSM's rule: LIDs in the order of the switches' loads; of the ports that
 * lead there over fewest hops, the one that has the fewest LIDs already. A port's further LIDs
 * (LMC) take another switch where there is one. After a loss, ways that are still good are kept.
 */
#include "subnet_state.h"

/* A switch's ports towards the target. */
struct choices {
	uint32_t count;
	const struct subnet_end *ends[SIM_SWITCH_PORTS_MAX + 1];
};

static void choose_ends(const struct sim_subnet *subnet, uint32_t node, struct choices *choices)
{
	const struct subnet_routing *routing = &subnet->routing;

	choices->count = 0;
	if (routing->hops[node] == SUBNET_NO_PATH)
		return;
	for (uint32_t e = routing->first_end[node]; e < routing->first_end[node + 1]; e++)
		if (subnet_end_leads(subnet, node, e))
			choices->ends[choices->count++] = &routing->ends[e];
}

static const struct subnet_end *find_end(const struct choices *choices, uint8_t port)
{
	for (uint32_t i = 0; i < choices->count; i++)
		if (choices->ends[i]->port == port)
			return choices->ends[i];
	return NULL;
}

/* How many of the LIDs before this one, of the same port, go by that switch. */
static uint32_t times_used(const struct choices *choices, const uint8_t *lft, uint32_t lid,
			   uint32_t offset, uint32_t far)
{
	uint32_t times = 0;

	for (uint32_t i = 1; i <= offset; i++) {
		const struct subnet_end *end = find_end(choices, lft[lid - i]);

		times += end && end->far == far;
	}
	return times;
}

/* First among equals is the first port from `from` on, round to the ones before it. */
static uint32_t first_choice(const struct choices *choices, uint32_t from)
{
	for (uint32_t i = 0; i < choices->count; i++)
		if (choices->ends[i]->port >= from)
			return i;
	return 0;
}

static uint8_t least_loaded(const struct choices *choices, const uint32_t *load)
{
	const struct subnet_end *best = choices->ends[0];

	for (uint32_t i = 1; i < choices->count; i++)
		if (load[choices->ends[i]->port] < load[best->port])
			best = choices->ends[i];
	return best->port;
}

/* By a switch that none of the port's LIDs before went by; else the least loaded, least used. */
static uint8_t most_distinct(const struct choices *choices, const uint32_t *load,
			     const uint8_t *lft, uint32_t lid, uint32_t offset)
{
	uint32_t first = first_choice(choices, offset ? lft[lid - 1] + 1u : 1);
	const struct subnet_end *best = NULL, *best_new = NULL;
	uint32_t best_times = 0;

	for (uint32_t i = 0; i < choices->count; i++) {
		const struct subnet_end *end = choices->ends[(first + i) % choices->count];
		uint32_t times = times_used(choices, lft, lid, offset, end->far);

		if (!times && (!best_new || load[end->port] < load[best_new->port]))
			best_new = end;
		if (!best || load[end->port] < load[best->port] ||
		    (load[end->port] == load[best->port] && times < best_times)) {
			best = end;
			best_times = times;
		}
	}
	return best_new ? best_new->port : best->port;
}

static uint8_t choose(const struct sim_subnet *subnet, uint32_t node, const struct choices *choices,
		      uint32_t lid, uint32_t offset)
{
	const uint8_t *lft = subnet->tables.switches[node].lft;
	const uint32_t *load = subnet->routing.load + subnet->first[node];

	if (!choices->count)
		return SUBNET_NO_PATH;
	if (!subnet->rebalance && find_end(choices, lft[lid]))
		return lft[lid];
	if (subnet->options.lmc == 0)
		return least_loaded(choices, load);
	return most_distinct(choices, load, lft, lid, offset);
}

static void set_entry(struct sim_subnet *subnet, uint32_t node, uint32_t lid, uint8_t port)
{
	uint8_t *entry = &subnet->tables.switches[node].lft[lid];

	subnet->tables_changed |= *entry != port;
	*entry = port;
}

/* The host's port at a switch's, when the manager knows it; NULL. */
static const struct subnet_port *host_at(const struct sim_subnet *subnet, uint32_t node,
					 uint32_t port)
{
	const struct sim_port *at = &subnet->topology->nodes[node].ports[port];
	const struct subnet_port *host;

	if (at->peer == SIM_NONE || subnet->topology->nodes[at->peer].kind == SIM_SWITCH)
		return NULL;
	host = &subnet->ports[subnet->first[at->peer] + at->peer_port];
	return host->known && host->lid ? host : NULL;
}

/* In one switch's table, the LIDs of all hosts at another. */
static void route_hosts(struct sim_subnet *subnet, uint32_t node, uint32_t target, uint32_t offset)
{
	uint32_t *load = subnet->routing.load + subnet->first[node];
	struct choices choices;

	choose_ends(subnet, node, &choices);
	for (uint32_t i = 1; i <= subnet->topology->nodes[target].port_count; i++) {
		const struct subnet_port *host = host_at(subnet, target, i);
		uint8_t port = (uint8_t)i;

		if (!host)
			continue;
		if (node != target)
			port = choose(subnet, node, &choices, host->lid + offset, offset);
		set_entry(subnet, node, host->lid + offset, port);
		if (port != SUBNET_NO_PATH)
			load[port]++;
	}
}

static bool has_hosts(const struct sim_subnet *subnet, uint32_t node)
{
	for (uint32_t i = 1; i <= subnet->topology->nodes[node].port_count; i++)
		if (host_at(subnet, node, i))
			return true;
	return false;
}

static void route_all_hosts(struct sim_subnet *subnet, uint32_t offset)
{
	uint32_t switches = subnet->topology->switch_count;

	for (uint32_t i = 0; i < switches; i++) {
		uint32_t target = subnet->routing.load_order[i];

		if (!has_hosts(subnet, target))
			continue;
		subnet_hops_towards(subnet, target);
		for (uint32_t node = 0; node < switches; node++)
			if (subnet->ports[subnet->first[node]].known)
				route_hosts(subnet, node, target, offset);
	}
}

/* Switches' own LIDs do not count as load. */
static void route_switches(struct sim_subnet *subnet)
{
	uint32_t switches = subnet->topology->switch_count;
	struct choices choices;

	for (uint32_t target = 0; target < switches; target++) {
		const struct subnet_port *port = &subnet->ports[subnet->first[target]];

		if (!port->known)
			continue;
		subnet_hops_towards(subnet, target);
		for (uint32_t node = 0; node < switches; node++) {
			if (!subnet->ports[subnet->first[node]].known)
				continue;
			choose_ends(subnet, node, &choices);
			set_entry(subnet, node, port->lid,
				  node == target ? 0
						 : choose(subnet, node, &choices, port->lid, 0));
		}
	}
}

/* What is nobody's any more leads nowhere. */
static void clear_unknown(struct sim_subnet *subnet)
{
	for (uint32_t lid = 1; lid < subnet->lid_count; lid++) {
		uint32_t owner = subnet->by_lid[lid];

		if (owner != SIM_NONE && subnet->ports[owner].known)
			continue;
		for (uint32_t node = 0; node < subnet->topology->switch_count; node++)
			if (subnet->ports[subnet->first[node]].known)
				set_entry(subnet, node, lid, SUBNET_NO_PATH);
	}
}

void subnet_route(struct sim_subnet *subnet)
{
	for (uint32_t i = 0; i < subnet->port_count; i++)
		subnet->routing.load[i] = 0;
	for (uint32_t offset = 0; offset < 1u << subnet->options.lmc; offset++) {
		route_all_hosts(subnet, offset);
		if (offset == 0)
			route_switches(subnet);
	}
	clear_unknown(subnet);
}
