/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who uses a node, and what all of them are told. */
#include "sim_transport_state.h"

static bool is_change_of(const struct sim_queued_event *queued, const void *argument)
{
	const uint32_t *port = argument;

	return queued->event.type == ACM_EVENT_PORT_CHANGED && queued->port == *port;
}

/* The facts are read when the event is pulled: one that waits covers all changes until then. */
int sim_transport_push_port(struct sim_transport *transport, uint32_t port)
{
	struct sim_queued_event queued = {.event.type = ACM_EVENT_PORT_CHANGED, .port = port};

	if (sim_transport_events_find(&transport->events, is_change_of, &port))
		return 0;
	return sim_transport_push(transport, &queued);
}

static int take_port(struct sim_transport *transport, uint32_t port,
		     const struct acm_port_facts *facts)
{
	transport->facts[port] = *facts;
	transport->facts[port].port = port;
	return transport->started ? sim_transport_push_port(transport, port) : 0;
}

int sim_transport_port_changed(struct sim_fabric_core *core, struct sim_port_ref port,
			       const struct acm_port_facts *facts)
{
	struct sim_transport *transport = core->tenants[port.node].first;
	int error = 0;

	for (; transport && !error; transport = transport->next)
		error = take_port(transport, port.port - 1u, facts);
	return error;
}

static bool is_reregister_of(const struct sim_queued_event *queued, const void *argument)
{
	const uint32_t *port = argument;

	return queued->event.type == ACM_EVENT_REREGISTER && queued->event.port == *port;
}

/* One that waits stands for all until then: who does not look does not pile them up. */
static int push_reregister(struct sim_transport *transport, uint32_t port)
{
	struct sim_queued_event queued = {.event.type = ACM_EVENT_REREGISTER};

	queued.event.port = port;
	if (sim_transport_events_find(&transport->events, is_reregister_of, &port))
		return 0;
	return sim_transport_push(transport, &queued);
}

int sim_transport_reregister(struct sim_fabric_core *core, struct sim_port_ref port)
{
	struct sim_transport *transport = core->tenants[port.node].first;
	int error = 0;

	for (; transport && !error; transport = transport->next)
		if (transport->started)
			error = push_reregister(transport, port.port - 1u);
	return error;
}

uint32_t sim_tenants_count(const struct sim_tenants *tenants)
{
	uint32_t count = 0;

	for (const struct sim_transport *at = tenants->first; at; at = at->next)
		count++;
	return count;
}

void sim_tenants_enter(struct sim_transport *transport, enum sim_tenancy tenancy)
{
	struct sim_tenants *tenants = &transport->core->tenants[transport->node];

	transport->next = tenants->first;
	tenants->first = transport;
	if (tenancy == SIM_TENANCY_OWNER)
		tenants->owner = transport;
}

void sim_tenants_leave(struct sim_transport *transport)
{
	struct sim_tenants *tenants = &transport->core->tenants[transport->node];
	struct sim_transport **at = &tenants->first;

	while (*at != transport)
		at = &(*at)->next;
	*at = transport->next;
	if (tenants->owner == transport)
		tenants->owner = NULL;
}
