/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "async_events.h"

#include <errno.h>
#include <stdlib.h>
#include "call.h"
#include "completion_queue.h"
#include "device.h"

void preload_async_raise_in(struct preload_context *context, const struct ibv_async_event *event)
{
	struct preload_async_event *made = calloc(1, sizeof(*made));

	if (!made) {
		preload_complain("out of memory: an async event is lost");
		return;
	}
	made->event = *event;
	preload_inbox_put(&context->async, &made->item);
}

void preload_async_raise(struct preload_attachment *attachment, enum ibv_event_type type, int port)
{
	struct ibv_async_event event = {.element.port_num = port, .event_type = type};

	for (struct preload_context *at = attachment->contexts; at; at = at->next)
		preload_async_raise_in(at, &event);
}

void preload_async_end_all(struct preload_attachment *attachment, int error)
{
	for (struct preload_context *at = attachment->contexts; at; at = at->next)
		preload_inbox_end(&at->async, error);
}

static void drop(struct preload_context *context, struct preload_item *item)
{
	preload_inbox_drop(&context->async, item);
	free(item);
}

void preload_async_drop_all(struct preload_context *context)
{
	while (context->async.first)
		drop(context, context->async.first);
}

void preload_async_drop_about(struct preload_context *context, const struct ibv_cq *queue)
{
	struct preload_item *next;

	for (struct preload_item *item = context->async.first; item; item = next) {
		const struct preload_async_event *event = (struct preload_async_event *)item;

		next = item->next;
		if (event->event.event_type == IBV_EVENT_CQ_ERR && event->event.element.cq == queue)
			drop(context, item);
	}
}

PRELOAD_CALL int ibv_get_async_event(struct ibv_context *verbs, struct ibv_async_event *event)
{
	struct preload_context *context = (struct preload_context *)verbs;
	struct preload_async_event *taken;

	preload_lock();
	taken = (struct preload_async_event *)preload_inbox_wait(&context->async);
	if (taken && taken->event.event_type == IBV_EVENT_CQ_ERR)
		preload_completion_queue(taken->event.element.cq)->async_taken++;
	preload_unlock();
	if (!taken)
		return -1;
	*event = taken->event;
	free(taken);
	return 0;
}

/* Only completion queues have events here, and wait for this before they end. */
PRELOAD_CALL void ibv_ack_async_event(struct ibv_async_event *event)
{
	if (event->event_type != IBV_EVENT_CQ_ERR)
		return;
	preload_lock();
	preload_completion_queue(event->element.cq)->async_acknowledged++;
	preload_changed();
	preload_unlock();
}
