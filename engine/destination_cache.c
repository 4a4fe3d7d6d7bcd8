/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "destination_cache.h"
#include "memory.h"

#include <assert.h>

#define FIRST_CAPACITY 16

/* A slot's tag: what is free, else some bits of the hash that do not decide where it is. */
#define FREE 0u
#define USED 0x80u

static uint8_t tag_of(uint32_t hash)
{
	return (uint8_t)(hash >> 24 | USED);
}

static size_t table_size(uint32_t capacity)
{
	return capacity * (sizeof(struct acm_destination *) + 1);
}

void acm_destination_cache_init(struct acm_destination_cache *cache,
				const struct acm_allocator *allocator,
				const struct acm_hash_key *key, uint64_t budget)
{
	memset(cache, 0, sizeof(*cache));
	cache->allocator = allocator;
	cache->hash_key = *key;
	cache->budget = budget;
}

size_t acm_destination_size(uint8_t key_length)
{
	size_t size = offsetof(struct acm_destination, key) + key_length;

	return size < sizeof(struct acm_destination) ? sizeof(struct acm_destination) : size;
}

static void destination_free(struct acm_destination_cache *cache,
			     struct acm_destination *destination)
{
	acm_memory_free(cache->allocator, destination,
			acm_destination_size(destination->key_length));
}

void acm_destination_cache_fini(struct acm_destination_cache *cache)
{
	for (uint32_t i = 0; i < cache->capacity; i++) {
		if (cache->tags[i])
			destination_free(cache, cache->slots[i]);
	}
	acm_memory_free(cache->allocator, cache->slots, table_size(cache->capacity));
	cache->slots = NULL;
	cache->tags = NULL;
	cache->capacity = cache->count = 0;
}

static uint32_t key_hash(const struct acm_destination_cache *cache, const struct acm_key *key)
{
	return (uint32_t)acm_hash(&cache->hash_key, (uint64_t)key->endpoint << 8 | key->type,
				  key->data, key->length);
}

static bool matches(const struct acm_destination *destination, const struct acm_key *key,
		    uint32_t hash)
{
	return destination->hash == hash && destination->endpoint == key->endpoint &&
	       destination->key_type == key->type && destination->key_length == key->length &&
	       !memcmp(destination->key, key->data, key->length);
}

struct acm_destination *acm_destination_cache_find(const struct acm_destination_cache *cache,
						   const struct acm_key *key)
{
	uint32_t hash = key_hash(cache, key);
	uint8_t tag = tag_of(hash);
	uint32_t mask;

	if (!cache->capacity)
		return NULL;
	mask = cache->capacity - 1;
	/* The tag and the pointer are in two places: both are fetched at once. */
	__builtin_prefetch(&cache->slots[hash & mask]);
	for (uint32_t i = hash & mask; cache->tags[i]; i = (i + 1) & mask) {
		if (cache->tags[i] == tag && matches(cache->slots[i], key, hash))
			return cache->slots[i];
	}
	return NULL;
}

static void place(struct acm_destination_cache *cache, struct acm_destination *destination)
{
	uint32_t mask = cache->capacity - 1, i = destination->hash & mask;

	while (cache->tags[i])
		i = (i + 1) & mask;
	cache->slots[i] = destination;
	cache->tags[i] = tag_of(destination->hash);
}

static bool grow(struct acm_destination_cache *cache)
{
	uint32_t old_capacity = cache->capacity;
	uint32_t capacity = old_capacity ? old_capacity * 2 : FIRST_CAPACITY;
	struct acm_destination **old = cache->slots;
	uint8_t *old_tags = cache->tags;
	struct acm_destination **slots = acm_memory_new(cache->allocator, table_size(capacity));

	if (!slots)
		return false;
	cache->slots = slots;
	cache->tags = (uint8_t *)&slots[capacity];
	cache->capacity = capacity;
	for (uint32_t i = 0; i < old_capacity; i++) {
		if (old_tags[i])
			place(cache, old[i]);
	}
	acm_memory_free(cache->allocator, old, table_size(old_capacity));
	cache->memory += table_size(capacity) - table_size(old_capacity);
	return true;
}

static bool listed(const struct acm_destination_cache *cache,
		   const struct acm_destination *destination)
{
	return destination->newer || destination->older || cache->newest == destination;
}

static void unlist(struct acm_destination_cache *cache, struct acm_destination *destination)
{
	if (!listed(cache, destination))
		return;
	*(destination->newer ? &destination->newer->older : &cache->newest) = destination->older;
	*(destination->older ? &destination->older->newer : &cache->oldest) = destination->newer;
	destination->newer = destination->older = NULL;
}

static void list_newest(struct acm_destination_cache *cache, struct acm_destination *destination)
{
	destination->older = cache->newest;
	destination->newer = NULL;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = destination;
	cache->newest = destination;
}

void acm_destination_cache_touch(struct acm_destination_cache *cache,
				 struct acm_destination *destination)
{
	if (destination->lookup || cache->newest == destination)
		return;
	unlist(cache, destination);
	list_newest(cache, destination);
}

void acm_destination_cache_hold(struct acm_destination_cache *cache,
				struct acm_destination *destination, struct acm_lookup *lookup)
{
	assert(!destination->lookup && lookup);
	unlist(cache, destination);
	destination->lookup = lookup;
}

void acm_destination_cache_release(struct acm_destination_cache *cache,
				   struct acm_destination *destination)
{
	assert(destination->lookup);
	destination->lookup = NULL;
	list_newest(cache, destination);
}

/* Empties a slot and moves up what a probe would no longer find behind the gap. */
static void empty_slot(struct acm_destination_cache *cache, uint32_t gap)
{
	uint32_t mask = cache->capacity - 1;

	for (uint32_t i = (gap + 1) & mask; cache->tags[i]; i = (i + 1) & mask) {
		uint32_t home = cache->slots[i]->hash & mask;

		if (((i - home) & mask) >= ((i - gap) & mask)) {
			cache->slots[gap] = cache->slots[i];
			cache->tags[gap] = cache->tags[i];
			gap = i;
		}
	}
	cache->tags[gap] = FREE;
}

void acm_destination_cache_remove(struct acm_destination_cache *cache,
				  struct acm_destination *destination)
{
	uint32_t i = destination->hash & (cache->capacity - 1);

	assert(!destination->lookup);
	while (cache->slots[i] != destination)
		i = (i + 1) & (cache->capacity - 1);
	empty_slot(cache, i);
	unlist(cache, destination);
	cache->count--;
	cache->memory -= acm_destination_size(destination->key_length);
	destination_free(cache, destination);
}

static bool evict_one(struct acm_destination_cache *cache)
{
	struct acm_destination *victim = cache->oldest;

	if (!victim)
		return false;
	if (cache->evicted)
		cache->evicted(cache->context, victim);
	acm_destination_cache_remove(cache, victim);
	return true;
}

static bool keep_budget(struct acm_destination_cache *cache, size_t more)
{
	while (cache->memory + more > cache->budget) {
		if (!evict_one(cache))
			return false;
	}
	return true;
}

struct acm_destination *acm_destination_cache_add(struct acm_destination_cache *cache,
						  const struct acm_key *key)
{
	size_t size = acm_destination_size(key->length);
	struct acm_destination *destination;

	if (!keep_budget(cache, size))
		return NULL;
	if ((cache->count + 1) * 8 > cache->capacity * 7) {
		size_t growth = table_size(cache->capacity ? cache->capacity : FIRST_CAPACITY);

		/* Near the budget a fuller table is better than fewer destinations. */
		if (cache->memory + size + growth <= cache->budget && !grow(cache) &&
		    cache->count + 1 >= cache->capacity)
			return NULL;
		while (cache->count + 1 >= cache->capacity) {
			if (!evict_one(cache))
				return NULL;
		}
	}
	destination = acm_memory_new(cache->allocator, size);
	if (!destination)
		return NULL;
	destination->hash = key_hash(cache, key);
	destination->endpoint = key->endpoint;
	destination->key_type = key->type;
	destination->key_length = key->length;
	memcpy(destination->key, key->data, key->length);
	place(cache, destination);
	list_newest(cache, destination);
	cache->count++;
	cache->memory += size;
	return destination;
}

void acm_destination_cache_forget(struct acm_destination_cache *cache, uint32_t endpoint)
{
	struct acm_destination *next;

	for (struct acm_destination *at = cache->oldest; at; at = next) {
		next = at->newer;
		if (at->endpoint == endpoint)
			acm_destination_cache_remove(cache, at);
	}
}
