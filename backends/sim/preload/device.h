/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The node's one device, and its opened contexts. */
#ifndef PRELOAD_DEVICE_H
#define PRELOAD_DEVICE_H

#include <infiniband/verbs.h>
#include "attachment.h"
#include "inbox.h"

#define PRELOAD_SGE_MAX 16

/* What ibv_open_device() returns: libibverbs' part comes first. */
struct preload_context {
	struct ibv_context verbs;
	struct preload_attachment *attachment;
	struct preload_inbox async;
	struct preload_context *next;
};

/* Fills in what programs see, from what the server has said. */
void preload_device_init(struct preload_attachment *attachment);

#endif
