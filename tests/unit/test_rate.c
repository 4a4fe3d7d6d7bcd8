/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <acmite/wire.h>

/* Code and tenths of Gb/s, as InfiniBand's PathRecord has them. */
static const uint16_t rates[][2] = {
	{2, 25},    {5, 50},    {3, 100},   {6, 200},   {4, 300},    {7, 400},
	{8, 600},   {9, 800},   {10, 1200}, {11, 140},  {12, 560},   {13, 1120},
	{14, 1680}, {15, 250},  {16, 1000}, {17, 2000}, {18, 3000},  {19, 280},
	{20, 500},  {21, 4000}, {22, 6000}, {23, 8000}, {24, 12000}, {25, 16000},
};

#define RATE_COUNT (sizeof(rates) / sizeof(rates[0]))

static void test_mtu_codes(void **state)
{
	(void)state;
	for (uint8_t code = 1; code <= 5; code++) {
		assert_int_equal(acm_mtu_bytes(code), 128u << code);
		assert_int_equal(acm_mtu_code(128u << code), code);
	}
	assert_int_equal(acm_mtu_bytes(0), 0);
	for (unsigned int code = 6; code < 256; code++)
		assert_int_equal(acm_mtu_bytes((uint8_t)code), 0);
	assert_int_equal(acm_mtu_code(0), 0);
	assert_int_equal(acm_mtu_code(128), 0);
	assert_int_equal(acm_mtu_code(2047), 0);
	assert_int_equal(acm_mtu_code(8192), 0);
	assert_int_equal(acm_mtu_code(UINT32_MAX), 0);
}

static void test_rate_codes_both_ways(void **state)
{
	unsigned int known = 0;

	(void)state;
	for (size_t i = 0; i < RATE_COUNT; i++) {
		assert_int_equal(acm_rate_code(rates[i][1]), rates[i][0]);
		assert_int_equal(acm_rate_tenths_gbps((uint8_t)rates[i][0]), rates[i][1]);
	}
	for (unsigned int code = 0; code < 256; code++)
		known += acm_rate_tenths_gbps((uint8_t)code) != 0;
	assert_int_equal(known, RATE_COUNT);
	assert_int_equal(acm_rate_code(0), 0);
	assert_int_equal(acm_rate_code(101), 0);
	assert_int_equal(acm_rate_code(24000), 0);
	assert_int_equal(acm_rate_code(UINT32_MAX), 0);
}

static void test_rates_compare_by_bandwidth(void **state)
{
	(void)state;
	for (size_t i = 0; i < RATE_COUNT; i++) {
		for (size_t j = 0; j < RATE_COUNT; j++) {
			int got = acm_rate_compare((uint8_t)rates[i][0], (uint8_t)rates[j][0]);

			assert_int_equal(got > 0, rates[i][1] > rates[j][1]);
			assert_int_equal(got < 0, rates[i][1] < rates[j][1]);
		}
		assert_true(acm_rate_compare(0, (uint8_t)rates[i][0]) < 0);
		assert_true(acm_rate_compare((uint8_t)rates[i][0], 63) > 0);
	}
	assert_int_equal(acm_rate_compare(0, 63), 0);
}

struct link {
	uint8_t speed, extended, extended2;
	/* Codes for 1x, 2x, 4x, 8x, 12x. */
	uint8_t codes[5];
};

static void test_rates_of_links(void **state)
{
	static const uint8_t widths[] = {1, 16, 2, 4, 8};
	static const struct link links[] = {
		{1, 0, 0, {2, 5, 3, 6, 4}},      /* SDR */
		{2, 0, 0, {5, 3, 6, 7, 8}},      /* DDR */
		{4, 0, 0, {3, 6, 7, 9, 10}},     /* QDR */
		{4, 1, 0, {11, 19, 12, 13, 14}}, /* FDR: the extended speed counts */
		{0, 2, 0, {15, 20, 16, 17, 18}}, /* EDR */
		{0, 4, 0, {20, 16, 17, 21, 22}}, /* HDR */
		{0, 8, 0, {16, 17, 21, 23, 24}}, /* NDR */
		{0, 0, 1, {17, 21, 23, 25, 0}},  /* XDR; 12x has no code */
		{0, 0, 0, {0}},
		{8, 0, 0, {0}},
		{1, 3, 0, {0}}, /* one speed at a time */
		{1, 16, 0, {0}},
		{1, 1, 2, {0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		for (size_t w = 0; w < sizeof(widths); w++)
			assert_int_equal(acm_rate_of_link(widths[w], links[i].speed,
							  links[i].extended, links[i].extended2),
					 links[i].codes[w]);
	}
	for (unsigned int width = 0; width < 256; width++) {
		if (width == 1 || width == 2 || width == 4 || width == 8 || width == 16)
			continue;
		assert_int_equal(acm_rate_of_link((uint8_t)width, 1, 0, 0), 0);
	}
}

static void test_group_ids(void **state)
{
	static const struct acm_gid expected = {
		.raw = {0xff, 0x15, 0x40, 0x01, 0x92, 0x34, 0x00, 0x03, 0x04}};
	struct acm_gid mgid;
	uint8_t rate, mtu;

	(void)state;
	acm_group_mgid(&mgid, 0x1234, 3, 4);
	assert_memory_equal(&mgid, &expected, sizeof(mgid));
	assert_true(acm_group_parse(&mgid, 0x1234, &rate, &mtu));
	assert_int_equal(rate, 3);
	assert_int_equal(mtu, 4);
	assert_true(acm_group_parse(&mgid, 0x9234, &rate, &mtu));
	assert_false(acm_group_parse(&mgid, 0x1235, &rate, &mtu));
	/* Any other bit of it belongs to another group, and codes must exist. */
	for (unsigned int bit = 0; bit < 128; bit++) {
		struct acm_gid other = expected;

		other.raw[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (acm_group_parse(&other, 0x1234, &rate, &mtu)) {
			assert_true(bit / 8 == 7 || bit / 8 == 8);
			assert_int_not_equal(acm_rate_tenths_gbps(other.raw[7]), 0);
			assert_int_not_equal(acm_mtu_bytes(other.raw[8]), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mtu_codes),
		cmocka_unit_test(test_rate_codes_both_ways),
		cmocka_unit_test(test_rates_compare_by_bandwidth),
		cmocka_unit_test(test_rates_of_links),
		cmocka_unit_test(test_group_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
