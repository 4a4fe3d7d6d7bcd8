/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct ends {
	char folder[64];
	char path[80];
	int listener;
	int client;
	int server;
};

static int set_up(void **state)
{
	static struct ends ends;
	char why[256] = "";

	ends = (struct ends){.folder = "/tmp/acmite-channel-XXXXXX"};
	assert_non_null(mkdtemp(ends.folder));
	snprintf(ends.path, sizeof(ends.path), "%s/socket", ends.folder);
	ends.listener = sim_channel_listen(ends.path, 0600, why, sizeof(why));
	if (ends.listener < 0)
		fail_msg("%s", why);
	ends.client = sim_channel_connect(ends.path);
	assert_true(ends.client >= 0);
	ends.server = sim_channel_accept(ends.listener);
	assert_true(ends.server >= 0);
	*state = &ends;
	return 0;
}

static int tear_down(void **state)
{
	struct ends *ends = *state;

	close(ends->listener);
	close(ends->client);
	close(ends->server);
	unlink(ends->path);
	rmdir(ends->folder);
	return 0;
}

static void carries_messages_whole(void **state)
{
	struct ends *ends = *state;
	struct sim_attach_send send = {
		.header.type = SIM_ATTACH_SEND, .cookie = 7, .length = 3, .payload = "abc"};
	struct sim_attach_send most = {.header.type = SIM_ATTACH_SEND, .length = ACM_DATAGRAM_MAX};
	static union sim_attach_message message;

	assert_int_equal(sim_channel_receive(ends->server, &message), 0);
	assert_int_equal(sim_channel_hello(ends->client, SIM_ATTACH_OWNER, "node01"), 0);
	assert_int_equal(sim_channel_send(ends->client, &send), 0);
	assert_int_equal(sim_channel_send(ends->client, &most), 0);
	assert_int_equal(sim_channel_receive(ends->server, &message), 1);
	assert_int_equal(message.header.type, SIM_ATTACH_HELLO);
	assert_int_equal(message.hello.magic, SIM_ATTACH_MAGIC);
	assert_int_equal(message.hello.version, SIM_ATTACH_VERSION);
	assert_string_equal(message.hello.node, "node01");
	assert_int_equal(sim_channel_receive(ends->server, &message), 1);
	assert_int_equal(message.send.cookie, 7);
	assert_memory_equal(message.send.payload, "abc", 3);
	assert_int_equal(sim_channel_receive(ends->server, &message), 1);
	assert_int_equal(message.send.length, ACM_DATAGRAM_MAX);
	assert_int_equal(sim_channel_receive(ends->server, &message), 0);
}

static void refuses_to_send_what_is_no_message(void **state)
{
	struct ends *ends = *state;
	struct sim_attach_send send = {.header.type = SIM_ATTACH_SEND,
				       .length = ACM_DATAGRAM_MAX + 1};
	struct sim_attach_header none = {.type = 40};
	char name[SIM_ATTACH_NAME + 1];

	memset(name, 'n', sizeof(name));
	name[SIM_ATTACH_NAME] = 0;
	assert_int_equal(sim_channel_send(ends->client, &send), -EINVAL);
	assert_int_equal(sim_channel_send(ends->client, &none), -EINVAL);
	assert_int_equal(sim_channel_hello(ends->client, SIM_ATTACH_OWNER, name), -ENAMETOOLONG);
}

static void expect_refused(struct ends *ends, const void *bytes, size_t length)
{
	static union sim_attach_message message;

	assert_int_equal(send(ends->client, bytes, length, 0), (ssize_t)length);
	assert_int_equal(sim_channel_receive(ends->server, &message), -EPROTO);
}

static void takes_nothing_short_long_or_unknown(void **state)
{
	struct ends *ends = *state;
	struct sim_attach_send some = {.header.type = SIM_ATTACH_SEND, .length = 9};
	struct sim_attach_header unknown = {.type = 0xffffffff}, gap = {.type = 50};
	static union sim_attach_message larger[2];
	static union sim_attach_message message;

	expect_refused(ends, "x", 1);
	expect_refused(ends, &unknown, sizeof(unknown));
	expect_refused(ends, &gap, sizeof(gap));
	expect_refused(ends, &some, offsetof(struct sim_attach_send, payload) + 8);
	expect_refused(ends, &some, offsetof(struct sim_attach_send, length));
	some.length = ACM_DATAGRAM_MAX + 1;
	expect_refused(ends, &some, sizeof(some));
	larger[0].header.type = SIM_ATTACH_HELLO;
	expect_refused(ends, larger, sizeof(struct sim_attach_hello) + 1);
	expect_refused(ends, larger, sizeof(larger));
	/* And what comes next is read as ever. */
	assert_int_equal(sim_channel_hello(ends->client, SIM_ATTACH_PROGRAM, "a"), 0);
	assert_int_equal(sim_channel_receive(ends->server, &message), 1);
}

static void takes_nothing_that_counts_too_far(void **state)
{
	struct ends *ends = *state;
	struct sim_attach_port port = {.header.type = SIM_ATTACH_PORT};
	struct sim_attach_address address = {.header.type = SIM_ATTACH_ADDRESS};
	static union sim_attach_message message;

	port.facts.lmc = 8;
	expect_refused(ends, &port, sizeof(port));
	port.facts.lmc = 7;
	port.facts.gid_count = ACM_PORT_GIDS_MAX + 1;
	expect_refused(ends, &port, sizeof(port));
	port.facts.gid_count = ACM_PORT_GIDS_MAX;
	port.facts.pkey_count = ACM_PORT_PKEYS_MAX + 1;
	expect_refused(ends, &port, sizeof(port));
	port.facts.pkey_count = ACM_PORT_PKEYS_MAX;
	assert_int_equal(sim_channel_send(ends->client, &port), 0);
	assert_int_equal(sim_channel_receive(ends->server, &message), 1);
	address.address.length = ACM_ADDRESS_MAX + 1;
	expect_refused(ends, &address, sizeof(address));
}

static void ends_texts(void **state)
{
	struct ends *ends = *state;
	struct sim_attach_hello hello = {.header.type = SIM_ATTACH_HELLO};
	static union sim_attach_message message;

	memset(hello.node, 'x', sizeof(hello.node));
	assert_int_equal(sim_channel_send(ends->client, &hello), 0);
	assert_int_equal(sim_channel_receive(ends->server, &message), 1);
	assert_int_equal(strlen(message.hello.node), SIM_ATTACH_NAME - 1);
}

static void says_when_it_is_full_and_when_it_is_over(void **state)
{
	struct ends *ends = *state;
	struct sim_attach_header start = {.type = SIM_ATTACH_START};
	struct pollfd room = {.events = POLLOUT};
	static union sim_attach_message message;
	int error, sent = 0;

	while (!(error = sim_channel_send(ends->client, &start)))
		sent++;
	assert_int_equal(error, -EAGAIN);
	assert_true(sent > 10);
	for (int i = 0; i < sent; i++)
		assert_int_equal(sim_channel_receive(ends->server, &message), 1);
	assert_int_equal(sim_channel_receive(ends->server, &message), 0);
	room.fd = ends->client;
	assert_int_equal(poll(&room, 1, 0), 1);
	close(ends->server);
	ends->server = -1;
	assert_int_equal(sim_channel_send(ends->client, &start), -EPIPE);
	assert_int_equal(sim_channel_receive(ends->client, &message), -EPIPE);
}

static void hears_the_last_word_of_one_who_did_not_listen(void **state)
{
	struct ends *ends = *state;
	struct sim_attach_refused refused = {.header.type = SIM_ATTACH_REFUSED, .text = "no"};
	struct sim_attach_header start = {.type = SIM_ATTACH_START};
	static union sim_attach_message message;

	assert_int_equal(sim_channel_send(ends->client, &start), 0);
	assert_int_equal(sim_channel_send(ends->server, &refused), 0);
	close(ends->server);
	ends->server = -1;
	assert_int_equal(sim_channel_receive(ends->client, &message), 1);
	assert_string_equal(message.refused.text, "no");
	assert_int_equal(sim_channel_receive(ends->client, &message), -EPIPE);
}

static void replaces_dead_sockets_only(void **state)
{
	struct ends *ends = *state;
	char why[256] = "";
	struct stat status;
	int fd;

	assert_int_equal(stat(ends->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(sim_channel_listen(ends->path, 0600, why, sizeof(why)), -EADDRINUSE);
	assert_non_null(strstr(why, "is in use"));
	close(ends->listener);
	ends->listener = -1;
	assert_int_equal(sim_channel_connect(ends->path), -ECONNREFUSED);
	fd = sim_channel_listen(ends->path, 0660, why, sizeof(why));
	assert_true(fd >= 0);
	assert_int_equal(stat(ends->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	close(fd);
	unlink(ends->path);
	assert_int_equal(sim_channel_connect(ends->path), -ENOENT);
	/* Whatever else is there stays. */
	fd = open(ends->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sim_channel_listen(ends->path, 0600, why, sizeof(why)), -EEXIST);
	assert_non_null(strstr(why, "is not a socket"));
	assert_int_equal(stat(ends->path, &status), 0);
}

static void paths_have_a_length(void **state)
{
	char path[200], why[256] = "";

	(void)state;
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = 0;
	assert_int_equal(sim_channel_listen(path, 0600, why, sizeof(why)), -ENAMETOOLONG);
	assert_int_equal(sim_channel_connect(path), -ENAMETOOLONG);
	assert_int_equal(sim_channel_connect(""), -ENAMETOOLONG);
}

static void the_remedy_is_that_of_the_error(void **state)
{
	char why[256];

	(void)state;
	sim_channel_explain("/f.sock", -ENOENT, why, sizeof(why));
	assert_non_null(strstr(why, "acmite fabric serve starts one"));
	sim_channel_explain("/f.sock", -EACCES, why, sizeof(why));
	assert_non_null(strstr(why, "/f.sock: Permission denied; the --mode"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(carries_messages_whole),
		TEST(refuses_to_send_what_is_no_message),
		TEST(takes_nothing_short_long_or_unknown),
		TEST(takes_nothing_that_counts_too_far),
		TEST(ends_texts),
		TEST(says_when_it_is_full_and_when_it_is_over),
		TEST(hears_the_last_word_of_one_who_did_not_listen),
		TEST(replaces_dead_sockets_only),
		cmocka_unit_test(paths_have_a_length),
		cmocka_unit_test(the_remedy_is_that_of_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
