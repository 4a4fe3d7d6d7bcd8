/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "counted_memory.h"
#include "random.h"
#include "slot_table.h"

#define KIND       3
#define OTHER_KIND 4

static struct counted_memory memory;
static struct acm_slot_table table;
static int objects[256];

static int setup(void **state)
{
	(void)state;
	counted_memory_init(&memory);
	acm_slot_table_init(&table, &memory.allocator);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	acm_slot_table_fini(&table);
	assert_int_equal(memory.live_bytes, 0);
	return 0;
}

static void a_number_leads_to_its_object(void **state)
{
	uint64_t a = acm_slot_table_add(&table, &objects[0], KIND);
	uint64_t b = acm_slot_table_add(&table, &objects[1], OTHER_KIND);

	(void)state;
	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	assert_ptr_equal(acm_slot_table_find(&table, a, KIND), &objects[0]);
	assert_ptr_equal(acm_slot_table_find(&table, b, OTHER_KIND), &objects[1]);
	assert_ptr_equal(acm_slot_table_at(&table, (uint32_t)a, KIND), &objects[0]);
}

static void wrong_kinds_and_numbers_lead_nowhere(void **state)
{
	uint64_t a = acm_slot_table_add(&table, &objects[0], KIND);

	(void)state;
	assert_null(acm_slot_table_find(&table, a, OTHER_KIND));
	assert_null(acm_slot_table_at(&table, (uint32_t)a, OTHER_KIND));
	assert_null(acm_slot_table_find(&table, 0, KIND));
	assert_null(acm_slot_table_find(&table, a + 1, KIND));
	assert_null(acm_slot_table_find(&table, a + (UINT64_C(1) << 32), KIND));
	assert_null(acm_slot_table_find(&table, a - (UINT64_C(1) << 32), KIND));
	assert_null(acm_slot_table_find(&table, UINT64_MAX, KIND));
	assert_null(acm_slot_table_at(&table, 0, KIND));
	assert_null(acm_slot_table_at(&table, UINT32_MAX, KIND));
}

static void an_old_number_never_finds_the_next_object(void **state)
{
	uint64_t old[100];

	(void)state;
	for (int i = 0; i < 100; i++) {
		old[i] = acm_slot_table_add(&table, &objects[i], KIND);
		for (int j = 0; j < i; j++) {
			assert_int_not_equal(old[i], old[j]);
			assert_null(acm_slot_table_find(&table, old[j], KIND));
		}
		acm_slot_table_remove(&table, old[i]);
		assert_null(acm_slot_table_find(&table, old[i], KIND));
		assert_null(acm_slot_table_at(&table, (uint32_t)old[i], KIND));
	}
	assert_int_equal(table.used, 1); /* the place itself is used again */
	acm_slot_table_remove(&table, 0);
}

static void without_memory_there_is_no_number(void **state)
{
	uint64_t cookies[64];
	int count = 0;

	(void)state;
	memory.fail_from = 3;
	while ((cookies[count] = acm_slot_table_add(&table, &objects[count], KIND)))
		count++;
	assert_in_range(count, 1, 63);
	for (int i = 0; i < count; i++)
		assert_ptr_equal(acm_slot_table_find(&table, cookies[i], KIND), &objects[i]);
	acm_slot_table_remove(&table, cookies[0]);
	assert_int_not_equal(acm_slot_table_add(&table, &objects[0], KIND), 0);
}

static void random_operations_agree_with_a_model(void **state)
{
	uint64_t cookies[256] = {0};
	struct acm_random random;

	(void)state;
	acm_random_seed(&random, 11);
	for (int step = 0; step < 50000; step++) {
		uint64_t r = acm_random_next(&random);
		int i = (int)(r & 255);
		uint8_t kind = (uint8_t)(i & 1 ? KIND : OTHER_KIND);

		assert_ptr_equal(acm_slot_table_find(&table, cookies[i], kind),
				 cookies[i] ? &objects[i] : NULL);
		if (cookies[i]) {
			acm_slot_table_remove(&table, cookies[i]);
			cookies[i] = 0;
		} else {
			cookies[i] = acm_slot_table_add(&table, &objects[i], kind);
		}
	}
	assert_in_range(table.used, 1, 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_number_leads_to_its_object, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_kinds_and_numbers_lead_nowhere, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_old_number_never_finds_the_next_object, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_memory_there_is_no_number, setup, teardown),
		cmocka_unit_test_setup_teardown(random_operations_agree_with_a_model, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
