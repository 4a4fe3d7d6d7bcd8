/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What waits to be pulled from a simulated transport, in order. */
#ifndef ACMITE_SIM_TRANSPORT_EVENTS_H
#define ACMITE_SIM_TRANSPORT_EVENTS_H

#include <acmite/engine.h>
#include "packet.h"
#include "queue_pair.h"

struct sim_queued_event {
	struct acm_event event;
	uint32_t port; /* of ACM_EVENT_PORT_CHANGED: facts are read when it is pulled */
	struct sim_queue_pair *queue_pair; /* that it is about; NULL: none */
	struct sim_packet *packet;         /* of a datagram: a reference; NULL: none */
	uint8_t *mad;                      /* of an SA answer: allocated; NULL: none */
};

/* All zero: empty. */
struct sim_transport_events {
	struct sim_queued_event *ring;
	uint32_t room; /* a power of two, or 0 */
	uint32_t first;
	uint32_t count;
};

/* Tells of an event whether it is to be removed. */
typedef bool sim_event_match(const struct sim_queued_event *queued, const void *argument);

/* Takes over what the event holds. 0, or -ENOMEM and nothing is taken. */
int sim_transport_events_push(struct sim_transport_events *events,
			      const struct sim_queued_event *queued);
/* What the event holds is the caller's then. False: empty. */
bool sim_transport_events_pop(struct sim_transport_events *events, struct sim_queued_event *queued);
/* The first one that matches, NULL: none does. */
const struct sim_queued_event *sim_transport_events_find(const struct sim_transport_events *events,
							 sim_event_match *match,
							 const void *argument);
/* Removes all that match, and gives back what they hold. */
void sim_transport_events_remove(struct sim_transport_events *events, struct sim_packets *packets,
				 sim_event_match *match, const void *argument);
/* Gives back what a pulled event holds. */
void sim_queued_event_release(struct sim_queued_event *queued, struct sim_packets *packets);
/* Removes all, and frees the memory. */
void sim_transport_events_free(struct sim_transport_events *events, struct sim_packets *packets);

#endif
