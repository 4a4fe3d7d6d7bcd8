/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "completion_queue.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "async_events.h"
#include "call.h"
#include "device.h"
#include "queue_pair.h"

/* ---- channels ---- */

PRELOAD_CALL struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *verbs)
{
	struct preload_channel *channel = calloc(1, sizeof(*channel));
	int error;

	if (!channel)
		return NULL;
	error = preload_inbox_init(&channel->events);
	if (error) {
		free(channel);
		errno = -error;
		return NULL;
	}
	channel->verbs.context = verbs;
	channel->verbs.fd = channel->events.fd;
	return &channel->verbs;
}

PRELOAD_CALL int ibv_destroy_comp_channel(struct ibv_comp_channel *verbs)
{
	struct preload_channel *channel = (struct preload_channel *)verbs;
	bool busy;

	preload_lock();
	busy = verbs->refcnt > 0;
	if (!busy)
		preload_inbox_close(&channel->events);
	preload_unlock();
	if (busy)
		return EBUSY;
	free(channel);
	return 0;
}

static struct preload_completion_queue *queue_of_event(struct preload_item *item)
{
	return (struct preload_completion_queue *)item;
}

PRELOAD_CALL int ibv_get_cq_event(struct ibv_comp_channel *verbs, struct ibv_cq **cq,
				  void **context)
{
	struct preload_channel *channel = (struct preload_channel *)verbs;
	struct preload_completion_queue *queue;

	preload_lock();
	queue = queue_of_event(
		preload_inbox_take(&channel->events, preload_inbox_patience(&channel->events)));
	if (queue) {
		queue->event_waits = false;
		queue->events_taken++;
		*cq = &queue->verbs;
		*context = queue->verbs.cq_context;
	}
	preload_unlock();
	return queue ? 0 : -1;
}

PRELOAD_CALL void ibv_ack_cq_events(struct ibv_cq *verbs, unsigned int count)
{
	preload_lock();
	preload_completion_queue(verbs)->events_acknowledged += count;
	preload_changed();
	preload_unlock();
}

/* ---- queues ---- */

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
	struct preload_channel *channel = (struct preload_channel *)queue->verbs.channel;

	if (channel) {
		preload_inbox_drop(&channel->events, &queue->event);
		channel->verbs.refcnt--;
	}
	preload_async_drop_about((struct preload_context *)queue->verbs.context, &queue->verbs);
	while (queue->events_acknowledged != queue->events_taken)
		preload_wait_for_change();
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
	struct preload_channel *channel = (struct preload_channel *)queue->verbs.channel;
	bool solicited = wc->status != IBV_WC_SUCCESS || (wc->opcode & IBV_WC_RECV);

	if (queue->armed == PRELOAD_NOT_ARMED ||
	    (queue->armed == PRELOAD_ARMED_SOLICITED && !solicited))
		return;
	queue->armed = PRELOAD_NOT_ARMED;
	/* One event that nobody has taken yet stands for all completions until then. */
	if (!channel || queue->event_waits)
		return;
	queue->event_waits = true;
	preload_inbox_put(&channel->events, &queue->event);
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

int preload_poll(struct ibv_cq *verbs, int most, struct ibv_wc *wc)
{
	struct preload_completion_queue *queue = preload_completion_queue(verbs);
	int polled = 0;

	/* Programs that poll without pause are not to keep the thread from what it receives. */
	if (!queue->count) {
		sched_yield();
		return 0;
	}
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
