/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a cached destination takes: of malloc() with its own word for each block, and by the
 * engine's own account, which its budget is kept by.
 */
#include "engine_rig.h"
#include "figures.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

/* Of glibc: the size that precedes each block. */
#define BLOCK_HEADER 8

static const uint32_t sizes[] = {1000, 10000, 100000};

static void *allocate(void *context, size_t size)
{
	uint64_t *bytes = context;
	void *memory = malloc(size);

	if (memory)
		*bytes += malloc_usable_size(memory) + BLOCK_HEADER;
	return memory;
}

static void release(void *context, void *memory, size_t size)
{
	uint64_t *bytes = context;

	(void)size;
	*bytes -= malloc_usable_size(memory) + BLOCK_HEADER;
	free(memory);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t bytes = 0;
		const struct acm_allocator allocator = {
			.alloc = allocate, .free = release, .context = &bytes};
		struct acm_engine_stats before, after;
		struct engine_rig rig;
		uint64_t empty;
		char name[80];

		engine_rig_init(&rig, 0, &allocator);
		acm_engine_stats(rig.engine, &before);
		empty = bytes;
		engine_rig_populate(&rig, sizes[i]);
		acm_engine_stats(rig.engine, &after);
		snprintf(name, sizeof(name), "memory, %u destinations: malloc", sizes[i]);
		figures_print(name, (double)(bytes - empty) / sizes[i], "bytes each", "<= 160");
		snprintf(name, sizeof(name), "memory, %u destinations: the engine's account",
			 sizes[i]);
		figures_print(name, (double)(after.memory - before.memory) / sizes[i], "bytes each",
			      "<= 160");
		engine_rig_fini(&rig);
	}
	return EXIT_SUCCESS;
}
