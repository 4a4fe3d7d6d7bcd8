/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_server.h"
#include "client.h"
#include "monotonic.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DISCARD_LENGTH 4096

void client_server_limits_default(struct client_server_limits *limits)
{
	limits->clients = UINT32_MAX;
	limits->pending = 128;
	limits->stall_ns = 30 * ACM_NSEC_PER_SEC;
	limits->linger_ns = 2 * ACM_NSEC_PER_SEC;
}

void client_server_reply(struct client_server *server, const struct acm_reply *reply)
{
	struct client *client = pending_requests_owner(&server->pending, reply->id);

	if (!client)
		return;
	pending_requests_remove(&server->pending, reply->id, &client->pending);
	if (client->state == CLIENT_GONE || client->state == CLIENT_REFUSED)
		return;
	client_answer(client, reply);
	if (!client->reading)
		client_defer(client);
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
		client_answer_status(client, request, ACM_STATUS_NO_MEMORY);
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
	client_answer_status(client, &request, ACM_STATUS_INVALID);
	clients_depart(client->server);
	if (client->state == CLIENT_GONE)
		return;
	client->state = CLIENT_REFUSED;
	if (!output_queue_length(&client->output))
		shutdown(client->fd, SHUT_WR);
	client_watch(client);
	client_defer(client);
}

/* Returns how many bytes were whole requests. */
static size_t take_frames(struct client *client, const uint8_t *data, size_t length)
{
	size_t at = 0;

	while (client->state == CLIENT_OPEN && !client_is_paused(client)) {
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
		client_end(client);
}

static void take_input(struct client *client, const uint8_t *data, size_t length)
{
	size_t taken = take_frames(client, data, length);

	if (client->state != CLIENT_OPEN)
		return;
	keep_rest(client, data + taken, length - taken);
	client_update_reading(client);
}

static void input_ended(struct client *client)
{
	struct pollfd other_side = {.fd = client->fd};

	clients_depart(client->server);
	if (client->state == CLIENT_GONE)
		return;
	client->state = client->state == CLIENT_OPEN ? CLIENT_ENDED : client->state;
	/* POLLHUP: it reads no more either (a Unix socket tells; of TCP only the next send does).
	 */
	if (client->state == CLIENT_REFUSED || client_is_over(client) ||
	    (poll(&other_side, 1, 0) == 1 && other_side.revents & (POLLHUP | POLLERR)))
		client_end(client);
	else
		client_update_reading(client);
}

static void discard(struct client *client)
{
	uint8_t rest[DISCARD_LENGTH];
	ssize_t length = recv(client->fd, rest, sizeof(rest), MSG_DONTWAIT);

	if (!length || (length < 0 && errno != EAGAIN && errno != EINTR))
		client_end(client);
}

static void receive(struct arrival *arrival, struct client *client)
{
	arrival->client = client;
	arrival->data = client->input ? client->input + client->have : arrival->bytes;
	arrival->length = recv(client->fd, arrival->data, ACM_CLIENT_REQUEST_MAX - client->have,
			       MSG_DONTWAIT);
	arrival->error = errno;
}

static void take_arrival(const struct arrival *arrival)
{
	struct client *client = arrival->client;

	if (client->state == CLIENT_GONE)
		return;
	if (arrival->length > 0)
		take_input(client, arrival->data - client->have,
			   client->have + (size_t)arrival->length);
	else if (!arrival->length)
		input_ended(client);
	else if (arrival->error != EAGAIN && arrival->error != EINTR)
		client_end(client);
}

static void begin_batch(struct client_server *server)
{
	server->batching = true;
	if (server->hooks.arrived)
		server->hooks.arrived(server->hooks.context);
}

static void end_batch(struct client_server *server)
{
	clients_depart(server);
	server->batching = false;
	if (server->hooks.handled)
		server->hooks.handled(server->hooks.context);
}

/* Receives from clients that are ready, up to a batch. Returns how many. */
static size_t receive_batch(struct client_server *server)
{
	struct client *client;
	size_t count = 0;

	while (count < CLIENT_BATCH && (client = TAILQ_FIRST(&server->ready))) {
		client_not_ready(client);
		if (client->state == CLIENT_REFUSED)
			discard(client);
		else if (client->reading)
			receive(&server->arrivals[count++], client);
	}
	return count;
}

static void run_batches(evutil_socket_t fd, short what, void *argument)
{
	struct client_server *server = argument;
	size_t count;

	(void)fd;
	(void)what;
	while ((count = receive_batch(server))) {
		begin_batch(server);
		for (size_t i = 0; i < count; i++)
			take_arrival(&server->arrivals[i]);
		end_batch(server);
	}
}

static void read_ready(evutil_socket_t fd, short what, void *argument)
{
	struct client *client = argument;
	struct client_server *server = client->server;

	(void)fd;
	(void)what;
	if (client->ready)
		return;
	/* Runs behind all others that are ready now. */
	if (TAILQ_EMPTY(&server->ready))
		event_active(&server->batch_event, EV_TIMEOUT, 0);
	TAILQ_INSERT_TAIL(&server->ready, client, next_ready);
	client->ready = true;
}

static void write_ready(evutil_socket_t fd, short what, void *argument)
{
	struct client *client = argument;
	ptrdiff_t sent = output_queue_send(&client->output, fd);

	(void)what;
	if (sent < 0) {
		client_end(client);
		return;
	}
	if (output_queue_length(&client->output)) {
		if (sent && client->state != CLIENT_REFUSED)
			client_watch(client);
		return;
	}
	client->writing = false;
	event_del(&client->write_event);
	if (client->state == CLIENT_REFUSED) {
		shutdown(fd, SHUT_WR);
		return;
	}
	client_unwatch(client);
	client_defer(client);
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
	if (client_is_over(client)) {
		client_end(client);
		return;
	}
	if (client->state == CLIENT_OPEN && client->input)
		take_input(client, client->input, client->have);
	else
		client_update_reading(client);
}

static void run_deferred(evutil_socket_t fd, short what, void *argument)
{
	struct client_server *server = argument;
	struct client *client;

	(void)fd;
	(void)what;
	begin_batch(server);
	while ((client = STAILQ_FIRST(&server->deferred))) {
		STAILQ_REMOVE_HEAD(&server->deferred, later);
		client->deferred = false;
		attend(client);
		clients_depart(server);
		if (client->state == CLIENT_GONE && !client->deferred)
			client_release(client);
	}
	end_batch(server);
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
			client_end(client);
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
	TAILQ_INIT(&made->ready);
	pending_requests_init(&made->pending);
	if (event_assign(&made->deferred_event, base, -1, 0, run_deferred, made) ||
	    event_assign(&made->batch_event, base, -1, 0, run_batches, made) ||
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
		client_release(client);
	}
	event_del(&server->deferred_event);
	event_del(&server->batch_event);
	event_del(&server->watch_timer);
	pending_requests_destroy(&server->pending);
	free(server);
}

void client_server_stats(const struct client_server *server, struct client_server_stats *stats)
{
	*stats = server->stats;
	stats->pending = server->pending.count;
}
