/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Async events of opened devices. */
#ifndef PRELOAD_ASYNC_EVENTS_H
#define PRELOAD_ASYNC_EVENTS_H

#include <infiniband/verbs.h>
#include "attachment.h"
#include "inbox.h"

struct preload_async_event {
	struct preload_item item;
	struct ibv_async_event event;
};

/* To all opened devices; `port` from 1 for events of ports, 0 for those of the device. */
void preload_async_raise(struct preload_attachment *attachment, enum ibv_event_type type, int port);
/* To one. */
void preload_async_raise_in(struct preload_context *context, const struct ibv_async_event *event);
/* Whoever comes when all are read gets `error`, a positive errno. */
void preload_async_end_all(struct preload_attachment *attachment, int error);
/* Frees what waits, or what of it is about a completion queue. */
void preload_async_drop_all(struct preload_context *context);
void preload_async_drop_about(struct preload_context *context, const struct ibv_cq *queue);

#endif
