/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The multicast groups that each node takes itself to be in, or asks to be in, by its trace; and
 * whether the subnet manager has it there: where it does not, the node is not heard until it joins
 * anew.
 */
#ifndef ACMITE_SIM_MEMBERSHIPS_H
#define ACMITE_SIM_MEMBERSHIPS_H

#include "subnet.h"

#include <acmite/trace.h>

struct sim_memberships_of;

struct sim_memberships {
	uint32_t node_count;
	bool incomplete; /* for want of memory: nobody is said to be in its groups any more */
	struct sim_memberships_of *nodes;
};

/* 0 or -ENOMEM; freed in any case. Nobody is in any group. */
int sim_memberships_init(struct sim_memberships *memberships, uint32_t node_count);
void sim_memberships_free(struct sim_memberships *memberships);

/* Traces of something else change nothing. */
void sim_memberships_trace(struct sim_memberships *memberships, uint32_t node,
			   const struct acm_trace *trace);
/* The node was stopped. */
void sim_memberships_forget(struct sim_memberships *memberships, uint32_t node);

/*
 * When the oldest join that is under way began, a check of what holds among them; ACM_NEVER. One
 * that nobody answered is taken to be under way until the next: the trace does not tell its end.
 */
uint64_t sim_memberships_oldest_join(const struct sim_memberships *memberships, uint32_t node);

/* Whether the node's port 1 is a member of all of them, and each has the MLID that it was told. */
bool sim_memberships_hold(const struct sim_memberships *memberships, uint32_t node,
			  const struct sim_subnet *subnet);

/* The MLID of group number `which`, from 0, that a node has joined. False: there is none. */
bool sim_memberships_mlid(const struct sim_memberships *memberships, uint32_t node, uint32_t which,
			  uint16_t *mlid);

#endif
