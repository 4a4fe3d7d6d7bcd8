/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_subnet.h"

#include <acmite/bytes.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t ibsim_port_index(const struct ibsim_subnet *subnet, struct sim_port_ref port)
{
	const struct sim_topology *topology = subnet->topology;

	if (port.node >= topology->node_count || topology->nodes[port.node].kind != SIM_HOST ||
	    port.port < 1 || port.port > topology->nodes[port.node].port_count)
		return SIM_NONE;
	return subnet->first_port[port.node] + port.port - 1;
}

static uint32_t count_ports(const struct sim_topology *topology)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->node_count; i++)
		if (topology->nodes[i].kind == SIM_HOST)
			count += topology->nodes[i].port_count;
	return count;
}

static int allocate(struct ibsim_subnet *subnet)
{
	uint32_t switches = subnet->topology->switch_count, ports = subnet->port_count;

	/* One more of each, so that none is empty. */
	subnet->names = calloc(switches + ports + 1, sizeof(*subnet->names));
	subnet->first_port = calloc(subnet->topology->node_count + 1, sizeof(uint32_t));
	subnet->refs = calloc(ports + 1, sizeof(*subnet->refs));
	subnet->switch_targets = calloc(switches + 1, sizeof(*subnet->switch_targets));
	subnet->port_targets = calloc(ports + 1, sizeof(*subnet->port_targets));
	subnet->ports.facts = calloc(ports + 1, sizeof(*subnet->ports.facts));
	return subnet->names && subnet->first_port && subnet->refs && subnet->switch_targets &&
			       subnet->port_targets && subnet->ports.facts
		       ? 0
		       : -ENOMEM;
}

/* What ibsim cannot tell. */
static void init_facts(struct acm_port_facts *facts, const struct sim_node *node, uint8_t port)
{
	uint64_t guid = node->ports[port].guid;

	memcpy(facts->device, node->device, sizeof(facts->device));
	facts->device[sizeof(facts->device) - 1] = '\0';
	facts->device_guid = node->guid;
	facts->number = port;
	facts->port_count = node->port_count;
	facts->state = ACM_PORT_DOWN;
	facts->gid_count = 1;
	store_be64(facts->gids[0].raw + 8, guid);
}

static void init_host(struct ibsim_subnet *subnet, uint32_t node, uint32_t *next)
{
	const struct sim_node *n = &subnet->topology->nodes[node];

	subnet->first_port[node] = *next;
	for (uint8_t port = 1; port <= n->port_count; port++, (*next)++) {
		uint32_t pool_node = subnet->topology->switch_count + *next;

		sim_topology_ibsim_name(subnet->topology, node, port, subnet->names[pool_node]);
		subnet->refs[*next] = (struct sim_port_ref){.node = node, .port = port};
		subnet->port_targets[*next].node = pool_node;
		init_facts(&subnet->ports.facts[*next], n, port);
	}
}

static struct ibsim_target *target_of(struct ibsim_subnet *subnet, uint32_t node, uint8_t port)
{
	if (subnet->topology->nodes[node].kind == SIM_SWITCH)
		return &subnet->switch_targets[node];
	return &subnet->port_targets[subnet->first_port[node] + port - 1];
}

/* The port at the other end, reached by one hop more; its node's index when that is a switch first
 * seen. */
static uint32_t extend(struct ibsim_subnet *subnet, const struct ibsim_target *from,
		       const struct sim_port *out, uint8_t out_port)
{
	struct ibsim_target *to;

	if (out->peer == SIM_NONE || from->hops >= IBSIM_HOPS_MAX)
		return SIM_NONE;
	to = target_of(subnet, out->peer, out->peer_port);
	if (to->reachable)
		return SIM_NONE;
	to->reachable = true;
	to->hops = (uint8_t)(from->hops + 1);
	memcpy(to->path, from->path, sizeof(to->path));
	to->path[to->hops] = out_port;
	return subnet->topology->nodes[out->peer].kind == SIM_SWITCH ? out->peer : SIM_NONE;
}

/* Shortest ways from the SM's port, breadth first. */
static int find_routes(struct ibsim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;
	uint32_t *queue = calloc(topology->switch_count + 1, sizeof(uint32_t));
	uint32_t first = 0, count = 0, found;
	struct ibsim_target *sm;

	if (!queue)
		return -ENOMEM;
	sm = target_of(subnet, topology->sm, 1);
	sm->reachable = true;
	/* Under ibsim each port of a host is port 1 of a node of its own. */
	found = extend(subnet, sm, &topology->nodes[topology->sm].ports[1], 1);
	if (found != SIM_NONE)
		queue[count++] = found;
	while (first < count) {
		uint32_t node = queue[first++];
		const struct sim_node *n = &topology->nodes[node];

		for (uint32_t port = 1; port <= n->port_count; port++) {
			found = extend(subnet, &subnet->switch_targets[node], &n->ports[port],
				       (uint8_t)port);
			if (found != SIM_NONE)
				queue[count++] = found;
		}
	}
	free(queue);
	return 0;
}

int ibsim_nodes_init(struct ibsim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;
	uint32_t next = 0;

	subnet->port_count = count_ports(topology);
	subnet->node_count = topology->switch_count + subnet->port_count;
	subnet->ports.count = subnet->port_count;
	if (allocate(subnet) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->node_count; i++) {
		if (topology->nodes[i].kind == SIM_HOST) {
			init_host(subnet, i, &next);
			continue;
		}
		sim_topology_ibsim_name(topology, i, 0, subnet->names[i]);
		subnet->switch_targets[i].node = i;
	}
	return find_routes(subnet);
}

void ibsim_nodes_free(struct ibsim_subnet *subnet)
{
	free(subnet->names);
	free(subnet->first_port);
	free(subnet->refs);
	free(subnet->switch_targets);
	free(subnet->port_targets);
	free(subnet->ports.facts);
}
