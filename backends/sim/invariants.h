/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is always true of a fabric with engines on it, whatever happens: looked at from outside, by
 * what goes in and what comes out, and told with the rule's name as soon as it is broken.
 */
#ifndef ACMITE_SIM_INVARIANTS_H
#define ACMITE_SIM_INVARIANTS_H

#include <acmite/trace.h>
#include "fabric.h"
#include "population.h"

/* An address that came to a node, or left it, in the run. */
struct sim_move {
	uint32_t node;
	struct acm_address address;
	uint64_t came; /* 0: it is the topology's */
	uint64_t left; /* ACM_NEVER: it is there */
};

/* A look-up of a node that asks the SA, or the group. */
struct sim_inquiry {
	uint32_t node;
	uint8_t of_sa;
	struct acm_address address;
};

struct sim_invariants {
	const struct sim_topology *topology;
	struct sim_fabric *fabric;
	struct sim_control *control;
	/* Told of every breach. */
	void (*broken)(void *context, const char *rule, const char *text);
	void *context;
	uint64_t *guids;  /* of hosts' ports, sorted, with ... */
	uint32_t *owners; /* ... their nodes */
	uint32_t guid_count;
	uint32_t move_count, move_room;
	struct sim_move *moves;
	uint32_t inquiry_count, inquiry_room;
	struct sim_inquiry *inquiries; /* in flight: few */
	bool lids_changed;             /* a path may lead to where a port was */
	bool several_ways; /* requests that bypass the cache have inquiries of their own */
	bool disturbed;    /* something happened that may slow down anybody */
};

/* 0 or -ENOMEM. Freed by sim_invariants_free() in any case. */
int sim_invariants_init(struct sim_invariants *invariants, const struct sim_topology *topology);
void sim_invariants_free(struct sim_invariants *invariants);

/* False: no memory. */
bool sim_invariants_address_came(struct sim_invariants *invariants, uint32_t node,
				 const struct acm_address *address, uint64_t now);
bool sim_invariants_address_left(struct sim_invariants *invariants, uint32_t node,
				 const struct acm_address *address, uint64_t now);

/* Whether a node holds the address, or gave it up at most `life` ns ago. */
bool sim_invariants_holds(const struct sim_invariants *invariants, uint32_t node,
			  const struct acm_address *address, uint64_t life, uint64_t now);
/* A node has ended: when it is there again it has the topology's addresses. */
void sim_invariants_addresses_reset(struct sim_invariants *invariants, uint32_t node, uint64_t now);

/* The node whose port has this GID, SIM_NONE. */
uint32_t sim_invariants_node_of(const struct sim_invariants *invariants, const struct acm_gid *gid);
/* Whether a path leads to the port of its GID as the fabric is now. */
bool sim_invariants_leads(const struct sim_invariants *invariants, const struct acm_path *path);

/* 2: a success names a port that holds the address, now or within `life` ns. `address` NULL: asked
 * by GID or LID. */
void sim_invariants_success(struct sim_invariants *invariants, const struct acm_path *path,
			    const struct acm_address *address, uint64_t life, uint64_t now);
/* 4: one SA query and one multicast in flight for a destination. Fed with every node's trace. */
void sim_invariants_trace(struct sim_invariants *invariants, uint32_t node,
			  const struct acm_trace *trace);
/* A node's engine is gone, and its inquiries. */
void sim_invariants_forget(struct sim_invariants *invariants, uint32_t node);
/* 5 and 7, of a node. */
void sim_invariants_resident(struct sim_invariants *invariants, const struct sim_resident *resident,
			     uint64_t budget);
/* 7, of the fabric. */
void sim_invariants_fabric(struct sim_invariants *invariants);

#endif
