/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the subnet share. */
#ifndef ACMITE_SIM_SUBNET_STATE_H
#define ACMITE_SIM_SUBNET_STATE_H

#include "subnet.h"

#define SUBNET_NO_PATH 0xff

/* Ports of hosts, and port 0 of switches; other ports of switches have only their link. */
struct subnet_port {
	uint64_t guid;
	uint32_t node;
	uint8_t number;
	uint8_t state;
	bool known;     /* to the manager, by its last sweep */
	bool was_known; /* by the one before */
	bool changed;   /* and not told yet */
	bool reregister;
	bool renumber; /* the next sweep gives it another LID */
	uint8_t lmc;
	uint16_t lid;
	uint16_t sm_lid;
	uint16_t pkey_count;
	uint16_t *pkeys;
};

/* One end of a link between switches, as its switch sees it. */
struct subnet_end {
	uint32_t far; /* switch */
	uint32_t far_end;
	uint32_t link;
	uint8_t port;
	uint8_t far_port;
	bool usable; /* by the manager's last sweep */
};

/* Ways between switches, towards one of them at a time. */
struct subnet_routing {
	uint32_t *first_end; /* by switch, and one behind the last */
	struct subnet_end *ends;
	bool up_down;
	uint32_t *rank;    /* by switch: its distance from the roots */
	uint8_t *hops;     /* by switch: to the target, SUBNET_NO_PATH */
	uint8_t *end_hops; /* by end: the same by that way; under up/down only */
	uint8_t *farthest; /* by switch: hops to the most distant of several targets */
	uint32_t *queue;
	bool *queued;
	bool *downwards;
	uint32_t *load_order; /* switches: those with most hosts first */
	uint32_t *load;       /* by port: LIDs that are sent out of it */
};

enum subnet_sweep { SUBNET_IDLE, SUBNET_WAITING, SUBNET_SWEEPING };

struct sim_subnet {
	const struct sim_topology *topology;
	struct sim_subnet_options options;
	uint32_t port_count;
	uint32_t *first; /* by node: index of its port 0 */
	struct subnet_port *ports;
	uint32_t end_port_count;
	uint32_t *end_ports;     /* in OpenSM's order of GUIDs */
	uint32_t *guid_switches; /* switches, likewise */
	uint32_t *by_lid;        /* port, SIM_NONE; lid_count entries */
	uint32_t lid_count;

	bool *link_cut;
	bool *node_stopped;
	bool *link_seen; /* up, when the last sweep began */

	uint32_t sm; /* node */
	bool managed;
	bool rebalance; /* ways are chosen anew, not kept */
	bool reassign;  /* the next sweep gives all LIDs anew */
	uint64_t prefix;
	uint64_t next_prefix; /* from the next sweep on */
	enum subnet_sweep sweep;
	uint64_t sweep_at;  /* when it begins or ends */
	bool changed_since; /* it began */
	uint64_t trees_at;

	struct sim_tables tables;
	struct subnet_routing routing;
	bool tables_changed;
	uint32_t next_told; /* port */

	uint32_t group_count;
	uint32_t group_room;
	uint32_t made_mgids;
	struct sim_group **groups;
	uint16_t *mlid_groups; /* by MLID - 0xc000: how many have it */
	bool *mlid_stale;      /* its tree is not what it should be */
};

/* GUIDs and P_Keys are sorted by OpenSM as it holds them: in network order, on machines of the
 * other one. */
static inline uint64_t subnet_guid_order(uint64_t guid)
{
	return __builtin_bswap64(guid);
}

static inline bool subnet_link_is_up(const struct sim_subnet *subnet, uint32_t link)
{
	const struct sim_link *of = &subnet->topology->links[link];

	return !subnet->link_cut[link] && !subnet->node_stopped[of->node[0]] &&
	       !subnet->node_stopped[of->node[1]];
}

static inline void subnet_port_changed(struct sim_subnet *subnet, uint32_t port)
{
	subnet->ports[port].changed = true;
	subnet->next_told = 0;
}

/* subnet.c: there is something for a sweep to see. */
void subnet_note_change(struct sim_subnet *subnet, uint64_t now);

/* subnet_lids.c: gives LIDs to known ports that have none, or are to have another. */
void subnet_assign_lids(struct sim_subnet *subnet);
/* Tells all ports the subnet prefix, where that is new. */
void subnet_set_prefix(struct sim_subnet *subnet);
/* LIDs that a topology may need, gaps included. */
uint64_t subnet_lids_needed(const struct sim_topology *topology, uint8_t lmc);

/* subnet_hops.c */
int subnet_routing_init(struct sim_subnet *subnet);
void subnet_routing_free(struct sim_subnet *subnet);
/* After a sweep, before the next two: which links there are, and who is above whom. */
void subnet_survey_switches(struct sim_subnet *subnet);
/* Fills in the hops towards a switch. */
void subnet_hops_towards(struct sim_subnet *subnet, uint32_t target);
/* Whether a switch's end leads towards the target, over as few hops as any. */
bool subnet_end_leads(const struct sim_subnet *subnet, uint32_t node, uint32_t end);

/* subnet_routes.c: the unicast tables. */
void subnet_route(struct sim_subnet *subnet);

/* subnet_trees.c: the multicast tables, where they are stale. */
void subnet_plant_trees(struct sim_subnet *subnet);

/* subnet_groups.c */
int subnet_groups_init(struct sim_subnet *subnet);
void subnet_groups_free(struct sim_subnet *subnet);
/* Forgets all groups, and makes those anew that are configured. */
int subnet_groups_restart(struct sim_subnet *subnet);
/* Removes ports that the manager does not know any more. */
void subnet_groups_prune(struct sim_subnet *subnet);

/* subnet_pkeys.c: the tables of all ports. 0, -ENOMEM, -E2BIG: a port is in too many partitions. */
int subnet_pkeys_init(struct sim_subnet *subnet);

#endif
