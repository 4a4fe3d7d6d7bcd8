/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric server in a thread of its own, in real time, and transports over its socket. */
#include "fixture.h"

#include "attached_transport.h"
#include "builtin_control.h"
#include "fabric_server.h"
#include "fake_control.h"
#include "small_topology.h"

#include <poll.h>
#include <pthread.h>
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
#define SA_WINDOW   50 /* so that the suite meets its end */

struct attached_fabric {
	struct sim_topology *topology;
	struct sim_fabric *fabric;
	struct sim_fabric_server *server;
	char folder[64];
	char path[80];
	int stop_fd;
	pthread_t thread;
	int error;  /* of the thread */
	int fds[2]; /* of the transports */
};

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static void *serve(void *context)
{
	struct attached_fabric *fabric = context;
	struct pollfd fds[2] = {{.fd = sim_fabric_server_fd(fabric->server), .events = POLLIN},
				{.fd = fabric->stop_fd, .events = POLLIN}};

	do {
		uint64_t deadline, now;
		struct timespec wait = {0};

		fabric->error = sim_fabric_server_process(fabric->server, monotonic_now());
		deadline = sim_fabric_server_deadline(fabric->server);
		now = monotonic_now();
		if (deadline > now) {
			wait.tv_sec = (time_t)((deadline - now) / ACM_NSEC_PER_SEC);
			wait.tv_nsec = (long)((deadline - now) % ACM_NSEC_PER_SEC);
		}
		ppoll(fds, 2, deadline == ACM_NEVER ? NULL : &wait, NULL);
	} while (!fabric->error && !fds[1].revents);
	return NULL;
}

static struct attached_fabric *make(void)
{
	struct attached_fabric *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->topology = small_topology_star(2);
	strcpy(made->folder, "/tmp/acmite-attached-XXXXXX");
	assert_non_null(mkdtemp(made->folder));
	snprintf(made->path, sizeof(made->path), "%s/socket", made->folder);
	return made;
}

static void *run(struct attached_fabric *made, struct sim_control *control)
{
	struct sim_fabric_server_options options;
	char why[256] = "";

	assert_int_equal(sim_fabric_create(made->topology, control, 1, &made->fabric), 0);
	sim_fabric_server_options_default(&options);
	options.path = made->path;
	if (sim_fabric_server_create(made->topology, made->fabric, &options, &made->server, why,
				     sizeof(why)))
		fail_msg("%s", why);
	made->stop_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(made->stop_fd >= 0);
	assert_int_equal(pthread_create(&made->thread, NULL, serve, made), 0);
	return made;
}

static void *set_up_builtin(void)
{
	struct attached_fabric *made = make();
	struct sim_builtin_options options;
	struct sim_control *control;
	char why[256];

	sim_builtin_options_default(&options);
	options.sa_window = SA_WINDOW;
	assert_int_equal(
		sim_builtin_control_create(made->topology, &options, &control, why, sizeof(why)),
		0);
	return run(made, control);
}

static void *set_up_fake(void)
{
	struct attached_fabric *made = make();
	struct fake_control *control = fake_control_create(made->topology);

	control->sa_window = SA_WINDOW;
	return run(made, &control->base);
}

static void tear_down(void *context)
{
	struct attached_fabric *fabric = context;
	uint64_t one = 1;

	assert_int_equal(write(fabric->stop_fd, &one, sizeof(one)), sizeof(one));
	assert_int_equal(pthread_join(fabric->thread, NULL), 0);
	assert_int_equal(fabric->error, 0);
	close(fabric->stop_fd);
	sim_fabric_server_destroy(fabric->server);
	assert_int_equal(access(fabric->path, F_OK), -1);
	sim_fabric_destroy(fabric->fabric);
	sim_topology_free(fabric->topology);
	assert_int_equal(rmdir(fabric->folder), 0);
	free(fabric);
}

static void attach(void *context, struct acm_transport *nodes[2])
{
	struct attached_fabric *fabric = context;

	for (int i = 0; i < 2; i++) {
		struct acm_transport_caps caps;
		int error;

		assert_int_equal(sim_attached_create(fabric->path, SIM_ATTACH_OWNER,
						     i ? "node2" : "node1", &nodes[i]),
				 0);
		sim_attached_connect(nodes[i]);
		if (sim_attached_await(nodes[i], PATIENCE_MS, -1) != SIM_ATTACHED_READY)
			fail_msg("%s", sim_attached_failure(nodes[i], &error));
		nodes[i]->ops->capabilities(nodes[i], &caps);
		fabric->fds[i] = caps.fd;
	}
}

static bool wait_for_work(void *context)
{
	const struct attached_fabric *fabric = context;
	struct pollfd fds[2] = {{.fd = fabric->fds[0], .events = POLLIN},
				{.fd = fabric->fds[1], .events = POLLIN}};

	return poll(fds, 2, PATIENCE_MS) > 0;
}

const struct fixture attached_builtin_fixture = {
	.name = "attached to a fabric server, builtin control",
	.set_up = set_up_builtin,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};

const struct fixture attached_fake_fixture = {
	.name = "attached to a fabric server, fake control",
	.set_up = set_up_fake,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};
