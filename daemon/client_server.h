/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_CLIENT_SERVER_H
#define ACMITE_DAEMON_CLIENT_SERVER_H

#include <acmite/wire.h>
#include "log.h"

struct event_base;

/*
 * Clients on stream sockets: frames requests, hands them on, and returns the answers. One client's
 * behaviour touches no other: who does not read is not read from, and closed when it stays so.
 */
struct client_server;

struct client_server_hooks {
	/* A request; its id is this server's. Answered by client_server_reply(), at once or later.
	 */
	void (*request)(void *context, const struct acm_request *request);
	/* The client of this request is gone: no answer is wanted. */
	void (*cancel)(void *context, uint64_t id);
	/*
	 * Before and after the requests and cancellations of one moment: none comes outside. Each
	 * may be NULL.
	 */
	void (*arrived)(void *context);
	void (*handled)(void *context);
	void *context;
};

struct client_server_limits {
	uint32_t clients;   /* more wait to be accepted */
	uint32_t pending;   /* requests of one client; more are not read */
	uint64_t stall_ns;  /* a client that takes none of its answers for so long is closed */
	uint64_t linger_ns; /* a client that was refused has so long to read why */
};
void client_server_limits_default(struct client_server_limits *limits);

struct client_server_stats {
	uint32_t clients;
	uint32_t pending;
	uint64_t accepted;
	uint64_t refused; /* clients closed for what they sent */
	uint64_t stalled; /* clients closed for what they did not read */
};

/* `base`, `log` (may be NULL) must outlive it. 0 or -ENOMEM. */
int client_server_create(struct event_base *base, const struct client_server_hooks *hooks,
			 const struct client_server_limits *limits, struct log *log,
			 struct client_server **server);
/* Closes all clients; nothing is cancelled. */
void client_server_destroy(struct client_server *server);

/* Accepts from listening sockets, non-blocking ones, that stay the caller's. 0 or -ENOMEM. Once. */
int client_server_listen(struct client_server *server, const int *fds, size_t count);
/* Takes over a connected non-blocking stream socket. 0, or -ENOMEM: it is still the caller's. */
int client_server_adopt(struct client_server *server, int fd);

/* Sends an answer to whoever asked. An id that nobody waits for any more is ignored. */
void client_server_reply(struct client_server *server, const struct acm_reply *reply);
/* Whether somebody waits for the answer to this id. */
bool client_server_waits(const struct client_server *server, uint64_t id);
void client_server_stats(const struct client_server *server, struct client_server_stats *stats);

#endif
