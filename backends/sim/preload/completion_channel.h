/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Channels by which completion queues wake programs. All functions want the lock. */
#ifndef PRELOAD_COMPLETION_CHANNEL_H
#define PRELOAD_COMPLETION_CHANNEL_H

#include <infiniband/verbs.h>
#include "attachment.h"
#include "inbox.h"

struct preload_completion_queue;

struct preload_channel {
	struct ibv_comp_channel verbs;
	struct preload_attachment *attachment;
	struct preload_inbox events;
	struct preload_channel *next;
};

/* Tells whoever waits there of a completion queue. */
void preload_channel_tell(struct ibv_comp_channel *verbs, struct preload_completion_queue *queue);
/* Frees what waits about a queue that ends. */
void preload_channel_forget(struct ibv_comp_channel *verbs,
			    const struct preload_completion_queue *queue);
/* Whoever comes when all are read gets `error`, a positive errno. */
void preload_channels_end_all(struct preload_attachment *attachment, int error);

#endif
