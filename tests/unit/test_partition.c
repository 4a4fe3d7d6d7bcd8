/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules of partitions as tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "partition.h"

static void pairs(void **state)
{
	static const struct {
		uint16_t a, b;
		bool equal;
	} cases[] = {
		{0xffff, 0xffff, true},  {0xffff, 0x7fff, true},
		{0x7fff, 0x7fff, true}, /* two limited members */
		{0x8012, 0x8012, true},  {0x8012, 0x0012, true},
		{0x0012, 0x0012, true},  {0x8012, 0x8013, false},
		{0x0012, 0x8013, false}, {0xffff, 0x8001, false},
		{0x0000, 0x0000, false}, /* no P_Key is in no partition */
		{0x8000, 0x8000, false}, {0x8000, 0x0000, false},
		{0x8000, 0x8001, false}, {0x0001, 0x8001, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(acm_partition_equal(cases[i].a, cases[i].b), cases[i].equal);
		assert_int_equal(acm_partition_equal(cases[i].b, cases[i].a), cases[i].equal);
	}
}

#define ENTRIES 6

static void tables(void **state)
{
	static const struct {
		uint16_t count;
		uint16_t table[ENTRIES];
		uint16_t sa_index;
		uint16_t wanted, found;
		unsigned int represents; /* a bit for each entry */
	} cases[] = {
		/* the usual */
		{1, {0xffff}, 0, 0xffff, 0xffff, 0x1},
		{1, {0xffff}, 0, 0x7fff, 0xffff, 0x1},
		{1, {0x7fff}, 0, 0xffff, 0x7fff, 0x1},
		/* a full and a limited key of one partition: the full one counts, wherever it is */
		{2, {0x7fff, 0xffff}, 1, 0x7fff, 0xffff, 0x2},
		{2, {0xffff, 0x7fff}, 0, 0x7fff, 0xffff, 0x1},
		{3, {0x0012, 0x7fff, 0x8012}, 1, 0x0012, 0x8012, 0x6},
		/* the same key twice: the first counts */
		{3, {0x8012, 0x8012, 0xffff}, 2, 0x8012, 0x8012, 0x5},
		/* holes, and keys that are none */
		{4, {0x0000, 0xffff, 0x0000, 0x8012}, 1, 0x0012, 0x8012, 0xa},
		{3, {0x8000, 0xffff, 0x0000}, 1, 0x8000, 0x0000, 0x2},
		/* not in the default partition: index 0 is as good as any */
		{2, {0x8012, 0x8013}, 0, 0xffff, 0x0000, 0x3},
		{0, {0}, 0, 0xffff, 0x0000, 0x0},
		/* entries behind the count are not there */
		{1, {0x8012, 0xffff}, 0, 0xffff, 0x0000, 0x1},
		{6, {1, 2, 3, 0x8003, 0x8002, 0x8001}, 0, 2, 0x8002, 0x38},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct acm_port_facts facts = {.pkey_count = cases[i].count};

		for (int j = 0; j < ENTRIES; j++)
			facts.pkeys[j] = cases[i].table[j];
		assert_int_equal(acm_partition_sa_index(&facts), cases[i].sa_index);
		assert_int_equal(acm_partition_find(&facts, cases[i].wanted), cases[i].found);
		for (uint16_t j = 0; j < facts.pkey_count; j++)
			assert_int_equal(acm_partition_represents(&facts, j),
					 cases[i].represents >> j & 1);
	}
}

/* Over all small tables: each partition is represented exactly once. */
static void every_partition_has_one_representative(void **state)
{
	static const uint16_t keys[] = {0, 0x8000, 1, 0x8001, 2, 0x8002};

	(void)state;
	for (unsigned int n = 0; n < 6 * 6 * 6 * 6; n++) {
		struct acm_port_facts facts = {.pkey_count = 4};
		unsigned int rest = n;

		for (int i = 0; i < 4; i++, rest /= 6)
			facts.pkeys[i] = keys[rest % 6];
		for (uint16_t partition = 1; partition <= 2; partition++) {
			int members = 0, representatives = 0;

			for (uint16_t i = 0; i < 4; i++) {
				if ((facts.pkeys[i] & 0x7fff) != partition)
					continue;
				members++;
				representatives += acm_partition_represents(&facts, i);
			}
			assert_int_equal(representatives, members > 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(tables),
		cmocka_unit_test(every_partition_has_one_representative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
