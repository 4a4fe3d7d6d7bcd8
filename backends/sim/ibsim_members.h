/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memberships that OpenSM's SA has. Its stand-in for the kernel cannot send a table, so it is
 * asked for one record after the other, of the ports and groups that are known: by joins that went
 * through here, and by whoever asks.
 */
#ifndef ACMITE_SIM_IBSIM_MEMBERS_H
#define ACMITE_SIM_IBSIM_MEMBERS_H

#include "control.h"

struct ibsim_subnet;
struct ibsim_known_member;

struct ibsim_members {
	uint32_t count, room;
	struct ibsim_known_member *known;
	bool asking;
	bool complete;    /* `told` is what was found since `begun` */
	bool lost;        /* the SM has gone meanwhile */
	uint64_t now;     /* what process() saw last */
	uint64_t begun;   /* when it was asked for last */
	uint32_t asked;   /* of `known` */
	uint32_t waiting; /* for so many answers */
	struct sim_group_memberships told;
	struct sim_group_membership *list; /* of `told`; as much room as `list_room` */
	uint32_t list_room;
};

void ibsim_members_free(struct ibsim_members *members);
/* An answer of the SA to anybody: of a join, it tells of a member. */
void ibsim_members_note_answer(struct ibsim_subnet *subnet, const uint8_t *mad);
/* Nobody is a member any more, until it joins anew. */
void ibsim_members_lose(struct ibsim_subnet *subnet);
/* As sim_control_ops.memberships. */
int ibsim_members_ask(struct ibsim_subnet *subnet, const struct sim_membership_query *query,
		      struct sim_group_memberships *memberships);
void ibsim_members_process(struct ibsim_subnet *subnet, uint64_t now);
uint64_t ibsim_members_deadline(const struct ibsim_members *members);

#endif
