/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What waits for a program to fetch it, with a descriptor that is readable while something does:
 * async events, completion events, received MADs. All functions want the library's lock.
 */
#ifndef PRELOAD_INBOX_H
#define PRELOAD_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The first member of whatever waits. */
struct preload_item {
	struct preload_item *next;
};

struct preload_inbox {
	int fd;                   /* counts the items, and one more when ended */
	int ended;                /* 0, or the errno of those who find nothing any more */
	_Atomic uint32_t changes; /* a futex: those who wait without polling wait for the next */
	uint32_t sleepers;        /* who do so */
	struct preload_item *first;
	struct preload_item **last;
	struct preload_inbox *next; /* of all */
};

/* 0 or negative errno. The inbox stays where it is until it is closed. */
int preload_inbox_init(struct preload_inbox *inbox);
/* Closes the descriptor of an inbox in which nothing waits. */
void preload_inbox_close(struct preload_inbox *inbox);

/* Becomes the inbox's until it is taken or dropped. */
void preload_inbox_put(struct preload_inbox *inbox, struct preload_item *item);
/* Takes back one that waits; one that does not is ignored. */
void preload_inbox_drop(struct preload_inbox *inbox, struct preload_item *item);
/* The oldest; NULL with errno: EAGAIN, or why nothing comes any more. */
struct preload_item *preload_inbox_take(struct preload_inbox *inbox);
/*
 * As read() of a descriptor of the kernel's: gives up the lock and waits for one, unless the
 * program has made the descriptor non-blocking. NULL with errno as above, or EINTR: a signal came
 * whose handler does not want calls restarted.
 */
struct preload_item *preload_inbox_wait(struct preload_inbox *inbox);

/*
 * From now on whoever finds it empty gets `error`, a positive errno; whoever waits is woken, and
 * the descriptor stays readable, as those of a device that was unplugged.
 */
void preload_inbox_end(struct preload_inbox *inbox, int error);

/* In a child: all have descriptors of their own under the same numbers, as the others are its
 * parent's. */
void preload_inboxes_leave_to_parent(void);

#endif
