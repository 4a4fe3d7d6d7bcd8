/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an engine knows of other nodes: destinations by (endpoint, type, canonical address), with
 * their address and their route, each with its own expiry. A budget bounds the memory: the least
 * recently used leave first; those that a look-up holds stay.
 */
#ifndef ACMITE_ENGINE_DESTINATION_CACHE_H
#define ACMITE_ENGINE_DESTINATION_CACHE_H

#include <acmite/types.h>
#include "random.h"

struct acm_lookup;

/* Beside enum acm_address_type: keys that are a by-path request's constraints. */
#define ACM_KEY_PATH 0x10
/* Set on a key's type: the answer comes from the SA and is not kept. */
#define ACM_KEY_BYPASS 0x80

struct acm_key {
	uint32_t endpoint;
	uint8_t type;
	uint8_t length;
	const uint8_t *data;
};

enum acm_knowledge {
	ACM_UNKNOWN,
	ACM_KNOWN,
	ACM_REFUSED, /* a failure that is remembered: .status */
};

struct acm_destination {
	/* Least recently used order; both NULL and not listed while `lookup` holds it. */
	struct acm_destination *newer;
	struct acm_destination *older;
	struct acm_lookup *lookup;
	uint64_t address_expires;
	uint64_t route_expires;
	uint32_t hash;
	uint32_t endpoint;
	struct acm_gid gid;
	/* The route: a path record without its GIDs and service id. */
	uint32_t flow_label;
	uint16_t slid;
	uint16_t dlid;
	uint16_t pkey;
	uint16_t qos_class;
	uint16_t lid;           /* the address's */
	uint16_t address_epoch; /* of the endpoint when it was learned */
	uint16_t route_epoch;
	uint8_t sgid_index;
	uint8_t sl;
	uint8_t mtu; /* with the selector in the top bits, as the next two */
	uint8_t rate;
	uint8_t packet_life;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t paths; /* reversible in the top bit, number of paths */
	uint8_t preference;
	uint8_t address_known : 2; /* enum acm_knowledge */
	uint8_t route_known : 2;
	uint8_t status; /* of what is refused */
	uint8_t key_type;
	uint8_t key_length;
	uint8_t key[];
};

struct acm_destination_cache {
	const struct acm_allocator *allocator;
	struct acm_hash_key hash_key;
	struct acm_destination **slots; /* open addressing, linear; a power of two */
	uint8_t *tags; /* of each slot, behind them: what need not be looked at is not fetched */
	uint32_t capacity;
	uint32_t count;
	struct acm_destination *newest;
	struct acm_destination *oldest;
	uint64_t memory;
	uint64_t budget;
	/* Called before one leaves to make room. */
	void (*evicted)(void *context, const struct acm_destination *destination);
	void *context;
};

void acm_destination_cache_init(struct acm_destination_cache *cache,
				const struct acm_allocator *allocator,
				const struct acm_hash_key *key, uint64_t budget);
void acm_destination_cache_fini(struct acm_destination_cache *cache);

/* NULL when it is not there. Does not count as use. */
struct acm_destination *acm_destination_cache_find(const struct acm_destination_cache *cache,
						   const struct acm_key *key);
/*
 * A new one for a key that is not there; the budget is kept. NULL: no memory, or the budget is used
 * up by destinations that are held.
 */
struct acm_destination *acm_destination_cache_add(struct acm_destination_cache *cache,
						  const struct acm_key *key);
/* Must not be held. */
void acm_destination_cache_remove(struct acm_destination_cache *cache,
				  struct acm_destination *destination);
/* Makes it the most recently used. */
void acm_destination_cache_touch(struct acm_destination_cache *cache,
				 struct acm_destination *destination);
/* Sets or clears .lookup; held ones are never evicted. */
void acm_destination_cache_hold(struct acm_destination_cache *cache,
				struct acm_destination *destination, struct acm_lookup *lookup);
void acm_destination_cache_release(struct acm_destination_cache *cache,
				   struct acm_destination *destination);
/* Removes all of an endpoint that are not held. */
void acm_destination_cache_forget(struct acm_destination_cache *cache, uint32_t endpoint);
/* Bytes that one of this key length takes, without its share of the table. */
size_t acm_destination_size(uint8_t key_length);

#endif
