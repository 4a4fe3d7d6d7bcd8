/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages moved at once, so that others have their turn. */
#define TURN 64
/* Messages read and dropped before a connection is closed: unread ones would hide the last word. */
#define DRAIN 1024

struct sim_client_output {
	struct sim_client_output *next;
	_Alignas(union sim_attach_message) char message[];
};

/* ---- output ---- */

static int keep(struct sim_fabric_client *client, const void *message)
{
	size_t length = sim_channel_length(message);
	struct sim_client_output *kept = malloc(sizeof(*kept) + length);

	if (!kept)
		return -ENOMEM;
	kept->next = NULL;
	memcpy(kept->message, message, length);
	*client->output_end = kept;
	client->output_end = &kept->next;
	return 0;
}

void sim_client_put(struct sim_fabric_client *client, const void *message)
{
	int error = client->output ? -EAGAIN : sim_channel_send(client->fd, message);

	if (error == -EAGAIN)
		error = keep(client, message);
	if (error && !client->error)
		client->error = error;
}

void sim_client_put_status(struct sim_fabric_client *client, enum sim_attach_type type,
			   uint64_t cookie, int status)
{
	struct sim_attach_status message = {
		.header.type = type, .cookie = cookie, .status = status};

	sim_client_put(client, &message);
}

static void flush(struct sim_fabric_client *client)
{
	while (client->output && !client->error) {
		struct sim_client_output *first = client->output;
		int error = sim_channel_send(client->fd, first->message);

		if (error == -EAGAIN)
			return;
		client->error = error;
		client->output = first->next;
		if (!client->output)
			client->output_end = &client->output;
		free(first);
	}
}

void sim_fabric_client_refuse(struct sim_fabric_client *client, int status, const char *format, ...)
{
	struct sim_attach_refused refused = {.header.type = SIM_ATTACH_REFUSED, .status = status};
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(refused.text, sizeof(refused.text), format, arguments);
	va_end(arguments);
	sim_client_put(client, &refused);
	if (!client->error)
		client->error = status;
}

/* ---- what its transport tells ---- */

static void put_datagram(struct sim_fabric_client *client, const struct acm_datagram_received *got)
{
	struct sim_attach_datagram message = {
		.header.type = SIM_ATTACH_DATAGRAM,
		.endpoint = got->endpoint,
		.source_qpn = got->source_qpn,
		.flow_label = got->flow_label,
		.slid = got->slid,
		.length = got->length,
		.sgid = got->sgid,
		.dgid = got->dgid,
		.sl = got->sl,
		.dlid_path_bits = got->dlid_path_bits,
		.hop_limit = got->hop_limit,
		.traffic_class = got->traffic_class,
	};

	if (got->length)
		memcpy(message.payload, got->payload, got->length);
	sim_client_put(client, &message);
}

static void put_opened(struct sim_fabric_client *client, const struct acm_event *event)
{
	struct sim_attach_opened message = {.header.type = SIM_ATTACH_OPENED,
					    .endpoint = event->opened.endpoint,
					    .status = event->opened.status,
					    .qpn = event->opened.qpn};

	sim_client_put(client, &message);
}

static void put_port(struct sim_fabric_client *client, const struct acm_port_facts *facts)
{
	struct sim_attach_port message = {
		.header.type = SIM_ATTACH_PORT, .port = facts->port, .facts = *facts};

	sim_client_put(client, &message);
}

static void put_reregister(struct sim_fabric_client *client, uint32_t port)
{
	struct sim_attach_port message = {.header.type = SIM_ATTACH_REREGISTER, .port = port};

	sim_client_put(client, &message);
}

static void tell(struct sim_fabric_client *client, const struct acm_event *event)
{
	switch (event->type) {
	case ACM_EVENT_WRITABLE:
		client->refused = false;
		sim_client_retry(client);
		break;
	case ACM_EVENT_PORT_CHANGED:
		put_port(client, event->port_facts);
		break;
	case ACM_EVENT_REREGISTER:
		put_reregister(client, event->port);
		break;
	case ACM_EVENT_ENDPOINT_OPENED:
		put_opened(client, event);
		break;
	case ACM_EVENT_ATTACHED:
		sim_client_put_status(client, SIM_ATTACH_JOINED_QP, event->attached.cookie,
				      event->attached.status);
		break;
	case ACM_EVENT_DATAGRAM:
		put_datagram(client, &event->datagram);
		break;
	case ACM_EVENT_SEND_FAILED:
		sim_client_put_status(client, SIM_ATTACH_SEND_FAILED, event->failed.cookie,
				      event->failed.status);
		break;
	case ACM_EVENT_SA_ANSWER:
		sim_client_mad_answered(client, event);
		break;
	case ACM_EVENT_SA_FAILED:
		sim_client_mad_failed(client, event);
		break;
	default:
		break; /* no others come from a fabric */
	}
}

/* ---- moving ---- */

static bool tell_next(struct sim_fabric_client *client)
{
	struct acm_event event;

	if (!client->transport || !client->transport->ops->next_event(client->transport, &event))
		return false;
	tell(client, &event);
	return true;
}

static void end_show(struct sim_fabric_client *client, int status)
{
	struct sim_attach_status message = {.header.type = SIM_ATTACH_RESULT, .status = status};

	if (status)
		snprintf(message.text, sizeof(message.text), "the table cannot be made: %s",
			 strerror(-status));
	client->showing = false;
	sim_show_end(&client->show);
	sim_client_put(client, &message);
}

static bool show_next(struct sim_fabric_client *client)
{
	struct sim_attach_row row;
	int result;

	if (!client->showing)
		return false;
	result = sim_show_next(client->host->fabric, &client->show, &row);
	client->awaiting = result == -EAGAIN;
	if (client->awaiting)
		return false;
	if (result == 1) {
		sim_client_put(client, &row);
		return true;
	}
	end_show(client, result);
	return true;
}

static bool read_next(struct sim_fabric_client *client)
{
	union sim_attach_message message;
	int result = sim_channel_receive(client->fd, &message);

	if (result == 1)
		sim_client_handle(client, &message);
	else if (result == -EPROTO)
		sim_fabric_client_refuse(client, -EPROTO,
					 "what you sent is no message of attach protocol %u",
					 SIM_ATTACH_VERSION);
	else if (result)
		client->error = result;
	return result == 1;
}

/* Nothing new is begun before what is under way has gone out: so memory is bounded. */
bool sim_fabric_client_run(struct sim_fabric_client *client)
{
	if (client->paused)
		return false;
	for (int moved = 0; moved < TURN; moved++) {
		flush(client);
		if (client->error || client->output)
			return false;
		if (tell_next(client) || show_next(client))
			continue;
		if (client->holding || client->awaiting || !client->readable)
			return false;
		client->readable = read_next(client);
	}
	return !client->error;
}

bool sim_fabric_client_reads(const struct sim_fabric_client *client)
{
	return !client->output && !client->holding && !client->awaiting && !client->paused;
}

bool sim_fabric_client_writes(const struct sim_fabric_client *client)
{
	return client->output && !client->paused;
}

/* ---- making and ending ---- */

struct sim_fabric_client *sim_fabric_client_create(const struct sim_fabric_host *host, int fd,
						   uint64_t now)
{
	struct sim_fabric_client *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->host = host;
	made->fd = fd;
	made->since = now;
	made->node = SIM_NONE;
	made->output_end = &made->output;
	return made;
}

void sim_fabric_client_leave(struct sim_fabric_client *client)
{
	if (client->transport)
		client->transport->ops->destroy(client->transport);
	client->transport = NULL;
	if (!client->error)
		client->error = -EPIPE;
}

void sim_fabric_client_destroy(struct sim_fabric_client *client)
{
	union sim_attach_message message;

	sim_fabric_client_leave(client);
	for (int i = 0; i < DRAIN && sim_channel_receive(client->fd, &message) == 1; i++)
		;
	close(client->fd);
	while (client->output) {
		struct sim_client_output *next = client->output->next;

		free(client->output);
		client->output = next;
	}
	sim_show_end(&client->show);
	free(client->held);
	free(client->mads);
	free(client);
}
