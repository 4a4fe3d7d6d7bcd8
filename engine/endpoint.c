/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An endpoint: a port in one partition, its queue pair, its memberships. */
#include "core.h"
#include "memory.h"
#include "partition.h"

/* Far longer than any transport takes to say whether it has opened a queue pair. */
#define OPEN_TIME (10 * ACM_NSEC_PER_SEC)

struct acm_endpoint *acm_endpoint_find(const struct acm_engine *engine, uint32_t id)
{
	struct acm_endpoint *endpoint = engine->endpoints;

	while (endpoint && endpoint->id != id)
		endpoint = endpoint->next;
	return endpoint;
}

struct acm_endpoint *acm_endpoint_of(const struct acm_engine *engine, const struct acm_port *port,
				     uint16_t pkey)
{
	struct acm_endpoint *first = NULL;

	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		if (at->port != port)
			continue;
		if (acm_partition_equal(at->pkey, pkey ? pkey : ACM_PKEY_DEFAULT))
			return at;
		if (!first)
			first = at;
	}
	return pkey ? NULL : first;
}

bool acm_endpoint_ready(const struct acm_endpoint *endpoint)
{
	return endpoint->state == ACM_ENDPOINT_OPEN && endpoint->group_count &&
	       endpoint->groups[0].state == ACM_GROUP_LIVE;
}

bool acm_endpoint_complete(const struct acm_endpoint *endpoint)
{
	if (!endpoint->address_count)
		return true;
	for (uint8_t i = 0; i < endpoint->group_count; i++) {
		if (endpoint->groups[i].state != ACM_GROUP_LIVE)
			return false;
	}
	return acm_endpoint_ready(endpoint);
}

struct acm_endpoint *acm_endpoint_create(struct acm_engine *engine, struct acm_port *port,
					 uint16_t pkey_index)
{
	struct acm_endpoint *endpoint = acm_memory_new(&engine->allocator, sizeof(*endpoint));
	struct acm_endpoint **at = &engine->endpoints;

	if (!endpoint)
		return NULL;
	if (acm_deadlines_register(&engine->deadlines, &endpoint->timer, ACM_TIMER_ENDPOINT)) {
		acm_memory_free(&engine->allocator, endpoint, sizeof(*endpoint));
		return NULL;
	}
	if (acm_deadlines_register(&engine->deadlines, &endpoint->recovery, ACM_TIMER_RECOVERY)) {
		acm_deadlines_unregister(&engine->deadlines, &endpoint->timer);
		acm_memory_free(&engine->allocator, endpoint, sizeof(*endpoint));
		return NULL;
	}
	acm_multicast_window_init(&endpoint->window, engine->config.resolve_depth,
				  engine->config.recv_depth);
	endpoint->port = port;
	endpoint->id = ++engine->last_endpoint;
	endpoint->pkey_index = pkey_index;
	endpoint->pkey = port->facts.pkeys[pkey_index];
	endpoint->backoff = engine->config.join_backoff_min;
	while (*at)
		at = &(*at)->next;
	*at = endpoint;
	acm_local_address_apply(engine, endpoint);
	return endpoint;
}

static void trace_endpoint(struct acm_engine *engine, const struct acm_endpoint *endpoint,
			   uint64_t value, const char *reason)
{
	struct acm_trace *trace = acm_engine_trace(engine, ACM_TRACE_ENDPOINT);

	if (!trace)
		return;
	trace->endpoint = endpoint->id;
	trace->port = endpoint->port->facts.port;
	trace->pkey = endpoint->pkey;
	trace->qpn = endpoint->qpn;
	trace->value = value;
	trace->reason = reason;
}

static void drop_groups(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	for (uint8_t i = 0; i < endpoint->group_count; i++)
		acm_group_fini(engine, &endpoint->groups[i]);
	endpoint->group_count = 0;
}

static void close_queue_pair(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	if (endpoint->state == ACM_ENDPOINT_CLOSED)
		return;
	for (uint8_t i = 0; i < endpoint->group_count; i++)
		acm_group_detached(engine, &endpoint->groups[i]);
	acm_action_queue_push_promised(&engine->actions, ACM_ACTION_CLOSE_ENDPOINT)
		->action.endpoint = endpoint->id;
	endpoint->state = ACM_ENDPOINT_CLOSED;
	trace_endpoint(engine, endpoint, 0, NULL);
	endpoint->qpn = 0;
}

/* Leaves what it is in, closes the queue pair. */
static void close(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	for (uint8_t i = 0; i < endpoint->group_count; i++)
		acm_group_leave(engine, &endpoint->groups[i]);
	close_queue_pair(engine, endpoint);
	drop_groups(engine, endpoint);
	acm_deadlines_disarm(&engine->deadlines, &endpoint->timer);
}

static void free_addresses(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	size_t n = endpoint->address_capacity;

	acm_memory_free(&engine->allocator, endpoint->address_fingerprints,
			n * sizeof(*endpoint->address_fingerprints));
	acm_memory_free(&engine->allocator, endpoint->addresses, n * sizeof(*endpoint->addresses));
	acm_memory_free(&engine->allocator, endpoint->address_texts,
			n * sizeof(*endpoint->address_texts));
}

void acm_endpoint_destroy(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	struct acm_endpoint **at = &engine->endpoints;

	close(engine, endpoint);
	acm_lookups_fail(engine, endpoint, ACM_STATUS_NOT_CONNECTED);
	acm_destination_cache_forget(&engine->cache, endpoint->id);
	acm_deadlines_unregister(&engine->deadlines, &endpoint->recovery);
	acm_deadlines_unregister(&engine->deadlines, &endpoint->timer);
	while (*at != endpoint)
		at = &(*at)->next;
	*at = endpoint->next;
	free_addresses(engine, endpoint);
	acm_memory_free(&engine->allocator, endpoint, sizeof(*endpoint));
}

static void retry_later(struct acm_engine *engine, struct acm_endpoint *endpoint,
			const char *reason)
{
	trace_endpoint(engine, endpoint, 0, reason);
	endpoint->failed = true;
	acm_deadlines_arm(&engine->deadlines, &endpoint->timer,
			  engine->now + acm_random_jitter(&engine->random, endpoint->backoff));
	endpoint->backoff *= 2;
	if (endpoint->backoff > engine->config.join_backoff_max)
		endpoint->backoff = engine->config.join_backoff_max;
	acm_endpoint_membership_changed(engine, endpoint);
}

static void open(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	struct acm_queued_action *queued = NULL;

	acm_deadlines_disarm(&engine->deadlines, &endpoint->timer);
	if (!acm_action_queue_promise(&engine->actions)) { /* for closing it */
		queued = acm_action_queue_push(&engine->actions, ACM_ACTION_OPEN_ENDPOINT);
		if (!queued)
			acm_action_queue_release(&engine->actions);
	}
	if (!queued) {
		retry_later(engine, endpoint, "no memory");
		return;
	}
	endpoint->state = ACM_ENDPOINT_OPENING;
	acm_deadlines_arm(&engine->deadlines, &endpoint->timer, engine->now + OPEN_TIME);
	queued->action.open.endpoint = endpoint->id;
	queued->action.open.port = endpoint->port->facts.port;
	queued->action.open.pkey = endpoint->pkey;
	queued->action.open.qkey = ACM_QKEY;
	queued->action.open.recv_depth = engine->config.recv_depth;
}

/* The rates and MTUs of the groups that the endpoint is to be in, least preferred first. */
static uint8_t wanted_groups(const struct acm_engine *engine, const struct acm_endpoint *endpoint,
			     uint8_t rates[ACM_GROUPS_MAX], uint8_t mtus[ACM_GROUPS_MAX])
{
	const struct acm_port_facts *facts = &endpoint->port->facts;

	rates[0] = engine->config.min_rate;
	mtus[0] = engine->config.min_mtu;
	if (engine->config.route_protocol != ACM_ROUTE_ACM ||
	    (facts->rate == rates[0] && facts->mtu == mtus[0]) ||
	    !acm_rate_tenths_gbps(facts->rate) || !acm_mtu_bytes(facts->mtu))
		return 1;
	rates[1] = facts->rate;
	mtus[1] = facts->mtu;
	return 2;
}

static void start_groups(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	uint8_t rates[ACM_GROUPS_MAX], mtus[ACM_GROUPS_MAX];
	uint8_t wanted = wanted_groups(engine, endpoint, rates, mtus);

	while (endpoint->group_count > wanted ||
	       (endpoint->group_count == 2 &&
		(endpoint->groups[1].rate != rates[1] || endpoint->groups[1].mtu != mtus[1]))) {
		struct acm_group *last = &endpoint->groups[endpoint->group_count - 1];

		acm_group_leave(engine, last);
		acm_group_fini(engine, last);
		endpoint->group_count--;
	}
	while (endpoint->group_count < wanted) {
		uint8_t i = endpoint->group_count;

		if (acm_group_init(engine, &endpoint->groups[i], endpoint, rates[i], mtus[i])) {
			retry_later(engine, endpoint, "no memory");
			return;
		}
		endpoint->group_count++;
	}
	for (uint8_t i = 0; i < endpoint->group_count; i++) {
		if (endpoint->groups[i].state == ACM_GROUP_OFF)
			acm_group_join(engine, &endpoint->groups[i]);
	}
}

void acm_endpoint_update(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	if (!endpoint->address_count) {
		/* Nobody could ask it for anything: it stays out of the groups. */
		if (endpoint->state == ACM_ENDPOINT_CLOSED)
			return;
		close(engine, endpoint);
		acm_lookups_fail(engine, endpoint, ACM_STATUS_NOT_CONNECTED);
		return;
	}
	if (!acm_port_active(endpoint->port))
		return;
	if (endpoint->state == ACM_ENDPOINT_CLOSED)
		open(engine, endpoint);
	else if (endpoint->state == ACM_ENDPOINT_OPEN)
		start_groups(engine, endpoint);
}

void acm_endpoint_suspend(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	for (uint8_t i = 0; i < endpoint->group_count; i++)
		acm_group_lost(engine, &endpoint->groups[i]);
	endpoint->failed = false; /* that was then: what comes next is tried first */
	acm_lookups_fail(engine, endpoint, ACM_STATUS_NOT_CONNECTED);
}

void acm_endpoint_doubt_addresses(const struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	endpoint->address_epoch++;
	if (endpoint->state == ACM_ENDPOINT_OPEN) /* else none can have come before */
		endpoint->settled = engine->now + acm_port_packet_life(endpoint->port);
}

void acm_endpoint_reopen(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	close_queue_pair(engine, endpoint);
	for (uint8_t i = 0; i < endpoint->group_count; i++)
		acm_group_lost(engine, &endpoint->groups[i]);
	acm_endpoint_update(engine, endpoint);
}

void acm_endpoint_opened(struct acm_engine *engine, uint32_t id, int status, uint32_t qpn)
{
	struct acm_endpoint *endpoint = acm_endpoint_find(engine, id);

	if (!endpoint || endpoint->state != ACM_ENDPOINT_OPENING)
		return;
	acm_deadlines_disarm(&engine->deadlines, &endpoint->timer);
	if (status) {
		acm_action_queue_release(&engine->actions);
		endpoint->state = ACM_ENDPOINT_CLOSED;
		retry_later(engine, endpoint, "queue pair could not be opened");
		return;
	}
	endpoint->state = ACM_ENDPOINT_OPEN;
	endpoint->qpn = qpn;
	endpoint->backoff = engine->config.join_backoff_min;
	trace_endpoint(engine, endpoint, 1, NULL);
	acm_endpoint_update(engine, endpoint);
}

void acm_endpoint_expired(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	if (endpoint->state == ACM_ENDPOINT_OPENING) {
		close_queue_pair(engine, endpoint);
		retry_later(engine, endpoint, "queue pair could not be opened");
		return;
	}
	acm_endpoint_update(engine, endpoint);
}

void acm_endpoint_membership_changed(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	if (endpoint->group_count && endpoint->groups[0].state == ACM_GROUP_LIVE)
		endpoint->failed = false;
	else if (endpoint->group_count && endpoint->groups[0].state == ACM_GROUP_BACKOFF)
		endpoint->failed = true;
	acm_lookups_unblock(engine, endpoint);
}
