/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "disturbances.h"
#include "hindrances.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* A change of a link or of the subnet manager is over when the subnet has been swept. */
#define SWEPT_AFTER (10 * ACM_NSEC_PER_SEC)

int sim_disturbances_init(struct sim_disturbances *disturbances,
			  const struct sim_topology *topology, const struct sim_breach_hook *hook)
{
	size_t count = (size_t)topology->node_count + 1;

	*disturbances =
		(struct sim_disturbances){.topology = topology, .hook = *hook, .sm = topology->sm};
	disturbances->faults = calloc(count, sizeof(*disturbances->faults));
	disturbances->healing = calloc(count, sizeof(*disturbances->healing));
	disturbances->well = calloc(count, sizeof(*disturbances->well));
	disturbances->ailing = calloc(count, sizeof(*disturbances->ailing));
	return disturbances->faults && disturbances->healing && disturbances->well &&
			       disturbances->ailing
		       ? 0
		       : -ENOMEM;
}

void sim_disturbances_free(struct sim_disturbances *disturbances)
{
	free(disturbances->faults);
	free(disturbances->healing);
	free(disturbances->well);
	free(disturbances->ailing);
	free(disturbances->link_faults);
	*disturbances = (struct sim_disturbances){0};
}

/* ---- whom a fault concerns ---- */

enum scope {
	SCOPE_ALL,
	SCOPE_NOBODY, /* delays no answer, or those alone that pass a link: hindrances.h */
	SCOPE_NODES,  /* those that it names; all where it names none */
	SCOPE_LINKS,  /* those at the ends of its links; all where that is not hosts alone */
};

struct concern {
	enum scope scope;
	bool lasts; /* until its end; else it happens, and what follows from it can be seen */
	bool reroutes;
};

static struct concern concern_of(const struct sim_fault_plan *plan)
{
	if (sim_fault_hinders(plan))
		return (struct concern){.scope = SCOPE_NOBODY};
	switch (plan->kind) {
	case SIM_FAULT_DUPLICATION:
	case SIM_FAULT_SA_TWICE:
	case SIM_FAULT_TREE_DELAY:
		return (struct concern){.scope = SCOPE_NOBODY};
	case SIM_FAULT_STOP:
	case SIM_FAULT_START:
	case SIM_FAULT_RESTART:
	case SIM_FAULT_PAUSE:
	case SIM_FAULT_RESUME:
	case SIM_FAULT_RELOAD:
	case SIM_FAULT_CLAIM:
		return (struct concern){.scope = SCOPE_NODES};
	case SIM_FAULT_DISCLAIM:
	case SIM_FAULT_MOVE:
	case SIM_FAULT_RECEIVE_QUEUE_FULL:
	case SIM_FAULT_SA_SILENT:
	case SIM_FAULT_SA_SLOW:
	case SIM_FAULT_SA_BUSY:
	case SIM_FAULT_SA_ERROR:
	case SIM_FAULT_JOIN_REFUSED:
		return (struct concern){.scope = SCOPE_NODES, .lasts = true};
	case SIM_FAULT_LOSS:
	case SIM_FAULT_DELAY:
	case SIM_FAULT_REORDERING:
	case SIM_FAULT_CORRUPTION:
		return (struct concern){.scope = SCOPE_NODES, .lasts = true};
	case SIM_FAULT_PKEY:
		return (struct concern){.scope = SCOPE_NODES, .lasts = true, .reroutes = true};
	case SIM_FAULT_LINK_DOWN:
	case SIM_FAULT_LINK_UP:
		return (struct concern){.scope = SCOPE_LINKS, .reroutes = true};
	case SIM_FAULT_LINK_FLAPPING:
		return (struct concern){.scope = SCOPE_LINKS, .lasts = true, .reroutes = true};
	case SIM_FAULT_LID_CHANGE:
		return (struct concern){.scope = SCOPE_NODES, .reroutes = true};
	case SIM_FAULT_SM_FAIL_OVER:
		return (struct concern){.scope = SCOPE_ALL, .reroutes = true};
	case SIM_FAULT_GROUPS_LOST:
	case SIM_FAULT_MLID_SHARED:
		return (struct concern){.scope = SCOPE_ALL};
	default:
		return (struct concern){.scope = SCOPE_ALL, .lasts = true, .reroutes = true};
	}
}

/* Without the manager's port nobody gets an answer from the SA. */
static bool is_of_hosts_alone(const struct sim_disturbances *disturbances,
			      const struct sim_fault_plan *plan)
{
	const struct sim_topology *topology = disturbances->topology;

	for (uint32_t i = 0; i < plan->links.count; i++) {
		const struct sim_link *link = &topology->links[plan->links.nodes[i]];

		if (link->node[0] == disturbances->sm || link->node[1] == disturbances->sm ||
		    (topology->nodes[link->node[0]].kind == SIM_SWITCH &&
		     topology->nodes[link->node[1]].kind == SIM_SWITCH))
			return false;
	}
	return true;
}

static void ail(struct sim_disturbances *disturbances, uint32_t node)
{
	disturbances->healing[node] = ACM_NEVER;
	if (disturbances->well[node] == ACM_NEVER ||
	    disturbances->topology->nodes[node].kind != SIM_HOST)
		return;
	disturbances->well[node] = ACM_NEVER;
	disturbances->ailing[disturbances->ailing_count++] = node;
}

/* `lasting`: by how many there are more faults in force; unsigned, so that -1 takes one off. */
static void concern_node(struct sim_disturbances *disturbances, uint32_t node, uint32_t lasting)
{
	disturbances->faults[node] += lasting;
	ail(disturbances, node);
}

static void concern_all(struct sim_disturbances *disturbances, uint32_t lasting)
{
	for (uint32_t node = 0; node < disturbances->topology->node_count; node++)
		concern_node(disturbances, node, lasting);
}

static void concern_some(struct sim_disturbances *disturbances, const struct sim_fault_plan *plan,
			 enum scope scope, bool widened, uint32_t lasting)
{
	if (scope == SCOPE_NOBODY)
		return;
	if (scope == SCOPE_ALL || (scope == SCOPE_NODES && !plan->nodes.count) ||
	    (scope == SCOPE_LINKS && widened)) {
		concern_all(disturbances, lasting);
		return;
	}
	for (uint32_t i = 0; scope == SCOPE_NODES && i < plan->nodes.count; i++)
		concern_node(disturbances, plan->nodes.nodes[i], lasting);
	for (uint32_t i = 0; scope == SCOPE_NODES && i < plan->holders.count; i++)
		concern_node(disturbances, plan->holders.nodes[i], lasting);
	for (uint32_t i = 0; scope == SCOPE_LINKS && i < plan->links.count; i++) {
		const struct sim_link *link = &disturbances->topology->links[plan->links.nodes[i]];

		concern_node(disturbances, link->node[0], lasting);
		concern_node(disturbances, link->node[1], lasting);
	}
}

/* ---- faults ---- */

/*
 * Links that only some nodes need concern these, others concern all. Who the subnet manager is
 * decides too: where it moves to the end of one, that concerns all from then on, and does so until
 * the fault ends, wherever the manager is by then.
 */
static int note_link_fault(struct sim_disturbances *disturbances, const struct sim_fault_plan *plan,
			   bool widened)
{
	uint32_t room = 2 * disturbances->link_fault_room + 4;
	struct sim_link_fault *larger;

	if (disturbances->link_fault_count == disturbances->link_fault_room) {
		larger = reallocarray(disturbances->link_faults, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		disturbances->link_faults = larger;
		disturbances->link_fault_room = room;
	}
	disturbances->link_faults[disturbances->link_fault_count++] =
		(struct sim_link_fault){plan, widened};
	return 0;
}

/* Whether it was widened; false, too, when it is none of links. */
static bool take_link_fault(struct sim_disturbances *disturbances,
			    const struct sim_fault_plan *plan)
{
	struct sim_link_fault *faults = disturbances->link_faults;

	for (uint32_t i = 0; i < disturbances->link_fault_count; i++) {
		bool widened = faults[i].widened;

		if (faults[i].plan != plan)
			continue;
		faults[i] = faults[--disturbances->link_fault_count];
		return widened;
	}
	return false;
}

static void widen_link_faults(struct sim_disturbances *disturbances)
{
	for (uint32_t i = 0; i < disturbances->link_fault_count; i++) {
		struct sim_link_fault *fault = &disturbances->link_faults[i];
		bool lasts = concern_of(fault->plan).lasts;

		if (fault->widened || is_of_hosts_alone(disturbances, fault->plan))
			continue;
		concern_some(disturbances, fault->plan, SCOPE_LINKS, false, lasts ? UINT32_MAX : 0);
		concern_some(disturbances, fault->plan, SCOPE_LINKS, true, lasts);
		fault->widened = true;
	}
}

static void note_rerouting(struct sim_disturbances *disturbances, const struct concern *concern,
			   uint64_t now)
{
	if (!concern->reroutes)
		return;
	disturbances->ever_rerouted = true;
	disturbances->rerouted = now;
}

int sim_disturbances_begin(struct sim_disturbances *disturbances, const struct sim_fault_plan *plan,
			   uint64_t now)
{
	struct concern concern = concern_of(plan);
	bool of_links = concern.scope == SCOPE_LINKS;
	bool widened = of_links && !is_of_hosts_alone(disturbances, plan);

	if (of_links && note_link_fault(disturbances, plan, widened))
		return -ENOMEM;
	concern_some(disturbances, plan, concern.scope, widened, concern.lasts);
	disturbances->rerouting += concern.lasts && concern.reroutes;
	note_rerouting(disturbances, &concern, now);
	if (plan->kind == SIM_FAULT_SM_FAIL_OVER && plan->nodes.count) {
		disturbances->sm = plan->nodes.nodes[0];
		widen_link_faults(disturbances);
	}
	return 0;
}

void sim_disturbances_end(struct sim_disturbances *disturbances, const struct sim_fault_plan *plan,
			  uint64_t now)
{
	struct concern concern = concern_of(plan);

	concern_some(disturbances, plan, concern.scope, take_link_fault(disturbances, plan),
		     concern.lasts ? UINT32_MAX : 0);
	disturbances->rerouting -= concern.lasts && concern.reroutes;
	note_rerouting(disturbances, &concern, now);
}

void sim_disturbances_begin_all(struct sim_disturbances *disturbances)
{
	concern_all(disturbances, 0);
}

/* ---- recovery ---- */

static bool has_recovered(struct sim_disturbances *disturbances, const struct sim_health *health,
			  uint32_t node, uint64_t now)
{
	uint64_t *healing = &disturbances->healing[node];

	if (disturbances->faults[node] || !health->is_well(health->context, node)) {
		*healing = ACM_NEVER;
		return false;
	}
	if (*healing == ACM_NEVER)
		*healing = now;
	return health->oldest_inquiry(health->context, node) > *healing;
}

void sim_disturbances_heal(struct sim_disturbances *disturbances, const struct sim_health *health,
			   uint64_t now)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < disturbances->ailing_count; i++) {
		uint32_t node = disturbances->ailing[i];

		if (has_recovered(disturbances, health, node, now))
			disturbances->well[node] = now;
		else
			disturbances->ailing[kept++] = node;
	}
	disturbances->ailing_count = kept;
}

/* ---- what follows ---- */

/* Whether it has been well since `since`. */
static bool is_calm(const struct sim_disturbances *disturbances, uint32_t node, uint64_t since)
{
	return disturbances->well[node] <= since;
}

bool sim_disturbances_routes_hold(const struct sim_disturbances *disturbances, uint64_t life,
				  uint64_t now)
{
	if (!disturbances->ever_rerouted)
		return true;
	return !disturbances->rerouting && life != ACM_NEVER &&
	       now - disturbances->rerouted > SWEPT_AFTER &&
	       now - disturbances->rerouted - SWEPT_AFTER > life;
}

void sim_disturbances_check_wait(const struct sim_disturbances *disturbances,
				 const struct sim_wait *wait)
{
	const struct sim_node *nodes = disturbances->topology->nodes;
	uint64_t took = wait->answered - wait->asked;

	if (took <= wait->allowed || !is_calm(disturbances, wait->node, wait->joined) ||
	    !is_calm(disturbances, wait->target, wait->joined))
		return;
	sim_breach(&disturbances->hook, "no request waits on an unrelated destination",
		   "%s waited %" PRIu64 " us for %s, to which nothing happened; %" PRIu64
		   " us were enough",
		   nodes[wait->node].name, took / ACM_NSEC_PER_USEC, nodes[wait->target].name,
		   wait->allowed / ACM_NSEC_PER_USEC);
}
