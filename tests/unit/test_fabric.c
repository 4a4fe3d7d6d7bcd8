/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transports of a whole fabric: who receives what, what is lost and how it is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fabric.h"
#include "fake_control.h"
#include "queue_pair.h"
#include "small_topology.h"

#include <acmite/engine.h>
#include <acmite/wire.h>
#include <errno.h>
#include <string.h>

#define NODES 6

struct node {
	struct acm_transport *transport;
	uint32_t index; /* in the topology */
	uint32_t qpn;
	struct acm_event event; /* the last one pulled */
};

struct world {
	struct sim_topology *topology;
	struct fake_control *control;
	struct sim_fabric *fabric;
	struct node nodes[NODES];
};

static const struct acm_gid group_gid = {.raw = {0xff, 0x15, 0x40, 0x01, 0xff, 0xff}};
static const struct acm_gid other_gid = {.raw = {0xff, 0x15, 0x40, 0x01, 0x12, 0x34}};

static void set_up(struct world *world, struct sim_topology *topology)
{
	*world = (struct world){.topology = topology};
	world->control = fake_control_create(topology);
	assert_int_equal(sim_fabric_create(topology, &world->control->base, 1, &world->fabric), 0);
}

static void tear_down(struct world *world)
{
	for (int i = 0; i < NODES; i++)
		if (world->nodes[i].transport)
			world->nodes[i].transport->ops->destroy(world->nodes[i].transport);
	sim_fabric_destroy(world->fabric);
	sim_topology_free(world->topology);
}

static struct sim_fabric_stats stats_of(const struct world *world)
{
	struct sim_fabric_stats stats;
	uint64_t total;

	sim_fabric_stats(world->fabric, &stats);
	total = stats.delivered + stats.in_flight;
	for (int i = 0; i < SIM_DROP_COUNT; i++)
		total += stats.dropped[i];
	assert_int_equal(stats.copies, total);
	return stats;
}

static void assert_drops(const struct world *world, enum sim_drop cause, uint64_t count)
{
	struct sim_fabric_stats stats = stats_of(world);

	for (int i = 0; i < SIM_DROP_COUNT; i++)
		if (stats.dropped[i] != (i == (int)cause ? count : 0))
			fail_msg("%llu packets lost: %s", (unsigned long long)stats.dropped[i],
				 sim_drop_name((enum sim_drop)i));
}

/* Until nothing is due any more. */
static void run(struct world *world)
{
	uint64_t next;

	while ((next = sim_fabric_deadline(world->fabric)) != ACM_NEVER) {
		assert_int_equal(sim_fabric_process(world->fabric, next), 0);
		stats_of(world);
	}
}

static bool pull(struct node *node)
{
	return node->transport->ops->next_event(node->transport, &node->event) == 1;
}

/* The next event, which must be of this type. */
static void expect(struct node *node, enum acm_event_type type)
{
	assert_true(pull(node));
	assert_int_equal(node->event.type, type);
}

static void attach_node(struct world *world, int i, const char *name)
{
	struct node *node = &world->nodes[i];

	node->index = sim_topology_find(world->topology, name);
	assert_int_equal(sim_fabric_attach(world->fabric, name, &node->transport), 0);
	assert_int_equal(node->transport->ops->start(node->transport), 0);
	expect(node, ACM_EVENT_PORT_CHANGED);
}

static void open_endpoint(struct node *node, uint16_t pkey, uint32_t qkey, uint32_t depth)
{
	assert_int_equal(
		node->transport->ops->open_endpoint(node->transport, 7, 0, pkey, qkey, depth), 0);
	expect(node, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(node->event.opened.endpoint, 7);
	node->qpn = node->event.opened.qpn;
}

/* node1 ... nodeN with an endpoint each. */
static void set_up_star(struct world *world, int count)
{
	char name[] = "node1";

	set_up(world, small_topology_star((uint32_t)count));
	for (int i = 0; i < count; i++) {
		name[4] = (char)('1' + i);
		attach_node(world, i, name);
		open_endpoint(&world->nodes[i], ACM_PKEY_DEFAULT, ACM_QKEY, 16);
	}
}

static uint16_t join(struct world *world, int i, const struct acm_gid *mgid)
{
	struct node *node = &world->nodes[i];
	uint16_t mlid = fake_control_join(world->control, node->index, 1, mgid);

	assert_int_equal(node->transport->ops->attach(node->transport, 7, mgid, mlid, 42), 0);
	expect(node, ACM_EVENT_ATTACHED);
	assert_int_equal(node->event.attached.status, 0);
	assert_int_equal(node->event.attached.cookie, 42);
	return mlid;
}

static const struct acm_port_facts *facts_of(struct world *world, int i)
{
	return fake_control_port(world->control, world->nodes[i].index, 1);
}

static struct acm_datagram unicast_to(struct world *world, int i)
{
	return (struct acm_datagram){
		.endpoint = 7,
		.dlid = facts_of(world, i)->lid,
		.qpn = world->nodes[i].qpn,
		.qkey = ACM_QKEY,
		.dgid = facts_of(world, i)->gids[0],
		.payload = (const uint8_t *)"hello",
		.length = 5,
	};
}

static struct acm_datagram multicast_to(uint16_t mlid)
{
	return (struct acm_datagram){.endpoint = 7,
				     .dlid = mlid,
				     .qpn = 0xffffff,
				     .qkey = ACM_QKEY,
				     .dgid = group_gid,
				     .payload = (const uint8_t *)"hello",
				     .length = 5};
}

static int try_send(struct world *world, int from, const struct acm_datagram *datagram)
{
	struct acm_transport *transport = world->nodes[from].transport;

	return transport->ops->send(transport, datagram, 1);
}

static void send_it(struct world *world, int from, struct acm_datagram datagram)
{
	assert_int_equal(try_send(world, from, &datagram), 0);
}

/* Datagrams that a node has waiting; nothing else may wait. */
static uint32_t take_datagrams(struct world *world, int i)
{
	uint32_t count = 0;

	while (pull(&world->nodes[i])) {
		assert_int_equal(world->nodes[i].event.type, ACM_EVENT_DATAGRAM);
		assert_int_equal(world->nodes[i].event.datagram.length, 5);
		assert_memory_equal(world->nodes[i].event.datagram.payload, "hello", 5);
		count++;
	}
	return count;
}

/* ---- attaching nodes ---- */

static void hands_out_each_host_once(void **state)
{
	struct acm_transport *transport = NULL;
	struct world world;

	(void)state;
	set_up(&world, small_topology_star(2));
	attach_node(&world, 0, "node1");
	assert_int_equal(sim_fabric_attach(world.fabric, "node1", &transport), -EBUSY);
	assert_int_equal(sim_fabric_attach(world.fabric, "nobody", &transport), -ENOENT);
	assert_int_equal(sim_fabric_attach(world.fabric, "switch1", &transport), -ENODEV);
	assert_null(transport);
	world.nodes[0].transport->ops->destroy(world.nodes[0].transport);
	attach_node(&world, 0, "node1");
	tear_down(&world);
}

/* ---- unicast ---- */

static void carries_a_datagram(void **state)
{
	struct world world;
	struct acm_datagram datagram;
	const struct acm_datagram_received *got = &world.nodes[1].event.datagram;

	(void)state;
	set_up_star(&world, 3);
	datagram = unicast_to(&world, 1);
	datagram.flow_label = 0x12345;
	datagram.traffic_class = 9;
	datagram.hop_limit = 3;
	datagram.sl = 2;
	send_it(&world, 0, datagram);
	assert_int_equal(stats_of(&world).in_flight, 1);
	assert_false(pull(&world.nodes[1])); /* it takes its time */
	run(&world);
	expect(&world.nodes[1], ACM_EVENT_DATAGRAM);
	assert_int_equal(got->endpoint, 7);
	assert_int_equal(got->slid, facts_of(&world, 0)->lid);
	assert_int_equal(got->source_qpn, world.nodes[0].qpn);
	assert_memory_equal(&got->sgid, &facts_of(&world, 0)->gids[0], 16);
	assert_memory_equal(&got->dgid, &datagram.dgid, 16);
	assert_int_equal(got->flow_label, 0x12345);
	assert_int_equal(got->traffic_class, 9);
	assert_int_equal(got->hop_limit, 3);
	assert_int_equal(got->sl, 2);
	assert_int_equal(got->length, 5);
	assert_memory_equal(got->payload, "hello", 5);
	assert_int_equal(take_datagrams(&world, 2), 0);
	assert_int_equal(stats_of(&world).delivered, 1);
	tear_down(&world);
}

static void arrives_when_the_links_say(void **state)
{
	const uint64_t way = 2 * (200 + (5 + 74) * 80 / 1000);
	struct world world;

	(void)state;
	set_up_star(&world, 2);
	assert_int_equal(sim_fabric_process(world.fabric, 1000), 0);
	send_it(&world, 0, unicast_to(&world, 1));
	assert_int_equal(sim_fabric_deadline(world.fabric), 1000 + way);
	assert_int_equal(sim_fabric_process(world.fabric, 1000 + way - 1), 0);
	assert_int_equal(take_datagrams(&world, 1), 0);
	assert_int_equal(sim_fabric_process(world.fabric, 1000 + way), 0);
	assert_int_equal(take_datagrams(&world, 1), 1);
	assert_int_equal(sim_fabric_deadline(world.fabric), ACM_NEVER);
	tear_down(&world);
}

static void delivers_to_its_own_lid(void **state)
{
	struct world world;

	(void)state;
	set_up_star(&world, 2);
	send_it(&world, 0, unicast_to(&world, 0));
	run(&world);
	assert_int_equal(take_datagrams(&world, 0), 1);
	tear_down(&world);
}

static void knows_all_lids_of_a_port(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	set_up_star(&world, 2);
	for (int i = 0; i < 2; i++) {
		fake_control_port(world.control, world.nodes[i].index, 1)->lmc = 2;
		fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[i].index, 1);
	}
	run(&world);
	for (int i = 0; i < 2; i++)
		expect(&world.nodes[i], ACM_EVENT_PORT_CHANGED);
	for (uint8_t bits = 0; bits < 4; bits++) {
		datagram = unicast_to(&world, 1);
		datagram.dlid = (uint16_t)(datagram.dlid + bits);
		datagram.path_bits = (uint8_t)(3 - bits);
		send_it(&world, 0, datagram);
		run(&world);
		expect(&world.nodes[1], ACM_EVENT_DATAGRAM);
		assert_int_equal(world.nodes[1].event.datagram.dlid_path_bits, bits);
		assert_int_equal(world.nodes[1].event.datagram.slid,
				 facts_of(&world, 0)->lid + 3 - bits);
	}
	datagram.dlid++; /* the tables lead there, but the port does not have it */
	send_it(&world, 0, datagram);
	run(&world);
	assert_drops(&world, SIM_DROP_NO_ROUTE, 1);
	datagram.path_bits = 4;
	assert_int_equal(try_send(&world, 0, &datagram), -EINVAL);
	tear_down(&world);
}

static void loses_what_finds_no_queue_pair(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	set_up_star(&world, 3);
	datagram = unicast_to(&world, 1);
	datagram.qpn = world.nodes[2].qpn; /* it is open, at another port */
	send_it(&world, 0, datagram);
	run(&world);
	assert_drops(&world, SIM_DROP_NO_QP, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(take_datagrams(&world, i), 0);
	tear_down(&world);
}

static void refuses_what_makes_no_sense(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	set_up_star(&world, 2);
	datagram = unicast_to(&world, 1);
	datagram.length = ACM_DATAGRAM_MAX + 1;
	assert_int_equal(try_send(&world, 0, &datagram), -EMSGSIZE);
	datagram = unicast_to(&world, 1);
	datagram.dlid = 0;
	assert_int_equal(try_send(&world, 0, &datagram), -EINVAL);
	datagram.dlid = 0xc000; /* a group's, but a queue pair's number */
	assert_int_equal(try_send(&world, 0, &datagram), -EINVAL);
	datagram = multicast_to(facts_of(&world, 1)->lid);
	assert_int_equal(try_send(&world, 0, &datagram), -EINVAL);
	assert_int_equal(stats_of(&world).sent, 0);
	tear_down(&world);
}

/* ---- ports ---- */

static void needs_active_ports(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	set_up_star(&world, 2);
	datagram = unicast_to(&world, 1);
	fake_control_port(world.control, world.nodes[1].index, 1)->state = ACM_PORT_DOWN;
	fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[1].index, 1);
	run(&world);
	expect(&world.nodes[1], ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.nodes[1].event.port_facts->state, ACM_PORT_DOWN);
	assert_int_equal(world.nodes[1].event.port_facts->port, 0);
	send_it(&world, 0, datagram);
	run(&world);
	assert_drops(&world, SIM_DROP_NO_ROUTE, 1);
	assert_int_equal(try_send(&world, 1, &datagram), -ENETDOWN);
	tear_down(&world);
}

static void tells_of_changes_after_the_start_only(void **state)
{
	struct world world;
	struct node *node = &world.nodes[0];

	(void)state;
	set_up(&world, small_topology_star(1));
	node->index = sim_topology_find(world.topology, "node1");
	assert_int_equal(sim_fabric_attach(world.fabric, "node1", &node->transport), 0);
	fake_control_port(world.control, node->index, 1)->sm_lid = 99;
	fake_control_tell(world.control, SIM_CONTROL_PORT, node->index, 1);
	fake_control_tell(world.control, SIM_CONTROL_REREGISTER, node->index, 1);
	run(&world);
	assert_false(pull(node));
	assert_int_equal(node->transport->ops->start(node->transport), 0);
	expect(node, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(node->event.port_facts->sm_lid, 99);
	fake_control_tell(world.control, SIM_CONTROL_REREGISTER, node->index, 1);
	run(&world);
	expect(node, ACM_EVENT_REREGISTER);
	assert_int_equal(node->event.port, 0);
	assert_false(pull(node));
	tear_down(&world);
}

static void one_event_covers_changes_that_wait(void **state)
{
	struct world world;

	(void)state;
	set_up(&world, small_topology_star(1));
	attach_node(&world, 0, "node1");
	for (uint16_t lid = 100; lid < 110; lid++) {
		fake_control_port(world.control, world.nodes[0].index, 1)->lid = lid;
		fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[0].index, 1);
		run(&world);
	}
	expect(&world.nodes[0], ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.nodes[0].event.port_facts->lid, 109);
	assert_false(pull(&world.nodes[0]));
	tear_down(&world);
}

/* ---- multicast ---- */

static void fans_out_over_switches_without_duplicates(void **state)
{
	static const char *const names[] = {"left1",  "left2",  "left3",
					    "right1", "right2", "right3"};
	struct world world;
	uint16_t mlid = 0;

	(void)state;
	set_up(&world, small_topology_two_switches());
	for (int i = 0; i < NODES; i++) {
		attach_node(&world, i, names[i]);
		open_endpoint(&world.nodes[i], ACM_PKEY_DEFAULT, ACM_QKEY, 16);
		if (i != 2) /* left3 stays out */
			mlid = join(&world, i, &group_gid);
	}
	for (int from = 0; from < NODES; from++) {
		send_it(&world, from, multicast_to(mlid));
		run(&world);
		for (int i = 0; i < NODES; i++)
			assert_int_equal(take_datagrams(&world, i), i != 2);
	}
	assert_int_equal(stats_of(&world).sent, 6);
	assert_int_equal(stats_of(&world).delivered, 30);
	assert_int_equal(stats_of(&world).copies, 30);
	tear_down(&world);
}

static void gives_the_sender_its_copy_when_attached(void **state)
{
	struct world world;
	uint16_t mlid;

	(void)state;
	set_up_star(&world, 2);
	mlid = join(&world, 0, &group_gid);
	send_it(&world, 0, multicast_to(mlid));
	send_it(&world, 1, multicast_to(mlid));
	run(&world);
	assert_int_equal(take_datagrams(&world, 0), 2);
	assert_int_equal(take_datagrams(&world, 1), 0);
	assert_int_equal(stats_of(&world).copies, 2);
	tear_down(&world);
}

static void loses_a_group_that_is_not_routed(void **state)
{
	struct world world;
	struct acm_transport *transport;

	(void)state;
	set_up_star(&world, 2);
	transport = world.nodes[1].transport;
	assert_int_equal(transport->ops->attach(transport, 7, &group_gid, 0xc005, 1), 0);
	expect(&world.nodes[1], ACM_EVENT_ATTACHED);
	send_it(&world, 0, multicast_to(0xc005));
	run(&world);
	assert_drops(&world, SIM_DROP_NO_ROUTE, 1);
	tear_down(&world);
}

static void tells_groups_of_one_mlid_apart(void **state)
{
	struct world world;
	struct acm_transport *transport;
	uint16_t mlid;

	(void)state;
	set_up_star(&world, 3);
	mlid = join(&world, 1, &group_gid);
	fake_control_join(world.control, world.nodes[2].index, 1, &group_gid);
	transport = world.nodes[2].transport;
	assert_int_equal(transport->ops->attach(transport, 7, &other_gid, mlid, 1), 0);
	expect(&world.nodes[2], ACM_EVENT_ATTACHED);
	send_it(&world, 0, multicast_to(mlid));
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 1);
	assert_int_equal(take_datagrams(&world, 2), 0);
	assert_drops(&world, SIM_DROP_NO_QP, 1);
	tear_down(&world);
}

static void stops_after_detaching(void **state)
{
	struct world world;
	struct acm_transport *transport;
	uint16_t mlid;

	(void)state;
	set_up_star(&world, 2);
	mlid = join(&world, 1, &group_gid);
	transport = world.nodes[1].transport;
	assert_int_equal(transport->ops->detach(transport, 7, &other_gid, mlid), -ENOENT);
	assert_int_equal(transport->ops->detach(transport, 7, &group_gid, mlid), 0);
	assert_int_equal(transport->ops->detach(transport, 7, &group_gid, mlid), -ENOENT);
	send_it(&world, 0, multicast_to(mlid));
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 0);
	assert_drops(&world, SIM_DROP_NO_QP, 1);
	join(&world, 1, &group_gid);
	send_it(&world, 0, multicast_to(mlid));
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 1);
	tear_down(&world);
}

static void reaches_all_queue_pairs_of_a_port(void **state)
{
	struct world world;
	struct acm_transport *transport;
	uint16_t mlid;

	(void)state;
	set_up_star(&world, 2);
	mlid = join(&world, 1, &group_gid);
	transport = world.nodes[1].transport;
	assert_int_equal(
		transport->ops->open_endpoint(transport, 8, 0, ACM_PKEY_DEFAULT, ACM_QKEY, 4), 0);
	assert_int_equal(transport->ops->attach(transport, 8, &group_gid, mlid, 1), 0);
	expect(&world.nodes[1], ACM_EVENT_ENDPOINT_OPENED);
	expect(&world.nodes[1], ACM_EVENT_ATTACHED);
	send_it(&world, 0, multicast_to(mlid));
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 2);
	send_it(&world, 1, multicast_to(mlid));
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 2);
	assert_int_equal(stats_of(&world).copies, 4);
	tear_down(&world);
}

/* ---- keys ---- */

/* One full and two limited members of a partition, and one that is not in it. */
static void set_up_partition(struct world *world)
{
	char name[] = "node1";

	set_up(world, small_topology_parse("fabric: partition\n"
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
		attach_node(world, i, name);
	}
}

static void checks_partitions(void **state)
{
	struct world world;

	(void)state;
	set_up_partition(&world);
	open_endpoint(&world.nodes[0], 0x8010, ACM_QKEY, 16);
	open_endpoint(&world.nodes[1], 0x0010, ACM_QKEY, 16);
	open_endpoint(&world.nodes[2], 0x0010, ACM_QKEY, 16);
	open_endpoint(&world.nodes[3], ACM_PKEY_DEFAULT, ACM_QKEY, 16);
	send_it(&world, 0, unicast_to(&world, 1)); /* full to limited */
	send_it(&world, 1, unicast_to(&world, 0)); /* limited to full */
	run(&world);
	assert_int_equal(take_datagrams(&world, 0), 1);
	assert_int_equal(take_datagrams(&world, 1), 1);
	assert_drops(&world, SIM_DROP_PKEY, 0);
	send_it(&world, 1, unicast_to(&world, 2)); /* both are limited */
	run(&world);
	assert_drops(&world, SIM_DROP_PKEY, 1);
	send_it(&world, 0, unicast_to(&world, 3)); /* another partition */
	run(&world);
	assert_drops(&world, SIM_DROP_PKEY, 2);
	assert_int_equal(take_datagrams(&world, 2), 0);
	assert_int_equal(take_datagrams(&world, 3), 0);
	tear_down(&world);
}

static void sees_a_changed_pkey_table(void **state)
{
	struct world world;

	(void)state;
	set_up_partition(&world);
	open_endpoint(&world.nodes[0], 0x8010, ACM_QKEY, 16);
	open_endpoint(&world.nodes[1], 0x0010, ACM_QKEY, 16);
	fake_control_port(world.control, world.nodes[0].index, 1)->pkeys[1] = 0x0010;
	fake_control_tell(world.control, SIM_CONTROL_PORT, world.nodes[0].index, 1);
	run(&world);
	send_it(&world, 0, unicast_to(&world, 1));
	run(&world);
	assert_drops(&world, SIM_DROP_PKEY, 1);
	tear_down(&world);
}

static void checks_qkeys(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	set_up(&world, small_topology_star(2));
	attach_node(&world, 0, "node1");
	attach_node(&world, 1, "node2");
	open_endpoint(&world.nodes[0], ACM_PKEY_DEFAULT, 0x222, 16);
	open_endpoint(&world.nodes[1], ACM_PKEY_DEFAULT, 0x111, 16);
	datagram = unicast_to(&world, 1);
	datagram.qkey = 0x111;
	send_it(&world, 0, datagram);
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 1);
	datagram.qkey = 0x112;
	send_it(&world, 0, datagram);
	/* The top bit stands for the sender's own, which is another. */
	datagram.qkey = 0x80000111;
	send_it(&world, 0, datagram);
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 0);
	assert_drops(&world, SIM_DROP_QKEY, 2);
	tear_down(&world);
}

/* ---- buffers ---- */

static void drops_without_a_buffer_and_recovers(void **state)
{
	struct world world;

	(void)state;
	set_up_star(&world, 2);
	for (int i = 0; i < 20; i++)
		send_it(&world, 0, unicast_to(&world, 1));
	run(&world);
	assert_drops(&world, SIM_DROP_NO_BUFFER, 4); /* there are 16 */
	/* One that is read makes room for one. */
	expect(&world.nodes[1], ACM_EVENT_DATAGRAM);
	for (int i = 0; i < 2; i++)
		send_it(&world, 0, unicast_to(&world, 1));
	run(&world);
	assert_drops(&world, SIM_DROP_NO_BUFFER, 5);
	assert_int_equal(take_datagrams(&world, 1), 16);
	for (int i = 0; i < 16; i++)
		send_it(&world, 0, unicast_to(&world, 1));
	run(&world);
	assert_drops(&world, SIM_DROP_NO_BUFFER, 5);
	assert_int_equal(take_datagrams(&world, 1), 16);
	tear_down(&world);
}

static void bounds_what_is_on_its_way(void **state)
{
	struct world world;
	struct acm_datagram datagram;

	(void)state;
	set_up_star(&world, 2);
	datagram = unicast_to(&world, 1);
	for (int i = 0; i < SIM_SEND_DEPTH; i++)
		send_it(&world, 0, datagram);
	assert_int_equal(try_send(&world, 0, &datagram), -EAGAIN);
	assert_int_equal(try_send(&world, 0, &datagram), -EAGAIN);
	assert_int_equal(stats_of(&world).sent, SIM_SEND_DEPTH);
	assert_false(pull(&world.nodes[0]));
	run(&world);
	expect(&world.nodes[0], ACM_EVENT_WRITABLE);
	assert_false(pull(&world.nodes[0])); /* once */
	send_it(&world, 0, datagram);
	/* A receiver that does not read holds nobody up. */
	run(&world);
	assert_drops(&world, SIM_DROP_NO_BUFFER, SIM_SEND_DEPTH + 1 - 16);
	tear_down(&world);
}

static void closes_with_packets_in_flight(void **state)
{
	struct world world;
	struct acm_transport *receiver, *sender;

	(void)state;
	set_up_star(&world, 2);
	sender = world.nodes[0].transport;
	receiver = world.nodes[1].transport;
	send_it(&world, 0, unicast_to(&world, 1));
	run(&world);                               /* one waits to be pulled, */
	send_it(&world, 0, unicast_to(&world, 1)); /* one is on its way */
	receiver->ops->close_endpoint(receiver, 7);
	sender->ops->close_endpoint(sender, 7);
	run(&world);
	assert_false(pull(&world.nodes[1]));
	assert_drops(&world, SIM_DROP_NO_QP, 1);
	tear_down(&world);
}

static void ends_with_packets_in_flight(void **state)
{
	struct world world;

	(void)state;
	set_up_star(&world, 2);
	send_it(&world, 0, unicast_to(&world, 1));
	assert_int_equal(stats_of(&world).in_flight, 1);
	tear_down(&world);
}

/* ---- faults ---- */

static void injects_losses(void **state)
{
	const struct sim_loss loss = {.mask = 0x5};
	struct world world;

	(void)state;
	set_up_star(&world, 2);
	assert_int_equal(sim_fabric_set_loss(world.fabric, world.nodes[0].index, 1, &loss), 0);
	for (int i = 0; i < 4; i++)
		send_it(&world, 0, unicast_to(&world, 1));
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 2);
	assert_drops(&world, SIM_DROP_LOSS, 2);
	tear_down(&world);
}

static void cuts_links(void **state)
{
	struct world world;

	(void)state;
	set_up_star(&world, 2);
	assert_int_equal(sim_fabric_cut_link(world.fabric, world.nodes[1].index, 1), 0);
	send_it(&world, 0, unicast_to(&world, 1));
	assert_drops(&world, SIM_DROP_LINK, 1);
	assert_int_equal(sim_fabric_mend_link(world.fabric, world.nodes[1].index, 1), 0);
	send_it(&world, 0, unicast_to(&world, 1));
	run(&world);
	assert_int_equal(take_datagrams(&world, 1), 1);
	tear_down(&world);
}

static void says_why_it_ended(void **state)
{
	struct world world;

	(void)state;
	set_up(&world, small_topology_star(1));
	assert_int_equal(sim_fabric_process(world.fabric, 1), 0);
	assert_null(sim_fabric_failure(world.fabric));
	fake_control_tell(world.control, SIM_CONTROL_DIED, 0, 0);
	assert_int_equal(sim_fabric_process(world.fabric, 2), -EIO);
	assert_string_equal(sim_fabric_failure(world.fabric), "the fake control was told to die");
	assert_int_equal(sim_fabric_process(world.fabric, 3), -EIO);
	assert_int_equal(sim_fabric_deadline(world.fabric), ACM_NEVER);
	tear_down(&world);
}

/* ---- the SA ---- */

static int ask_for_group(struct world *world, int i, uint64_t cookie)
{
	struct acm_transport *transport = world->nodes[i].transport;
	struct acm_mcmember member = {.mgid = group_gid,
				      .port_gid = facts_of(world, i)->gids[0],
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

static void maps_cookies_of_different_nodes(void **state)
{
	struct world world;
	struct acm_mcmember record;

	(void)state;
	set_up_star(&world, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask_for_group(&world, i, 5), 0); /* all the same */
	world.nodes[1].transport->ops->sa_cancel(world.nodes[1].transport, 5);
	world.nodes[1].transport->ops->sa_cancel(world.nodes[1].transport, 6);
	assert_int_equal(world.control->cancel_count, 1);
	run(&world);
	for (int i = 0; i < 3; i += 2) {
		expect(&world.nodes[i], ACM_EVENT_SA_ANSWER);
		assert_int_equal(world.nodes[i].event.sa.cookie, 5);
		assert_int_equal(acm_sa_decode_mcmember(world.nodes[i].event.sa.mad,
							world.nodes[i].event.sa.length, &record),
				 0);
		assert_memory_equal(&record.port_gid, &facts_of(&world, i)->gids[0], 16);
	}
	assert_false(pull(&world.nodes[1]));
	assert_int_equal(world.control->refresh_count, 2);
	assert_int_equal(stats_of(&world).sa_sent, 3);
	assert_int_equal(stats_of(&world).sa_answered, 2);
	tear_down(&world);
}

static void passes_sa_failures_and_refusals_on(void **state)
{
	struct world world;

	(void)state;
	set_up_star(&world, 2);
	world.control->sa_failure = -EHOSTUNREACH;
	assert_int_equal(ask_for_group(&world, 0, 5), 0);
	world.control->sa_window = 1;
	assert_int_equal(ask_for_group(&world, 0, 6), -EAGAIN);
	assert_int_equal(ask_for_group(&world, 1, 6), -EAGAIN);
	run(&world);
	expect(&world.nodes[0], ACM_EVENT_SA_FAILED);
	assert_int_equal(world.nodes[0].event.failed.cookie, 5);
	assert_int_equal(world.nodes[0].event.failed.status, -EHOSTUNREACH);
	for (int i = 0; i < 2; i++) {
		expect(&world.nodes[i], ACM_EVENT_WRITABLE);
		assert_false(pull(&world.nodes[i]));
	}
	assert_int_equal(stats_of(&world).sa_sent, 1);
	assert_int_equal(stats_of(&world).sa_failed, 1);
	tear_down(&world);
}

static void cancels_what_a_destroyed_node_asked(void **state)
{
	struct world world;

	(void)state;
	set_up_star(&world, 1);
	for (uint64_t cookie = 1; cookie <= 100; cookie++)
		assert_int_equal(ask_for_group(&world, 0, cookie), 0);
	world.nodes[0].transport->ops->destroy(world.nodes[0].transport);
	world.nodes[0].transport = NULL;
	assert_int_equal(world.control->cancel_count, 100);
	assert_int_equal(world.control->count, 0);
	run(&world);
	tear_down(&world);
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
		cmocka_unit_test(fans_out_over_switches_without_duplicates),
		cmocka_unit_test(gives_the_sender_its_copy_when_attached),
		cmocka_unit_test(loses_a_group_that_is_not_routed),
		cmocka_unit_test(tells_groups_of_one_mlid_apart),
		cmocka_unit_test(stops_after_detaching),
		cmocka_unit_test(reaches_all_queue_pairs_of_a_port),
		cmocka_unit_test(checks_partitions),
		cmocka_unit_test(sees_a_changed_pkey_table),
		cmocka_unit_test(checks_qkeys),
		cmocka_unit_test(drops_without_a_buffer_and_recovers),
		cmocka_unit_test(bounds_what_is_on_its_way),
		cmocka_unit_test(closes_with_packets_in_flight),
		cmocka_unit_test(ends_with_packets_in_flight),
		cmocka_unit_test(injects_losses),
		cmocka_unit_test(cuts_links),
		cmocka_unit_test(says_why_it_ended),
		cmocka_unit_test(maps_cookies_of_different_nodes),
		cmocka_unit_test(passes_sa_failures_and_refusals_on),
		cmocka_unit_test(cancels_what_a_destroyed_node_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
