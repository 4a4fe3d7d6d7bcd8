/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fixture.h"

#include "fabric.h"
#include "fake_control.h"
#include "small_topology.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct fake_fabric {
	struct sim_topology *topology;
	struct sim_fabric *fabric;
};

static void *set_up(void)
{
	struct fake_fabric *made = calloc(1, sizeof(*made));
	struct fake_control *control;

	assert_non_null(made);
	made->topology = small_topology_star(2);
	control = fake_control_create(made->topology);
	control->sa_window = 50; /* so that the suite meets its end */
	assert_int_equal(sim_fabric_create(made->topology, &control->base, 1, &made->fabric), 0);
	return made;
}

static void tear_down(void *context)
{
	struct fake_fabric *fabric = context;

	sim_fabric_destroy(fabric->fabric);
	sim_topology_free(fabric->topology);
	free(fabric);
}

static void attach(void *context, struct acm_transport *nodes[2])
{
	struct fake_fabric *fabric = context;

	assert_int_equal(sim_fabric_attach(fabric->fabric, "node1", &nodes[0]), 0);
	assert_int_equal(sim_fabric_attach(fabric->fabric, "node2", &nodes[1]), 0);
}

static bool wait_for_work(void *context)
{
	struct fake_fabric *fabric = context;
	uint64_t next = sim_fabric_deadline(fabric->fabric);

	if (next == ACM_NEVER)
		return false;
	assert_int_equal(sim_fabric_process(fabric->fabric, next), 0);
	return true;
}

const struct fixture fake_fixture = {
	.name = "simulated fabric, fake control",
	.set_up = set_up,
	.tear_down = tear_down,
	.attach = attach,
	.wait = wait_for_work,
};
