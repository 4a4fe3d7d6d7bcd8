/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a program says to a fabric server: before each message a byte of choices, and two of its
 * length.
 */
#include "fabric_client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "builtin_control.h"
#include "scenario.h"
#include "small_fabric.h"

/* Choices. */
#define READ  1u /* the program reads all that came, else nothing */
#define STILL 2u /* no time passes behind the message */

static void wake(void *context, struct sim_fabric_client *client)
{
	(void)context;
	(void)client;
}

static bool reap(void *context, uint32_t node)
{
	(void)context;
	(void)node;
	return false;
}

static int read_fault(void *context, const char *text, char *why, size_t size)
{
	struct sim_fault_plan plan;
	struct sim_errors errors;
	int error = sim_fault_plan_parse(small_fabric(), text, strlen(text), &plan, &errors);

	(void)context;
	snprintf(why, size, "%s", errors.count ? errors.lines[0] : "");
	if (error)
		sim_errors_free(&errors);
	else
		sim_fault_plan_free(&plan);
	return error;
}

static struct sim_fabric *make_fabric(void)
{
	struct sim_builtin_options options;
	struct sim_control *control;
	struct sim_fabric *fabric;
	char why[256];

	sim_builtin_options_default(&options);
	options.sa_window = 2;
	if (sim_builtin_control_create(small_fabric(), &options, &control, why, sizeof(why)) ||
	    sim_fabric_create(small_fabric(), control, 1, &fabric))
		abort();
	return fabric;
}

static void drain(int fd)
{
	static union sim_attach_message message;

	while (sim_channel_receive(fd, &message) == 1)
		;
}

static void advance(struct sim_fabric *fabric)
{
	uint64_t next = sim_fabric_deadline(fabric);

	if (next != ACM_NEVER && sim_fabric_process(fabric, next))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const bool stopped[64];
	struct sim_fabric *fabric = make_fabric();
	struct sim_fabric_host host = {.fabric = fabric,
				       .topology = small_fabric(),
				       .stopped = stopped,
				       .wake = wake,
				       .reap = reap,
				       .fault = read_fault};
	struct sim_fabric_client *client;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds))
		abort();
	client = sim_fabric_client_create(&host, fds[0], 0);
	if (!client)
		abort();
	while (size >= 3 && !client->error) {
		uint8_t choices = data[0];
		size_t length = (size_t)(data[1] | data[2] << 8);

		data += 3;
		size -= 3;
		if (length > size)
			length = size;
		if (choices & READ)
			drain(fds[1]);
		(void)!send(fds[1], data, length, MSG_NOSIGNAL);
		data += length;
		size -= length;
		/* Turns are bounded: what is more stays for the next message, or is left. */
		sim_fabric_client_run(client);
		if (!(choices & STILL))
			advance(fabric);
		if (!client->error)
			sim_fabric_client_run(client);
	}
	sim_fabric_client_destroy(client);
	sim_fabric_destroy(fabric);
	close(fds[1]);
	return 0;
}
