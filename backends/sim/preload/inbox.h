/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What waits for a program to fetch it, with a descriptor that is readable while something does:
 * async events, completion events, received MADs. All functions want the library's lock.
 */
#ifndef PRELOAD_INBOX_H
#define PRELOAD_INBOX_H

#include <stdbool.h>

/* The first member of whatever waits. */
struct preload_item {
	struct preload_item *next;
};

struct preload_inbox {
	int fd;
	int ended;  /* 0, or the errno of those who come when nothing waits any more */
	bool woken; /* readable for once, though nothing waits */
	struct preload_item *first;
	struct preload_item **last;
};

/* 0 or negative errno. */
int preload_inbox_init(struct preload_inbox *inbox);
/* Closes the descriptor. What waits is the caller's. */
void preload_inbox_close(struct preload_inbox *inbox);

/* Becomes the inbox's until it is taken or dropped. */
void preload_inbox_put(struct preload_inbox *inbox, struct preload_item *item);
/* Takes back one that waits; one that does not is ignored. */
void preload_inbox_drop(struct preload_inbox *inbox, struct preload_item *item);
/*
 * The oldest; gives up the lock while it waits. `timeout_ms` as in poll(), 0: does not wait. NULL
 * with errno: EAGAIN, ETIMEDOUT, EINTR, or why nothing comes any more.
 */
struct preload_item *preload_inbox_take(struct preload_inbox *inbox, int timeout_ms);

/* How long its takers wait: -1, or 0 when the program made the descriptor non-blocking. */
int preload_inbox_patience(const struct preload_inbox *inbox);

/* From now on whoever finds it empty gets `error`, a positive errno. */
void preload_inbox_end(struct preload_inbox *inbox, int error);
/* Wakes whoever waits for the descriptor, to find that it has ended. */
void preload_inbox_wake(struct preload_inbox *inbox);

#endif
