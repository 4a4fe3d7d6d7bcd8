/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_CLIENT_H
#define ACMITE_DAEMON_CLIENT_H

#include <event2/event_struct.h>
#include <sys/queue.h>
#include <sys/types.h>
#include "acceptor.h"
#include "client_server.h"
#include "output_queue.h"
#include "pending_requests.h"

/* One client of a client server: its life, and how answers leave. The server's own parts. */

/*
 * So many clients are read from, then answered, at a time. More do not pay: while the first waits
 * for the last, it cannot ask again.
 */
#define CLIENT_BATCH 16

enum client_state {
	CLIENT_OPEN,
	CLIENT_ENDED,   /* will send no more; what it asked for is still answered */
	CLIENT_REFUSED, /* has sent what cannot be framed: it may read why, then it is closed */
	CLIENT_GONE,    /* its socket is closed; freed when nobody uses it any more */
};

struct client {
	/* What an answer from the cache touches comes first, in one cache line. */
	struct client_server *server;
	int fd;
	enum client_state state;
	bool reading;
	bool writing;
	bool deferred;
	bool ready;
	struct pending_list pending;
	struct output_queue output;
	struct event read_event;
	uint8_t *input; /* the beginning of a message, ACM_CLIENT_REQUEST_MAX bytes; or NULL */
	size_t have;    /* of it */
	struct event write_event;
	LIST_ENTRY(client) all;
	STAILQ_ENTRY(client) later;
	TAILQ_ENTRY(client) next_ready;
	LIST_ENTRY(client) watched; /* while `watched_since` is not 0 */
	uint64_t watched_since;
};

/* What one client sent, read but not yet looked at. */
struct arrival {
	struct client *client;
	uint8_t *data;  /* in `bytes`, or in the client's own buffer behind what it has */
	ssize_t length; /* as recv() */
	int error;
	uint8_t bytes[ACM_CLIENT_REQUEST_MAX];
};

/* An answer that leaves with the others of its batch. */
struct departure {
	struct client *client;
	size_t length;
	uint8_t bytes[ACM_CLIENT_REPLY_MAX];
};

struct client_server {
	struct event_base *base;
	struct client_server_hooks hooks;
	struct client_server_limits limits;
	struct log *log;
	struct acceptor *acceptor; /* NULL: does not listen */
	LIST_HEAD(, client) clients;
	/* Clients to be looked at outside of any hook: gone ones are freed, paused ones resumed. */
	STAILQ_HEAD(, client) deferred;
	struct event deferred_event;
	/*
	 * Clients with input. All are read, then all requests are handled, then all answers sent:
	 * the code of each of the three stays in the processor's caches meanwhile.
	 */
	TAILQ_HEAD(, client) ready;
	struct event batch_event;
	bool batching;
	size_t departure_count;
	struct arrival arrivals[CLIENT_BATCH];
	struct departure departures[CLIENT_BATCH];
	LIST_HEAD(, client) watched;
	struct event watch_timer;
	struct pending_requests pending;
	struct client_server_stats stats;
};

/* Looks at the client again outside of any hook. */
void client_defer(struct client *client);
/* It has to do something by now; the server closes it when it does not for too long. */
void client_watch(struct client *client);
void client_unwatch(struct client *client);
/* Its input is not waited for in the next batch. */
void client_not_ready(struct client *client);
/* Closes the socket at once; the rest is for the deferred handler, as hooks may be running. */
void client_end(struct client *client);
/* Frees it. */
void client_release(struct client *client);
/* It has as much under way as it may have. */
bool client_is_paused(const struct client *client);
/* Reads from it, or not, as its state wants. */
void client_update_reading(struct client *client);
/* True for a client that has nothing to wait for any more. */
bool client_is_over(const struct client *client);

/* Sends an answer: at once, or with the batch that is being handled. */
void client_answer(struct client *client, const struct acm_reply *reply);
void client_answer_status(struct client *client, const struct acm_request *request,
			  enum acm_status status);
/* Sends the batch's answers so far. Clients may end by it. */
void clients_depart(struct client_server *server);

#endif
