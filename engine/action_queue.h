/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Actions decided in one step, in order, with the data they point to. Two sorts: what may be lost
 * for want of memory, because a timer repeats it or nobody depends on it (send, trace); and what
 * must not (close, cancel), for which room is promised when the object is made that will need it.
 */
#ifndef ACMITE_ENGINE_ACTION_QUEUE_H
#define ACMITE_ENGINE_ACTION_QUEUE_H

#include <acmite/engine.h>
#include <acmite/trace.h>

struct acm_queued_action {
	struct acm_action action;
	union {
		uint8_t bytes[ACM_MAD_LENGTH];
		struct acm_trace trace;
	};
};

struct acm_action_queue {
	const struct acm_allocator *allocator;
	struct acm_queued_action *actions;
	uint32_t capacity;
	uint32_t count;
	uint32_t taken;
	uint32_t promised; /* actions that must find room */
};

void acm_action_queue_init(struct acm_action_queue *queue, const struct acm_allocator *allocator);
void acm_action_queue_fini(struct acm_action_queue *queue);
/* Keeps room for one action more that must not fail. 0, -ENOMEM. */
int acm_action_queue_promise(struct acm_action_queue *queue);
/* Takes a promise back, used or not. */
void acm_action_queue_release(struct acm_action_queue *queue);
/* A new action at the end that may fail: NULL when there is no memory. Valid until the next push.
 */
struct acm_queued_action *acm_action_queue_push(struct acm_action_queue *queue,
						enum acm_action_type type);
/* The same for an action that was promised; the promise is used up by it. Never NULL. */
struct acm_queued_action *acm_action_queue_push_promised(struct acm_action_queue *queue,
							 enum acm_action_type type);
/* The next one, its pointers set; false and the queue is empty again. */
bool acm_action_queue_pop(struct acm_action_queue *queue, struct acm_action *action);

#endif
