/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "deadlines.h"
#include "memory.h"

#include <errno.h>

void acm_deadlines_init(struct acm_deadlines *deadlines, const struct acm_allocator *allocator)
{
	memset(deadlines, 0, sizeof(*deadlines));
	deadlines->allocator = allocator;
}

static size_t heap_size(uint32_t capacity)
{
	return ((size_t)capacity + 1) * sizeof(struct acm_timer *);
}

void acm_deadlines_fini(struct acm_deadlines *deadlines)
{
	if (deadlines->heap)
		acm_memory_free(deadlines->allocator, deadlines->heap,
				heap_size(deadlines->capacity));
	deadlines->heap = NULL;
}

int acm_deadlines_register(struct acm_deadlines *deadlines, struct acm_timer *timer, uint8_t kind)
{
	if (deadlines->registered == deadlines->capacity) {
		uint32_t capacity = deadlines->capacity ? deadlines->capacity * 2 : 8;
		void *heap = acm_memory_grow(deadlines->allocator, deadlines->heap,
					     deadlines->heap ? heap_size(deadlines->capacity) : 0,
					     heap_size(capacity));

		if (!heap)
			return -ENOMEM;
		deadlines->heap = heap;
		deadlines->capacity = capacity;
	}
	deadlines->registered++;
	timer->place = 0;
	timer->kind = kind;
	return 0;
}

static bool before(const struct acm_timer *a, const struct acm_timer *b)
{
	return a->due != b->due ? a->due < b->due : a->sequence < b->sequence;
}

static void put(struct acm_deadlines *deadlines, struct acm_timer *timer, uint32_t place)
{
	deadlines->heap[place] = timer;
	timer->place = place;
}

static void sift_up(struct acm_deadlines *deadlines, struct acm_timer *timer, uint32_t place)
{
	while (place > 1 && before(timer, deadlines->heap[place / 2])) {
		put(deadlines, deadlines->heap[place / 2], place);
		place /= 2;
	}
	put(deadlines, timer, place);
}

static void sift_down(struct acm_deadlines *deadlines, struct acm_timer *timer, uint32_t place)
{
	uint32_t child;

	while ((child = place * 2) <= deadlines->armed) {
		if (child < deadlines->armed &&
		    before(deadlines->heap[child + 1], deadlines->heap[child]))
			child++;
		if (!before(deadlines->heap[child], timer))
			break;
		put(deadlines, deadlines->heap[child], place);
		place = child;
	}
	put(deadlines, timer, place);
}

void acm_deadlines_disarm(struct acm_deadlines *deadlines, struct acm_timer *timer)
{
	uint32_t place = timer->place;
	struct acm_timer *last;

	if (!place)
		return;
	timer->place = 0;
	last = deadlines->heap[deadlines->armed--];
	if (last == timer)
		return;
	if (place > 1 && before(last, deadlines->heap[place / 2]))
		sift_up(deadlines, last, place);
	else
		sift_down(deadlines, last, place);
}

void acm_deadlines_arm(struct acm_deadlines *deadlines, struct acm_timer *timer, uint64_t due)
{
	acm_deadlines_disarm(deadlines, timer);
	if (due == ACM_NEVER)
		return;
	timer->due = due;
	timer->sequence = ++deadlines->sequence;
	sift_up(deadlines, timer, ++deadlines->armed);
}

void acm_deadlines_unregister(struct acm_deadlines *deadlines, struct acm_timer *timer)
{
	acm_deadlines_disarm(deadlines, timer);
	deadlines->registered--;
}

struct acm_timer *acm_deadlines_pop(struct acm_deadlines *deadlines, uint64_t now)
{
	struct acm_timer *timer;

	if (!deadlines->armed || deadlines->heap[1]->due > now)
		return NULL;
	timer = deadlines->heap[1];
	acm_deadlines_disarm(deadlines, timer);
	return timer;
}

uint64_t acm_deadlines_next(const struct acm_deadlines *deadlines)
{
	return deadlines->armed ? deadlines->heap[1]->due : ACM_NEVER;
}
