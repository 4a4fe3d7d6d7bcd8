/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many multicast requests may be under way: what opens the window, what halves it. */
#include "multicast_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MOST  64
#define DEPTH 1024 /* a crowd is 128 */
#define CROWD 128

static struct acm_multicast_window window;
static uint64_t now;

static int reset(void **state)
{
	(void)state;
	now = 1000;
	acm_multicast_window_init(&window, MOST, DEPTH);
	acm_multicast_window_rest(&window, now);
	return 0;
}

/* As many as there is room for go out now. */
static uint32_t fill(void)
{
	uint32_t count = 0;

	while (acm_multicast_window_enter(&window))
		count++;
	return count;
}

static void answer(uint32_t count, uint64_t sent)
{
	while (count--)
		acm_multicast_window_answered(&window, sent, now);
}

static void miss(uint32_t count, uint64_t sent)
{
	while (count--)
		acm_multicast_window_missed(&window, sent, now);
}

static void hear(uint32_t count)
{
	while (count--)
		acm_multicast_window_hear(&window);
}

/* One flight that is answered; how many it was. */
static uint32_t fly(void)
{
	uint64_t sent = now;
	uint32_t count = fill();

	now += 10;
	answer(count, sent);
	return count;
}

static void it_begins_small_and_doubles_with_each_flight(void **state)
{
	(void)state;
	for (uint32_t size = 2; size < MOST; size *= 2)
		assert_int_equal(fly(), size);
	assert_int_equal(fly(), MOST);
	assert_int_equal(fly(), MOST);
}

static void it_keeps_to_the_option(void **state)
{
	(void)state;
	acm_multicast_window_init(&window, 1, DEPTH);
	for (int i = 0; i < 5; i++)
		assert_int_equal(fly(), 1);
	acm_multicast_window_init(&window, 3, DEPTH);
	assert_int_equal(fly(), 2);
	assert_int_equal(fly(), 3);
	assert_int_equal(fly(), 3);
}

static void what_is_missed_in_a_crowd_halves_it_once_a_flight(void **state)
{
	uint64_t sent;

	(void)state;
	for (int i = 0; i < 6; i++)
		fly();
	sent = now;
	assert_int_equal(fill(), MOST);
	hear(CROWD);
	now += 10;
	miss(MOST, sent);
	assert_int_equal(window.size, MOST / 2);
	/* From there it opens by one with each flight. */
	assert_int_equal(fly(), MOST / 2);
	assert_int_equal(fly(), MOST / 2 + 1);
}

static void never_below_one(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		uint64_t sent = now;
		uint32_t count = fill();

		assert_true(count >= 1);
		hear(CROWD);
		now += 10;
		miss(count, sent);
	}
	assert_int_equal(window.size, 1);
}

static void what_is_missed_in_a_quiet_group_is_dead_and_holds_nobody_up(void **state)
{
	(void)state;
	for (uint32_t size = 2; size < MOST; size *= 2) {
		uint64_t sent = now;

		assert_int_equal(fill(), size);
		hear(CROWD - 1);
		now += 10;
		miss(size, sent);
	}
	assert_int_equal(window.size, MOST);
}

static void a_crowd_of_long_ago_does_not_count(void **state)
{
	uint64_t sent;

	(void)state;
	hear(10 * CROWD);
	fly();
	sent = now;
	assert_int_equal(fill(), 4);
	now += 10;
	miss(4, sent);
	assert_int_equal(window.size, 8);
}

static void short_receive_queues_are_crowded_sooner(void **state)
{
	uint64_t sent = now;

	(void)state;
	acm_multicast_window_init(&window, MOST, 4);
	assert_int_equal(fill(), 2);
	hear(1);
	now += 10;
	miss(2, sent);
	assert_int_equal(window.size, 1);
}

static void after_a_rest_it_begins_anew(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++)
		fly();
	acm_multicast_window_rest(&window, now);
	assert_int_equal(fly(), 2);
}

static void a_place_that_is_left_says_nothing(void **state)
{
	(void)state;
	assert_int_equal(fill(), 2);
	acm_multicast_window_leave(&window);
	assert_int_equal(fill(), 1);
	assert_int_equal(window.size, 2);
}

static void spent_places_stay_taken_until_they_are_recovered(void **state)
{
	(void)state;
	assert_int_equal(fill(), 2);
	acm_multicast_window_spend(&window);
	acm_multicast_window_spend(&window);
	assert_int_equal(fill(), 0);
	acm_multicast_window_recover(&window);
	assert_int_equal(fill(), 2);
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_begins_small_and_doubles_with_each_flight),
		TEST(it_keeps_to_the_option),
		TEST(what_is_missed_in_a_crowd_halves_it_once_a_flight),
		TEST(never_below_one),
		TEST(what_is_missed_in_a_quiet_group_is_dead_and_holds_nobody_up),
		TEST(a_crowd_of_long_ago_does_not_count),
		TEST(short_receive_queues_are_crowded_sooner),
		TEST(after_a_rest_it_begins_anew),
		TEST(a_place_that_is_left_says_nothing),
		TEST(spent_places_stay_taken_until_they_are_recovered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
