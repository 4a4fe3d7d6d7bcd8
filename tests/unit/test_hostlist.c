/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "hostlist.h"

static void assert_names(const char *text, const char *expected)
{
	struct hostlist_fault fault = {0};
	struct hostlist list;
	char joined[1024] = "";

	if (hostlist_expand(text, strlen(text), &list, &fault))
		fail_msg("\"%s\" at %zu: %s", text, fault.offset, fault.text);
	for (uint32_t i = 0; i < list.count; i++) {
		strncat(joined, i ? " " : "", sizeof(joined) - strlen(joined) - 1);
		strncat(joined, list.names[i], sizeof(joined) - strlen(joined) - 1);
	}
	assert_string_equal(joined, expected);
	hostlist_free(&list);
}

static void assert_fault(const char *text, size_t offset, const char *part)
{
	struct hostlist_fault fault = {0};
	struct hostlist list;

	assert_int_equal(hostlist_expand(text, strlen(text), &list, &fault), -EINVAL);
	assert_null(list.names);
	if (!strstr(fault.text, part))
		fail_msg("\"%s\": \"%s\" does not say \"%s\"", text, fault.text, part);
	assert_int_equal(fault.offset, offset);
}

static void plain_names(void **state)
{
	(void)state;
	assert_names("sm1", "sm1");
	assert_names("  sm1 ", "sm1");
	assert_names("a,b , c", "a b c");
	assert_names("10.0.0.1", "10.0.0.1");
	assert_names("fe80::1", "fe80::1");
}

static void ranges(void **state)
{
	(void)state;
	assert_names("node[8-11]", "node8 node9 node10 node11");
	assert_names("node[08-11]", "node08 node09 node10 node11");
	assert_names("node[098-101]", "node098 node099 node100 node101");
	assert_names("n[09-10],n[99-101]", "n09 n10 n99 n100 n101");
	assert_names("a[1,3-5]", "a1 a3 a4 a5");
	assert_names("a[1,03,005]", "a1 a03 a005");
	assert_names("node[1-3]-ib0", "node1-ib0 node2-ib0 node3-ib0");
	assert_names("[1-2]", "1 2");
	assert_names("a[0]", "a0");
	assert_names("a[7-7]", "a7");
}

static void several_brackets_give_the_product(void **state)
{
	(void)state;
	assert_names("r[1-2]n[1,3]x", "r1n1x r1n3x r2n1x r2n3x");
	assert_names("[1-2][0-1]", "10 11 20 21");
	assert_names("a[1-2]b[1]c[1-2],z", "a1b1c1 a1b1c2 a2b1c1 a2b1c2 z");
}

static void faults_have_places(void **state)
{
	(void)state;
	assert_fault("", 0, "a name was expected");
	assert_fault("   ", 3, "a name was expected");
	assert_fault("a,,b", 2, "a name was expected");
	assert_fault("a,", 2, "a name was expected");
	assert_fault("node[3-1]", 5, "backwards");
	assert_fault("node[1-3", 4, "not closed");
	assert_fault("node[", 4, "not closed");
	assert_fault("node[1,", 4, "not closed");
	assert_fault("node1-3]", 7, "without its '['");
	assert_fault("node[]", 5, "a number was expected");
	assert_fault("node[a]", 5, "a number was expected");
	assert_fault("node[1-]", 7, "a number was expected");
	assert_fault("node[1;2]", 6, "were expected in the brackets");
	assert_fault("node[1-2-3]", 8, "were expected in the brackets");
	assert_fault("node[[1]]", 5, "a number was expected");
	assert_fault("node[1-010]", 5, "different widths");
	assert_fault("node[1-2] x", 10, "comma");
	assert_fault("a\001b", 1, "control character");
	assert_fault("n[1-2000000]", 1, "more than 1000000");
	assert_fault("n[1-1000001]", 1, "more than 1000000");
	assert_fault("n[1-10000][1-10000]", 10, "combine to more than 1000000");
	assert_fault("n[1-600000],m[1-600000]", 12, "more than 1000000");
	assert_fault("n[1-9999999999999999]", 4, "digits");
	assert_fault("[1][1][1][1][1][1][1][1][1]", 24, "more than 8 brackets");
}

static void names_are_bounded(void **state)
{
	char text[400];

	(void)state;
	memset(text, 'x', 255);
	text[255] = '\0';
	assert_names(text, text);
	strcpy(text + 252, "[98-100]");
	assert_names("y[98-100]", "y98 y99 y100");
	memset(text, 'x', 254);
	strcpy(text + 254, "[9-10]");
	assert_fault(text, 0, "more than 255 bytes");
}

static void a_large_list(void **state)
{
	const char *text = "n[000001-1000000]";
	struct hostlist_fault fault;
	struct hostlist list;

	(void)state;
	assert_int_equal(hostlist_expand(text, strlen(text), &list, &fault), 0);
	assert_int_equal(list.count, 1000000);
	assert_string_equal(list.names[0], "n000001");
	assert_string_equal(list.names[999999], "n1000000");
	hostlist_free(&list);
}

static void text_need_not_end_in_nul(void **state)
{
	struct hostlist_fault fault;
	struct hostlist list;

	(void)state;
	assert_int_equal(hostlist_expand("a[1-2]bcd", 7, &list, &fault), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.names[1], "a2b");
	hostlist_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names),
		cmocka_unit_test(ranges),
		cmocka_unit_test(several_brackets_give_the_product),
		cmocka_unit_test(faults_have_places),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(a_large_list),
		cmocka_unit_test(text_need_not_end_in_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
