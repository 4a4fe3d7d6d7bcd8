/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attach_welcome.h"
#include "real_time.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_MS 10 /* before a server is tried again whose queue of connections is full */

int sim_attach_await(int fd, union sim_attach_message *message, int timeout_ms)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	uint64_t until = sim_real_time() + (uint64_t)timeout_ms * ACM_NSEC_PER_MSEC;
	int received = sim_channel_receive(fd, message), left;

	while (received == 0 && (left = sim_real_time_left_ms(until)) > 0) {
		if (poll(&polled, 1, left) < 0 && errno != EINTR)
			return -errno;
		received = sim_channel_receive(fd, message);
	}
	return received ? received : -ETIMEDOUT;
}

void sim_attach_explain(const char *path, int error, char *why, size_t size)
{
	if (error == -ETIMEDOUT)
		snprintf(why, size,
			 "the fabric server at %s does not answer; it is stopped (kill -CONT has "
			 "it go"
			 " on), or has too much to do",
			 path);
	else if (error == -EPROTO)
		snprintf(why, size,
			 "what answers at %s is no fabric server of attach protocol %u; use"
			 " programs of one release",
			 path, SIM_ATTACH_VERSION);
	else if (error == -EPIPE)
		snprintf(why, size,
			 "the fabric server at %s has closed the connection; acmite fabric serve"
			 " starts one",
			 path);
	else
		snprintf(why, size, "the fabric server at %s cannot be heard: %s", path,
			 strerror(-error));
}

static int connect_patiently(const char *path, int timeout_ms)
{
	uint64_t until = sim_real_time() + (uint64_t)timeout_ms * ACM_NSEC_PER_MSEC;
	int fd = sim_channel_connect(path);

	while (fd == -EAGAIN && sim_real_time() < until) {
		poll(NULL, 0, PAUSE_MS);
		fd = sim_channel_connect(path);
	}
	return fd;
}

static int be_welcome(int fd, const char *path, int timeout_ms, struct sim_attach_welcome *welcome,
		      char *why, size_t size)
{
	union sim_attach_message message;
	int received = sim_attach_await(fd, &message, timeout_ms);

	if (received < 0) {
		sim_attach_explain(path, received, why, size);
		return received;
	}
	if (message.header.type == SIM_ATTACH_REFUSED) {
		snprintf(why, size, "%s", message.refused.text);
		return message.refused.status < 0 ? message.refused.status : -ECONNREFUSED;
	}
	if (message.header.type != SIM_ATTACH_WELCOME ||
	    message.welcome.version != SIM_ATTACH_VERSION) {
		sim_attach_explain(path, -EPROTO, why, size);
		return -EPROTO;
	}
	*welcome = message.welcome;
	return 0;
}

int sim_attach_greet(int fd, const char *path, enum sim_attach_role role, const char *node,
		     int timeout_ms, struct sim_attach_welcome *welcome, char *why, size_t size)
{
	int error = sim_channel_hello(fd, role, node);

	if (!error || error == -EPIPE) /* one that has gone may have said why */
		return be_welcome(fd, path, timeout_ms, welcome, why, size);
	snprintf(why, size, "node '%s' cannot be asked for: %s", node, strerror(-error));
	return error;
}

int sim_attach_welcome(const char *path, enum sim_attach_role role, const char *node,
		       int timeout_ms, struct sim_attach_welcome *welcome, char *why, size_t size)
{
	int fd = connect_patiently(path, timeout_ms), error;

	if (fd == -EAGAIN) /* as many as may wait for it do */
		sim_attach_explain(path, -ETIMEDOUT, why, size);
	else if (fd < 0)
		sim_channel_explain(path, fd, why, size);
	if (fd < 0)
		return fd;
	error = sim_attach_greet(fd, path, role, node, timeout_ms, welcome, why, size);
	if (!error)
		return fd;
	close(fd);
	return error;
}
