/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory_region.h"

#include <errno.h>
#include <stdlib.h>
#include "call.h"
#include "device.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct preload_memory_region {
	struct ibv_mr verbs;
	uint64_t iova;
	int access;
	struct preload_memory_region *next;
};

static uint32_t last_key;

PRELOAD_CALL struct ibv_pd *ibv_alloc_pd(struct ibv_context *verbs)
{
	struct preload_domain *domain = calloc(1, sizeof(*domain));

	if (!domain)
		return NULL;
	domain->verbs.context = verbs;
	return &domain->verbs;
}

PRELOAD_CALL int ibv_dealloc_pd(struct ibv_pd *verbs)
{
	struct preload_domain *domain = (struct preload_domain *)verbs;
	bool busy;

	preload_lock();
	busy = domain->users || domain->regions;
	preload_unlock();
	if (busy)
		return EBUSY;
	free(domain);
	return 0;
}

bool preload_domain_holds(const struct ibv_pd *verbs, const struct ibv_sge *element, int access)
{
	const struct preload_domain *domain = (const struct preload_domain *)verbs;

	for (const struct preload_memory_region *at = domain->regions; at; at = at->next) {
		if (at->verbs.lkey == element->lkey)
			return (at->access & access) == access && element->addr >= at->iova &&
			       element->addr - at->iova <= at->verbs.length &&
			       element->length <= at->verbs.length - (element->addr - at->iova);
	}
	return false;
}

/* What the kernel refuses whatever the device. */
static bool is_sound(const void *address, size_t length, int access)
{
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return false;
	return length <= UINTPTR_MAX - (uintptr_t)address;
}

static struct ibv_mr *register_memory(struct ibv_pd *verbs, void *address, size_t length,
				      uint64_t iova, int access)
{
	struct preload_domain *domain = (struct preload_domain *)verbs;
	struct preload_memory_region *region;

	if (!is_sound(address, length, access)) {
		errno = EINVAL;
		return NULL;
	}
	region = calloc(1, sizeof(*region));
	if (!region)
		return NULL;
	region->verbs.context = verbs->context;
	region->verbs.pd = verbs;
	region->verbs.addr = address;
	region->verbs.length = length;
	region->iova = iova;
	region->access = access;
	preload_lock();
	last_key += 0x100;
	region->verbs.lkey = last_key;
	region->verbs.rkey = last_key;
	region->next = domain->regions;
	domain->regions = region;
	preload_unlock();
	return &region->verbs;
}

PRELOAD_CALL struct ibv_mr *ibv_reg_mr(struct ibv_pd *verbs, void *address, size_t length,
				       int access)
{
	return register_memory(verbs, address, length, (uintptr_t)address, access);
}

/* Addresses of other ranges than the program's own would have to be translated. */
PRELOAD_CALL struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *verbs, void *address, size_t length,
					     uint64_t iova, unsigned int access)
{
	if (iova == (uintptr_t)address)
		return register_memory(verbs, address, length, iova, (int)access);
	preload_complain("memory with addresses of its own cannot be registered on a simulated "
			 "node");
	errno = ENOSYS;
	return NULL;
}

PRELOAD_CALL struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *verbs, void *address, size_t length,
					    uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(verbs, address, length, iova, (unsigned int)access);
}

PRELOAD_CALL int ibv_dereg_mr(struct ibv_mr *verbs)
{
	struct preload_memory_region *region = (struct preload_memory_region *)verbs, **link;

	preload_lock();
	link = &((struct preload_domain *)verbs->pd)->regions;
	while (*link != region)
		link = &(*link)->next;
	*link = region->next;
	preload_unlock();
	free(region);
	return 0;
}
