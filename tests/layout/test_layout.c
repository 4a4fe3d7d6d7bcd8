/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "layout.h"

static void test_every_value_size_and_offset_agrees(void **state)
{
	size_t differences = 0;

	(void)state;
	assert_int_equal(acmite_layout_count, distribution_layout_count);
	assert_true(acmite_layout_count > 100);
	for (size_t i = 0; i < acmite_layout_count; i++) {
		assert_string_equal(acmite_layout[i].name, distribution_layout[i].name);
		if (acmite_layout[i].value == distribution_layout[i].value)
			continue;
		differences++;
		fprintf(stderr, "%s: %llu here, %llu in the distribution's header\n",
			acmite_layout[i].name, (unsigned long long)acmite_layout[i].value,
			(unsigned long long)distribution_layout[i].value);
	}
	assert_int_equal(differences, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_value_size_and_offset_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
