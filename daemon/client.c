/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client.h"
#include "monotonic.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the life of a client ---- */

void client_defer(struct client *client)
{
	struct client_server *server = client->server;

	if (client->deferred)
		return;
	client->deferred = true;
	if (STAILQ_EMPTY(&server->deferred))
		event_active(&server->deferred_event, EV_TIMEOUT, 0);
	STAILQ_INSERT_TAIL(&server->deferred, client, later);
}

void client_watch(struct client *client)
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

void client_unwatch(struct client *client)
{
	if (!client->watched_since)
		return;
	client->watched_since = 0;
	LIST_REMOVE(client, watched);
	if (LIST_EMPTY(&client->server->watched))
		event_del(&client->server->watch_timer);
}

void client_not_ready(struct client *client)
{
	if (client->ready)
		TAILQ_REMOVE(&client->server->ready, client, next_ready);
	client->ready = false;
}

void client_end(struct client *client)
{
	struct client_server *server = client->server;

	if (client->state == CLIENT_GONE)
		return;
	client->state = CLIENT_GONE;
	client_not_ready(client);
	event_del(&client->read_event);
	event_del(&client->write_event);
	close(client->fd);
	client_unwatch(client);
	server->stats.clients--;
	client_defer(client);
}

void client_release(struct client *client)
{
	LIST_REMOVE(client, all);
	output_queue_clear(&client->output);
	free(client->input);
	free(client);
}

bool client_is_paused(const struct client *client)
{
	return output_queue_length(&client->output) ||
	       client->pending.count >= client->server->limits.pending;
}

void client_update_reading(struct client *client)
{
	bool want = client->state == CLIENT_REFUSED ||
		    (client->state == CLIENT_OPEN && !client_is_paused(client));

	if (client->state == CLIENT_GONE || want == client->reading)
		return;
	client->reading = want;
	if (want)
		event_add(&client->read_event, NULL);
	else
		event_del(&client->read_event);
}

bool client_is_over(const struct client *client)
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
			client_end(client);
			return;
		}
		sent = sent < 0 ? 0 : sent;
	}
	if (output_queue_append(&client->output, data + sent, length - (size_t)sent)) {
		client_end(client);
		return;
	}
	if (!client->writing) {
		client->writing = true;
		event_add(&client->write_event, NULL);
		client_watch(client);
	}
}

void clients_depart(struct client_server *server)
{
	for (size_t i = 0; i < server->departure_count; i++) {
		const struct departure *departure = &server->departures[i];

		if (departure->client->state != CLIENT_GONE)
			deliver(departure->client, departure->bytes, departure->length);
	}
	server->departure_count = 0;
}

static void deliver_long(struct client *client, const struct acm_reply *reply, size_t size)
{
	uint8_t *data = malloc(size);
	int length;

	if (!data) {
		client_end(client);
		return;
	}
	length = acm_client_encode_reply(reply, data, size);
	assert(length > 0);
	deliver(client, data, (size_t)length);
	free(data);
}

void client_answer(struct client *client, const struct acm_reply *reply)
{
	struct client_server *server = client->server;
	size_t size = acm_client_reply_length(reply);
	struct departure *departure;
	int length;

	if (server->departure_count == CLIENT_BATCH || size > ACM_CLIENT_REPLY_MAX)
		clients_depart(server);
	if (size > ACM_CLIENT_REPLY_MAX) {
		deliver_long(client, reply, size);
		return;
	}
	departure = &server->departures[server->departure_count++];
	length = acm_client_encode_reply(reply, departure->bytes, sizeof(departure->bytes));
	assert(length > 0);
	departure->client = client;
	departure->length = (size_t)length;
	if (!server->batching)
		clients_depart(server);
}

void client_answer_status(struct client *client, const struct acm_request *request,
			  enum acm_status status)
{
	struct acm_reply reply = {.tid = request->tid,
				  .opcode = request->opcode,
				  .kind = request->kind,
				  .status = status};

	client_answer(client, &reply);
}
