/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cache against a naive model, and its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "counted_memory.h"
#include "destination_cache.h"

#define BUDGET 16384

static struct counted_memory memory;
static struct acm_destination_cache cache;
static const struct acm_hash_key hash_key = {1, 2};
static struct acm_lookup *const holder = (struct acm_lookup *)&memory; /* only compared */

/* Keys by number: their endpoint, type and length differ too. */
struct text_key {
	struct acm_key key;
	uint8_t data[ACM_ADDRESS_MAX];
};

static const struct acm_key *key_of(struct text_key *text, unsigned int number)
{
	static const uint8_t types[] = {ACM_ADDRESS_NAME, ACM_ADDRESS_IP6,
					ACM_ADDRESS_NAME | ACM_KEY_BYPASS, ACM_KEY_PATH};

	memset(text, 0, sizeof(*text));
	snprintf((char *)text->data, sizeof(text->data), "destination %u", number / 12);
	text->key.endpoint = number % 3;
	text->key.type = types[number / 3 % 4];
	text->key.length = (uint8_t)(14 + number % 50);
	text->key.data = text->data;
	return &text->key;
}

static struct acm_destination *find(unsigned int number)
{
	struct text_key text;

	return acm_destination_cache_find(&cache, key_of(&text, number));
}

static struct acm_destination *add(unsigned int number)
{
	struct text_key text;

	return acm_destination_cache_add(&cache, key_of(&text, number));
}

static int setup(void **state)
{
	(void)state;
	counted_memory_init(&memory);
	acm_destination_cache_init(&cache, &memory.allocator, &hash_key, BUDGET);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(cache.memory, memory.live_bytes);
	acm_destination_cache_fini(&cache);
	assert_int_equal(memory.live_bytes, 0);
	return 0;
}

static void what_was_added_is_found_by_its_whole_key(void **state)
{
	struct acm_destination *destination;
	struct text_key text;
	struct acm_key key;

	(void)state;
	assert_null(find(0));
	destination = add(0);
	assert_ptr_equal(find(0), destination);
	key = *key_of(&text, 0);
	key.endpoint++;
	assert_null(acm_destination_cache_find(&cache, &key));
	key = *key_of(&text, 0);
	key.type = ACM_ADDRESS_IP6;
	assert_null(acm_destination_cache_find(&cache, &key));
	key = *key_of(&text, 0);
	key.length--;
	assert_null(acm_destination_cache_find(&cache, &key));
	key = *key_of(&text, 0);
	text.data[0] ^= 0x20;
	assert_null(acm_destination_cache_find(&cache, &key));
	acm_destination_cache_remove(&cache, destination);
	assert_null(find(0));
	assert_int_equal(cache.count, 0);
}

static void the_least_recently_used_leaves_first(void **state)
{
	unsigned int last = 0;

	(void)state;
	while (cache.memory + 2 * acm_destination_size(ACM_ADDRESS_MAX) < BUDGET)
		assert_non_null(add(last++));
	acm_destination_cache_touch(&cache, find(0)); /* used again: 1 is the oldest now */
	while (find(1))
		assert_non_null(add(last++));
	assert_non_null(find(0));
	assert_non_null(find(2));
	/* Being looked for is no use: it is the touch that counts. */
	while (find(2))
		assert_non_null(add(last++));
	assert_non_null(find(0));
	while (find(0))
		assert_non_null(add(last++));
	assert_non_null(find(last - 1));
}

static void held_ones_stay_and_may_fill_the_budget(void **state)
{
	struct acm_destination *destination;
	unsigned int count = 0;

	(void)state;
	while ((destination = add(count))) {
		acm_destination_cache_hold(&cache, destination, holder);
		count++;
		assert_in_range(count, 0, BUDGET);
	}
	assert_true(cache.memory <= BUDGET);
	for (unsigned int i = 0; i < count; i++)
		assert_ptr_equal(find(i)->lookup, holder);
	/* The first one that is let go makes room, and is what leaves. */
	acm_destination_cache_release(&cache, find(5));
	assert_non_null(add(count));
	assert_null(find(5));
	for (unsigned int i = 0; i < count; i++) {
		if (i != 5)
			acm_destination_cache_release(&cache, find(i));
	}
}

static void forgetting_an_endpoint_spares_the_held(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 30; i++)
		add(i);
	acm_destination_cache_hold(&cache, find(3), holder);
	acm_destination_cache_forget(&cache, 0);
	for (unsigned int i = 0; i < 30; i++)
		assert_int_equal(find(i) != NULL, i % 3 != 0 || i == 3);
	acm_destination_cache_release(&cache, find(3));
	acm_destination_cache_forget(&cache, 0);
	assert_null(find(3));
	assert_int_equal(cache.count, 20);
}

static void without_memory_nothing_breaks(void **state)
{
	unsigned int count = 0;

	(void)state;
	for (unsigned int fail = 1; fail < 40; fail++) {
		memory.fail_from = memory.allocations + fail;
		for (unsigned int i = 0; i < fail; i++) {
			if (!find(count + i))
				add(count + i);
		}
		memory.fail_from = 0;
		count += fail;
		assert_int_equal(cache.memory, memory.live_bytes);
		assert_true(cache.memory <= BUDGET);
		assert_non_null(add(100000 + fail));
	}
}

/* ---- the model: all destinations in an array, the least recently used first ---- */

#define NUMBERS 400

struct model {
	unsigned int order[NUMBERS]; /* not held, oldest first */
	unsigned int count;
	bool there[NUMBERS];
	bool held[NUMBERS];
	unsigned int evictions;
};

static struct model model;

static unsigned int number_of(const struct acm_destination *destination)
{
	for (unsigned int i = 0; i < NUMBERS; i++) {
		if (model.there[i] && find(i) == destination)
			return i;
	}
	fail_msg("an unknown destination");
	return 0;
}

static void model_unlist(unsigned int number)
{
	for (unsigned int i = 0; i < model.count; i++) {
		if (model.order[i] == number) {
			memmove(&model.order[i], &model.order[i + 1],
				(model.count - i - 1) * sizeof(model.order[0]));
			model.count--;
			return;
		}
	}
}

static void model_newest(unsigned int number)
{
	model_unlist(number);
	model.order[model.count++] = number;
}

static void model_remove(unsigned int number)
{
	model_unlist(number);
	model.there[number] = model.held[number] = false;
}

static void evicted(void *context, const struct acm_destination *destination)
{
	unsigned int number = number_of(destination);

	assert_ptr_equal(context, &model);
	assert_true(model.count > 0);
	assert_int_equal(number, model.order[0]);
	model_remove(number);
	model.evictions++;
}

static void operate(uint64_t r)
{
	unsigned int number = (unsigned int)(r % NUMBERS);
	struct acm_destination *destination = find(number);

	assert_int_equal(destination != NULL, model.there[number]);
	if (!destination) {
		bool room;

		destination = add(number);
		room = destination != NULL;
		if (room) {
			model.there[number] = true;
			model_newest(number);
		} else {
			assert_int_equal(model.count, 0); /* all that is left is held */
		}
		return;
	}
	assert_int_equal(destination->lookup != NULL, model.held[number]);
	switch (r >> 32 & 7) {
	case 0:
		if (model.held[number])
			break;
		acm_destination_cache_remove(&cache, destination);
		model_remove(number);
		break;
	case 1:
	case 2:
		if (model.held[number]) {
			acm_destination_cache_release(&cache, destination);
			model.held[number] = false;
			model_newest(number);
		} else {
			acm_destination_cache_hold(&cache, destination, holder);
			model.held[number] = true;
			model_unlist(number);
		}
		break;
	case 3:
		if (r >> 40 & 63)
			break;
		acm_destination_cache_forget(&cache, number % 3);
		for (unsigned int i = number % 3; i < NUMBERS; i += 3) {
			if (model.there[i] && !model.held[i])
				model_remove(i);
		}
		break;
	default:
		acm_destination_cache_touch(&cache, destination);
		if (!model.held[number])
			model_newest(number);
	}
}

static void compare(void)
{
	const struct acm_destination *at = cache.oldest;
	unsigned int there = 0;

	for (unsigned int i = 0; i < NUMBERS; i++) {
		assert_int_equal(find(i) != NULL, model.there[i]);
		there += model.there[i];
	}
	assert_int_equal(cache.count, there);
	for (unsigned int i = 0; i < model.count; i++, at = at->newer)
		assert_ptr_equal(at, find(model.order[i]));
	assert_null(at);
	assert_int_equal(cache.memory, memory.live_bytes);
	assert_true(cache.memory <= cache.budget);
}

static void random_operations_agree_with_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct acm_hash_key key = {seed, seed * 3};
		struct acm_random random;

		memset(&model, 0, sizeof(model));
		counted_memory_init(&memory);
		acm_random_seed(&random, seed);
		acm_destination_cache_init(&cache, &memory.allocator, &key,
					   4096 + (acm_random_next(&random) & 0xffff));
		cache.evicted = evicted;
		cache.context = &model;
		for (int step = 0; step < 3000; step++) {
			operate(acm_random_next(&random));
			if (step % 50 == 0)
				compare();
		}
		compare();
		acm_destination_cache_fini(&cache);
		assert_int_equal(memory.live_bytes, 0);
	}
	acm_destination_cache_init(&cache, &memory.allocator, &hash_key, BUDGET);
}

/* All in one chain, so that every removal has something to move up. */
static void a_gap_hides_nothing_behind_it(void **state)
{
	(void)state;
	for (unsigned int hole = 0; hole < 11; hole++) {
		for (unsigned int i = 0; i < 11; i++)
			assert_non_null(add(i));
		assert_int_equal(cache.capacity, 16);
		acm_destination_cache_remove(&cache, find(hole));
		for (unsigned int i = 0; i < 11; i++) {
			assert_int_equal(find(i) != NULL, i != hole);
			if (i != hole)
				acm_destination_cache_remove(&cache, find(i));
		}
		for (uint32_t i = 0; i < cache.capacity; i++)
			assert_int_equal(cache.tags[i], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_added_is_found_by_its_whole_key, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_least_recently_used_leaves_first, setup,
						teardown),
		cmocka_unit_test_setup_teardown(held_ones_stay_and_may_fill_the_budget, setup,
						teardown),
		cmocka_unit_test_setup_teardown(forgetting_an_endpoint_spares_the_held, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_memory_nothing_breaks, setup, teardown),
		cmocka_unit_test_setup_teardown(random_operations_agree_with_the_model, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_gap_hides_nothing_behind_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
