/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_events.h"

#include <errno.h>
#include <stdlib.h>

static struct verbs_event *event_at(const struct verbs_events *events, uint32_t place)
{
	return &events->ring[(events->first + place) & (events->room - 1)];
}

static int grow(struct verbs_events *events)
{
	uint32_t room = events->room ? events->room * 2 : 64;
	struct verbs_event *ring = reallocarray(NULL, room, sizeof(*ring));

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

int verbs_events_push(struct verbs_events *events, const struct verbs_event *event)
{
	int error = events->count == events->room ? grow(events) : 0;

	if (!error)
		*event_at(events, events->count++) = *event;
	return error;
}

bool verbs_events_pop(struct verbs_events *events, struct verbs_event *event)
{
	if (!events->count)
		return false;
	*event = *event_at(events, 0);
	events->first = (events->first + 1) & (events->room - 1);
	events->count--;
	return true;
}

typedef bool event_match(const struct verbs_event *event, const void *argument);

static void remove_matching(struct verbs_events *events, event_match *match, const void *argument)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < events->count; i++) {
		struct verbs_event *event = event_at(events, i);

		if (match(event, argument))
			free(event->memory);
		else
			*event_at(events, kept++) = *event;
	}
	events->count = kept;
}

static bool is_about(const struct verbs_event *event, const void *argument)
{
	return event->queue_pair == argument;
}

void verbs_events_forget(struct verbs_events *events, const struct verbs_queue_pair *queue_pair)
{
	remove_matching(events, is_about, queue_pair);
}

static bool is_end_of(const struct verbs_event *event, const void *argument)
{
	const uint64_t *cookie = argument;

	return (event->event.type == ACM_EVENT_SA_ANSWER && event->event.sa.cookie == *cookie) ||
	       (event->event.type == ACM_EVENT_SA_FAILED && event->event.failed.cookie == *cookie);
}

void verbs_events_cancel(struct verbs_events *events, uint64_t cookie)
{
	remove_matching(events, is_end_of, &cookie);
}

void verbs_events_free(struct verbs_events *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		free(event_at(events, i)->memory);
	free(events->ring);
	*events = (struct verbs_events){0};
}
