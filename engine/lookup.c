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
 * Most look-ups that no request waits for: those that clients began without delay, or went away
 * from. They warm the cache, but must not crowd out what somebody waits for.
 */
#define UNATTENDED_MAX 1024

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
	trace->bypass = bypass(lookup);
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

struct acm_trace *acm_lookup_trace(struct acm_engine *engine, const struct acm_lookup *lookup,
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
	lookup->began = engine->now;
	if (!register_timers(engine, lookup)) {
		acm_memory_free(&engine->allocator, lookup, sizeof(*lookup));
		return NULL;
	}
	lookup->destination = destination;
	lookup->source = *source;
	lookup->constraint = *constraint;
	acm_destination_cache_hold(&engine->cache, destination, lookup);
	engine->unattended++;
	lookup->next = endpoint->lookups;
	if (lookup->next)
		lookup->next->previous = lookup;
	endpoint->lookups = lookup;
	if (!engine->policy.unbounded)
		acm_deadlines_arm(&engine->deadlines, &lookup->bound,
				  engine->now + 2 * acm_engine_phase_time(engine, endpoint->port));
	return lookup;
}

/* Out of queue, window, SA and timers: for the next phase, or for good. */
static void withdraw(struct acm_engine *engine, struct acm_lookup *lookup)
{
	acm_deadlines_disarm(&engine->deadlines, &lookup->retry);
	if (lookup->phase == ACM_LOOKUP_ROUTE)
		acm_sa_exchange_stop(engine, &lookup->sa);
	else
		acm_multicast_request_withdraw(lookup);
	lookup->phase = ACM_LOOKUP_NEW;
}

static void answer_waiters(struct acm_engine *engine, struct acm_lookup *lookup,
			   enum acm_status status)
{
	struct acm_waiter *waiter;

	if (lookup->first)
		engine->unattended++;
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
		struct acm_trace *trace = acm_lookup_trace(engine, lookup, ACM_TRACE_FAILED);

		if (trace)
			trace->status = status;
		if (status != ACM_STATUS_NOT_CONNECTED && status != ACM_STATUS_NO_MEMORY) {
			acm_destination_set_refusal(engine, destination, status);
			destination->route_epoch = endpoint->route_epoch;
		}
	}
	answer_all(engine, lookup, status);
	engine->unattended--;
	acm_slot_table_remove(&engine->slots, lookup->cookie);
	unregister_timers(engine, lookup, 3);
	*(lookup->previous ? &lookup->previous->next : &endpoint->lookups) = lookup->next;
	if (lookup->next)
		lookup->next->previous = lookup->previous;
	acm_destination_cache_release(&engine->cache, destination);
	if (once)
		acm_destination_cache_remove(&engine->cache, destination);
	acm_memory_free(&engine->allocator, lookup, sizeof(*lookup));
	acm_multicast_requests_pump(engine, endpoint);
}

static void ask_address(struct acm_engine *engine, struct acm_lookup *lookup)
{
	if (acm_endpoint_ready(lookup->endpoint)) {
		acm_multicast_request_begin(engine, lookup);
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
	acm_multicast_requests_pump(engine, lookup->endpoint);
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

bool acm_lookups_crowded(const struct acm_engine *engine)
{
	return engine->unattended >= UNATTENDED_MAX && !engine->policy.unbounded;
}

void acm_lookup_refuse(struct acm_engine *engine, const struct acm_endpoint *endpoint,
		       const struct acm_key *key)
{
	struct acm_trace *trace;

	acm_engine_count(engine, NULL, ACM_COUNTER_UNATTENDED);
	trace = acm_engine_trace(engine, ACM_TRACE_FAILED);
	if (!trace)
		return;
	trace->endpoint = endpoint->id;
	trace->status = ACM_STATUS_NO_MEMORY;
	trace->reason = "too many look-ups that nobody waits for";
	if (key->type > ACM_ADDRESS_LID)
		return;
	trace->destination.type = key->type;
	trace->destination.length = key->length;
	memcpy(trace->destination.data, key->data, key->length);
}

void acm_lookup_abandon(struct acm_engine *engine, struct acm_lookup *lookup)
{
	const struct acm_destination *destination = lookup->destination;
	const struct acm_key key = {destination->endpoint,
				    destination->key_type & (uint8_t)~ACM_KEY_BYPASS,
				    destination->key_length, destination->key};

	if (lookup->first || engine->unattended <= UNATTENDED_MAX || engine->policy.unbounded)
		return;
	acm_lookup_refuse(engine, lookup->endpoint, &key);
	acm_lookup_finish(engine, lookup, ACM_STATUS_NO_MEMORY);
}

/* All before any is done with: else one would be sent in another's place, and taken back then. */
static void withdraw_queries(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	for (struct acm_lookup *lookup = endpoint->lookups; lookup; lookup = lookup->next) {
		if (lookup->phase == ACM_LOOKUP_ROUTE)
			acm_sa_exchange_withdraw(engine, &lookup->sa);
	}
}

void acm_lookups_fail(struct acm_engine *engine, struct acm_endpoint *endpoint,
		      enum acm_status status)
{
	withdraw_queries(engine, endpoint);
	while (endpoint->lookups)
		acm_lookup_finish(engine, endpoint->lookups, status);
	acm_sa_exchange_pump(engine, endpoint->port);
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
	acm_multicast_requests_pump(
		engine, endpoint); /* what was queued when the membership came in doubt */
}

void acm_lookups_ask_anew(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	withdraw_queries(engine, endpoint);
	for (struct acm_lookup *lookup = endpoint->lookups; lookup; lookup = lookup->next) {
		if (lookup->phase == ACM_LOOKUP_ROUTE)
			acm_sa_exchange_begin(engine, &lookup->sa, ACM_SA_PATH);
	}
	acm_sa_exchange_pump(engine, endpoint->port);
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
		acm_multicast_request_missed(engine, lookup);
	} else if (lookup->tries > engine->config.retries) {
		give_up(engine, lookup);
	} else if (acm_endpoint_ready(lookup->endpoint)) {
		acm_multicast_request_repeat(engine, lookup);
	} else {
		withdraw(engine, lookup);
		ask_address(engine, lookup);
	}
}

/*
 * After a change of the subnet a datagram may have been sent before it, and name a LID that was
 * given away since: nobody can tell. So it is believed only as long as there may be such ones, and
 * asked for again then.
 */
static void believe_for_now(const struct acm_endpoint *endpoint, uint64_t *expires)
{
	if (*expires > endpoint->settled)
		*expires = endpoint->settled;
}

static void note(struct acm_engine *engine, struct acm_endpoint *endpoint,
		 struct acm_destination *destination, const struct acm_datagram_received *from,
		 const struct acm_group *group)
{
	bool settled = engine->now >= endpoint->settled;
	struct acm_path path;

	acm_destination_set_address(engine, endpoint, destination, from->slid, &from->sgid);
	if (!settled)
		believe_for_now(endpoint, &destination->address_expires);
	if (engine->config.route_protocol == ACM_ROUTE_ACM && group) {
		acm_route_from_group(endpoint, group, from->slid, &from->sgid, &path);
		acm_destination_set_route(engine, endpoint, destination, &path);
		if (!settled)
			believe_for_now(endpoint, &destination->route_expires);
	}
}

static void learn(struct acm_engine *engine, struct acm_endpoint *endpoint,
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
	acm_multicast_requests_pump(engine, endpoint);
}

void acm_lookup_learn(struct acm_engine *engine, struct acm_lookup *lookup,
		      const struct acm_datagram_received *from, const struct acm_group *group)
{
	acm_multicast_request_answered(engine, lookup);
	learn(engine, lookup->endpoint, lookup->destination, from, group);
}

void acm_lookup_overhear(struct acm_engine *engine, struct acm_endpoint *endpoint,
			 struct acm_destination *destination,
			 const struct acm_datagram_received *from, const struct acm_group *group)
{
	struct acm_lookup *lookup = destination->lookup;

	if (!engine->policy.asks_on || !lookup || !is_asking(lookup)) {
		if (lookup)
			acm_multicast_request_overtaken(engine, lookup);
		learn(engine, endpoint, destination, from, group);
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
	struct acm_trace *trace = acm_lookup_trace(engine, lookup, ACM_TRACE_SA_QUERY);

	if (trace)
		trace->value = sa->tries;
}

void acm_lookup_sa_withdrawn(struct acm_engine *engine, const struct acm_sa_exchange *sa)
{
	acm_lookup_trace(engine, ACM_CONTAINER(sa, struct acm_lookup, sa), ACM_TRACE_SA_WITHDRAWN);
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
		trace = acm_lookup_trace(engine, lookup, ACM_TRACE_SA_STATUS);
		if (trace) {
			trace->value = status;
			trace->reason = acm_sa_status_text(status);
		}
		refused(engine, lookup, acm_sa_client_status(status));
		return;
	}
	if (acm_sa_decode_path(mad, length, &path) || !path_fits(lookup, &path)) {
		acm_engine_trace_dropped(engine, lookup->endpoint->id, "path answer does not fit");
		acm_lookup_finish(engine, lookup, ACM_STATUS_NO_DATA);
		return;
	}
	acm_destination_set_route(engine, lookup->endpoint, destination, &path);
	trace = acm_lookup_trace(engine, lookup, ACM_TRACE_ROUTE);
	if (trace)
		trace->lid = path.dlid;
	if (is_asking(lookup))
		answer_all(engine, lookup, ACM_STATUS_OK);
	else
		acm_lookup_finish(engine, lookup, ACM_STATUS_OK);
}
