/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains, and the memory that programs have registered in them. */
#ifndef PRELOAD_MEMORY_REGION_H
#define PRELOAD_MEMORY_REGION_H

#include <infiniband/verbs.h>
#include <stdbool.h>

struct preload_memory_region;

struct preload_domain {
	struct ibv_pd verbs;
	uint32_t users; /* queue pairs and address handles */
	struct preload_memory_region *regions;
};

/* Whether the element lies in memory registered under its key, with these access flags. */
bool preload_domain_holds(const struct ibv_pd *domain, const struct ibv_sge *element, int access);

#endif
