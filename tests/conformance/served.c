/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "served.h"

#include "attached_transport.h"
#include "builtin_control.h"
#include "fabric_server.h"
#include "fake_control.h"
#include "small_topology.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PATIENCE_MS 20000
/* After which it may make a difference to send again what was lost. */
#define MOMENT_MS 10

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static void *serve(void *context)
{
	struct served *served = context;
	struct pollfd fds[2] = {{.fd = sim_fabric_server_fd(served->server), .events = POLLIN},
				{.fd = served->stop_fd, .events = POLLIN}};

	do {
		uint64_t deadline, now;
		struct timespec wait = {0};

		served->error = sim_fabric_server_process(served->server, monotonic_now());
		deadline = sim_fabric_server_deadline(served->server);
		now = monotonic_now();
		if (deadline > now) {
			wait.tv_sec = (time_t)((deadline - now) / ACM_NSEC_PER_SEC);
			wait.tv_nsec = (long)((deadline - now) % ACM_NSEC_PER_SEC);
		}
		ppoll(fds, 2, deadline == ACM_NEVER ? NULL : &wait, NULL);
	} while (!served->error && !fds[1].revents);
	return NULL;
}

struct served *served_create(void)
{
	struct served *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->topology = small_topology_star(2);
	strcpy(made->folder, "/tmp/acmite-attached-XXXXXX");
	assert_non_null(mkdtemp(made->folder));
	snprintf(made->path, sizeof(made->path), "%s/socket", made->folder);
	return made;
}

void served_run(struct served *served, struct sim_control *control)
{
	struct sim_fabric_server_options options;
	char why[256] = "";

	assert_int_equal(sim_fabric_create(served->topology, control, 1, &served->fabric), 0);
	sim_fabric_server_options_default(&options);
	options.path = served->path;
	if (sim_fabric_server_create(served->topology, served->fabric, &options, &served->server,
				     why, sizeof(why)))
		fail_msg("%s", why);
	served->stop_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(served->stop_fd >= 0);
	assert_int_equal(pthread_create(&served->thread, NULL, serve, served), 0);
}

void served_destroy(struct served *served)
{
	uint64_t one = 1;

	assert_int_equal(write(served->stop_fd, &one, sizeof(one)), sizeof(one));
	assert_int_equal(pthread_join(served->thread, NULL), 0);
	assert_int_equal(served->error, 0);
	close(served->stop_fd);
	sim_fabric_server_destroy(served->server);
	assert_int_equal(access(served->path, F_OK), -1);
	sim_fabric_destroy(served->fabric);
	sim_topology_free(served->topology);
	assert_int_equal(rmdir(served->folder), 0); /* and nothing was left in it */
	free(served);
}

struct sim_control *served_builtin_control(struct served *served)
{
	struct sim_builtin_options options;
	struct sim_control *control;
	char why[256];

	sim_builtin_options_default(&options);
	options.sa_window = SERVED_SA_WINDOW;
	assert_int_equal(
		sim_builtin_control_create(served->topology, &options, &control, why, sizeof(why)),
		0);
	return control;
}

struct sim_control *served_fake_control(struct served *served)
{
	struct fake_control *control = fake_control_create(served->topology);

	control->sa_window = SERVED_SA_WINDOW;
	return &control->base;
}

struct sim_control *served_ibsim_control(struct served *served)
{
	struct sim_ibsim_options options;
	struct sim_control *control;
	char why[1024];

	sim_ibsim_options_default(&options);
	options.scratch = served->folder;
	if (sim_ibsim_control_create(served->topology, &options, &control, why, sizeof(why)))
		fail_msg("the fabric does not come up: %s", why);
	return control;
}

struct acm_transport *served_attach(struct served *served, const char *node)
{
	struct acm_transport *transport;
	int error;

	assert_int_equal(sim_attached_create(served->path, SIM_ATTACH_OWNER, node, &transport), 0);
	sim_attached_connect(transport);
	if (sim_attached_await(transport, PATIENCE_MS, -1) != SIM_ATTACHED_READY)
		fail_msg("%s", sim_attached_failure(transport, &error));
	return transport;
}

bool served_wait(const int fds[2])
{
	struct pollfd polled[2] = {{.fd = fds[0], .events = POLLIN},
				   {.fd = fds[1], .events = POLLIN}};

	poll(polled, 2, MOMENT_MS);
	return true;
}
