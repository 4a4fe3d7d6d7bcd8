/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transports of a whole fabric: unicast, ports, buffers, faults, the SA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fabric_world.h"

#include "queue_pair.h"

#include <errno.h>

/* ---- attaching nodes ---- */

static void hands_out_each_host_once(void **state)
{
	struct acm_transport *transport = NULL;
	struct world world;

	(void)state;
	world_set_up(&world, small_topology_star(2));
	world_attach(&world, 0, "node1");
	assert_int_equal(sim_fabric_attach(world.fabric, "node1", &transport), -EBUSY);
	assert_int_equal(sim_fabric_attach(world.fabric, "nobody", &transport), -ENOENT);
	assert_int_equal(sim_fabric_attach(world.fabric, "switch1", &transport), -ENODEV);
	assert_null(transport);
	world.nodes[0].transport->ops->destroy(world.nodes[0].transport);
	world_attach(&world, 0, "node1");
	world_tear_down(&world);
}

/* ---- unicast ---- */

static void carries_a_datagram(void **state)
{
	struct world world;
	struct acm_datagram datagram;
	const struct acm_datagram_received *got = &world.nodes[1].event.datagram;

	(void)state;
	world_set_up_star(&world, 3);
	datagram = world_unicast_to(&world, 1);
	datagram.flow_label = 0x12345;
	datagram.traffic_class = 9;
	datagram.hop_limit = 3;
	datagram.sl = 2;
	world_send(&world, 0, datagram);
	assert_int_equal(world_stats(&world).in_flight, 1);
	assert_false(world_pull(&world.nodes[1])); /* it takes its time */
	world_run(&world);
	world_expect(&world.nodes[1], ACM_EVENT_DATAGRAM);
	assert_int_equal(got->endpoint, 7);
	assert_int_equal(got->slid, world_facts(&world, 0)->lid);
	assert_int_equal(got->source_qpn, world.nodes[0].qpn);
	assert_memory_equal(&got->sgid, &world_facts(&world, 0)->gids[0], 16);
	assert_memory_equal(&got->dgid, &datagram.dgid, 16);
	assert_int_equal(got->flow_label, 0x12345);
	assert_int_equal(got->traffic_class, 9);
	assert_int_equal(got->hop_limit, 3);
	assert_int_equal(got->sl, 2);
	assert_int_equal(got->length, 5);
	assert_memory_equal(got->payload, "hello", 5);
	assert_int_equal(world_take_datagrams(&world, 2), 0);
	assert_int_equal(world_stats(&world).delivered, 1);
	world_tear_down(&world);
}

static void arrives_when_the_links_say(void **state)
{
	const uint64_t way = 2 * (200 + (5 + 74) * 80 / 1000);
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	assert_int_equal(sim_fabric_process(world.fabric, 1000), 0);
	assert_int_equal(sim_fabric_process(world.fabric, 500), 0); /* it does not go back */
	world_send(&world, 0, world_unicast_to(&world, 1));
	assert_int_equal(sim_fabric_deadline(world.fabric), 1000 + way);
	assert_int_equal(sim_fabric_process(world.fabric, 1000 + way - 1), 0);
	assert_int_equal(world_take_datagrams(&world, 1), 0);
	assert_int_equal(sim_fabric_process(world.fabric, 1000 + way), 0);
	assert_int_equal(world_take_datagrams(&world, 1), 1);
	assert_int_equal(sim_fabric_deadline(world.fabric), ACM_NEVER);
	world_tear_down(&world);
}

static void delivers_to_its_own_lid(void **state)
{
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	world_send(&world, 0, world_unicast_to(&world, 0));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 0), 1);
	world_tear_down(&world);
}

static void knows_all_lids_of_a_port(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	world_set_up_star(&world, 2);
	for (int i = 0; i < 2; i++) {
		fake_control_port(world.control, world.nodes[i].index, 1)->lmc = 2;
		fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[i].index, 1);
	}
	world_run(&world);
	for (int i = 0; i < 2; i++)
		world_expect(&world.nodes[i], ACM_EVENT_PORT_CHANGED);
	for (uint8_t bits = 0; bits < 4; bits++) {
		datagram = world_unicast_to(&world, 1);
		datagram.dlid = (uint16_t)(datagram.dlid + bits);
		datagram.path_bits = (uint8_t)(3 - bits);
		world_send(&world, 0, datagram);
		world_run(&world);
		world_expect(&world.nodes[1], ACM_EVENT_DATAGRAM);
		assert_int_equal(world.nodes[1].event.datagram.dlid_path_bits, bits);
		assert_int_equal(world.nodes[1].event.datagram.slid,
				 world_facts(&world, 0)->lid + 3 - bits);
	}
	datagram.dlid++; /* the tables lead there, but the port does not have it */
	world_send(&world, 0, datagram);
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_ROUTE, 1);
	datagram.path_bits = 4;
	assert_int_equal(world_try_send(&world, 0, &datagram), -EINVAL);
	world_tear_down(&world);
}

static void loses_what_finds_no_queue_pair(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	world_set_up_star(&world, 3);
	datagram = world_unicast_to(&world, 1);
	datagram.qpn = world.nodes[2].qpn; /* it is open, at another port */
	world_send(&world, 0, datagram);
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_QP, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(world_take_datagrams(&world, i), 0);
	world_tear_down(&world);
}

static void refuses_what_makes_no_sense(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	world_set_up_star(&world, 2);
	datagram = world_unicast_to(&world, 1);
	datagram.length = ACM_DATAGRAM_MAX + 1;
	assert_int_equal(world_try_send(&world, 0, &datagram), -EMSGSIZE);
	datagram = world_unicast_to(&world, 1);
	datagram.dlid = 0;
	assert_int_equal(world_try_send(&world, 0, &datagram), -EINVAL);
	datagram.dlid = 0xc000; /* a group's, but a queue pair's number */
	assert_int_equal(world_try_send(&world, 0, &datagram), -EINVAL);
	datagram = world_multicast_to(world_facts(&world, 1)->lid);
	assert_int_equal(world_try_send(&world, 0, &datagram), -EINVAL);
	assert_int_equal(world_stats(&world).sent, 0);
	world_tear_down(&world);
}

/* ---- ports ---- */

static void needs_active_ports(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	world_set_up_star(&world, 2);
	datagram = world_unicast_to(&world, 1);
	fake_control_port(world.control, world.nodes[1].index, 1)->state = ACM_PORT_DOWN;
	fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[1].index, 1);
	world_run(&world);
	world_expect(&world.nodes[1], ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.nodes[1].event.port_facts->state, ACM_PORT_DOWN);
	assert_int_equal(world.nodes[1].event.port_facts->port, 0);
	world_send(&world, 0, datagram);
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_ROUTE, 1);
	assert_int_equal(world_try_send(&world, 1, &datagram), -ENETDOWN);
	world_tear_down(&world);
}

static void tells_of_changes_after_the_start_only(void **state)
{
	struct world world;
	struct node *node = &world.nodes[0];

	(void)state;
	world_set_up(&world, small_topology_star(1));
	node->index = sim_topology_find(world.topology, "node1");
	assert_int_equal(sim_fabric_attach(world.fabric, "node1", &node->transport), 0);
	fake_control_port(world.control, node->index, 1)->sm_lid = 99;
	fake_control_tell(world.control, SIM_CONTROL_PORT, node->index, 1);
	fake_control_tell(world.control, SIM_CONTROL_REREGISTER, node->index, 1);
	world_run(&world);
	assert_false(world_pull(node));
	assert_int_equal(node->transport->ops->start(node->transport), 0);
	world_expect(node, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(node->event.port_facts->sm_lid, 99);
	fake_control_tell(world.control, SIM_CONTROL_REREGISTER, node->index, 1);
	world_run(&world);
	world_expect(node, ACM_EVENT_REREGISTER);
	assert_int_equal(node->event.port, 0);
	assert_false(world_pull(node));
	world_tear_down(&world);
}

static void one_event_covers_changes_that_wait(void **state)
{
	struct world world;

	(void)state;
	world_set_up(&world, small_topology_star(1));
	world_attach(&world, 0, "node1");
	for (uint16_t lid = 100; lid < 110; lid++) {
		fake_control_port(world.control, world.nodes[0].index, 1)->lid = lid;
		fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[0].index, 1);
		world_run(&world);
	}
	world_expect(&world.nodes[0], ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.nodes[0].event.port_facts->lid, 109);
	assert_false(world_pull(&world.nodes[0]));
	world_tear_down(&world);
}

static int ask_for_group(struct world *world, int i, uint64_t cookie)
{
	struct acm_transport *transport = world->nodes[i].transport;
	struct acm_mcmember member = {.mgid = world_group,
				      .port_gid = world_facts(world, i)->gids[0],
				      .qkey = ACM_QKEY,
				      .mtu = 4,
				      .rate = 3,
				      .pkey = ACM_PKEY_DEFAULT,
				      .scope = 5,
				      .join_state = 1};
	uint8_t mad[ACM_MAD_LENGTH];

	acm_sa_encode_join(&member, cookie, mad);
	return transport->ops->sa_send(transport, 0, 0, mad, cookie);
}

/* ---- buffers ---- */

static void drops_without_a_buffer_and_recovers(void **state)
{
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	for (int i = 0; i < 20; i++)
		world_send(&world, 0, world_unicast_to(&world, 1));
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_BUFFER, 4); /* there are 16 */
	/* One that is read makes room for one. */
	world_expect(&world.nodes[1], ACM_EVENT_DATAGRAM);
	for (int i = 0; i < 2; i++)
		world_send(&world, 0, world_unicast_to(&world, 1));
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_BUFFER, 5);
	assert_int_equal(world_take_datagrams(&world, 1), 16);
	for (int i = 0; i < 16; i++)
		world_send(&world, 0, world_unicast_to(&world, 1));
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_BUFFER, 5);
	assert_int_equal(world_take_datagrams(&world, 1), 16);
	world_tear_down(&world);
}

static void bounds_what_is_on_its_way(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	world_set_up_star(&world, 2);
	datagram = world_unicast_to(&world, 1);
	for (int i = 0; i < SIM_SEND_DEPTH; i++)
		world_send(&world, 0, datagram);
	assert_int_equal(world_try_send(&world, 0, &datagram), -EAGAIN);
	assert_int_equal(world_try_send(&world, 0, &datagram), -EAGAIN);
	assert_int_equal(world_stats(&world).sent, SIM_SEND_DEPTH);
	assert_int_equal(world_stats(&world).multicasts, 0);
	world.control->sa_window = 0;
	assert_int_equal(ask_for_group(&world, 0, 5), -EAGAIN);
	assert_false(world_pull(&world.nodes[0]));
	world_run(&world);
	world_expect(&world.nodes[0], ACM_EVENT_WRITABLE);
	assert_false(world_pull(&world.nodes[0])); /* one for both */
	world_send(&world, 0, datagram);
	/* A receiver that does not read holds nobody up. */
	world_run(&world);
	world_assert_drops(&world, SIM_DROP_NO_BUFFER, SIM_SEND_DEPTH + 1 - 16);
	world_tear_down(&world);
}

static void closes_with_packets_in_flight(void **state)
{
	struct world world;
	struct acm_transport *receiver, *sender;

	(void)state;
	world_set_up_star(&world, 2);
	sender = world.nodes[0].transport;
	receiver = world.nodes[1].transport;
	world_send(&world, 0, world_unicast_to(&world, 1));
	world_run(&world);                                  /* one waits to be pulled, */
	world_send(&world, 0, world_unicast_to(&world, 1)); /* one is on its way */
	receiver->ops->close_endpoint(receiver, 7);
	sender->ops->close_endpoint(sender, 7);
	world_run(&world);
	assert_false(world_pull(&world.nodes[1]));
	world_assert_drops(&world, SIM_DROP_NO_QP, 1);
	world_tear_down(&world);
}

static void ends_with_packets_in_flight(void **state)
{
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	world_send(&world, 0, world_unicast_to(&world, 1));
	assert_int_equal(world_stats(&world).in_flight, 1);
	world_tear_down(&world);
}

/* ---- faults ---- */

static void cuts_links(void **state)
{
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	assert_int_equal(sim_fabric_cut_link(world.fabric, world.nodes[1].index, 1), 0);
	world_send(&world, 0, world_unicast_to(&world, 1));
	world_assert_drops(&world, SIM_DROP_LINK, 1);
	assert_int_equal(sim_fabric_mend_link(world.fabric, world.nodes[1].index, 1), 0);
	world_send(&world, 0, world_unicast_to(&world, 1));
	world_run(&world);
	assert_int_equal(world_take_datagrams(&world, 1), 1);
	world_tear_down(&world);
}

static void says_why_it_ended(void **state)
{
	struct world world;

	(void)state;
	world_set_up(&world, small_topology_star(1));
	assert_int_equal(sim_fabric_process(world.fabric, 1), 0);
	assert_null(sim_fabric_failure(world.fabric));
	fake_control_tell(world.control, SIM_CONTROL_DIED, 0, 0);
	assert_int_equal(sim_fabric_process(world.fabric, 2), -EIO);
	assert_string_equal(sim_fabric_failure(world.fabric), "the fake control was told to die");
	assert_int_equal(sim_fabric_process(world.fabric, 3), -EIO);
	assert_int_equal(sim_fabric_deadline(world.fabric), ACM_NEVER);
	world_tear_down(&world);
}

/* ---- the SA ---- */

static void maps_cookies_of_different_nodes(void **state)
{
	struct world world;
	struct acm_mcmember record;

	(void)state;
	world_set_up_star(&world, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask_for_group(&world, i, 5), 0); /* all the same */
	world.nodes[1].transport->ops->sa_cancel(world.nodes[1].transport, 5);
	world.nodes[1].transport->ops->sa_cancel(world.nodes[1].transport, 6);
	assert_int_equal(world.control->cancel_count, 1);
	world_run(&world);
	for (int i = 0; i < 3; i += 2) {
		world_expect(&world.nodes[i], ACM_EVENT_SA_ANSWER);
		assert_int_equal(world.nodes[i].event.sa.cookie, 5);
		assert_int_equal(acm_sa_decode_mcmember(world.nodes[i].event.sa.mad,
							world.nodes[i].event.sa.length, &record),
				 0);
		assert_memory_equal(&record.port_gid, &world_facts(&world, i)->gids[0], 16);
	}
	assert_false(world_pull(&world.nodes[1]));
	assert_int_equal(world.control->refresh_count, 2);
	assert_int_equal(world_stats(&world).sa_sent, 3);
	assert_int_equal(world_stats(&world).sa_answered, 2);
	world_tear_down(&world);
}

static void passes_sa_failures_and_refusals_on(void **state)
{
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	world.control->sa_failure = -EHOSTUNREACH;
	assert_int_equal(ask_for_group(&world, 0, 5), 0);
	world.control->sa_window = 1;
	assert_int_equal(ask_for_group(&world, 0, 6), -EAGAIN);
	assert_int_equal(ask_for_group(&world, 1, 6), -EAGAIN);
	world_run(&world);
	world_expect(&world.nodes[0], ACM_EVENT_SA_FAILED);
	assert_int_equal(world.nodes[0].event.failed.cookie, 5);
	assert_int_equal(world.nodes[0].event.failed.status, -EHOSTUNREACH);
	for (int i = 0; i < 2; i++) {
		world_expect(&world.nodes[i], ACM_EVENT_WRITABLE);
		assert_false(world_pull(&world.nodes[i]));
	}
	assert_int_equal(world_stats(&world).sa_sent, 1);
	assert_int_equal(world_stats(&world).sa_failed, 1);
	world_tear_down(&world);
}

static void says_when_the_sa_has_room(void **state)
{
	struct world world;

	(void)state;
	world_set_up_star(&world, 2);
	world.control->sa_window = 3;
	world.control->event_limit = 1;
	for (uint64_t cookie = 1; cookie <= 3; cookie++)
		assert_int_equal(ask_for_group(&world, 0, cookie), 0);
	assert_int_equal(ask_for_group(&world, 1, 9), -EAGAIN);
	assert_false(world_pull(&world.nodes[1]));
	/* One is answered, the others wait. */
	world_run(&world);
	world_expect(&world.nodes[1], ACM_EVENT_WRITABLE);
	assert_int_equal(ask_for_group(&world, 1, 9), 0);
	assert_int_equal(ask_for_group(&world, 1, 10), -EAGAIN);
	assert_int_equal(sim_fabric_process(world.fabric, 1), 0);
	assert_false(world_pull(&world.nodes[1]));
	/* One is cancelled. */
	world.nodes[0].transport->ops->sa_cancel(world.nodes[0].transport, 3);
	world_expect(&world.nodes[1], ACM_EVENT_WRITABLE);
	assert_int_equal(ask_for_group(&world, 1, 10), 0);
	world_tear_down(&world);
}

static void cancels_what_a_destroyed_node_asked(void **state)
{
	struct world world;

	(void)state;
	world_set_up_star(&world, 1);
	for (uint64_t cookie = 1; cookie <= 100; cookie++)
		assert_int_equal(ask_for_group(&world, 0, cookie), 0);
	world.nodes[0].transport->ops->destroy(world.nodes[0].transport);
	world.nodes[0].transport = NULL;
	assert_int_equal(world.control->cancel_count, 100);
	assert_int_equal(world.control->count, 0);
	world_run(&world);
	world_tear_down(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_out_each_host_once),
		cmocka_unit_test(carries_a_datagram),
		cmocka_unit_test(arrives_when_the_links_say),
		cmocka_unit_test(delivers_to_its_own_lid),
		cmocka_unit_test(knows_all_lids_of_a_port),
		cmocka_unit_test(loses_what_finds_no_queue_pair),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(needs_active_ports),
		cmocka_unit_test(tells_of_changes_after_the_start_only),
		cmocka_unit_test(one_event_covers_changes_that_wait),
		cmocka_unit_test(drops_without_a_buffer_and_recovers),
		cmocka_unit_test(bounds_what_is_on_its_way),
		cmocka_unit_test(closes_with_packets_in_flight),
		cmocka_unit_test(ends_with_packets_in_flight),
		cmocka_unit_test(cuts_links),
		cmocka_unit_test(says_why_it_ended),
		cmocka_unit_test(maps_cookies_of_different_nodes),
		cmocka_unit_test(passes_sa_failures_and_refusals_on),
		cmocka_unit_test(says_when_the_sa_has_room),
		cmocka_unit_test(cancels_what_a_destroyed_node_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
