/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs of programs, through a real ibsim: subnet management by directed route and by LID, the SA.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <acmite/bytes.h>
#include "fabric.h"
#include "ibsim_control.h"
#include "ibsim_protocol.h"
#include "small_topology.h"

#include <acmite/wire.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PATIENCE (20 * ACM_NSEC_PER_SEC)

struct rig {
	struct sim_topology *topology;
	struct sim_control *control;
	struct sim_fabric *fabric;
	struct acm_transport *program;
	struct acm_port_facts facts; /* of node1 */
	struct acm_event event;
};

static uint64_t monotonic_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

static int set_up(void **state)
{
	static struct rig rig;
	struct sim_ibsim_options options;
	char why[1024];

	rig = (struct rig){.topology = small_topology_star(2)};
	sim_ibsim_options_default(&options);
	if (sim_ibsim_control_create(rig.topology, &options, &rig.control, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(sim_fabric_create(rig.topology, rig.control, 1, &rig.fabric), 0);
	assert_int_equal(sim_fabric_attach_program(rig.fabric, "node1", &rig.program), 0);
	assert_int_equal(rig.program->ops->start(rig.program), 0);
	assert_int_equal(rig.program->ops->next_event(rig.program, &rig.event), 1);
	rig.facts = *rig.event.port_facts;
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	rig->program->ops->destroy(rig->program);
	sim_fabric_destroy(rig->fabric);
	sim_topology_free(rig->topology);
	return 0;
}

/* What became of the MAD with this cookie. */
static void await(struct rig *rig, enum acm_event_type type, uint64_t cookie)
{
	uint64_t end = monotonic_now() + PATIENCE;

	while (monotonic_now() < end) {
		struct pollfd fd = {.fd = sim_fabric_fd(rig->fabric), .events = POLLIN};

		while (rig->program->ops->next_event(rig->program, &rig->event)) {
			if (rig->event.type == ACM_EVENT_PORT_CHANGED ||
			    rig->event.type == ACM_EVENT_REREGISTER)
				continue;
			assert_int_equal(rig->event.type, type);
			assert_int_equal(type == ACM_EVENT_SA_ANSWER ? rig->event.sa.cookie
								     : rig->event.failed.cookie,
					 cookie);
			return;
		}
		poll(&fd, 1, 5);
		assert_int_equal(sim_fabric_process(rig->fabric, monotonic_now()), 0);
	}
	fail_msg("no answer came");
}

static void by_directed_route(void **state)
{
	static const uint8_t to_switch[] = {0, 1};
	struct sim_mad_route route = {.dlid = ACM_LID_PERMISSIVE};
	struct rig *rig = *state;
	uint8_t mad[ACM_MAD_LENGTH];
	const uint8_t *data;

	ibsim_encode_smp(IBSIM_PORT_INFO, 0, NULL, 0, mad);
	assert_int_equal(sim_fabric_send_mad(rig->program, 0, &route, mad, 1), 0);
	await(rig, ACM_EVENT_SA_ANSWER, 1);
	data = ibsim_smp_data(rig->event.sa.mad);
	assert_non_null(data);
	assert_int_equal(load_be16(data + 16), rig->facts.lid);
	ibsim_encode_smp(IBSIM_SWITCH_INFO, 0, to_switch, 1, mad);
	assert_int_equal(sim_fabric_send_mad(rig->program, 0, &route, mad, 2), 0);
	await(rig, ACM_EVENT_SA_ANSWER, 2);
	assert_non_null(ibsim_smp_data(rig->event.sa.mad));
	route.qpn = 1;
	assert_int_equal(sim_fabric_send_mad(rig->program, 0, &route, mad, 3), -EINVAL);
}

static void by_lid(void **state)
{
	struct rig *rig = *state;
	struct sim_port_ref other = {.node = sim_topology_find(rig->topology, "node2"), .port = 1};
	struct acm_port_facts facts;
	struct sim_mad_route route = {.qpn = 0};
	uint8_t mad[ACM_MAD_LENGTH];

	assert_int_equal(rig->control->ops->port_facts(rig->control, other, &facts), 0);
	ibsim_encode_smp(IBSIM_PORT_INFO, 0, NULL, 0, mad);
	mad[1] = 0x01; /* subnet management by LID */
	route.dlid = facts.lid;
	assert_int_equal(sim_fabric_send_mad(rig->program, 0, &route, mad, 1), 0);
	await(rig, ACM_EVENT_SA_ANSWER, 1);
	assert_non_null(ibsim_smp_data(rig->event.sa.mad));
	assert_int_equal(load_be16(ibsim_smp_data(rig->event.sa.mad) + 16), facts.lid);
}

static void to_the_sa(void **state)
{
	struct rig *rig = *state;
	struct acm_path path = {.sgid = rig->facts.gids[0],
				.dgid = rig->facts.gids[0],
				.path_count = 1,
				.reversible = true};
	struct sim_mad_route route = {.qpn = 1, .dlid = rig->facts.sm_lid};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_sa_encode_path_get(&path, 5, mad);
	assert_int_equal(sim_fabric_send_mad(rig->program, 0, &route, mad, 4), 0);
	await(rig, ACM_EVENT_SA_ANSWER, 4);
	assert_int_equal(acm_sa_decode_path(rig->event.sa.mad, rig->event.sa.length, &path), 0);
	assert_int_equal(path.dlid, rig->facts.lid);
}

static void cancelled_ones_have_no_answer(void **state)
{
	struct sim_mad_route route = {.dlid = ACM_LID_PERMISSIVE};
	struct rig *rig = *state;
	uint8_t mad[ACM_MAD_LENGTH];

	ibsim_encode_smp(IBSIM_PORT_INFO, 0, NULL, 0, mad);
	assert_int_equal(sim_fabric_send_mad(rig->program, 0, &route, mad, 1), 0);
	rig->program->ops->sa_cancel(rig->program, 1);
	assert_int_equal(sim_fabric_send_mad(rig->program, 0, &route, mad, 2), 0);
	await(rig, ACM_EVENT_SA_ANSWER, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_directed_route),
		cmocka_unit_test(by_lid),
		cmocka_unit_test(to_the_sa),
		cmocka_unit_test(cancelled_ones_have_no_answer),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
