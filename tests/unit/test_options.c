/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"

#include <stdlib.h>
#include <string.h>

/* What reading a text gave. */
struct reading {
	struct options options;
	struct problems problems;
	char *told;
};

static void read_text(struct reading *reading, const char *text, bool lenient)
{
	FILE *in = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	size_t size;

	assert_non_null(in);
	memset(reading, 0, sizeof(*reading));
	reading->problems.out = open_memstream(&reading->told, &size);
	reading->problems.lenient = lenient;
	options_default(&reading->options);
	assert_int_equal(options_read(&reading->options, "opts", in, &reading->problems), 0);
	fclose(reading->problems.out);
	fclose(in);
}

static void test_defaults(void **state)
{
	struct acm_engine_config config;
	struct options options;
	const char *field;

	(void)state;
	options_default(&options);
	acm_engine_config_default(&config);
	assert_memory_equal(&options.engine, &config, sizeof(config));
	assert_int_equal(acm_engine_config_check(&options.engine, &field), 0);
	assert_int_equal(options.server_port, 6125);
	assert_int_equal(options.server_mode, SERVER_UNIX);
	assert_int_equal(options.socket_mode, 0666);
	assert_int_equal(options.log_level, 0);
	assert_false(options.acme_plus_kernel_only);
	assert_false(options.ips_in_address_file);
}

static void test_every_name(void **state)
{
	struct reading r;

	(void)state;
	read_text(&r,
		  "# all of them\n"
		  "log_file /tmp/some file.log\n"
		  "log_level 2\n"
		  "lock_file\t/tmp/lock\n"
		  "addr_prot acm\n"
		  "addr_timeout 30\n"
		  "route_prot ACM\n"
		  "route_timeout -1\n"
		  "loopback_prot none\n"
		  "server_port 0\n"
		  "server_mode loop\n"
		  "socket_mode 0660\n"
		  "acme_plus_kernel_only yes\n"
		  "timeout 200\r\n"
		  "negative_timeout 0\n"
		  "retries 1\n"
		  "  RESOLVE_DEPTH   7  \n"
		  "\n"
		  "sa_depth 3\n"
		  "recv_depth 64\n"
		  "request_limit 5\n"
		  "memory_budget 2\n"
		  "compat ibacm\n"
		  "min_mtu 4096\n"
		  "min_rate 2.5\n"
		  "route_preload none\n"
		  "addr_preload none\n"
		  "support_ips_in_addr_cfg true",
		  false);
	assert_string_equal(r.told, "");
	assert_int_equal(r.problems.errors, 0);
	assert_string_equal(r.options.log_file, "/tmp/some file.log");
	assert_string_equal(r.options.lock_file, "/tmp/lock");
	assert_int_equal(r.options.log_level, 2);
	assert_int_equal(r.options.engine.address_life, 1800 * ACM_NSEC_PER_SEC);
	assert_int_equal(r.options.engine.route_protocol, ACM_ROUTE_ACM);
	assert_int_equal(r.options.engine.route_life, ACM_NEVER);
	assert_false(r.options.engine.loopback);
	assert_int_equal(r.options.server_port, 0);
	assert_int_equal(r.options.server_mode, SERVER_LOOP);
	assert_int_equal(r.options.socket_mode, 0660);
	assert_true(r.options.acme_plus_kernel_only);
	assert_int_equal(r.options.engine.timeout, 200 * ACM_NSEC_PER_MSEC);
	assert_int_equal(r.options.engine.negative_life, 0);
	assert_int_equal(r.options.engine.retries, 1);
	assert_int_equal(r.options.engine.resolve_depth, 7);
	assert_int_equal(r.options.engine.sa_depth, 3);
	assert_int_equal(r.options.engine.recv_depth, 64);
	assert_int_equal(r.options.engine.request_limit, 5);
	assert_int_equal(r.options.engine.memory_budget, 2 << 20);
	assert_int_equal(r.options.engine.compat, ACM_COMPAT_IBACM);
	assert_int_equal(r.options.engine.min_mtu, 5);
	assert_int_equal(r.options.engine.min_rate, acm_rate_code(25));
	assert_true(r.options.ips_in_address_file);
	free(r.told);
}

static void test_units(void **state)
{
	static const struct {
		const char *text;
		uint32_t tenths;
	} rates[] = {{"min_rate 10", 100}, {"min_rate 40", 400}, {"min_rate 100", 1000}};
	struct reading r;

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		read_text(&r, rates[i].text, false);
		assert_int_equal(r.options.engine.min_rate, acm_rate_code(rates[i].tenths));
		free(r.told);
	}
	read_text(&r, "addr_timeout -1", false);
	assert_int_equal(r.options.engine.address_life, ACM_NEVER);
	free(r.told);
}

static void test_truth(void **state)
{
	static const char *const yes[] = {"1", "yes", "true", "YES", "True"};
	static const char *const no[] = {"0", "no", "false", "No"};
	char text[64];
	struct reading r;

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		snprintf(text, sizeof(text), "support_ips_in_addr_cfg %s", yes[i]);
		read_text(&r, text, false);
		assert_true(r.options.ips_in_address_file);
		free(r.told);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		snprintf(text, sizeof(text), "acme_plus_kernel_only yes\nacme_plus_kernel_only %s",
			 no[i]);
		read_text(&r, text, false);
		assert_false(r.options.acme_plus_kernel_only);
		free(r.told);
	}
}

static void test_bad_values(void **state)
{
	static const char *const lines[] = {
		"log_level 3",
		"log_level -1",
		"log_level",
		"umad_debug_level 1",
		"addr_prot ip",
		"addr_timeout soon",
		"addr_timeout -2",
		"route_prot multicast",
		"route_timeout 99999999999999999999",
		"loopback_prot yes",
		"server_port 65536",
		"server_port -1",
		"server_port http",
		"server_mode lo",
		"socket_mode 0888",
		"socket_mode 1777",
		"acme_plus_kernel_only maybe",
		"timeout 0",
		"timeout 10s",
		"timeout +5",
		"retries -1",
		"retries 1000",
		"resolve_depth 0",
		"resolve_depth 1025",
		"sa_depth 0",
		"sa_depth 65",
		"send_depth 2",
		"recv_depth 0",
		"compat opensm",
		"compat 1",
		"min_mtu 1500",
		"min_mtu 5",
		"min_rate 11",
		"min_rate 2.4",
		"min_rate 0",
		"route_preload opensm_full_v1",
		"addr_preload acm_hosts",
		"support_ips_in_addr_cfg 2",
		"provider mine default",
		"provider ibacmp 0xfe80000000000000",
		"no_such_option 1",
		"memory_budget 0",
		"request_limit 0",
	};
	struct options defaults;
	struct reading r;
	char text[128];
	char begin[16];

	(void)state;
	options_default(&defaults);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "# a line\n\n%s\nlog_level 1\n", lines[i]);
		read_text(&r, text, false);
		if (r.problems.errors != 1)
			fail_msg("%s: %u errors", lines[i], r.problems.errors);
		snprintf(begin, sizeof(begin), "opts:3: ");
		assert_int_equal(strncmp(r.told, begin, strlen(begin)), 0);
		/* One line, and nothing but the good line took effect. */
		assert_ptr_equal(strchr(r.told, '\n'), r.told + strlen(r.told) - 1);
		assert_int_equal(r.options.log_level, 1);
		r.options.log_level = 0;
		assert_memory_equal(&r.options, &defaults, sizeof(defaults));
		free(r.told);
	}
}

static void test_says_what_was_expected(void **state)
{
	struct reading r;

	(void)state;
	read_text(&r, "server_mode lo\nfoo 1\nmin_mtu 1500\nretries\n", false);
	assert_string_equal(
		r.told, "opts:1: server_mode cannot be lo; expected: unix, loop or open\n"
			"opts:2: there is no option foo; docs/acmited.md lists them\n"
			"opts:3: min_mtu cannot be 1500; expected: 256, 512, 1024, 2048 or 4096\n"
			"opts:4: retries has no value; expected: a number from 0 to 16\n");
	assert_int_equal(r.problems.errors, 4);
	free(r.told);
}

static void test_lenient(void **state)
{
	struct reading r;

	(void)state;
	read_text(&r, "foo 1\nsa_depth 99\nretries 4\n", true);
	assert_int_equal(r.problems.errors, 0);
	assert_int_equal(r.problems.warnings, 2);
	assert_int_equal(strncmp(r.told, "opts:1: ignored: ", 17), 0);
	assert_int_equal(r.options.engine.retries, 4);
	free(r.told);
}

/* What ib_acme -O writes is taken; what has no effect is said. */
static void test_without_effect(void **state)
{
	struct reading r;

	(void)state;
	read_text(&r,
		  "umad_debug_level 0\nsend_depth 1\nprovider_lib_path /usr/lib/ibacm\n"
		  "provider ibacmp   default\nroute_data_file /x\naddr_data_file /y\n",
		  false);
	assert_int_equal(r.problems.errors, 0);
	assert_int_equal(r.problems.warnings, 6);
	assert_non_null(strstr(r.told, "opts:2: warning: send_depth has no effect"));
	free(r.told);
}

static void test_long_tokens(void **state)
{
	struct reading r;
	char *text = malloc(20001);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 20000);
	text[20000] = '\0';
	read_text(&r, text, false);
	assert_int_equal(r.problems.errors, 1);
	free(r.told);
	memcpy(text, "log_file ", 9);
	read_text(&r, text, false);
	assert_int_equal(r.problems.errors, 1);
	assert_string_equal(r.options.log_file, "");
	free(r.told);
	/* As long as a path can be is not too long. */
	text[9 + PATH_MAX - 1] = '\0';
	read_text(&r, text, false);
	assert_int_equal(r.problems.errors, 0);
	assert_int_equal(strlen(r.options.log_file), PATH_MAX - 1);
	free(r.told);
	free(text);
}

static void test_missing_file(void **state)
{
	struct problems problems = {.out = tmpfile()};
	struct options options;

	(void)state;
	options_default(&options);
	assert_true(options_load(&options, "/nonexistent/opts", &problems) < 0);
	assert_int_equal(problems.errors, 1);
	fclose(problems.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),    cmocka_unit_test(test_every_name),
		cmocka_unit_test(test_units),       cmocka_unit_test(test_truth),
		cmocka_unit_test(test_bad_values),  cmocka_unit_test(test_says_what_was_expected),
		cmocka_unit_test(test_lenient),     cmocka_unit_test(test_without_effect),
		cmocka_unit_test(test_long_tokens), cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
