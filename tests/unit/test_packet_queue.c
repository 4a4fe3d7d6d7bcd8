/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packet_queue.h"
#include "wiring.h"

#include <acmite/types.h>

static void push(struct sim_packet_queue *queue, uint64_t time, uint32_t port)
{
	assert_int_equal(sim_packet_queue_reserve(queue, 1), 0);
	sim_packet_queue_push(queue, time, NULL, port);
}

static void comes_by_time(void **state)
{
	struct sim_packet_queue queue = {0};
	struct sim_arrival arrival;

	(void)state;
	assert_int_equal(sim_packet_queue_next(&queue), ACM_NEVER);
	assert_false(sim_packet_queue_pop(&queue, ACM_NEVER, &arrival));
	push(&queue, 30, 3);
	push(&queue, 10, 1);
	push(&queue, 20, 2);
	assert_int_equal(sim_packet_queue_next(&queue), 10);
	assert_false(sim_packet_queue_pop(&queue, 9, &arrival));
	for (uint32_t i = 1; i <= 3; i++) {
		assert_true(sim_packet_queue_pop(&queue, 10 * i, &arrival));
		assert_int_equal(arrival.port, i);
		assert_int_equal(arrival.time, 10 * i);
		assert_false(sim_packet_queue_pop(&queue, 10 * i, &arrival));
	}
	sim_packet_queue_free(&queue);
}

static void ties_keep_their_order(void **state)
{
	struct sim_packet_queue queue = {0};
	struct sim_arrival arrival;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		push(&queue, i % 3, i);
	for (uint32_t time = 0; time < 3; time++) {
		for (uint32_t i = time; i < 1000; i += 3) {
			assert_true(sim_packet_queue_pop(&queue, ACM_NEVER, &arrival));
			assert_int_equal(arrival.time, time);
			assert_int_equal(arrival.port, i);
		}
	}
	assert_int_equal(queue.count, 0);
	sim_packet_queue_free(&queue);
}

static void sorts_whatever_comes(void **state)
{
	struct sim_packet_queue queue = {0};
	struct sim_arrival arrival, before = {0};
	uint64_t random = 1;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		random = sim_mix(random + i);
		if (i % 3 == 2)
			assert_true(sim_packet_queue_pop(&queue, ACM_NEVER, &arrival));
		else
			push(&queue, random % 500, i);
	}
	while (sim_packet_queue_pop(&queue, ACM_NEVER, &arrival)) {
		assert_true(arrival.time > before.time ||
			    (arrival.time == before.time && arrival.sequence >= before.sequence));
		before = arrival;
	}
	sim_packet_queue_free(&queue);
}

static void reserves_before_pushing(void **state)
{
	struct sim_packet_queue queue = {0};

	(void)state;
	assert_int_equal(sim_packet_queue_reserve(&queue, 1000), 0);
	assert_true(queue.room >= 1000);
	for (uint32_t i = 0; i < 1000; i++)
		sim_packet_queue_push(&queue, i, NULL, i);
	assert_int_equal(queue.count, 1000);
	assert_int_not_equal(sim_packet_queue_reserve(&queue, UINT32_MAX), 0);
	sim_packet_queue_free(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_by_time),
		cmocka_unit_test(ties_keep_their_order),
		cmocka_unit_test(sorts_whatever_comes),
		cmocka_unit_test(reserves_before_pushing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
