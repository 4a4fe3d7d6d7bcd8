/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_SOURCE_QUEUE_H
#define ACMITE_DAEMON_SOURCE_QUEUE_H

#include <acmite/types.h>

/* Answers to an engine that asked for a source: it may not be answered from within its own hook. */
struct source_queue {
	struct source_answer *answers;
	size_t begin;
	size_t end;
	size_t size;
};

/* `address` NULL: there is none. Without memory the question is lost, and its time runs out. */
void source_queue_put(struct source_queue *queue, uint64_t cookie,
		      const struct acm_address *address);
/* False: empty. An address of type none stands for none. */
bool source_queue_take(struct source_queue *queue, uint64_t *cookie, struct acm_address *address);
size_t source_queue_length(const struct source_queue *queue);
/* Frees the memory. */
void source_queue_clear(struct source_queue *queue);

#endif
