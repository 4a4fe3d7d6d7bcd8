/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "listeners.h"
#include "lock_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct scratch {
	char folder[64];
	char socket[80];
	char port[90];
	char lock[90];
	struct options options;
	struct listeners listeners;
	char why[512];
};

static int make_scratch(void **state)
{
	struct scratch *scratch = calloc(1, sizeof(*scratch));

	strcpy(scratch->folder, "/tmp/acmite-test-listen-XXXXXX");
	if (!mkdtemp(scratch->folder))
		return -1;
	snprintf(scratch->socket, sizeof(scratch->socket), "%s/sock", scratch->folder);
	snprintf(scratch->port, sizeof(scratch->port), "%s.port", scratch->socket);
	snprintf(scratch->lock, sizeof(scratch->lock), "%s/lock", scratch->folder);
	options_default(&scratch->options);
	*state = scratch;
	return 0;
}

static int remove_scratch(void **state)
{
	struct scratch *scratch = *state;

	unlink(scratch->socket);
	unlink(scratch->port);
	unlink(scratch->lock);
	assert_int_equal(rmdir(scratch->folder), 0);
	free(scratch);
	return 0;
}

static int open_at(struct scratch *scratch)
{
	return listeners_open(&scratch->listeners, scratch->socket, &scratch->options, scratch->why,
			      sizeof(scratch->why));
}

static int connect_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -errno;
	}
	return fd;
}

static bool exists(const char *path)
{
	struct stat status;

	return !lstat(path, &status);
}

static void test_serves_and_cleans_up(void **state)
{
	struct scratch *scratch = *state;
	struct stat status;
	int fd;

	assert_int_equal(open_at(scratch), 0);
	assert_int_equal(stat(scratch->socket, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0666);
	fd = connect_unix(scratch->socket);
	assert_true(fd >= 0);
	close(fd);
	assert_false(exists(scratch->port));
	listeners_close(&scratch->listeners);
	assert_false(exists(scratch->socket));
}

static void test_mode(void **state)
{
	struct scratch *scratch = *state;
	struct stat status;

	scratch->options.socket_mode = 0600;
	assert_int_equal(open_at(scratch), 0);
	assert_int_equal(stat(scratch->socket, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	listeners_close(&scratch->listeners);
}

static void test_live_socket_is_refused(void **state)
{
	struct scratch *scratch = *state;
	struct listeners second;

	assert_int_equal(open_at(scratch), 0);
	assert_int_equal(listeners_open(&second, scratch->socket, &scratch->options, scratch->why,
					sizeof(scratch->why)),
			 -EADDRINUSE);
	assert_non_null(strstr(scratch->why, "is in use"));
	assert_non_null(strstr(scratch->why, scratch->socket));
	/* And unharmed. */
	close(connect_unix(scratch->socket));
	assert_true(exists(scratch->socket));
	listeners_close(&scratch->listeners);
}

static void test_stale_socket_is_replaced(void **state)
{
	struct scratch *scratch = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, scratch->socket);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	listen(fd, 1);
	close(fd);
	assert_true(exists(scratch->socket));
	assert_int_equal(open_at(scratch), 0);
	fd = connect_unix(scratch->socket);
	assert_true(fd >= 0);
	close(fd);
	listeners_close(&scratch->listeners);
}

static void test_other_files_are_left_alone(void **state)
{
	struct scratch *scratch = *state;

	close(open(scratch->socket, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(open_at(scratch), -EEXIST);
	assert_true(exists(scratch->socket));
	unlink(scratch->socket);
	assert_int_equal(symlink("nowhere", scratch->socket), 0);
	assert_int_equal(open_at(scratch), -EEXIST);
	assert_true(exists(scratch->socket));
}

/* Somebody else's socket, put there meanwhile, is not removed. */
static void test_removes_only_its_own(void **state)
{
	struct scratch *scratch = *state;

	assert_int_equal(open_at(scratch), 0);
	unlink(scratch->socket);
	close(open(scratch->socket, O_CREAT | O_WRONLY, 0600));
	listeners_close(&scratch->listeners);
	assert_true(exists(scratch->socket));
}

static void test_bad_paths(void **state)
{
	struct scratch *scratch = *state;
	char path[200];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(listeners_open(&scratch->listeners, path, &scratch->options, scratch->why,
					sizeof(scratch->why)),
			 -ENAMETOOLONG);
	assert_int_equal(listeners_open(&scratch->listeners, "/nonexistent/a", &scratch->options,
					scratch->why, sizeof(scratch->why)),
			 -ENOENT);
	assert_non_null(strstr(scratch->why, "/nonexistent/a"));
}

static uint16_t published_port(const struct scratch *scratch)
{
	char text[16] = "";
	FILE *in = fopen(scratch->port, "r");

	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	fclose(in);
	assert_non_null(strchr(text, '\n'));
	return (uint16_t)atoi(text);
}

static int connect_tcp(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void test_tcp(void **state)
{
	static const enum server_mode modes[] = {SERVER_LOOP, SERVER_OPEN};
	struct scratch *scratch = *state;

	scratch->options.server_port = 0;
	for (size_t i = 0; i < 2; i++) {
		struct stat status;

		scratch->options.server_mode = modes[i];
		assert_int_equal(open_at(scratch), 0);
		assert_int_not_equal(scratch->listeners.port, 0);
		assert_int_equal(published_port(scratch), scratch->listeners.port);
		assert_int_equal(stat(scratch->port, &status), 0);
		assert_int_equal(status.st_mode & 0022, 0);
		close(connect_tcp(scratch->listeners.port));
		listeners_close(&scratch->listeners);
		assert_false(exists(scratch->port));
	}
}

static void test_tcp_port_in_use(void **state)
{
	struct scratch *scratch = *state;
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	scratch->options.server_mode = SERVER_LOOP;
	scratch->options.server_port = ntohs(address.sin_port);
	assert_int_equal(open_at(scratch), -EADDRINUSE);
	assert_false(exists(scratch->socket));
	close(fd);
}

static void test_stale_port_file_goes(void **state)
{
	struct scratch *scratch = *state;

	close(open(scratch->port, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(open_at(scratch), 0);
	assert_false(exists(scratch->port));
	listeners_close(&scratch->listeners);
}

/* ---- the lock file ---- */

static void test_lock_is_exclusive(void **state)
{
	struct scratch *scratch = *state;
	struct lock_file lock;
	struct lock_file second;
	char text[64];
	FILE *in;

	/* What an earlier run left is longer than what this one writes. */
	in = fopen(scratch->lock, "w");
	fputs("123456789012345\n123456789012345\n", in);
	fclose(in);
	assert_int_equal(lock_file_take(&lock, scratch->lock, scratch->why, sizeof(scratch->why)),
			 0);
	in = fopen(scratch->lock, "r");
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	assert_int_equal(atol(text), getpid());
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(lock_file_take(&second, scratch->lock, scratch->why, sizeof(scratch->why)),
			 -EBUSY);
	assert_non_null(strstr(scratch->why, "is in use"));
	lock_file_release(&second);
	assert_true(exists(scratch->lock));
	lock_file_release(&lock);
	assert_false(exists(scratch->lock));
	assert_int_equal(lock_file_take(&second, scratch->lock, scratch->why, sizeof(scratch->why)),
			 0);
	lock_file_release(&second);
}

static void test_lock_of_a_dead_process(void **state)
{
	struct scratch *scratch = *state;
	struct lock_file lock;
	pid_t child = fork();
	int status;

	if (!child)
		_exit(lock_file_take(&lock, scratch->lock, scratch->why, sizeof(scratch->why)) ? 1
											       : 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(exists(scratch->lock));
	assert_int_equal(lock_file_take(&lock, scratch->lock, scratch->why, sizeof(scratch->why)),
			 0);
	lock_file_release(&lock);
}

static void test_lock_does_not_follow_links(void **state)
{
	struct scratch *scratch = *state;
	struct lock_file lock;

	assert_int_equal(symlink("target", scratch->lock), 0);
	assert_int_equal(lock_file_take(&lock, scratch->lock, scratch->why, sizeof(scratch->why)),
			 -ELOOP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_serves_and_cleans_up),
		TEST(test_mode),
		TEST(test_live_socket_is_refused),
		TEST(test_stale_socket_is_replaced),
		TEST(test_other_files_are_left_alone),
		TEST(test_removes_only_its_own),
		TEST(test_bad_paths),
		TEST(test_tcp),
		TEST(test_tcp_port_in_use),
		TEST(test_stale_port_file_goes),
		TEST(test_lock_is_exclusive),
		TEST(test_lock_of_a_dead_process),
		TEST(test_lock_does_not_follow_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
