/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "action_queue.h"
#include "memory.h"

#include <assert.h>
#include <errno.h>

void acm_action_queue_init(struct acm_action_queue *queue, const struct acm_allocator *allocator)
{
	memset(queue, 0, sizeof(*queue));
	queue->allocator = allocator;
}

void acm_action_queue_fini(struct acm_action_queue *queue)
{
	acm_memory_free(queue->allocator, queue->actions,
			queue->capacity * sizeof(*queue->actions));
	queue->actions = NULL;
}

static bool make_room(struct acm_action_queue *queue)
{
	uint32_t capacity = queue->capacity ? queue->capacity * 2 : 4;
	void *actions;

	if (queue->count + queue->promised < queue->capacity)
		return true;
	actions = acm_memory_grow(queue->allocator, queue->actions,
				  queue->capacity * sizeof(*queue->actions),
				  capacity * sizeof(*queue->actions));
	if (!actions)
		return false;
	queue->actions = actions;
	queue->capacity = capacity;
	return true;
}

int acm_action_queue_promise(struct acm_action_queue *queue)
{
	if (!make_room(queue))
		return -ENOMEM;
	queue->promised++;
	return 0;
}

void acm_action_queue_release(struct acm_action_queue *queue)
{
	assert(queue->promised > 0);
	queue->promised--;
}

static struct acm_queued_action *append(struct acm_action_queue *queue, enum acm_action_type type)
{
	struct acm_queued_action *queued = &queue->actions[queue->count++];

	queued->action.type = type;
	return queued;
}

struct acm_queued_action *acm_action_queue_push(struct acm_action_queue *queue,
						enum acm_action_type type)
{
	return make_room(queue) ? append(queue, type) : NULL;
}

struct acm_queued_action *acm_action_queue_push_promised(struct acm_action_queue *queue,
							 enum acm_action_type type)
{
	acm_action_queue_release(queue);
	assert(queue->count < queue->capacity);
	return append(queue, type);
}

bool acm_action_queue_pop(struct acm_action_queue *queue, struct acm_action *action)
{
	struct acm_queued_action *queued;

	if (queue->taken == queue->count) {
		queue->taken = queue->count = 0;
		return false;
	}
	queued = &queue->actions[queue->taken++];
	switch (queued->action.type) {
	case ACM_ACTION_SEND:
		queued->action.send.datagram.payload = queued->bytes;
		break;
	case ACM_ACTION_SA_SEND:
		queued->action.sa.mad = queued->bytes;
		break;
	case ACM_ACTION_TRACE:
		queued->action.trace = &queued->trace;
		break;
	default:
		break;
	}
	*action = queued->action;
	return true;
}
