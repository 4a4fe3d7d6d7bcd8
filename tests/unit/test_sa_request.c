/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <string.h>

static const struct acm_gid source = {{0xfe, 0x80, [15] = 1}};
static const struct acm_gid target = {{0xfe, 0x80, [15] = 2}};

/* Compared as they go out: the padding of a structure is anything. */
static void assert_same_path(const struct acm_path *a, const struct acm_path *b)
{
	uint8_t mad_a[ACM_MAD_LENGTH], mad_b[ACM_MAD_LENGTH];

	acm_sa_encode_path_get(a, 1, mad_a);
	acm_sa_encode_path_get(b, 1, mad_b);
	assert_memory_equal(mad_a, mad_b, ACM_MAD_LENGTH);
}

static void assert_same_member(const struct acm_mcmember *a, const struct acm_mcmember *b)
{
	uint8_t record_a[ACM_SA_MCMEMBER_LENGTH] = {0}, record_b[ACM_SA_MCMEMBER_LENGTH] = {0};

	acm_sa_store_mcmember(a, record_a);
	acm_sa_store_mcmember(b, record_b);
	assert_memory_equal(record_a, record_b, ACM_SA_MCMEMBER_LENGTH);
}

static void a_path_request_comes_back(void **state)
{
	struct acm_path path = {.sgid = source,
				.dgid = target,
				.pkey = 0x8010,
				.mtu = 4,
				.mtu_selector = 1,
				.reversible = true,
				.path_count = 3};
	struct acm_sa_request request;
	uint8_t mad[ACM_MAD_LENGTH];

	(void)state;
	acm_sa_encode_path_get(&path, 7, mad);
	assert_int_equal(acm_sa_decode_request(mad, sizeof(mad), &request), 0);
	assert_int_equal(request.method, ACM_SA_METHOD_GET);
	assert_int_equal(request.attribute, ACM_SA_ATTRIBUTE_PATH);
	assert_int_equal(request.tid, 7);
	assert_int_equal(request.sm_key, 0);
	assert_int_equal(request.components, ACM_SA_PATH_SGID | ACM_SA_PATH_DGID |
						     ACM_SA_PATH_PKEY | ACM_SA_PATH_MTU |
						     ACM_SA_PATH_REVERSIBLE | ACM_SA_PATH_COUNT);
	assert_same_path(&request.path, &path);
	assert_false(request.raw_traffic);
}

static void a_table_is_asked_for(void **state)
{
	struct acm_path path = {.sgid = source};
	struct acm_sa_request request;
	uint8_t mad[ACM_MAD_LENGTH];

	(void)state;
	acm_sa_encode_path_get_table(&path, 7, mad);
	assert_int_equal(acm_sa_decode_request(mad, sizeof(mad), &request), 0);
	assert_int_equal(request.method, ACM_SA_METHOD_GET_TABLE);
	assert_int_equal(request.components, ACM_SA_PATH_SGID);
	assert_int_equal(request.path.path_count, 0);
	path.path_count = 5;
	acm_sa_encode_path_get_table(&path, 7, mad);
	assert_int_equal(acm_sa_decode_request(mad, sizeof(mad), &request), 0);
	assert_int_equal(request.components, ACM_SA_PATH_SGID | ACM_SA_PATH_COUNT);
	assert_int_equal(request.path.path_count, 5);
}

static void a_ping_asks_for_the_class(void **state)
{
	struct acm_sa_request request;
	uint8_t mad[ACM_MAD_LENGTH];

	(void)state;
	acm_sa_encode_ping(UINT64_C(0x1122334455667788), mad);
	assert_int_equal(acm_sa_decode_request(mad, sizeof(mad), &request), 0);
	assert_int_equal(request.method, ACM_SA_METHOD_GET);
	assert_int_equal(request.attribute, 1);
	assert_int_equal(request.tid, UINT64_C(0x1122334455667788));
	assert_int_equal(request.components, 0);
}

static void a_join_comes_back(void **state)
{
	struct acm_mcmember member = {.port_gid = source,
				      .qkey = ACM_QKEY,
				      .mtu = 4,
				      .rate = 3,
				      .pkey = 0xffff,
				      .scope = 5,
				      .join_state = ACM_SA_JOIN_FULL};
	struct acm_sa_request request;
	uint8_t mad[ACM_MAD_LENGTH];

	(void)state;
	acm_group_mgid(&member.mgid, 0xffff, 3, 4);
	acm_sa_encode_join(&member, 7, mad);
	assert_int_equal(acm_sa_decode_request(mad, sizeof(mad), &request), 0);
	assert_int_equal(request.method, ACM_SA_METHOD_SET);
	assert_same_member(&request.member, &member);
	assert_int_equal(request.member_mtu_selector, 2);
	assert_int_equal(request.member_rate_selector, 2);
}

static void what_is_no_request(void **state)
{
	struct acm_path path = {.sgid = source};
	struct acm_sa_request request;
	uint8_t mad[ACM_MAD_LENGTH];

	(void)state;
	acm_sa_encode_path_get(&path, 7, mad);
	for (size_t length = 0; length < sizeof(mad); length++)
		assert_int_equal(acm_sa_decode_request(mad, length, &request), -EMSGSIZE);
	for (int i = 0; i < 3; i++) {
		mad[i] ^= 0x40;
		assert_int_equal(acm_sa_decode_request(mad, sizeof(mad), &request), -EPROTO);
		mad[i] ^= 0x40;
	}
	mad[3] |= 0x80; /* an answer */
	assert_int_equal(acm_sa_decode_request(mad, sizeof(mad), &request), -EPROTO);
}

static void answers_are_read_by_the_other_side(void **state)
{
	static const struct acm_sa_request request = {
		.method = ACM_SA_METHOD_DELETE, .attribute = ACM_SA_ATTRIBUTE_MCMEMBER, .tid = 9};
	struct acm_mcmember member = {.mlid = 0xc001, .mtu = 4, .rate = 3}, read;
	uint8_t answer[ACM_SA_ANSWER_HEADER + ACM_SA_MCMEMBER_LENGTH];
	struct acm_sa_header header;

	(void)state;
	acm_group_mgid(&member.mgid, 0xffff, 3, 4);
	acm_sa_encode_answer(&request, 0x0200, ACM_SA_MCMEMBER_LENGTH, answer);
	acm_sa_store_mcmember(&member, answer + ACM_SA_ANSWER_HEADER);
	assert_int_equal(acm_sa_decode_header(answer, sizeof(answer), &header), 0);
	assert_int_equal(header.method, 0x95);
	assert_int_equal(header.status, 0x0200);
	assert_int_equal(header.tid, 9);
	assert_int_equal(header.record_length, ACM_SA_MCMEMBER_LENGTH);
	assert_int_equal(acm_sa_decode_mcmember(answer, sizeof(answer), &read), 0);
	assert_same_member(&read, &member);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_request_comes_back),
		cmocka_unit_test(a_table_is_asked_for),
		cmocka_unit_test(a_ping_asks_for_the_class),
		cmocka_unit_test(a_join_comes_back),
		cmocka_unit_test(what_is_no_request),
		cmocka_unit_test(answers_are_read_by_the_other_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
