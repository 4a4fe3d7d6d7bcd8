/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "command_line.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 32

struct outcome {
	enum command_line_outcome outcome;
	struct command_line line;
	char *words[WORDS_MAX];
	char *out;
	char *err;
};

/* `text` is split at blanks, as a shell would. */
static void parse(struct outcome *outcome, const char *text)
{
	char *copy = strdup(text);
	char *rest = NULL;
	size_t size;
	int count = 0;
	FILE *out;
	FILE *err;

	memset(outcome, 0, sizeof(*outcome));
	out = open_memstream(&outcome->out, &size);
	err = open_memstream(&outcome->err, &size);
	outcome->words[count++] = strdup("acmited");
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		outcome->words[count++] = strdup(word);
	outcome->outcome = command_line_parse(&outcome->line, count, outcome->words, out, err);
	fclose(out);
	fclose(err);
	free(copy);
}

static void done(struct outcome *outcome)
{
	for (int i = 0; i < WORDS_MAX; i++)
		free(outcome->words[i]);
	free(outcome->out);
	free(outcome->err);
}

static void test_all_options(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o,
	      "-P --backend sim --fabric f.yaml --control ibsim --node node01 --socket /tmp/a.sock"
	      " -A addr -O opts --lenient --scratch /tmp/x --no-peers --seed 0x10"
	      " --ready-timeout 5 --check-config");
	assert_int_equal(o.outcome, COMMAND_LINE_RUN);
	assert_string_equal(o.err, "");
	assert_false(o.line.background);
	assert_string_equal(o.line.fabric, "f.yaml");
	assert_string_equal(o.line.node, "node01");
	assert_string_equal(o.line.socket, "/tmp/a.sock");
	assert_string_equal(o.line.address_file, "addr");
	assert_string_equal(o.line.option_file, "opts");
	assert_string_equal(o.line.scratch, "/tmp/x");
	assert_true(o.line.ibsim);
	assert_true(o.line.lenient);
	assert_true(o.line.no_peers);
	assert_true(o.line.check_config);
	assert_true(o.line.has_seed);
	assert_int_equal(o.line.seed, 16);
	assert_int_equal(o.line.ready_timeout_s, 5);
	done(&o);
}

static void test_defaults(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, "--backend sim --fabric f --node n");
	assert_int_equal(o.outcome, COMMAND_LINE_RUN);
	assert_true(o.line.background);
	assert_null(o.line.socket);
	assert_false(o.line.has_seed);
	assert_false(o.line.ibsim);
	assert_int_equal(o.line.ready_timeout_s, 60);
	done(&o);
	parse(&o, "--backend sim --control builtin --fabric f --node n");
	assert_int_equal(o.outcome, COMMAND_LINE_RUN);
	assert_int_equal(o.line.backend, COMMAND_LINE_SIM);
	assert_false(o.line.ibsim);
	done(&o);
}

#ifdef ACMITE_VERBS
static void test_hardware(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, "-P");
	assert_int_equal(o.outcome, COMMAND_LINE_RUN);
	assert_int_equal(o.line.backend, COMMAND_LINE_VERBS);
	done(&o);
	parse(&o, "--backend verbs --seed 3 -A a");
	assert_int_equal(o.outcome, COMMAND_LINE_RUN);
	assert_int_equal(o.line.backend, COMMAND_LINE_VERBS);
	assert_string_equal(o.line.address_file, "a");
	done(&o);
}
#endif

static void test_shown(void **state)
{
	struct outcome o;

	(void)state;
	parse(&o, "--help");
	assert_int_equal(o.outcome, COMMAND_LINE_SHOWN);
	assert_non_null(strstr(o.out, "--fabric PATH"));
	done(&o);
	parse(&o, "--version");
	assert_int_equal(o.outcome, COMMAND_LINE_SHOWN);
	assert_int_equal(strncmp(o.out, "acmited ", 8), 0);
	done(&o);
}

static void test_faults(void **state)
{
	static const struct {
		const char *text;
		enum command_line_outcome outcome;
	} cases[] = {
		{"--fabric f --node n", COMMAND_LINE_WRONG},
		{"--backend verbs --control ibsim", COMMAND_LINE_WRONG},
		{"--backend verbs --no-peers", COMMAND_LINE_WRONG},
#ifndef ACMITE_VERBS
		{"-P", COMMAND_LINE_NOT_BUILT},
		{"--backend verbs", COMMAND_LINE_NOT_BUILT},
#endif
		{"--backend ib", COMMAND_LINE_WRONG},
		{"--backend sim --control opensm --fabric f --node n", COMMAND_LINE_WRONG},
		{"--backend sim --node n", COMMAND_LINE_WRONG},
		{"--backend sim --fabric f", COMMAND_LINE_WRONG},
		{"--backend sim --fabric f --node n extra", COMMAND_LINE_WRONG},
		{"--backend sim --fabric f --node n --seed x", COMMAND_LINE_WRONG},
		{"--backend sim --fabric f --node n --ready-timeout 0", COMMAND_LINE_WRONG},
		{"--backend sim --fabric f --node n --ready-timeout 5s", COMMAND_LINE_WRONG},
		{"--frobnicate", COMMAND_LINE_WRONG},
		{"-Z", COMMAND_LINE_WRONG},
		{"--backend", COMMAND_LINE_WRONG},
	};
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse(&o, cases[i].text);
		if (o.outcome != cases[i].outcome)
			fail_msg("%s: %d", cases[i].text, o.outcome);
		/* One sentence. */
		assert_int_equal(strncmp(o.err, "acmited: ", 9), 0);
		assert_ptr_equal(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
		done(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_options), cmocka_unit_test(test_defaults),
#ifdef ACMITE_VERBS
		cmocka_unit_test(test_hardware),
#endif
		cmocka_unit_test(test_shown),       cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
