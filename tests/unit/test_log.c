/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
	char folder[64];
	char path[80];
	char other[80];
};

static int make_scratch(void **state)
{
	struct scratch *scratch = calloc(1, sizeof(*scratch));

	strcpy(scratch->folder, "/tmp/acmite-test-log-XXXXXX");
	if (!mkdtemp(scratch->folder))
		return -1;
	snprintf(scratch->path, sizeof(scratch->path), "%s/log", scratch->folder);
	snprintf(scratch->other, sizeof(scratch->other), "%s/other", scratch->folder);
	*state = scratch;
	return 0;
}

static int remove_scratch(void **state)
{
	struct scratch *scratch = *state;

	unlink(scratch->path);
	unlink(scratch->other);
	rmdir(scratch->folder);
	free(scratch);
	return 0;
}

static char *contents(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	text[fread(text, 1, (1 << 20) - 1, in)] = '\0';
	fclose(in);
	return text;
}

static size_t lines(const char *path)
{
	char *text = contents(path);
	size_t count = 0;

	for (char *at = text; (at = strchr(at, '\n')); at++)
		count++;
	free(text);
	return count;
}

static struct log *open_log(const char *path, int level)
{
	struct log *log;
	char why[256];

	assert_int_equal(log_open(path, level, &log, why, sizeof(why)), 0);
	return log;
}

static void test_appends_and_is_private(void **state)
{
	struct scratch *scratch = *state;
	mode_t before = umask(0);
	struct stat status;
	struct log *log;
	char *text;

	for (int run = 0; run < 2; run++) {
		log = open_log(scratch->path, LOG_BASIC);
		log_line(log, LOG_BASIC, "run %d", run);
		log_close(log);
	}
	umask(before);
	assert_int_equal(stat(scratch->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	text = contents(scratch->path);
	assert_non_null(strstr(text, "Z run 0\n"));
	assert_non_null(strstr(text, "Z run 1\n"));
	free(text);
}

static void test_does_not_follow_links(void **state)
{
	struct scratch *scratch = *state;
	struct log *log;
	char why[256];

	assert_int_equal(symlink(scratch->other, scratch->path), 0);
	assert_int_equal(log_open(scratch->path, 0, &log, why, sizeof(why)), -ELOOP);
	assert_non_null(strstr(why, scratch->path));
	assert_int_equal(access(scratch->other, F_OK), -1);
}

static void test_levels(void **state)
{
	static const size_t expected[] = {1, 2, 3};
	struct scratch *scratch = *state;

	for (int level = 0; level <= LOG_LEVEL_MAX; level++) {
		struct acm_trace trace = {.type = ACM_TRACE_REPLY};
		struct log *log = open_log(scratch->path, level);

		log_trace(log, &trace);
		trace.type = ACM_TRACE_PORT;
		log_trace(log, &trace);
		trace.type = ACM_TRACE_JOIN_FAILED;
		log_trace(log, &trace);
		log_close(log);
		assert_int_equal(lines(scratch->path), expected[level]);
		unlink(scratch->path);
	}
}

static void test_mask_agrees_with_levels(void **state)
{
	(void)state;
	assert_true(log_trace_mask(LOG_BASIC) & UINT64_C(1) << ACM_TRACE_JOIN_FAILED);
	assert_false(log_trace_mask(LOG_BASIC) & UINT64_C(1) << ACM_TRACE_REQUEST);
	assert_int_equal(log_trace_mask(LOG_OPERATION), (UINT64_C(1) << ACM_TRACE_TYPE_COUNT) - 1);
}

static void test_repeated_kinds_are_held_back(void **state)
{
	struct scratch *scratch = *state;
	struct log *log = open_log(scratch->path, LOG_BASIC);
	struct acm_trace trace = {.type = ACM_TRACE_JOIN_FAILED};
	struct log_limit limit = {.window_ns = 3600 * ACM_NSEC_PER_SEC, .burst = 3};

	/* However slow the machine: 20 a second is far below what this would write. */
	for (int i = 0; i < 100000; i++)
		log_trace(log, &trace);
	assert_in_range(lines(scratch->path), 20, 10000);
	unlink(scratch->path);
	log_reopen(log);
	for (int i = 0; i < 100; i++)
		log_line_limited(log, LOG_BASIC, &limit, "again");
	assert_int_equal(lines(scratch->path), 1 + 3);
	limit.begun = 1; /* its window is long over */
	log_line_limited(log, LOG_BASIC, &limit, "again");
	assert_int_equal(lines(scratch->path), 1 + 5);
	log_close(log);
}

static void test_operation_is_whole(void **state)
{
	struct scratch *scratch = *state;
	struct log *log = open_log(scratch->path, LOG_OPERATION);
	struct acm_trace trace = {.type = ACM_TRACE_FAILED};

	for (int i = 0; i < 1000; i++)
		log_trace(log, &trace);
	log_close(log);
	assert_int_equal(lines(scratch->path), 1000);
}

static void test_reopen(void **state)
{
	struct scratch *scratch = *state;
	struct log *log = open_log(scratch->path, LOG_BASIC);

	log_line(log, LOG_BASIC, "before");
	assert_int_equal(rename(scratch->path, scratch->other), 0);
	log_line(log, LOG_BASIC, "still there");
	log_reopen(log);
	log_line(log, LOG_BASIC, "after");
	log_close(log);
	assert_int_equal(lines(scratch->other), 2);
	assert_int_equal(lines(scratch->path), 1 + 1);
}

static void test_long_lines_are_cut(void **state)
{
	struct scratch *scratch = *state;
	struct log *log = open_log(scratch->path, LOG_BASIC);
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_line(log, LOG_BASIC, "%s", text);
	log_close(log);
	assert_int_equal(lines(scratch->path), 1);
}

static void test_no_log(void **state)
{
	struct acm_trace trace = {.type = ACM_TRACE_JOIN_FAILED};

	(void)state;
	log_line(NULL, LOG_BASIC, "nothing");
	log_trace(NULL, &trace);
	log_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_appends_and_is_private, make_scratch,
						remove_scratch),
		cmocka_unit_test_setup_teardown(test_does_not_follow_links, make_scratch,
						remove_scratch),
		cmocka_unit_test_setup_teardown(test_levels, make_scratch, remove_scratch),
		cmocka_unit_test(test_mask_agrees_with_levels),
		cmocka_unit_test_setup_teardown(test_repeated_kinds_are_held_back, make_scratch,
						remove_scratch),
		cmocka_unit_test_setup_teardown(test_operation_is_whole, make_scratch,
						remove_scratch),
		cmocka_unit_test_setup_teardown(test_reopen, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_long_lines_are_cut, make_scratch,
						remove_scratch),
		cmocka_unit_test(test_no_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
