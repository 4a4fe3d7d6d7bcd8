/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is in which multicast group: the ports that the SA has as members, and those where a queue
 * pair is attached. Each may be without the other.
 */
#ifndef ACMITE_SIM_GROUP_MEMBERS_H
#define ACMITE_SIM_GROUP_MEMBERS_H

#include "control.h"
#include "sim_transport.h"

enum sim_group_standing {
	SIM_GROUP_JOINED,     /* `record` is the SA's */
	SIM_GROUP_NOT_JOINED, /* of the record, MGID and MLID are there, as a queue pair has them */
	SIM_GROUP_UNTOLD,     /* the SA did not answer; likewise */
};

struct sim_group_entry {
	struct sim_port_ref port;
	enum sim_group_standing standing;
	struct acm_mcmember record;
	uint32_t queue_pairs; /* attached there */
};

struct sim_group_entries {
	uint32_t count;
	struct sim_group_entry *all; /* by MGID, then by port in the topology's order */
};

/*
 * How it is now, where `since` is the time at which it was asked for first. 0: free the entries'
 * `all`; -EAGAIN: the SA is being asked, try again with the same `since` after process(); -ENOMEM.
 */
int sim_group_members_collect(const struct sim_fabric_core *core, uint64_t since,
			      struct sim_group_entries *entries);

#endif
