/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hostile MADs: all kinds of them come, and none passes for a good one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <acmite/sa.h>
#include <acmite/wire.h>
#include "hostile_mads.h"

#define DRAWS 20000

static void datagrams_are_malformed_or_of_nobody(void **state)
{
	uint8_t payload[ACM_DATAGRAM_MAX], again[ACM_DATAGRAM_MAX];
	uint32_t outcomes[3] = {0}, requests = 0, answers = 0;

	(void)state;
	for (uint64_t draw = 0; draw < DRAWS; draw++) {
		uint16_t length = sim_hostile_datagram(draw, payload);
		struct acm_message message;

		assert_in_range(length, 0, ACM_DATAGRAM_MAX);
		assert_int_equal(sim_hostile_datagram(draw, again), length);
		assert_memory_equal(payload, again, length);
		switch (acm_message_decode(payload, length, &message)) {
		case -EMSGSIZE:
			outcomes[0]++;
			break;
		case -EPROTO:
			outcomes[1]++;
			break;
		case -EBADMSG:
			outcomes[2]++;
			break;
		default:
			requests += !message.answer;
			answers += message.answer;
			if (!message.answer)
				assert_int_equal(message.source.length, ACM_ADDRESS_MAX);
		}
	}
	for (int i = 0; i < 3; i++)
		assert_true(outcomes[i] > DRAWS / 20);
	assert_true(requests > DRAWS / 20);
	assert_true(answers > DRAWS / 20);
}

/* What an engine looks at before it takes a path. */
static bool passes(const uint8_t *mad, uint32_t length, const struct acm_path *asked)
{
	struct acm_sa_header header;
	struct acm_path path;

	return !acm_sa_decode_header(mad, length, &header) && !header.status &&
	       (uint32_t)header.tid == 42 && header.attribute == ACM_SA_ATTRIBUTE_PATH &&
	       !acm_sa_decode_path(mad, length, &path) &&
	       !memcmp(&path.dgid, &asked->dgid, sizeof(path.dgid));
}

static void no_spoilt_answer_passes(void **state)
{
	struct acm_path path = {.sgid = {.raw = {0xfe, 0x80, [15] = 1}},
				.dgid = {.raw = {0xfe, 0x80, [15] = 2}},
				.slid = 1,
				.dlid = 2,
				.pkey = 0xffff,
				.mtu = 4,
				.rate = 3};
	uint8_t good[ACM_MAD_LENGTH], spoilt[ACM_MAD_LENGTH];

	(void)state;
	acm_sa_encode_path_answer(&path, 0, 42, good);
	assert_true(passes(good, sizeof(good), &path));
	for (uint64_t draw = 0; draw < DRAWS; draw++) {
		uint32_t length = sizeof(spoilt);

		memcpy(spoilt, good, sizeof(spoilt));
		sim_hostile_sa_answer(draw, spoilt, &length, sizeof(spoilt));
		assert_in_range(length, 0, sizeof(spoilt));
		if (passes(spoilt, length, &path))
			fail_msg("draw %u passes", (unsigned int)draw);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datagrams_are_malformed_or_of_nobody),
		cmocka_unit_test(no_spoilt_answer_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
