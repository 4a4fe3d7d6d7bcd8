/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The host goes by its node's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "attach_environment.h"

static int clean(void **state)
{
	(void)state;
	unsetenv(SIM_ATTACH_NODE_VARIABLE);
	return 0;
}

static void host_has_the_name_of_its_node(void **state)
{
	char name[65];
	struct utsname host, real;

	(void)state;
	assert_int_equal(syscall(SYS_uname, &real), 0);
	setenv(SIM_ATTACH_NODE_VARIABLE, "node07", 1);
	assert_int_equal(gethostname(name, sizeof(name)), 0);
	assert_string_equal(name, "node07");
	assert_int_equal(uname(&host), 0);
	assert_string_equal(host.nodename, "node07");
	assert_string_equal(host.release, real.release);
}

static void without_a_node_it_is_the_machines(void **state)
{
	char name[65];
	struct utsname real;

	(void)state;
	assert_int_equal(syscall(SYS_uname, &real), 0);
	assert_int_equal(gethostname(name, sizeof(name)), 0);
	assert_string_equal(name, real.nodename);
}

static void too_little_room_is_told(void **state)
{
	char name[8] = "abcdefg";

	(void)state;
	setenv(SIM_ATTACH_NODE_VARIABLE, "node07", 1);
	assert_int_equal(gethostname(name, 7), 0);
	assert_string_equal(name, "node07");
	memset(name, 'x', sizeof(name));
	errno = 0;
	assert_int_equal(gethostname(name, 6), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_memory_equal(name, "node07xx", 8);
	assert_int_equal(gethostname(name, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(host_has_the_name_of_its_node, clean),
		cmocka_unit_test_teardown(without_a_node_it_is_the_machines, clean),
		cmocka_unit_test_teardown(too_little_room_is_told, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
