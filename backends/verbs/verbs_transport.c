/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_transport.h"

#include "verbs_device.h"
#include "verbs_port.h"
#include "verbs_queue_pair.h"
#include "verbs_state.h"
#include "verbs_trouble.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Descriptors that are looked at without an event coming of it. */
#define ROUNDS_AT_ONCE 64

/* ---- what waits to be pulled ---- */

static bool is_empty(const struct verbs_transport *transport)
{
	return !transport->events.count && !transport->writable && !transport->ports_pending &&
	       !transport->ailing;
}

/* Makes the descriptor readable until all has been pulled: no device does. */
static void note(struct verbs_transport *transport)
{
	uint64_t one = 1;

	/* What comes while the user pulls is told of only if it is not pulled at once. */
	if (!transport->noted && !transport->pulling)
		transport->noted = write(transport->note_fd, &one, sizeof(one)) == sizeof(one);
}

static void take_note(struct verbs_watch *watch)
{
	struct verbs_transport *transport =
		(struct verbs_transport *)((char *)watch -
					   offsetof(struct verbs_transport, note_watch));
	uint64_t count;

	transport->noted = read(transport->note_fd, &count, sizeof(count)) != sizeof(count);
}

int verbs_push(struct verbs_transport *transport, const struct verbs_event *event)
{
	int error = verbs_events_push(&transport->events, event);

	if (error)
		free(event->memory);
	else
		note(transport);
	return error;
}

void verbs_note_ports(struct verbs_transport *transport)
{
	transport->ports_pending = true;
	note(transport);
}

void verbs_note_failure(struct verbs_transport *transport)
{
	transport->ailing = true;
	note(transport);
}

void verbs_note_progress(struct verbs_transport *transport)
{
	if (!transport->refused)
		return;
	transport->refused = false;
	transport->writable = true;
	note(transport);
}

/* The operation that begins ends the life of what was pulled. */
static struct verbs_transport *enter(struct acm_transport *base)
{
	struct verbs_transport *transport = verbs_transport_of(base);

	free(transport->pulled);
	transport->pulled = NULL;
	return transport;
}

/*
 * Reads what devices have, until there is something to pull. Port events do not count: those that
 * come close together are told once.
 */
static void process(struct verbs_transport *transport)
{
	for (int round = 0; round < ROUNDS_AT_ONCE && !transport->events.count; round++) {
		struct epoll_event event;
		struct verbs_watch *watch;

		/* One at a time: what it sets off may close another's descriptor. */
		if (epoll_wait(transport->epoll, &event, 1, 0) != 1)
			return;
		watch = event.data.ptr;
		watch->events = event.events;
		watch->ready(watch);
		if (transport->ailing)
			verbs_devices_close_failed(transport);
	}
}

void verbs_transport_rescan(struct acm_transport *base)
{
	struct verbs_transport *transport = enter(base);

	if (!transport->started)
		return;
	verbs_devices_close_failed(transport);
	verbs_devices_scan(transport);
}

/* ---- pulling ---- */

/* The facts are read now: two changes close together are told once. */
static bool pull_port(struct verbs_transport *transport, uint32_t number, struct acm_event *event)
{
	struct verbs_slot *slot = &transport->slots[number];

	*event = (struct acm_event){.type = ACM_EVENT_PORT_REMOVED, .port = number};
	if (slot->removed) {
		slot->removed = false;
		return true;
	}
	if (slot->port && slot->port->changed) {
		verbs_port_refresh(slot->port);
		transport->pulled_facts = slot->port->facts;
		event->type = ACM_EVENT_PORT_CHANGED;
		event->port_facts = &transport->pulled_facts;
		return true;
	}
	if (slot->port && slot->port->reregister) {
		slot->port->reregister = false;
		verbs_sa_renew(&slot->port->sa); /* who was asked before may have been another */
		event->type = ACM_EVENT_REREGISTER;
		return true;
	}
	return false;
}

static bool pull_ports(struct verbs_transport *transport, struct acm_event *event)
{
	for (uint32_t i = 0; transport->ports_pending && i < transport->slot_count; i++) {
		if (pull_port(transport, i, event))
			return true;
	}
	transport->ports_pending = false;
	return false;
}

/* What the event points to is copied, so that its buffer is posted again at once. */
static void take_payload(struct verbs_transport *transport, const struct verbs_event *pulled,
			 struct acm_event *event)
{
	memcpy(transport->payload, event->datagram.payload, event->datagram.length);
	event->datagram.payload = transport->payload;
	verbs_queue_pair_release(pulled->queue_pair, pulled->buffer);
}

static bool pull(struct verbs_transport *transport, struct acm_event *event)
{
	struct verbs_event pulled;

	if (pull_ports(transport, event))
		return true;
	if (transport->writable) {
		transport->writable = false;
		*event = (struct acm_event){.type = ACM_EVENT_WRITABLE};
		return true;
	}
	if (!verbs_events_pop(&transport->events, &pulled))
		return false;
	*event = pulled.event;
	transport->pulled = pulled.memory;
	if (event->type == ACM_EVENT_DATAGRAM)
		take_payload(transport, &pulled, event);
	return true;
}

static int next_event(struct acm_transport *base, struct acm_event *event)
{
	struct verbs_transport *transport = enter(base);
	bool found;

	if (!transport->started)
		return 0;
	transport->pulling = true;
	if (transport->ailing)
		verbs_devices_close_failed(transport);
	found = pull(transport, event);
	if (!found) {
		process(transport);
		found = pull(transport, event);
	}
	transport->pulling = false;
	if (!is_empty(transport))
		note(transport);
	return found;
}

/* ---- operations ---- */

static void capabilities(const struct acm_transport *base, struct acm_transport_caps *caps)
{
	const struct verbs_transport *transport = (const struct verbs_transport *)base;

	*caps = (struct acm_transport_caps){
		.flags = ACM_TRANSPORT_SELF_DELIVERY | ACM_TRANSPORT_RMPP |
			 ACM_TRANSPORT_ASYNC_PORTS,
		.fd = transport->epoll,
		.sa_window = VERBS_SA_WINDOW,
	};
}

/* The descriptor tells of everything. */
static void set_wake(struct acm_transport *base, void (*wake)(void *context), void *context)
{
	enter(base);
	(void)wake;
	(void)context;
}

static int start(struct acm_transport *base)
{
	struct verbs_transport *transport = enter(base);

	transport->started = true;
	verbs_devices_scan(transport);
	return 0;
}

static int open_on(struct verbs_port *port, struct verbs_queue_pair_options *options,
		   struct verbs_queue_pair **queue_pair)
{
	int index = verbs_port_pkey_index(port, options->pkey);
	int error = index;

	if (index >= 0) {
		options->port = port->number;
		options->pkey_index = (uint16_t)index;
		error = verbs_queue_pair_open(port->device, options, queue_pair);
	}
	if (error != -ENOENT) /* which is a table that changes, and is told of */
		verbs_trouble_opening(port, options->pkey, error);
	return error;
}

static int open_endpoint(struct acm_transport *base, uint32_t endpoint, uint32_t port,
			 uint16_t pkey, uint32_t qkey, uint32_t recv_depth)
{
	struct verbs_transport *transport = enter(base);
	struct verbs_port *found = verbs_port_find(transport, port);
	struct verbs_queue_pair_options options = {
		.endpoint = endpoint, .pkey = pkey, .qkey = qkey, .recv_depth = recv_depth};
	struct verbs_event event = {.event.type = ACM_EVENT_ENDPOINT_OPENED};
	int error;

	if (verbs_queue_pair_find(transport, endpoint))
		return -EEXIST;
	if (!found || found->device->failed)
		return -ENODEV;
	error = open_on(found, &options, &event.queue_pair);
	if (error)
		return error;
	event.event.opened.endpoint = endpoint;
	event.event.opened.qpn = verbs_queue_pair_number(event.queue_pair);
	error = verbs_push(transport, &event);
	if (error)
		verbs_queue_pair_close(event.queue_pair);
	return error;
}

static void close_endpoint(struct acm_transport *base, uint32_t endpoint)
{
	struct verbs_transport *transport = enter(base);
	struct verbs_queue_pair *queue_pair = verbs_queue_pair_find(transport, endpoint);

	if (queue_pair)
		verbs_queue_pair_close(queue_pair);
}

static int send(struct acm_transport *base, const struct acm_datagram *datagram, uint64_t cookie)
{
	struct verbs_transport *transport = enter(base);
	struct verbs_queue_pair *queue_pair = verbs_queue_pair_find(transport, datagram->endpoint);

	return queue_pair ? verbs_queue_pair_send(queue_pair, datagram, cookie) : -ENOENT;
}

static int sa_send(struct acm_transport *base, uint32_t port, uint16_t pkey_index,
		   const uint8_t *mad, uint64_t cookie)
{
	struct verbs_transport *transport = enter(base);
	struct verbs_port *found = verbs_port_find(transport, port);
	struct verbs_sa_place place;

	if (!found)
		return -ENODEV;
	/* To the SM as it is now, also when the change was not pulled yet. */
	if (found->changed) {
		verbs_port_refresh(found);
		found->changed = true;
	}
	place.lid = found->facts.sm_lid;
	place.sl = found->facts.sm_sl;
	place.subnet_timeout = found->facts.subnet_timeout;
	return verbs_sa_send(&found->sa, &place, pkey_index, mad, cookie);
}

static void sa_cancel(struct acm_transport *base, uint64_t cookie)
{
	struct verbs_transport *transport = enter(base);

	for (uint32_t i = 0; i < transport->slot_count; i++) {
		if (transport->slots[i].port &&
		    verbs_sa_cancel(&transport->slots[i].port->sa, cookie))
			return;
	}
	verbs_events_cancel(&transport->events, cookie);
}

static int attach(struct acm_transport *base, uint32_t endpoint, const struct acm_gid *mgid,
		  uint16_t mlid, uint64_t cookie)
{
	struct verbs_transport *transport = enter(base);
	struct verbs_event event = {.event.type = ACM_EVENT_ATTACHED};
	int error;

	event.queue_pair = verbs_queue_pair_find(transport, endpoint);
	if (!event.queue_pair)
		return -ENOENT;
	if (mgid->raw[0] != 0xff || mlid < ACM_LID_MULTICAST || mlid == ACM_LID_PERMISSIVE)
		return -EINVAL;
	error = verbs_queue_pair_attach(event.queue_pair, mgid, mlid);
	if (error)
		return error;
	event.event.attached.cookie = cookie;
	error = verbs_push(transport, &event);
	if (error)
		verbs_queue_pair_detach(event.queue_pair, mgid, mlid);
	return error;
}

static int detach(struct acm_transport *base, uint32_t endpoint, const struct acm_gid *mgid,
		  uint16_t mlid)
{
	struct verbs_transport *transport = enter(base);
	struct verbs_queue_pair *queue_pair = verbs_queue_pair_find(transport, endpoint);

	return queue_pair ? verbs_queue_pair_detach(queue_pair, mgid, mlid) : -ENOENT;
}

static void destroy(struct acm_transport *base)
{
	struct verbs_transport *transport = enter(base);

	transport->options.notice = NULL;
	verbs_devices_destroy(transport);
	verbs_events_free(&transport->events);
	free(transport->slots);
	close(transport->note_fd);
	close(transport->epoll);
	free(transport);
}

static const struct acm_transport_ops operations = {
	.capabilities = capabilities,
	.set_wake = set_wake,
	.start = start,
	.open_endpoint = open_endpoint,
	.close_endpoint = close_endpoint,
	.send = send,
	.sa_send = sa_send,
	.sa_cancel = sa_cancel,
	.attach = attach,
	.detach = detach,
	.next_event = next_event,
	.destroy = destroy,
};

static int open_descriptors(struct verbs_transport *transport)
{
	transport->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (transport->epoll < 0)
		return -errno;
	transport->note_fd = eventfd(0, EFD_CLOEXEC);
	if (transport->note_fd < 0)
		return -errno;
	return verbs_watch_add(&transport->note_watch, transport->epoll, transport->note_fd,
			       take_note);
}

int verbs_transport_create(const struct verbs_options *options, struct acm_transport **transport)
{
	struct verbs_transport *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return -ENOMEM;
	made->base.ops = &operations;
	made->options = *options;
	made->note_fd = -1;
	error = open_descriptors(made);
	if (error) {
		if (made->note_fd >= 0)
			close(made->note_fd);
		if (made->epoll >= 0)
			close(made->epoll);
		free(made);
		return error;
	}
	*transport = &made->base;
	return 0;
}
