/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A descriptor in the transport's epoll set, part of whatever it belongs to. */
#ifndef ACMITE_VERBS_WATCH_H
#define ACMITE_VERBS_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct verbs_watch {
	void (*ready)(struct verbs_watch *watch);
	uint32_t events; /* why it is called */
};

/* Level-triggered; makes the descriptor non-blocking. 0 or negative errno. */
int verbs_watch_add(struct verbs_watch *watch, int epoll, int fd,
		    void (*ready)(struct verbs_watch *watch));
/*
 * Whether reading, which failed with this positive errno, will never do any good. Also one that
 * says that there is nothing to read is at its end when epoll says so: it would be asked for ever.
 */
bool verbs_watch_has_ended(const struct verbs_watch *watch, int error);
/* Before the descriptor is closed. */
void verbs_watch_remove(int epoll, int fd);

#endif
