/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What waits to be pulled from the transport, in order; port events are noted at the ports. */
#ifndef ACMITE_VERBS_EVENTS_H
#define ACMITE_VERBS_EVENTS_H

#include <acmite/engine.h>

struct verbs_queue_pair;

struct verbs_event {
	struct acm_event event;
	struct verbs_queue_pair *queue_pair; /* that it is about; NULL: none */
	uint32_t buffer;                     /* of a datagram: the queue pair's receive buffer */
	void *memory;                        /* of an SA answer: allocated; NULL: none */
};

/* All zero: empty. */
struct verbs_events {
	struct verbs_event *ring;
	uint32_t room; /* a power of two, or 0 */
	uint32_t first;
	uint32_t count;
};

/* Takes over `memory`. 0, or -ENOMEM and nothing is taken. */
int verbs_events_push(struct verbs_events *events, const struct verbs_event *event);
/* What the event holds is the caller's then. False: empty. */
bool verbs_events_pop(struct verbs_events *events, struct verbs_event *event);
/* Removes all about a queue pair. Its buffers are not given back: it is being closed. */
void verbs_events_forget(struct verbs_events *events, const struct verbs_queue_pair *queue_pair);
/* Removes how an SA transaction ended. */
void verbs_events_cancel(struct verbs_events *events, uint64_t cookie);
/* Removes all, and frees the memory. */
void verbs_events_free(struct verbs_events *events);

#endif
