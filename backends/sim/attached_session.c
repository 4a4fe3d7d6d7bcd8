/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attached_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A node with more is none that this fabric has. */
#define PORTS_MAX     255
#define ADDRESSES_MAX 65536

struct attached_output {
	struct attached_output *next;
	_Alignas(union sim_attach_message) char message[];
};

/* ---- the end of a connection ---- */

void attached_note_local(struct attached_transport *transport)
{
	uint64_t one = 1;
	ssize_t length = write(transport->local_fd, &one, sizeof(one));

	(void)length;
	if (transport->wake)
		transport->wake(transport->wake_context);
}

static void drop_output(struct attached_transport *transport)
{
	while (transport->output) {
		struct attached_output *next = transport->output->next;

		free(transport->output);
		transport->output = next;
	}
	transport->output_end = &transport->output;
}

void attached_close(struct attached_transport *transport)
{
	if (transport->fd >= 0)
		close(transport->fd); /* epoll forgets it */
	transport->fd = -1;
	drop_output(transport);
}

static void fail_transactions(struct attached_transport *transport)
{
	for (uint32_t i = 0; i < transport->transaction_count; i++) {
		/* As many have room: no more are taken while those before them are not told of. */
		if (transport->failed_count < SIM_ATTACH_MADS)
			transport->failed[transport->failed_count++] = transport->transactions[i];
	}
	transport->transaction_count = 0;
}

static void remove_ports(struct attached_transport *transport)
{
	for (uint32_t i = 0; i < transport->port_count; i++) {
		struct attached_port *port = &transport->ports[i];

		port->known = port->changed = false;
		port->removed = port->told;
	}
	transport->known_count = 0;
}

void attached_end(struct attached_transport *transport, int error, const char *format, ...)
{
	va_list arguments;

	if (transport->state == SIM_ATTACHED_GONE)
		return;
	attached_close(transport);
	transport->state = SIM_ATTACHED_GONE;
	transport->error = error;
	va_start(arguments, format);
	vsnprintf(transport->failure, sizeof(transport->failure), format, arguments);
	va_end(arguments);
	for (struct attached_endpoint *at = transport->endpoints; at; at = at->next)
		at->dead = true;
	fail_transactions(transport);
	remove_ports(transport);
	/* What was refused is to be tried again, to hear that it is in vain. */
	transport->writable |= transport->blocked || transport->crowded;
	transport->blocked = transport->crowded = false;
	attached_note_local(transport);
}

static void lose_server(struct attached_transport *transport, int error)
{
	if (error == -EPROTO)
		attached_end(transport, error,
			     "the fabric server at %s sends what is no message of attach protocol"
			     " %u; use programs of one release",
			     transport->path, SIM_ATTACH_VERSION);
	else
		attached_end(transport, error,
			     "the fabric server at %s is gone (%s); acmite fabric serve starts one",
			     transport->path,
			     error == -EPIPE ? "connection closed" : strerror(-error));
}

/* ---- sending ---- */

int attached_try(struct attached_transport *transport, const void *message)
{
	int error = transport->output ? -EAGAIN : sim_channel_send(transport->fd, message);

	if (error == -EAGAIN)
		transport->blocked = true;
	else if (error)
		lose_server(transport, error);
	if (error == -EAGAIN)
		attached_update_interest(transport);
	return error;
}

static int keep(struct attached_transport *transport, const void *message)
{
	size_t length = sim_channel_length(message);
	struct attached_output *kept = malloc(sizeof(*kept) + length);

	if (!kept)
		return -ENOMEM;
	kept->next = NULL;
	memcpy(kept->message, message, length);
	*transport->output_end = kept;
	transport->output_end = &kept->next;
	return 0;
}

void attached_put(struct attached_transport *transport, const void *message)
{
	int error = transport->output ? -EAGAIN : sim_channel_send(transport->fd, message);

	if (error == -EAGAIN)
		error = keep(transport, message);
	if (error)
		lose_server(transport, error);
	else
		attached_update_interest(transport);
}

static void flush(struct attached_transport *transport)
{
	while (transport->output) {
		struct attached_output *first = transport->output;
		int error = sim_channel_send(transport->fd, first->message);

		if (error == -EAGAIN)
			return;
		if (error) {
			lose_server(transport, error);
			return;
		}
		transport->output = first->next;
		if (!transport->output)
			transport->output_end = &transport->output;
		free(first);
	}
}

void attached_update_interest(struct attached_transport *transport)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (transport->fd < 0)
		return;
	if (transport->output || transport->blocked)
		event.events |= EPOLLOUT;
	if (event.events == transport->interest)
		return;
	transport->interest = event.events;
	epoll_ctl(transport->epoll_fd, EPOLL_CTL_MOD, transport->fd, &event);
}

/* ---- greeting ---- */

static int make_port_room(struct attached_transport *transport, uint32_t count)
{
	struct attached_port *ports;

	if (count <= transport->port_count)
		return 0;
	ports = reallocarray(transport->ports, count, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	memset(ports + transport->port_count, 0, (count - transport->port_count) * sizeof(*ports));
	transport->ports = ports;
	transport->port_count = count;
	return 0;
}

static void take_welcome(struct attached_transport *transport)
{
	const struct sim_attach_welcome *welcome = &transport->message.welcome;
	struct sim_attach_header start = {.type = SIM_ATTACH_START};

	if (transport->greeted || welcome->port_count > PORTS_MAX ||
	    welcome->address_count > ADDRESSES_MAX) {
		lose_server(transport, -EPROTO);
		return;
	}
	free(transport->addresses);
	transport->addresses =
		calloc((size_t)welcome->address_count + 1, sizeof(*transport->addresses));
	if (!transport->addresses || make_port_room(transport, welcome->port_count)) {
		lose_server(transport, -ENOMEM);
		return;
	}
	transport->welcome = *welcome;
	transport->address_count = 0;
	transport->greeted = true;
	attached_put(transport, &start);
}

static void take_address(struct attached_transport *transport)
{
	const struct acm_address *address = &transport->message.address.address;

	if (!transport->greeted || transport->address_count == transport->welcome.address_count) {
		lose_server(transport, -EPROTO);
		return;
	}
	transport->addresses[transport->address_count++] = *address;
}

static void take_port(struct attached_transport *transport)
{
	const struct sim_attach_port *message = &transport->message.port;
	struct attached_port *port;

	if (!transport->greeted || message->port >= transport->welcome.port_count) {
		lose_server(transport, -EPROTO);
		return;
	}
	port = &transport->ports[message->port];
	transport->known_count += !port->known;
	port->known = true;
	port->facts = message->facts;
	port->facts.port = message->port;
	port->changed = transport->started;
}

static void take_refusal(struct attached_transport *transport)
{
	const struct sim_attach_refused *refused = &transport->message.refused;
	char text[SIM_ATTACH_TEXT];

	memcpy(text, refused->text, sizeof(text));
	attached_end(transport, refused->status < 0 ? refused->status : -ECONNREFUSED,
		     "the fabric server at %s: %s", transport->path, text);
}

/* False: it is none of those that say what there is. */
static bool take_fact(struct attached_transport *transport)
{
	switch ((enum sim_attach_type)transport->message.header.type) {
	case SIM_ATTACH_WELCOME:
		take_welcome(transport);
		break;
	case SIM_ATTACH_REFUSED:
		take_refusal(transport);
		break;
	case SIM_ATTACH_ADDRESS:
		take_address(transport);
		break;
	case SIM_ATTACH_PORT:
		take_port(transport);
		break;
	default:
		return false;
	}
	if (transport->state == SIM_ATTACHED_GREETING && transport->greeted &&
	    transport->known_count == transport->welcome.port_count &&
	    transport->address_count == transport->welcome.address_count)
		transport->state = SIM_ATTACHED_READY;
	return true;
}

int attached_receive(struct attached_transport *transport)
{
	int received;

	if (transport->fd < 0)
		return 0;
	flush(transport);
	if (transport->fd < 0)
		return 0;
	received = sim_channel_receive(transport->fd, &transport->message);
	if (received < 0) {
		lose_server(transport, received);
		return 0;
	}
	if (received && !take_fact(transport) && !transport->greeted) {
		lose_server(transport, -EPROTO);
		return 0;
	}
	return received;
}

void sim_attached_connect(struct acm_transport *base)
{
	struct attached_transport *transport = (struct attached_transport *)base;
	struct epoll_event event = {.events = EPOLLIN};
	int fd, error;

	if (transport->state != SIM_ATTACHED_GONE)
		return;
	fd = sim_channel_connect(transport->path);
	if (fd < 0) {
		transport->error = fd;
		sim_channel_explain(transport->path, fd, transport->failure,
				    sizeof(transport->failure));
		return;
	}
	transport->fd = fd;
	transport->state = SIM_ATTACHED_GREETING;
	transport->greeted = false;
	transport->interest = EPOLLIN;
	error = epoll_ctl(transport->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
	if (!error)
		error = sim_channel_hello(fd, transport->role, transport->node);
	if (error == -ENAMETOOLONG)
		attached_end(transport, -ENOENT, "%s is too long for a node's name",
			     transport->node);
	else if (error && error != -EPIPE) /* one that has gone may have said why */
		lose_server(transport, error);
}
