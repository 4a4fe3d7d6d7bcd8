/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds a topology piece by piece. What is wrong with a piece is recorded as a fault at the place
 * given with it; building goes on, so that one run finds all faults. The result counts only without
 * faults.
 */
#ifndef ACMITE_SIM_TOPOLOGY_BUILD_H
#define ACMITE_SIM_TOPOLOGY_BUILD_H

#include "topology_fault.h"
#include "topology_names.h"

/* Where a node comes from and how far its ports are used. */
struct sim_origin {
	struct sim_place place;
	uint8_t ports_used; /* all up to this one are */
	bool overfull;      /* that is recorded already */
};

/* An address and who holds it. */
struct sim_holding {
	struct acm_address address;
	uint32_t node;
	struct sim_place place;
};

struct sim_builder {
	struct sim_topology *topology;
	struct sim_faults *faults;
	struct sim_origin *origins; /* by node */
	struct sim_holding *holdings;
	uint32_t node_room;
	uint32_t link_room;
	uint32_t partition_room;
	uint32_t holding_count;
	uint32_t holding_room;
};

struct sim_node_options {
	enum sim_node_kind kind;
	uint8_t ports;
	const char *device;         /* hosts; NULL: mlx5_0 */
	uint64_t guid;              /* 0: derived from the name */
	const uint64_t *port_guids; /* hosts, `ports` of them; NULL: derived from the node's */
};

/* False: no memory (nothing to destroy). */
bool sim_builder_create(struct sim_builder *builder, struct sim_faults *faults);
/* Frees everything that sim_builder_finish() has not handed out. */
void sim_builder_destroy(struct sim_builder *builder);

/*
 * Index of the new node. -EEXIST: the name is taken, and that is not recorded (the caller knows how
 * many of a range are); -ENOMEM, recorded. All switches come before the first host.
 */
int64_t sim_builder_add_node(struct sim_builder *builder, const char *name,
			     const struct sim_node_options *options, struct sim_place place);
void sim_builder_add_address(struct sim_builder *builder, uint32_t node,
			     const struct acm_address *address, struct sim_place place);
/* Joins the lowest free ports of both. `attributes` tells all but the ends. */
void sim_builder_add_link(struct sim_builder *builder, uint32_t left, uint32_t right,
			  const struct sim_link *attributes, struct sim_place place);
/* Joins the ports that the link names. */
void sim_builder_add_link_at(struct sim_builder *builder, const struct sim_link *link,
			     struct sim_place place);
/* The new partition, without members and name; valid until the next. NULL: no memory, recorded. */
struct sim_partition *sim_builder_add_partition(struct sim_builder *builder);

/* What can only be told of the whole: addresses held twice, GUIDs given twice. */
void sim_builder_check(struct sim_builder *builder);
/* Takes the topology out. */
struct sim_topology *sim_builder_finish(struct sim_builder *builder);

#endif
