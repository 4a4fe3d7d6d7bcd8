/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Usage: hostile_programs SOCKET version|garbage|reckless|crowd
 *        hostile_programs SOCKET unread|silent|fill NODE
 * Misbehaves at a fabric server. Exit 0: the server did to it what docs/attach.md says. The last
 * three say READY and keep it up until standard input ends.
 */
#include "attach_channel.h"
#include "attach_welcome.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 20000
#define CROWD       1100 /* more than the server lets in */

static const char *path;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

static int join_server(void)
{
	int fd = sim_channel_connect(path);

	while (fd == -EAGAIN) {
		poll(NULL, 0, 1);
		fd = sim_channel_connect(path);
	}
	if (fd < 0)
		fail("cannot connect: %s", strerror(-fd));
	return fd;
}

static int be_welcome(enum sim_attach_role role, const char *node)
{
	struct sim_attach_welcome welcome;
	char why[SIM_ATTACH_TEXT + 256];
	int fd = sim_attach_welcome(path, role, node, PATIENCE_MS, &welcome, why, sizeof(why));

	if (fd < 0)
		fail("%s", why);
	return fd;
}

/* What comes before the end must be REFUSED with this status. */
static void expect_refused(int fd, int status)
{
	union sim_attach_message message;
	int received = sim_attach_await(fd, &message, PATIENCE_MS);

	while (received == 1 && message.header.type != SIM_ATTACH_REFUSED)
		received = sim_attach_await(fd, &message, PATIENCE_MS);
	if (received != 1)
		fail("no refusal came: %s", strerror(-received));
	if (message.refused.status != status)
		fail("refused with %d, not %d: %s", message.refused.status, status,
		     message.refused.text);
	puts(message.refused.text);
	received = sim_attach_await(fd, &message, PATIENCE_MS);
	if (received != -EPIPE)
		fail("the connection is not closed: %d", received);
	close(fd);
}

/* ---- what they do ---- */

static void version(void)
{
	struct sim_attach_hello hello = {.header.type = SIM_ATTACH_HELLO,
					 .magic = SIM_ATTACH_MAGIC,
					 .version = SIM_ATTACH_VERSION + 1,
					 .role = SIM_ATTACH_OBSERVER};
	int fd = join_server();

	if (sim_channel_send(fd, &hello))
		fail("HELLO cannot be sent");
	expect_refused(fd, -EPROTO);
}

static void say(int fd, const void *bytes, size_t length)
{
	if (send(fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
		fail("%zu bytes cannot be sent: %s", length, strerror(errno));
}

/* As first words, and from one who is welcome. */
static void garbage(void)
{
	union sim_attach_message message;

	for (size_t length = 1; length <= sizeof(message); length += length < 700 ? 7 : 1000) {
		int fd = join_server();

		memset(&message, (int)(length * 31 & 0xff), sizeof(message));
		say(fd, &message, length);
		expect_refused(fd, -EPROTO);
	}
	for (uint32_t type = 0; type < 100; type++) {
		int fd = be_welcome(SIM_ATTACH_PROGRAM, "node07");

		memset(&message, 0xff, sizeof(message));
		message.header.type = type;
		say(fd, &message, sizeof(message.header) + type);
		if (type != SIM_ATTACH_START)
			expect_refused(fd, -EPROTO);
		else
			close(fd);
	}
	for (uint32_t role = 0; role < 5; role += 4) {
		int fd = join_server();

		if (sim_channel_hello(fd, role, "node07"))
			fail("HELLO cannot be sent");
		expect_refused(fd, -EINVAL);
	}
}

static void put(int fd, const void *message)
{
	struct pollfd polled = {.fd = fd, .events = POLLOUT};
	union sim_attach_message read;
	int error;

	while ((error = sim_channel_send(fd, message)) == -EAGAIN) {
		while (sim_channel_receive(fd, &read) == 1)
			;
		poll(&polled, 1, 1);
	}
	if (error)
		fail("a message of type %u cannot be sent: %s",
		     ((const struct sim_attach_header *)message)->type, strerror(-error));
}

/* Well-formed, and senseless; everything at once. */
static void ask_for_too_much(int fd)
{
	struct sim_attach_open open = {.header.type = SIM_ATTACH_OPEN, .pkey = 0xffff};
	struct sim_attach_close close_none = {.header.type = SIM_ATTACH_CLOSE, .endpoint = 99999};
	struct sim_attach_qp_group join = {.header.type = SIM_ATTACH_JOIN_QP, .mlid = 0xc001};
	struct sim_attach_mad mad = {.header.type = SIM_ATTACH_SA_SEND};
	struct sim_attach_status cancel = {.header.type = SIM_ATTACH_MAD_CANCEL};
	struct sim_attach_send send = {.header.type = SIM_ATTACH_SEND, .length = 3};

	for (uint32_t i = 0; i < 6000; i++) {
		open.endpoint = join.endpoint = i % 1000;
		open.port = i % 3;
		open.recv_depth = i % 5 ? 64 : UINT32_MAX;
		join.header.type = i % 2 ? SIM_ATTACH_JOIN_QP : SIM_ATTACH_PART_QP;
		join.mgid.raw[0] = i % 7 ? 0xff : 0;
		join.mgid.raw[14] = (uint8_t)(i >> 8);
		join.mgid.raw[15] = (uint8_t)i;
		mad.cookie = cancel.cookie = i;
		mad.header.type = i % 2 ? SIM_ATTACH_SA_SEND : SIM_ATTACH_MAD_SEND;
		mad.port = i % 4;
		mad.dlid = (uint16_t)(i * 77);
		mad.qpn = i % 3;
		mad.pkey_index = (uint16_t)(i % 200);
		memset(mad.mad, (int)i & 0xff, sizeof(mad.mad));
		send.endpoint = i % 1000;
		send.dlid = (uint16_t)(i * 13);
		send.qpn = i * 7919;
		put(fd, &open);
		put(fd, &join);
		put(fd, &mad);
		put(fd, &send);
		if (i % 3 == 0)
			put(fd, &cancel);
		if (i % 11 == 0)
			put(fd, &close_none);
	}
}

static void reckless(void)
{
	struct sim_attach_show show = {.header.type = SIM_ATTACH_SHOW, .table = 77};
	union sim_attach_message message;
	int fd = be_welcome(SIM_ATTACH_PROGRAM, "node07"), received;

	ask_for_too_much(fd);
	put(fd, &show);
	do
		received = sim_attach_await(fd, &message, PATIENCE_MS);
	while (received == 1 && message.header.type != SIM_ATTACH_RESULT);
	if (received != 1 || message.status.status != -EINVAL)
		fail("the server does not go on with what is right");
	close(fd);
	fd = be_welcome(SIM_ATTACH_OBSERVER, "");
	put(fd, &(struct sim_attach_open){.header.type = SIM_ATTACH_OPEN});
	expect_refused(fd, -EPROTO);
}

static void crowd(void)
{
	struct rlimit limit;
	static int fds[CROWD];
	union sim_attach_message message;
	int refused = 0;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max < CROWD + 16)
		fail("too few descriptors: %lu", (unsigned long)limit.rlim_max);
	for (int i = 0; i < CROWD; i++) {
		fds[i] = join_server();
		sim_channel_hello(fds[i], SIM_ATTACH_PROGRAM, "node07");
	}
	for (int i = 0; i < CROWD; i++) {
		if (sim_attach_await(fds[i], &message, PATIENCE_MS) != 1)
			fail("connection %d is not answered", i);
		if (message.header.type == SIM_ATTACH_REFUSED) {
			refused++;
			if (message.refused.status != -EUSERS)
				fail("refused: %s", message.refused.text);
		}
	}
	printf("%d of %d refused\n", refused, CROWD);
	if (!refused || refused > CROWD / 2)
		fail("not as many as expected");
}

/* ---- what they keep up ---- */

__attribute__((noreturn)) static void keep_up(void)
{
	puts("READY and at it");
	fflush(stdout);
	for (;;)
		pause();
}

/* Sends to itself all that the server takes, and never reads. */
static void unread(const char *node)
{
	struct sim_attach_open open = {
		.header.type = SIM_ATTACH_OPEN, .qkey = 1, .recv_depth = 65536, .pkey = 0xffff};
	struct sim_attach_send message = {
		.header.type = SIM_ATTACH_SEND, .qkey = 1, .length = ACM_DATAGRAM_MAX};
	union sim_attach_message received;
	struct sim_attach_header start = {.type = SIM_ATTACH_START};
	int fd = be_welcome(SIM_ATTACH_PROGRAM, node);
	struct pollfd polled = {.fd = fd, .events = POLLOUT};

	put(fd, &start);
	put(fd, &open);
	while (!message.qpn || !message.dlid) {
		if (sim_attach_await(fd, &received, PATIENCE_MS) != 1)
			fail("no endpoint is opened");
		if (received.header.type == SIM_ATTACH_OPENED)
			message.qpn = received.opened.qpn;
		if (received.header.type == SIM_ATTACH_PORT)
			message.dlid = received.port.facts.lid;
	}
	/* The server stops reading when it has something that is not read. */
	do
		while (!sim_channel_send(fd, &message))
			;
	while (poll(&polled, 1, 500) > 0);
	keep_up();
}

static void silent(const char *node)
{
	join_server();
	be_welcome(SIM_ATTACH_PROGRAM, node);
	keep_up();
}

/* Takes all places that there are. */
static void fill(const char *node)
{
	union sim_attach_message message;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	do {
		int fd = join_server();

		sim_channel_hello(fd, SIM_ATTACH_PROGRAM, node);
		if (sim_attach_await(fd, &message, PATIENCE_MS) != 1)
			fail("a connection is not answered");
	} while (message.header.type == SIM_ATTACH_WELCOME);
	if (message.header.type != SIM_ATTACH_REFUSED || message.refused.status != -EMFILE)
		fail("refused: %s", message.refused.text);
	keep_up();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
		void (*run_on)(const char *node);
	} kinds[] = {{"version", version, NULL},   {"garbage", garbage, NULL},
		     {"reckless", reckless, NULL}, {"crowd", crowd, NULL},
		     {"unread", NULL, unread},     {"silent", NULL, silent},
		     {"fill", NULL, fill}};

	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[2], kinds[i].name))
			continue;
		path = argv[1];
		if (kinds[i].run)
			kinds[i].run();
		else if (argc > 3)
			kinds[i].run_on(argv[3]);
		return 0;
	}
	fprintf(stderr, "usage: hostile_programs SOCKET KIND [NODE]\n");
	return 2;
}
