/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet and its manager, as OpenSM 3.3.23 manages one: LIDs, forwarding tables, P_Key tables,
 * groups. Pure: no clock and no I/O. Times are arguments, in nanoseconds, and do not go back.
 *
 * Two states are kept apart. What is so (links, nodes) changes at once; what the manager knows and
 * has programmed follows by sweeps, which take time. Groups are known at once, their trees follow.
 */
#ifndef ACMITE_SIM_SUBNET_H
#define ACMITE_SIM_SUBNET_H

#include "control.h"

#include <acmite/wire.h>

/* Unicast LIDs of a subnet: 1 to this (IBA vol. 1, 4.1.3). */
#define SIM_LID_MAX 0xbfffu
#define SIM_LMC_MAX 7

struct sim_subnet;

struct sim_subnet_options {
	uint8_t lmc;            /* of hosts' ports; a switch has one LID */
	uint8_t subnet_timeout; /* 4.096 us * 2^n; also the lifetime of paths */
	uint32_t mlid_count;    /* multicast LIDs from 0xc000, 1 to 16,383 */
	uint64_t trap_delay;    /* ns from a change until the manager begins a sweep */
	uint64_t sweep_time; /* ns that a sweep takes; what changes meanwhile is seen by the next */
	uint64_t tree_delay; /* ns from a join or leave until its tree is programmed */
};
void sim_subnet_options_default(struct sim_subnet_options *options);

/*
 * A subnet that is up: swept once. `topology` must outlive it. 0; -E2BIG with a sentence in `why`
 * when the LIDs do not suffice; -EINVAL for options out of range; -ENOMEM.
 */
int sim_subnet_create(const struct sim_topology *topology, const struct sim_subnet_options *options,
		      struct sim_subnet **subnet, char *why, size_t size);
void sim_subnet_destroy(struct sim_subnet *subnet);

/* ---- time ---- */

/* When something is due; ACM_NEVER. */
uint64_t sim_subnet_deadline(const struct sim_subnet *subnet);
/* Does what is due at `now`. */
void sim_subnet_advance(struct sim_subnet *subnet, uint64_t now);

enum sim_subnet_change_type { SIM_SUBNET_PORT, SIM_SUBNET_REREGISTER, SIM_SUBNET_TABLES };
struct sim_subnet_change {
	enum sim_subnet_change_type type;
	struct sim_port_ref port; /* of a host */
};
/* Takes what has changed since it was asked last: ports in their order, then tables. False:
 * nothing. */
bool sim_subnet_next_change(struct sim_subnet *subnet, struct sim_subnet_change *change);

/* ---- what is programmed ---- */

/* Valid until the next call that changes the subnet. */
const struct sim_tables *sim_subnet_tables(const struct sim_subnet *subnet);
/* As struct sim_control_ops.port_facts. */
int sim_subnet_port_facts(const struct sim_subnet *subnet, struct sim_port_ref port,
			  struct acm_port_facts *facts);
/*
 * Index of the port that answers to a unicast LID by the manager's list, SIM_NONE; and the way
 * back. Indices count all nodes' ports, port 0 included, in the order of the topology.
 */
uint32_t sim_subnet_port_of_lid(const struct sim_subnet *subnet, uint16_t lid);
uint32_t sim_subnet_port_of_guid(const struct sim_subnet *subnet, uint64_t guid);
uint32_t sim_subnet_port_index(const struct sim_subnet *subnet, struct sim_port_ref port);
struct sim_port_ref sim_subnet_port_ref(const struct sim_subnet *subnet, uint32_t port);
/*
 * Whether a packet from a host's port gets to the manager's port, and one from there back, over
 * links that are up and tables as they are.
 */
bool sim_subnet_reaches_manager(const struct sim_subnet *subnet, struct sim_port_ref port);

/* ---- changes ---- */

/* The link at a port goes down or up. -ENODEV: there is none. */
int sim_subnet_cut_link(struct sim_subnet *subnet, uint32_t node, uint8_t port, uint64_t now);
int sim_subnet_mend_link(struct sim_subnet *subnet, uint32_t node, uint8_t port, uint64_t now);
/* A node loses its power, with all its links, or gets it back. */
int sim_subnet_stop_node(struct sim_subnet *subnet, uint32_t node, uint64_t now);
int sim_subnet_start_node(struct sim_subnet *subnet, uint32_t node, uint64_t now);

/*
 * The manager fails and a standby on another host takes over: from now on no SA answers, until the
 * new one has swept. Groups are lost, all ports are asked to register again. -EINVAL: not a host.
 */
int sim_subnet_fail_over(struct sim_subnet *subnet, uint32_t node, enum sim_lids lids,
			 uint64_t now);
/* Whether there is a manager that answers. */
bool sim_subnet_is_managed(const struct sim_subnet *subnet);
/* Changes how long sweeps take from the next on. */
void sim_subnet_set_sweep_time(struct sim_subnet *subnet, uint64_t duration);
void sim_subnet_set_tree_delay(struct sim_subnet *subnet, uint64_t delay);

/*
 * From the next sweep on a host's port has another LID, the lowest that is free. -ENODEV: there is
 * no such port; -ENOSPC: no LID is free.
 */
int sim_subnet_change_lid(struct sim_subnet *subnet, struct sim_port_ref port, uint64_t now);
/* From the next sweep on the upper half of all ports' GIDs is this. */
void sim_subnet_change_prefix(struct sim_subnet *subnet, uint64_t prefix, uint64_t now);
uint64_t sim_subnet_prefix(const struct sim_subnet *subnet);

/*
 * What a host's port is in a partition of 15 bits. Takes effect at once. The index of a P_Key
 * stays; a new one takes the first free place. -ENODEV, -ENOSPC: the table is full.
 */
int sim_subnet_set_membership(struct sim_subnet *subnet, struct sim_port_ref port, uint16_t pkey,
			      enum sim_membership membership);
/* P_Key that two ports share, the first's own, as OpenSM picks it when none is asked for; 0: none.
 */
uint16_t sim_subnet_common_pkey(const struct sim_subnet *subnet, uint32_t from, uint32_t to);
/* The port's entry of that partition, 0: none. */
uint16_t sim_subnet_pkey_of(const struct sim_subnet *subnet, uint32_t port, uint16_t pkey);

/* ---- groups ---- */

struct sim_group_member {
	uint32_t port;
	uint8_t join_state;
	bool proxy; /* another port made it one */
};

struct sim_group {
	struct acm_mcmember record; /* port GID and join state 0 */
	bool configured;            /* stays without members */
	uint32_t member_count;
	uint32_t room;
	struct sim_group_member *members; /* in OpenSM's order of GUIDs */
};

/* In the order of their MGIDs; pointers are valid until groups come or go. */
uint32_t sim_subnet_group_count(const struct sim_subnet *subnet);
struct sim_group *sim_subnet_group(const struct sim_subnet *subnet, uint32_t place);
struct sim_group *sim_subnet_find_group(const struct sim_subnet *subnet,
					const struct acm_gid *mgid);
/* Makes one, with the MLID that it names where that is free, else the lowest. -ENOSPC: there is
 * none; -ENOMEM. */
int sim_subnet_add_group(struct sim_subnet *subnet, const struct acm_mcmember *record,
			 struct sim_group **group);
/* An MGID of the subnet's own that no group has. */
void sim_subnet_make_mgid(struct sim_subnet *subnet, uint8_t scope, struct acm_gid *mgid);
const struct sim_group_member *sim_group_find_member(const struct sim_group *group, uint32_t port);
/* Adds join state bits to a port's. 0 or -ENOMEM. */
int sim_subnet_join(struct sim_subnet *subnet, struct sim_group *group, uint32_t port, bool proxy,
		    uint8_t join_state, uint64_t now);
/* Removes join state bits; without full members, the group goes too. */
void sim_subnet_leave(struct sim_subnet *subnet, struct sim_group *group, uint32_t port,
		      uint8_t join_state, uint64_t now);
/* The manager loses a group without a word. -ENOENT. */
int sim_subnet_drop_group(struct sim_subnet *subnet, const struct acm_gid *mgid, uint64_t now);
/* Gives the second group the first's MLID, as managers do that run out of them. -ENOENT. */
int sim_subnet_share_mlid(struct sim_subnet *subnet, const struct acm_gid *first,
			  const struct acm_gid *second, uint64_t now);

#endif
