/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports: what changes in their facts means for endpoints, memberships and what was learned. */
#include "core.h"
#include "memory.h"
#include "partition.h"

#include <string.h>

/* The unit of the subnet time-out (IBA vol. 1, 14.2.5.6): 4.096 us times a power of two. */
#define SUBNET_TIMEOUT_UNIT UINT64_C(4096)

static struct acm_port *find_port(const struct acm_engine *engine, uint32_t number)
{
	struct acm_port *port = engine->ports;

	while (port && port->facts.port != number)
		port = port->next;
	return port;
}

bool acm_port_active(const struct acm_port *port)
{
	return port->facts.state == ACM_PORT_ACTIVE && port->facts.lid && port->facts.sm_lid &&
	       port->facts.gid_count;
}

bool acm_port_has_lid(const struct acm_port *port, uint16_t lid)
{
	return lid >= port->facts.lid && lid - port->facts.lid < 1 << port->facts.lmc;
}

uint64_t acm_port_packet_life(const struct acm_port *port)
{
	uint8_t exponent = port->facts.subnet_timeout < 32 ? port->facts.subnet_timeout : 31;

	return SUBNET_TIMEOUT_UNIT << exponent;
}

int acm_port_gid_index(const struct acm_port *port, const struct acm_gid *gid)
{
	for (uint16_t i = 0; i < port->facts.gid_count; i++) {
		if (!memcmp(&port->facts.gids[i], gid, sizeof(*gid)))
			return i;
	}
	return -1;
}

static struct acm_port *port_create(struct acm_engine *engine, uint32_t number)
{
	struct acm_port *port = acm_memory_new(&engine->allocator, sizeof(*port));
	struct acm_port **at = &engine->ports;

	if (!port)
		return NULL;
	port->facts.port = number;
	port->window = engine->config.sa_depth;
	while (*at && (*at)->facts.port < number)
		at = &(*at)->next;
	port->next = *at;
	*at = port;
	return port;
}

static void trace_port(struct acm_engine *engine, const struct acm_port_facts *facts)
{
	struct acm_trace *trace = acm_engine_trace(engine, ACM_TRACE_PORT);

	if (!trace)
		return;
	trace->port = facts->port;
	trace->value = facts->state;
	trace->lid = facts->lid;
	trace->gid = facts->gids[0];
}

/* Index of the table entry that stands for the endpoint's partition now, -1. */
static int represented_by(const struct acm_port_facts *facts, uint16_t pkey)
{
	for (uint16_t i = 0; i < facts->pkey_count; i++) {
		if (acm_partition_equal(facts->pkeys[i], pkey) &&
		    acm_partition_represents(facts, i))
			return i;
	}
	return -1;
}

static void match_partitions(struct acm_engine *engine, struct acm_port *port)
{
	struct acm_endpoint *next;

	for (struct acm_endpoint *at = engine->endpoints; at; at = next) {
		int index = represented_by(&port->facts, at->pkey);

		next = at->next;
		if (at->port != port)
			continue;
		if (index < 0) {
			acm_endpoint_destroy(engine, at);
		} else if (index != at->pkey_index || port->facts.pkeys[index] != at->pkey) {
			at->pkey_index = (uint16_t)index;
			at->pkey = port->facts.pkeys[index];
			at->route_epoch++;
			acm_endpoint_reopen(engine, at);
		}
	}
	for (uint16_t i = 0; i < port->facts.pkey_count; i++) {
		if (acm_partition_represents(&port->facts, i) &&
		    !acm_endpoint_of(engine, port, port->facts.pkeys[i]) &&
		    !acm_endpoint_create(engine, port, i))
			acm_ports_repair_later(engine);
	}
	/* Which endpoint stands for "the default one" may have changed. */
	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		if (at->port == port)
			acm_local_address_apply(engine, at);
	}
}

/* What the difference between old and new facts puts in doubt. */
struct doubt {
	bool routes;
	bool addresses;
	bool memberships;
};

static struct doubt doubt_of(const struct acm_engine *engine, const struct acm_port_facts *old,
			     const struct acm_port_facts *new)
{
	bool gid = memcmp(&old->gids[0], &new->gids[0], sizeof(old->gids[0])) != 0;
	bool table = old->gid_count != new->gid_count ||
		     memcmp(old->gids, new->gids, sizeof(old->gids)) != 0;
	bool subnet = memcmp(&old->gids[0], &new->gids[0], 8) != 0;
	bool sm = old->sm_lid != new->sm_lid;
	bool lid = old->lid != new->lid || old->lmc != new->lmc;
	bool link = old->state != new->state || old->mtu != new->mtu || old->rate != new->rate;
	struct doubt doubt = {.memberships = gid || sm || lid,
			      .routes = table || sm || lid || link,
			      .addresses = subnet};

	/* Without the SA, what was learned as an address is the route. */
	if (engine->config.route_protocol == ACM_ROUTE_ACM && doubt.routes)
		doubt.addresses = true;
	return doubt;
}

static void refresh_endpoint(struct acm_engine *engine, struct acm_endpoint *endpoint,
			     const struct doubt *doubt)
{
	endpoint->route_epoch = (uint16_t)(endpoint->route_epoch + doubt->routes);
	if (doubt->addresses)
		acm_endpoint_doubt_addresses(engine, endpoint);
	if (!acm_port_active(endpoint->port)) {
		acm_endpoint_suspend(engine, endpoint);
		return;
	}
	for (uint8_t i = 0; doubt->memberships && i < endpoint->group_count; i++) {
		if (endpoint->groups[i].state != ACM_GROUP_OFF)
			acm_group_join(engine, &endpoint->groups[i]);
	}
	if (doubt->routes)
		acm_lookups_ask_anew(engine, endpoint);
	acm_endpoint_update(engine, endpoint);
}

void acm_port_changed(struct acm_engine *engine, const struct acm_port_facts *facts)
{
	struct acm_port *port = find_port(engine, facts->port);
	struct doubt doubt;

	if (!port)
		port = port_create(engine, facts->port);
	if (!port) {
		acm_engine_trace_dropped(engine, 0, "no memory for a port");
		return;
	}
	doubt = doubt_of(engine, &port->facts, facts);
	if (port->facts.state != facts->state || port->facts.lid != facts->lid)
		trace_port(engine, facts);
	port->facts = *facts;
	if (acm_port_active(port))
		match_partitions(engine, port);
	else
		acm_leaves_forget(engine, port); /* the SM drops the members itself */
	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		if (at->port == port)
			refresh_endpoint(engine, at, &doubt);
	}
}

void acm_ports_repair_later(struct acm_engine *engine)
{
	acm_deadlines_arm(&engine->deadlines, &engine->repair,
			  engine->now + engine->config.join_backoff_min);
}

void acm_ports_repair(struct acm_engine *engine)
{
	for (struct acm_port *port = engine->ports; port; port = port->next) {
		if (!acm_port_active(port))
			continue;
		match_partitions(engine, port);
		for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
			if (at->port == port)
				acm_endpoint_update(engine, at);
		}
	}
}

void acm_port_reregister(struct acm_engine *engine, uint32_t number)
{
	struct acm_port *port = find_port(engine, number);

	if (!port || !acm_port_active(port))
		return;
	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		if (at->port != port)
			continue;
		/* The SM that asks may be another, with other LIDs for other ports. */
		at->route_epoch++;
		if (engine->config.route_protocol == ACM_ROUTE_ACM)
			acm_endpoint_doubt_addresses(engine, at);
		/* One that is being opened joins when it is. */
		for (uint8_t i = 0; at->state == ACM_ENDPOINT_OPEN && i < at->group_count; i++)
			acm_group_join(engine, &at->groups[i]);
		acm_lookups_ask_anew(engine, at);
	}
}

static void port_destroy(struct acm_engine *engine, struct acm_port *port)
{
	struct acm_port **at = &engine->ports;
	struct acm_endpoint *next;

	port->facts.state = ACM_PORT_DOWN; /* nothing is sent any more */
	for (struct acm_endpoint *endpoint = engine->endpoints; endpoint; endpoint = next) {
		next = endpoint->next;
		if (endpoint->port == port)
			acm_endpoint_destroy(engine, endpoint);
	}
	acm_leaves_forget(engine, port);
	while (*at != port)
		at = &(*at)->next;
	*at = port->next;
	acm_memory_free(&engine->allocator, port, sizeof(*port));
}

void acm_port_removed(struct acm_engine *engine, uint32_t number)
{
	struct acm_port *port = find_port(engine, number);

	if (port)
		port_destroy(engine, port);
}

void acm_ports_destroy(struct acm_engine *engine)
{
	while (engine->ports)
		port_destroy(engine, engine->ports);
}
