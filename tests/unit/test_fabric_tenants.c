/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several users of one node, and their MADs that are not the SA's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fabric_world.h"

#include <errno.h>
#include <string.h>

static struct acm_transport *attach_program(struct world *world, const char *name)
{
	struct acm_transport *transport;

	assert_int_equal(sim_fabric_attach_program(world->fabric, name, &transport), 0);
	return transport;
}

static void a_node_has_one_owner_and_many_programs(void **state)
{
	struct acm_transport *programs[2], *transport = NULL;
	struct world world;

	(void)state;
	world_set_up(&world, small_topology_star(2));
	programs[0] = attach_program(&world, "node1");
	world_attach(&world, 0, "node1");
	programs[1] = attach_program(&world, "node1");
	assert_int_equal(sim_fabric_attach(world.fabric, "node1", &transport), -EBUSY);
	world.nodes[0].transport->ops->destroy(world.nodes[0].transport);
	world_attach(&world, 0, "node1");
	assert_int_equal(sim_fabric_attach(world.fabric, "node1", &transport), -EBUSY);
	assert_int_equal(sim_fabric_attach_program(world.fabric, "nobody", &transport), -ENOENT);
	for (int i = 0; i < 2; i++)
		programs[i]->ops->destroy(programs[i]);
	world_tear_down(&world);
}

static void all_of_a_node_hear_of_its_ports(void **state)
{
	struct node program = {0};
	struct world world;
	uint32_t node;

	(void)state;
	world_set_up(&world, small_topology_star(2));
	world_attach(&world, 0, "node1");
	program.transport = attach_program(&world, "node1");
	assert_int_equal(program.transport->ops->start(program.transport), 0);
	world_expect(&program, ACM_EVENT_PORT_CHANGED);
	node = world.nodes[0].index;
	fake_control_port(world.control, node, 1)->lid = 33;
	fake_control_tell(world.control, SIM_CONTROL_PORT, node, 1);
	fake_control_tell(world.control, SIM_CONTROL_REREGISTER, node, 1);
	world_run(&world);
	world_expect(&program, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(program.event.port_facts->lid, 33);
	world_expect(&program, ACM_EVENT_REREGISTER);
	world_expect(&world.nodes[0], ACM_EVENT_PORT_CHANGED);
	world_expect(&world.nodes[0], ACM_EVENT_REREGISTER);
	program.transport->ops->destroy(program.transport);
	world_tear_down(&world);
}

/* Endpoint numbers are each user's own, queue pairs the fabric's. */
static void users_of_a_node_reach_each_other(void **state)
{
	struct node program = {0};
	struct acm_datagram datagram;
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	program.transport = attach_program(&world, "node1");
	program.index = world.nodes[0].index;
	world_open(&program, ACM_PKEY_DEFAULT, ACM_QKEY, 4);
	datagram = world_unicast_to(&world, 0);
	datagram.qpn = program.qpn;
	world_send(&world, 0, datagram);
	world_run(&world);
	world_expect(&program, ACM_EVENT_DATAGRAM);
	assert_int_equal(program.event.datagram.source_qpn, world.nodes[0].qpn);
	assert_int_equal(world_take_datagrams(&world, 0), 0);
	program.transport->ops->destroy(program.transport);
	/* Nobody has that queue pair any more. */
	world_send(&world, 0, datagram);
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_QP, 1);
	world_tear_down(&world);
}

static int send_mad(struct node *from, uint32_t port, uint64_t cookie)
{
	struct sim_mad_route route = {.dlid = ACM_LID_PERMISSIVE};
	uint8_t mad[ACM_MAD_LENGTH] = {1, 0x81, 1, 1};

	return sim_fabric_send_mad(from->transport, port, &route, mad, cookie);
}

static void mads_go_by_the_control(void **state)
{
	struct node *node;
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	node = &world.nodes[1];
	assert_int_equal(send_mad(node, 1, 5), -ENODEV);
	assert_int_equal(send_mad(node, 0, 5), 0);
	assert_int_equal(world.control->mad_port.node, node->index);
	assert_int_equal(world.control->mad_route.dlid, ACM_LID_PERMISSIVE);
	world_run(&world);
	world_expect(node, ACM_EVENT_SA_ANSWER);
	assert_int_equal(node->event.sa.cookie, 5);
	assert_int_equal(node->event.sa.mad[3], 0x81);
	world.control->sa_failure = -EHOSTUNREACH;
	assert_int_equal(send_mad(node, 0, 6), 0);
	world_run(&world);
	world_expect(node, ACM_EVENT_SA_FAILED);
	assert_int_equal(node->event.failed.cookie, 6);
	assert_int_equal(node->event.failed.status, -EHOSTUNREACH);
	world_tear_down(&world);
}

static void mads_are_held_back_and_cancelled_as_sa_requests(void **state)
{
	struct node *node;
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	node = &world.nodes[0];
	world.control->sa_window = 1;
	assert_int_equal(send_mad(node, 0, 1), 0);
	assert_int_equal(send_mad(node, 0, 2), -EAGAIN);
	node->transport->ops->sa_cancel(node->transport, 1);
	world_expect(node, ACM_EVENT_WRITABLE);
	assert_int_equal(send_mad(node, 0, 2), 0);
	world_run(&world);
	world_expect(node, ACM_EVENT_SA_ANSWER);
	assert_int_equal(node->event.sa.cookie, 2);
	assert_int_equal(world_stats(&world).sa_answered, 1);
	world_tear_down(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_has_one_owner_and_many_programs),
		cmocka_unit_test(all_of_a_node_hear_of_its_ports),
		cmocka_unit_test(users_of_a_node_reach_each_other),
		cmocka_unit_test(mads_go_by_the_control),
		cmocka_unit_test(mads_are_held_back_and_cancelled_as_sa_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
