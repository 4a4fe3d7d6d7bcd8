/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "commands.h"

#define PAIR SOURCE_DIR "/topologies/pair.yaml"

/* What a run of the command writes to one of its streams. */
struct capture {
	int fd;   /* of the stream */
	int kept; /* what the stream was */
	FILE *file;
};

static void begin_capture(struct capture *capture, int fd)
{
	capture->fd = fd;
	capture->file = tmpfile();
	assert_non_null(capture->file);
	capture->kept = dup(fd);
	assert_true(capture->kept >= 0);
	assert_true(dup2(fileno(capture->file), fd) >= 0);
}

static void end_capture(struct capture *capture, char *text, size_t size)
{
	size_t length;

	dup2(capture->kept, capture->fd);
	close(capture->kept);
	rewind(capture->file);
	length = fread(text, 1, size - 1, capture->file);
	text[length] = '\0';
	fclose(capture->file);
}

static char output[65536];
static char complaints[65536];

/* Arguments after "fabric", the last NULL. */
static int run(char *const *arguments)
{
	struct capture out, err;
	char *argv[8] = {"fabric"};
	int argc = 1, ret;

	while (*arguments)
		argv[argc++] = *arguments++;
	fflush(stdout);
	begin_capture(&out, STDOUT_FILENO);
	begin_capture(&err, STDERR_FILENO);
	ret = acmite_fabric_main(argc, argv);
	fflush(stdout);
	end_capture(&err, complaints, sizeof(complaints));
	end_capture(&out, output, sizeof(output));
	return ret;
}

#define RUN(...) run((char *const[]){__VA_ARGS__, NULL})

struct fixture {
	char folder[64];
	char wrong[96];
	char fast[96];
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/acmite-fabric-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->wrong, sizeof(f->wrong), "%s/wrong.yaml", f->folder);
	snprintf(f->fast, sizeof(f->fast), "%s/fast.yaml", f->folder);
	write_file(f->wrong, "hosts: [ { name: a, colour: red }, { name: a } ]\n");
	write_file(f->fast, "hosts: [ { name: a }, { name: b } ]\nlink: { speed: ndr }\n"
			    "links: [ a -- b ]\n");
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->wrong);
	unlink(f->fast);
	rmdir(f->folder);
	free(f);
	return 0;
}

static void a_good_file(void **state)
{
	(void)state;
	assert_int_equal(RUN("check", PAIR), EXIT_OK);
	assert_string_equal(output, PAIR ": 1 switch, 2 hosts, 2 links, 0 partitions\n");
	assert_string_equal(complaints, "");
}

static void a_wrong_file_among_good_ones(void **state)
{
	struct fixture *f = *state;
	char expected[512];

	assert_int_equal(RUN("check", f->wrong, PAIR), EXIT_USAGE);
	assert_string_equal(output, PAIR ": 1 switch, 2 hosts, 2 links, 0 partitions\n");
	snprintf(expected, sizeof(expected),
		 "%s:1:21: unknown key 'colour' in a host, expected one of: name, ports, guid, "
		 "device, addresses, port_guids\n"
		 "%s:1:44: the name 'a' is used already at line 1, each name was expected once\n",
		 f->wrong, f->wrong);
	assert_string_equal(complaints, expected);
}

static void a_report_as_json(void **state)
{
	struct fixture *f = *state;
	const char *error;
	int valid, wrong, hosts;
	json_t *root;

	assert_int_equal(RUN("check", "--json", PAIR, f->wrong), EXIT_USAGE);
	assert_string_equal(complaints, "");
	root = json_loads(output, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_unpack(root, "[{s:b, s:i}, {s:b, s:[s]}]", "valid", &valid, "hosts",
				     &hosts, "valid", &wrong, "errors", &error),
			 0);
	assert_true(valid);
	assert_false(wrong);
	assert_int_equal(hosts, 2);
	assert_non_null(strstr(error, "wrong.yaml:1:21: unknown key"));
	json_decref(root);
}

static void exports(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(RUN("export", PAIR, "--format", "ibsim"), EXIT_OK);
	assert_non_null(strstr(output, "Ca\t1 \"node1\"\n[1]\t\"switch1\"[1]\t# lid 0 4xEDR\n"));
	assert_int_equal(RUN("export", "-f", "dot", PAIR), EXIT_OK);
	assert_int_equal(strncmp(output, "graph \"pair\" {", 14), 0);
	assert_int_equal(RUN("export", "--format=json", PAIR), EXIT_OK);
	assert_int_equal(*output, '{');
	assert_int_equal(RUN("export", "--format=ibsim", f->fast), EXIT_FAILED);
	assert_string_equal(output, "");
	assert_non_null(strstr(complaints, "faster than HDR"));
	assert_int_equal(RUN("export", "--format=json", f->wrong), EXIT_USAGE);
	assert_string_equal(output, "");
	assert_non_null(strstr(complaints, "wrong.yaml:1:21:"));
}

static void wrong_usage(void **state)
{
	static char *const lines[][5] = {
		{"frobnicate"},
		{"check"},
		{"check", "--frobnicate", PAIR},
		{"check", "--format", "dot", PAIR},
		{"export", PAIR},
		{"export", "--format", "png", PAIR},
		{"export", "--format", "dot"},
		{"export", "--format", "dot", PAIR, PAIR},
		{"export", "--json", PAIR},
		{"export", "--against-opensm", PAIR},
		{"check", "--against-opensm"},
		{"check", "--against-opensm", "--json", PAIR},
		{NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *arguments[6] = {0};

		memcpy(arguments, lines[i], sizeof(lines[i]));
		assert_int_equal(run(arguments), EXIT_USAGE);
		assert_string_equal(output, "");
		assert_string_not_equal(complaints, "");
	}
}

static void compared_with_opensm(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(RUN("check", "--against-opensm", PAIR), EXIT_OK);
	assert_string_equal(output,
			    PAIR ": 4 of 4 pairs compared with OpenSM, 0 differ; 0 LIDs differ\n");
	assert_int_equal(RUN("check", "--against-opensm", f->wrong), EXIT_USAGE);
	assert_non_null(strstr(complaints, "wrong.yaml:1:21:"));
	assert_int_equal(RUN("check", "--against-opensm", f->fast), EXIT_FAILED);
	assert_non_null(strstr(complaints, "faster than HDR"));
}

static void help(void **state)
{
	(void)state;
	assert_int_equal(RUN("--help"), EXIT_OK);
	assert_int_equal(strncmp(output, "Usage: acmite fabric check", 26), 0);
	assert_int_equal(RUN("check", "-h"), EXIT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_file),
		cmocka_unit_test(a_wrong_file_among_good_ones),
		cmocka_unit_test(a_report_as_json),
		cmocka_unit_test(exports),
		cmocka_unit_test(wrong_usage),
		cmocka_unit_test(compared_with_opensm),
		cmocka_unit_test(help),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
