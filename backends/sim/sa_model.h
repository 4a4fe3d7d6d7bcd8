/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subnet administration over a subnet, as OpenSM 3.3.23 answers with its default options:
 * PathRecord Get and GetTable; MCMemberRecord Get, GetTable, Set and Delete. Pure, as the subnet
 * is.
 */
#ifndef ACMITE_SIM_SA_MODEL_H
#define ACMITE_SIM_SA_MODEL_H

#include "subnet.h"

/* Bytes of an answer: the MAD header, and the records of all segments. Starts as {0}. */
struct sim_sa_answer {
	uint8_t *data; /* free() */
	uint32_t length;
	uint32_t room;
};

/*
 * Answers one MAD from a host's port. 0 and the answer; -EPROTO: an SA drops this without a word;
 * -ENOMEM. Joins and leaves take effect at once; their trees follow, see sim_subnet_advance().
 */
int sim_sa_serve(struct sim_subnet *subnet, struct sim_port_ref from, const uint8_t *mad,
		 uint64_t now, struct sim_sa_answer *answer);
/* The same request, refused with a MAD status. */
int sim_sa_refuse(const uint8_t *mad, uint16_t status, struct sim_sa_answer *answer);

/* The path record of two ports (indices of the subnet) when nothing more is asked. False: there is
 * none. */
bool sim_sa_path(const struct sim_subnet *subnet, uint32_t from, uint32_t to,
		 struct acm_path *path);

#endif
