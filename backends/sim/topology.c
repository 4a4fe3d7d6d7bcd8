/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology.h"

#include <stdlib.h>
#include "topology_names.h"

static void free_node(struct sim_node *node)
{
	free(node->name);
	free(node->ports);
	free(node->addresses);
}

static void free_partition(struct sim_partition *partition)
{
	free(partition->name);
	free(partition->members);
}

void sim_topology_free(struct sim_topology *topology)
{
	if (!topology)
		return;
	for (uint32_t i = 0; i < topology->node_count; i++)
		free_node(&topology->nodes[i]);
	for (uint32_t i = 0; i < topology->partition_count; i++)
		free_partition(&topology->partitions[i]);
	sim_names_destroy(topology->names);
	free(topology->nodes);
	free(topology->links);
	free(topology->partitions);
	free(topology->name);
	free(topology);
}

uint32_t sim_topology_find(const struct sim_topology *topology, const char *name)
{
	return sim_names_find(topology->names, topology, name);
}
