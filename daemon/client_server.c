/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_server.h"
#include "acceptor.h"
#include "monotonic.h"
#include "output_queue.h"
#include "pending_requests.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define READS_AT_ONCE  8
#define DISCARD_LENGTH 4096

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
	struct pending_list pending;
	struct output_queue output;
	struct event read_event;
	uint8_t *input; /* the beginning of a message, ACM_CLIENT_REQUEST_MAX bytes; or NULL */
	size_t have;    /* of it */
	struct event write_event;
	LIST_ENTRY(client) all;
	STAILQ_ENTRY(client) later;
	LIST_ENTRY(client) watched; /* while `watched_since` is not 0 */
	uint64_t watched_since;
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
	LIST_HEAD(, client) watched;
	struct event watch_timer;
	struct pending_requests pending;
	struct client_server_stats stats;
	uint8_t input[ACM_CLIENT_REQUEST_MAX]; /* being read; what stays is copied to its client */
};

void client_server_limits_default(struct client_server_limits *limits)
{
	limits->clients = UINT32_MAX;
	limits->pending = 128;
	limits->stall_ns = 30 * ACM_NSEC_PER_SEC;
	limits->linger_ns = 2 * ACM_NSEC_PER_SEC;
}

/* ---- the life of a client ---- */

static void defer(struct client *client)
{
	struct client_server *server = client->server;

	if (client->deferred)
		return;
	client->deferred = true;
	if (STAILQ_EMPTY(&server->deferred))
		event_active(&server->deferred_event, EV_TIMEOUT, 0);
	STAILQ_INSERT_TAIL(&server->deferred, client, later);
}

static void watch(struct client *client)
{
	struct client_server *server = client->server;
	uint64_t least = server->limits.stall_ns < server->limits.linger_ns
				 ? server->limits.stall_ns
				 : server->limits.linger_ns;
	uint64_t period = least / 4 + ACM_NSEC_PER_MSEC;
	struct timeval wait = {.tv_sec = (time_t)(period / ACM_NSEC_PER_SEC),
			       .tv_usec = (suseconds_t)(period % ACM_NSEC_PER_SEC / 1000)};

	if (!client->watched_since) {
		if (LIST_EMPTY(&server->watched))
			event_add(&server->watch_timer, &wait);
		LIST_INSERT_HEAD(&server->watched, client, watched);
	}
	client->watched_since = monotonic_now();
}

static void unwatch(struct client *client)
{
	if (!client->watched_since)
		return;
	client->watched_since = 0;
	LIST_REMOVE(client, watched);
	if (LIST_EMPTY(&client->server->watched))
		event_del(&client->server->watch_timer);
}

/* Closes the socket at once; the rest is for the deferred handler, as hooks may be running. */
static void end(struct client *client)
{
	struct client_server *server = client->server;

	if (client->state == CLIENT_GONE)
		return;
	client->state = CLIENT_GONE;
	event_del(&client->read_event);
	event_del(&client->write_event);
	close(client->fd);
	unwatch(client);
	server->stats.clients--;
	defer(client);
}

static void release(struct client *client)
{
	LIST_REMOVE(client, all);
	output_queue_clear(&client->output);
	free(client->input);
	free(client);
}

static bool is_paused(const struct client *client)
{
	return output_queue_length(&client->output) ||
	       client->pending.count >= client->server->limits.pending;
}

static void update_reading(struct client *client)
{
	bool want = client->state == CLIENT_REFUSED ||
		    (client->state == CLIENT_OPEN && !is_paused(client));

	if (client->state == CLIENT_GONE || want == client->reading)
		return;
	client->reading = want;
	if (want)
		event_add(&client->read_event, NULL);
	else
		event_del(&client->read_event);
}

/* True for a client that has nothing to wait for any more. */
static bool is_over(const struct client *client)
{
	return client->state == CLIENT_ENDED && !client->pending.count &&
	       !output_queue_length(&client->output);
}

/* ---- answers ---- */

static void deliver(struct client *client, const uint8_t *data, size_t length)
{
	ssize_t sent = 0;

	/* One call for one answer: clients in the field read with one recv(). */
	if (!output_queue_length(&client->output)) {
		sent = send(client->fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent == (ssize_t)length)
			return;
		if (sent < 0 && errno != EAGAIN && errno != EINTR) {
			end(client);
			return;
		}
		sent = sent < 0 ? 0 : sent;
	}
	if (output_queue_append(&client->output, data + sent, length - (size_t)sent)) {
		end(client);
		return;
	}
	if (!client->writing) {
		client->writing = true;
		event_add(&client->write_event, NULL);
		watch(client);
	}
}

static void deliver_reply(struct client *client, const struct acm_reply *reply)
{
	uint8_t on_stack[ACM_CLIENT_REPLY_MAX];
	size_t size = acm_client_reply_length(reply);
	uint8_t *data = size <= sizeof(on_stack) ? on_stack : malloc(size);
	int length;

	if (!data) {
		end(client);
		return;
	}
	length = acm_client_encode_reply(reply, data, size);
	assert(length > 0);
	deliver(client, data, (size_t)length);
	if (data != on_stack)
		free(data);
}

static void deliver_status(struct client *client, const struct acm_request *request,
			   enum acm_status status)
{
	struct acm_reply reply = {.tid = request->tid,
				  .opcode = request->opcode,
				  .kind = request->kind,
				  .status = status};

	deliver_reply(client, &reply);
}

void client_server_reply(struct client_server *server, const struct acm_reply *reply)
{
	struct client *client = pending_requests_owner(&server->pending, reply->id);

	if (!client)
		return;
	pending_requests_remove(&server->pending, reply->id, &client->pending);
	if (client->state == CLIENT_GONE || client->state == CLIENT_REFUSED)
		return;
	deliver_reply(client, reply);
	if (!client->reading)
		defer(client);
}

bool client_server_waits(const struct client_server *server, uint64_t id)
{
	return pending_requests_owner(&server->pending, id);
}

/* ---- requests ---- */

static void submit(struct client *client, struct acm_request *request)
{
	struct client_server *server = client->server;

	request->id = pending_requests_add(&server->pending, client, &client->pending);
	if (!request->id) {
		deliver_status(client, request, ACM_STATUS_NO_MEMORY);
		return;
	}
	server->hooks.request(server->hooks.context, request);
}

/*
 * The stream is lost. The answer has to arrive: closing a socket with unread input would reset the
 * connection, so its sending side is shut and the rest of the input is read away for a while.
 */
static void refuse(struct client *client, const uint8_t *frame, size_t length)
{
	struct acm_request request;

	acm_client_decode_request(frame, length, &request);
	request.kind = ACM_REQUEST_MALFORMED;
	client->server->stats.refused++;
	deliver_status(client, &request, ACM_STATUS_INVALID);
	if (client->state == CLIENT_GONE)
		return;
	client->state = CLIENT_REFUSED;
	if (!output_queue_length(&client->output))
		shutdown(client->fd, SHUT_WR);
	watch(client);
	defer(client);
}

/* Returns how many bytes were whole requests. */
static size_t take_frames(struct client *client, const uint8_t *data, size_t length)
{
	size_t at = 0;

	while (client->state == CLIENT_OPEN && !is_paused(client)) {
		int frame = acm_client_frame(data + at, length - at);
		struct acm_request request;

		if (frame < 0) {
			refuse(client, data + at, length - at);
			break;
		}
		if (!frame || length - at < (size_t)frame)
			break;
		acm_client_decode_request(data + at, (size_t)frame, &request);
		at += (size_t)frame;
		submit(client, &request);
	}
	return at;
}

/* `data` may be in the client's own buffer. */
static void keep_rest(struct client *client, const uint8_t *data, size_t length)
{
	client->have = length;
	if (!length) {
		free(client->input);
		client->input = NULL;
		return;
	}
	if (!client->input)
		client->input = malloc(ACM_CLIENT_REQUEST_MAX);
	if (client->input)
		memmove(client->input, data, length);
	else
		end(client);
}

static void take_input(struct client *client, const uint8_t *data, size_t length)
{
	size_t taken = take_frames(client, data, length);

	if (client->state != CLIENT_OPEN)
		return;
	keep_rest(client, data + taken, length - taken);
	update_reading(client);
}

static void input_ended(struct client *client)
{
	struct pollfd other_side = {.fd = client->fd};

	client->state = client->state == CLIENT_OPEN ? CLIENT_ENDED : client->state;
	/* POLLHUP: it reads no more either (a Unix socket tells; of TCP only the next send does).
	 */
	if (client->state == CLIENT_REFUSED || is_over(client) ||
	    (poll(&other_side, 1, 0) == 1 && other_side.revents & (POLLHUP | POLLERR)))
		end(client);
	else
		update_reading(client);
}

static void discard(struct client *client)
{
	uint8_t rest[DISCARD_LENGTH];
	ssize_t length = recv(client->fd, rest, sizeof(rest), MSG_DONTWAIT);

	if (!length || (length < 0 && errno != EAGAIN && errno != EINTR))
		end(client);
}

static void read_ready(evutil_socket_t fd, short what, void *argument)
{
	struct client *client = argument;

	(void)what;
	if (client->state == CLIENT_REFUSED) {
		discard(client);
		return;
	}
	/* A short read emptied the socket: no second call to hear that. */
	for (int reads = 0; reads < READS_AT_ONCE; reads++) {
		uint8_t *into = client->input ? client->input : client->server->input;
		size_t room = ACM_CLIENT_REQUEST_MAX - client->have;
		ssize_t length = recv(fd, into + client->have, room, MSG_DONTWAIT);

		if (length < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (length < 0) {
			end(client);
			return;
		}
		if (!length) {
			input_ended(client);
			return;
		}
		take_input(client, into, client->have + (size_t)length);
		if (client->state != CLIENT_OPEN || !client->reading || (size_t)length < room)
			return;
	}
}

static void write_ready(evutil_socket_t fd, short what, void *argument)
{
	struct client *client = argument;
	ptrdiff_t sent = output_queue_send(&client->output, fd);

	(void)what;
	if (sent < 0) {
		end(client);
		return;
	}
	if (output_queue_length(&client->output)) {
		if (sent && client->state != CLIENT_REFUSED)
			watch(client);
		return;
	}
	client->writing = false;
	event_del(&client->write_event);
	if (client->state == CLIENT_REFUSED) {
		shutdown(fd, SHUT_WR);
		return;
	}
	unwatch(client);
	defer(client);
}

/* ---- deferred work and time ---- */

static void cancel_pending(struct client *client)
{
	struct client_server *server = client->server;
	uint64_t id;

	while ((id = pending_requests_any(&server->pending, &client->pending))) {
		pending_requests_remove(&server->pending, id, &client->pending);
		server->hooks.cancel(server->hooks.context, id);
	}
}

static void attend(struct client *client)
{
	if (client->state == CLIENT_REFUSED || client->state == CLIENT_GONE)
		cancel_pending(client);
	if (is_over(client)) {
		end(client);
		return;
	}
	if (client->state == CLIENT_OPEN && client->input)
		take_input(client, client->input, client->have);
	else
		update_reading(client);
}

static void run_deferred(evutil_socket_t fd, short what, void *argument)
{
	struct client_server *server = argument;
	struct client *client;

	(void)fd;
	(void)what;
	while ((client = STAILQ_FIRST(&server->deferred))) {
		STAILQ_REMOVE_HEAD(&server->deferred, later);
		client->deferred = false;
		attend(client);
		if (client->state == CLIENT_GONE && !client->deferred)
			release(client);
	}
	if (server->acceptor)
		acceptor_resume(server->acceptor);
}

static void check_watched(evutil_socket_t fd, short what, void *argument)
{
	struct client_server *server = argument;
	struct client *client = LIST_FIRST(&server->watched);
	uint64_t now = monotonic_now();

	(void)fd;
	(void)what;
	while (client) {
		struct client *next = LIST_NEXT(client, watched);
		bool refused = client->state == CLIENT_REFUSED;
		uint64_t limit = refused ? server->limits.linger_ns : server->limits.stall_ns;

		if (now - client->watched_since >= limit) {
			server->stats.stalled += !refused;
			end(client);
		}
		client = next;
	}
}

/* ---- accepting ---- */

int client_server_adopt(struct client_server *server, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->server = server;
	client->fd = fd;
	if (event_assign(&client->read_event, server->base, fd, EV_READ | EV_PERSIST, read_ready,
			 client) ||
	    event_assign(&client->write_event, server->base, fd, EV_WRITE | EV_PERSIST, write_ready,
			 client) ||
	    event_add(&client->read_event, NULL)) {
		free(client);
		return -ENOMEM;
	}
	client->reading = true;
	LIST_INSERT_HEAD(&server->clients, client, all);
	server->stats.clients++;
	server->stats.accepted++;
	return 0;
}

static bool has_room(void *context)
{
	const struct client_server *server = context;

	return server->stats.clients < server->limits.clients;
}

static int take(void *context, int fd)
{
	return client_server_adopt(context, fd);
}

int client_server_listen(struct client_server *server, const int *fds, size_t count)
{
	struct acceptor_hooks hooks = {.has_room = has_room, .take = take, .context = server};

	assert(!server->acceptor);
	return acceptor_create(server->base, fds, count, &hooks, server->log, &server->acceptor);
}

/* ---- the server ---- */

int client_server_create(struct event_base *base, const struct client_server_hooks *hooks,
			 const struct client_server_limits *limits, struct log *log,
			 struct client_server **server)
{
	struct client_server *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->base = base;
	made->hooks = *hooks;
	made->limits = *limits;
	made->log = log;
	LIST_INIT(&made->clients);
	LIST_INIT(&made->watched);
	STAILQ_INIT(&made->deferred);
	pending_requests_init(&made->pending);
	if (event_assign(&made->deferred_event, base, -1, 0, run_deferred, made) ||
	    event_assign(&made->watch_timer, base, -1, EV_PERSIST, check_watched, made)) {
		free(made);
		return -ENOMEM;
	}
	*server = made;
	return 0;
}

void client_server_destroy(struct client_server *server)
{
	struct client *client;

	if (!server)
		return;
	acceptor_destroy(server->acceptor);
	while ((client = LIST_FIRST(&server->clients))) {
		if (client->state != CLIENT_GONE) {
			event_del(&client->read_event);
			event_del(&client->write_event);
			close(client->fd);
		}
		release(client);
	}
	event_del(&server->deferred_event);
	event_del(&server->watch_timer);
	pending_requests_destroy(&server->pending);
	free(server);
}

void client_server_stats(const struct client_server *server, struct client_server_stats *stats)
{
	*stats = server->stats;
	stats->pending = server->pending.count;
}
