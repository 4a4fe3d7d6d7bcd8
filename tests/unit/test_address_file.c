/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "address_file.h"

#include <acmite/wire.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct address_file file;
	struct problems problems;
	char *told;
};

static void read_text(struct reading *reading, const char *text, enum address_file_ips ips)
{
	FILE *in = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	size_t size;

	assert_non_null(in);
	memset(reading, 0, sizeof(*reading));
	reading->problems.out = open_memstream(&reading->told, &size);
	assert_int_equal(address_file_read(&reading->file, "addr", in, ips, &reading->problems), 0);
	fclose(reading->problems.out);
	fclose(in);
}

static void done(struct reading *reading)
{
	address_file_free(&reading->file);
	free(reading->told);
}

static void test_entries(void **state)
{
	struct acm_address expected;
	struct reading r;

	(void)state;
	read_text(&r,
		  "# comment\n"
		  "Node01 mlx5_0 1 default\n"
		  "\tnode01-s  mlx5_0\t2   0x8001 # of the storage partition\n"
		  "\n"
		  "10.0.0.1 mlx5_1 1 8002\n"
		  "fd00::1 mlx5_1 1 DEFAULT",
		  ADDRESS_FILE_TAKE_IPS);
	assert_string_equal(r.told, "");
	assert_int_equal(r.file.count, 4);
	acm_address_canonical(&expected, ACM_ADDRESS_NAME, (const uint8_t *)"node01", 6);
	assert_true(acm_address_equal(&r.file.entries[0].address, &expected));
	assert_string_equal(r.file.entries[0].text, "Node01");
	assert_string_equal(r.file.entries[0].device, "mlx5_0");
	assert_int_equal(r.file.entries[0].port, 1);
	assert_int_equal(r.file.entries[0].pkey, 0);
	assert_int_equal(r.file.entries[1].port, 2);
	assert_int_equal(r.file.entries[1].pkey, 0x8001);
	assert_int_equal(r.file.entries[2].address.type, ACM_ADDRESS_IP);
	assert_int_equal(r.file.entries[2].pkey, 0x8002);
	assert_int_equal(r.file.entries[3].address.type, ACM_ADDRESS_IP6);
	done(&r);
}

static void test_ips_are_counted_once(void **state)
{
	struct reading r;

	(void)state;
	read_text(&r,
		  "10.0.0.1 m 1 default\nname m 1 default\n10.0.0.2 m 1 default\n::1 m 1 default\n",
		  ADDRESS_FILE_SKIP_IPS);
	assert_int_equal(r.file.count, 1);
	assert_int_equal(r.file.skipped_ips, 3);
	assert_int_equal(r.problems.errors, 0);
	assert_int_equal(r.problems.warnings, 1);
	assert_non_null(strstr(r.told, "3 IP addresses"));
	assert_ptr_equal(strchr(r.told, '\n'), r.told + strlen(r.told) - 1);
	done(&r);
}

static void test_faults(void **state)
{
	static const char *const lines[] = {
		"node01",
		"node01 mlx5_0",
		"node01 mlx5_0 1",
		"node01 mlx5_0 1 default x",
		"node01 mlx5_0 0 default",
		"node01 mlx5_0 255 default",
		"node01 mlx5_0 one default",
		"node01 mlx5_0 1 0x10000",
		"node01 mlx5_0 1 none",
		"node01 mlx5_0 1 0x8000",
		"node01 mlx5_0 1 -1",
		"no\x01"
		"de mlx5_0 1 default",
	};
	struct reading r;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "good mlx5_0 1 default\n%s\nalso mlx5_0 1 default\n",
			 lines[i]);
		read_text(&r, text, ADDRESS_FILE_TAKE_IPS);
		if (r.problems.errors != 1 || strncmp(r.told, "addr:2: ", 8))
			fail_msg("%s: %s", lines[i], r.told);
		assert_int_equal(r.file.count, 2);
		done(&r);
	}
}

static void test_long_tokens(void **state)
{
	char text[1024];
	struct reading r;

	(void)state;
	/* 64 bytes are a name, 65 are not; devices, P_Keys and whole lines may be any length. */
	for (int length = 1; length <= 300; length++) {
		snprintf(text, sizeof(text), "%0*d m 1 default\nx %0*d 1 default\nx m 1 %0*d\n",
			 length, 7, length, 7, length, 7);
		read_text(&r, text, ADDRESS_FILE_TAKE_IPS);
		assert_int_equal(r.file.count,
				 (length <= ACM_ADDRESS_MAX) + (length < ACM_ADDRESS_MAX) + 1);
		done(&r);
	}
}

static void test_many(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct reading r;

	(void)state;
	for (int i = 0; i < 5000; i++)
		fprintf(out, "node%d mlx5_0 1 default\n", i);
	fclose(out);
	read_text(&r, text, ADDRESS_FILE_SKIP_IPS);
	assert_int_equal(r.file.count, 5000);
	assert_string_equal(r.file.entries[4999].text, "node4999");
	done(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries), cmocka_unit_test(test_ips_are_counted_once),
		cmocka_unit_test(test_faults),  cmocka_unit_test(test_long_tokens),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
