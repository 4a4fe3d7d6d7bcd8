/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * This node's own addresses: a set of facts, from which each endpoint's list is computed anew after
 * a change. So the order in which facts and ports come makes no difference.
 */
#include "core.h"
#include "memory.h"
#include "partition.h"

#include <errno.h>

/* Any total order will do; with this one an address that several facts name comes in a row. */
static int compare(const struct acm_local_address *a, const struct acm_local_address *b)
{
	int order = a->address.type - b->address.type;

	if (!order)
		order = memcmp(a->address.data, b->address.data, sizeof(a->address.data));
	if (!order)
		order = (a->port > b->port) - (a->port < b->port);
	return order ? order : a->pkey - b->pkey;
}

static struct acm_local_fact **fact_place(struct acm_engine *engine,
					  const struct acm_local_address *local)
{
	struct acm_local_fact **at = &engine->local_facts;

	while (*at && compare(&(*at)->local, local) < 0)
		at = &(*at)->next;
	return at;
}

static void apply_to_port(struct acm_engine *engine, uint32_t number)
{
	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		if (at->port->facts.port == number) {
			acm_local_address_apply(engine, at);
			acm_endpoint_update(engine, at);
		}
	}
}

static void trace_local(struct acm_engine *engine, const struct acm_local_address *local,
			enum acm_trace_type type)
{
	struct acm_trace *trace = acm_engine_trace(engine, type);

	if (!trace)
		return;
	trace->port = local->port;
	trace->pkey = local->pkey;
	trace->source = local->address;
}

/* That it was here is no knowledge any more: it may be somewhere else now. */
static void unlearn(struct acm_engine *engine, const struct acm_local_address *local)
{
	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		struct acm_key key = {at->id, local->address.type, local->address.length,
				      local->address.data};
		struct acm_destination *destination =
			acm_destination_cache_find(&engine->cache, &key);

		if (at->port->facts.port == local->port && destination)
			destination->address_known = ACM_UNKNOWN;
	}
}

/*
 * Tells most addresses apart. Every request and every datagram is looked up by it, so it is cheap;
 * no key is needed, as the addresses that it leads to are this node's own.
 */
static uint64_t fingerprint(const struct acm_address *address)
{
	uint64_t print = (uint64_t)address->type << 8 | address->length;
	uint64_t word;

	/* Behind its length the data is zero. */
	for (size_t at = 0; at < address->length; at += sizeof(word)) {
		memcpy(&word, address->data + at, sizeof(word));
		print = (print ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		print ^= print >> 32;
	}
	return print;
}

int acm_local_address_add(struct acm_engine *engine, const struct acm_local_address *local)
{
	struct acm_local_fact **at = fact_place(engine, local);
	struct acm_local_fact *fact;

	if (*at && !compare(&(*at)->local, local))
		return 0;
	fact = acm_memory_new(&engine->allocator, sizeof(*fact));
	if (!fact)
		return -ENOMEM;
	fact->local = *local;
	fact->fingerprint = fingerprint(&local->address);
	fact->next = *at;
	*at = fact;
	trace_local(engine, local, ACM_TRACE_ADDRESS_ADDED);
	apply_to_port(engine, local->port);
	return 0;
}

void acm_local_address_remove(struct acm_engine *engine, const struct acm_local_address *local)
{
	struct acm_local_fact **at = fact_place(engine, local);
	struct acm_local_fact *fact = *at;

	if (!fact || compare(&fact->local, local))
		return;
	*at = fact->next;
	trace_local(engine, local, ACM_TRACE_ADDRESS_REMOVED);
	acm_memory_free(&engine->allocator, fact, sizeof(*fact));
	apply_to_port(engine, local->port);
	unlearn(engine, local);
}

void acm_local_addresses_destroy(struct acm_engine *engine)
{
	struct acm_local_fact *fact;

	while ((fact = engine->local_facts)) {
		engine->local_facts = fact->next;
		acm_memory_free(&engine->allocator, fact, sizeof(*fact));
	}
}

static bool make_room(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	uint32_t old = endpoint->address_capacity;
	uint32_t new = old ? old * 2 : 4;
	void *fingerprints =
		acm_memory_new(&engine->allocator, new * sizeof(*endpoint->address_fingerprints));
	void *addresses = acm_memory_new(&engine->allocator, new * sizeof(*endpoint->addresses));
	void *texts = acm_memory_new(&engine->allocator, new * sizeof(*endpoint->address_texts));

	if (!fingerprints || !addresses || !texts) {
		acm_memory_free(&engine->allocator, fingerprints,
				new * sizeof(*endpoint->address_fingerprints));
		acm_memory_free(&engine->allocator, addresses, new * sizeof(*endpoint->addresses));
		acm_memory_free(&engine->allocator, texts, new * sizeof(*endpoint->address_texts));
		return false;
	}
	if (old) {
		memcpy(fingerprints, endpoint->address_fingerprints,
		       old * sizeof(*endpoint->address_fingerprints));
		memcpy(addresses, endpoint->addresses, old * sizeof(*endpoint->addresses));
		memcpy(texts, endpoint->address_texts, old * sizeof(*endpoint->address_texts));
	}
	acm_memory_free(&engine->allocator, endpoint->address_fingerprints,
			old * sizeof(*endpoint->address_fingerprints));
	acm_memory_free(&engine->allocator, endpoint->addresses,
			old * sizeof(*endpoint->addresses));
	acm_memory_free(&engine->allocator, endpoint->address_texts,
			old * sizeof(*endpoint->address_texts));
	endpoint->address_fingerprints = fingerprints;
	endpoint->addresses = addresses;
	endpoint->address_texts = texts;
	endpoint->address_capacity = new;
	return true;
}

static bool concerns(const struct acm_engine *engine, const struct acm_endpoint *endpoint,
		     const struct acm_local_address *local)
{
	if (local->port != endpoint->port->facts.port)
		return false;
	if (local->pkey)
		return acm_partition_equal(local->pkey, endpoint->pkey);
	return acm_endpoint_of(engine, endpoint->port, 0) == endpoint;
}

void acm_local_address_apply(struct acm_engine *engine, struct acm_endpoint *endpoint)
{
	endpoint->address_count = 0;
	for (const struct acm_local_fact *at = engine->local_facts; at; at = at->next) {
		uint32_t i = endpoint->address_count;

		if (!concerns(engine, endpoint, &at->local) ||
		    (i && acm_address_equal(&endpoint->addresses[i - 1], &at->local.address)))
			continue;
		if (i == endpoint->address_capacity && !make_room(engine, endpoint)) {
			acm_engine_trace_dropped(engine, endpoint->id, "no memory for an address");
			acm_ports_repair_later(engine);
			return;
		}
		endpoint->address_fingerprints[i] = at->fingerprint;
		endpoint->addresses[i] = at->local.address;
		memcpy(endpoint->address_texts[i], at->local.text, ACM_ADDRESS_MAX);
		endpoint->address_count++;
	}
}

static bool holds(const struct acm_endpoint *endpoint, const struct acm_address *address,
		  uint64_t print)
{
	for (uint32_t i = 0; i < endpoint->address_count; i++) {
		if (endpoint->address_fingerprints[i] == print &&
		    acm_address_equal(&endpoint->addresses[i], address))
			return true;
	}
	return false;
}

bool acm_local_address_is_of(const struct acm_endpoint *endpoint, const struct acm_address *address)
{
	return endpoint->address_count && holds(endpoint, address, fingerprint(address));
}

struct acm_endpoint *acm_local_address_endpoint(const struct acm_engine *engine,
						const struct acm_address *address)
{
	uint64_t print = fingerprint(address);
	struct acm_endpoint *first = NULL;

	for (struct acm_endpoint *at = engine->endpoints; at; at = at->next) {
		if (!holds(at, address, print))
			continue;
		if (acm_port_active(at->port))
			return at;
		if (!first)
			first = at;
	}
	return first;
}
