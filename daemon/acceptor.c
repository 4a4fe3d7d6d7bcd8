/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "acceptor.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_AT_ONCE 64

struct acceptor {
	struct acceptor_hooks hooks;
	struct log *log;
	struct log_limit limit;
	bool accepting;
	struct event again;
	size_t count;
	struct event listening[];
};

static const struct timeval pause_length = {.tv_sec = 1};

/* Those that wait stay in the sockets' queues; trying again at once would only spin. */
static void stop(struct acceptor *acceptor, const char *why)
{
	log_line_limited(acceptor->log, LOG_BASIC, &acceptor->limit, "new clients have to wait: %s",
			 why);
	acceptor->accepting = false;
	for (size_t i = 0; i < acceptor->count; i++)
		event_del(&acceptor->listening[i]);
	event_add(&acceptor->again, &pause_length);
}

static void accept_ready(evutil_socket_t listening, short what, void *argument)
{
	struct acceptor *acceptor = argument;

	(void)what;
	for (int accepts = 0; accepts < ACCEPTS_AT_ONCE; accepts++) {
		int fd;

		if (!acceptor->hooks.has_room(acceptor->hooks.context)) {
			stop(acceptor, "there are as many as the limit of open files allows");
			return;
		}
		fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && errno == EAGAIN)
			return;
		if (fd < 0 &&
		    (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
			stop(acceptor, strerror(errno));
			return;
		}
		/* Other errors are of a connection that was given up before it was accepted. */
		if (fd >= 0 && acceptor->hooks.take(acceptor->hooks.context, fd))
			close(fd);
	}
}

static void accept_again(evutil_socket_t fd, short what, void *argument)
{
	(void)fd;
	(void)what;
	acceptor_resume(argument);
}

void acceptor_resume(struct acceptor *acceptor)
{
	if (acceptor->accepting)
		return;
	if (!acceptor->hooks.has_room(acceptor->hooks.context)) {
		event_add(&acceptor->again, &pause_length);
		return;
	}
	event_del(&acceptor->again);
	for (size_t i = 0; i < acceptor->count; i++)
		event_add(&acceptor->listening[i], NULL);
	acceptor->accepting = true;
}

int acceptor_create(struct event_base *base, const int *fds, size_t count,
		    const struct acceptor_hooks *hooks, struct log *log, struct acceptor **acceptor)
{
	struct acceptor *made = calloc(1, sizeof(*made) + count * sizeof(made->listening[0]));

	if (!made)
		return -ENOMEM;
	made->hooks = *hooks;
	made->log = log;
	made->limit.window_ns = 60 * ACM_NSEC_PER_SEC;
	made->limit.burst = 1;
	evtimer_assign(&made->again, base, accept_again, made);
	for (; made->count < count; made->count++) {
		struct event *event = &made->listening[made->count];

		if (event_assign(event, base, fds[made->count], EV_READ | EV_PERSIST, accept_ready,
				 made) ||
		    event_add(event, NULL)) {
			acceptor_destroy(made);
			return -ENOMEM;
		}
	}
	made->accepting = true;
	*acceptor = made;
	return 0;
}

void acceptor_destroy(struct acceptor *acceptor)
{
	if (!acceptor)
		return;
	event_del(&acceptor->again);
	for (size_t i = 0; i < acceptor->count; i++)
		event_del(&acceptor->listening[i]);
	free(acceptor);
}
