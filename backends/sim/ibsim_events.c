/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_events.h"

#include <acmite/transport.h>
#include <stdlib.h>
#include <string.h>

struct ibsim_queued_event {
	struct sim_control_event event;
	bool dropped;
	uint8_t mad[ACM_MAD_LENGTH];
};

static struct ibsim_queued_event *slot(const struct ibsim_events *events, uint32_t n)
{
	return &events->ring[(events->first + n) & (events->capacity - 1)];
}

static bool grow(struct ibsim_events *events)
{
	uint32_t capacity = events->capacity ? 2 * events->capacity : 16;
	struct ibsim_queued_event *ring = malloc(capacity * sizeof(*ring));

	if (!ring)
		return false;
	for (uint32_t i = 0; i < events->count; i++)
		ring[i] = *slot(events, i);
	free(events->ring);
	events->ring = ring;
	events->capacity = capacity;
	events->first = 0;
	return true;
}

void ibsim_events_push(struct ibsim_events *events, const struct sim_control_event *event)
{
	struct ibsim_queued_event *queued;

	if (events->count == events->capacity && !grow(events)) {
		events->failed = true;
		return;
	}
	queued = slot(events, events->count++);
	queued->event = *event;
	queued->dropped = false;
	if (event->mad)
		memcpy(queued->mad, event->mad, ACM_MAD_LENGTH);
}

int ibsim_events_pop(struct ibsim_events *events, struct sim_control_event *event)
{
	while (events->count > 0) {
		struct ibsim_queued_event *queued = slot(events, 0);

		events->first = (events->first + 1) & (events->capacity - 1);
		events->count--;
		if (queued->dropped)
			continue;
		*event = queued->event;
		if (event->mad)
			event->mad = queued->mad;
		return 1;
	}
	return 0;
}

void ibsim_events_drop(struct ibsim_events *events, uint64_t cookie)
{
	for (uint32_t i = 0; i < events->count; i++) {
		struct ibsim_queued_event *queued = slot(events, i);

		if ((queued->event.type == SIM_CONTROL_SA_ANSWER ||
		     queued->event.type == SIM_CONTROL_SA_FAILED) &&
		    queued->event.cookie == cookie)
			queued->dropped = true;
	}
}

void ibsim_events_free(struct ibsim_events *events)
{
	free(events->ring);
	*events = (struct ibsim_events){.capacity = 0};
}
