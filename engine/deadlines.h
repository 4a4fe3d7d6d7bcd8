/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All timers of an engine: a heap ordered by (time, sequence). A timer is part of the object it
 * serves. Room for it is made when the object is, so arming cannot fail.
 */
#ifndef ACMITE_ENGINE_DEADLINES_H
#define ACMITE_ENGINE_DEADLINES_H

#include <acmite/types.h>

struct acm_timer {
	uint64_t due;
	uint64_t sequence;
	uint32_t place; /* in the heap, from 1; 0: not armed */
	uint8_t kind;   /* the owner's */
};

struct acm_deadlines {
	const struct acm_allocator *allocator;
	struct acm_timer **heap; /* [1 .. armed] */
	uint32_t armed;
	uint32_t registered;
	uint32_t capacity;
	uint64_t sequence;
};

void acm_deadlines_init(struct acm_deadlines *deadlines, const struct acm_allocator *allocator);
void acm_deadlines_fini(struct acm_deadlines *deadlines);
/* Makes room for `timer`. 0, -ENOMEM. */
int acm_deadlines_register(struct acm_deadlines *deadlines, struct acm_timer *timer, uint8_t kind);
/* Disarms it and gives its room back. */
void acm_deadlines_unregister(struct acm_deadlines *deadlines, struct acm_timer *timer);
/* Arms a registered timer, or moves it. ACM_NEVER disarms. */
void acm_deadlines_arm(struct acm_deadlines *deadlines, struct acm_timer *timer, uint64_t due);
void acm_deadlines_disarm(struct acm_deadlines *deadlines, struct acm_timer *timer);
/* Takes out the first timer that is due at `now`, NULL when there is none. */
struct acm_timer *acm_deadlines_pop(struct acm_deadlines *deadlines, uint64_t now);
uint64_t acm_deadlines_next(const struct acm_deadlines *deadlines);

#endif
