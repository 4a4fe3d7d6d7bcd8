/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of engine objects: always from the allocator that the user gave, always zeroed. */
#ifndef ACMITE_ENGINE_MEMORY_H
#define ACMITE_ENGINE_MEMORY_H

#include <acmite/types.h>
#include <string.h>

static inline void *acm_memory_new(const struct acm_allocator *allocator, size_t size)
{
	void *memory = allocator->alloc(allocator->context, size);

	if (memory)
		memset(memory, 0, size);
	return memory;
}

static inline void acm_memory_free(const struct acm_allocator *allocator, void *memory, size_t size)
{
	if (memory)
		allocator->free(allocator->context, memory, size);
}

/* A larger copy of an array, its tail zeroed; the old one is freed. NULL, and the old one stays. */
static inline void *acm_memory_grow(const struct acm_allocator *allocator, void *memory,
				    size_t old_size, size_t new_size)
{
	void *larger = acm_memory_new(allocator, new_size);

	if (!larger)
		return NULL;
	if (old_size)
		memcpy(larger, memory, old_size);
	acm_memory_free(allocator, memory, old_size);
	return larger;
}

/* The object of `type` whose `member` is at `pointer`. */
#define ACM_CONTAINER(pointer, type, member)                                                       \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
