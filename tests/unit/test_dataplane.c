/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks over tables, losses, queue pair numbers, and the counting of every copy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dataplane.h"
#include "fake_control.h"
#include "small_topology.h"

#include <acmite/wire.h>
#include <errno.h>
#include <string.h>

#define OVERHEAD 74
#define BYTE_PS  80 /* at 100 Gb/s */

struct plane {
	struct sim_topology *topology;
	struct fake_control *control;
	struct sim_dataplane plane;
	struct sim_walk *walk;
};

static const struct acm_gid group_gid = {.raw = {0xff, 0x15, 0x40, 0x01, 0xff, 0xff}};

/* What has been received: endpoints in order, and the packets, to be given back. */
static uint32_t received[256];
static struct sim_packet *kept[256];
static uint32_t received_count;

static bool receive(struct sim_queue_pair *queue_pair, struct sim_packet *packet)
{
	assert_true(received_count < 256);
	kept[received_count] = packet;
	received[received_count++] = queue_pair->options.endpoint;
	return true;
}

static void writable(struct sim_queue_pair *queue_pair)
{
	(void)queue_pair;
}

static void set_up(struct plane *world, struct sim_topology *topology, uint64_t seed)
{
	const struct sim_dataplane_hooks hooks = {.receive = receive, .writable = writable};
	const struct sim_topology *t = topology;

	received_count = 0;
	world->topology = topology;
	world->control = fake_control_create(topology);
	assert_int_equal(sim_dataplane_init(&world->plane, topology, seed, &hooks), 0);
	sim_dataplane_set_tables(&world->plane, &world->control->tables);
	world->walk = &world->plane.walk;
	for (uint32_t node = t->switch_count; node < t->node_count; node++)
		for (uint8_t port = 1; port <= t->nodes[node].port_count; port++) {
			const struct acm_port_facts *facts =
				fake_control_port(world->control, node, port);

			world->plane.ports[sim_wiring_index(&world->plane.wiring, node, port)] =
				(struct sim_port_state){.lid = facts->lid, .state = facts->state};
		}
}

static void tear_down(struct plane *world)
{
	sim_dataplane_free(&world->plane);
	world->control->base.ops->destroy(&world->control->base);
	sim_topology_free(world->topology);
}

static uint32_t node_of(const struct plane *world, const char *name)
{
	uint32_t node = sim_topology_find(world->topology, name);

	assert_int_not_equal(node, SIM_NONE);
	return node;
}

static uint32_t port_of(const struct plane *world, const char *name)
{
	return sim_wiring_index(&world->plane.wiring, node_of(world, name), 1);
}

static uint16_t lid_of(const struct plane *world, const char *name)
{
	return fake_control_port(world->control, node_of(world, name), 1)->lid;
}

static uint16_t join(struct plane *world, const char *name)
{
	return fake_control_join(world->control, node_of(world, name), 1, &group_gid);
}

/* Walks to a LID; the only end. */
static struct sim_end walk_to(struct plane *world, const char *from, uint16_t lid, uint32_t length)
{
	assert_int_equal(sim_walk_unicast(world->walk, port_of(world, from), lid, length), 0);
	assert_int_equal(world->walk->count, 1);
	return world->walk->ends[0];
}

static void assert_lost(struct sim_end end, enum sim_drop cause)
{
	assert_false(end.arrived);
	assert_string_equal(sim_drop_name(end.cause), sim_drop_name(cause));
}

/* ---- unicast ---- */

static void follows_tables_and_adds_up_latencies(void **state)
{
	struct plane world;
	struct sim_end end;

	(void)state;
	set_up(&world, small_topology_two_switches(), 1);
	end = walk_to(&world, "left1", lid_of(&world, "left2"), 256);
	assert_true(end.arrived);
	assert_int_equal(end.port, port_of(&world, "left2"));
	assert_int_equal(end.delay, 2 * (200 + (256 + OVERHEAD) * BYTE_PS / 1000));
	end = walk_to(&world, "left1", lid_of(&world, "right3"), 0);
	assert_true(end.arrived);
	assert_int_equal(end.port, port_of(&world, "right3"));
	assert_int_equal(end.delay, 3 * (200 + OVERHEAD * BYTE_PS / 1000));
	tear_down(&world);
}

static void loses_what_tables_do_not_route(void **state)
{
	struct plane world;
	struct sim_switch_tables *first;
	uint16_t lid;

	(void)state;
	set_up(&world, small_topology_two_switches(), 1);
	first = &world.control->tables.switches[0];
	lid = lid_of(&world, "right1");
	assert_lost(walk_to(&world, "left1", 0xbfff, 0), SIM_DROP_NO_ROUTE);  /* past the end */
	assert_lost(walk_to(&world, "left1", first->lid, 0), SIM_DROP_NO_QP); /* the switch */
	first->lft[lid] = 0xff;
	assert_lost(walk_to(&world, "left1", lid, 0), SIM_DROP_NO_ROUTE);
	first->lft[lid] = 8; /* nothing is connected there */
	assert_lost(walk_to(&world, "left1", lid, 0), SIM_DROP_NO_ROUTE);
	first->lft[lid] = 200; /* there is no such port */
	assert_lost(walk_to(&world, "left1", lid, 0), SIM_DROP_NO_ROUTE);
	sim_dataplane_set_tables(&world.plane, NULL);
	assert_lost(walk_to(&world, "left1", lid, 0), SIM_DROP_NO_ROUTE);
	tear_down(&world);
}

static void ends_in_a_loop_of_tables(void **state)
{
	struct plane world;
	uint16_t lid;
	uint64_t before;

	(void)state;
	set_up(&world, small_topology_two_switches(), 1);
	lid = lid_of(&world, "right1");
	before = world.plane.wiring.exits[sim_wiring_index(&world.plane.wiring, 1, 4)]
			 .carried_packets;
	world.control->tables.switches[0].lft[lid] = 4;
	world.control->tables.switches[1].lft[lid] = 4;
	assert_lost(walk_to(&world, "left1", lid, 0), SIM_DROP_HOP_LIMIT);
	assert_int_equal(world.plane.wiring.exits[sim_wiring_index(&world.plane.wiring, 1, 4)]
					 .carried_packets -
				 before,
			 SIM_HOPS_MAX / 2);
	tear_down(&world);
}

static void loses_what_is_longer_than_a_links_mtu(void **state)
{
	struct plane world;
	uint16_t lid;

	(void)state;
	set_up(&world, small_topology_star(2), 1);
	lid = lid_of(&world, "node2");
	assert_true(walk_to(&world, "node1", lid, 2048).arrived);
	assert_lost(walk_to(&world, "node1", lid, 2049), SIM_DROP_MTU);
	tear_down(&world);
}

static void loses_what_goes_over_a_cut_link(void **state)
{
	struct plane world;
	uint32_t node;

	(void)state;
	set_up(&world, small_topology_star(3), 1);
	node = node_of(&world, "node2");
	assert_int_equal(sim_wiring_cut(&world.plane.wiring, node, 1), 0);
	assert_lost(walk_to(&world, "node1", lid_of(&world, "node2"), 0), SIM_DROP_LINK);
	assert_lost(walk_to(&world, "node2", lid_of(&world, "node1"), 0), SIM_DROP_LINK);
	assert_true(walk_to(&world, "node1", lid_of(&world, "node3"), 0).arrived);
	assert_int_equal(sim_wiring_mend(&world.plane.wiring, node, 1), 0);
	assert_true(walk_to(&world, "node1", lid_of(&world, "node2"), 0).arrived);
	assert_int_equal(sim_wiring_cut(&world.plane.wiring, node, 2), -ENODEV);
	assert_int_equal(sim_wiring_cut(&world.plane.wiring, 99, 1), -ENODEV);
	tear_down(&world);
}

/* ---- multicast ---- */

static uint32_t count_ends(const struct plane *world, const char *name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < world->walk->count; i++)
		count += world->walk->ends[i].arrived &&
			 world->walk->ends[i].port == port_of(world, name);
	return count;
}

static void reaches_each_member_once(void **state)
{
	static const char *const members[] = {"left1", "left3", "right1", "right2"};
	struct plane world;
	uint16_t mlid = 0;

	(void)state;
	set_up(&world, small_topology_two_switches(), 1);
	for (int i = 0; i < 4; i++)
		mlid = join(&world, members[i]);
	for (int from = 0; from < 4; from++) {
		assert_int_equal(
			sim_walk_multicast(world.walk, port_of(&world, members[from]), mlid, 256),
			0);
		assert_int_equal(world.walk->count, 3);
		for (int to = 0; to < 4; to++)
			assert_int_equal(count_ends(&world, members[to]), to != from);
	}
	/* One that is no member sends to all. */
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left2"), mlid, 256), 0);
	assert_int_equal(world.walk->count, 4);
	tear_down(&world);
}

static void loses_a_group_without_a_tree(void **state)
{
	struct plane world;
	uint16_t mlid;

	(void)state;
	set_up(&world, small_topology_two_switches(), 1);
	mlid = join(&world, "left1");
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left1"), mlid, 0), 0);
	assert_int_equal(world.walk->count, 0); /* the only member: nobody else is to get it */
	join(&world, "right1");
	for (int i = 0; i < 4; i++)
		world.control->tables.switches[1].mft[0][i] = 0;
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left1"), mlid, 0), 0);
	assert_int_equal(world.walk->count, 1);
	assert_lost(world.walk->ends[0], SIM_DROP_NO_ROUTE);
	world.control->tables.switches[1].mft[0][0] = 1 << 4; /* only where it came from */
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left1"), mlid, 0), 0);
	assert_int_equal(world.walk->count, 1);
	assert_lost(world.walk->ends[0], SIM_DROP_NO_ROUTE);
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left1"), mlid + 1, 0), 0);
	assert_lost(world.walk->ends[0], SIM_DROP_NO_ROUTE); /* never joined */
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left1"), 0xfffe, 0), 0);
	assert_lost(world.walk->ends[0], SIM_DROP_NO_ROUTE); /* past the end of the table */
	tear_down(&world);
}

static void a_loop_of_multicast_trees_ends(void **state)
{
	struct plane world;
	uint32_t lost = 0;
	uint16_t mlid;

	(void)state;
	set_up(&world, small_topology_two_switches(), 1);
	mlid = join(&world, "left1");
	join(&world, "right1");
	/* Both links between the switches, at both ends. */
	world.control->tables.switches[0].mft[0][0] |= 0x30;
	world.control->tables.switches[1].mft[0][0] |= 0x30;
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left1"), mlid, 0), 0);
	for (uint32_t i = 0; i < world.walk->count; i++)
		lost += !world.walk->ends[i].arrived &&
			world.walk->ends[i].cause == SIM_DROP_HOP_LIMIT;
	assert_int_equal(lost, 2); /* one each way round */
	assert_true(count_ends(&world, "right1") > 1);
	tear_down(&world);
}

static void a_loop_in_a_large_fabric_ends_after_its_hops(void **state)
{
	struct plane world;
	uint16_t mlid;

	(void)state;
	set_up(&world,
	       small_topology_parse("fabric: loop\n"
				    "switches:\n"
				    "  - { name: \"switch[1-100]\", ports: 8 }\n"
				    "hosts:\n"
				    "  - { name: left }\n"
				    "  - { name: right }\n"
				    "links:\n"
				    "  - \"left -- switch1\"\n"
				    "  - \"right -- switch2\"\n"
				    "  - { join: \"switch1 -- switch2\", count: 2 }\n"),
	       1);
	mlid = join(&world, "left");
	join(&world, "right");
	for (int i = 0; i < 2; i++)
		world.control->tables.switches[i].mft[0][0] = 0xe;
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left"), mlid, 0), 0);
	/* Once at the first switch, then two copies, one each way round. */
	assert_int_equal(world.walk->visit_count, 1 + 2 * SIM_HOPS_MAX);
	tear_down(&world);
}

static void copies_that_multiply_in_a_loop_end(void **state)
{
	struct plane world;
	uint16_t mlid;

	(void)state;
	set_up(&world,
	       small_topology_parse("fabric: storm\n"
				    "switches:\n"
				    "  - { name: \"switch[1-2]\", ports: 8 }\n"
				    "hosts:\n"
				    "  - { name: left }\n"
				    "  - { name: right }\n"
				    "links:\n"
				    "  - \"left -- switch1\"\n"
				    "  - \"right -- switch2\"\n"
				    "  - { join: \"switch1 -- switch2\", count: 4 }\n"),
	       1);
	mlid = join(&world, "left");
	join(&world, "right");
	for (int i = 0; i < 2; i++)
		world.control->tables.switches[i].mft[0][0] = 0x3e;
	assert_int_equal(sim_walk_multicast(world.walk, port_of(&world, "left"), mlid, 0), 0);
	assert_true(world.walk->count < 1000);
	tear_down(&world);
}

/* ---- queue pairs ---- */

static struct sim_queue_pair *open_pair(struct plane *world, const char *name, uint32_t endpoint)
{
	const struct sim_queue_pair_options options = {
		.port = port_of(world, name),
		.recv_depth = 1000,
		.qkey = ACM_QKEY,
		.facts = fake_control_port(world->control, node_of(world, name), 1),
		.endpoint = endpoint,
	};
	struct sim_queue_pair *opened = sim_queue_pairs_open(&world->plane.pairs, &options);

	assert_non_null(opened);
	return opened;
}

static void numbers_are_unique_and_from_the_seed(void **state)
{
	struct plane world, same;
	struct sim_queue_pair *pairs[300];
	uint32_t first;

	(void)state;
	set_up(&world, small_topology_star(2), 5);
	set_up(&same, small_topology_star(2), 5);
	for (uint32_t i = 0; i < 300; i++) {
		pairs[i] = open_pair(&world, "node1", i);
		assert_in_range(pairs[i]->number, 2, 0xfffffe);
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(pairs[j]->number, pairs[i]->number);
	}
	for (uint32_t i = 0; i < 300; i++)
		assert_ptr_equal(sim_queue_pairs_find(&world.plane.pairs, pairs[i]->number),
				 pairs[i]);
	first = pairs[0]->number;
	for (uint32_t i = 0; i < 300; i++)
		sim_queue_pairs_close(&world.plane.pairs, pairs[i]);
	assert_null(sim_queue_pairs_find(&world.plane.pairs, first));
	pairs[0] = open_pair(&world, "node1", 0);
	assert_int_not_equal(pairs[0]->number, first); /* as on hardware after a restart */
	pairs[1] = open_pair(&same, "node1", 0);
	assert_int_equal(pairs[1]->number, first);
	sim_queue_pairs_close(&world.plane.pairs, pairs[0]);
	sim_queue_pairs_close(&same.plane.pairs, pairs[1]);
	tear_down(&world);
	tear_down(&same);
}

/* ---- whole ways ---- */

static void assert_adds_up(const struct plane *world)
{
	const struct sim_fabric_stats *stats = &world->plane.stats;
	uint64_t total = stats->delivered + stats->in_flight;

	for (int i = 0; i < SIM_DROP_COUNT; i++)
		total += stats->dropped[i];
	assert_int_equal(stats->copies, total);
}

static void run(struct plane *world)
{
	do
		assert_adds_up(world);
	while (sim_dataplane_arrive(&world->plane, ACM_NEVER - 1));
}

static void copies_of_one_time_keep_their_order(void **state)
{
	struct sim_queue_pair *pairs[6];
	struct plane world;
	struct acm_datagram datagram = {.qpn = 0xffffff, .qkey = ACM_QKEY, .dgid = group_gid};
	char name[16] = "node1";

	(void)state;
	set_up(&world, small_topology_star(6), 3);
	for (uint32_t i = 0; i < 6; i++) {
		name[4] = (char)('1' + i);
		pairs[i] = open_pair(&world, name, i);
		datagram.dlid = join(&world, name);
		assert_int_equal(sim_queue_pairs_attach(&world.plane.pairs, pairs[i], &group_gid,
							datagram.dlid),
				 0);
	}
	for (int round = 0; round < 2; round++)
		assert_int_equal(sim_dataplane_send(&world.plane, pairs[2], &datagram, 0), 0);
	run(&world);
	/* The sender's own first, then by port, twice. */
	assert_int_equal(received_count, 12);
	assert_int_equal(received[0], 2);
	assert_int_equal(received[1], 2);
	for (uint32_t round = 0; round < 2; round++) {
		static const uint32_t order[] = {0, 1, 3, 4, 5};

		for (uint32_t i = 0; i < 5; i++)
			assert_int_equal(received[2 + 5 * round + i], order[i]);
	}
	assert_int_equal(world.plane.stats.copies, 12);
	assert_int_equal(world.plane.stats.delivered, 12);
	for (int i = 0; i < 6; i++)
		sim_queue_pairs_close(&world.plane.pairs, pairs[i]);
	assert_int_equal(world.plane.packets.used, 2); /* for twelve copies */
	for (uint32_t i = 0; i < received_count; i++)
		sim_packets_release(&world.plane.packets, kept[i]);
	assert_int_equal(world.plane.packets.used, 0);
	tear_down(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_tables_and_adds_up_latencies),
		cmocka_unit_test(loses_what_tables_do_not_route),
		cmocka_unit_test(ends_in_a_loop_of_tables),
		cmocka_unit_test(loses_what_is_longer_than_a_links_mtu),
		cmocka_unit_test(loses_what_goes_over_a_cut_link),
		cmocka_unit_test(reaches_each_member_once),
		cmocka_unit_test(loses_a_group_without_a_tree),
		cmocka_unit_test(a_loop_of_multicast_trees_ends),
		cmocka_unit_test(a_loop_in_a_large_fabric_ends_after_its_hops),
		cmocka_unit_test(copies_that_multiply_in_a_loop_end),
		cmocka_unit_test(numbers_are_unique_and_from_the_seed),
		cmocka_unit_test(copies_of_one_time_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
