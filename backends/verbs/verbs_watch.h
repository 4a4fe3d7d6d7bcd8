/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A descriptor in the transport's epoll set, part of whatever it belongs to. */
#ifndef ACMITE_VERBS_WATCH_H
#define ACMITE_VERBS_WATCH_H

#include <sys/epoll.h>

struct verbs_watch {
	void (*ready)(struct verbs_watch *watch);
};

/* Level-triggered; makes the descriptor non-blocking. 0 or negative errno. */
int verbs_watch_add(struct verbs_watch *watch, int epoll, int fd,
		    void (*ready)(struct verbs_watch *watch));
/* Before the descriptor is closed. */
void verbs_watch_remove(int epoll, int fd);

#endif
