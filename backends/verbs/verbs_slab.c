/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_slab.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Buffers are given out in runs, a run is a bit of its part. */
#define RUN_LENGTH 64
#define RUNS       64
/* A multiple of a cache line. */
#define STRIDE 320

struct verbs_slab_part {
	struct verbs_slab_part *next;
	uint8_t *bytes;
	struct ibv_mr *region;
	uint64_t used;
};

struct verbs_run {
	struct verbs_slab_part *part;
	uint32_t place;
};

_Static_assert(VERBS_BUFFER_LENGTH <= STRIDE, "a buffer fits its place");

void verbs_slab_init(struct verbs_slab *slab, struct ibv_pd *pd)
{
	*slab = (struct verbs_slab){.pd = pd};
}

static void part_free(struct verbs_slab_part *part)
{
	if (part->region)
		ibv_dereg_mr(part->region);
	free(part->bytes);
	free(part);
}

void verbs_slab_free(struct verbs_slab *slab)
{
	while (slab->parts) {
		struct verbs_slab_part *part = slab->parts;

		assert(!part->used);
		slab->parts = part->next;
		part_free(part);
	}
}

static int add_part(struct verbs_slab *slab)
{
	struct verbs_slab_part *part = calloc(1, sizeof(*part));
	size_t length = (size_t)RUNS * RUN_LENGTH * STRIDE;
	int error;

	if (!part)
		return -ENOMEM;
	part->bytes = aligned_alloc(4096, length);
	if (!part->bytes) {
		free(part);
		return -ENOMEM;
	}
	errno = ENOMEM;
	part->region = ibv_reg_mr(slab->pd, part->bytes, length, IBV_ACCESS_LOCAL_WRITE);
	if (!part->region) {
		error = -errno;
		part_free(part);
		return error;
	}
	part->next = slab->parts;
	slab->parts = part;
	return 0;
}

static int take_run(struct verbs_slab *slab, struct verbs_run *run)
{
	struct verbs_slab_part *part = slab->parts;

	while (part && part->used == UINT64_MAX)
		part = part->next;
	if (!part) {
		int error = add_part(slab);

		if (error)
			return error;
		part = slab->parts;
	}
	run->part = part;
	run->place = (uint32_t)__builtin_ctzll(~part->used);
	part->used |= UINT64_C(1) << run->place;
	return 0;
}

int verbs_slab_take(struct verbs_slab *slab, uint32_t count, struct verbs_buffers *buffers)
{
	uint32_t runs = (count + RUN_LENGTH - 1) / RUN_LENGTH;
	int error = 0;

	*buffers = (struct verbs_buffers){.runs = calloc(runs + 1, sizeof(struct verbs_run))};
	if (!buffers->runs)
		return -ENOMEM;
	while (!error && buffers->count < runs * RUN_LENGTH) {
		error = take_run(slab, &buffers->runs[buffers->count / RUN_LENGTH]);
		if (!error)
			buffers->count += RUN_LENGTH;
	}
	if (error)
		verbs_slab_give_back(buffers);
	else
		buffers->count = count;
	return error;
}

void verbs_slab_give_back(struct verbs_buffers *buffers)
{
	for (uint32_t first = 0; first < buffers->count; first += RUN_LENGTH) {
		const struct verbs_run *run = &buffers->runs[first / RUN_LENGTH];

		run->part->used &= ~(UINT64_C(1) << run->place);
	}
	free(buffers->runs);
	*buffers = (struct verbs_buffers){0};
}

uint8_t *verbs_buffer_bytes(const struct verbs_buffers *buffers, uint32_t number)
{
	const struct verbs_run *run = &buffers->runs[number / RUN_LENGTH];

	return run->part->bytes + (run->place * RUN_LENGTH + number % RUN_LENGTH) * STRIDE;
}

struct ibv_sge verbs_buffer_sge(const struct verbs_buffers *buffers, uint32_t number)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)verbs_buffer_bytes(buffers, number),
		.length = VERBS_BUFFER_LENGTH,
		.lkey = buffers->runs[number / RUN_LENGTH].part->region->lkey,
	};
}
