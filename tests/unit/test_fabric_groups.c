/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transports of a whole fabric: groups, and the keys that keep strangers apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fabric_world.h"

#include <errno.h>

/* ---- multicast ---- */

static void fans_out_over_switches_without_duplicates(void **state)
{
	static const char *const names[] = {"left1",  "left2",  "left3",
					    "right1", "right2", "right3"};
	struct world world;
	uint16_t mlid = 0;

	(void)state;
	world_set_up(&world, small_topology_two_switches());
	for (int i = 0; i < WORLD_NODES; i++) {
		world_attach(&world, i, names[i]);
		world_open(&world.nodes[i], ACM_PKEY_DEFAULT, ACM_QKEY, 16);
		if (i != 2) /* left3 stays out */
			mlid = world_join(&world, i, &world_group);
	}
	for (int from = 0; from < WORLD_NODES; from++) {
		world_send(&world, from, world_multicast_to(mlid));
		world_run(&world);
		for (int i = 0; i < WORLD_NODES; i++)
			assert_int_equal(world_take_datagrams(&world, i), i != 2);
	}
	assert_int_equal(world_stats(&world).sent, 6);
	assert_int_equal(world_stats(&world).delivered, 30);
	assert_int_equal(world_stats(&world).copies, 30);
	world_tear_down(&world);
}

static void gives_the_sender_its_copy_when_attached(void **state)
{
	struct world world;
	uint16_t mlid;

	(void)state;
	world_set_up_star(&world, 2);
	mlid = world_join(&world, 0, &world_group);
	world_send(&world, 0, world_multicast_to(mlid));
	world_send(&world, 1, world_multicast_to(mlid));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 0), 2);
	assert_int_equal(world_take_datagrams(&world, 1), 0);
	assert_int_equal(world_stats(&world).copies, 2);
	assert_int_equal(world_stats(&world).multicasts, 2);
	world_tear_down(&world);
}

static void loses_a_group_that_is_not_routed(void **state)
{
	struct world world;
	struct acm_transport *transport;

	(void)state;
	world_set_up_star(&world, 2);
	transport = world.nodes[1].transport;
	assert_int_equal(transport->ops->attach(transport, 7, &world_group, 0xc005, 1), 0);
	world_expect(&world.nodes[1], ACM_EVENT_ATTACHED);
	world_send(&world, 0, world_multicast_to(0xc005));
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_ROUTE, 1);
	world_tear_down(&world);
}

static void tells_groups_of_one_mlid_apart(void **state)
{
	struct world world;
	struct acm_transport *transport;
	uint16_t mlid;

	(void)state;
	world_set_up_star(&world, 3);
	mlid = world_join(&world, 1, &world_group);
	fake_control_join(world.control, world.nodes[2].index, 1, &world_group);
	transport = world.nodes[2].transport;
	assert_int_equal(transport->ops->attach(transport, 7, &world_other_group, mlid, 1), 0);
	world_expect(&world.nodes[2], ACM_EVENT_ATTACHED);
	world_send(&world, 0, world_multicast_to(mlid));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 1);
	assert_int_equal(world_take_datagrams(&world, 2), 0);
	world_assert_drops(&world, SIM_DROP_NO_QP, 1);
	world_tear_down(&world);
}

static void stops_after_detaching(void **state)
{
	struct world world;
	struct acm_transport *transport;
	uint16_t mlid;

	(void)state;
	world_set_up_star(&world, 2);
	mlid = world_join(&world, 1, &world_group);
	transport = world.nodes[1].transport;
	assert_int_equal(transport->ops->detach(transport, 7, &world_other_group, mlid), -ENOENT);
	assert_int_equal(transport->ops->detach(transport, 7, &world_group, mlid), 0);
	assert_int_equal(transport->ops->detach(transport, 7, &world_group, mlid), -ENOENT);
	world_send(&world, 0, world_multicast_to(mlid));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 0);
	world_assert_drops(&world, SIM_DROP_NO_QP, 1);
	world_join(&world, 1, &world_group);
	world_send(&world, 0, world_multicast_to(mlid));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 1);
	world_tear_down(&world);
}

static void reaches_all_queue_pairs_of_a_port(void **state)
{
	struct world world;
	struct acm_transport *transport;
	uint16_t mlid;

	(void)state;
	world_set_up_star(&world, 2);
	mlid = world_join(&world, 1, &world_group);
	transport = world.nodes[1].transport;
	assert_int_equal(
		transport->ops->open_endpoint(transport, 8, 0, ACM_PKEY_DEFAULT, ACM_QKEY, 4), 0);
	assert_int_equal(transport->ops->attach(transport, 8, &world_group, mlid, 1), 0);
	world_expect(&world.nodes[1], ACM_EVENT_ENDPOINT_OPENED);
	world_expect(&world.nodes[1], ACM_EVENT_ATTACHED);
	world_send(&world, 0, world_multicast_to(mlid));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 2);
	world_send(&world, 1, world_multicast_to(mlid));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 2);
	assert_int_equal(world_stats(&world).copies, 4);
	world_tear_down(&world);
}

/* ---- keys ---- */

/* One full and two limited members of a partition, and one that is not in it. */
static void set_up_partition(struct world *world)
{
	char name[] = "node1";

	world_set_up(world, small_topology_parse("fabric: partition\n"
						 "switches:\n"
						 "  - { name: switch1, ports: 4 }\n"
						 "hosts:\n"
						 "  - { name: \"node[1-4]\" }\n"
						 "links:\n"
						 "  - \"node[1-4] -- switch1\"\n"
						 "partitions:\n"
						 "  - { name: storage, pkey: 0x0010, full: node1, "
						 "limited: \"node[2-3]\" }\n"));
	for (int i = 0; i < 4; i++) {
		name[4] = (char)('1' + i);
		world_attach(world, i, name);
	}
}

static void checks_partitions(void **state)
{
	struct world world;

	(void)state;
	set_up_partition(&world);
	world_open(&world.nodes[0], 0x8010, ACM_QKEY, 16);
	world_open(&world.nodes[1], 0x0010, ACM_QKEY, 16);
	world_open(&world.nodes[2], 0x0010, ACM_QKEY, 16);
	world_open(&world.nodes[3], ACM_PKEY_DEFAULT, ACM_QKEY, 16);
	world_send(&world, 0, world_unicast_to(&world, 1)); /* full to limited */
	world_send(&world, 1, world_unicast_to(&world, 0)); /* limited to full */
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 0), 1);
	assert_int_equal(world_take_datagrams(&world, 1), 1);
	world_assert_drops(&world, SIM_DROP_PKEY, 0);
	world_send(&world, 1, world_unicast_to(&world, 2)); /* both are limited */
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_PKEY, 1);
	world_send(&world, 0, world_unicast_to(&world, 3)); /* another partition */
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_PKEY, 2);
	assert_int_equal(world_take_datagrams(&world, 2), 0);
	assert_int_equal(world_take_datagrams(&world, 3), 0);
	world_tear_down(&world);
}

static void empty_pkeys_are_no_partition(void **state)
{
	struct world world;
	struct acm_transport *transport;

	(void)state;
	set_up_partition(&world);
	fake_control_port(world.control, world.nodes[0].index, 1)->pkeys[1] = 0;
	fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[0].index, 1);
	world_run(&world);
	transport = world.nodes[0].transport;
	assert_int_equal(transport->ops->open_endpoint(transport, 7, 0, 0, ACM_QKEY, 1), -ENOENT);
	assert_int_equal(transport->ops->open_endpoint(transport, 7, 0, 0x8000, ACM_QKEY, 1),
			 -ENOENT);
	assert_int_equal(transport->ops->open_endpoint(transport, 7, 0, 0x8010, ACM_QKEY, 1),
			 -ENOENT);
	/* Equality is 15 bits. */
	assert_int_equal(transport->ops->open_endpoint(transport, 7, 0, 0x7fff, ACM_QKEY, 1), 0);
	world_tear_down(&world);
}

static void sees_a_changed_pkey_table(void **state)
{
	struct world world;

	(void)state;
	set_up_partition(&world);
	world_open(&world.nodes[0], 0x8010, ACM_QKEY, 16);
	world_open(&world.nodes[1], 0x0010, ACM_QKEY, 16);
	fake_control_port(world.control, world.nodes[0].index, 1)->pkeys[1] = 0x0010;
	fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[0].index, 1);
	world_run(&world);
	world_send(&world, 0, world_unicast_to(&world, 1));
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_PKEY, 1);
	world_tear_down(&world);
}

static void checks_qkeys(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	world_set_up(&world, small_topology_star(2));
	world_attach(&world, 0, "node1");
	world_attach(&world, 1, "node2");
	world_open(&world.nodes[0], ACM_PKEY_DEFAULT, 0x222, 16);
	world_open(&world.nodes[1], ACM_PKEY_DEFAULT, 0x111, 16);
	datagram = world_unicast_to(&world, 1);
	datagram.qkey = 0x111;
	world_send(&world, 0, datagram);
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 1);
	datagram.qkey = 0x112;
	world_send(&world, 0, datagram);
	/* The top bit stands for the sender's own, which is another. */
	datagram.qkey = 0x80000111;
	world_send(&world, 0, datagram);
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 0);
	world_assert_drops(&world, SIM_DROP_QKEY, 2);
	datagram = world_unicast_to(&world, 0);
	datagram.qkey = 0x80000000;
	world_send(&world, 0, datagram);
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 0), 1);
	world_tear_down(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fans_out_over_switches_without_duplicates),
		cmocka_unit_test(gives_the_sender_its_copy_when_attached),
		cmocka_unit_test(loses_a_group_that_is_not_routed),
		cmocka_unit_test(tells_groups_of_one_mlid_apart),
		cmocka_unit_test(stops_after_detaching),
		cmocka_unit_test(reaches_all_queue_pairs_of_a_port),
		cmocka_unit_test(checks_partitions),
		cmocka_unit_test(empty_pkeys_are_no_partition),
		cmocka_unit_test(sees_a_changed_pkey_table),
		cmocka_unit_test(checks_qkeys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
