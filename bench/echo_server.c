/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The yardstick: answers every REQUEST bytes on a Unix stream socket with ANSWER bytes, and does
 * nothing else. One thread, one epoll, two system calls a message.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BUFFER_SIZE 4096
#define EVENTS_MAX  512

static int fail(const char *what)
{
	fprintf(stderr, "bench_echo_server: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

static int listen_at(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(name.sun_path))
		return -1;
	memcpy(name.sun_path, path, strlen(path));
	unlink(path); /* left behind by one that was killed */
	if (bind(fd, (struct sockaddr *)&name, sizeof(name)) || listen(fd, SOMAXCONN))
		return -1;
	return fd;
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void accept_all(int epoll, int listening)
{
	int fd;

	while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		watch(epoll, fd);
}

/* A request comes in one piece from the one client there is: what does not is an end. */
static void answer(int fd, size_t request, size_t length)
{
	static uint8_t data[BUFFER_SIZE];

	if (recv(fd, data, BUFFER_SIZE, 0) != (ssize_t)request ||
	    send(fd, data, length, MSG_NOSIGNAL) != (ssize_t)length)
		close(fd);
}

int main(int argc, char **argv)
{
	size_t request = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	size_t length = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	struct epoll_event events[EVENTS_MAX];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int listening;

	if (!request || request > BUFFER_SIZE || !length || length > BUFFER_SIZE) {
		fprintf(stderr, "Usage: bench_echo_server SOCKET REQUEST-BYTES ANSWER-BYTES\n");
		return EXIT_FAILURE;
	}
	listening = listen_at(argv[1]);
	if (epoll < 0 || listening < 0)
		return fail(argv[1]);
	watch(epoll, listening);
	for (;;) {
		int count = epoll_wait(epoll, events, EVENTS_MAX, -1);

		if (count < 0 && errno != EINTR)
			return fail("epoll_wait");
		for (int i = 0; i < count; i++) {
			if (events[i].data.fd == listening)
				accept_all(epoll, listening);
			else
				answer(events[i].data.fd, request, length);
		}
	}
}
