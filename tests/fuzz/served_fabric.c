/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs on a served fabric, each with a connection of its own, and the faults that they ask for:
 * before each message a byte of choices, and two of its length.
 */
#include "served_fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach_channel.h"
#include "small_fabric.h"

#define PROGRAMS 4
/* Choices. */
#define PROGRAM 3u  /* which one says it */
#define READ    4u  /* it reads all that came, else nothing */
#define STILL   8u  /* no time passes behind the message */
#define LEAVE   16u /* the program goes away then */

static char folder[] = "/tmp/acmite-fuzz-XXXXXX";

static void remove_folder(void)
{
	rmdir(folder);
}

static struct sim_served_fabric *serve(char *path, size_t size)
{
	struct sim_served_options options;
	struct sim_served_fabric *served;
	char why[512];

	if (!*path && (!mkdtemp(folder) || atexit(remove_folder)))
		abort();
	snprintf(path, size, "%s/socket", folder);
	sim_served_options_default(&options);
	options.control = SIM_UNDER_BUILTIN;
	options.server.path = path;
	options.server.client_limit = PROGRAMS - 1;
	if (sim_served_create(small_fabric(), &options, &served, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	return served;
}

static void process(struct sim_served_fabric *served, uint64_t now)
{
	char why[512];

	if (sim_served_process(served, now, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
}

static void drain(int fd)
{
	static union sim_attach_message message;

	while (sim_channel_receive(fd, &message) == 1)
		;
}

static void say(int *fd, const char *path, uint8_t choices, const uint8_t *data, size_t length)
{
	if (*fd < 0)
		*fd = sim_channel_connect(path);
	if (*fd < 0)
		return; /* the fabric is busy */
	if (choices & READ)
		drain(*fd);
	(void)!send(*fd, data, length, MSG_NOSIGNAL);
	if (!(choices & LEAVE))
		return;
	close(*fd);
	*fd = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	struct sim_served_fabric *served = serve(path, sizeof(path));
	int fds[PROGRAMS] = {-1, -1, -1, -1};
	uint64_t now = 0, next;

	while (size >= 3) {
		uint8_t choices = data[0];
		size_t length = (size_t)(data[1] | data[2] << 8);

		data += 3;
		size -= 3;
		if (length > size)
			length = size;
		say(&fds[choices & PROGRAM], path, choices, data, length);
		data += length;
		size -= length;
		process(served, now); /* takes the connection ... */
		process(served, now); /* ... and what came by it */
		next = sim_served_deadline(served);
		if (!(choices & STILL) && next != ACM_NEVER && next > now)
			now = next;
		process(served, now);
	}
	sim_served_destroy(served);
	for (int i = 0; i < PROGRAMS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return 0;
}
