/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <arpa/inet.h>

#include <cmocka.h>

#include <acmite/trace.h>
#include <acmite/wire.h>

#include "support/hostile_bytes.h"

static int canonical_text(struct acm_address *address, const char *name)
{
	return acm_address_canonical(address, ACM_ADDRESS_NAME, (const uint8_t *)name,
				     strlen(name));
}

static void test_names_become_lower_case_and_end_at_nul(void **state)
{
	static const uint8_t zero[ACM_ADDRESS_MAX];
	struct acm_address address;

	(void)state;
	assert_int_equal(acm_address_canonical(&address, ACM_ADDRESS_NAME,
					       (const uint8_t *)"Node-AZ[@`{\0junk", 16),
			 0);
	assert_int_equal(address.type, ACM_ADDRESS_NAME);
	assert_int_equal(address.length, 11);
	assert_memory_equal(address.data, "node-az[@`{", 11);
	assert_memory_equal(address.data + 11, zero, ACM_ADDRESS_MAX - 11);
	/* Bytes above ASCII are nobody's upper case. */
	assert_int_equal(canonical_text(&address, "K\xc3\x96LN"), 0);
	assert_memory_equal(address.data, "k\xc3\x96ln", 5);
}

static void test_name_lengths(void **state)
{
	char name[ACM_ADDRESS_MAX + 2];
	struct acm_address address = {.type = 99};

	(void)state;
	memset(name, 'x', sizeof(name));
	name[ACM_ADDRESS_MAX + 1] = '\0';
	assert_int_equal(canonical_text(&address, name), -EINVAL);
	assert_int_equal(canonical_text(&address, ""), -EINVAL);
	assert_int_equal(
		acm_address_canonical(&address, ACM_ADDRESS_NAME, (const uint8_t *)"\0a", 2),
		-EINVAL);
	assert_int_equal(address.type, 99);
	name[ACM_ADDRESS_MAX] = '\0';
	assert_int_equal(canonical_text(&address, name), 0);
	assert_int_equal(address.length, ACM_ADDRESS_MAX);
	/* A NUL right behind the 64th byte ends the name in time. */
	assert_int_equal(acm_address_canonical(&address, ACM_ADDRESS_NAME, (const uint8_t *)name,
					       sizeof(name)),
			 0);
}

static void test_names_with_control_characters_are_refused(void **state)
{
	struct acm_address address;

	(void)state;
	for (unsigned int c = 1; c < 256; c++) {
		uint8_t name[3] = {'a', (uint8_t)c, 'b'};
		int expected = c < 0x20 || c == 0x7f ? -EINVAL : 0;

		assert_int_equal(acm_address_canonical(&address, ACM_ADDRESS_NAME, name, 3),
				 expected);
	}
}

static void test_every_type_takes_its_own_length_only(void **state)
{
	static const size_t lengths[] = {[ACM_ADDRESS_IP] = 4,
					 [ACM_ADDRESS_IP6] = 16,
					 [ACM_ADDRESS_GID] = 16,
					 [ACM_ADDRESS_LID] = 2};
	uint8_t data[ACM_ADDRESS_MAX];
	struct acm_address address = {0};

	(void)state;
	memset(data, 0x5a, sizeof(data));
	for (unsigned int type = 0; type < 300; type++) {
		if (type == ACM_ADDRESS_NAME)
			continue;
		for (size_t length = 0; length <= ACM_ADDRESS_MAX; length++) {
			uint8_t *copy = exact_copy(data, length);
			bool right = type >= ACM_ADDRESS_IP && type <= ACM_ADDRESS_LID &&
				     length == lengths[type];
			int result = acm_address_canonical(&address, (enum acm_address_type)type,
							   copy, length);

			assert_int_equal(result, right ? 0 : -EINVAL);
			if (right) {
				assert_int_equal(address.length, length);
				assert_memory_equal(address.data, data, length);
				assert_int_equal(address.data[length], 0);
			}
			free(copy);
		}
	}
}

static void test_the_data_may_lie_in_the_address(void **state)
{
	struct acm_address address = {.data = "10.0.0.1 OR SO"};

	(void)state;
	assert_int_equal(acm_address_canonical(&address, ACM_ADDRESS_NAME, address.data,
					       sizeof(address.data)),
			 0);
	assert_memory_equal(address.data, "10.0.0.1 or so", 14);
	assert_int_equal(acm_address_canonical(&address, ACM_ADDRESS_IP, address.data + 1, 4), 0);
	assert_memory_equal(address.data, "0.0.\0\0\0\0", 8);
}

static void test_equality(void **state)
{
	struct acm_address a, b;

	(void)state;
	assert_int_equal(canonical_text(&a, "NODE01"), 0);
	assert_int_equal(canonical_text(&b, "node01"), 0);
	assert_true(acm_address_equal(&a, &b));
	assert_int_equal(canonical_text(&b, "node0"), 0);
	assert_false(acm_address_equal(&a, &b));
	assert_false(acm_address_equal(&b, &a));
	assert_int_equal(canonical_text(&b, "node02"), 0);
	assert_false(acm_address_equal(&a, &b));
	assert_int_equal(acm_address_canonical(&a, ACM_ADDRESS_IP6, (const uint8_t[16]){1}, 16), 0);
	assert_int_equal(acm_address_canonical(&b, ACM_ADDRESS_GID, (const uint8_t[16]){1}, 16), 0);
	assert_false(acm_address_equal(&a, &b));
}

static void check_gid(const char *text)
{
	struct acm_gid gid;
	char out[46];

	assert_int_equal(inet_pton(AF_INET6, text, gid.raw), 1);
	assert_int_equal(acm_gid_format(&gid, out, sizeof(out)), strlen(text));
	assert_string_equal(out, text);
}

static void test_gids_print_as_rfc_5952_says(void **state)
{
	(void)state;
	check_gid("::");
	check_gid("::1");
	check_gid("1::");
	check_gid("fe80::2c9:300:1:2");
	check_gid("ff15:4001:ffff:3:400::");
	check_gid("2001:db8:0:1:1:1:1:1"); /* one zero group is not shortened */
	check_gid("2001:0:0:1::1");        /* the longest run */
	check_gid("2001:db8::1:0:0:1");    /* the first of equals */
	check_gid("1:2:3:4:5:6:7:8");
	check_gid("1:2:3:4:5:6::");
	check_gid("::3:4:5:6:7:8");
	check_gid("abcd:ef01:2345:6789:abcd:ef01:2345:6789");
	check_gid("0:1:0:1:0:1:0:1");
	check_gid("::ffff:10.0.255.1");
	check_gid("::fffe:a00:ff01");
}

static void test_random_gids_print_as_the_c_library_does(void **state)
{
	struct mutator mutator = {.state = 0x5eed};
	struct acm_gid gid;
	char out[46], expected[INET6_ADDRSTRLEN];

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		for (unsigned int group = 0; group < 8; group++) {
			uint64_t draw = mutator_next(&mutator);
			uint16_t value = (draw & 3) != 0 ? 0 : (uint16_t)(draw >> 32);

			gid.raw[2 * group] = (uint8_t)(value >> 8);
			gid.raw[2 * group + 1] = (uint8_t)value;
		}
		gid.raw[0] |= 0x20; /* the library writes ::a.b.c.d, which RFC 5952 does not */
		acm_gid_format(&gid, out, sizeof(out));
		inet_ntop(AF_INET6, gid.raw, expected, sizeof(expected));
		assert_string_equal(out, expected);
	}
}

static void check_format(enum acm_address_type type, const uint8_t *data, size_t length,
			 const char *expected)
{
	struct acm_address address;
	char text[ACM_ADDRESS_MAX + 1];

	assert_int_equal(acm_address_canonical(&address, type, data, length), 0);
	assert_int_equal(acm_address_format(&address, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
	/* Every size cuts, ends with a NUL and leaves what is behind alone. */
	for (size_t size = 0; size < sizeof(text); size++) {
		char *exact = malloc(size);
		size_t least = strlen(expected) < size ? strlen(expected) : size - (size > 0);

		assert_int_equal(acm_address_format(&address, exact, size), size > 0 ? least : 0);
		if (size > 0) {
			assert_int_equal(strlen(exact), least);
			assert_memory_equal(exact, expected, least);
		}
		free(exact);
	}
}

static void test_addresses_print_as_people_write_them(void **state)
{
	(void)state;
	check_format(ACM_ADDRESS_NAME, (const uint8_t *)"Node01", 6, "node01");
	check_format(ACM_ADDRESS_IP, (const uint8_t[]){192, 168, 0, 255}, 4, "192.168.0.255");
	check_format(ACM_ADDRESS_IP6, (const uint8_t[16]){0xfd, [15] = 1}, 16, "fd00::1");
	check_format(ACM_ADDRESS_GID, (const uint8_t[16]){0xfe, 0x80, [15] = 9}, 16, "fe80::9");
	check_format(ACM_ADDRESS_LID, (const uint8_t[]){0x01, 0x02}, 2, "258");
	check_format(ACM_ADDRESS_NAME,
		     (const uint8_t *)"0123456789012345678901234567890123456789"
				      "012345678901234567890123",
		     64, "0123456789012345678901234567890123456789012345678901234567890123");
}

static void test_no_address_prints_as_nothing(void **state)
{
	struct acm_address none = {0};
	char text[4] = "abc";

	(void)state;
	assert_int_equal(acm_address_format(&none, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_become_lower_case_and_end_at_nul),
		cmocka_unit_test(test_name_lengths),
		cmocka_unit_test(test_names_with_control_characters_are_refused),
		cmocka_unit_test(test_every_type_takes_its_own_length_only),
		cmocka_unit_test(test_the_data_may_lie_in_the_address),
		cmocka_unit_test(test_equality),
		cmocka_unit_test(test_gids_print_as_rfc_5952_says),
		cmocka_unit_test(test_random_gids_print_as_the_c_library_does),
		cmocka_unit_test(test_addresses_print_as_people_write_them),
		cmocka_unit_test(test_no_address_prints_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
