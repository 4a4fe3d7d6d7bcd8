/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport_events.h"

#include <errno.h>
#include <stdlib.h>

static struct sim_queued_event *event_at(const struct sim_transport_events *events, uint32_t place)
{
	return &events->ring[(events->first + place) & (events->room - 1)];
}

static int grow(struct sim_transport_events *events)
{
	uint32_t room = events->room ? events->room * 2 : 16;
	struct sim_queued_event *ring = reallocarray(NULL, room, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < events->count; i++)
		ring[i] = *event_at(events, i);
	free(events->ring);
	events->ring = ring;
	events->room = room;
	events->first = 0;
	return 0;
}

int sim_transport_events_push(struct sim_transport_events *events,
			      const struct sim_queued_event *queued)
{
	int error = events->count == events->room ? grow(events) : 0;

	if (!error)
		*event_at(events, events->count++) = *queued;
	return error;
}

bool sim_transport_events_pop(struct sim_transport_events *events, struct sim_queued_event *queued)
{
	if (!events->count)
		return false;
	*queued = *event_at(events, 0);
	events->first = (events->first + 1) & (events->room - 1);
	events->count--;
	return true;
}

const struct sim_queued_event *sim_transport_events_find(const struct sim_transport_events *events,
							 sim_event_match *match,
							 const void *argument)
{
	for (uint32_t i = 0; i < events->count; i++) {
		const struct sim_queued_event *queued = event_at(events, i);

		if (match(queued, argument))
			return queued;
	}
	return NULL;
}

void sim_transport_events_remove(struct sim_transport_events *events, struct sim_packets *packets,
				 sim_event_match *match, const void *argument)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < events->count; i++) {
		struct sim_queued_event *queued = event_at(events, i);

		if (match(queued, argument))
			sim_queued_event_release(queued, packets);
		else
			*event_at(events, kept++) = *queued;
	}
	events->count = kept;
}

void sim_queued_event_release(struct sim_queued_event *queued, struct sim_packets *packets)
{
	if (queued->packet)
		sim_packets_release(packets, queued->packet);
	free(queued->mad);
	queued->packet = NULL;
	queued->mad = NULL;
}

void sim_transport_events_free(struct sim_transport_events *events, struct sim_packets *packets)
{
	for (uint32_t i = 0; i < events->count; i++)
		sim_queued_event_release(event_at(events, i), packets);
	free(events->ring);
	*events = (struct sim_transport_events){0};
}
