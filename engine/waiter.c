/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Client requests that wait. Each is answered exactly once, or cancelled. */
#include "core.h"
#include "memory.h"

#include <assert.h>

#define FIRST_BUCKETS 16

static struct acm_waiter **bucket(const struct acm_engine *engine, uint64_t id)
{
	uint64_t spread = (id ^ id >> 32) * UINT64_C(0x9e3779b97f4a7c15);

	return &engine->waiters[(spread >> 32) & (engine->waiter_buckets - 1)];
}

static struct acm_waiter *find(const struct acm_engine *engine, uint64_t id)
{
	struct acm_waiter *waiter = engine->waiter_buckets ? *bucket(engine, id) : NULL;

	while (waiter && waiter->reply.id != id)
		waiter = waiter->hash_next;
	return waiter;
}

static bool grow(struct acm_engine *engine)
{
	uint32_t old_count = engine->waiter_buckets;
	struct acm_waiter **old = engine->waiters;
	uint32_t count = old_count ? old_count * 2 : FIRST_BUCKETS;
	struct acm_waiter **buckets = acm_memory_new(&engine->allocator, count * sizeof(*buckets));

	if (!buckets)
		return false;
	engine->waiters = buckets;
	engine->waiter_buckets = count;
	for (uint32_t i = 0; i < old_count; i++) {
		struct acm_waiter *next;

		for (struct acm_waiter *at = old[i]; at; at = next) {
			struct acm_waiter **home = bucket(engine, at->reply.id);

			next = at->hash_next;
			at->hash_next = *home;
			*home = at;
		}
	}
	acm_memory_free(&engine->allocator, old, old_count * sizeof(*old));
	return true;
}

struct acm_waiter *acm_waiter_create(struct acm_engine *engine, const struct acm_request *request)
{
	struct acm_waiter *waiter;
	struct acm_waiter **home;

	if (engine->waiter_count >= engine->config.request_limit || find(engine, request->id))
		return NULL;
	if (engine->waiter_count >= engine->waiter_buckets && !grow(engine))
		return NULL;
	waiter = acm_memory_new(&engine->allocator, sizeof(*waiter));
	if (!waiter)
		return NULL;
	waiter->reply.id = request->id;
	waiter->reply.tid = request->tid;
	waiter->reply.opcode = request->opcode;
	waiter->reply.kind = request->kind;
	home = bucket(engine, request->id);
	waiter->hash_next = *home;
	*home = waiter;
	engine->waiter_count++;
	return waiter;
}

void acm_waiter_append(struct acm_engine *engine, struct acm_lookup *lookup,
		       struct acm_waiter *waiter)
{
	if (!lookup->first)
		engine->unattended--;
	waiter->lookup = lookup;
	waiter->next = NULL;
	*(lookup->last ? &lookup->last->next : &lookup->first) = waiter;
	lookup->last = waiter;
}

static void unhash(struct acm_engine *engine, struct acm_waiter *waiter)
{
	struct acm_waiter **at = bucket(engine, waiter->reply.id);

	while (*at != waiter)
		at = &(*at)->hash_next;
	*at = waiter->hash_next;
	engine->waiter_count--;
}

void acm_waiter_end_search(struct acm_engine *engine, struct acm_waiter *waiter)
{
	if (!waiter->request)
		return;
	acm_slot_table_remove(&engine->slots, waiter->cookie);
	acm_deadlines_unregister(&engine->deadlines, &waiter->timer);
	acm_memory_free(&engine->allocator, waiter->request, sizeof(*waiter->request));
	waiter->request = NULL;
}

void acm_waiter_answer(struct acm_engine *engine, struct acm_waiter *waiter,
		       struct acm_endpoint *endpoint, enum acm_status status)
{
	acm_waiter_end_search(engine, waiter);
	unhash(engine, waiter);
	waiter->reply.status = status;
	waiter->lookup = NULL;
	waiter->next = NULL;
	*(engine->answered_last ? &engine->answered_last->next : &engine->answered_first) = waiter;
	engine->answered_last = waiter;
	acm_reply_account(engine, endpoint, &waiter->reply);
}

static void take_off_lookup(struct acm_engine *engine, struct acm_waiter *waiter)
{
	struct acm_lookup *lookup = waiter->lookup;
	struct acm_waiter *previous = NULL;
	struct acm_waiter *at = lookup->first;

	while (at != waiter) {
		previous = at;
		at = at->next;
	}
	*(previous ? &previous->next : &lookup->first) = waiter->next;
	if (lookup->last == waiter)
		lookup->last = previous;
	if (!lookup->first)
		engine->unattended++;
}

/* The look-up goes on: its answer is worth having, its retries are bounded, and so is how many do.
 */
void acm_waiter_cancel(struct acm_engine *engine, uint64_t id)
{
	struct acm_waiter *waiter = find(engine, id);
	struct acm_lookup *lookup;
	struct acm_trace *trace;

	if (!waiter)
		return;
	acm_engine_count(engine, NULL, ACM_COUNTER_CANCELLED);
	trace = acm_engine_trace(engine, ACM_TRACE_CANCELLED);
	if (trace)
		trace->request = id;
	lookup = waiter->lookup;
	if (lookup)
		take_off_lookup(engine, waiter);
	acm_waiter_end_search(engine, waiter);
	unhash(engine, waiter);
	acm_memory_free(&engine->allocator, waiter, sizeof(*waiter));
	if (lookup)
		acm_lookup_abandon(engine, lookup);
}

const struct acm_reply *acm_waiter_pull(struct acm_engine *engine)
{
	struct acm_waiter *waiter = engine->answered_first;

	if (!waiter)
		return NULL;
	engine->answered_first = waiter->next;
	if (!engine->answered_first)
		engine->answered_last = NULL;
	waiter->next = engine->pulled;
	engine->pulled = waiter;
	return &waiter->reply;
}

void acm_waiters_free_pulled(struct acm_engine *engine)
{
	struct acm_waiter *waiter;

	while ((waiter = engine->pulled)) {
		engine->pulled = waiter->next;
		acm_memory_free(&engine->allocator, waiter, sizeof(*waiter));
	}
}

void acm_waiters_destroy(struct acm_engine *engine)
{
	while (acm_waiter_pull(engine))
		;
	acm_waiters_free_pulled(engine);
	for (uint32_t i = 0; i < engine->waiter_buckets; i++) {
		struct acm_waiter *waiter;

		while ((waiter = engine->waiters[i])) {
			acm_waiter_end_search(engine, waiter);
			engine->waiters[i] = waiter->hash_next;
			acm_memory_free(&engine->allocator, waiter, sizeof(*waiter));
		}
	}
	acm_memory_free(&engine->allocator, engine->waiters,
			engine->waiter_buckets * sizeof(*engine->waiters));
}
