/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* P_Key tables of hosts' ports, from the topology's partitions. */
#include "subnet_state.h"

#include <errno.h>
#include <stdlib.h>

#define PKEY_DEFAULT 0x7fffu
#define BASE(pkey)   ((uint16_t)((pkey) & ~ACM_PKEY_FULL))

static uint16_t pkey_order(uint16_t pkey)
{
	return __builtin_bswap16(BASE(pkey));
}

/* The entry, or the first free place; NULL: neither. */
static uint16_t *find_place(struct subnet_port *port, uint16_t pkey)
{
	uint16_t *free_place = NULL;

	for (uint32_t i = 0; i < port->pkey_count; i++) {
		if (port->pkeys[i] && BASE(port->pkeys[i]) == pkey)
			return &port->pkeys[i];
		if (!port->pkeys[i] && !free_place)
			free_place = &port->pkeys[i];
	}
	return free_place;
}

static int add_place(struct subnet_port *port, uint16_t **place)
{
	uint16_t *grown;

	if (port->pkey_count == ACM_PORT_PKEYS_MAX)
		return -ENOSPC;
	grown = reallocarray(port->pkeys, port->pkey_count + 1u, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	port->pkeys = grown;
	*place = &grown[port->pkey_count++];
	**place = 0;
	return 0;
}

static int set_entry(struct subnet_port *port, uint16_t pkey, enum sim_membership membership)
{
	uint16_t *place = find_place(port, pkey);
	int error;

	if (membership == SIM_MEMBER_NONE) {
		if (place)
			*place = 0;
		return 0;
	}
	if (!place) {
		error = add_place(port, &place);
		if (error)
			return error;
	}
	*place = membership == SIM_MEMBER_FULL ? pkey | ACM_PKEY_FULL : pkey;
	return 0;
}

int sim_subnet_set_membership(struct sim_subnet *subnet, struct sim_port_ref port, uint16_t pkey,
			      enum sim_membership membership)
{
	uint32_t index = sim_subnet_port_index(subnet, port);
	int error;

	if (index == SIM_NONE)
		return -ENODEV;
	error = set_entry(&subnet->ports[index], BASE(pkey), membership);
	if (!error)
		subnet_port_changed(subnet, index);
	return error;
}

/* ---- from the topology ---- */

static int set_node(struct sim_subnet *subnet, uint32_t node, uint16_t pkey,
		    enum sim_membership membership)
{
	int error = 0;

	for (uint32_t i = 1; i <= subnet->topology->nodes[node].port_count && !error; i++)
		error = set_entry(&subnet->ports[subnet->first[node] + i], pkey, membership);
	return error == -ENOSPC ? -E2BIG : error;
}

static int set_partition(struct sim_subnet *subnet, const struct sim_partition *partition)
{
	int error = 0;

	for (uint32_t i = 0; i < partition->member_count && !error; i++)
		error = set_node(subnet, partition->members[i].node, partition->pkey,
				 partition->members[i].full ? SIM_MEMBER_FULL : SIM_MEMBER_LIMITED);
	return error;
}

static const struct sim_partition *find_default(const struct sim_topology *topology)
{
	for (uint32_t i = 0; i < topology->partition_count; i++)
		if (topology->partitions[i].pkey == PKEY_DEFAULT)
			return &topology->partitions[i];
	return NULL;
}

/* Everybody is in it, as a limited member when it is listed without him; the manager in full. */
static int set_default(struct sim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;
	const struct sim_partition *listed = find_default(topology);
	int error = 0;

	for (uint32_t node = 0; node < topology->switch_count && !error; node++)
		error = set_entry(&subnet->ports[subnet->first[node]], PKEY_DEFAULT,
				  SIM_MEMBER_FULL);
	for (uint32_t node = topology->switch_count; node < topology->node_count && !error; node++)
		error = set_node(subnet, node, PKEY_DEFAULT,
				 listed ? SIM_MEMBER_LIMITED : SIM_MEMBER_FULL);
	if (!error && listed)
		error = set_partition(subnet, listed);
	if (!error)
		error = set_node(subnet, subnet->sm, PKEY_DEFAULT, SIM_MEMBER_FULL);
	return error;
}

static int compare_partitions(const void *a, const void *b)
{
	const struct sim_partition *const *left = a, *const *right = b;
	uint16_t first = pkey_order((*left)->pkey), second = pkey_order((*right)->pkey);

	return (first > second) - (first < second);
}

int subnet_pkeys_init(struct sim_subnet *subnet)
{
	const struct sim_topology *topology = subnet->topology;
	const struct sim_partition **order =
		calloc((size_t)topology->partition_count + 1, sizeof(struct sim_partition *));
	int error;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->partition_count; i++)
		order[i] = &topology->partitions[i];
	qsort(order, topology->partition_count, sizeof(*order), compare_partitions);
	error = set_default(subnet);
	for (uint32_t i = 0; i < topology->partition_count && !error; i++)
		if (order[i]->pkey != PKEY_DEFAULT)
			error = set_partition(subnet, order[i]);
	free(order);
	return error;
}

/* ---- questions ---- */

uint16_t sim_subnet_pkey_of(const struct sim_subnet *subnet, uint32_t port, uint16_t pkey)
{
	const struct subnet_port *of = &subnet->ports[port];

	for (uint32_t i = 0; i < of->pkey_count; i++)
		if (of->pkeys[i] && BASE(of->pkeys[i]) == BASE(pkey))
			return of->pkeys[i];
	return 0;
}

uint16_t sim_subnet_common_pkey(const struct sim_subnet *subnet, uint32_t from, uint32_t to)
{
	const struct subnet_port *own = &subnet->ports[from];
	uint16_t best = 0;

	for (uint32_t i = 0; i < own->pkey_count; i++) {
		uint16_t pkey = own->pkeys[i], other;

		if (!pkey)
			continue;
		other = sim_subnet_pkey_of(subnet, to, pkey);
		if (!other || !((pkey | other) & ACM_PKEY_FULL))
			continue;
		if (!best || pkey_order(pkey) < pkey_order(best))
			best = pkey;
	}
	return best;
}
