/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A queue of control events that keeps the MADs they carry. */
#ifndef ACMITE_SIM_IBSIM_EVENTS_H
#define ACMITE_SIM_IBSIM_EVENTS_H

#include "control.h"

struct ibsim_queued_event;

struct ibsim_events {
	struct ibsim_queued_event *ring;
	uint32_t capacity; /* a power of two, or 0 */
	uint32_t first, count;
	bool failed; /* there was no memory for an event, which is lost */
};

/* Copies the MAD (of ACM_MAD_LENGTH bytes) where there is one. */
void ibsim_events_push(struct ibsim_events *events, const struct sim_control_event *event);
/* 1 and the next event, whose MAD stays valid until the next push; 0: none. */
int ibsim_events_pop(struct ibsim_events *events, struct sim_control_event *event);
/* Removes an SA event of a cookie. */
void ibsim_events_drop(struct ibsim_events *events, uint64_t cookie);
void ibsim_events_free(struct ibsim_events *events);

#endif
