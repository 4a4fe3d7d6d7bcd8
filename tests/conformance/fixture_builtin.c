/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fixture.h"

#include "fabric.h"
#include "builtin_control.h"
#include "small_topology.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define STEP ACM_NSEC_PER_USEC

struct builtin_fabric {
	struct sim_topology *topology;
	struct sim_fabric *fabric;
	uint64_t now;
};

static void *set_up(void)
{
	struct builtin_fabric *made = calloc(1, sizeof(*made));
	struct sim_builtin_options options;
	struct sim_control *control;
	char why[256];

	assert_non_null(made);
	made->topology = small_topology_star(2);
	sim_builtin_options_default(&options);
	options.sa_window = 50; /* so that the suite meets its end */
	assert_int_equal(
		sim_builtin_control_create(made->topology, &options, &control, why, sizeof(why)),
		0);
	assert_int_equal(sim_fabric_create(made->topology, control, 1, &made->fabric), 0);
	return made;
}

static void tear_down(void *context)
{
	struct builtin_fabric *fabric = context;

	sim_fabric_destroy(fabric->fabric);
	sim_topology_free(fabric->topology);
	free(fabric);
}

static void attach(void *context, struct acm_transport *nodes[2])
{
	struct builtin_fabric *fabric = context;

	assert_int_equal(sim_fabric_attach(fabric->fabric, "node1", &nodes[0]), 0);
	assert_int_equal(sim_fabric_attach(fabric->fabric, "node2", &nodes[1]), 0);
}

static bool wait_for_work(void *context)
{
	struct builtin_fabric *fabric = context;
	uint64_t next = sim_fabric_deadline(fabric->fabric);

	if (next == ACM_NEVER)
		return false;
	/* Who waits spends some time on it: or else what is sent and comes back at once would stop
	 * it. */
	fabric->now = next > fabric->now + STEP ? next : fabric->now + STEP;
	assert_int_equal(sim_fabric_process(fabric->fabric, fabric->now), 0);
	return true;
}

const struct fixture builtin_fixture = {
	.name = "simulated fabric, builtin control",
	.set_up = set_up,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};
