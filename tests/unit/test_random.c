/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"

/* The published outputs of SplitMix64 for seed 1234567. */
static void splitmix_as_published(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	struct acm_random random;

	(void)state;
	acm_random_seed(&random, 1234567);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(acm_random_next(&random), expected[i]);
}

static void the_same_seed_gives_the_same_numbers(void **state)
{
	struct acm_random a, b, c;
	int same = 0;

	(void)state;
	acm_random_seed(&a, 42);
	acm_random_seed(&b, 42);
	acm_random_seed(&c, 43);
	for (int i = 0; i < 1000; i++) {
		uint64_t x = acm_random_next(&a);

		assert_int_equal(x, acm_random_next(&b));
		same += x == acm_random_next(&c);
	}
	assert_int_equal(same, 0);
}

static void jitter_stays_within_an_eighth(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct acm_random random;

	(void)state;
	acm_random_seed(&random, 1);
	for (int i = 0; i < 10000; i++) {
		uint64_t x = acm_random_jitter(&random, 8000);

		assert_in_range(x, 7000, 9000);
		least = x < least ? x : least;
		most = x > most ? x : most;
	}
	assert_in_range(least, 7000, 7010);
	assert_in_range(most, 8990, 9000);
	for (uint64_t x = 0; x < 4; x++)
		assert_int_equal(acm_random_jitter(&random, x), x);
}

/* SipHash again, byte by byte from the paper's text, with its rounds as arguments. */
static uint64_t rotl(uint64_t x, int b)
{
	return (x << b) | (x >> (64 - b));
}

static void rounds(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, int count)
{
	while (count--) {
		*a += *b;
		*b = rotl(*b, 13);
		*b ^= *a;
		*a = rotl(*a, 32);
		*c += *d;
		*d = rotl(*d, 16);
		*d ^= *c;
		*a += *d;
		*d = rotl(*d, 21);
		*d ^= *a;
		*c += *b;
		*b = rotl(*b, 17);
		*b ^= *c;
		*c = rotl(*c, 32);
	}
}

static uint64_t siphash(int c_rounds, int d_rounds, uint64_t k0, uint64_t k1,
			const uint8_t *message, size_t length)
{
	uint64_t a = k0 ^ UINT64_C(0x736f6d6570736575), b = k1 ^ UINT64_C(0x646f72616e646f6d);
	uint64_t c = k0 ^ UINT64_C(0x6c7967656e657261), d = k1 ^ UINT64_C(0x7465646279746573);
	size_t words = length / 8 + 1;

	for (size_t w = 0; w < words; w++) {
		uint64_t m = 0;

		for (size_t i = 0; i < 8; i++) {
			size_t at = w * 8 + i;

			if (at < length)
				m |= (uint64_t)message[at] << (8 * i);
		}
		if (w == words - 1)
			m |= (uint64_t)(length & 255) << 56;
		d ^= m;
		rounds(&a, &b, &c, &d, c_rounds);
		a ^= m;
	}
	c ^= 0xff;
	rounds(&a, &b, &c, &d, d_rounds);
	return a ^ b ^ c ^ d;
}

#define K0 UINT64_C(0x0706050403020100)
#define K1 UINT64_C(0x0f0e0d0c0b0a0908)

static void counting_bytes(uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		data[i] = (uint8_t)i;
}

/* What the test measures by is itself right: the paper's SipHash-2-4, and SipHash-1-3 of nothing.
 */
static void the_second_implementation_as_published(void **state)
{
	uint8_t message[15];

	(void)state;
	counting_bytes(message, sizeof(message));
	assert_true(siphash(2, 4, K0, K1, message, 15) == UINT64_C(0xa129ca6149be45e5));
	assert_true(siphash(2, 4, K0, K1, message, 0) == UINT64_C(0x726fdb47dd0e0e31));
	assert_true(siphash(1, 3, K0, K1, message, 0) == UINT64_C(0xabac0158050fc4dc));
}

static void the_hash_is_siphash_1_3_behind_its_salt(void **state)
{
	const struct acm_hash_key key = {K0, K1};
	uint8_t message[8 + 300];

	(void)state;
	counting_bytes(message, sizeof(message));
	/* The salt is the message's first eight bytes, little-endian. */
	for (size_t length = 0; length <= 300; length++)
		assert_true(acm_hash(&key, K0, message + 8, length) ==
			    siphash(1, 3, K0, K1, message, length + 8));
}

static void it_depends_on_every_part(void **state)
{
	const struct acm_hash_key key = {K0, K1};
	const struct acm_hash_key other0 = {K0 ^ 1, K1}, other1 = {K0, K1 ^ 1};
	uint8_t data[64] = {0};
	uint64_t hash = acm_hash(&key, 5, data, sizeof(data));

	(void)state;
	assert_true(hash != acm_hash(&other0, 5, data, sizeof(data)));
	assert_true(hash != acm_hash(&other1, 5, data, sizeof(data)));
	assert_true(hash != acm_hash(&key, 6, data, sizeof(data)));
	assert_true(hash != acm_hash(&key, 5, data, sizeof(data) - 1));
	for (size_t i = 0; i < sizeof(data); i++) {
		data[i] ^= 1;
		assert_true(hash != acm_hash(&key, 5, data, sizeof(data)));
		data[i] ^= 1;
	}
}

static void alignment_makes_no_difference(void **state)
{
	const struct acm_hash_key key = {K0, K1};
	uint8_t data[64 + 8];
	uint64_t expected;

	(void)state;
	counting_bytes(data, 40);
	expected = acm_hash(&key, 1, data, 40);
	for (size_t shift = 1; shift < 8; shift++) {
		memmove(data + shift, data + shift - 1, 40);
		assert_true(acm_hash(&key, 1, data + shift, 40) == expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitmix_as_published),
		cmocka_unit_test(the_same_seed_gives_the_same_numbers),
		cmocka_unit_test(jitter_stays_within_an_eighth),
		cmocka_unit_test(the_second_implementation_as_published),
		cmocka_unit_test(the_hash_is_siphash_1_3_behind_its_salt),
		cmocka_unit_test(it_depends_on_every_part),
		cmocka_unit_test(alignment_makes_no_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
