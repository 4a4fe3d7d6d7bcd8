/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "completion_channel.h"

#include <errno.h>
#include <stdlib.h>
#include "call.h"
#include "completion_queue.h"
#include "device.h"

struct completion_event {
	struct preload_item item;
	struct preload_completion_queue *queue;
};

/* ---- making ---- */

static int open_channel(struct preload_channel *channel, struct ibv_context *verbs)
{
	struct preload_attachment *attachment = ((struct preload_context *)verbs)->attachment;
	int error = attachment->lost ? -ENODEV : preload_inbox_init(&channel->events);

	if (error)
		return error;
	channel->verbs.context = verbs;
	channel->verbs.fd = channel->events.fd;
	channel->attachment = attachment;
	channel->next = attachment->channels;
	attachment->channels = channel;
	return 0;
}

PRELOAD_CALL struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *verbs)
{
	struct preload_channel *channel = calloc(1, sizeof(*channel));
	int error;

	if (!channel)
		return NULL;
	preload_lock();
	error = open_channel(channel, verbs);
	preload_unlock();
	if (!error)
		return &channel->verbs;
	free(channel);
	errno = -error;
	return NULL;
}

static void close_channel(struct preload_channel *channel)
{
	struct preload_channel **link = &channel->attachment->channels;

	while (*link != channel)
		link = &(*link)->next;
	*link = channel->next;
	preload_inbox_close(&channel->events);
}

PRELOAD_CALL int ibv_destroy_comp_channel(struct ibv_comp_channel *verbs)
{
	struct preload_channel *channel = (struct preload_channel *)verbs;
	bool busy;

	preload_lock();
	busy = verbs->refcnt > 0;
	if (!busy)
		close_channel(channel);
	preload_unlock();
	if (busy)
		return EBUSY;
	free(channel);
	return 0;
}

/* ---- events ---- */

void preload_channel_tell(struct ibv_comp_channel *verbs, struct preload_completion_queue *queue)
{
	struct completion_event *event = calloc(1, sizeof(*event));

	if (!event) {
		preload_complain("out of memory: a completion event is lost");
		return;
	}
	event->queue = queue;
	preload_inbox_put(&((struct preload_channel *)verbs)->events, &event->item);
}

void preload_channel_forget(struct ibv_comp_channel *verbs,
			    const struct preload_completion_queue *queue)
{
	struct preload_inbox *events = &((struct preload_channel *)verbs)->events;
	struct preload_item *next;

	for (struct preload_item *item = events->first; item; item = next) {
		next = item->next;
		if (((struct completion_event *)item)->queue != queue)
			continue;
		preload_inbox_drop(events, item);
		free(item);
	}
}

void preload_channels_end_all(struct preload_attachment *attachment, int error)
{
	for (struct preload_channel *at = attachment->channels; at; at = at->next)
		preload_inbox_end(&at->events, error);
}

PRELOAD_CALL int ibv_get_cq_event(struct ibv_comp_channel *verbs, struct ibv_cq **cq,
				  void **context)
{
	struct preload_channel *channel = (struct preload_channel *)verbs;
	struct completion_event *event;

	preload_lock();
	event = (struct completion_event *)preload_inbox_wait(&channel->events);
	if (event) {
		event->queue->events_taken++;
		*cq = &event->queue->verbs;
		*context = event->queue->verbs.cq_context;
	}
	preload_unlock();
	if (!event)
		return -1;
	free(event);
	return 0;
}

PRELOAD_CALL void ibv_ack_cq_events(struct ibv_cq *verbs, unsigned int count)
{
	preload_lock();
	preload_completion_queue(verbs)->events_acknowledged += count;
	preload_changed();
	preload_unlock();
}
