/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_device.h"

#include "verbs_port.h"
#include "verbs_queue_pair.h"
#include "verbs_trouble.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it tells ---- */

void verbs_device_fail(struct verbs_device *device)
{
	device->failed = true;
	verbs_note_failure(device->transport);
}

static struct verbs_port *served_port(const struct verbs_device *device, int number)
{
	if (number < 1 || (uint32_t)number > device->port_count ||
	    !device->ports[number - 1].served)
		return NULL; /* one that is left out has events too */
	return &device->ports[number - 1];
}

static void note_change(const struct verbs_device *device, const struct ibv_async_event *event)
{
	struct verbs_port *port = served_port(device, event->element.port_num);

	if (!port)
		return;
	port->changed = true;
	/* An SM that wants joins anew may have another LID. */
	if (event->event_type == IBV_EVENT_CLIENT_REREGISTER)
		port->reregister = true;
	verbs_note_ports(device->transport);
}

/* Acknowledged first: whatever it is about cannot be destroyed before. */
static void take_event(struct verbs_device *device, struct ibv_async_event *event)
{
	ibv_ack_async_event(event);
	switch (event->event_type) {
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR: /* which it does not recover from, and which is all but impossible */
		verbs_device_fail(device);
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		note_change(device, event);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		verbs_queue_pair_repair(event->element.qp->qp_context);
		break;
	default:
		break; /* of kinds of objects that are not used here */
	}
}

static void take_asynchronous(struct verbs_watch *watch)
{
	struct verbs_device *device =
		(struct verbs_device *)((char *)watch -
					offsetof(struct verbs_device, asynchronous));
	struct ibv_async_event event;

	errno = EIO; /* for one that is at its end */
	if (!ibv_get_async_event(device->context, &event))
		take_event(device, &event);
	else if (verbs_watch_has_ended(watch, errno))
		verbs_device_fail(device); /* the kernel has taken the device away */
}

/* As many acknowledgements as events, whatever number of completions they told of. */
static void take_completions(struct verbs_watch *watch)
{
	struct verbs_device *device =
		(struct verbs_device *)((char *)watch - offsetof(struct verbs_device, completions));
	struct ibv_cq *completions;
	void *queue_pair;

	errno = EIO;
	if (ibv_get_cq_event(device->channel, &completions, &queue_pair)) {
		if (verbs_watch_has_ended(watch, errno))
			verbs_device_fail(device);
		return;
	}
	ibv_ack_cq_events(completions, 1);
	verbs_queue_pair_complete(queue_pair, completions);
}

/* ---- opening and closing ---- */

static int open_ports(struct verbs_device *device)
{
	uint32_t infiniband = 0;
	int error = 0;

	device->ports = calloc(device->port_count + 1, sizeof(*device->ports));
	if (!device->ports)
		return -ENOMEM;
	for (uint32_t i = 0; i < device->port_count && !error; i++) {
		error = verbs_port_init(&device->ports[i], device, (uint8_t)(i + 1));
		infiniband += device->ports[i].infiniband;
	}
	device->without_ib = !error && !infiniband;
	return error;
}

static int open_resources(struct verbs_device *device)
{
	errno = ENOMEM;
	device->pd = ibv_alloc_pd(device->context);
	if (!device->pd)
		return -errno;
	verbs_slab_init(&device->slab, device->pd);
	device->handles = verbs_handles_create(device->pd);
	if (!device->handles)
		return -ENOMEM;
	errno = ENOMEM;
	device->channel = ibv_create_comp_channel(device->context);
	if (!device->channel)
		return -errno;
	return verbs_watch_add(&device->completions, device->transport->epoll, device->channel->fd,
			       take_completions);
}

static int set_up(struct verbs_device *device)
{
	struct ibv_device_attr attr;
	int error = ibv_query_device(device->context, &attr);

	if (error)
		return error < 0 ? -EIO : -error;
	device->port_count = attr.phys_port_cnt;
	device->most_requests = attr.max_qp_wr > 1 ? (uint32_t)attr.max_qp_wr : 1;
	device->most_completions = attr.max_cqe > 1 ? (uint32_t)attr.max_cqe : 1;
	error = open_ports(device);
	if (error || device->without_ib)
		return error;
	error = open_resources(device);
	if (!error)
		error = verbs_watch_add(&device->asynchronous, device->transport->epoll,
					device->context->async_fd, take_asynchronous);
	return error;
}

static void close_device(struct verbs_device *device)
{
	int epoll = device->transport->epoll;

	for (uint32_t i = 0; device->ports && i < device->port_count; i++)
		verbs_port_close(&device->ports[i]);
	while (device->queue_pairs)
		verbs_queue_pair_close(device->queue_pairs);
	if (device->channel) {
		verbs_watch_remove(epoll, device->channel->fd);
		ibv_destroy_comp_channel(device->channel);
	}
	verbs_handles_destroy(device->handles);
	verbs_slab_free(&device->slab);
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	verbs_watch_remove(epoll, device->context->async_fd);
	ibv_close_device(device->context);
	free(device->ports);
	device->context = NULL;
	device->pd = NULL;
	device->channel = NULL;
	device->handles = NULL;
	device->ports = NULL;
	device->port_count = 0;
	device->failed = false;
	device->looked_at = false;
}

static void tell_left_out(const struct verbs_device *device)
{
	for (uint32_t i = 0; i < device->port_count; i++) {
		if (!device->ports[i].infiniband)
			verbs_say(device->transport,
				  "%s port %u is left out: its link layer is not InfiniBand",
				  device->name, i + 1);
	}
}

static void open_device(struct verbs_device *device, struct ibv_device *listed)
{
	int error = 0;

	errno = EIO;
	device->context = ibv_open_device(listed);
	if (device->context) {
		error = set_up(device);
		if (!error && !device->doubtful)
			tell_left_out(device);
		if (error || device->without_ib)
			close_device(device);
	} else {
		error = -errno;
	}
	if (error && error != device->trouble)
		verbs_trouble_device(device->transport, device->name, error);
	device->trouble = error;
}

/* ---- looking ---- */

static struct verbs_device *find_device(const struct verbs_transport *transport, const char *name)
{
	struct verbs_device *device = transport->devices;

	while (device && strcmp(device->name, name) != 0)
		device = device->next;
	return device;
}

/* NULL: no memory, or a name that is too long to be told. */
static struct verbs_device *add_device(struct verbs_transport *transport, const char *name,
				       int index)
{
	struct verbs_device *device = calloc(1, sizeof(*device));

	if (!device || strlen(name) >= sizeof(device->name)) {
		free(device);
		return NULL;
	}
	strcpy(device->name, name);
	device->index = index;
	device->transport = transport;
	device->next = transport->devices;
	transport->devices = device;
	return device;
}

static bool is_channel_adapter(const struct ibv_device *listed)
{
	return listed->transport_type == IBV_TRANSPORT_IB && listed->node_type == IBV_NODE_CA;
}

/* Of the same name as one that was there before, which went without a word. */
static void start_anew(struct verbs_device *device, int index)
{
	if (device->context) {
		verbs_say(device->transport, "%s went and came back", device->name);
		close_device(device);
	}
	device->index = index;
	device->without_ib = false; /* its ports may be others, or of another kind */
	device->trouble = 0;
}

static void look_at_parts(struct verbs_device *device)
{
	if (device->doubtful && device->looked_at)
		verbs_say(device->transport, "%s is served again", device->name);
	device->doubtful = device->doubtful && !device->looked_at;
	device->looked_at = true;
	for (uint32_t i = 0; i < device->port_count; i++)
		verbs_port_look(&device->ports[i]);
	for (struct verbs_queue_pair *at = device->queue_pairs; at; at = verbs_queue_pair_next(at))
		verbs_queue_pair_look(at);
}

static void look_at(struct verbs_transport *transport, struct ibv_device *listed)
{
	const char *name = ibv_get_device_name(listed);
	int index = ibv_get_device_index(listed);
	struct verbs_device *device = find_device(transport, name);

	if (!device)
		device = add_device(transport, name, index);
	if (!device)
		return;
	if (device->index != index)
		start_anew(device, index);
	if (!is_channel_adapter(listed)) {
		if (!device->without_ib)
			verbs_say(transport,
				  "%s is left out: it is not an InfiniBand channel adapter", name);
		device->without_ib = true;
	}
	device->listed = true;
	if (!device->context && !device->without_ib)
		open_device(device, listed);
	if (device->context)
		look_at_parts(device);
}

static void remove_device(struct verbs_device **at)
{
	struct verbs_device *device = *at;

	if (device->context)
		close_device(device);
	*at = device->next;
	free(device);
}

static void remove_unlisted(struct verbs_transport *transport)
{
	struct verbs_device **at = &transport->devices;

	while (*at) {
		if ((*at)->listed) {
			at = &(*at)->next;
			continue;
		}
		verbs_say(transport, "%s is gone", (*at)->name);
		remove_device(at);
	}
}

static int look_at_all(struct verbs_transport *transport)
{
	int count = 0;
	struct ibv_device **list;

	errno = EIO;
	list = ibv_get_device_list(&count);
	if (!list)
		return -errno;
	for (struct verbs_device *at = transport->devices; at; at = at->next)
		at->listed = false;
	for (int i = 0; i < count; i++)
		look_at(transport, list[i]);
	ibv_free_device_list(list);
	remove_unlisted(transport);
	return count ? 0 : -ENODEV;
}

void verbs_devices_scan(struct verbs_transport *transport)
{
	int error = look_at_all(transport);

	if (error && error != transport->trouble)
		verbs_trouble_list(transport, error);
	transport->trouble = error;
}

void verbs_devices_close_failed(struct verbs_transport *transport)
{
	transport->ailing = false;
	for (struct verbs_device *device = transport->devices; device; device = device->next) {
		if (device->failed) {
			if (!device->doubtful)
				verbs_say(transport, "%s failed, or was taken away", device->name);
			device->doubtful = true;
			close_device(device);
		}
		for (uint32_t i = 0; device->ports && i < device->port_count; i++) {
			struct verbs_port *port = &device->ports[i];

			if (!port->sa.failure)
				continue;
			verbs_trouble_sa_lost(port);
			verbs_sa_close(&port->sa, -EIO);
		}
	}
}

void verbs_devices_destroy(struct verbs_transport *transport)
{
	while (transport->devices)
		remove_device(&transport->devices);
}
