/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registered memory for datagrams. A device's queue pairs take their buffers from one slab, which
 * is registered once and grows by another one of the same size only when it is used up.
 */
#ifndef ACMITE_VERBS_SLAB_H
#define ACMITE_VERBS_SLAB_H

#include <acmite/types.h>
#include <infiniband/verbs.h>

#define VERBS_GRH_LENGTH 40
/* A GRH and ACM_DATAGRAM_MAX bytes. */
#define VERBS_BUFFER_LENGTH 296

struct verbs_slab_part;

struct verbs_slab {
	struct ibv_pd *pd;
	struct verbs_slab_part *parts;
};

struct verbs_run;

/* Buffers that were taken together. All zero: none. */
struct verbs_buffers {
	uint32_t count;
	struct verbs_run *runs;
};

/* Nothing is registered before it is needed. */
void verbs_slab_init(struct verbs_slab *slab, struct ibv_pd *pd);
/* When all buffers were given back. */
void verbs_slab_free(struct verbs_slab *slab);

/* 0, or negative errno and nothing is taken. */
int verbs_slab_take(struct verbs_slab *slab, uint32_t count, struct verbs_buffers *buffers);
void verbs_slab_give_back(struct verbs_buffers *buffers);

/* Where the buffer with this number is, for reading and writing, and for the hardware. */
uint8_t *verbs_buffer_bytes(const struct verbs_buffers *buffers, uint32_t number);
struct ibv_sge verbs_buffer_sge(const struct verbs_buffers *buffers, uint32_t number);

#endif
