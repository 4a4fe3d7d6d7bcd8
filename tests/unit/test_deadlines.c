/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "counted_memory.h"
#include "deadlines.h"
#include "random.h"

#define TIMERS 64

static struct counted_memory memory;
static struct acm_deadlines deadlines;
static struct acm_timer timers[TIMERS];

static int setup(void **state)
{
	(void)state;
	counted_memory_init(&memory);
	acm_deadlines_init(&deadlines, &memory.allocator);
	for (int i = 0; i < TIMERS; i++)
		assert_int_equal(acm_deadlines_register(&deadlines, &timers[i], (uint8_t)i), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	acm_deadlines_fini(&deadlines);
	assert_int_equal(memory.live_bytes, 0);
	return 0;
}

static void arm(int i, uint64_t due)
{
	acm_deadlines_arm(&deadlines, &timers[i], due);
}

static void nothing_is_due_at_first(void **state)
{
	(void)state;
	assert_int_equal(acm_deadlines_next(&deadlines), ACM_NEVER);
	assert_null(acm_deadlines_pop(&deadlines, ACM_NEVER));
}

static void they_come_by_time_and_ties_by_arming(void **state)
{
	static const int order[] = {3, 0, 4, 1, 2};

	(void)state;
	arm(1, 20);
	arm(0, 10);
	arm(2, 20);
	arm(3, 5);
	arm(4, 10);
	for (int i = 0; i < 5; i++) {
		uint64_t due = acm_deadlines_next(&deadlines);

		assert_null(acm_deadlines_pop(&deadlines, due - 1));
		assert_ptr_equal(acm_deadlines_pop(&deadlines, due), &timers[order[i]]);
		assert_int_equal(timers[order[i]].kind, order[i]);
	}
	assert_int_equal(acm_deadlines_next(&deadlines), ACM_NEVER);
}

static void arming_again_moves_and_goes_behind_equals(void **state)
{
	(void)state;
	arm(0, 10);
	arm(1, 10);
	arm(0, 10);
	assert_ptr_equal(acm_deadlines_pop(&deadlines, 10), &timers[1]);
	arm(0, 30);
	assert_null(acm_deadlines_pop(&deadlines, 29));
	arm(0, ACM_NEVER);
	assert_null(acm_deadlines_pop(&deadlines, ACM_NEVER));
	acm_deadlines_disarm(&deadlines, &timers[0]); /* of one that is not armed: nothing */
	acm_deadlines_disarm(&deadlines, &timers[0]);
}

static void an_armed_one_may_be_unregistered(void **state)
{
	(void)state;
	arm(0, 10);
	arm(1, 11);
	acm_deadlines_unregister(&deadlines, &timers[0]);
	assert_int_equal(acm_deadlines_next(&deadlines), 11);
	assert_ptr_equal(acm_deadlines_pop(&deadlines, 11), &timers[1]);
	assert_int_equal(deadlines.registered, TIMERS - 1);
}

static void arming_needs_no_memory(void **state)
{
	struct acm_timer more[TIMERS + 1];
	int registered = 0;

	(void)state;
	memory.fail_from = memory.allocations + 1;
	while (!acm_deadlines_register(&deadlines, &more[registered], 0))
		registered++;
	assert_in_range(registered, 0, TIMERS);
	for (int i = 0; i < TIMERS; i++)
		arm(i, (uint64_t)i);
	for (int i = 0; i < registered; i++)
		acm_deadlines_arm(&deadlines, &more[i], 1);
	assert_int_equal(acm_deadlines_register(&deadlines, &more[registered], 0), -ENOMEM);
	assert_int_equal(deadlines.armed, TIMERS + registered);
}

/* The model: an array that is searched from end to end. */
struct model {
	bool armed[TIMERS];
	uint64_t due[TIMERS];
	uint64_t sequence[TIMERS];
	uint64_t last;
};

static int model_first(const struct model *model)
{
	int first = -1;

	for (int i = 0; i < TIMERS; i++) {
		if (model->armed[i] && (first < 0 || model->due[i] < model->due[first] ||
					(model->due[i] == model->due[first] &&
					 model->sequence[i] < model->sequence[first])))
			first = i;
	}
	return first;
}

static void pop_both(struct model *model, uint64_t now)
{
	struct acm_timer *timer;
	int first;

	while ((timer = acm_deadlines_pop(&deadlines, now))) {
		first = model_first(model);
		assert_ptr_equal(timer, &timers[first]);
		assert_true(model->due[first] <= now);
		model->armed[first] = false;
	}
	first = model_first(model);
	assert_int_equal(acm_deadlines_next(&deadlines), first < 0 ? ACM_NEVER : model->due[first]);
	assert_true(first < 0 || model->due[first] > now);
}

static void random_operations_agree_with_a_model(void **state)
{
	struct acm_random random;
	struct model model = {0};
	uint64_t now = 0;

	(void)state;
	acm_random_seed(&random, 7);
	for (int step = 0; step < 100000; step++) {
		uint64_t r = acm_random_next(&random);
		int i = (int)(r % TIMERS);

		switch (r >> 32 & 7) {
		case 0:
			acm_deadlines_disarm(&deadlines, &timers[i]);
			model.armed[i] = false;
			break;
		case 1:
			now += r >> 40 & 15;
			pop_both(&model, now);
			break;
		default:
			arm(i, now + 1 + (r >> 40 & 31));
			model.armed[i] = true;
			model.due[i] = now + 1 + (r >> 40 & 31);
			model.sequence[i] = ++model.last;
		}
	}
	pop_both(&model, now + 1000);
	assert_int_equal(deadlines.armed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_due_at_first, setup, teardown),
		cmocka_unit_test_setup_teardown(they_come_by_time_and_ties_by_arming, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arming_again_moves_and_goes_behind_equals, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_armed_one_may_be_unregistered, setup, teardown),
		cmocka_unit_test_setup_teardown(arming_needs_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(random_operations_agree_with_a_model, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
