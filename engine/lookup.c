/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The resolution of one destination: its address by multicast, then its route from the SA. All
 * requests for the destination hang on it; unrelated ones have look-ups of their own, and never
 * wait for this one.
 */
#include "core.h"
#include "memory.h"
#include "partition.h"

#include <assert.h>
#include <string.h>

/*
 * How long a multicast request counts in the window when no answer comes. The window keeps a burst
 * from overrunning the receive queues of the others; a dead destination must not hold a place in
 * it.
 */
#define FRESH_TIME (2 * ACM_NSEC_PER_MSEC)

/* A transaction id: 40 random bits, so that nobody can guess it, and the place of the look-up. */
#define TID_PLACE_BITS 24
#define TID_PLACE_MASK ((UINT64_C(1) << TID_PLACE_BITS) - 1)

static bool by_path(const struct acm_lookup *lookup)
{
	return (lookup->destination->key_type & ~ACM_KEY_BYPASS) >= ACM_ADDRESS_GID;
}

static bool bypass(const struct acm_lookup *lookup)
{
	return lookup->destination->key_type & ACM_KEY_BYPASS;
}

static void trace_destination(const struct acm_lookup *lookup, struct acm_trace *trace)
{
	const struct acm_destination *destination = lookup->destination;

	trace->endpoint = lookup->endpoint->id;
	trace->port = lookup->endpoint->port->facts.port;
	trace->destination.type = destination->key_type & (uint8_t)~ACM_KEY_BYPASS;
	if (trace->destination.type <= ACM_ADDRESS_LID) {
		trace->destination.length = destination->key_length;
		memcpy(trace->destination.data, destination->key, destination->key_length);
	} else {
		trace->destination.type = ACM_ADDRESS_GID;
		trace->destination.length = sizeof(lookup->constraint.dgid);
		memcpy(trace->destination.data, &lookup->constraint.dgid,
		       sizeof(lookup->constraint.dgid));
		trace->lid = lookup->constraint.dlid;
	}
}

static struct acm_trace *trace_lookup(struct acm_engine *engine, const struct acm_lookup *lookup,
				      enum acm_trace_type type)
{
	struct acm_trace *trace = acm_engine_trace(engine, type);

	if (trace)
		trace_destination(lookup, trace);
	return trace;
}

static void unregister_timers(struct acm_engine *engine, struct acm_lookup *lookup, int count)
{
	if (count > 2)
		acm_sa_exchange_fini(engine, &lookup->sa);
	if (count > 1)
		acm_deadlines_unregister(&engine->deadlines, &lookup->bound);
	if (count > 0)
		acm_deadlines_unregister(&engine->deadlines, &lookup->retry);
}

static bool register_timers(struct acm_engine *engine, struct acm_lookup *lookup)
{
	int count = 0;

	if (acm_deadlines_register(&engine->deadlines, &lookup->retry, ACM_TIMER_LOOKUP))
		return false;
	count++;
	if (!acm_deadlines_register(&engine->deadlines, &lookup->bound, ACM_TIMER_BOUND)) {
		count++;
		if (!acm_sa_exchange_init(engine, &lookup->sa, lookup->endpoint->port)) {
			count++;
			lookup->cookie =
				acm_slot_table_add(&engine->slots, lookup, ACM_SLOT_LOOKUP);
			if (lookup->cookie)
				return true;
		}
	}
	unregister_timers(engine, lookup, count);
	return false;
}

struct acm_lookup *acm_lookup_of(struct acm_engine *engine, struct acm_endpoint *endpoint,
				 struct acm_destination *destination,
				 const struct acm_address *source,
				 const struct acm_path *constraint)
{
	struct acm_lookup *lookup = destination->lookup;

	if (lookup)
		return lookup;
	lookup = acm_memory_new(&engine->allocator, sizeof(*lookup));
	if (!lookup)
		return NULL;
	lookup->endpoint = endpoint;
	if (!register_timers(engine, lookup)) {
		acm_memory_free(&engine->allocator, lookup, sizeof(*lookup));
		return NULL;
	}
	lookup->destination = destination;
	lookup->source = *source;
	lookup->constraint = *constraint;
	acm_destination_cache_hold(&engine->cache, destination, lookup);
	lookup->next = endpoint->lookups;
	if (lookup->next)
		lookup->next->previous = lookup;
	endpoint->lookups = lookup;
	if (!engine->policy.unbounded)
		acm_deadlines_arm(&engine->deadlines, &lookup->bound,
				  engine->now + 2 * acm_engine_phase_time(engine, endpoint->port));
	return lookup;
}

static void dequeue(struct acm_lookup *lookup)
{
	struct acm_endpoint *endpoint = lookup->endpoint;

	*(lookup->queue_previous ? &lookup->queue_previous->queue_next : &endpoint->queue_first) =
		lookup->queue_next;
	*(lookup->queue_next ? &lookup->queue_next->queue_previous : &endpoint->queue_last) =
		lookup->queue_previous;
	lookup->queue_next = lookup->queue_previous = NULL;
}

static void enqueue(struct acm_lookup *lookup)
{
	struct acm_endpoint *endpoint = lookup->endpoint;

	lookup->queue_next = NULL;
	lookup->queue_previous = endpoint->queue_last;
	*(endpoint->queue_last ? &endpoint->queue_last->queue_next : &endpoint->queue_first) =
		lookup;
	endpoint->queue_last = lookup;
	lookup->phase = ACM_LOOKUP_QUEUED;
}

static void fill_message(struct acm_lookup *lookup, struct acm_message *message)
{
	const struct acm_endpoint *endpoint = lookup->endpoint;
	const struct acm_destination *destination = lookup->destination;

	memset(message, 0, sizeof(*message));
	message->tid = lookup->tid;
	message->source = lookup->source;
	message->destination.type = destination->key_type & (uint8_t)~ACM_KEY_BYPASS;
	message->destination.length = destination->key_length;
	memcpy(message->destination.data, destination->key, destination->key_length);
	for (uint8_t i = 0; i < endpoint->group_count; i++) {
		if (endpoint->groups[i].state == ACM_GROUP_LIVE)
			message->gids[message->gid_count++] = endpoint->groups[i].mgid;
	}
}

static void multicast(struct acm_engine *engine, struct acm_lookup *lookup)
{
	const struct acm_group *group = &lookup->endpoint->groups[0];
	struct acm_queued_action *queued = acm_action_queue_push(&engine->actions, ACM_ACTION_SEND);
	struct acm_datagram *datagram;
	struct acm_message message;
	struct acm_trace *trace;

	if (!queued)
		return; /* as if it had been lost on the way: the next try comes */
	fill_message(lookup, &message);
	acm_message_encode(&message, queued->bytes);
	queued->action.send.cookie = lookup->cookie;
	datagram = &queued->action.send.datagram;
	memset(datagram, 0, sizeof(*datagram));
	datagram->endpoint = lookup->endpoint->id;
	datagram->dlid = group->record.mlid;
	datagram->sl = group->record.sl;
	datagram->static_rate = group->record.rate;
	datagram->qpn = 0xffffff;
	datagram->qkey = ACM_QKEY;
	datagram->dgid = group->mgid;
	datagram->flow_label = group->record.flow_label;
	datagram->hop_limit = group->record.hop_limit;
	datagram->traffic_class = group->record.traffic_class;
	datagram->length = ACM_DATAGRAM_MAX;
	acm_engine_count(engine, NULL, ACM_COUNTER_MULTICASTS);
	trace = trace_lookup(engine, lookup, ACM_TRACE_MULTICAST);
	if (trace) {
		trace->source = lookup->source;
		trace->value = lookup->tries;
		trace->gid = group->mgid;
	}
}

static void send_try(struct acm_engine *engine, struct acm_lookup *lookup)
{
	if (!lookup->tries++) {
		lookup->tid = acm_random_next(&engine->random) << TID_PLACE_BITS |
			      (lookup->cookie & TID_PLACE_MASK);
		acm_engine_count(engine, lookup->endpoint, ACM_COUNTER_ADDR_QUERY);
	} else {
		acm_engine_count(engine, NULL, ACM_COUNTER_RETRIES);
	}
	lookup->sent = engine->now;
	multicast(engine, lookup);
}

static uint64_t try_ends(struct acm_engine *engine, const struct acm_lookup *lookup)
{
	return lookup->sent +
	       acm_engine_try_time(engine, lookup->endpoint->port, lookup->tries - 1u);
}

static void pump(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	struct acm_lookup *lookup;

	while (acm_endpoint_ready(endpoint) && (lookup = endpoint->queue_first) &&
	       endpoint->fresh < engine->config.resolve_depth) {
		dequeue(lookup);
		endpoint->fresh++;
		lookup->phase = ACM_LOOKUP_FRESH;
		send_try(engine, lookup);
		acm_deadlines_arm(&engine->deadlines, &lookup->retry,
				  engine->policy.window_until_answered ? try_ends(engine, lookup)
								       : engine->now + FRESH_TIME);
	}
}

/* Out of queue, window, SA and timers: for the next phase, or for good. */
static void withdraw(struct acm_engine *engine, struct acm_lookup *lookup)
{
	acm_deadlines_disarm(&engine->deadlines, &lookup->retry);
	if (lookup->phase == ACM_LOOKUP_QUEUED)
		dequeue(lookup);
	else if (lookup->phase == ACM_LOOKUP_FRESH)
		lookup->endpoint->fresh--;
	else if (lookup->phase == ACM_LOOKUP_ROUTE)
		acm_sa_exchange_stop(engine, &lookup->sa);
	lookup->phase = ACM_LOOKUP_NEW;
}

static void answer_waiters(struct acm_engine *engine, struct acm_lookup *lookup,
			   enum acm_status status)
{
	struct acm_waiter *waiter;

	while ((waiter = lookup->first)) {
		lookup->first = waiter->next;
		if (status == ACM_STATUS_OK) {
			acm_destination_path(lookup->endpoint, lookup->destination,
					     &waiter->reply.path);
			waiter->reply.path.service_id = lookup->constraint.service_id;
		}
		acm_waiter_answer(engine, waiter, lookup->endpoint, status);
	}
	lookup->last = NULL;
}

static void answer_all(struct acm_engine *engine, struct acm_lookup *lookup, enum acm_status status)
{
	answer_waiters(engine, lookup, status);
	if (status == ACM_STATUS_OK && lookup->owed.qpn)
		acm_responder_pay(engine, lookup);
	lookup->owed.qpn = 0;
}

void acm_lookup_finish(struct acm_engine *engine, struct acm_lookup *lookup, enum acm_status status)
{
	struct acm_endpoint *endpoint = lookup->endpoint;
	struct acm_destination *destination = lookup->destination;
	bool once = bypass(lookup);

	withdraw(engine, lookup);
	if (status != ACM_STATUS_OK) {
		struct acm_trace *trace = trace_lookup(engine, lookup, ACM_TRACE_FAILED);

		if (trace)
			trace->status = status;
		if (status != ACM_STATUS_NOT_CONNECTED && status != ACM_STATUS_NO_MEMORY) {
			acm_destination_set_refusal(engine, destination, status);
			destination->route_epoch = endpoint->route_epoch;
		}
	}
	answer_all(engine, lookup, status);
	acm_slot_table_remove(&engine->slots, lookup->cookie);
	unregister_timers(engine, lookup, 3);
	*(lookup->previous ? &lookup->previous->next : &endpoint->lookups) = lookup->next;
	if (lookup->next)
		lookup->next->previous = lookup->previous;
	acm_destination_cache_release(&engine->cache, destination);
	if (once)
		acm_destination_cache_remove(&engine->cache, destination);
	acm_memory_free(&engine->allocator, lookup, sizeof(*lookup));
	pump(engine, endpoint);
}

static void ask_address(struct acm_engine *engine, struct acm_lookup *lookup)
{
	if (acm_endpoint_ready(lookup->endpoint)) {
		enqueue(lookup);
		pump(engine, lookup->endpoint);
	} else if (lookup->endpoint->failed) {
		acm_lookup_finish(engine, lookup, ACM_STATUS_NOT_CONNECTED);
	} else {
		lookup->phase = ACM_LOOKUP_BLOCKED; /* the join is under way */
	}
}

static void query_route(struct acm_engine *engine, struct acm_lookup *lookup)
{
	acm_engine_count(engine, lookup->endpoint, ACM_COUNTER_ROUTE_QUERY);
	acm_sa_exchange_begin(engine, &lookup->sa, ACM_SA_PATH);
}

static void ask_route(struct acm_engine *engine, struct acm_lookup *lookup)
{
	lookup->phase = ACM_LOOKUP_ROUTE;
	query_route(engine, lookup);
}

/* Its multicast request waits for its turn, or has a place in the window. */
static bool is_asking(const struct acm_lookup *lookup)
{
	return lookup->phase == ACM_LOOKUP_QUEUED || lookup->phase == ACM_LOOKUP_FRESH;
}

/* The multicast request is over; the SA, which is being asked already, decides the rest. */
static void leave_to_sa(struct acm_engine *engine, struct acm_lookup *lookup)
{
	withdraw(engine, lookup);
	lookup->phase = ACM_LOOKUP_ROUTE;
	pump(engine, lookup->endpoint);
}

void acm_lookup_run(struct acm_engine *engine, struct acm_lookup *lookup)
{
	struct acm_endpoint *endpoint = lookup->endpoint;
	struct acm_destination *destination = lookup->destination;
	bool from_sa =
		engine->config.route_protocol == ACM_ROUTE_SA || by_path(lookup) || bypass(lookup);

	assert(lookup->phase == ACM_LOOKUP_NEW);
	if (by_path(lookup))
		ask_route(engine, lookup);
	else if (!acm_destination_has_address(engine, endpoint, destination))
		ask_address(engine, lookup);
	else if (!bypass(lookup) && acm_destination_has_route(engine, endpoint, destination))
		acm_lookup_finish(engine, lookup, ACM_STATUS_OK);
	else if (from_sa)
		ask_route(engine, lookup);
	else
		ask_address(engine, lookup); /* only the peer's answer names the group */
}

void acm_lookups_fail(struct acm_engine *engine, struct acm_endpoint *endpoint,
		      enum acm_status status)
{
	while (endpoint->lookups)
		acm_lookup_finish(engine, endpoint->lookups, status);
}

void acm_lookups_unblock(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	struct acm_lookup *next;

	bool ready = acm_endpoint_ready(endpoint);

	if (!ready && !endpoint->failed)
		return;
	for (struct acm_lookup *lookup = endpoint->lookups; lookup; lookup = next) {
		next = lookup->next;
		if (lookup->phase != ACM_LOOKUP_BLOCKED &&
		    (ready || lookup->phase != ACM_LOOKUP_QUEUED))
			continue;
		withdraw(engine, lookup);
		acm_lookup_run(engine, lookup);
	}
	pump(engine, endpoint); /* what was queued when the membership came in doubt */
}

void acm_lookups_ask_anew(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	for (struct acm_lookup *lookup = endpoint->lookups; lookup; lookup = lookup->next) {
		if (lookup->phase == ACM_LOOKUP_ROUTE)
			acm_sa_exchange_begin(engine, &lookup->sa, ACM_SA_PATH);
	}
}

static void give_up(struct acm_engine *engine, struct acm_lookup *lookup)
{
	if (lookup->sa.state != ACM_SA_IDLE)
		leave_to_sa(engine, lookup);
	else if (engine->policy.asks_on &&
		 acm_destination_has_route(engine, lookup->endpoint, lookup->destination))
		acm_lookup_finish(engine, lookup, ACM_STATUS_OK);
	else
		acm_lookup_finish(engine, lookup, ACM_STATUS_TIMED_OUT);
}

void acm_lookup_expired(struct acm_engine *engine, struct acm_lookup *lookup)
{
	if (lookup->phase == ACM_LOOKUP_FRESH && !engine->policy.window_until_answered) {
		lookup->endpoint->fresh--;
		lookup->phase = ACM_LOOKUP_SENT;
		acm_deadlines_arm(&engine->deadlines, &lookup->retry, try_ends(engine, lookup));
		pump(engine, lookup->endpoint);
	} else if (lookup->tries > engine->config.retries) {
		give_up(engine, lookup);
	} else if (acm_endpoint_ready(lookup->endpoint)) {
		send_try(engine, lookup);
		acm_deadlines_arm(&engine->deadlines, &lookup->retry, try_ends(engine, lookup));
	} else {
		withdraw(engine, lookup);
		ask_address(engine, lookup);
	}
}

void acm_lookup_send_failed(struct acm_engine *engine, uint64_t cookie)
{
	/* The retry timer runs: a send that failed is a datagram that was lost. */
	if (acm_slot_table_find(&engine->slots, cookie, ACM_SLOT_LOOKUP))
		acm_engine_trace_dropped(engine, 0, "send failed");
}

struct acm_lookup *acm_lookup_by_tid(const struct acm_engine *engine, uint64_t tid)
{
	struct acm_lookup *lookup = acm_slot_table_at(
		&engine->slots, (uint32_t)(tid & TID_PLACE_MASK), ACM_SLOT_LOOKUP);

	if (!lookup || lookup->tid != tid ||
	    (lookup->phase != ACM_LOOKUP_FRESH && lookup->phase != ACM_LOOKUP_SENT))
		return NULL;
	return lookup;
}

static void note(struct acm_engine *engine, struct acm_endpoint *endpoint,
		 struct acm_destination *destination, const struct acm_datagram_received *from,
		 const struct acm_group *group)
{
	struct acm_path path;

	acm_destination_set_address(engine, endpoint, destination, from->slid, &from->sgid);
	if (engine->config.route_protocol == ACM_ROUTE_ACM && group) {
		acm_route_from_group(endpoint, group, from->slid, &from->sgid, &path);
		acm_destination_set_route(engine, endpoint, destination, &path);
	}
}

void acm_lookup_learn(struct acm_engine *engine, struct acm_endpoint *endpoint,
		      struct acm_destination *destination, const struct acm_datagram_received *from,
		      const struct acm_group *group)
{
	struct acm_lookup *lookup = destination->lookup;

	note(engine, endpoint, destination, from, group);
	/*
	 * One that asks the SA already asks for where the peer was, and starts anew where that
	 * moved; one whose turn has not come asks for where the peer is then, and keeps its place.
	 */
	if (!lookup || by_path(lookup) ||
	    (lookup->phase == ACM_LOOKUP_ROUTE &&
	     !acm_destination_has_route(engine, endpoint, destination) &&
	     (lookup->sa.state != ACM_SA_SENT ||
	      !memcmp(&lookup->constraint.dgid, &from->sgid, sizeof(from->sgid)))))
		return;
	if (is_asking(lookup) && lookup->sa.state != ACM_SA_IDLE) {
		leave_to_sa(engine, lookup);
		return;
	}
	withdraw(engine, lookup);
	if (engine->config.route_protocol == ACM_ROUTE_ACM && !group && !bypass(lookup))
		acm_lookup_finish(engine, lookup, ACM_STATUS_NO_DATA); /* no group in common */
	else
		acm_lookup_run(engine, lookup);
	pump(engine, endpoint);
}

void acm_lookup_overhear(struct acm_engine *engine, struct acm_endpoint *endpoint,
			 struct acm_destination *destination,
			 const struct acm_datagram_received *from, const struct acm_group *group)
{
	struct acm_lookup *lookup = destination->lookup;

	if (!engine->policy.asks_on || !lookup || !is_asking(lookup)) {
		acm_lookup_learn(engine, endpoint, destination, from, group);
		return;
	}
	note(engine, endpoint, destination, from, group);
	if (acm_destination_has_route(engine, endpoint, destination))
		answer_all(engine, lookup, ACM_STATUS_OK);
	else if (lookup->sa.state == ACM_SA_IDLE)
		query_route(engine, lookup);
}

void acm_lookup_encode(struct acm_engine *engine, struct acm_sa_exchange *sa, uint8_t *mad)
{
	struct acm_lookup *lookup = ACM_CONTAINER(sa, struct acm_lookup, sa);
	const struct acm_port_facts *facts = &lookup->endpoint->port->facts;
	struct acm_path *wanted = &lookup->constraint;

	(void)engine;
	/* Always by SGID: without it an SA may pick another port of this host, or refuse. */
	if (!by_path(lookup)) {
		wanted->dgid = lookup->destination->gid;
		wanted->reversible = true;
	}
	if (acm_port_gid_index(lookup->endpoint->port, &wanted->sgid) < 0)
		wanted->sgid = facts->gids[0];
	wanted->pkey = lookup->endpoint->pkey;
	wanted->path_count = 1;
	acm_sa_encode_path_get(wanted, sa->tid, mad);
}

void acm_lookup_sa_sent(struct acm_engine *engine, const struct acm_sa_exchange *sa)
{
	const struct acm_lookup *lookup = ACM_CONTAINER(sa, struct acm_lookup, sa);
	struct acm_trace *trace = trace_lookup(engine, lookup, ACM_TRACE_SA_QUERY);

	if (trace)
		trace->value = sa->tries;
}

static bool unset(const struct acm_gid *gid)
{
	static const struct acm_gid none;

	return !memcmp(gid, &none, sizeof(none));
}

static bool path_fits(const struct acm_lookup *lookup, const struct acm_path *path)
{
	const struct acm_path *wanted = &lookup->constraint;

	if (!unset(&wanted->dgid) && memcmp(&path->dgid, &wanted->dgid, sizeof(path->dgid)))
		return false;
	if (wanted->dlid && path->dlid != wanted->dlid)
		return false;
	if (wanted->slid && path->slid != wanted->slid)
		return false;
	return !memcmp(&path->sgid, &wanted->sgid, sizeof(path->sgid)) &&
	       acm_port_has_lid(lookup->endpoint->port, path->slid) &&
	       acm_partition_equal(path->pkey, lookup->endpoint->pkey);
}

/* The SA knows no way to where the peer was: it may have moved since that was learned. */
static void refused(struct acm_engine *engine, struct acm_lookup *lookup, enum acm_status status)
{
	bool moved = status == ACM_STATUS_NO_DATA || status == ACM_STATUS_DESTINATION_ADDRESS;

	if (!by_path(lookup) && moved)
		lookup->destination->address_known = ACM_UNKNOWN;
	if (by_path(lookup) || !moved || lookup->tries || engine->policy.refusals_final) {
		acm_lookup_finish(engine, lookup, status);
		return;
	}
	withdraw(engine, lookup);
	acm_lookup_run(engine, lookup);
}

void acm_lookup_sa_done(struct acm_engine *engine, struct acm_sa_exchange *sa, const uint8_t *mad,
			uint32_t length, uint16_t status)
{
	struct acm_lookup *lookup = ACM_CONTAINER(sa, struct acm_lookup, sa);
	struct acm_destination *destination = lookup->destination;
	struct acm_trace *trace;
	struct acm_path path;

	if (!mad) {
		acm_lookup_finish(engine, lookup, ACM_STATUS_TIMED_OUT);
		return;
	}
	if (status) {
		trace = trace_lookup(engine, lookup, ACM_TRACE_SA_STATUS);
		if (trace)
			trace->value = status;
		refused(engine, lookup, acm_sa_client_status(status));
		return;
	}
	if (acm_sa_decode_path(mad, length, &path) || !path_fits(lookup, &path)) {
		acm_engine_trace_dropped(engine, lookup->endpoint->id, "path answer does not fit");
		acm_lookup_finish(engine, lookup, ACM_STATUS_NO_DATA);
		return;
	}
	acm_destination_set_route(engine, lookup->endpoint, destination, &path);
	trace = trace_lookup(engine, lookup, ACM_TRACE_ROUTE);
	if (trace)
		trace->lid = path.dlid;
	if (is_asking(lookup))
		answer_all(engine, lookup, ACM_STATUS_OK);
	else
		acm_lookup_finish(engine, lookup, ACM_STATUS_OK);
}
