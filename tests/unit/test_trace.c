/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <acmite/engine.h>
#include <acmite/trace.h>

static struct acm_address name(const char *text)
{
	struct acm_address address;

	assert_int_equal(acm_address_canonical(&address, ACM_ADDRESS_NAME, (const uint8_t *)text,
					       strlen(text)),
			 0);
	return address;
}

static void check(const struct acm_trace *trace, const char *expected)
{
	size_t whole = strlen(expected);

	/* Every size cuts, ends with a NUL and leaves what is behind alone. */
	for (size_t size = 0; size <= whole + 2; size++) {
		char *text = malloc(size);
		size_t least = whole < size ? whole : size - (size > 0);

		assert_int_equal(acm_trace_format(trace, text, size), least);
		if (size > 0) {
			assert_int_equal(strlen(text), least);
			assert_memory_equal(text, expected, least);
		}
		free(text);
	}
}

static void test_lines(void **state)
{
	static const struct acm_gid gid = {{0xfe, 0x80, [15] = 7}};

	(void)state;
	check(&(struct acm_trace){.type = ACM_TRACE_REQUEST,
				  .time = 5,
				  .sequence = 9,
				  .request = 12,
				  .destination = name("Node02")},
	      "request request=12 destination=node02");
	check(&(struct acm_trace){.type = ACM_TRACE_REQUEST, .request = 0, .value = 0x8000},
	      "request request=0 flags=0x8000");
	check(&(struct acm_trace){.type = ACM_TRACE_REPLY, .request = 12},
	      "reply request=12 status=success");
	check(&(struct acm_trace){.type = ACM_TRACE_REPLY,
				  .request = 12,
				  .status = ACM_STATUS_TIMED_OUT},
	      "reply request=12 status=timed_out");
	check(&(struct acm_trace){.type = ACM_TRACE_COALESCED,
				  .request = 12,
				  .endpoint = 1,
				  .value = 1500,
				  .destination = name("b")},
	      "coalesced request=12 endpoint=1 destination=b age_ns=1500");
	check(&(struct acm_trace){.type = ACM_TRACE_LEARNED,
				  .endpoint = 1,
				  .lid = 49151,
				  .qpn = 0x48,
				  .gid = gid,
				  .source = name("a b\\c")},
	      "learned endpoint=1 source=a\\x20b\\x5cc lid=49151 gid=fe80::7 qpn=0x000048");
	check(&(struct acm_trace){.type = ACM_TRACE_MULTICAST, .value = 2},
	      "multicast endpoint=0 try=2");
	check(&(struct acm_trace){.type = ACM_TRACE_SA_STATUS, .value = 0x300},
	      "sa_status endpoint=0 mad_status=0x0300");
	check(&(struct acm_trace){.type = ACM_TRACE_SA_WITHDRAWN,
				  .endpoint = 1,
				  .bypass = true,
				  .destination = name("b")},
	      "sa_withdrawn endpoint=1 destination=b bypass=1");
	check(&(struct acm_trace){.type = ACM_TRACE_PORT, .port = 1, .lid = 3, .value = 4},
	      "port port=1 lid=3 state=4");
	check(&(struct acm_trace){.type = ACM_TRACE_ENDPOINT,
				  .endpoint = 2,
				  .port = 1,
				  .pkey = 0x8001,
				  .status = (enum acm_status) - 12},
	      "endpoint port=1 endpoint=2 status=-12 pkey=0x8001 open=0");
	check(&(struct acm_trace){.type = ACM_TRACE_JOIN_FAILED,
				  .endpoint = 1,
				  .status = (enum acm_status) - 12,
				  .reason = "no memory"},
	      "join_failed endpoint=1 status=-12 reason=no_memory");
	check(&(struct acm_trace){.type = ACM_TRACE_JOIN_FAILED,
				  .endpoint = 1,
				  .value = 0x0700,
				  .reason = "denied"},
	      "join_failed endpoint=1 mad_status=0x0700 reason=denied");
	check(&(struct acm_trace){.type = ACM_TRACE_GROUP_RECORD,
				  .endpoint = 1,
				  .pkey = 0xffff,
				  .value = 4 << 8 | 3},
	      "group_record endpoint=1 pkey=0xffff mtu_code=4 rate_code=3");
	check(&(struct acm_trace){.type = ACM_TRACE_DROPPED, .reason = "wrong length"},
	      "dropped reason=wrong_length");
	check(&(struct acm_trace){.type = ACM_TRACE_CANCELLED, .request = UINT64_MAX},
	      "cancelled request=18446744073709551615");
	check(&(struct acm_trace){.type = ACM_TRACE_TYPE_COUNT, .value = 1}, "unknown value=1");
}

static bool is_snake_case(const char *text)
{
	return *text != '\0' && strspn(text, "abcdefghijklmnopqrstuvwxyz_") == strlen(text);
}

static void test_every_type_and_counter_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ACM_TRACE_TYPE_COUNT; i++) {
		assert_non_null(acm_trace_name((enum acm_trace_type)i));
		assert_true(is_snake_case(acm_trace_name((enum acm_trace_type)i)));
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(acm_trace_name((enum acm_trace_type)i),
						acm_trace_name((enum acm_trace_type)j));
	}
	for (unsigned int i = 0; i < ACM_COUNTER_COUNT; i++) {
		assert_non_null(acm_counter_name((enum acm_counter)i));
		assert_true(is_snake_case(acm_counter_name((enum acm_counter)i)));
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(acm_counter_name((enum acm_counter)i),
						acm_counter_name((enum acm_counter)j));
	}
	assert_string_equal(acm_trace_name(ACM_TRACE_TYPE_COUNT), "unknown");
	assert_string_equal(acm_counter_name(ACM_COUNTER_COUNT), "unknown");
}

/* All fields of all types at their longest: the line ends where its length says. */
static void test_long_lines(void **state)
{
	char text[1024];
	struct acm_trace trace;
	size_t length;

	(void)state;
	memset(&trace, 0xff, sizeof(trace));
	trace.bypass = true;
	trace.reason = "all of it";
	trace.source = name("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	trace.destination = trace.source;
	for (unsigned int type = 0; type < ACM_TRACE_TYPE_COUNT; type++) {
		trace.type = (enum acm_trace_type)type;
		length = acm_trace_format(&trace, text, sizeof(text));
		assert_int_equal(length, strlen(text));
		assert_true(strlen(text) < 512);
		assert_non_null(strstr(text, "reason=all_of_it"));
		assert_null(strchr(text, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_every_type_and_counter_has_a_name_of_its_own),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
