/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Client requests: which endpoint serves them, what the cache says, and what has to be asked. */
#include "core.h"
#include "memory.h"
#include "partition.h"

#include <string.h>

/* How long the search for a source may take; it is a look into the host's own tables. */
#define SOURCE_TIME ACM_NSEC_PER_SEC

/* Longest key of a by-path request: see path_key(). */
#define PATH_KEY_MAX ACM_ADDRESS_MAX

/* The reply to the request of this step; all but status and body is set. */
static struct acm_reply *immediate(struct acm_engine *engine, const struct acm_request *request)
{
	struct acm_reply *reply = &engine->immediate;

	reply->id = request->id;
	reply->tid = request->tid;
	reply->opcode = request->opcode;
	reply->kind = request->kind;
	reply->has_source = false;
	reply->counter_count = 0;
	engine->immediate_set = true;
	return reply;
}

static void answer(struct acm_engine *engine, struct acm_endpoint *endpoint,
		   const struct acm_request *request, enum acm_status status)
{
	struct acm_reply *reply = immediate(engine, request);

	reply->status = status;
	acm_reply_account(engine, endpoint, reply);
}

/* A request on its way to an endpoint, with what was decided so far. */
struct routed {
	const struct acm_request *request;
	struct acm_waiter *waiter; /* it waited for its source; NULL: answer at once */
	struct acm_endpoint *endpoint;
	const struct acm_address
		*source; /* for the multicast and, where it was picked, the client */
	bool source_picked;
	struct acm_path constraint;
};

static void finish(struct acm_engine *engine, struct routed *routed, enum acm_status status)
{
	struct acm_reply *reply =
		routed->waiter ? &routed->waiter->reply : immediate(engine, routed->request);

	if (status == ACM_STATUS_OK && routed->source_picked) {
		reply->has_source = true;
		reply->source = *routed->source;
	}
	if (routed->waiter) {
		acm_waiter_answer(engine, routed->waiter, routed->endpoint, status);
		return;
	}
	reply->status = status;
	acm_reply_account(engine, routed->endpoint, reply);
}

static struct acm_path *reply_path(struct acm_engine *engine, struct routed *routed)
{
	return routed->waiter ? &routed->waiter->reply.path : &engine->immediate.path;
}

static void append(struct acm_engine *engine, struct acm_lookup *lookup, struct routed *routed)
{
	if (routed->source_picked) {
		routed->waiter->reply.has_source = true;
		routed->waiter->reply.source = *routed->source;
	}
	acm_waiter_append(engine, lookup, routed->waiter);
}

static void trace_coalesced(struct acm_engine *engine, const struct acm_lookup *lookup,
			    const struct acm_request *request)
{
	struct acm_trace *trace;

	acm_engine_count(engine, NULL, ACM_COUNTER_COALESCED);
	trace = acm_lookup_trace(engine, lookup, ACM_TRACE_COALESCED);
	if (!trace)
		return;
	trace->request = request->id;
	trace->value = engine->now - lookup->began;
}

/* Hangs the request on the look-up of its destination, which begins where there is none. */
static void wait_for(struct acm_engine *engine, struct routed *routed,
		     struct acm_destination *destination)
{
	bool under_way = destination->lookup != NULL;
	struct acm_lookup *lookup;

	if (!routed->waiter && !routed->request->no_delay)
		routed->waiter = acm_waiter_create(engine, routed->request);
	if (!routed->waiter && !routed->request->no_delay) {
		finish(engine, routed, ACM_STATUS_NO_MEMORY);
		return;
	}
	lookup = acm_lookup_of(engine, routed->endpoint, destination, routed->source,
			       &routed->constraint);
	if (!lookup) {
		finish(engine, routed, ACM_STATUS_NO_MEMORY);
		return;
	}
	if (under_way)
		trace_coalesced(engine, lookup, routed->request);
	if (routed->request->no_delay)
		finish(engine, routed, ACM_STATUS_NO_DATA);
	else
		append(engine, lookup, routed);
	if (!under_way)
		acm_lookup_run(engine, lookup);
}

static bool known(const struct acm_engine *engine, const struct routed *routed,
		  const struct acm_destination *destination, bool needs_address)
{
	return (!needs_address ||
		acm_destination_has_address(engine, routed->endpoint, destination)) &&
	       acm_destination_has_route(engine, routed->endpoint, destination);
}

static void drop_expired(struct acm_engine *engine, const struct acm_destination *destination)
{
	struct acm_trace *trace;

	if (destination->lookup || destination->route_known != ACM_KNOWN ||
	    (destination->route_expires > engine->now &&
	     destination->address_expires > engine->now))
		return;
	acm_engine_count(engine, NULL, ACM_COUNTER_EXPIRED);
	trace = acm_engine_trace(engine, ACM_TRACE_EXPIRED);
	if (trace && destination->key_type <= ACM_ADDRESS_LID) {
		trace->endpoint = destination->endpoint;
		trace->destination.type = destination->key_type;
		trace->destination.length = destination->key_length;
		memcpy(trace->destination.data, destination->key, destination->key_length);
	}
}

/* A bypassing look-up need not ask for an address that is known. */
static void copy_address(struct acm_engine *engine, struct routed *routed, struct acm_key key,
			 struct acm_destination *destination)
{
	const struct acm_destination *plain;

	key.type &= (uint8_t)~ACM_KEY_BYPASS;
	plain = acm_destination_cache_find(&engine->cache, &key);
	if (plain && acm_destination_has_address(engine, routed->endpoint, plain))
		acm_destination_set_address(engine, routed->endpoint, destination, plain->lid,
					    &plain->gid);
}

static void resolve_key(struct acm_engine *engine, struct routed *routed, struct acm_key key)
{
	bool needs_address = key.type < ACM_ADDRESS_GID;
	struct acm_destination *destination;
	enum acm_status refusal;

	if (routed->request->query_sa)
		key.type |= ACM_KEY_BYPASS;
	destination = acm_destination_cache_find(&engine->cache, &key);
	if (destination && (!destination->lookup || engine->policy.asks_on)) {
		if (known(engine, routed, destination, needs_address)) {
			if (needs_address)
				acm_engine_count(engine, routed->endpoint, ACM_COUNTER_ADDR_CACHE);
			acm_engine_count(engine, routed->endpoint, ACM_COUNTER_ROUTE_CACHE);
			acm_destination_cache_touch(&engine->cache, destination);
			acm_destination_path(routed->endpoint, destination,
					     reply_path(engine, routed));
			reply_path(engine, routed)->service_id = routed->constraint.service_id;
			finish(engine, routed, ACM_STATUS_OK);
			return;
		}
		refusal = acm_destination_refusal(engine, routed->endpoint, destination);
		if (refusal != ACM_STATUS_OK) {
			acm_engine_count(engine, routed->endpoint, ACM_COUNTER_NEGATIVE_CACHE);
			finish(engine, routed, refusal);
			return;
		}
		drop_expired(engine, destination);
	}
	if (routed->request->no_delay && acm_lookups_crowded(engine) &&
	    (!destination || !destination->lookup)) {
		key.type &= (uint8_t)~ACM_KEY_BYPASS;
		acm_lookup_refuse(engine, routed->endpoint, &key);
		finish(engine, routed, ACM_STATUS_NO_DATA);
		return;
	}
	if (!destination)
		destination = acm_destination_cache_add(&engine->cache, &key);
	if (!destination) {
		finish(engine, routed, ACM_STATUS_NO_MEMORY);
		return;
	}
	if (routed->request->query_sa && needs_address && !destination->lookup)
		copy_address(engine, routed, key, destination);
	wait_for(engine, routed, destination);
}

static void resolve_address(struct acm_engine *engine, struct routed *routed)
{
	const struct acm_address *destination = &routed->request->destination;
	struct acm_key key = {routed->endpoint->id, destination->type, destination->length,
			      destination->data};
	bool own = acm_local_address_is_of(routed->endpoint, destination);

	if (!acm_port_active(routed->endpoint->port)) {
		finish(engine, routed, ACM_STATUS_NOT_CONNECTED);
	} else if (own && engine->config.loopback && !routed->request->query_sa) {
		acm_route_loopback(routed->endpoint, reply_path(engine, routed));
		finish(engine, routed, ACM_STATUS_OK);
	} else {
		if (own) {
			/* Where this node is itself needs no asking, only the route does. */
			const struct acm_port_facts *facts = &routed->endpoint->port->facts;
			struct acm_destination *self =
				acm_destination_cache_find(&engine->cache, &key);

			if (!self)
				self = acm_destination_cache_add(&engine->cache, &key);
			if (self)
				acm_destination_set_address(engine, routed->endpoint, self,
							    facts->lid, &facts->gids[0]);
		}
		resolve_key(engine, routed, key);
	}
}

/* ---- by path ---- */

static bool gid_set(const struct acm_gid *gid)
{
	static const struct acm_gid none;

	return memcmp(gid, &none, sizeof(none)) != 0;
}

static struct acm_port *source_port(const struct acm_engine *engine, const struct acm_path *path)
{
	struct acm_port *first = NULL;

	for (struct acm_port *at = engine->ports; at; at = at->next) {
		bool fits = true;

		if (gid_set(&path->sgid))
			fits = acm_port_gid_index(at, &path->sgid) >= 0;
		if (path->slid)
			fits = fits && acm_port_has_lid(at, path->slid);
		/* Without a source the destination's subnet tells, where it is given. */
		if (!gid_set(&path->sgid) && !path->slid && gid_set(&path->dgid))
			fits = at->facts.gid_count && !memcmp(&at->facts.gids[0], &path->dgid, 8);
		if (fits && acm_port_active(at))
			return at;
		if (fits && !first)
			first = at;
	}
	return first;
}

static uint8_t *put(uint8_t *at, uint64_t value, int bytes)
{
	while (bytes-- > 0)
		*at++ = (uint8_t)(value >> (8 * bytes));
	return at;
}

/* Every constraint that the caller set, in a fixed order: requests that differ in one have two
 * keys. */
static uint8_t path_key(const struct acm_path *path, uint8_t key[PATH_KEY_MAX])
{
	uint8_t *at = key;

	memcpy(at, &path->dgid, sizeof(path->dgid));
	at += sizeof(path->dgid);
	memcpy(at, &path->sgid, sizeof(path->sgid));
	at += sizeof(path->sgid);
	at = put(at, path->service_id, 8);
	at = put(at, path->dlid, 2);
	at = put(at, path->slid, 2);
	at = put(at, path->flow_label, 3);
	at = put(at, path->hop_limit, 1);
	at = put(at, path->traffic_class, 1);
	at = put(at, path->reversible, 1);
	at = put(at, path->pkey, 2);
	at = put(at, path->qos_class, 2);
	at = put(at, path->sl, 1);
	at = put(at, path->mtu, 1);
	at = put(at, path->mtu_selector, 1);
	at = put(at, path->rate, 1);
	at = put(at, path->rate_selector, 1);
	at = put(at, path->packet_life, 1);
	at = put(at, path->packet_life_selector, 1);
	return (uint8_t)(at - key);
}

static bool same_place(const struct acm_port *port, const struct acm_path *path)
{
	bool gid = gid_set(&path->dgid);

	return (!gid || acm_port_gid_index(port, &path->dgid) >= 0) &&
	       (!path->dlid || acm_port_has_lid(port, path->dlid)) && (gid || path->dlid);
}

static void resolve_path(struct acm_engine *engine, const struct acm_request *request)
{
	struct acm_address nobody = {0};
	struct routed routed = {.request = request, .source = &nobody, .constraint = request->path};
	struct acm_path *path = &routed.constraint;
	uint8_t data[PATH_KEY_MAX];
	struct acm_port *port;

	port = source_port(engine, path);
	if (!gid_set(&path->dgid) && !path->dlid) {
		answer(engine, NULL, request, ACM_STATUS_DESTINATION_ADDRESS);
		return;
	}
	routed.endpoint = port ? acm_endpoint_of(engine, port, path->pkey) : NULL;
	if (!port || (acm_port_active(port) && !routed.endpoint)) {
		answer(engine, NULL, request,
		       engine->ports ? ACM_STATUS_SOURCE_ADDRESS : ACM_STATUS_NOT_CONNECTED);
		return;
	}
	if (!acm_port_active(port)) {
		answer(engine, NULL, request, ACM_STATUS_NOT_CONNECTED);
		return;
	}
	if (same_place(port, path) && engine->config.loopback && !request->query_sa) {
		acm_route_loopback(routed.endpoint, &engine->immediate.path);
		finish(engine, &routed, ACM_STATUS_OK);
		return;
	}
	resolve_key(
		engine, &routed,
		(struct acm_key){routed.endpoint->id, ACM_KEY_PATH, path_key(path, data), data});
}

/* ---- by address ---- */

/* Addresses of type `type` that this node holds on active ports; *only is set when it is one. */
static uint32_t sources_of(const struct acm_engine *engine, uint8_t type,
			   struct acm_endpoint **endpoint, const struct acm_address **address)
{
	uint32_t count = 0;

	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		for (uint32_t i = 0; acm_port_active(at->port) && i < at->address_count; i++) {
			if (type != ACM_ADDRESS_NONE && at->addresses[i].type != type)
				continue;
			if (!count++) {
				*endpoint = at;
				*address = &at->addresses[i];
			}
		}
	}
	return count;
}

static bool is_ip(uint8_t type)
{
	return type == ACM_ADDRESS_IP || type == ACM_ADDRESS_IP6;
}

static void find_source(struct acm_engine *engine, const struct acm_request *request)
{
	struct acm_waiter *waiter = acm_waiter_create(engine, request);
	struct acm_queued_action *queued = NULL;

	if (waiter) {
		waiter->request = acm_memory_new(&engine->allocator, sizeof(*request));
		if (waiter->request &&
		    acm_deadlines_register(&engine->deadlines, &waiter->timer, ACM_TIMER_SOURCE)) {
			acm_memory_free(&engine->allocator, waiter->request, sizeof(*request));
			waiter->request = NULL;
		}
	}
	if (waiter && waiter->request) {
		*waiter->request = *request;
		waiter->cookie = acm_slot_table_add(&engine->slots, waiter, ACM_SLOT_SOURCE);
		if (waiter->cookie)
			queued = acm_action_queue_push(&engine->actions, ACM_ACTION_FIND_SOURCE);
	}
	if (queued) {
		queued->action.find.cookie = waiter->cookie;
		queued->action.find.destination = request->destination;
		acm_deadlines_arm(&engine->deadlines, &waiter->timer, engine->now + SOURCE_TIME);
	} else if (waiter) {
		acm_waiter_answer(engine, waiter, NULL, ACM_STATUS_NO_MEMORY);
	} else {
		answer(engine, NULL, request, ACM_STATUS_NO_MEMORY);
	}
}

static void resolve(struct acm_engine *engine, const struct acm_request *request)
{
	uint8_t type = request->destination.type;
	struct routed routed = {.request = request};
	uint32_t count;

	if (request->has_source) {
		routed.source = &request->source;
		routed.endpoint = acm_local_address_endpoint(engine, &request->source);
		if (routed.endpoint)
			resolve_address(engine, &routed);
		else
			answer(engine, NULL, request, ACM_STATUS_SOURCE_ADDRESS);
		return;
	}
	count = sources_of(engine, type, &routed.endpoint, &routed.source);
	if (count > 1 && is_ip(type)) {
		find_source(engine, request);
		return;
	}
	/* A node without an address of that type still can ask, as whatever it is called. */
	if (!count && !sources_of(engine, ACM_ADDRESS_NONE, &routed.endpoint, &routed.source)) {
		answer(engine, NULL, request,
		       engine->endpoints ? ACM_STATUS_SOURCE_ADDRESS : ACM_STATUS_NOT_CONNECTED);
		return;
	}
	routed.source_picked = true;
	resolve_address(engine, &routed);
}

void acm_request_source_found(struct acm_engine *engine, uint64_t cookie, int status,
			      const struct acm_address *source)
{
	struct acm_waiter *waiter = acm_slot_table_find(&engine->slots, cookie, ACM_SLOT_SOURCE);
	struct routed routed = {.waiter = waiter, .source_picked = true};
	struct acm_request request;

	if (!waiter)
		return;
	request = *waiter->request;
	acm_waiter_end_search(engine, waiter);
	routed.request = &request;
	routed.source = source;
	if (!status)
		routed.endpoint = acm_local_address_endpoint(engine, source);
	if (routed.endpoint)
		resolve_address(engine, &routed);
	else
		acm_waiter_answer(engine, waiter, NULL, ACM_STATUS_SOURCE_ADDRESS);
}

void acm_request_source_expired(struct acm_engine *engine, struct acm_waiter *waiter)
{
	acm_waiter_answer(engine, waiter, NULL, ACM_STATUS_SOURCE_ADDRESS);
}

/* ---- queries about the service itself ---- */

static struct acm_endpoint *endpoint_at(const struct acm_engine *engine, uint8_t index,
					uint8_t port)
{
	struct acm_endpoint *at = engine->endpoints;

	for (; at && index; at = at->next) {
		if ((!port || at->port->facts.number == port) && !--index)
			return at;
	}
	return NULL;
}

static void query_counters(struct acm_engine *engine, const struct acm_request *request)
{
	const uint64_t *counters = engine->counters;
	struct acm_endpoint *endpoint = NULL;
	struct acm_reply *reply;

	if (request->has_source)
		endpoint = acm_local_address_endpoint(engine, &request->source);
	else if (request->index)
		endpoint = endpoint_at(engine, request->index, 0);
	if (!endpoint && (request->has_source || request->index)) {
		answer(engine, NULL, request,
		       request->has_source ? ACM_STATUS_SOURCE_ADDRESS : ACM_STATUS_INVALID);
		return;
	}
	if (endpoint)
		counters = endpoint->counters;
	reply = immediate(engine, request);
	reply->status = ACM_STATUS_OK;
	reply->counter_count = ACM_COUNTER_WIRE_COUNT;
	memcpy(reply->counters, counters, ACM_COUNTER_WIRE_COUNT * sizeof(*counters));
	acm_reply_account(engine, NULL, reply);
}

static void query_endpoint(struct acm_engine *engine, const struct acm_request *request)
{
	const struct acm_endpoint *endpoint = endpoint_at(engine, request->index, request->port);
	struct acm_reply *reply;

	if (!endpoint) {
		answer(engine, NULL, request, ACM_STATUS_INVALID);
		return;
	}
	reply = immediate(engine, request);
	reply->status = ACM_STATUS_OK;
	reply->endpoint.index = request->index;
	reply->endpoint.device_guid = endpoint->port->facts.device_guid;
	reply->endpoint.port = endpoint->port->facts.number;
	reply->endpoint.port_count = endpoint->port->facts.port_count;
	reply->endpoint.pkey = endpoint->pkey;
	reply->endpoint.provider = engine->config.provider;
	reply->endpoint.address_count =
		(uint16_t)(endpoint->address_count < 900 ? endpoint->address_count : 900);
	reply->endpoint.addresses = (const char(*)[ACM_ADDRESS_MAX])endpoint->address_texts;
	acm_reply_account(engine, NULL, reply);
}

static void trace_request(struct acm_engine *engine, const struct acm_request *request)
{
	struct acm_trace *trace = acm_engine_trace(engine, ACM_TRACE_REQUEST);

	if (!trace)
		return;
	trace->request = request->id;
	trace->value = (uint64_t)request->query_sa | (uint64_t)request->no_delay << 1;
	if (request->kind == ACM_REQUEST_RESOLVE) {
		trace->destination = request->destination;
		if (request->has_source)
			trace->source = request->source;
	} else if (request->kind == ACM_REQUEST_PATH) {
		trace->gid = request->path.dgid;
		trace->lid = request->path.dlid;
	}
}

void acm_request_take(struct acm_engine *engine, const struct acm_request *request)
{
	acm_engine_count(engine, NULL, ACM_COUNTER_REQUESTS);
	trace_request(engine, request);
	switch (request->kind) {
	case ACM_REQUEST_RESOLVE:
		if (request->destination.type >= ACM_ADDRESS_NAME &&
		    request->destination.type <= ACM_ADDRESS_IP6)
			resolve(engine, request);
		else
			answer(engine, NULL, request, ACM_STATUS_DESTINATION_TYPE);
		break;
	case ACM_REQUEST_PATH:
		resolve_path(engine, request);
		break;
	case ACM_REQUEST_COUNTERS:
		query_counters(engine, request);
		break;
	case ACM_REQUEST_ENDPOINT:
		query_endpoint(engine, request);
		break;
	case ACM_REQUEST_MALFORMED:
		answer(engine, NULL, request, request->malformed);
		break;
	}
}

void acm_reply_account(struct acm_engine *engine, struct acm_endpoint *endpoint,
		       const struct acm_reply *reply)
{
	bool resolution = reply->kind == ACM_REQUEST_RESOLVE || reply->kind == ACM_REQUEST_PATH;
	/* Asking for an endpoint behind the last is how clients count them: no error. */
	bool error = resolution || reply->kind == ACM_REQUEST_MALFORMED;
	struct acm_trace *trace;

	acm_engine_count(engine, NULL, ACM_COUNTER_ANSWERS);
	if (reply->status == ACM_STATUS_NO_DATA)
		acm_engine_count(engine, endpoint, ACM_COUNTER_NODATA);
	else if (reply->status != ACM_STATUS_OK && error)
		acm_engine_count(engine, endpoint, ACM_COUNTER_ERROR);
	else if (reply->status == ACM_STATUS_OK && resolution)
		acm_engine_count(engine, endpoint, ACM_COUNTER_RESOLVE);
	trace = acm_engine_trace(engine, ACM_TRACE_REPLY);
	if (!trace)
		return;
	trace->request = reply->id;
	trace->status = reply->status;
	trace->endpoint = endpoint ? endpoint->id : 0;
	if (resolution && reply->status == ACM_STATUS_OK) {
		trace->lid = reply->path.dlid;
		trace->gid = reply->path.dgid;
	}
}
