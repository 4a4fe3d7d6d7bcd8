/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_PENDING_REQUESTS_H
#define ACMITE_DAEMON_PENDING_REQUESTS_H

#include <stdint.h>

/*
 * Which owner waits for the answer to which request. Ids are never 0; that of a request which is
 * over names nothing, also when its place is used again.
 */
struct pending_requests {
	struct pending_slot *slots;
	uint32_t size;
	uint32_t free; /* index + 1 of the first free slot, 0: none */
	uint32_t count;
};

/* One owner's requests. All zero: none. */
struct pending_list {
	uint32_t first; /* index + 1, 0: none */
	uint32_t count;
};

void pending_requests_init(struct pending_requests *requests);
void pending_requests_destroy(struct pending_requests *requests);

/* A new id on the owner's list, 0: no memory. */
uint64_t pending_requests_add(struct pending_requests *requests, void *owner,
			      struct pending_list *list);
/* NULL: nobody waits for this id. */
void *pending_requests_owner(const struct pending_requests *requests, uint64_t id);
/* Ends a request that `list` holds. */
void pending_requests_remove(struct pending_requests *requests, uint64_t id,
			     struct pending_list *list);
/* Any id of a list, 0: it is empty. */
uint64_t pending_requests_any(const struct pending_requests *requests,
			      const struct pending_list *list);

#endif
