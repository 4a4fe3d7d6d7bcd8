/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "action_queue.h"
#include "counted_memory.h"
#include "random.h"

static struct counted_memory memory;
static struct acm_action_queue queue;

static int setup(void **state)
{
	(void)state;
	counted_memory_init(&memory);
	acm_action_queue_init(&queue, &memory.allocator);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	acm_action_queue_fini(&queue);
	assert_int_equal(memory.live_bytes, 0);
	return 0;
}

static void they_come_in_order_with_their_bytes(void **state)
{
	struct acm_action action;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct acm_queued_action *queued = acm_action_queue_push(&queue, ACM_ACTION_SEND);

		queued->action.send.cookie = (uint64_t)i;
		memset(queued->bytes, i, sizeof(queued->bytes));
	}
	acm_action_queue_push(&queue, ACM_ACTION_SA_SEND)->bytes[5] = 77;
	acm_action_queue_push(&queue, ACM_ACTION_TRACE)->trace.sequence = 88;
	acm_action_queue_push(&queue, ACM_ACTION_CLOSE_ENDPOINT)->action.endpoint = 99;
	for (int i = 0; i < 100; i++) {
		assert_true(acm_action_queue_pop(&queue, &action));
		assert_int_equal(action.type, ACM_ACTION_SEND);
		assert_int_equal(action.send.cookie, i);
		assert_int_equal(action.send.datagram.payload[255], i);
	}
	assert_true(acm_action_queue_pop(&queue, &action));
	assert_int_equal(action.sa.mad[5], 77);
	assert_true(acm_action_queue_pop(&queue, &action));
	assert_int_equal(action.trace->sequence, 88);
	assert_true(acm_action_queue_pop(&queue, &action));
	assert_int_equal(action.endpoint, 99);
	assert_false(acm_action_queue_pop(&queue, &action));
	assert_int_equal(queue.count, 0);
}

static void a_promise_holds_without_memory(void **state)
{
	struct acm_action action;
	int pushed = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(acm_action_queue_promise(&queue), 0);
	memory.fail_from = memory.allocations + 1;
	while (acm_action_queue_push(&queue, ACM_ACTION_TRACE))
		pushed++;
	assert_in_range(pushed, 0, 100);
	assert_int_equal(acm_action_queue_promise(&queue), -ENOMEM);
	for (int i = 0; i < 10; i++)
		assert_non_null(acm_action_queue_push_promised(&queue, ACM_ACTION_SA_CANCEL));
	assert_null(acm_action_queue_push(&queue, ACM_ACTION_TRACE));
	for (int i = 0; i < pushed + 10; i++) {
		assert_true(acm_action_queue_pop(&queue, &action));
		assert_int_equal(action.type, i < pushed ? ACM_ACTION_TRACE : ACM_ACTION_SA_CANCEL);
	}
	assert_false(acm_action_queue_pop(&queue, &action));
	assert_int_equal(queue.promised, 0);
}

static void a_promise_taken_back_leaves_its_room(void **state)
{
	int room = 0;

	(void)state;
	assert_int_equal(acm_action_queue_promise(&queue), 0);
	memory.fail_from = memory.allocations + 1;
	acm_action_queue_release(&queue);
	while (acm_action_queue_push(&queue, ACM_ACTION_TRACE))
		room++;
	assert_int_equal(room, queue.capacity);
}

/* Memory comes and goes; what was promised always finds room. */
static void random_operations_keep_all_promises(void **state)
{
	struct acm_random random;
	struct acm_action action;
	uint32_t promised = 0, count = 0;

	(void)state;
	acm_random_seed(&random, 13);
	for (int step = 0; step < 20000; step++) {
		uint64_t r = acm_random_next(&random);

		memory.fail_from = r & 1 ? memory.allocations + 1 : 0;
		switch (r >> 8 & 3) {
		case 0:
			promised += acm_action_queue_promise(&queue) == 0;
			break;
		case 1:
			count += acm_action_queue_push(&queue, ACM_ACTION_TRACE) != NULL;
			break;
		case 2:
			if (!promised)
				break;
			promised--;
			assert_non_null(acm_action_queue_push_promised(&queue, ACM_ACTION_DETACH));
			count++;
			break;
		default:
			if (r >> 16 & 15)
				break;
			for (; count; count--)
				assert_true(acm_action_queue_pop(&queue, &action));
			assert_false(acm_action_queue_pop(&queue, &action));
		}
		assert_int_equal(queue.promised, promised);
		assert_int_equal(queue.count, count);
		assert_true(count + promised <= queue.capacity);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(they_come_in_order_with_their_bytes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_promise_holds_without_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(a_promise_taken_back_leaves_its_room, setup,
						teardown),
		cmocka_unit_test_setup_teardown(random_operations_keep_all_promises, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
