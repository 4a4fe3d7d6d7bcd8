/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attach_welcome.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 30000
#define PAUSE_MS    10 /* before a server is tried again whose queue of connections is full */

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int sim_attach_await(int fd, union sim_attach_message *message, int timeout_ms)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	int64_t until = now_ms() + timeout_ms, left = timeout_ms;
	int received = sim_channel_receive(fd, message);

	while (received == 0 && left > 0) {
		if (poll(&polled, 1, (int)left) < 0 && errno != EINTR)
			return -errno;
		received = sim_channel_receive(fd, message);
		left = until - now_ms();
	}
	return received ? received : -ETIMEDOUT;
}

static int connect_patiently(const char *path)
{
	int64_t until = now_ms() + PATIENCE_MS;
	int fd = sim_channel_connect(path);

	while (fd == -EAGAIN && now_ms() < until) {
		poll(NULL, 0, PAUSE_MS);
		fd = sim_channel_connect(path);
	}
	return fd;
}

static int be_welcome(int fd, struct sim_attach_welcome *welcome, char *why, size_t size)
{
	union sim_attach_message message;
	int received = sim_attach_await(fd, &message, PATIENCE_MS);

	if (received < 0) {
		snprintf(why, size, "the fabric server does not answer: %s", strerror(-received));
		return received;
	}
	if (message.header.type == SIM_ATTACH_REFUSED) {
		snprintf(why, size, "%s", message.refused.text);
		return message.refused.status < 0 ? message.refused.status : -ECONNREFUSED;
	}
	if (message.header.type != SIM_ATTACH_WELCOME ||
	    message.welcome.version != SIM_ATTACH_VERSION) {
		snprintf(why, size, "what answers is not a fabric server of this version");
		return -EPROTO;
	}
	*welcome = message.welcome;
	return 0;
}

int sim_attach_welcome(const char *path, enum sim_attach_role role, const char *node,
		       struct sim_attach_welcome *welcome, char *why, size_t size)
{
	int fd = connect_patiently(path), error;

	if (fd < 0) {
		sim_channel_explain(path, fd, why, size);
		return fd;
	}
	error = sim_channel_hello(fd, role, node);
	if (error)
		snprintf(why, size, "node '%s' cannot be asked for: %s", node, strerror(-error));
	else
		error = be_welcome(fd, welcome, why, size);
	if (!error)
		return fd;
	close(fd);
	return error;
}
