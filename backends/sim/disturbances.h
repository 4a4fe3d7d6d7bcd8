/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which nodes something happens to, and since when each is well again; and rule 3, which follows
 * from that: between two nodes that nothing happens to, no request waits for what other
 * destinations need. A node is well again when no fault that concerns it is in force, when it and
 * the subnet have recovered, and when all that it began before that is over.
 */
#ifndef ACMITE_SIM_DISTURBANCES_H
#define ACMITE_SIM_DISTURBANCES_H

#include "breach.h"
#include "scenario.h"

/* A fault of links. */
struct sim_link_fault {
	const struct sim_fault_plan *plan;
	bool widened; /* it concerns all, though it names links */
};

struct sim_disturbances {
	const struct sim_topology *topology;
	struct sim_breach_hook hook;
	uint32_t sm;      /* node of the subnet manager */
	uint32_t *faults; /* by node: in force, and concern it */
	uint64_t *
		healing; /* by node: since when it only waits for what it began before; ACM_NEVER */
	uint64_t *well;  /* by node: since when; ACM_NEVER: it is not */
	uint32_t *ailing; /* nodes that are not well */
	uint32_t ailing_count;
	uint32_t rerouting; /* faults in force that change LIDs, links or P_Keys again and again */
	bool ever_rerouted;
	uint64_t rerouted; /* when one did last */
	/* Those of links that have begun and not ended. */
	uint32_t link_fault_count, link_fault_room;
	struct sim_link_fault *link_faults;
};

/* How nodes are, from outside. */
struct sim_health {
	/* Ready, and known to the subnet. */
	bool (*is_well)(void *context, uint32_t node);
	/* When the oldest of its inquiries that are under way began; ACM_NEVER. */
	uint64_t (*oldest_inquiry)(void *context, uint32_t node);
	void *context;
};

/* A request that was answered. */
struct sim_wait {
	uint32_t node;
	uint32_t target;
	uint64_t asked;
	uint64_t joined; /* since when the node was asking for it already; or `asked` */
	uint64_t answered;
	uint64_t allowed; /* ns, with nothing in its way */
};

/* 0 or -ENOMEM; freed in any case. `topology` must outlive it. All nodes are well. */
int sim_disturbances_init(struct sim_disturbances *disturbances,
			  const struct sim_topology *topology, const struct sim_breach_hook *hook);
void sim_disturbances_free(struct sim_disturbances *disturbances);

/* Nodes that only just start. */
void sim_disturbances_begin_all(struct sim_disturbances *disturbances);
/* A fault begins, or ends; `plan` stays until then. 0 or -ENOMEM. */
int sim_disturbances_begin(struct sim_disturbances *disturbances, const struct sim_fault_plan *plan,
			   uint64_t now);
void sim_disturbances_end(struct sim_disturbances *disturbances, const struct sim_fault_plan *plan,
			  uint64_t now);
/* Looks after those that are not well. */
void sim_disturbances_heal(struct sim_disturbances *disturbances, const struct sim_health *health,
			   uint64_t now);

/* Whether LIDs, links and P_Keys are as they were `life` ns ago. */
bool sim_disturbances_routes_hold(const struct sim_disturbances *disturbances, uint64_t life,
				  uint64_t now);
/* Rule 3. */
void sim_disturbances_check_wait(const struct sim_disturbances *disturbances,
				 const struct sim_wait *wait);

#endif
