/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include <acmite/transport.h>
#include <acmite/wire.h>

#include "support/hostile_bytes.h"

#define GROUP_1 "ff154001ffff0003 0400000000000000"
#define GROUP_2 "ff154001ffff0007 0500000000000000"
#define NAME_1  "6e6f64653031 00*58."
#define NAME_2  "6e6f64653032 00*58."

#define REQUEST                                                                                    \
	"012c0101 0000 0001 1122334455667788"                                                      \
	"01400140 02030400" NAME_2 NAME_1 GROUP_1 GROUP_2 "00*72."
#define ANSWER                                                                                     \
	"012c0181 0000 0001 1122334455667788"                                                      \
	"01400140 01000000" NAME_2 NAME_1 GROUP_1 "00*88."
/* As the nodes in the field answer: no addresses. */
#define BARE_ANSWER                                                                                \
	"012c0181 0000 0001 1122334455667788"                                                      \
	"00000000 01000000 00*128." GROUP_1 "00*88."
#define REFUSAL                                                                                    \
	"012c0181 0300 0001 1122334455667788"                                                      \
	"00000000 00*132. 00*104."

static int decode_exact(const uint8_t *bytes, size_t length, struct acm_message *message)
{
	uint8_t *copy = exact_copy(bytes, length);
	int result;

	memset(message, 0xa5, sizeof(*message));
	result = acm_message_decode(copy, length, message);
	free(copy);
	return result;
}

static void load(const char *hex, uint8_t *mad)
{
	assert_int_equal(from_hex(hex, mad, ACM_MAD_LENGTH), ACM_MAD_LENGTH);
}

static void check_round_trip(const char *hex, struct acm_message *message)
{
	uint8_t mad[ACM_MAD_LENGTH];
	uint8_t *encoded = malloc(ACM_MAD_LENGTH);

	load(hex, mad);
	assert_int_equal(decode_exact(mad, sizeof(mad), message), 0);
	memset(encoded, 0xa5, ACM_MAD_LENGTH);
	acm_message_encode(message, encoded);
	assert_memory_equal(encoded, mad, sizeof(mad));
	free(encoded);
}

static void test_request(void **state)
{
	struct acm_message message;

	(void)state;
	check_round_trip(REQUEST, &message);
	assert_false(message.answer);
	assert_int_equal(message.status, 0);
	assert_int_equal(message.tid, 0x1122334455667788);
	assert_int_equal(message.responder_resources, 3);
	assert_int_equal(message.initiator_depth, 4);
	assert_int_equal(message.destination.type, ACM_ADDRESS_NAME);
	assert_memory_equal(message.destination.data, "node02\0", 7);
	assert_memory_equal(message.source.data, "node01\0", 7);
	assert_int_equal(message.gid_count, 2);
	assert_int_equal(message.gids[0].raw[7], 3);
	assert_int_equal(message.gids[1].raw[7], 7);
}

static void test_answers(void **state)
{
	struct acm_message message;

	(void)state;
	check_round_trip(ANSWER, &message);
	assert_true(message.answer);
	assert_int_equal(message.gid_count, 1);
	check_round_trip(BARE_ANSWER, &message);
	assert_true(message.answer);
	assert_int_equal(message.source.type, ACM_ADDRESS_NONE);
	assert_int_equal(message.destination.type, ACM_ADDRESS_NONE);
	assert_int_equal(message.gid_count, 1);
	check_round_trip(REFUSAL, &message);
	assert_int_equal(message.status, 0x0300);
	assert_int_equal(message.gid_count, 0);
}

static void test_every_length(void **state)
{
	static const char *const samples[] = {REQUEST, ANSWER, BARE_ANSWER, REFUSAL};
	uint8_t mad[ACM_MAD_LENGTH + 8] = {0};
	struct acm_message message;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		load(samples[i], mad);
		for (size_t length = 0; length < ACM_MAD_LENGTH; length++)
			assert_int_equal(decode_exact(mad, length, &message), -EMSGSIZE);
		assert_int_equal(decode_exact(mad, sizeof(mad), &message), 0);
	}
}

/* Sets one byte of a good message and tells what the decoder says; on failure nothing is written.
 */
static int with_byte(const char *hex, size_t at, unsigned int value)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_message message, untouched;
	int result;

	load(hex, mad);
	mad[at] = (uint8_t)value;
	result = decode_exact(mad, sizeof(mad), &message);
	memset(&untouched, 0xa5, sizeof(untouched));
	if (result != 0)
		assert_memory_equal(&message, &untouched, sizeof(message));
	return result;
}

static void test_headers_out_of_range(void **state)
{
	static const uint8_t right[] = {1, 0x2c, 1};

	(void)state;
	for (unsigned int value = 0; value < 256; value++) {
		for (size_t at = 0; at < 3; at++)
			assert_int_equal(with_byte(REQUEST, at, value),
					 value == right[at] ? 0 : -EPROTO);
		assert_int_equal(with_byte(REQUEST, 3, value),
				 value == 0x01 || value == 0x81 ? 0 : -EPROTO);
		assert_int_equal(with_byte(REQUEST, 6, value), value == 0 ? 0 : -EPROTO);
		assert_int_equal(with_byte(REQUEST, 7, value), value == 1 ? 0 : -EPROTO);
	}
}

static void test_address_fields_out_of_range(void **state)
{
	(void)state;
	for (unsigned int value = 0; value < 256; value++) {
		/* Types: the name's bytes also pass for an IPv4 or IPv6 address. */
		bool known = value >= ACM_ADDRESS_NAME && value <= ACM_ADDRESS_IP6;

		assert_int_equal(with_byte(REQUEST, 16, value), known ? 0 : -EBADMSG);
		assert_int_equal(with_byte(REQUEST, 18, value), known ? 0 : -EBADMSG);
		assert_int_equal(with_byte(ANSWER, 16, value), known || value == 0 ? 0 : -EBADMSG);
		/* Lengths. */
		assert_int_equal(with_byte(REQUEST, 17, value),
				 value >= 1 && value <= 64 ? 0 : -EBADMSG);
		assert_int_equal(with_byte(REQUEST, 19, value),
				 value >= 1 && value <= 64 ? 0 : -EBADMSG);
	}
	assert_int_equal(with_byte(BARE_ANSWER, 17, 65), -EBADMSG);
	assert_int_equal(with_byte(REQUEST, 24, 0), -EBADMSG); /* an empty name */
	assert_int_equal(with_byte(REQUEST, 89, '\n'), -EBADMSG);
}

static void test_lengths_too_short_for_the_type(void **state)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_message message;

	(void)state;
	load(REQUEST, mad);
	for (unsigned int length = 0; length < 70; length++) {
		mad[16] = ACM_ADDRESS_IP;
		mad[17] = (uint8_t)length;
		assert_int_equal(decode_exact(mad, sizeof(mad), &message),
				 length >= 4 && length <= 64 ? 0 : -EBADMSG);
		mad[16] = ACM_ADDRESS_IP6;
		assert_int_equal(decode_exact(mad, sizeof(mad), &message),
				 length >= 16 && length <= 64 ? 0 : -EBADMSG);
	}
	/* A name ends where its length says. */
	mad[16] = ACM_ADDRESS_NAME;
	mad[17] = 4;
	assert_int_equal(decode_exact(mad, sizeof(mad), &message), 0);
	assert_int_equal(message.destination.length, 4);
	assert_memory_equal(message.destination.data, "node\0\0", 6);
}

static void test_group_counts(void **state)
{
	(void)state;
	for (unsigned int count = 0; count < 256; count++) {
		bool right = count >= 1 && count <= ACM_MAD_GIDS_MAX;

		assert_int_equal(with_byte(REQUEST, 20, count), right ? 0 : -EBADMSG);
		assert_int_equal(with_byte(ANSWER, 20, count), right ? 0 : -EBADMSG);
		assert_int_equal(with_byte(REFUSAL, 20, count), 0);
	}
	/* The last one ends within the MAD. */
	assert_true(152 + ACM_MAD_GIDS_MAX * 16 <= ACM_MAD_LENGTH);
}

static void test_mutations(void **state)
{
	static const char *const samples[] = {REQUEST, ANSWER, BARE_ANSWER, REFUSAL};
	struct mutator mutator = {.state = 0xfacadeull};
	struct acm_message message, again;
	uint8_t mad[ACM_MAD_LENGTH], encoded[ACM_MAD_LENGTH];
	unsigned int taken = 0, refused = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		size_t length;

		load(samples[i % 4], mad);
		length = mutate(&mutator, mad, sizeof(mad));
		if (decode_exact(mad, length, &message) != 0) {
			refused++;
			continue;
		}
		taken++;
		assert_true(message.gid_count <= ACM_MAD_GIDS_MAX);
		acm_message_encode(&message, encoded);
		assert_int_equal(decode_exact(encoded, sizeof(encoded), &again), 0);
		assert_true(acm_address_equal(&message.source, &again.source));
		assert_true(acm_address_equal(&message.destination, &again.destination));
		assert_int_equal(message.gid_count, again.gid_count);
	}
	assert_true(taken > 1000 && refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_headers_out_of_range),
		cmocka_unit_test(test_address_fields_out_of_range),
		cmocka_unit_test(test_lengths_too_short_for_the_type),
		cmocka_unit_test(test_group_counts),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
