/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is always true of a fabric with engines on it, whatever happens: looked at from outside, by
 * what goes in and what comes out, and told with the rule's name as soon as it is broken.
 */
#ifndef ACMITE_SIM_INVARIANTS_H
#define ACMITE_SIM_INVARIANTS_H

#include "breach.h"
#include "fabric.h"

/* An address that came to a node, or left it, in the run. */
struct sim_move {
	uint32_t node;
	struct acm_address address;
	uint64_t came; /* 0: it is the topology's */
	uint64_t left; /* ACM_NEVER: it is there */
};

struct sim_invariants {
	const struct sim_topology *topology;
	struct sim_control *control;
	struct sim_breach_hook hook;
	uint64_t *guids;             /* of hosts' ports, sorted, with ... */
	struct sim_port_ref *owners; /* ... the ports */
	uint32_t guid_count;
	uint32_t move_count, move_room;
	struct sim_move *moves;
};

/* 0 or -ENOMEM. Freed by sim_invariants_free() in any case. `topology` and `control` (NULL: no
 * question is asked that needs one) must outlive it. */
int sim_invariants_init(struct sim_invariants *invariants, const struct sim_topology *topology,
			struct sim_control *control, const struct sim_breach_hook *hook);
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

/* The host's port that has this GID, and its node; SIM_NONE as node: there is none. */
struct sim_port_ref sim_invariants_port_of(const struct sim_invariants *invariants,
					   const struct acm_gid *gid);
uint32_t sim_invariants_node_of(const struct sim_invariants *invariants, const struct acm_gid *gid);
/* The port's entry for a partition, 15 bits, 0: the default one. 0: it has none. */
uint16_t sim_pkey_entry(const struct acm_port_facts *facts, uint16_t pkey);
/* Whether a path leads to the port of its GID as the fabric is now. */
bool sim_invariants_leads(const struct sim_invariants *invariants, const struct acm_path *path);

/* A request that succeeded. */
struct sim_success {
	uint32_t node; /* that asked */
	const struct acm_path *path;
	const struct acm_address *address; /* NULL: asked for by GID or LID */
	uint16_t pkey;                     /* partition that was asked for, 15 bits; 0: any */
	uint64_t life;                     /* ns that the node may remember who held it */
	bool of_group;    /* MTU and rate are the group's, which the ends carry, not the way */
	bool routes_hold; /* LIDs, links and P_Keys are as they were when it learned them */
};

/* 2: a success names a port that holds the address, and a path to it that is so. */
void sim_invariants_success(const struct sim_invariants *invariants,
			    const struct sim_success *success, uint64_t now);
/* 5 and 7, of a node. */
void sim_invariants_engine(const struct sim_invariants *invariants, uint32_t node,
			   const struct acm_engine_stats *stats, uint64_t budget);
/* 5, when all engines are gone: bytes that they did not give back. */
void sim_invariants_leaked(const struct sim_invariants *invariants, uint64_t bytes);
/* 7, of the fabric. */
void sim_invariants_fabric(const struct sim_invariants *invariants,
			   const struct sim_fabric_stats *stats);

#endif
