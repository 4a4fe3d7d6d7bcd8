/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ibsim 0.10 and OpenSM cannot hold. The numbers are compiled into ibsim. */
#include "topology.h"

#include <acmite/wire.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NETLIST_NODES_MAX    2048u
#define NETLIST_SWITCHES_MAX 256u
#define NETLIST_PORTS_MAX    13312u
#define NETLIST_NAME_MAX     31u
#define ROUTE_HOPS_MAX       16u
#define PKEY_TABLE_ENTRIES   64u
#define MTU_BYTES            2048u

struct verdict {
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct verdict *verdict,
							const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(verdict->why, verdict->size, format, arguments);
	va_end(arguments);
	return -E2BIG;
}

static int check_counts(const struct sim_topology *topology, const struct verdict *verdict)
{
	uint32_t nodes = topology->switch_count, ports = 0;

	for (uint32_t i = 0; i < topology->node_count; i++) {
		const struct sim_node *node = &topology->nodes[i];

		ports += node->port_count;
		if (node->kind == SIM_SWITCH)
			ports++;
		else
			nodes += node->port_count;
	}
	if (topology->switch_count > NETLIST_SWITCHES_MAX)
		return refuse(verdict, "the fabric has %u switches, ibsim holds at most %u",
			      topology->switch_count, NETLIST_SWITCHES_MAX);
	if (nodes > NETLIST_NODES_MAX)
		return refuse(
			verdict,
			"the fabric has %u switches and host ports, ibsim holds at most %u nodes",
			nodes, NETLIST_NODES_MAX);
	if (ports > NETLIST_PORTS_MAX)
		return refuse(verdict, "the fabric has %u ports, ibsim holds at most %u", ports,
			      NETLIST_PORTS_MAX);
	return 0;
}

static int check_names(const struct sim_topology *topology, const struct verdict *verdict)
{
	for (uint32_t i = 0; i < topology->node_count; i++) {
		const struct sim_node *node = &topology->nodes[i];
		/* Ports above the first have a colon and a digit behind the name. */
		size_t more = node->kind == SIM_HOST && node->port_count > 1 ? 2 : 0;

		if (strlen(node->name) + more > NETLIST_NAME_MAX)
			return refuse(
				verdict,
				"the name '%s' is too long for ibsim, which takes %zu bytes here",
				node->name, NETLIST_NAME_MAX - more);
	}
	return 0;
}

static int check_links(const struct sim_topology *topology, const struct verdict *verdict)
{
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct sim_link *link = &topology->links[i];
		const char *a = topology->nodes[link->node[0]].name;
		const char *b = topology->nodes[link->node[1]].name;

		if (link->speed > SIM_HDR)
			return refuse(verdict,
				      "the link of %s port %u and %s port %u is faster than HDR, "
				      "ibsim's highest speed",
				      a, link->port[0], b, link->port[1]);
		/* A larger MTU is 2048 there, which both ends see; a smaller one would not hold. */
		if (acm_mtu_bytes(link->mtu) < MTU_BYTES)
			return refuse(verdict,
				      "the link of %s port %u and %s port %u has an MTU of %u, "
				      "ibsim's ports have %u",
				      a, link->port[0], b, link->port[1], acm_mtu_bytes(link->mtu),
				      MTU_BYTES);
	}
	return 0;
}

static int check_partitions(const struct sim_topology *topology, const struct verdict *verdict)
{
	uint32_t *entries = calloc(topology->node_count, sizeof(*entries));
	int ret = 0;

	if (!entries)
		return refuse(verdict, "there is no memory to count the partitions of each host");
	for (uint32_t i = 0; i < topology->partition_count; i++) {
		const struct sim_partition *partition = &topology->partitions[i];

		if (partition->pkey == 0x7fff)
			continue;
		for (uint32_t j = 0; j < partition->member_count; j++) {
			uint32_t node = partition->members[j].node;

			if (++entries[node] == PKEY_TABLE_ENTRIES && !ret)
				ret = refuse(
					verdict,
					"'%s' is in more than %u partitions, the size of ibsim's "
					"P_Key tables",
					topology->nodes[node].name, PKEY_TABLE_ENTRIES);
		}
	}
	free(entries);
	return ret;
}

/* Breadth-first from a switch; distance in links, UINT32_MAX: not reached. */
static void measure(const struct sim_topology *topology, uint32_t from, uint32_t *distance,
		    uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	memset(distance, 0xff, topology->switch_count * sizeof(*distance));
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t at = queue[head++];
		const struct sim_node *node = &topology->nodes[at];

		for (uint8_t port = 1; port <= node->port_count; port++) {
			uint32_t peer = node->ports[port].peer;

			if (peer >= topology->switch_count || distance[peer] != UINT32_MAX)
				continue;
			distance[peer] = distance[at] + 1;
			queue[tail++] = peer;
		}
	}
}

/* Longest of the shortest routes, in switches passed. */
static uint32_t longest_route(const struct sim_topology *topology, uint32_t *distance,
			      uint32_t *queue)
{
	uint32_t longest = 0;

	for (uint32_t from = 0; from < topology->switch_count; from++) {
		measure(topology, from, distance, queue);
		for (uint32_t to = 0; to < topology->switch_count; to++) {
			if (distance[to] != UINT32_MAX && distance[to] + 1 > longest)
				longest = distance[to] + 1;
		}
	}
	return longest;
}

/*
 * A packet takes one hop for each switch it passes: more than ROUTE_HOPS_MAX and ibsim drops it
 * without a word. Routes that are not the shortest (updn on some fabrics) are not told from the
 * file.
 */
static int check_routes(const struct sim_topology *topology, const struct verdict *verdict)
{
	uint32_t *distance = calloc(topology->switch_count + 1, sizeof(*distance));
	uint32_t *queue = calloc(topology->switch_count + 1, sizeof(*queue));
	int ret = 0;
	uint32_t hops;

	if (!distance || !queue) {
		ret = refuse(verdict, "there is no memory to measure the routes");
	} else {
		hops = longest_route(topology, distance, queue);
		if (hops > ROUTE_HOPS_MAX)
			ret = refuse(verdict,
				     "the longest route passes %u switches, ibsim drops packets "
				     "after %u",
				     hops, ROUTE_HOPS_MAX);
	}
	free(distance);
	free(queue);
	return ret;
}

static int check_sm(const struct sim_topology *topology, const struct verdict *verdict)
{
	const struct sim_node *sm = &topology->nodes[topology->sm];

	if (sm->ports[1].peer == SIM_NONE)
		return refuse(
			verdict,
			"port 1 of '%s', which runs the subnet manager, is not connected, OpenSM "
			"would wait for it for ever",
			sm->name);
	return 0;
}

int sim_topology_fits_ibsim(const struct sim_topology *topology, char *why, size_t size)
{
	static int (*const checks[])(const struct sim_topology *, const struct verdict *) = {
		check_counts, check_names, check_links, check_partitions, check_routes, check_sm,
	};
	const struct verdict verdict = {why, size};

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		int ret = checks[i](topology, &verdict);

		if (ret)
			return ret;
	}
	return 0;
}
