/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <resolve_arguments.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define WORDS_MAX 24

static char why[400];

/* Splits `line` at blanks; "''" is an empty word. */
static int parse(const char *line, struct resolve_arguments *arguments)
{
	static char text[1024];
	char *argv[WORDS_MAX] = {"resolve"};
	int argc = 1;

	assert_true(strlen(line) < sizeof(text));
	strcpy(text, line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		assert_true(argc < WORDS_MAX - 1);
		argv[argc++] = strcmp(word, "''") ? word : word + 2;
	}
	why[0] = '\0';
	return resolve_arguments_parse(argc, argv, arguments, why, sizeof(why));
}

static void expect_address(const char *text, enum address_format format, uint8_t type,
			   uint8_t length, const void *data)
{
	struct acm_address address;

	why[0] = '\0';
	if (address_text_parse(text, format, &address, why, sizeof(why)))
		fail_msg("'%s' was refused: %s", text, why);
	if (address.type != type)
		fail_msg("'%s' was taken for type %u, not %u", text, address.type, type);
	assert_int_equal(address.length, length);
	assert_memory_equal(address.data, data, length);
}

static void expect_refusal(const char *text, enum address_format format)
{
	struct acm_address address;

	why[0] = '\0';
	if (address_text_parse(text, format, &address, why, sizeof(why)) != -EINVAL)
		fail_msg("'%s' was taken", text);
	assert_true(strlen(why) > 10);
	assert_null(strchr(why, '\n'));
}

static void test_told_apart(void **state)
{
	static const uint8_t ip6[16] = {0xfd, [15] = 2};
	static const uint8_t gid[16] = {0xfe, 0x80, [8] = 0x02, 0xac, 0, 1, 0, 2, 0, 3};

	(void)state;
	expect_address("node02", ADDRESS_FORMAT_ANY, ACM_ADDRESS_NAME, 6, "node02");
	expect_address("Node02", ADDRESS_FORMAT_ANY, ACM_ADDRESS_NAME, 6, "node02");
	expect_address("node-02.cluster", ADDRESS_FORMAT_ANY, ACM_ADDRESS_NAME, 15,
		       "node-02.cluster");
	expect_address("dead", ADDRESS_FORMAT_ANY, ACM_ADDRESS_NAME, 4, "dead");
	expect_address("10.0.0.2", ADDRESS_FORMAT_ANY, ACM_ADDRESS_IP, 4, "\x0a\x00\x00\x02");
	expect_address("fd00::2", ADDRESS_FORMAT_ANY, ACM_ADDRESS_IP6, 16, ip6);
	expect_address("fe80::2ac:1:2:3", ADDRESS_FORMAT_ANY, ACM_ADDRESS_GID, 16, gid);
	expect_address("17", ADDRESS_FORMAT_ANY, ACM_ADDRESS_LID, 2, "\x00\x11");
	expect_address("010", ADDRESS_FORMAT_ANY, ACM_ADDRESS_LID, 2, "\x00\x0a");
	expect_address("0x11", ADDRESS_FORMAT_ANY, ACM_ADDRESS_LID, 2, "\x00\x11");
	expect_address("49151", ADDRESS_FORMAT_ANY, ACM_ADDRESS_LID, 2, "\xbf\xff");
	expect_address("0xBFFF", ADDRESS_FORMAT_ANY, ACM_ADDRESS_LID, 2, "\xbf\xff");
}

static void test_link_local_that_is_no_gid(void **state)
{
	static const uint8_t small[16] = {0xfe, 0x80, [15] = 1};
	static const uint8_t ethernet[16] = {0xfe, 0x80, [8] = 0x02, 0x11, 0x22,
					     0xff, 0xfe, 0x33,       0x44, 0x55};

	(void)state;
	expect_address("fe80::1", ADDRESS_FORMAT_ANY, ACM_ADDRESS_IP6, 16, small);
	expect_address("fe80::211:22ff:fe33:4455", ADDRESS_FORMAT_ANY, ACM_ADDRESS_IP6, 16,
		       ethernet);
}

static void test_format_decides(void **state)
{
	static const uint8_t ip6[16] = {0xfd, [15] = 2};
	static const uint8_t gid[16] = {0xfe, 0x80, [8] = 0x02, 0xac, 0, 1, 0, 2, 0, 3};

	(void)state;
	expect_address("fd00::2", ADDRESS_FORMAT_GID, ACM_ADDRESS_GID, 16, ip6);
	expect_address("fe80::2ac:1:2:3", ADDRESS_FORMAT_IP, ACM_ADDRESS_IP6, 16, gid);
	expect_address("17", ADDRESS_FORMAT_NAME, ACM_ADDRESS_NAME, 2, "17");
	expect_address("10.0.0.2", ADDRESS_FORMAT_NAME, ACM_ADDRESS_NAME, 8, "10.0.0.2");
	expect_address("a:b", ADDRESS_FORMAT_NAME, ACM_ADDRESS_NAME, 3, "a:b");
	expect_refusal("node02", ADDRESS_FORMAT_IP);
	expect_refusal("node02", ADDRESS_FORMAT_GID);
	expect_refusal("node02", ADDRESS_FORMAT_LID);
	expect_refusal("10.0.0.2", ADDRESS_FORMAT_GID);
}

static void test_refused_addresses(void **state)
{
	static const char *const texts[] = {
		"",
		"0",
		"0x0",
		"49152",
		"0xc000",
		"0xffff",
		"99999999999999999999999",
		"0x",
		"0x1g",
		"10.0.0.300",
		"10.0.0",
		"1.2.3.4.5",
		"fd00::zz",
		"fe80::1::2",
		"node\t1",
		"a\x01"
		"b",
	};
	char name[ACM_ADDRESS_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect_refusal(texts[i], ADDRESS_FORMAT_ANY);
	expect_refusal("-1", ADDRESS_FORMAT_LID);
	expect_refusal("+1", ADDRESS_FORMAT_LID);
	expect_refusal(" 1", ADDRESS_FORMAT_LID);
	memset(name, 'n', sizeof(name));
	name[ACM_ADDRESS_MAX + 1] = '\0';
	expect_refusal(name, ADDRESS_FORMAT_ANY);
	name[ACM_ADDRESS_MAX] = '\0';
	expect_address(name, ADDRESS_FORMAT_ANY, ACM_ADDRESS_NAME, ACM_ADDRESS_MAX, name);
}

static void test_format_letters(void **state)
{
	enum address_format format = ADDRESS_FORMAT_ANY;

	(void)state;
	assert_true(address_format_parse("n", &format));
	assert_int_equal(format, ADDRESS_FORMAT_NAME);
	assert_true(address_format_parse("i", &format));
	assert_int_equal(format, ADDRESS_FORMAT_IP);
	assert_true(address_format_parse("g", &format));
	assert_int_equal(format, ADDRESS_FORMAT_GID);
	assert_true(address_format_parse("l", &format));
	assert_int_equal(format, ADDRESS_FORMAT_LID);
	assert_false(address_format_parse("", &format));
	assert_false(address_format_parse("x", &format));
	assert_false(address_format_parse("ni", &format));
}

static void test_defaults(void **state)
{
	struct resolve_arguments arguments;

	(void)state;
	assert_int_equal(parse("-d node02", &arguments), 0);
	assert_null(arguments.socket);
	assert_int_equal(arguments.timeout_ms, 30000);
	assert_int_equal(arguments.repetitions, 1);
	assert_int_equal(arguments.source.type, ACM_ADDRESS_NONE);
	assert_false(arguments.json || arguments.cached_only || arguments.query_sa ||
		     arguments.help);
	assert_int_equal(arguments.destination_count, 1);
	assert_string_equal(arguments.destinations[0].text, "node02");
	resolve_arguments_free(&arguments);
}

static void test_all_options(void **state)
{
	struct resolve_arguments arguments;

	(void)state;
	assert_int_equal(
		parse("-S /x/y -s 3 -d 0x4 --json -c -C 5 --timeout 1.5 -f l -- 6", &arguments), 0);
	assert_string_equal(arguments.socket, "/x/y");
	assert_int_equal(arguments.timeout_ms, 1500);
	assert_int_equal(arguments.repetitions, 5);
	assert_int_equal(arguments.source.type, ACM_ADDRESS_LID);
	assert_true(arguments.json && arguments.cached_only && !arguments.query_sa);
	assert_int_equal(arguments.destination_count, 2);
	assert_string_equal(arguments.destinations[0].text, "0x4");
	assert_string_equal(arguments.destinations[1].text, "6");
	resolve_arguments_free(&arguments);
	assert_int_equal(parse("--help", &arguments), 0);
	assert_true(arguments.help);
	resolve_arguments_free(&arguments);
}

static void test_ranges(void **state)
{
	struct resolve_arguments arguments;

	(void)state;
	assert_int_equal(parse("-d node[02-04,9] 10.0.0.[1-2] a,b 7", &arguments), 0);
	assert_int_equal(arguments.destination_count, 9);
	assert_string_equal(arguments.destinations[0].text, "node02");
	assert_string_equal(arguments.destinations[2].text, "node04");
	assert_string_equal(arguments.destinations[3].text, "node9");
	assert_string_equal(arguments.destinations[5].text, "10.0.0.2");
	assert_int_equal(arguments.destinations[5].address.type, ACM_ADDRESS_IP);
	assert_string_equal(arguments.destinations[7].text, "b");
	assert_int_equal(arguments.destinations[8].address.type, ACM_ADDRESS_LID);
	resolve_arguments_free(&arguments);
}

static void test_refused_lines(void **state)
{
	static const struct {
		const char *line;
		const char *told;
	} cases[] = {
		{"", "destination"},
		{"-d", "'-d'"},
		{"-d ''", "empty"},
		{"-d a -s ''", "empty"},
		{"-d a -f", "'-f'"},
		{"-d a -f x", "'x'"},
		{"-d a -X", "'-X'"},
		{"-d a --nonsense", "'--nonsense'"},
		{"-d a --json=1", "'--json'"},
		{"-d a -C 0", "'0'"},
		{"-d a -C many", "'many'"},
		{"-d a -C -1", "'-1'"},
		{"-d a --timeout 0", "'0'"},
		{"-d a --timeout 1.2.3", "'1.2.3'"},
		{"-d a --timeout -1", "'-1'"},
		{"-d a -c -q", "-c and -q"},
		{"-d 70000", "'70000'"},
		{"-d node[5-2]", "'node[5-2]'"},
		{"-d node[1-", "'node[1-'"},
		{"-d a -s 4", "'a'"},
		{"-d 4 -s a", "'4'"},
		{"-d a,4 -s b", "'4'"},
		{"-d a -d 10.0.0.2 -f i", "'a'"},
	};
	struct resolve_arguments arguments;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].line, &arguments) != -EINVAL)
			fail_msg("'%s' was taken", cases[i].line);
		if (!strstr(why, cases[i].told))
			fail_msg("'%s': \"%s\" does not tell %s", cases[i].line, why,
				 cases[i].told);
		assert_null(strchr(why, '\n'));
		resolve_arguments_free(&arguments);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_apart),
		cmocka_unit_test(test_link_local_that_is_no_gid),
		cmocka_unit_test(test_format_decides),
		cmocka_unit_test(test_refused_addresses),
		cmocka_unit_test(test_format_letters),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all_options),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_refused_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
