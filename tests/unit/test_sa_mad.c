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

#define TID       "1122334455667788"
#define TID_VALUE 0x1122334455667788
/* Behind the attribute: reserved, modifier, RMPP, SM key. */
#define MIDDLE "0000 00000000 00*12. 00*8."

#define DGID "fe80000000000000 0002c90300000002"
#define SGID "fe80000000000000 0002c90300000001"
#define MGID "ff154001ffff0003 0400000000000000"

#define PATH_ANSWER                                                                                \
	"01030281 0000 0000" TID "0035" MIDDLE "0008 0000 00*8."                                   \
	"00*8." DGID SGID "0007 0003 00000040 00 80 ffff 0005 84 87 92 00 00*6."                   \
	"00*136."
#define MCMEMBER_ANSWER                                                                            \
	"01030281 0000 0000" TID "0038" MIDDLE "0007 0000 00*8." MGID SGID                         \
	"80010000 c004 84 00 ffff 83 92 00000000 51 00 0000"                                       \
	"00*148."

#define AT_PATH_DGID 64
#define AT_PATH_DLID 96
#define AT_PATH_SLID 98
#define AT_PATH_MTU  110
#define AT_PATH_RATE 111
#define AT_MC_MGID   56
#define AT_MC_MLID   92
#define AT_MC_MTU    94
#define AT_MC_RATE   98

static const struct acm_mcmember golden_member = {
	.mgid = {{0xff, 0x15, 0x40, 0x01, 0xff, 0xff, 0x00, 0x03, 0x04}},
	.port_gid = {{0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, [15] = 1}},
	.qkey = ACM_QKEY,
	.mlid = 0xc004,
	.mtu = 4,
	.pkey = 0xffff,
	.rate = 3,
	.packet_life = 18,
	.scope = 5,
	.join_state = 1,
};

static void load(const char *hex, uint8_t *mad)
{
	assert_int_equal(from_hex(hex, mad, ACM_MAD_LENGTH), ACM_MAD_LENGTH);
}

static void check_mad(const uint8_t *mad, const char *hex)
{
	uint8_t expected[ACM_MAD_LENGTH];

	load(hex, expected);
	assert_memory_equal(mad, expected, ACM_MAD_LENGTH);
}

static uint8_t *dirty_mad(void)
{
	uint8_t *mad = malloc(ACM_MAD_LENGTH);

	memset(mad, 0xa5, ACM_MAD_LENGTH);
	return mad;
}

static void test_path_get_with_every_component(void **state)
{
	struct acm_path path = {
		.service_id = 0x1234,
		.dgid = {{0xfe, 0x80, [9] = 0x02, 0xc9, 0x03, [15] = 2}},
		.sgid = golden_member.port_gid,
		.dlid = 7,
		.slid = 3,
		.flow_label = 0xabcde,
		.hop_limit = 0x40,
		.traffic_class = 0x11,
		.reversible = true,
		.path_count = 2,
		.pkey = 0x8001,
		.qos_class = 0x123,
		.sl = 5,
		.mtu = 4,
		.mtu_selector = 2,
		.rate = 7,
		.rate_selector = 0,
		.packet_life = 18,
		.packet_life_selector = 1,
	};
	uint8_t *mad = dirty_mad();

	(void)state;
	acm_sa_encode_path_get(&path, TID_VALUE, mad);
	check_mad(mad, "01030201 0000 0000" TID "0035" MIDDLE "0000 0000 00000000003fff3f"
		       "0000000000001234" DGID SGID
		       "0007 0003 0abcde40 11 82 8001 1235 84 07 52 00 00*6."
		       "00*136.");
	free(mad);
}

static uint64_t component_mask(const struct acm_path *path)
{
	uint8_t mad[ACM_MAD_LENGTH];
	uint64_t mask = 0;

	acm_sa_encode_path_get(path, 1, mad);
	for (unsigned int i = 48; i < 56; i++)
		mask = mask << 8 | mad[i];
	return mask;
}

static void test_path_get_components_one_by_one(void **state)
{
	const uint64_t count = UINT64_C(1) << 12;

	(void)state;
#define MASK(...) (component_mask(&(struct acm_path){__VA_ARGS__}) & ~count)
	assert_int_equal(component_mask(&(struct acm_path){0}), count);
	assert_int_equal(MASK(.service_id = 1), 0x3);
	assert_int_equal(MASK(.dgid = {{[15] = 1}}), 1 << 2);
	assert_int_equal(MASK(.sgid = {{[0] = 1}}), 1 << 3);
	assert_int_equal(MASK(.dlid = 1), 1 << 4);
	assert_int_equal(MASK(.slid = 1), 1 << 5);
	assert_int_equal(MASK(.flow_label = 1), 1 << 8);
	assert_int_equal(MASK(.hop_limit = 1), 1 << 9);
	assert_int_equal(MASK(.traffic_class = 1), 1 << 10);
	assert_int_equal(MASK(.reversible = true), 1 << 11);
	assert_int_equal(MASK(.path_count = 5), 0);
	assert_int_equal(MASK(.pkey = 1), 1 << 13);
	assert_int_equal(MASK(.qos_class = 1), 1 << 14);
	assert_int_equal(MASK(.sl = 1), 1 << 15);
	assert_int_equal(MASK(.mtu = 1), 3 << 16);
	assert_int_equal(MASK(.mtu_selector = 2), 0);
	assert_int_equal(MASK(.mtu_selector = 3), 3 << 16);
	assert_int_equal(MASK(.rate = 2), 3 << 18);
	assert_int_equal(MASK(.rate_selector = 3), 3 << 18);
	assert_int_equal(MASK(.packet_life = 1), 3 << 20);
	assert_int_equal(MASK(.preference = 1), 0);
#undef MASK
}

static void test_a_path_get_asks_for_one_path_at_least(void **state)
{
	uint8_t mad[ACM_MAD_LENGTH];

	(void)state;
	acm_sa_encode_path_get(&(struct acm_path){.dlid = 1}, 1, mad);
	assert_int_equal(mad[56 + 49], 1);
}

static void test_joins(void **state)
{
	uint8_t *mad = dirty_mad();

	(void)state;
	acm_sa_encode_join(&golden_member, TID_VALUE, mad);
	check_mad(mad, "01030202 0000 0000" TID "0038" MIDDLE "0000 0000 000000000001b3f7" MGID SGID
		       "80010000 0000 84 00 ffff 83 00 00000000 51 00 0000"
		       "00*148.");
	acm_sa_encode_leave(&golden_member, TID_VALUE, mad);
	check_mad(mad, "01030215 0000 0000" TID "0038" MIDDLE "0000 0000 0000000000010003" MGID SGID
		       "00*16. 01 00 0000"
		       "00*148.");
	acm_sa_encode_group_get(&golden_member.mgid, TID_VALUE, mad);
	check_mad(mad, "01030201 0000 0000" TID "0038" MIDDLE "0000 0000 0000000000000001" MGID
		       "00*184.");
	free(mad);
}

static void test_path_answers(void **state)
{
	uint8_t bytes[ACM_MAD_LENGTH];
	uint8_t *mad = dirty_mad();
	struct acm_sa_header header;
	struct acm_path path;

	(void)state;
	load(PATH_ANSWER, bytes);
	assert_int_equal(acm_sa_decode_header(bytes, sizeof(bytes), &header), 0);
	assert_int_equal(header.method, 0x81);
	assert_int_equal(header.attribute, ACM_SA_ATTRIBUTE_PATH);
	assert_int_equal(header.status, 0);
	assert_int_equal(header.tid, TID_VALUE);
	assert_int_equal(header.record_length, 64);
	assert_int_equal(acm_sa_decode_path(bytes, sizeof(bytes), &path), 0);
	assert_int_equal(path.dlid, 7);
	assert_int_equal(path.slid, 3);
	assert_int_equal(path.hop_limit, 0x40);
	assert_int_equal(path.flow_label, 0);
	assert_true(path.reversible);
	assert_int_equal(path.pkey, 0xffff);
	assert_int_equal(path.sl, 5);
	assert_int_equal(path.mtu, 4);
	assert_int_equal(path.mtu_selector, 2);
	assert_int_equal(path.rate, 7);
	assert_int_equal(path.packet_life, 18);
	acm_sa_encode_path_answer(&path, 0, TID_VALUE, mad);
	check_mad(mad, PATH_ANSWER);
	acm_sa_encode_path_answer(NULL, 0x0300, TID_VALUE, mad);
	check_mad(mad, "01030281 0300 0000" TID "0035" MIDDLE "0008 0000 00*8. 00*200.");
	free(mad);
}

static void test_mcmember_answers(void **state)
{
	uint8_t bytes[ACM_MAD_LENGTH];
	uint8_t *mad = dirty_mad();
	struct acm_mcmember member;

	(void)state;
	load(MCMEMBER_ANSWER, bytes);
	assert_int_equal(acm_sa_decode_mcmember(bytes, sizeof(bytes), &member), 0);
	assert_memory_equal(&member.mgid, &golden_member.mgid, 16);
	assert_memory_equal(&member.port_gid, &golden_member.port_gid, 16);
	assert_int_equal(member.qkey, ACM_QKEY);
	assert_int_equal(member.mlid, 0xc004);
	assert_int_equal(member.mtu, 4);
	assert_int_equal(member.pkey, 0xffff);
	assert_int_equal(member.rate, 3);
	assert_int_equal(member.packet_life, 18);
	assert_int_equal(member.scope, 5);
	assert_int_equal(member.join_state, 1);
	/* The life's selector is not kept, and is written as 0. */
	bytes[99] = 0x12;
	acm_sa_encode_mcmember_answer(&member, 0x81, 0, TID_VALUE, mad);
	assert_memory_equal(mad, bytes, sizeof(bytes));
	acm_sa_encode_mcmember_answer(NULL, 0x95, 0x0200, TID_VALUE, mad);
	check_mad(mad, "01030295 0200 0000" TID "0038" MIDDLE "0007 0000 00*8. 00*200.");
	free(mad);
}

static void test_a_members_word_of_three_fields(void **state)
{
	struct acm_mcmember member = golden_member, back;
	uint8_t mad[ACM_MAD_LENGTH];

	(void)state;
	member.sl = 0xf;
	member.flow_label = 0x12345;
	member.hop_limit = 0x67;
	acm_sa_encode_mcmember_answer(&member, 0x81, 0, 1, mad);
	assert_memory_equal(mad + 100, ((const uint8_t[]){0xf1, 0x23, 0x45, 0x67}), 4);
	assert_int_equal(acm_sa_decode_mcmember(mad, sizeof(mad), &back), 0);
	assert_int_equal(back.sl, 0xf);
	assert_int_equal(back.flow_label, 0x12345);
	assert_int_equal(back.hop_limit, 0x67);
}

static void test_every_length(void **state)
{
	uint8_t bytes[ACM_MAD_LENGTH];
	struct acm_sa_header header;
	struct acm_path path;
	struct acm_mcmember member;

	(void)state;
	for (size_t length = 0; length <= sizeof(bytes); length++) {
		uint8_t *copy;

		load(PATH_ANSWER, bytes);
		copy = exact_copy(bytes, length);
		assert_int_equal(acm_sa_decode_header(copy, length, &header),
				 length < 24 ? -EMSGSIZE : 0);
		if (length >= 24)
			assert_int_equal(header.record_length, length < 56 ? 0 : 64);
		assert_int_equal(acm_sa_decode_path(copy, length, &path),
				 length < 56 + 64 ? -EBADMSG : 0);
		free(copy);
		load(MCMEMBER_ANSWER, bytes);
		copy = exact_copy(bytes, length);
		assert_int_equal(acm_sa_decode_mcmember(copy, length, &member),
				 length < 56 + 52 ? -EBADMSG : 0);
		free(copy);
	}
}

static void test_headers_out_of_range(void **state)
{
	static const uint8_t right[] = {1, 3, 2};
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_sa_header header;

	(void)state;
	for (unsigned int value = 0; value < 256; value++) {
		for (size_t at = 0; at < 3; at++) {
			load(PATH_ANSWER, mad);
			mad[at] = (uint8_t)value;
			assert_int_equal(acm_sa_decode_header(mad, sizeof(mad), &header),
					 value == right[at] ? 0 : -EPROTO);
		}
		load(PATH_ANSWER, mad);
		mad[3] = (uint8_t)value;
		assert_int_equal(acm_sa_decode_header(mad, sizeof(mad), &header),
				 value >= 0x80 ? 0 : -EPROTO);
	}
	/* A distance that 16 bits cannot hold does not wrap around to a small one. */
	load(PATH_ANSWER, mad);
	mad[44] = 0x20;
	assert_int_equal(acm_sa_decode_header(mad, sizeof(mad), &header), 0);
	assert_int_equal(header.record_length, UINT16_MAX);
}

static int path_with_16(size_t at, unsigned int value)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_path path;

	load(PATH_ANSWER, mad);
	mad[at] = (uint8_t)(value >> 8);
	mad[at + 1] = (uint8_t)value;
	return acm_sa_decode_path(mad, sizeof(mad), &path);
}

static int path_with_8(size_t at, unsigned int value)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_path path;

	load(PATH_ANSWER, mad);
	mad[at] = (uint8_t)value;
	return acm_sa_decode_path(mad, sizeof(mad), &path);
}

static void test_paths_out_of_range(void **state)
{
	(void)state;
	for (unsigned int lid = 0; lid <= 0xffff; lid++) {
		int expected = lid == 0 || lid >= 0xc000 ? -EBADMSG : 0;

		assert_int_equal(path_with_16(AT_PATH_DLID, lid), expected);
		assert_int_equal(path_with_16(AT_PATH_SLID, lid), expected);
	}
	for (unsigned int value = 0; value < 256; value++) {
		unsigned int code = value & 0x3f;

		assert_int_equal(path_with_8(AT_PATH_MTU, value),
				 code >= 1 && code <= 5 ? 0 : -EBADMSG);
		assert_int_equal(path_with_8(AT_PATH_RATE, value),
				 code >= 2 && code <= 25 ? 0 : -EBADMSG);
	}
	/* A record that is shorter than its attribute. */
	assert_int_equal(path_with_16(44, 7), -EBADMSG);
	assert_int_equal(path_with_16(44, 9), 0);
	assert_int_equal(path_with_16(44, 0), 0);
}

static void test_paths_to_groups(void **state)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_path path;

	(void)state;
	load(PATH_ANSWER, mad);
	mad[AT_PATH_DGID] = 0xff;
	assert_int_equal(acm_sa_decode_path(mad, sizeof(mad), &path), -EBADMSG);
	mad[AT_PATH_DLID] = 0xc0;
	assert_int_equal(acm_sa_decode_path(mad, sizeof(mad), &path), 0);
	mad[AT_PATH_DLID] = 0xff;
	mad[AT_PATH_DLID + 1] = 0xff;
	assert_int_equal(acm_sa_decode_path(mad, sizeof(mad), &path), -EBADMSG);
}

static int member_with_8(size_t at, unsigned int value)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_mcmember member;

	load(MCMEMBER_ANSWER, mad);
	mad[at] = (uint8_t)value;
	return acm_sa_decode_mcmember(mad, sizeof(mad), &member);
}

static void test_members_out_of_range(void **state)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_mcmember member;

	(void)state;
	for (unsigned int value = 0; value < 256; value++) {
		unsigned int code = value & 0x3f;

		assert_int_equal(member_with_8(AT_MC_MGID, value), value == 0xff ? 0 : -EBADMSG);
		assert_int_equal(member_with_8(AT_MC_MLID, value), value >= 0xc0 ? 0 : -EBADMSG);
		assert_int_equal(member_with_8(AT_MC_MTU, value),
				 code >= 1 && code <= 5 ? 0 : -EBADMSG);
		assert_int_equal(member_with_8(AT_MC_RATE, value),
				 code >= 2 && code <= 25 ? 0 : -EBADMSG);
	}
	load(MCMEMBER_ANSWER, mad);
	mad[AT_MC_MLID] = 0xff;
	mad[AT_MC_MLID + 1] = 0xff;
	assert_int_equal(acm_sa_decode_mcmember(mad, sizeof(mad), &member), -EBADMSG);
	assert_int_equal(member_with_8(45, 6), -EBADMSG);
}

static void test_failed_decoders_write_nothing(void **state)
{
	uint8_t mad[ACM_MAD_LENGTH] = {0};
	struct acm_sa_header header = {.tid = 42};
	struct acm_path path = {.dlid = 42};
	struct acm_mcmember member = {.mlid = 42};

	(void)state;
	assert_int_equal(acm_sa_decode_header(mad, sizeof(mad), &header), -EPROTO);
	assert_int_equal(acm_sa_decode_path(mad, sizeof(mad), &path), -EBADMSG);
	assert_int_equal(acm_sa_decode_mcmember(mad, sizeof(mad), &member), -EBADMSG);
	assert_int_equal(header.tid, 42);
	assert_int_equal(path.dlid, 42);
	assert_int_equal(member.mlid, 42);
}

static void test_client_status_of_sa_status(void **state)
{
	(void)state;
	assert_int_equal(acm_sa_client_status(0), ACM_STATUS_OK);
	assert_int_equal(acm_sa_client_status(0x0001), ACM_STATUS_TIMED_OUT);
	assert_int_equal(acm_sa_client_status(0x0002), ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(acm_sa_client_status(0x001c), ACM_STATUS_INVALID);
	assert_int_equal(acm_sa_client_status(0x0100), ACM_STATUS_NO_MEMORY);
	assert_int_equal(acm_sa_client_status(0x0200), ACM_STATUS_INVALID);
	assert_int_equal(acm_sa_client_status(0x0300), ACM_STATUS_NO_DATA);
	assert_int_equal(acm_sa_client_status(0x0400), ACM_STATUS_INVALID);
	assert_int_equal(acm_sa_client_status(0x0500), ACM_STATUS_DESTINATION_ADDRESS);
	assert_int_equal(acm_sa_client_status(0x0600), ACM_STATUS_INVALID);
	assert_int_equal(acm_sa_client_status(0x0700), ACM_STATUS_NO_DATA);
	for (unsigned int status = 1; status <= 0xffff; status++)
		assert_int_not_equal(acm_sa_client_status((uint16_t)status), ACM_STATUS_OK);
}

static void test_status_in_words(void **state)
{
	(void)state;
	assert_string_equal(acm_sa_status_text(0x0001), "busy");
	assert_string_equal(acm_sa_status_text(0x0002), "redirected");
	assert_string_equal(acm_sa_status_text(0x000c), "unsupported method or attribute");
	assert_string_equal(acm_sa_status_text(0x0014), "unknown status");
	assert_string_equal(acm_sa_status_text(0x001c), "invalid attribute");
	assert_string_equal(acm_sa_status_text(0x0200), "invalid request");
	assert_string_equal(acm_sa_status_text(0x0700), "denied");
	assert_string_equal(acm_sa_status_text(0x0800), "unknown status");
	assert_string_equal(acm_sa_status_text(0xff00), "unknown status");
	/* Whatever it is, there are words. */
	for (uint32_t status = 1; status <= UINT16_MAX; status++)
		assert_true(acm_sa_status_text((uint16_t)status)[0]);
}

static void test_mutations(void **state)
{
	struct mutator mutator = {.state = 0x5ab5ab5abull};
	uint8_t mad[ACM_MAD_LENGTH];
	unsigned int headers = 0, paths = 0, members = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		struct acm_sa_header header;
		struct acm_path path;
		struct acm_mcmember member;
		uint8_t *copy;
		size_t length;

		load((i & 1) != 0 ? PATH_ANSWER : MCMEMBER_ANSWER, mad);
		length = mutate(&mutator, mad, sizeof(mad));
		copy = exact_copy(mad, length);
		headers += acm_sa_decode_header(copy, length, &header) == 0;
		if (acm_sa_decode_path(copy, length, &path) == 0) {
			paths++;
			assert_true(path.slid != 0 && path.slid < ACM_LID_MULTICAST);
			assert_true(path.flow_label <= 0xfffff && path.qos_class <= 0xfff &&
				    path.sl <= 0xf && path.path_count <= 0x7f);
		}
		if (acm_sa_decode_mcmember(copy, length, &member) == 0) {
			members++;
			assert_true(member.mlid >= ACM_LID_MULTICAST &&
				    member.mlid < ACM_LID_PERMISSIVE);
			assert_true(member.flow_label <= 0xfffff && member.scope <= 0xf);
		}
		free(copy);
	}
	assert_true(headers > 1000 && headers < 99000);
	assert_true(paths > 1000 && paths < 99000);
	assert_true(members > 1000 && members < 99000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_get_with_every_component),
		cmocka_unit_test(test_path_get_components_one_by_one),
		cmocka_unit_test(test_a_path_get_asks_for_one_path_at_least),
		cmocka_unit_test(test_joins),
		cmocka_unit_test(test_path_answers),
		cmocka_unit_test(test_mcmember_answers),
		cmocka_unit_test(test_a_members_word_of_three_fields),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_headers_out_of_range),
		cmocka_unit_test(test_paths_out_of_range),
		cmocka_unit_test(test_paths_to_groups),
		cmocka_unit_test(test_members_out_of_range),
		cmocka_unit_test(test_failed_decoders_write_nothing),
		cmocka_unit_test(test_client_status_of_sa_status),
		cmocka_unit_test(test_status_in_words),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
