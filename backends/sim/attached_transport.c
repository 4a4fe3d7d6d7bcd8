/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attached_state.h"

#include "packet.h"
#include "queue_pair.h"
#include "real_time.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* As many as the fabric's control sends at once. */
#define SA_WINDOW 64

static struct attached_transport *transport_of(struct acm_transport *transport)
{
	return (struct attached_transport *)transport;
}

static const struct attached_transport *const_transport_of(const struct acm_transport *transport)
{
	return (const struct attached_transport *)transport;
}

/* NULL: the server has not told of it, or is gone. */
static const struct attached_port *find_port(const struct attached_transport *transport,
					     uint32_t port)
{
	if (port >= transport->port_count || !transport->ports[port].known)
		return NULL;
	return &transport->ports[port];
}

static void capabilities(const struct acm_transport *transport, struct acm_transport_caps *caps)
{
	*caps = (struct acm_transport_caps){
		.flags = ACM_TRANSPORT_SELF_DELIVERY | ACM_TRANSPORT_ASYNC_PORTS,
		.fd = const_transport_of(transport)->epoll_fd,
		.sa_window = SA_WINDOW,
	};
}

static void set_wake(struct acm_transport *base, void (*wake)(void *context), void *context)
{
	struct attached_transport *transport = transport_of(base);

	transport->wake = wake;
	transport->wake_context = context;
}

static int start(struct acm_transport *base)
{
	struct attached_transport *transport = transport_of(base);

	transport->started = true;
	for (uint32_t i = 0; i < transport->port_count; i++)
		transport->ports[i].changed = transport->ports[i].known;
	attached_note_local(transport);
	return 0;
}

/* ---- endpoints ---- */

static struct attached_endpoint **find_endpoint(struct attached_transport *transport,
						uint32_t endpoint)
{
	struct attached_endpoint **at = &transport->endpoints;

	while (*at && (*at)->endpoint != endpoint)
		at = &(*at)->next;
	return at;
}

static int open_endpoint(struct acm_transport *base, uint32_t endpoint, uint32_t port,
			 uint16_t pkey, uint32_t qkey, uint32_t recv_depth)
{
	struct attached_transport *transport = transport_of(base);
	const struct attached_port *on = find_port(transport, port);
	struct sim_attach_open message = {.header.type = SIM_ATTACH_OPEN,
					  .port = port,
					  .qkey = qkey,
					  .recv_depth = recv_depth,
					  .pkey = pkey};
	struct attached_endpoint *made;

	if (*find_endpoint(transport, endpoint))
		return -EEXIST;
	if (!on)
		return -ENODEV;
	if (sim_queue_pair_pkey_index(&on->facts, pkey) < 0)
		return -ENOENT;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->endpoint = endpoint;
	made->number = message.endpoint = (uint32_t)++transport->last_number;
	made->port = port;
	made->next = transport->endpoints;
	transport->endpoints = made;
	attached_put(transport, &message);
	return 0;
}

void attached_forget_group(struct attached_endpoint *endpoint, struct attached_group *group)
{
	struct attached_group **at = &endpoint->groups;

	while (*at != group)
		at = &(*at)->next;
	*at = group->next;
	free(group);
}

static void forget_endpoint(struct attached_endpoint **at)
{
	struct attached_endpoint *gone = *at;

	while (gone->groups)
		attached_forget_group(gone, gone->groups);
	*at = gone->next;
	free(gone);
}

static void close_endpoint(struct acm_transport *base, uint32_t endpoint)
{
	struct attached_transport *transport = transport_of(base);
	struct sim_attach_close message = {.header.type = SIM_ATTACH_CLOSE};
	struct attached_endpoint **at = find_endpoint(transport, endpoint);
	bool dead;

	if (!*at)
		return;
	message.endpoint = (*at)->number;
	dead = (*at)->dead;
	forget_endpoint(at);
	if (!dead)
		attached_put(transport, &message);
}

static int send(struct acm_transport *base, const struct acm_datagram *datagram, uint64_t cookie)
{
	struct attached_transport *transport = transport_of(base);
	const struct attached_endpoint *from = *find_endpoint(transport, datagram->endpoint);
	const struct attached_port *port;
	struct sim_attach_send message = {
		.header.type = SIM_ATTACH_SEND,
		.cookie = cookie,
		.qpn = datagram->qpn,
		.qkey = datagram->qkey,
		.flow_label = datagram->flow_label,
		.dgid = datagram->dgid,
		.dlid = datagram->dlid,
		.length = datagram->length,
		.sl = datagram->sl,
		.path_bits = datagram->path_bits,
		.static_rate = datagram->static_rate,
		.hop_limit = datagram->hop_limit,
		.traffic_class = datagram->traffic_class,
	};
	int error;

	if (!from)
		return -ENOENT;
	port = from->dead ? NULL : find_port(transport, from->port);
	if (!port)
		return -ENODEV;
	error = sim_datagram_check(datagram, port->facts.lmc, port->facts.state);
	if (error)
		return error;
	message.endpoint = from->number;
	if (datagram->length)
		memcpy(message.payload, datagram->payload, datagram->length);
	return attached_try(transport, &message);
}

/* ---- groups ---- */

static struct attached_group *find_group(const struct attached_endpoint *endpoint,
					 const struct acm_gid *mgid)
{
	struct attached_group *group = endpoint->groups;

	while (group && memcmp(&group->mgid, mgid, sizeof(*mgid)))
		group = group->next;
	return group;
}

static void put_group(struct attached_transport *transport, enum sim_attach_type type,
		      const struct attached_endpoint *endpoint, const struct attached_group *group)
{
	struct sim_attach_qp_group message = {.header.type = type,
					      .cookie = group->number,
					      .mgid = group->mgid,
					      .endpoint = endpoint->number,
					      .mlid = group->mlid};

	attached_put(transport, &message);
}

static int attach(struct acm_transport *base, uint32_t endpoint, const struct acm_gid *mgid,
		  uint16_t mlid, uint64_t cookie)
{
	struct attached_transport *transport = transport_of(base);
	struct attached_endpoint *to = *find_endpoint(transport, endpoint);
	struct attached_group *made;

	if (!to)
		return -ENOENT;
	if (mgid->raw[0] != 0xff || mlid < ACM_LID_MULTICAST || mlid == ACM_LID_PERMISSIVE)
		return -EINVAL;
	if (to->dead)
		return -ENODEV;
	if (find_group(to, mgid))
		return -EEXIST;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	*made = (struct attached_group){.mgid = *mgid,
					.mlid = mlid,
					.cookie = cookie,
					.number = ++transport->last_number,
					.next = to->groups};
	to->groups = made;
	put_group(transport, SIM_ATTACH_JOIN_QP, to, made);
	return 0;
}

static int detach(struct acm_transport *base, uint32_t endpoint, const struct acm_gid *mgid,
		  uint16_t mlid)
{
	struct attached_transport *transport = transport_of(base);
	struct attached_endpoint *from = *find_endpoint(transport, endpoint);
	struct attached_group *group = from ? find_group(from, mgid) : NULL;

	if (!group || group->mlid != mlid)
		return -ENOENT;
	if (!from->dead)
		put_group(transport, SIM_ATTACH_PART_QP, from, group);
	attached_forget_group(from, group);
	return 0;
}

/* ---- the SA ---- */

static int check_sa_request(const struct attached_transport *transport, uint32_t port,
			    uint16_t pkey_index)
{
	const struct attached_port *from = find_port(transport, port);

	if (!from)
		return -ENODEV;
	if (from->facts.state != ACM_PORT_ACTIVE || from->facts.sm_lid == 0)
		return -ENETDOWN;
	if (pkey_index >= from->facts.pkey_count || from->facts.pkeys[pkey_index] == 0)
		return -EINVAL;
	return 0;
}

static int sa_send(struct acm_transport *base, uint32_t port, uint16_t pkey_index,
		   const uint8_t *mad, uint64_t cookie)
{
	struct attached_transport *transport = transport_of(base);
	struct sim_attach_mad message = {
		.header.type = SIM_ATTACH_SA_SEND, .port = port, .pkey_index = pkey_index};
	int error = check_sa_request(transport, port, pkey_index);

	if (error)
		return error;
	if (transport->transaction_count + transport->failed_count >= SIM_ATTACH_MADS) {
		transport->crowded = true;
		return -EAGAIN;
	}
	message.cookie = ++transport->last_number;
	memcpy(message.mad, mad, ACM_MAD_LENGTH);
	error = attached_try(transport, &message);
	if (!error)
		transport->transactions[transport->transaction_count++] =
			(struct attached_transaction){.cookie = cookie, .number = message.cookie};
	return error;
}

static void cancel_failed(struct attached_transport *transport, uint64_t cookie)
{
	for (uint32_t i = transport->failed_count; i > 0; i--)
		if (transport->failed[i - 1].cookie == cookie)
			transport->failed[i - 1] = transport->failed[--transport->failed_count];
}

static void sa_cancel(struct acm_transport *base, uint64_t cookie)
{
	struct attached_transport *transport = transport_of(base);
	struct sim_attach_status message = {.header.type = SIM_ATTACH_MAD_CANCEL};

	cancel_failed(transport, cookie);
	for (uint32_t i = 0; i < transport->transaction_count; i++) {
		if (transport->transactions[i].cookie != cookie)
			continue;
		message.cookie = transport->transactions[i].number;
		transport->transactions[i] =
			transport->transactions[--transport->transaction_count];
		attached_put(transport, &message);
		if (transport->crowded)
			attached_note_local(transport);
		return;
	}
}

/* ---- all ---- */

static int next_event(struct acm_transport *base, struct acm_event *event)
{
	return attached_next_event(transport_of(base), event);
}

static void destroy(struct acm_transport *base)
{
	struct attached_transport *transport = transport_of(base);

	attached_close(transport);
	while (transport->endpoints)
		forget_endpoint(&transport->endpoints);
	if (transport->local_fd >= 0)
		close(transport->local_fd);
	if (transport->epoll_fd >= 0)
		close(transport->epoll_fd);
	free(transport->addresses);
	free(transport->ports);
	free(transport->answer);
	free(transport->path);
	free(transport->node);
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

static int open_descriptors(struct attached_transport *transport)
{
	struct epoll_event event = {.events = EPOLLIN};

	transport->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	transport->local_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (transport->epoll_fd < 0 || transport->local_fd < 0 ||
	    epoll_ctl(transport->epoll_fd, EPOLL_CTL_ADD, transport->local_fd, &event))
		return -errno;
	return 0;
}

int sim_attached_create(const char *path, enum sim_attach_role role, const char *node,
			struct acm_transport **transport)
{
	struct attached_transport *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return -ENOMEM;
	made->base.ops = &operations;
	made->role = role;
	made->fd = made->epoll_fd = made->local_fd = -1;
	made->output_end = &made->output;
	made->error = -ENOTCONN;
	snprintf(made->failure, sizeof(made->failure), "no fabric server was looked for yet");
	made->path = strdup(path);
	made->node = strdup(node);
	error = made->path && made->node ? open_descriptors(made) : -ENOMEM;
	if (error) {
		destroy(&made->base);
		return error;
	}
	*transport = &made->base;
	return 0;
}

enum sim_attached_state sim_attached_await(struct acm_transport *base, int timeout_ms,
					   int cancel_fd)
{
	struct attached_transport *transport = transport_of(base);
	uint64_t until = sim_real_time() + (uint64_t)timeout_ms * ACM_NSEC_PER_MSEC;
	int left;
	struct pollfd fds[] = {{.events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};

	while (transport->state == SIM_ATTACHED_GREETING &&
	       (left = sim_real_time_left_ms(until)) > 0) {
		if (attached_receive(transport))
			continue;
		fds[0].fd = transport->fd;
		if (transport->fd >= 0 && poll(fds, 2, left) > 0 && fds[1].revents)
			break;
	}
	return transport->state;
}

enum sim_attached_state sim_attached_state(const struct acm_transport *transport)
{
	return const_transport_of(transport)->state;
}

const char *sim_attached_failure(const struct acm_transport *transport, int *error)
{
	*error = const_transport_of(transport)->error;
	return const_transport_of(transport)->failure;
}

const struct sim_attach_welcome *sim_attached_welcome(const struct acm_transport *base,
						      const struct acm_address **addresses)
{
	const struct attached_transport *transport = const_transport_of(base);

	if (transport->state != SIM_ATTACHED_READY)
		return NULL;
	if (addresses)
		*addresses = transport->addresses;
	return &transport->welcome;
}
