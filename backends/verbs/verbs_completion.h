/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the hardware's completions say. */
#ifndef ACMITE_VERBS_COMPLETION_H
#define ACMITE_VERBS_COMPLETION_H

#include <acmite/engine.h>
#include <infiniband/verbs.h>

/* 0 or a negative errno; -ECANCELED: it was flushed. */
int verbs_completion_status(const struct ibv_wc *completion);

/*
 * The datagram that came into the receive buffer `bytes`, which it goes on pointing to; all but its
 * endpoint. False: it has no GRH. Nodes always send one, for it tells who they are: without one
 * there is nobody to answer.
 */
bool verbs_completion_datagram(const struct ibv_wc *completion, const uint8_t *bytes,
			       struct acm_datagram_received *datagram);

#endif
