/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric.h"

#include "sim_transport.h"

#include <acmite/wire.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct sim_fabric {
	struct sim_fabric_core core;
	int epoll_fd;
	struct sim_port_traffic *counted_from; /* by port index: where its counters began */
	int error;                             /* what ended it */
	char failure[1024];
};

/* ---- making and ending ---- */

static void free_parts(struct sim_fabric *fabric)
{
	sim_dataplane_free(&fabric->core.plane);
	sim_transactions_free(&fabric->core.transactions);
	free(fabric->core.tenants);
	free(fabric->counted_from);
	if (fabric->epoll_fd >= 0)
		close(fabric->epoll_fd);
	free(fabric);
}

static int watch_control(struct sim_fabric *fabric)
{
	struct sim_control *control = fabric->core.control;
	struct epoll_event event = {.events = EPOLLIN};
	int fd = control->ops->fd(control);

	fabric->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (fabric->epoll_fd < 0)
		return -errno;
	/* A control without one has only its deadline. */
	if (fd >= 0 && epoll_ctl(fabric->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return -errno;
	return 0;
}

static int read_port(struct sim_fabric *fabric, struct sim_port_ref port,
		     struct acm_port_facts *facts)
{
	struct sim_dataplane *plane = &fabric->core.plane;
	struct sim_control *control = fabric->core.control;
	uint32_t index = sim_wiring_index(&plane->wiring, port.node, port.port);
	int error = control->ops->port_facts(control, port, facts);

	if (!error)
		plane->ports[index] =
			(struct sim_port_state){.lid = facts->lid,
						.lmc = facts->lmc,
						.state = facts->state,
						.starved = plane->ports[index].starved};
	return error;
}

static int read_ports(struct sim_fabric *fabric)
{
	const struct sim_topology *topology = fabric->core.topology;
	struct acm_port_facts facts;

	for (uint32_t node = 0; node < topology->node_count; node++) {
		if (topology->nodes[node].kind != SIM_HOST)
			continue;
		for (uint32_t port = 1; port <= topology->nodes[node].port_count; port++) {
			struct sim_port_ref ref = {.node = node, .port = (uint8_t)port};
			int error = read_port(fabric, ref, &facts);

			if (error)
				return error;
		}
	}
	return 0;
}

int sim_fabric_create(const struct sim_topology *topology, struct sim_control *control,
		      uint64_t seed, struct sim_fabric **fabric)
{
	struct sim_fabric *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return -ENOMEM;
	made->epoll_fd = -1;
	made->core.topology = topology;
	made->core.control = control;
	sim_transactions_init(&made->core.transactions);
	error = sim_dataplane_init(&made->core.plane, topology, seed, &sim_transport_hooks);
	if (error) {
		free(made);
		return error;
	}
	made->core.tenants = calloc((size_t)topology->node_count + 1, sizeof(struct sim_tenants));
	made->counted_from =
		calloc((size_t)made->core.plane.wiring.port_count + 1, sizeof(*made->counted_from));
	error = made->core.tenants && made->counted_from ? watch_control(made) : -ENOMEM;
	if (!error)
		error = read_ports(made);
	if (error) {
		free_parts(made);
		return error;
	}
	sim_dataplane_set_tables(&made->core.plane, control->ops->tables(control));
	*fabric = made;
	return 0;
}

void sim_fabric_destroy(struct sim_fabric *fabric)
{
	for (uint32_t node = 0; node < fabric->core.topology->node_count; node++)
		assert(!fabric->core.tenants[node].first);
	fabric->core.control->ops->destroy(fabric->core.control);
	free_parts(fabric);
}

static int attach(struct sim_fabric *fabric, const char *node, enum sim_tenancy tenancy,
		  struct acm_transport **transport)
{
	uint32_t index = sim_topology_find(fabric->core.topology, node);

	if (index == SIM_NONE)
		return -ENOENT;
	if (fabric->core.topology->nodes[index].kind != SIM_HOST)
		return -ENODEV;
	return sim_transport_create(&fabric->core, index, tenancy, transport);
}

int sim_fabric_attach(struct sim_fabric *fabric, const char *node, struct acm_transport **transport)
{
	return attach(fabric, node, SIM_TENANCY_OWNER, transport);
}

int sim_fabric_attach_program(struct sim_fabric *fabric, const char *node,
			      struct acm_transport **transport)
{
	return attach(fabric, node, SIM_TENANCY_PROGRAM, transport);
}

const struct sim_fabric_core *sim_fabric_core(const struct sim_fabric *fabric)
{
	return &fabric->core;
}

/* ---- running ---- */

int sim_fabric_fd(const struct sim_fabric *fabric)
{
	return fabric->epoll_fd;
}

uint64_t sim_fabric_deadline(const struct sim_fabric *fabric)
{
	struct sim_control *control = fabric->core.control;
	uint64_t control_deadline, arrival;

	if (fabric->error)
		return ACM_NEVER;
	control_deadline = control->ops->deadline(control);
	arrival = sim_dataplane_next(&fabric->core.plane);
	return control_deadline < arrival ? control_deadline : arrival;
}

/* A join or leave, or what was asked about a group: attribute in bytes 16 and 17 of the MAD. */
static bool is_of_group(const struct sim_control_event *event)
{
	return event->length >= 18 && event->mad[16] == 0 &&
	       event->mad[17] == ACM_SA_ATTRIBUTE_MCMEMBER;
}

static int take_sa_answer(struct sim_fabric *fabric, const struct sim_control_event *event)
{
	struct sim_control *control = fabric->core.control;
	bool of_group = is_of_group(event);
	struct sim_transport *owner;
	uint64_t cookie;
	int error;

	if (!sim_transactions_take(&fabric->core.transactions, event->cookie, &owner, &cookie))
		return 0;
	fabric->core.plane.stats.sa_answered++;
	error = sim_transport_sa_answered(owner, cookie, event->mad, event->length);
	if (of_group)
		control->ops->refresh(control);
	return error;
}

static int take_sa_failure(struct sim_fabric *fabric, const struct sim_control_event *event)
{
	struct sim_transport *owner;
	uint64_t cookie;

	if (!sim_transactions_take(&fabric->core.transactions, event->cookie, &owner, &cookie))
		return 0;
	fabric->core.plane.stats.sa_failed++;
	return sim_transport_sa_failed(owner, cookie, event->status);
}

static int take_port(struct sim_fabric *fabric, struct sim_port_ref port)
{
	struct acm_port_facts facts;
	int error = read_port(fabric, port, &facts);

	return error ? error : sim_transport_port_changed(&fabric->core, port, &facts);
}

static int take_event(struct sim_fabric *fabric, const struct sim_control_event *event)
{
	switch (event->type) {
	case SIM_CONTROL_SA_ANSWER:
		return take_sa_answer(fabric, event);
	case SIM_CONTROL_SA_FAILED:
		return take_sa_failure(fabric, event);
	case SIM_CONTROL_PORT:
		return take_port(fabric, event->port);
	case SIM_CONTROL_REREGISTER:
		return sim_transport_reregister(&fabric->core, event->port);
	case SIM_CONTROL_TABLES:
		return 0; /* they are looked at anew in every round */
	case SIM_CONTROL_DIED:
		snprintf(fabric->failure, sizeof(fabric->failure), "%s", event->text);
		return -EIO;
	}
	return 0;
}

static int run_control(struct sim_fabric *fabric, uint64_t now)
{
	struct sim_control *control = fabric->core.control;
	uint32_t in_flight = fabric->core.transactions.count;
	struct sim_control_event event;
	int error = control->ops->process(control, now);

	sim_dataplane_set_tables(&fabric->core.plane, control->ops->tables(control));
	while (!error && control->ops->next_event(control, &event))
		error = take_event(fabric, &event);
	/* Something ended, so that there is room; or nothing is left that could end. */
	if (!error &&
	    (fabric->core.transactions.count < in_flight || !fabric->core.transactions.count))
		error = sim_transport_sa_writable(&fabric->core);
	return error;
}

int sim_fabric_process(struct sim_fabric *fabric, uint64_t now)
{
	if (fabric->error)
		return fabric->error;
	if (now > fabric->core.now)
		fabric->core.now = now;
	fabric->error = run_control(fabric, now);
	if (fabric->error && !fabric->failure[0])
		snprintf(fabric->failure, sizeof(fabric->failure), "the fabric cannot go on: %s",
			 strerror(-fabric->error));
	if (fabric->error)
		return fabric->error;
	while (sim_dataplane_arrive(&fabric->core.plane, fabric->core.now))
		;
	return 0;
}

const char *sim_fabric_failure(const struct sim_fabric *fabric)
{
	return fabric->error ? fabric->failure : NULL;
}

/* ---- counting, and faults ---- */

const char *sim_drop_name(enum sim_drop cause)
{
	static const char *const names[SIM_DROP_COUNT] = {
		[SIM_DROP_NO_ROUTE] = "no_route", [SIM_DROP_HOP_LIMIT] = "hop_limit",
		[SIM_DROP_LINK] = "link",         [SIM_DROP_LOSS] = "loss",
		[SIM_DROP_PKEY] = "pkey",         [SIM_DROP_QKEY] = "qkey",
		[SIM_DROP_NO_QP] = "no_qp",       [SIM_DROP_NO_BUFFER] = "no_buffer",
		[SIM_DROP_MTU] = "mtu",
	};

	return cause < SIM_DROP_COUNT ? names[cause] : "unknown";
}

void sim_fabric_stats(const struct sim_fabric *fabric, struct sim_fabric_stats *stats)
{
	*stats = fabric->core.plane.stats;
}

/* Since the fabric began. */
static void read_carried(const struct sim_wiring *wiring, uint32_t index,
			 struct sim_port_traffic *traffic)
{
	const struct sim_exit *way = &wiring->exits[index], *back;

	*traffic = (struct sim_port_traffic){.sent_packets = way->carried_packets,
					     .sent_bytes = way->carried_bytes,
					     .discards = way->discards};
	if (way->node == SIM_NONE)
		return;
	back = &wiring->exits[way->index];
	traffic->received_packets = back->carried_packets;
	traffic->received_bytes = back->carried_bytes;
}

static void subtract(struct sim_port_traffic *traffic, const struct sim_port_traffic *less)
{
	traffic->sent_packets -= less->sent_packets;
	traffic->sent_bytes -= less->sent_bytes;
	traffic->received_packets -= less->received_packets;
	traffic->received_bytes -= less->received_bytes;
	traffic->discards -= less->discards;
}

void sim_fabric_traffic(void *context, uint32_t node, uint8_t port,
			struct sim_port_traffic *traffic)
{
	const struct sim_fabric *fabric = context;
	const struct sim_wiring *wiring = &fabric->core.plane.wiring;
	uint32_t index = sim_wiring_index(wiring, node, port);

	*traffic = (struct sim_port_traffic){0};
	if (index == SIM_NONE)
		return;
	read_carried(wiring, index, traffic);
	subtract(traffic, &fabric->counted_from[index]);
}

void sim_fabric_set_traffic(void *context, uint32_t node, uint8_t port,
			    const struct sim_port_traffic *traffic)
{
	struct sim_fabric *fabric = context;
	const struct sim_wiring *wiring = &fabric->core.plane.wiring;
	uint32_t index = sim_wiring_index(wiring, node, port);

	if (index == SIM_NONE)
		return;
	/* Below zero where it is set to more than was carried: unsigned, what is read is right. */
	read_carried(wiring, index, &fabric->counted_from[index]);
	subtract(&fabric->counted_from[index], traffic);
}

int sim_fabric_cut_link(struct sim_fabric *fabric, uint32_t node, uint8_t port)
{
	return sim_wiring_cut(&fabric->core.plane.wiring, node, port);
}

int sim_fabric_mend_link(struct sim_fabric *fabric, uint32_t node, uint8_t port)
{
	return sim_wiring_mend(&fabric->core.plane.wiring, node, port);
}

int sim_fabric_inject(struct sim_fabric *fabric, uint32_t node, uint64_t draw,
		      const uint8_t *payload, uint16_t length)
{
	struct sim_control *control = fabric->core.control;
	struct sim_port_ref port = {.node = node, .port = 1};
	struct acm_port_facts facts;
	int error = control->ops->port_facts(control, port, &facts);

	if (error || facts.state != ACM_PORT_ACTIVE)
		return error;
	return sim_dataplane_inject(&fabric->core.plane,
				    sim_wiring_index(&fabric->core.plane.wiring, node, 1), &facts,
				    draw, payload, length, fabric->core.now);
}

int sim_fabric_set_starved(struct sim_fabric *fabric, uint32_t node, bool starved)
{
	struct sim_dataplane *plane = &fabric->core.plane;
	const struct sim_topology *topology = fabric->core.topology;

	if (node >= topology->node_count || topology->nodes[node].kind != SIM_HOST)
		return -ENODEV;
	for (uint32_t port = 1; port <= topology->nodes[node].port_count; port++)
		plane->ports[sim_wiring_index(&plane->wiring, node, port)].starved = starved;
	return 0;
}

void sim_fabric_set_meddler(struct sim_fabric *fabric, const struct sim_meddler *meddler)
{
	fabric->core.plane.walk.meddler = *meddler;
}
