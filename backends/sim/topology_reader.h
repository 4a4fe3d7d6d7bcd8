/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the sections of a topology file. Each function takes the value of one key of the file (NULL
 * when the key is not there) and hands what it says to the builder.
 */
#ifndef ACMITE_SIM_TOPOLOGY_READER_H
#define ACMITE_SIM_TOPOLOGY_READER_H

#include "hostlist.h"
#include "topology_build.h"
#include "topology_document.h"

struct sim_reader {
	struct sim_document document;
	struct sim_faults *faults;
	struct sim_builder builder;
	struct sim_link defaults; /* what a link is unless it says otherwise */
	bool nodes_incomplete; /* an entry of nodes was faulty: names may be missing because of it
				*/
};

/* Node indices. */
struct sim_node_list {
	uint32_t count;
	uint32_t *nodes;
};

/* ---- values that several sections use (topology_nodes.c, topology_links.c) ---- */

/* Names of a part of a scalar; false with a fault recorded, nothing to free. */
bool sim_read_names(struct sim_reader *reader, const yaml_node_t *scalar, size_t offset,
		    size_t length, struct hostlist *names);
/* The same, for nodes that are to exist; free list->nodes. */
bool sim_read_node_list(struct sim_reader *reader, const yaml_node_t *scalar, size_t offset,
			size_t length, const char *what, struct sim_node_list *list);
/* Device name of hosts: NULL when `node` is or is faulty. */
const char *sim_read_device(struct sim_reader *reader, const yaml_node_t *node);
/*
 * Gives nodes first .. first + count - 1 their addresses: the patterns in `addresses`, n from 1;
 * only their names when there are none.
 */
void sim_read_addresses(struct sim_reader *reader, yaml_node_t *addresses, uint32_t first,
			uint32_t count);
/* One pattern of these. */
void sim_read_address_pattern(struct sim_reader *reader, const char *pattern,
			      struct sim_place place, uint32_t first, uint32_t count);
/* Adds nodes, with one fault for all names that are taken or no names at all. */
void sim_read_add_nodes(struct sim_reader *reader, const struct hostlist *names,
			const struct sim_node_options *options, struct sim_place place);

/* `speed` and `mtu` of links; an MTU stands for itself in bytes. */
extern const struct sim_word sim_link_speeds[], sim_link_mtus[];
/* Code of the rate that width and speed make; 0: none is defined. */
uint8_t sim_link_rate(const struct sim_link *link);

/* ---- sections ---- */

void sim_read_switches(struct sim_reader *reader, yaml_node_t *switches);
void sim_read_hosts(struct sim_reader *reader, yaml_node_t *hosts);
void sim_read_link_defaults(struct sim_reader *reader, yaml_node_t *link);
void sim_read_links(struct sim_reader *reader, yaml_node_t *links);
void sim_read_partitions(struct sim_reader *reader, yaml_node_t *partitions);

#endif
