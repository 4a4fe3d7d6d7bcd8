/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The multicast request of a look-up: it waits for its turn, goes out, and is repeated. */
#include "core.h"

#include <string.h>

/*
 * How long a request counts in the window when no answer comes. The window keeps a burst from
 * overrunning the receive queues of the others; a dead destination must not hold a place in it.
 */
#define FRESH_TIME (2 * ACM_NSEC_PER_MSEC)

/* A transaction id: 40 random bits, so that nobody can guess it, and the place of the look-up. */
#define TID_PLACE_BITS 24
#define TID_PLACE_MASK ((UINT64_C(1) << TID_PLACE_BITS) - 1)

/* ---- the queue ---- */

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

/* ---- sending ---- */

/* An address that was given up meanwhile must not be spoken for: whoever hears it believes it. */
static void renew_source(struct acm_lookup *lookup)
{
	const struct acm_endpoint *endpoint = lookup->endpoint;
	uint32_t place = 0;

	if (!endpoint->address_count || acm_local_address_is_of(endpoint, &lookup->source))
		return;
	while (place < endpoint->address_count &&
	       endpoint->addresses[place].type != lookup->source.type)
		place++;
	lookup->source = endpoint->addresses[place < endpoint->address_count ? place : 0];
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
	trace = acm_lookup_trace(engine, lookup, ACM_TRACE_MULTICAST);
	if (trace) {
		trace->source = lookup->source;
		trace->value = lookup->tries;
		trace->gid = group->mgid;
	}
}

/* Who hears it learns where the source is: an address that was given up meanwhile is not named. */
static void check_source(struct acm_lookup *lookup)
{
	if (lookup->endpoint->address_count &&
	    !acm_local_address_is_of(lookup->endpoint, &lookup->source))
		lookup->source = lookup->endpoint->addresses[0];
}

static void send_try(struct acm_engine *engine, struct acm_lookup *lookup)
{
	check_source(lookup);
	if (!lookup->tries++) {
		lookup->tid = acm_random_next(&engine->random) << TID_PLACE_BITS |
			      (lookup->cookie & TID_PLACE_MASK);
		acm_engine_count(engine, lookup->endpoint, ACM_COUNTER_ADDR_QUERY);
	} else {
		acm_engine_count(engine, NULL, ACM_COUNTER_RETRIES);
	}
	renew_source(lookup);
	lookup->sent = engine->now;
	multicast(engine, lookup);
}

static uint64_t try_ends(struct acm_engine *engine, const struct acm_lookup *lookup)
{
	return lookup->sent +
	       acm_engine_try_time(engine, lookup->endpoint->port, lookup->tries - 1u);
}

void acm_multicast_request_begin(struct acm_engine *engine, struct acm_lookup *lookup)
{
	struct acm_endpoint *endpoint = lookup->endpoint;

	if (!endpoint->queue_first && !endpoint->window.taken)
		acm_multicast_window_rest(&endpoint->window, engine->now);
	enqueue(lookup);
	acm_multicast_requests_pump(engine, endpoint);
}

void acm_multicast_requests_pump(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	struct acm_lookup *lookup;

	while (acm_endpoint_ready(endpoint) && (lookup = endpoint->queue_first) &&
	       acm_multicast_window_enter(&endpoint->window)) {
		dequeue(lookup);
		lookup->phase = ACM_LOOKUP_FRESH;
		send_try(engine, lookup);
		acm_deadlines_arm(&engine->deadlines, &lookup->retry,
				  engine->policy.window_until_answered ? try_ends(engine, lookup)
								       : engine->now + FRESH_TIME);
	}
}

void acm_multicast_request_repeat(struct acm_engine *engine, struct acm_lookup *lookup)
{
	send_try(engine, lookup);
	acm_deadlines_arm(&engine->deadlines, &lookup->retry, try_ends(engine, lookup));
}

/* ---- its end, and that of its place in the window ---- */

void acm_multicast_request_missed(struct acm_engine *engine, struct acm_lookup *lookup)
{
	acm_multicast_window_missed(&lookup->endpoint->window, lookup->sent, engine->now);
	lookup->phase = ACM_LOOKUP_SENT;
	acm_deadlines_arm(&engine->deadlines, &lookup->retry, try_ends(engine, lookup));
	acm_multicast_requests_pump(engine, lookup->endpoint);
}

void acm_multicast_request_answered(struct acm_engine *engine, struct acm_lookup *lookup)
{
	if (lookup->phase != ACM_LOOKUP_FRESH)
		return;
	acm_multicast_window_answered(&lookup->endpoint->window, lookup->sent, engine->now);
	lookup->phase = ACM_LOOKUP_SENT;
}

void acm_multicast_request_overtaken(struct acm_engine *engine, struct acm_lookup *lookup)
{
	struct acm_endpoint *endpoint = lookup->endpoint;

	if (lookup->phase != ACM_LOOKUP_FRESH)
		return;
	acm_multicast_window_spend(&endpoint->window);
	acm_deadlines_arm(&engine->deadlines, &endpoint->recovery, engine->now + FRESH_TIME);
	lookup->phase = ACM_LOOKUP_SENT;
}

void acm_multicast_requests_recover(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	acm_multicast_window_recover(&endpoint->window);
	acm_multicast_requests_pump(engine, endpoint);
}

void acm_multicast_request_withdraw(struct acm_lookup *lookup)
{
	if (lookup->phase == ACM_LOOKUP_QUEUED)
		dequeue(lookup);
	else if (lookup->phase == ACM_LOOKUP_FRESH)
		acm_multicast_window_leave(&lookup->endpoint->window);
}

/* ---- answers ---- */

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
