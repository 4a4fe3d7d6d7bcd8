/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core.h"
#include "memory.h"

#include <errno.h>

static void evicted(void *context, const struct acm_destination *destination)
{
	struct acm_engine *engine = context;
	struct acm_trace *trace;

	acm_engine_count(engine, NULL, ACM_COUNTER_EVICTED);
	trace = acm_engine_trace(engine, ACM_TRACE_EVICTED);
	if (!trace)
		return;
	trace->endpoint = destination->endpoint;
	if (destination->key_type <= ACM_ADDRESS_LID) {
		trace->destination.type = destination->key_type;
		trace->destination.length = destination->key_length;
		memcpy(trace->destination.data, destination->key, destination->key_length);
	}
}

int acm_engine_create(const struct acm_engine_config *config, const struct acm_allocator *allocator,
		      struct acm_engine **result)
{
	const char *field;
	struct acm_engine *engine;
	int error = acm_engine_config_check(config, &field);

	if (error)
		return error;
	engine = acm_memory_new(allocator, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	engine->allocator = *allocator;
	engine->config = *config;
	engine->policy = acm_policy_of(&engine->config);
	acm_random_seed(&engine->random, config->seed);
	engine->hash_key.k0 = acm_random_next(&engine->random);
	engine->hash_key.k1 = acm_random_next(&engine->random);
	acm_deadlines_init(&engine->deadlines, &engine->allocator);
	acm_action_queue_init(&engine->actions, &engine->allocator);
	acm_slot_table_init(&engine->slots, &engine->allocator);
	acm_destination_cache_init(&engine->cache, &engine->allocator, &engine->hash_key,
				   engine->config.memory_budget);
	engine->cache.evicted = evicted;
	engine->cache.context = engine;
	if (acm_deadlines_register(&engine->deadlines, &engine->repair, ACM_TIMER_REPAIR)) {
		acm_engine_destroy(engine);
		return -ENOMEM;
	}
	*result = engine;
	return 0;
}

void acm_engine_destroy(struct acm_engine *engine)
{
	struct acm_allocator allocator;

	if (!engine)
		return;
	acm_ports_destroy(engine);
	acm_local_addresses_destroy(engine);
	acm_waiters_destroy(engine);
	acm_destination_cache_fini(&engine->cache);
	acm_slot_table_fini(&engine->slots);
	acm_action_queue_fini(&engine->actions);
	acm_deadlines_fini(&engine->deadlines);
	allocator = engine->allocator;
	acm_memory_free(&allocator, engine, sizeof(*engine));
}

struct acm_trace *acm_engine_trace(struct acm_engine *engine, enum acm_trace_type type)
{
	struct acm_queued_action *queued;

	if (!(engine->config.trace_mask >> type & 1))
		return NULL;
	queued = acm_action_queue_push(&engine->actions, ACM_ACTION_TRACE);
	engine->trace_sequence++; /* also when it is lost: the gap shows it */
	if (!queued)
		return NULL;
	memset(&queued->trace, 0, sizeof(queued->trace));
	queued->trace.type = type;
	queued->trace.time = engine->now;
	queued->trace.sequence = engine->trace_sequence;
	return &queued->trace;
}

void acm_engine_trace_dropped(struct acm_engine *engine, uint32_t endpoint, const char *reason)
{
	struct acm_trace *trace;

	acm_engine_count(engine, NULL, ACM_COUNTER_DROPPED);
	trace = acm_engine_trace(engine, ACM_TRACE_DROPPED);
	if (!trace)
		return;
	trace->endpoint = endpoint;
	trace->reason = reason;
}

uint64_t acm_engine_phase_time(const struct acm_engine *engine, const struct acm_port *port)
{
	uint64_t one = engine->config.timeout + acm_port_packet_life(port);

	return one * (engine->config.retries + 1);
}

/*
 * Each try waits twice as long as the one before: a lost packet costs little, the sum is fixed.
 * With even tries the sum is the same.
 */
uint64_t acm_engine_try_time(struct acm_engine *engine, const struct acm_port *port,
			     uint32_t attempt)
{
	uint64_t whole = acm_engine_phase_time(engine, port);
	uint64_t shares = (UINT64_C(1) << (engine->config.retries + 1)) - 1;
	uint64_t mine = whole / shares << attempt;

	if (engine->policy.even_tries)
		return whole / (engine->config.retries + 1);
	/* The last one takes what is left, so that jitter does not lengthen the whole. */
	return attempt == engine->config.retries ? mine - mine / 8
						 : acm_random_jitter(&engine->random, mine);
}

static void expire(struct acm_engine *engine)
{
	struct acm_timer *timer;

	while ((timer = acm_deadlines_pop(&engine->deadlines, engine->now))) {
		switch ((enum acm_timer_kind)timer->kind) {
		case ACM_TIMER_SA:
			acm_sa_exchange_expired(
				engine, ACM_CONTAINER(timer, struct acm_sa_exchange, timer));
			break;
		case ACM_TIMER_GROUP:
			acm_group_expired(engine, ACM_CONTAINER(timer, struct acm_group, timer));
			break;
		case ACM_TIMER_ENDPOINT:
			acm_endpoint_expired(engine,
					     ACM_CONTAINER(timer, struct acm_endpoint, timer));
			break;
		case ACM_TIMER_RECOVERY:
			acm_multicast_requests_recover(
				engine, ACM_CONTAINER(timer, struct acm_endpoint, recovery));
			break;
		case ACM_TIMER_LOOKUP:
			acm_lookup_expired(engine, ACM_CONTAINER(timer, struct acm_lookup, retry));
			break;
		case ACM_TIMER_BOUND:
			acm_lookup_finish(engine, ACM_CONTAINER(timer, struct acm_lookup, bound),
					  ACM_STATUS_TIMED_OUT);
			break;
		case ACM_TIMER_SOURCE:
			acm_request_source_expired(engine,
						   ACM_CONTAINER(timer, struct acm_waiter, timer));
			break;
		case ACM_TIMER_REPAIR:
			acm_ports_repair(engine);
			break;
		}
	}
}

static void reload(struct acm_engine *engine)
{
	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next)
		acm_destination_cache_forget(&engine->cache, at->id);
}

static void take(struct acm_engine *engine, const struct acm_event *event)
{
	switch (event->type) {
	case ACM_EVENT_DEADLINE:
	case ACM_EVENT_WRITABLE:
		break;
	case ACM_EVENT_REQUEST:
		acm_request_take(engine, event->request);
		break;
	case ACM_EVENT_CANCEL:
		acm_waiter_cancel(engine, event->cancel);
		break;
	case ACM_EVENT_SOURCE_FOUND:
		acm_request_source_found(engine, event->source.cookie, event->source.status,
					 &event->source.address);
		break;
	case ACM_EVENT_ADDRESS_ADDED:
		if (acm_local_address_add(engine, event->address))
			acm_engine_trace_dropped(engine, 0, "no memory for an address");
		break;
	case ACM_EVENT_ADDRESS_REMOVED:
		acm_local_address_remove(engine, event->address);
		break;
	case ACM_EVENT_RELOAD:
		reload(engine);
		break;
	case ACM_EVENT_PORT_CHANGED:
		acm_port_changed(engine, event->port_facts);
		break;
	case ACM_EVENT_PORT_REMOVED:
		acm_port_removed(engine, event->port);
		break;
	case ACM_EVENT_REREGISTER:
		acm_port_reregister(engine, event->port);
		break;
	case ACM_EVENT_ENDPOINT_OPENED:
		acm_endpoint_opened(engine, event->opened.endpoint, event->opened.status,
				    event->opened.qpn);
		break;
	case ACM_EVENT_ATTACHED:
		acm_group_attached(engine, event->attached.cookie, event->attached.status);
		break;
	case ACM_EVENT_DATAGRAM:
		acm_datagram_take(engine, &event->datagram);
		break;
	case ACM_EVENT_SEND_FAILED:
		acm_lookup_send_failed(engine, event->failed.cookie);
		break;
	case ACM_EVENT_SA_ANSWER:
		acm_sa_exchange_answered(engine, event->sa.cookie, event->sa.mad, event->sa.length);
		break;
	case ACM_EVENT_SA_FAILED:
		acm_sa_exchange_failed(engine, event->failed.cookie, event->failed.status);
		break;
	}
}

int acm_engine_step(struct acm_engine *engine, const struct acm_event *event)
{
	if (event->time < engine->now || (unsigned int)event->type > ACM_EVENT_SA_FAILED)
		return -EINVAL;
	if (engine->immediate_set || engine->actions.count || engine->answered_first)
		return -EBUSY;
	acm_waiters_free_pulled(engine);
	engine->now = event->time;
	expire(engine);
	take(engine, event);
	return 0;
}

bool acm_engine_next_action(struct acm_engine *engine, struct acm_action *action)
{
	if (acm_action_queue_pop(&engine->actions, action))
		return true;
	action->type = ACM_ACTION_REPLY;
	if (engine->immediate_set) {
		engine->immediate_set = false;
		action->reply = &engine->immediate;
		return true;
	}
	action->reply = acm_waiter_pull(engine);
	return action->reply != NULL;
}

uint64_t acm_engine_deadline(const struct acm_engine *engine)
{
	return acm_deadlines_next(&engine->deadlines);
}

void acm_engine_stats(const struct acm_engine *engine, struct acm_engine_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	memcpy(stats->counters, engine->counters, sizeof(stats->counters));
	stats->destinations = engine->cache.count;
	stats->memory = engine->cache.memory;
	stats->waiting = engine->waiter_count;
	for (const struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		stats->endpoints++;
		stats->endpoints_ready += acm_endpoint_complete(at);
	}
}

const struct acm_port_facts *acm_engine_port(const struct acm_engine *engine, uint32_t index)
{
	const struct acm_port *port = engine->ports;

	while (port && index--)
		port = port->next;
	return port ? &port->facts : NULL;
}
