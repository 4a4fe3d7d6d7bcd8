/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_ACCEPTOR_H
#define ACMITE_DAEMON_ACCEPTOR_H

#include "log.h"

struct event_base;

/* Takes connections from listening sockets, and leaves them there when there is no room for more.
 */
struct acceptor;

struct acceptor_hooks {
	/* Whether another connection can be held. */
	bool (*has_room)(void *context);
	/* A connected non-blocking socket; on an error it is closed. */
	int (*take)(void *context, int fd);
	void *context;
};

/* `fds`, non-blocking, stay the caller's; `log` may be NULL. 0 or -ENOMEM. */
int acceptor_create(struct event_base *base, const int *fds, size_t count,
		    const struct acceptor_hooks *hooks, struct log *log,
		    struct acceptor **acceptor);
void acceptor_destroy(struct acceptor *acceptor);
/* There may be room again. */
void acceptor_resume(struct acceptor *acceptor);

#endif
