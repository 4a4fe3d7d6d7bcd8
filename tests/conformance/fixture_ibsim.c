/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fixture.h"

#include "fabric.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PATIENCE_MS 20000

struct ibsim_fabric {
	struct sim_topology *topology;
	struct sim_fabric *fabric;
	char scratch[64];
};

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static void *set_up(void)
{
	struct ibsim_fabric *made = calloc(1, sizeof(*made));
	struct sim_ibsim_options options;
	struct sim_control *control;
	struct sim_errors errors;
	char why[1024];

	assert_non_null(made);
	snprintf(made->scratch, sizeof(made->scratch), "/tmp/acmite-test-XXXXXX");
	assert_non_null(mkdtemp(made->scratch));
	if (sim_topology_load(SOURCE_DIR "/topologies/pair.yaml", &made->topology, &errors))
		fail_msg("%s", errors.lines[0]);
	sim_ibsim_options_default(&options);
	options.scratch = made->scratch;
	if (sim_ibsim_control_create(made->topology, &options, &control, why, sizeof(why)))
		fail_msg("the fabric does not come up: %s", why);
	assert_int_equal(sim_fabric_create(made->topology, control, 1, &made->fabric), 0);
	return made;
}

static void tear_down(void *context)
{
	struct ibsim_fabric *fabric = context;

	sim_fabric_destroy(fabric->fabric);
	sim_topology_free(fabric->topology);
	assert_int_equal(rmdir(fabric->scratch), 0); /* and nothing was left in it */
	free(fabric);
}

static void attach(void *context, struct acm_transport *nodes[2])
{
	struct ibsim_fabric *fabric = context;

	assert_int_equal(sim_fabric_attach(fabric->fabric, "node1", &nodes[0]), 0);
	assert_int_equal(sim_fabric_attach(fabric->fabric, "node2", &nodes[1]), 0);
}

static bool wait_for_work(void *context)
{
	struct ibsim_fabric *fabric = context;
	struct pollfd fd = {.fd = sim_fabric_fd(fabric->fabric), .events = POLLIN};
	uint64_t next = sim_fabric_deadline(fabric->fabric), now = monotonic_now();
	int timeout_ms = PATIENCE_MS, ready;

	if (next <= now)
		timeout_ms = 0;
	else if (next - now < PATIENCE_MS * ACM_NSEC_PER_MSEC)
		timeout_ms = (int)((next - now) / ACM_NSEC_PER_MSEC) + 1;
	ready = poll(&fd, 1, timeout_ms);
	if (sim_fabric_process(fabric->fabric, monotonic_now()))
		fail_msg("%s", sim_fabric_failure(fabric->fabric));
	return ready > 0 || timeout_ms < PATIENCE_MS;
}

const struct fixture ibsim_fixture = {
	.name = "simulated fabric, ibsim and OpenSM",
	.set_up = set_up,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};
