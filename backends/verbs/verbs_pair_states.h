/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The states of a UD queue pair, and the ways between them. All return 0 or a negative errno. */
#ifndef ACMITE_VERBS_PAIR_STATES_H
#define ACMITE_VERBS_PAIR_STATES_H

#include <infiniband/verbs.h>

/* What is settled when it leaves the reset state. */
struct verbs_pair_attributes {
	uint8_t port; /* on the device */
	uint16_t pkey_index;
	uint32_t qkey;
};

/* From the reset state to where receives can be posted. */
int verbs_pair_initialise(struct ibv_qp *pair, const struct verbs_pair_attributes *attributes);
/* From there to where it receives and sends. */
int verbs_pair_start(struct ibv_qp *pair);
/* From any state: nothing that the hardware has of it completes any more. */
int verbs_pair_reset(struct ibv_qp *pair);
/* From where a failed send has stopped all others, which receives go on in. */
int verbs_pair_resume(struct ibv_qp *pair);
int verbs_pair_state(struct ibv_qp *pair, enum ibv_qp_state *state);

#endif
