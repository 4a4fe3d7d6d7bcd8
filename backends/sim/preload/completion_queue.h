/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues. */
#ifndef PRELOAD_COMPLETION_QUEUE_H
#define PRELOAD_COMPLETION_QUEUE_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PRELOAD_COMPLETIONS_MAX (1 << 22)

struct preload_queue_pair;

struct preload_completion {
	struct ibv_wc wc;
	struct preload_queue_pair *queue_pair;
	uint32_t send_slots; /* that its queue pair gets back when a program has seen it */
};

enum preload_armed {
	PRELOAD_NOT_ARMED,
	PRELOAD_ARMED_SOLICITED, /* for receives and errors */
	PRELOAD_ARMED,
};

struct preload_completion_queue {
	struct ibv_cq verbs;
	enum preload_armed armed;
	uint32_t events_taken;
	uint32_t events_acknowledged;
	uint32_t async_taken;
	uint32_t async_acknowledged;
	uint32_t users; /* queue pairs, twice where one sends and receives by it */
	bool overrun;
	uint32_t capacity;
	uint32_t first;
	_Atomic uint32_t count;                 /* read without the lock too */
	_Atomic uint32_t empty_polls;           /* since something was there; up to a bound */
	struct preload_completion *completions; /* a ring */
};

/* The queue that a program knows by `verbs`. */
struct preload_completion_queue *preload_completion_queue(struct ibv_cq *verbs);
/* Adds one; an event follows when the queue is armed for it. The lock is held. */
void preload_completion_queue_add(struct ibv_cq *verbs,
				  const struct preload_completion *completion);
/* Removes what is about a queue pair. The lock is held. */
void preload_completion_queue_purge(struct ibv_cq *verbs,
				    const struct preload_queue_pair *queue_pair);

/* In struct ibv_context_ops. */
int preload_poll(struct ibv_cq *verbs, int most, struct ibv_wc *wc);
int preload_request_event(struct ibv_cq *verbs, int solicited_only);

#endif
