/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An allocator that counts, and that fails where a test wants it to. */
#ifndef ACMITE_TESTS_COUNTED_MEMORY_H
#define ACMITE_TESTS_COUNTED_MEMORY_H

#include <acmite/types.h>

#include <stdlib.h>
#include <string.h>

struct counted_memory {
	struct acm_allocator allocator;
	uint64_t allocations;
	uint64_t fail_from; /* allocations from this number on (from 1) fail; 0: none does */
	int64_t live_bytes;
};

static inline void *counted_memory_allocate(void *context, size_t size)
{
	struct counted_memory *memory = context;
	void *block;

	memory->allocations++;
	if (memory->fail_from && memory->allocations >= memory->fail_from)
		return NULL;
	block = malloc(size);
	if (!block)
		abort();
	memset(block, 0xa5, size); /* nobody may count on zeros */
	memory->live_bytes += (int64_t)size;
	return block;
}

static inline void counted_memory_release(void *context, void *block, size_t size)
{
	struct counted_memory *memory = context;

	memory->live_bytes -= (int64_t)size;
	free(block);
}

static inline void counted_memory_init(struct counted_memory *memory)
{
	*memory = (struct counted_memory){
		.allocator = {counted_memory_allocate, counted_memory_release, memory}};
}

#endif
