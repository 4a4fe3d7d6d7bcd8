/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_build.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As drivers name the first device of a host. */
#define DEVICE_DEFAULT "mlx5_0"

bool sim_builder_create(struct sim_builder *builder, struct sim_faults *faults)
{
	memset(builder, 0, sizeof(*builder));
	builder->faults = faults;
	builder->topology = calloc(1, sizeof(*builder->topology));
	if (!builder->topology)
		return false;
	builder->topology->sm = SIM_NONE;
	builder->topology->names = sim_names_create();
	if (!builder->topology->names) {
		free(builder->topology);
		return false;
	}
	return true;
}

void sim_builder_destroy(struct sim_builder *builder)
{
	sim_topology_free(builder->topology);
	free(builder->origins);
	free(builder->holdings);
	memset(builder, 0, sizeof(*builder));
}

struct sim_topology *sim_builder_finish(struct sim_builder *builder)
{
	struct sim_topology *topology = builder->topology;

	builder->topology = NULL;
	return topology;
}

/* Room for one more element of `size` bytes; the array is where it was or moved. */
static bool reserve(struct sim_builder *builder, void **array, uint32_t *room, uint32_t count,
		    size_t size)
{
	uint32_t larger = *room ? *room * 2 : 32;
	void *moved;

	if (count < *room)
		return true;
	moved = reallocarray(*array, larger, size);
	if (!moved) {
		builder->faults->no_memory = true;
		return false;
	}
	*array = moved;
	*room = larger;
	return true;
}

static bool reserve_node(struct sim_builder *builder)
{
	struct sim_topology *topology = builder->topology;
	uint32_t room = builder->node_room;
	void *origins = builder->origins, *nodes = topology->nodes;
	bool done;

	done = reserve(builder, &origins, &room, topology->node_count, sizeof(*builder->origins));
	builder->origins = origins;
	if (!done)
		return false;
	done = reserve(builder, &nodes, &builder->node_room, topology->node_count,
		       sizeof(*topology->nodes));
	topology->nodes = nodes;
	return done;
}

static bool create_ports(struct sim_node *node, const struct sim_node_options *options)
{
	node->ports = calloc((size_t)node->port_count + 1, sizeof(*node->ports));
	if (!node->ports)
		return false;
	for (uint8_t i = 0; i <= node->port_count; i++) {
		struct sim_port *port = &node->ports[i];

		port->peer = SIM_NONE;
		port->link = SIM_NONE;
		if (node->kind == SIM_SWITCH)
			port->guid = node->guid;
		else if (i)
			port->guid = options->port_guids ? options->port_guids[i - 1]
							 : sim_guid_of_port(node->guid, i);
	}
	return true;
}

int64_t sim_builder_add_node(struct sim_builder *builder, const char *name,
			     const struct sim_node_options *options, struct sim_place place)
{
	struct sim_topology *topology = builder->topology;
	struct sim_node *node;

	if (sim_topology_find(topology, name) != SIM_NONE)
		return -EEXIST;
	if (!reserve_node(builder))
		return -ENOMEM;
	node = &topology->nodes[topology->node_count];
	memset(node, 0, sizeof(*node));
	node->kind = options->kind;
	node->port_count = options->ports;
	node->guid = options->guid ? options->guid : sim_guid_of_name(name);
	if (node->kind == SIM_HOST)
		snprintf(node->device, sizeof(node->device), "%s",
			 options->device ? options->device : DEVICE_DEFAULT);
	node->name = strdup(name);
	if (!node->name || !create_ports(node, options) ||
	    !sim_names_add(topology->names, topology, topology->node_count)) {
		free(node->name);
		free(node->ports);
		builder->faults->no_memory = true;
		return -ENOMEM;
	}
	builder->origins[topology->node_count] = (struct sim_origin){.place = place};
	if (node->kind == SIM_SWITCH)
		topology->switch_count++;
	else
		topology->host_count++;
	return topology->node_count++;
}

void sim_builder_add_address(struct sim_builder *builder, uint32_t node,
			     const struct acm_address *address, struct sim_place place)
{
	struct sim_node *holder = &builder->topology->nodes[node];
	void *holdings = builder->holdings;
	struct acm_address *addresses;
	bool done;

	done = reserve(builder, &holdings, &builder->holding_room, builder->holding_count,
		       sizeof(*builder->holdings));
	builder->holdings = holdings;
	if (!done)
		return;
	addresses = reallocarray(holder->addresses, holder->address_count + 1, sizeof(*addresses));
	if (!addresses) {
		builder->faults->no_memory = true;
		return;
	}
	holder->addresses = addresses;
	holder->addresses[holder->address_count++] = *address;
	builder->holdings[builder->holding_count++] =
		(struct sim_holding){.address = *address, .node = node, .place = place};
}

/* The lowest free port, 0 when all are taken. */
static uint8_t free_port(struct sim_builder *builder, uint32_t index, struct sim_place place)
{
	struct sim_node *node = &builder->topology->nodes[index];
	struct sim_origin *origin = &builder->origins[index];

	while (origin->ports_used < node->port_count) {
		if (node->ports[++origin->ports_used].link == SIM_NONE)
			return origin->ports_used;
	}
	if (!origin->overfull)
		sim_fault_add(
			builder->faults, place,
			"'%s' has only %u port%s and all are taken, fewer links or more ports "
			"(line %u) were expected",
			node->name, node->port_count, node->port_count == 1 ? "" : "s",
			origin->place.line);
	origin->overfull = true;
	return 0;
}

static bool is_free(struct sim_builder *builder, uint32_t index, uint8_t port,
		    struct sim_place place)
{
	const struct sim_topology *topology = builder->topology;
	const struct sim_node *node = &topology->nodes[index];

	if (port > node->port_count)
		sim_fault_add(builder->faults, place,
			      "'%s' has no port %u, a number from 1 to %u was expected", node->name,
			      port, node->port_count);
	else if (node->ports[port].link != SIM_NONE)
		sim_fault_add(builder->faults, place,
			      "port %u of '%s' is joined with '%s' already, a free one was "
			      "expected",
			      port, node->name, topology->nodes[node->ports[port].peer].name);
	else
		return true;
	return false;
}

static void join_ports(struct sim_builder *builder, const struct sim_link *link)
{
	struct sim_topology *topology = builder->topology;
	void *links = topology->links;
	bool done;

	done = reserve(builder, &links, &builder->link_room, topology->link_count, sizeof(*link));
	topology->links = links;
	if (!done)
		return;
	for (int i = 0; i < 2; i++) {
		struct sim_port *port = &topology->nodes[link->node[i]].ports[link->port[i]];

		port->peer = link->node[!i];
		port->peer_port = link->port[!i];
		port->link = topology->link_count;
	}
	topology->links[topology->link_count++] = *link;
}

void sim_builder_add_link(struct sim_builder *builder, uint32_t left, uint32_t right,
			  const struct sim_link *attributes, struct sim_place place)
{
	struct sim_link link = *attributes;

	link.node[0] = left;
	link.node[1] = right;
	for (int i = 0; i < 2; i++)
		link.port[i] = free_port(builder, link.node[i], place);
	if (link.port[0] && link.port[1])
		join_ports(builder, &link);
}

void sim_builder_add_link_at(struct sim_builder *builder, const struct sim_link *link,
			     struct sim_place place)
{
	bool left = is_free(builder, link->node[0], link->port[0], place);
	bool right = is_free(builder, link->node[1], link->port[1], place);

	if (left && right)
		join_ports(builder, link);
}

struct sim_partition *sim_builder_add_partition(struct sim_builder *builder)
{
	struct sim_topology *topology = builder->topology;
	void *partitions = topology->partitions;
	struct sim_partition *partition;
	bool done;

	done = reserve(builder, &partitions, &builder->partition_room, topology->partition_count,
		       sizeof(*partition));
	topology->partitions = partitions;
	if (!done)
		return NULL;
	partition = &topology->partitions[topology->partition_count++];
	memset(partition, 0, sizeof(*partition));
	return partition;
}

static int compare_holdings(const void *left, const void *right)
{
	const struct sim_holding *a = left, *b = right;
	int order;

	if (a->address.type != b->address.type)
		return a->address.type < b->address.type ? -1 : 1;
	order = memcmp(a->address.data, b->address.data, sizeof(a->address.data));
	if (order)
		return order;
	return a->node < b->node ? -1 : a->node > b->node;
}

static bool same_address(const struct sim_holding *a, const struct sim_holding *b)
{
	return a->address.type == b->address.type &&
	       !memcmp(a->address.data, b->address.data, sizeof(a->address.data));
}

static bool same_place(struct sim_place a, struct sim_place b)
{
	return a.line == b.line && a.column == b.column;
}

static int compare_holding_places(const void *left, const void *right)
{
	const struct sim_holding *const *a = left, *const *b = right;

	if ((*a)->place.line != (*b)->place.line)
		return (*a)->place.line < (*b)->place.line ? -1 : 1;
	if ((*a)->place.column != (*b)->place.column)
		return (*a)->place.column < (*b)->place.column ? -1 : 1;
	return (*a)->node < (*b)->node ? -1 : (*a)->node > (*b)->node;
}

/* One fault for each pattern, however many of its addresses are held twice. */
static void report_held_twice(struct sim_builder *builder, const struct sim_holding **twice,
			      uint32_t count)
{
	const struct sim_node *nodes = builder->topology->nodes;

	qsort(twice, count, sizeof(*twice), compare_holding_places);
	for (uint32_t i = 0, next; i < count; i = next) {
		const struct sim_holding *later = twice[i], *first = later - 1;

		for (next = i; next < count && same_place(twice[next]->place, later->place); next++)
			continue;
		sim_fault_add(builder->faults, later->place,
			      "'%s' gets an address that '%s' (line %u) has, each address was "
			      "expected once%s",
			      nodes[later->node].name, nodes[first->node].name, first->place.line,
			      next - i > 1 ? ", and so do more of these" : "");
	}
}

static void check_addresses(struct sim_builder *builder)
{
	const struct sim_holding **twice;
	uint32_t count = 0;

	if (!builder->holding_count)
		return;
	qsort(builder->holdings, builder->holding_count, sizeof(*builder->holdings),
	      compare_holdings);
	twice = calloc(builder->holding_count, sizeof(*twice));
	if (!twice) {
		builder->faults->no_memory = true;
		return;
	}
	for (uint32_t i = 1; i < builder->holding_count; i++) {
		if (same_address(&builder->holdings[i - 1], &builder->holdings[i]))
			twice[count++] = &builder->holdings[i];
	}
	report_held_twice(builder, twice, count);
	free(twice);
}

/* A GUID and who has it. */
struct owned_guid {
	uint64_t guid;
	uint32_t node;
	uint8_t port; /* 0: the node's own */
};

static int compare_owned_guids(const void *left, const void *right)
{
	const struct owned_guid *a = left, *b = right;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static uint32_t collect_guids(const struct sim_topology *topology, struct owned_guid *owned)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->node_count; i++) {
		const struct sim_node *node = &topology->nodes[i];

		owned[count++] = (struct owned_guid){node->guid, i, 0};
		for (uint8_t port = 1; node->kind == SIM_HOST && port <= node->port_count; port++)
			owned[count++] = (struct owned_guid){node->ports[port].guid, i, port};
	}
	return count;
}

/* A port may have its node's GUID, and no other's. One fault for each pair of nodes in a row. */
static void check_guids(struct sim_builder *builder)
{
	const struct sim_topology *topology = builder->topology;
	size_t room = (size_t)topology->node_count * (1 + SIM_HOST_PORTS_MAX) + 1;
	struct owned_guid *owned = calloc(room, sizeof(*owned));
	uint32_t count, told = SIM_NONE; /* of the node told of last */

	if (!owned) {
		builder->faults->no_memory = true;
		return;
	}
	count = collect_guids(topology, owned);
	qsort(owned, count, sizeof(*owned), compare_owned_guids);
	for (uint32_t i = 1; i < count; i++) {
		uint32_t a = owned[i - 1].node, b = owned[i].node;
		uint32_t later = a > b ? a : b, first = a > b ? b : a;

		if (owned[i].guid != owned[i - 1].guid || later == told)
			continue;
		if (a != b || (owned[i].port && owned[i - 1].port))
			told = later;
		if (a != b)
			sim_fault_add(
				builder->faults, builder->origins[later].place,
				"the GUIDs of '%s' and '%s' (line %u) overlap at 0x%016" PRIx64
				", another 'guid' for one of them was expected",
				topology->nodes[later].name, topology->nodes[first].name,
				builder->origins[first].place.line, owned[i].guid);
		else if (owned[i].port && owned[i - 1].port)
			sim_fault_add(builder->faults, builder->origins[a].place,
				      "two ports of '%s' have the GUID 0x%016" PRIx64
				      ", one of its own for each was expected",
				      topology->nodes[a].name, owned[i].guid);
	}
	free(owned);
}

void sim_builder_check(struct sim_builder *builder)
{
	check_addresses(builder);
	check_guids(builder);
}
