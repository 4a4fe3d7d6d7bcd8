/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pending_requests.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pending_slot {
	void *owner; /* NULL: free */
	uint32_t generation;
	uint32_t next; /* index + 1; of the owner's list, or of the free ones */
	uint32_t previous;
};

static uint64_t id_of(const struct pending_requests *requests, uint32_t place)
{
	return (uint64_t)requests->slots[place - 1].generation << 32 | place;
}

static struct pending_slot *slot_of(const struct pending_requests *requests, uint64_t id)
{
	uint32_t place = (uint32_t)id;
	struct pending_slot *slot;

	if (!place || place > requests->size)
		return NULL;
	slot = &requests->slots[place - 1];
	return slot->owner && slot->generation == id >> 32 ? slot : NULL;
}

void pending_requests_init(struct pending_requests *requests)
{
	memset(requests, 0, sizeof(*requests));
}

void pending_requests_destroy(struct pending_requests *requests)
{
	free(requests->slots);
	memset(requests, 0, sizeof(*requests));
}

static int grow(struct pending_requests *requests)
{
	uint32_t size = requests->size ? requests->size * 2 : 64;
	struct pending_slot *slots = reallocarray(requests->slots, size, sizeof(*slots));

	if (!slots)
		return -1;
	memset(slots + requests->size, 0, (size - requests->size) * sizeof(*slots));
	for (uint32_t place = size; place > requests->size; place--) {
		slots[place - 1].next = requests->free;
		requests->free = place;
	}
	requests->slots = slots;
	requests->size = size;
	return 0;
}

uint64_t pending_requests_add(struct pending_requests *requests, void *owner,
			      struct pending_list *list)
{
	struct pending_slot *slot;
	uint32_t place;

	if (!requests->free && grow(requests))
		return 0;
	place = requests->free;
	slot = &requests->slots[place - 1];
	requests->free = slot->next;
	slot->owner = owner;
	slot->previous = 0;
	slot->next = list->first;
	if (list->first)
		requests->slots[list->first - 1].previous = place;
	list->first = place;
	list->count++;
	requests->count++;
	return id_of(requests, place);
}

void *pending_requests_owner(const struct pending_requests *requests, uint64_t id)
{
	const struct pending_slot *slot = slot_of(requests, id);

	return slot ? slot->owner : NULL;
}

void pending_requests_remove(struct pending_requests *requests, uint64_t id,
			     struct pending_list *list)
{
	struct pending_slot *slot = slot_of(requests, id);

	assert(slot);
	if (slot->previous)
		requests->slots[slot->previous - 1].next = slot->next;
	else
		list->first = slot->next;
	if (slot->next)
		requests->slots[slot->next - 1].previous = slot->previous;
	list->count--;
	requests->count--;
	slot->owner = NULL;
	slot->generation++;
	slot->next = requests->free;
	requests->free = (uint32_t)id;
}

uint64_t pending_requests_any(const struct pending_requests *requests,
			      const struct pending_list *list)
{
	return list->first ? id_of(requests, list->first) : 0;
}
