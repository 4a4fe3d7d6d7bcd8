/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The multicast groups that a queue pair is attached to. They stay when it is reset, as in the
 * kernel, and the server hears of them whenever it has an endpoint. All functions want the lock.
 */
#ifndef PRELOAD_QUEUE_PAIR_GROUPS_H
#define PRELOAD_QUEUE_PAIR_GROUPS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

struct preload_queue_pair;

/* Known by both: an MGID can be attached under several MLIDs. */
struct preload_group {
	union ibv_gid mgid;
	uint16_t mlid;
	bool joined; /* at the server, which wants each MGID but once */
	struct preload_group *next;
};

/* Joins them all at the endpoint, which is new. 0 or negative errno. */
int preload_groups_join(struct preload_queue_pair *queue_pair);
/* The endpoint is gone. */
void preload_groups_part(struct preload_queue_pair *queue_pair);
void preload_groups_free(struct preload_queue_pair *queue_pair);

#endif
