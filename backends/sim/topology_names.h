/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes by name: a hash table of node indices, and the GUID that a name stands for. */
#ifndef ACMITE_SIM_TOPOLOGY_NAMES_H
#define ACMITE_SIM_TOPOLOGY_NAMES_H

#include "topology.h"

/* GUIDs of one node are within 16 numbers from its own: hosts have at most this many ports. */
#define SIM_HOST_PORTS_MAX 7
#define SIM_NODE_GUID_MAX  (UINT64_MAX - 16)

struct sim_names;

/* NULL: no memory. */
struct sim_names *sim_names_create(void);
void sim_names_destroy(struct sim_names *names);
/* Enters topology->nodes[node], whose name is not there yet. False: no memory. */
bool sim_names_add(struct sim_names *names, const struct sim_topology *topology, uint32_t node);
uint32_t sim_names_find(const struct sim_names *names, const struct sim_topology *topology,
			const char *name);

/*
 * Node GUID for a name: locally administered, the same on every machine and whatever else is in the
 * file, never 0, and a multiple of 16.
 */
uint64_t sim_guid_of_name(const char *name);
/*
 * GUID of a port, from 1: one-port netlist nodes whose node GUID is one less (as ibsim numbers
 * them) so collide neither with each other nor with a port.
 */
uint64_t sim_guid_of_port(uint64_t node_guid, uint8_t port);

#endif
