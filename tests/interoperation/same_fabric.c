/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether two topology files are one fabric as it can be discovered: nodes with their names, GUIDs
 * and ports, and links with their ends, width and speed. Exit status: 0 yes, 1 no, with the first
 * difference; 2 a file is wrong.
 */
#include "topology.h"

#include <inttypes.h>
#include <string.h>

static struct sim_topology *load(const char *path)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors;
	int ret = sim_topology_load(path, &topology, &errors);

	for (uint32_t i = 0; i < errors.count; i++)
		fprintf(stderr, "%s\n", errors.lines[i]);
	sim_errors_free(&errors);
	return ret ? NULL : topology;
}

static bool same_port(const struct sim_topology *a, const struct sim_topology *b,
		      const struct sim_port *x, const struct sim_port *y)
{
	if (x->guid != y->guid || (x->link == SIM_NONE) != (y->link == SIM_NONE))
		return false;
	if (x->link == SIM_NONE)
		return true;
	return !strcmp(a->nodes[x->peer].name, b->nodes[y->peer].name) &&
	       x->peer_port == y->peer_port && a->links[x->link].width == b->links[y->link].width &&
	       a->links[x->link].speed == b->links[y->link].speed;
}

static bool same_node(const struct sim_topology *a, const struct sim_topology *b,
		      const struct sim_node *x)
{
	uint32_t index = sim_topology_find(b, x->name);
	const struct sim_node *y = index == SIM_NONE ? NULL : &b->nodes[index];

	if (!y || x->kind != y->kind || x->guid != y->guid || x->port_count != y->port_count) {
		printf("%s is another node, or there is none\n", x->name);
		return false;
	}
	for (uint32_t port = 1; port <= x->port_count; port++) {
		if (same_port(a, b, &x->ports[port], &y->ports[port]))
			continue;
		printf("port %" PRIu32 " of %s is not the same\n", port, x->name);
		return false;
	}
	return true;
}

static bool same_fabric(const struct sim_topology *a, const struct sim_topology *b)
{
	if (a->node_count != b->node_count || a->link_count != b->link_count) {
		printf("%" PRIu32 " nodes and %" PRIu32 " links, or %" PRIu32 " and %" PRIu32 "\n",
		       a->node_count, a->link_count, b->node_count, b->link_count);
		return false;
	}
	for (uint32_t node = 0; node < a->node_count; node++) {
		if (!same_node(a, b, &a->nodes[node]))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct sim_topology *a = argc == 3 ? load(argv[1]) : NULL;
	struct sim_topology *b = argc == 3 ? load(argv[2]) : NULL;
	int ended = a && b ? !same_fabric(a, b) : 2;

	sim_topology_free(a);
	sim_topology_free(b);
	return ended;
}
