/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_transport.h"

#include "fabric.h"
#include "sim_transport_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As many as the control sends at once. */
#define SA_WINDOW 64

static struct sim_transport *transport_of(struct acm_transport *transport)
{
	return (struct sim_transport *)transport;
}

/* The operation that begins ends the life of what was pulled. */
static struct sim_transport *enter(struct acm_transport *transport)
{
	struct sim_transport *entered = transport_of(transport);

	sim_queued_event_release(&entered->pulled, &entered->core->plane.packets);
	return entered;
}

int sim_transport_push(struct sim_transport *transport, const struct sim_queued_event *queued)
{
	int error = sim_transport_events_push(&transport->events, queued);

	if (!error && transport->events.count == 1 && transport->wake)
		transport->wake(transport->wake_context);
	return error;
}

/* ---- told by the fabric ---- */

static int push_writable(struct sim_transport *transport)
{
	struct sim_queued_event queued = {.event.type = ACM_EVENT_WRITABLE};
	int error;

	if (transport->writable_queued)
		return 0;
	error = sim_transport_push(transport, &queued);
	transport->writable_queued = !error;
	return error;
}

static bool receive(struct sim_queue_pair *queue_pair, struct sim_packet *packet)
{
	const struct acm_port_facts *facts = queue_pair->options.facts;
	bool multicast = packet->dlid >= ACM_LID_MULTICAST;
	struct sim_queued_event queued = {.queue_pair = queue_pair, .packet = packet};

	queued.event.type = ACM_EVENT_DATAGRAM;
	queued.event.datagram = (struct acm_datagram_received){
		.endpoint = queue_pair->options.endpoint,
		.slid = packet->slid,
		.sl = packet->sl,
		.dlid_path_bits = (uint8_t)(multicast ? 0 : packet->dlid - facts->lid),
		.source_qpn = packet->source_qpn,
		.sgid = packet->sgid,
		.dgid = packet->dgid,
		.flow_label = packet->flow_label,
		.hop_limit = packet->hop_limit,
		.traffic_class = packet->traffic_class,
		.payload = packet->payload,
		.length = packet->length,
	};
	return sim_transport_push(queue_pair->options.owner, &queued) == 0;
}

static void writable(struct sim_queue_pair *queue_pair)
{
	/* Without memory it stays blocked, until the next of its datagrams has arrived. */
	if (push_writable(queue_pair->options.owner))
		queue_pair->blocked = true;
}

const struct sim_dataplane_hooks sim_transport_hooks = {
	.receive = receive,
	.writable = writable,
};

int sim_transport_sa_answered(struct sim_transport *transport, uint64_t cookie, const uint8_t *mad,
			      uint32_t length)
{
	struct sim_queued_event queued = {.event.type = ACM_EVENT_SA_ANSWER, .mad = malloc(length)};
	int error = -ENOMEM;

	if (queued.mad) {
		memcpy(queued.mad, mad, length);
		queued.event.sa.cookie = cookie;
		queued.event.sa.mad = queued.mad;
		queued.event.sa.length = length;
		error = sim_transport_push(transport, &queued);
	}
	if (error)
		free(queued.mad);
	return error;
}

int sim_transport_sa_failed(struct sim_transport *transport, uint64_t cookie, int status)
{
	struct sim_queued_event queued = {.event.type = ACM_EVENT_SA_FAILED};

	queued.event.failed.cookie = cookie;
	queued.event.failed.status = status;
	return sim_transport_push(transport, &queued);
}

static void forget_refused(struct sim_transport *transport)
{
	struct sim_transport **link = &transport->core->sa_refused;

	while (*link && *link != transport)
		link = &(*link)->next_refused;
	if (*link)
		*link = transport->next_refused;
	transport->sa_refused = false;
}

int sim_transport_sa_writable(struct sim_fabric_core *core)
{
	while (core->sa_refused) {
		int error = push_writable(core->sa_refused);

		if (error)
			return error;
		forget_refused(core->sa_refused);
	}
	return 0;
}

/* ---- operations ---- */

static void capabilities(const struct acm_transport *transport, struct acm_transport_caps *caps)
{
	(void)transport;
	*caps = (struct acm_transport_caps){
		.flags = ACM_TRANSPORT_SELF_DELIVERY | ACM_TRANSPORT_ASYNC_PORTS,
		.fd = -1,
		.sa_window = SA_WINDOW,
	};
}

static void set_wake(struct acm_transport *base, void (*wake)(void *context), void *context)
{
	struct sim_transport *transport = enter(base);

	transport->wake = wake;
	transport->wake_context = context;
}

static int start(struct acm_transport *base)
{
	struct sim_transport *transport = enter(base);
	int error = 0;

	transport->started = true;
	for (uint32_t port = 0; port < transport->port_count && !error; port++)
		error = sim_transport_push_port(transport, port);
	return error;
}

/* SIM_NONE: there is none. */
static uint32_t find_endpoint(const struct sim_transport *transport, uint32_t endpoint)
{
	for (uint32_t i = 0; i < transport->endpoint_count; i++) {
		if (transport->endpoints[i]->options.endpoint == endpoint)
			return i;
	}
	return SIM_NONE;
}

static int make_endpoint_room(struct sim_transport *transport)
{
	uint32_t room = transport->endpoint_room ? transport->endpoint_room * 2 : 4;
	struct sim_queue_pair **endpoints;

	if (transport->endpoint_count < transport->endpoint_room)
		return 0;
	endpoints = reallocarray(transport->endpoints, room, sizeof(struct sim_queue_pair *));
	if (!endpoints)
		return -ENOMEM;
	transport->endpoints = endpoints;
	transport->endpoint_room = room;
	return 0;
}

static int open_queue_pair(struct sim_transport *transport,
			   const struct sim_queue_pair_options *options)
{
	struct sim_queue_pairs *pairs = &transport->core->plane.pairs;
	struct sim_queued_event queued = {.event.type = ACM_EVENT_ENDPOINT_OPENED};
	int error = make_endpoint_room(transport);

	if (error)
		return error;
	queued.queue_pair = sim_queue_pairs_open(pairs, options);
	if (!queued.queue_pair)
		return -ENOMEM;
	queued.event.opened.endpoint = options->endpoint;
	queued.event.opened.qpn = queued.queue_pair->number;
	error = sim_transport_push(transport, &queued);
	if (error)
		sim_queue_pairs_close(pairs, queued.queue_pair);
	else
		transport->endpoints[transport->endpoint_count++] = queued.queue_pair;
	return error;
}

static int open_endpoint(struct acm_transport *base, uint32_t endpoint, uint32_t port,
			 uint16_t pkey, uint32_t qkey, uint32_t recv_depth)
{
	struct sim_transport *transport = enter(base);
	struct sim_queue_pair_options options = {
		.recv_depth = recv_depth, .qkey = qkey, .owner = transport, .endpoint = endpoint};
	int pkey_index;

	if (find_endpoint(transport, endpoint) != SIM_NONE)
		return -EEXIST;
	if (port >= transport->port_count)
		return -ENODEV;
	options.facts = &transport->facts[port];
	pkey_index = sim_queue_pair_pkey_index(options.facts, pkey);
	if (pkey_index < 0)
		return pkey_index;
	options.pkey_index = (uint16_t)pkey_index;
	options.port = sim_wiring_index(&transport->core->plane.wiring, transport->node, port + 1);
	return open_queue_pair(transport, &options);
}

static bool is_about(const struct sim_queued_event *queued, const void *argument)
{
	return queued->queue_pair == argument;
}

static void close_at(struct sim_transport *transport, uint32_t place)
{
	struct sim_queue_pair *closed = transport->endpoints[place];
	struct sim_dataplane *plane = &transport->core->plane;

	sim_transport_events_remove(&transport->events, &plane->packets, is_about, closed);
	transport->endpoints[place] = transport->endpoints[--transport->endpoint_count];
	sim_queue_pairs_close(&plane->pairs, closed);
}

static void close_endpoint(struct acm_transport *base, uint32_t endpoint)
{
	struct sim_transport *transport = enter(base);
	uint32_t place = find_endpoint(transport, endpoint);

	if (place != SIM_NONE)
		close_at(transport, place);
}

static int send(struct acm_transport *base, const struct acm_datagram *datagram, uint64_t cookie)
{
	struct sim_transport *transport = enter(base);
	uint32_t place = find_endpoint(transport, datagram->endpoint);

	(void)cookie; /* what a fabric loses, it does not tell the sender of */
	if (place == SIM_NONE)
		return -ENOENT;
	return sim_dataplane_send(&transport->core->plane, transport->endpoints[place], datagram,
				  transport->core->now);
}

/* What goes to the control: to the SA where there is no route. */
struct control_request {
	uint32_t port;
	uint16_t pkey_index; /* of the SA's */
	const struct sim_mad_route *route;
	const uint8_t *mad;
};

static int hand_to_control(struct sim_transport *transport, const struct control_request *request,
			   uint64_t fabric_cookie)
{
	struct sim_control *control = transport->core->control;
	struct sim_port_ref from = {.node = transport->node, .port = (uint8_t)(request->port + 1)};
	int error;

	if (!request->route)
		error = control->ops->sa_send(control, from, request->pkey_index, request->mad,
					      fabric_cookie);
	else if (control->ops->mad_send)
		error = control->ops->mad_send(control, from, request->route, request->mad,
					       fabric_cookie);
	else
		error = -EOPNOTSUPP;
	if (error == -EAGAIN && !transport->sa_refused) {
		transport->sa_refused = true;
		transport->next_refused = transport->core->sa_refused;
		transport->core->sa_refused = transport;
	}
	return error;
}

static int begin_transaction(struct sim_transport *transport, const struct control_request *request,
			     uint64_t cookie)
{
	struct sim_fabric_core *core = transport->core;
	struct sim_transport *owner;
	uint64_t fabric_cookie;
	int error;

	if (request->port >= transport->port_count)
		return -ENODEV;
	error = sim_transactions_add(&core->transactions, transport, &transport->transactions,
				     cookie, &fabric_cookie);
	if (error)
		return error;
	error = hand_to_control(transport, request, fabric_cookie);
	if (error)
		sim_transactions_take(&core->transactions, fabric_cookie, &owner, &cookie);
	else
		core->plane.stats.sa_sent++;
	return error;
}

static int sa_send(struct acm_transport *base, uint32_t port, uint16_t pkey_index,
		   const uint8_t *mad, uint64_t cookie)
{
	struct control_request request = {.port = port, .pkey_index = pkey_index, .mad = mad};

	return begin_transaction(enter(base), &request, cookie);
}

int sim_fabric_send_mad(struct acm_transport *base, uint32_t port,
			const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie)
{
	struct control_request request = {.port = port, .route = route, .mad = mad};

	return begin_transaction(enter(base), &request, cookie);
}

static void cancel(struct sim_transport *transport, uint64_t fabric_cookie)
{
	struct sim_fabric_core *core = transport->core;
	struct sim_transport *owner;
	uint64_t cookie;

	core->control->ops->sa_cancel(core->control, fabric_cookie);
	sim_transactions_take(&core->transactions, fabric_cookie, &owner, &cookie);
	/* Whoever cannot be told for lack of memory is told with the next answer. */
	sim_transport_sa_writable(core);
}

static bool is_sa_event_of(const struct sim_queued_event *queued, const void *argument)
{
	const uint64_t *cookie = argument;

	return (queued->event.type == ACM_EVENT_SA_ANSWER && queued->event.sa.cookie == *cookie) ||
	       (queued->event.type == ACM_EVENT_SA_FAILED &&
		queued->event.failed.cookie == *cookie);
}

static void sa_cancel(struct acm_transport *base, uint64_t cookie)
{
	struct sim_transport *transport = enter(base);
	struct sim_fabric_core *core = transport->core;
	uint64_t fabric_cookie =
		sim_transactions_find(&core->transactions, &transport->transactions, cookie);

	if (fabric_cookie)
		cancel(transport, fabric_cookie);
	sim_transport_events_remove(&transport->events, &core->plane.packets, is_sa_event_of,
				    &cookie);
}

static int attach(struct acm_transport *base, uint32_t endpoint, const struct acm_gid *mgid,
		  uint16_t mlid, uint64_t cookie)
{
	struct sim_transport *transport = enter(base);
	struct sim_queue_pairs *pairs = &transport->core->plane.pairs;
	struct sim_queued_event queued = {.event.type = ACM_EVENT_ATTACHED};
	uint32_t place = find_endpoint(transport, endpoint);
	int error;

	if (place == SIM_NONE)
		return -ENOENT;
	if (mgid->raw[0] != 0xff || mlid < ACM_LID_MULTICAST || mlid == ACM_LID_PERMISSIVE)
		return -EINVAL;
	queued.queue_pair = transport->endpoints[place];
	queued.event.attached.cookie = cookie;
	error = sim_queue_pairs_attach(pairs, queued.queue_pair, mgid, mlid);
	if (error)
		return error;
	error = sim_transport_push(transport, &queued);
	if (error)
		sim_queue_pairs_detach(pairs, queued.queue_pair, mgid, mlid);
	return error;
}

static int detach(struct acm_transport *base, uint32_t endpoint, const struct acm_gid *mgid,
		  uint16_t mlid)
{
	struct sim_transport *transport = enter(base);
	uint32_t place = find_endpoint(transport, endpoint);

	if (place == SIM_NONE)
		return -ENOENT;
	return sim_queue_pairs_detach(&transport->core->plane.pairs, transport->endpoints[place],
				      mgid, mlid);
}

static int next_event(struct acm_transport *base, struct acm_event *event)
{
	struct sim_transport *transport = enter(base);
	struct sim_queued_event *pulled = &transport->pulled;

	if (!sim_transport_events_pop(&transport->events, pulled))
		return 0;
	if (pulled->event.type == ACM_EVENT_WRITABLE) {
		transport->writable_queued = false;
	} else if (pulled->event.type == ACM_EVENT_DATAGRAM) {
		pulled->queue_pair->held--;
	} else if (pulled->event.type == ACM_EVENT_PORT_CHANGED) {
		transport->pulled_facts = transport->facts[pulled->port];
		pulled->event.port_facts = &transport->pulled_facts;
	}
	*event = pulled->event;
	return 1;
}

static void destroy(struct acm_transport *base)
{
	struct sim_transport *transport = enter(base);
	struct sim_fabric_core *core = transport->core;
	uint64_t fabric_cookie;

	while ((fabric_cookie =
			sim_transactions_first(&core->transactions, &transport->transactions)))
		cancel(transport, fabric_cookie);
	while (transport->endpoint_count)
		close_at(transport, transport->endpoint_count - 1);
	sim_transport_events_free(&transport->events, &core->plane.packets);
	forget_refused(transport);
	sim_tenants_leave(transport);
	free(transport->endpoints);
	free(transport->facts);
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

static int read_facts(struct sim_transport *transport)
{
	struct sim_control *control = transport->core->control;
	int error = 0;

	for (uint32_t port = 0; port < transport->port_count && !error; port++) {
		struct sim_port_ref ref = {.node = transport->node, .port = (uint8_t)(port + 1)};

		error = control->ops->port_facts(control, ref, &transport->facts[port]);
		transport->facts[port].port = port;
	}
	return error;
}

int sim_transport_create(struct sim_fabric_core *core, uint32_t node, enum sim_tenancy tenancy,
			 struct acm_transport **transport)
{
	struct sim_transport *made;
	int error = -ENOMEM;

	if (tenancy == SIM_TENANCY_OWNER && core->tenants[node].owner)
		return -EBUSY;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->base.ops = &operations;
	made->core = core;
	made->node = node;
	made->port_count = core->topology->nodes[node].port_count;
	made->transactions.first = SIM_NONE;
	made->facts = calloc(made->port_count + 1u, sizeof(*made->facts));
	if (made->facts)
		error = read_facts(made);
	if (error) {
		free(made->facts);
		free(made);
		return error;
	}
	sim_tenants_enter(made, tenancy);
	*transport = &made->base;
	return 0;
}
