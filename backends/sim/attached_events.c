/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attached_state.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any SA has to say. */
#define ANSWER_MAX (64u << 20)

/* ---- what does not come by the socket ---- */

static bool next_failed(struct attached_transport *transport, struct acm_event *event)
{
	if (!transport->failed_count)
		return false;
	event->type = ACM_EVENT_SA_FAILED;
	event->failed.cookie = transport->failed[--transport->failed_count].cookie;
	event->failed.status = -EHOSTUNREACH;
	return true;
}

static bool next_port(struct attached_transport *transport, struct acm_event *event)
{
	for (uint32_t i = 0; i < transport->port_count; i++) {
		struct attached_port *port = &transport->ports[i];

		if (port->removed) {
			port->removed = port->told = false;
			event->type = ACM_EVENT_PORT_REMOVED;
			event->port = i;
			return true;
		}
		if (port->changed) {
			port->changed = false;
			port->told = true;
			event->type = ACM_EVENT_PORT_CHANGED;
			event->port_facts = &port->facts;
			return true;
		}
	}
	return false;
}

static bool has_room(const struct attached_transport *transport)
{
	struct pollfd fd = {.fd = transport->fd, .events = POLLOUT};

	return !transport->output && poll(&fd, 1, 0) == 1 && fd.revents & POLLOUT;
}

static bool next_writable(struct attached_transport *transport, struct acm_event *event)
{
	if (transport->blocked && has_room(transport)) {
		transport->blocked = false;
		transport->writable = true;
	}
	if (transport->crowded && transport->transaction_count <= SIM_ATTACH_MADS / 2) {
		transport->crowded = false;
		transport->writable = true;
	}
	if (!transport->writable)
		return false;
	transport->writable = false;
	event->type = ACM_EVENT_WRITABLE;
	return true;
}

static bool next_local(struct attached_transport *transport, struct acm_event *event)
{
	return next_failed(transport, event) || next_port(transport, event) ||
	       next_writable(transport, event);
}

/* ---- what comes ---- */

static struct attached_endpoint *find_number(struct attached_transport *transport, uint32_t number)
{
	struct attached_endpoint *at = transport->endpoints;

	while (at && (at->dead || at->number != number))
		at = at->next;
	return at;
}

static bool take_opened(struct attached_transport *transport, struct acm_event *event)
{
	const struct sim_attach_opened *opened = &transport->message.opened;
	const struct attached_endpoint *endpoint = find_number(transport, opened->endpoint);

	if (!endpoint)
		return false; /* closed meanwhile */
	event->type = ACM_EVENT_ENDPOINT_OPENED;
	event->opened.endpoint = endpoint->endpoint;
	event->opened.status = opened->status;
	event->opened.qpn = opened->qpn;
	return true;
}

static bool take_datagram(struct attached_transport *transport, struct acm_event *event)
{
	const struct sim_attach_datagram *got = &transport->message.datagram;
	const struct attached_endpoint *endpoint = find_number(transport, got->endpoint);

	if (!endpoint)
		return false;
	event->type = ACM_EVENT_DATAGRAM;
	event->datagram = (struct acm_datagram_received){
		.endpoint = endpoint->endpoint,
		.slid = got->slid,
		.sl = got->sl,
		.dlid_path_bits = got->dlid_path_bits,
		.source_qpn = got->source_qpn,
		.sgid = got->sgid,
		.dgid = got->dgid,
		.flow_label = got->flow_label,
		.hop_limit = got->hop_limit,
		.traffic_class = got->traffic_class,
		.payload = got->payload,
		.length = got->length,
	};
	return true;
}

static bool take_joined(struct attached_transport *transport, struct acm_event *event)
{
	const struct sim_attach_status *joined = &transport->message.status;

	for (struct attached_endpoint *at = transport->endpoints; at; at = at->next) {
		struct attached_group *group = at->groups;

		while (group && group->number != joined->cookie)
			group = group->next;
		if (!group || at->dead)
			continue;
		event->type = ACM_EVENT_ATTACHED;
		event->attached.cookie = group->cookie;
		event->attached.status = joined->status;
		if (joined->status)
			attached_forget_group(at, group);
		return true;
	}
	return false;
}

/* Ends a transaction. False: it was cancelled. */
static bool take_transaction(struct attached_transport *transport, uint64_t number,
			     uint64_t *cookie)
{
	for (uint32_t i = 0; i < transport->transaction_count; i++) {
		if (transport->transactions[i].number != number)
			continue;
		*cookie = transport->transactions[i].cookie;
		transport->transactions[i] =
			transport->transactions[--transport->transaction_count];
		return true;
	}
	return false;
}

static bool is_under_way(const struct attached_transport *transport, uint64_t number)
{
	for (uint32_t i = 0; i < transport->transaction_count; i++)
		if (transport->transactions[i].number == number)
			return true;
	return false;
}

/* Chunks come in order: a first one begins the answer anew. */
static bool take_answer(struct attached_transport *transport, struct acm_event *event)
{
	const struct sim_attach_answer *chunk = &transport->message.answer;
	uint64_t cookie;

	if (!is_under_way(transport, chunk->cookie))
		return false;
	if (!chunk->offset && chunk->total <= ANSWER_MAX) {
		free(transport->answer);
		transport->answer = malloc((size_t)chunk->total + 1);
		transport->answer_length = 0;
		transport->answer_total = transport->answer ? chunk->total : 0;
	}
	if (chunk->total != transport->answer_total || chunk->offset != transport->answer_length ||
	    chunk->length > chunk->total - chunk->offset) {
		attached_end(transport, -EPROTO,
			     "the fabric server at %s sends answers in parts that do not fit",
			     transport->path);
		return false;
	}
	memcpy(transport->answer + chunk->offset, chunk->bytes, chunk->length);
	transport->answer_length += chunk->length;
	if (transport->answer_length < chunk->total)
		return false;
	if (!take_transaction(transport, chunk->cookie, &cookie))
		return false;
	event->type = ACM_EVENT_SA_ANSWER;
	event->sa.cookie = cookie;
	event->sa.mad = transport->answer;
	event->sa.length = transport->answer_length;
	return true;
}

static bool take_failed(struct attached_transport *transport, struct acm_event *event)
{
	const struct sim_attach_status *failed = &transport->message.status;
	uint64_t cookie;

	if (!take_transaction(transport, failed->cookie, &cookie))
		return false;
	event->type = ACM_EVENT_SA_FAILED;
	event->failed.cookie = cookie;
	event->failed.status = failed->status;
	return true;
}

static bool take_reregister(const struct attached_transport *transport, struct acm_event *event)
{
	uint32_t port = transport->message.port.port;

	if (!transport->started || port >= transport->port_count || !transport->ports[port].told)
		return false;
	event->type = ACM_EVENT_REREGISTER;
	event->port = port;
	return true;
}

/* False: the user has no interest in it. */
static bool take_message(struct attached_transport *transport, struct acm_event *event)
{
	switch ((enum sim_attach_type)transport->message.header.type) {
	case SIM_ATTACH_REREGISTER:
		return take_reregister(transport, event);
	case SIM_ATTACH_OPENED:
		return take_opened(transport, event);
	case SIM_ATTACH_JOINED_QP:
		return take_joined(transport, event);
	case SIM_ATTACH_DATAGRAM:
		return take_datagram(transport, event);
	case SIM_ATTACH_SEND_FAILED:
		event->type = ACM_EVENT_SEND_FAILED;
		event->failed.cookie = transport->message.status.cookie;
		event->failed.status = transport->message.status.status;
		return true;
	case SIM_ATTACH_ANSWER:
		return take_answer(transport, event);
	case SIM_ATTACH_FAILED:
		return take_failed(transport, event);
	default:
		return false;
	}
}

int attached_next_event(struct attached_transport *transport, struct acm_event *event)
{
	uint64_t count;
	ssize_t length;

	do {
		if (next_local(transport, event))
			return 1;
		if (!attached_receive(transport)) {
			/* It may be over since. */
			if (next_local(transport, event))
				return 1;
			length = read(transport->local_fd, &count, sizeof(count));
			(void)length;
			attached_update_interest(transport);
			return 0;
		}
	} while (!take_message(transport, event));
	return 1;
}
