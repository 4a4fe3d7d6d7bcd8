/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "completion_queue.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "async_events.h"
#include "call.h"
#include "completion_channel.h"
#include "device.h"
#include "queue_pair.h"

/* In a row: a program that looks so often waits for nothing else. */
#define EMPTY_POLLS 64

struct preload_completion_queue *preload_completion_queue(struct ibv_cq *verbs)
{
	return (struct preload_completion_queue *)((char *)verbs -
						   offsetof(struct preload_completion_queue,
							    verbs));
}

static void init_queue(struct preload_completion_queue *queue, struct ibv_context *context,
		       struct ibv_comp_channel *channel, void *cq_context)
{
	queue->verbs.context = context;
	queue->verbs.channel = channel;
	queue->verbs.cq_context = cq_context;
	queue->verbs.cqe = (int)queue->capacity;
	pthread_mutex_init(&queue->verbs.mutex, NULL);
	pthread_cond_init(&queue->verbs.cond, NULL);
	preload_lock();
	if (channel)
		channel->refcnt++;
	preload_unlock();
}

PRELOAD_CALL struct ibv_cq *ibv_create_cq(struct ibv_context *context, int capacity,
					  void *cq_context, struct ibv_comp_channel *channel,
					  int vector)
{
	struct preload_completion_queue *queue;

	if (capacity < 1 || capacity > PRELOAD_COMPLETIONS_MAX || vector < 0 ||
	    vector >= context->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	queue->capacity = (uint32_t)capacity;
	queue->completions = calloc(queue->capacity, sizeof(*queue->completions));
	if (!queue->completions) {
		free(queue);
		return NULL;
	}
	init_queue(queue, context, channel, cq_context);
	return &queue->verbs;
}

/* Waits for the program to acknowledge the events it has taken, as libibverbs does. */
static void settle_events(struct preload_completion_queue *queue)
{
	struct ibv_comp_channel *channel = queue->verbs.channel;

	if (channel)
		preload_channel_forget(channel, queue);
	preload_async_drop_about((struct preload_context *)queue->verbs.context, &queue->verbs);
	while (queue->events_acknowledged != queue->events_taken ||
	       queue->async_acknowledged != queue->async_taken)
		preload_wait_for_change();
	if (channel)
		channel->refcnt--;
}

PRELOAD_CALL int ibv_destroy_cq(struct ibv_cq *verbs)
{
	struct preload_completion_queue *queue = preload_completion_queue(verbs);
	bool busy;

	preload_lock();
	busy = queue->users > 0;
	if (!busy)
		settle_events(queue);
	preload_unlock();
	if (busy)
		return EBUSY;
	pthread_mutex_destroy(&verbs->mutex);
	pthread_cond_destroy(&verbs->cond);
	free(queue->completions);
	free(queue);
	return 0;
}

static struct preload_completion *at(struct preload_completion_queue *queue, uint32_t place)
{
	return &queue->completions[(queue->first + place) % queue->capacity];
}

PRELOAD_CALL int ibv_resize_cq(struct ibv_cq *verbs, int capacity)
{
	struct preload_completion_queue *queue = preload_completion_queue(verbs);
	struct preload_completion *completions;

	if (capacity < 1 || capacity > PRELOAD_COMPLETIONS_MAX)
		return EINVAL;
	completions = calloc((size_t)capacity, sizeof(*completions));
	if (!completions)
		return ENOMEM;
	preload_lock();
	if (queue->count > (uint32_t)capacity) {
		preload_unlock();
		free(completions);
		return EINVAL;
	}
	for (uint32_t i = 0; i < queue->count; i++)
		completions[i] = *at(queue, i);
	free(queue->completions);
	queue->completions = completions;
	queue->first = 0;
	queue->capacity = (uint32_t)capacity;
	verbs->cqe = capacity;
	preload_unlock();
	return 0;
}

static void raise_event(struct preload_completion_queue *queue, const struct ibv_wc *wc)
{
	bool solicited = wc->status != IBV_WC_SUCCESS || (wc->opcode & IBV_WC_RECV);

	if (queue->armed == PRELOAD_NOT_ARMED ||
	    (queue->armed == PRELOAD_ARMED_SOLICITED && !solicited))
		return;
	queue->armed = PRELOAD_NOT_ARMED;
	if (queue->verbs.channel)
		preload_channel_tell(queue->verbs.channel, queue);
}

/* What does not fit is lost, and the queue with it; programs are to make it large enough. */
static void overrun(struct preload_completion_queue *queue)
{
	struct ibv_async_event event = {.element.cq = &queue->verbs,
					.event_type = IBV_EVENT_CQ_ERR};

	if (queue->overrun)
		return;
	queue->overrun = true;
	preload_complain("a completion queue of %u entries has overrun", queue->capacity);
	preload_async_raise_in((struct preload_context *)queue->verbs.context, &event);
}

void preload_completion_queue_add(struct ibv_cq *verbs, const struct preload_completion *completion)
{
	struct preload_completion_queue *queue = preload_completion_queue(verbs);

	if (queue->count == queue->capacity) {
		overrun(queue);
		return;
	}
	*at(queue, queue->count) = *completion;
	queue->count++;
	raise_event(queue, &completion->wc);
}

void preload_completion_queue_purge(struct ibv_cq *verbs,
				    const struct preload_queue_pair *queue_pair)
{
	struct preload_completion_queue *queue = preload_completion_queue(verbs);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < queue->count; i++) {
		if (at(queue, i)->queue_pair != queue_pair)
			*at(queue, kept++) = *at(queue, i);
	}
	queue->count = kept;
}

/*
 * Programs that poll without pause are not to keep the thread from what it receives; those that
 * look once more before they wait for an event are not to be held up.
 */
static void yield_when_idle(struct preload_completion_queue *queue)
{
	if (queue->empty_polls < EMPTY_POLLS)
		queue->empty_polls++;
	else
		sched_yield();
}

int preload_poll(struct ibv_cq *verbs, int most, struct ibv_wc *wc)
{
	struct preload_completion_queue *queue = preload_completion_queue(verbs);
	int polled = 0;

	if (!queue->count) {
		yield_when_idle(queue);
		return 0;
	}
	queue->empty_polls = 0;
	preload_lock();
	while (polled < most && queue->count) {
		struct preload_completion *completion = at(queue, 0);

		wc[polled++] = completion->wc;
		completion->queue_pair->sends_held -= completion->send_slots;
		queue->first = (queue->first + 1) % queue->capacity;
		queue->count--;
	}
	preload_unlock();
	return polled;
}

int preload_request_event(struct ibv_cq *verbs, int solicited_only)
{
	struct preload_completion_queue *queue = preload_completion_queue(verbs);

	preload_lock();
	if (!solicited_only)
		queue->armed = PRELOAD_ARMED;
	else if (queue->armed == PRELOAD_NOT_ARMED)
		queue->armed = PRELOAD_ARMED_SOLICITED;
	preload_unlock();
	return 0;
}
