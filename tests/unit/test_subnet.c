/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subnet alone. That it is as OpenSM's is the matter of tests/differential. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "small_topology.h"
#include "subnet.h"
#include "walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MSEC ACM_NSEC_PER_MSEC

static const char tree_text[] =
	"fabric: tree\n"
	"switches:\n"
	"  - { name: \"spine[1-2]\", ports: 12 }\n"
	"  - { name: \"leaf[1-3]\", ports: 12 }\n"
	"hosts:\n"
	"  - { name: \"node[1-12]\" }\n"
	"links:\n"
	"  - \"leaf[1-3] -- spine[1-2]\"\n"
	"  - \"node[1-12] -> leaf[1-3]\"\n"
	"partitions:\n"
	"  - { name: a, pkey: 0x0010, full: \"node[1-3]\", limited: \"node[4-8]\" }\n"
	"  - { name: b, pkey: 0x0100, full: \"node[1-2]\" }\n";

struct fixture {
	struct sim_topology *topology;
	struct sim_subnet *subnet;
	struct sim_wiring wiring;
	struct sim_walk walk;
	char why[256];
};

static void bring_up(struct fixture *f, const char *text, const struct sim_subnet_options *options)
{
	memset(f, 0, sizeof(*f));
	f->topology = small_topology_parse(text);
	assert_int_equal(
		sim_subnet_create(f->topology, options, &f->subnet, f->why, sizeof(f->why)), 0);
	assert_int_equal(sim_wiring_init(&f->wiring, f->topology), 0);
	sim_walk_init(&f->walk, &f->wiring);
}

static void clean_up(struct fixture *f)
{
	sim_walk_free(&f->walk);
	sim_wiring_free(&f->wiring);
	sim_subnet_destroy(f->subnet);
	sim_topology_free(f->topology);
}

static void bring_up_tree(struct fixture *f)
{
	struct sim_subnet_options options;

	sim_subnet_options_default(&options);
	bring_up(f, tree_text, &options);
}

static struct sim_port_ref port_of(const struct fixture *f, const char *name)
{
	uint32_t node = sim_topology_find(f->topology, name);

	assert_int_not_equal(node, SIM_NONE);
	return (struct sim_port_ref){.node = node, .port = 1};
}

static struct acm_port_facts facts_of(const struct fixture *f, const char *name)
{
	struct acm_port_facts facts;

	assert_int_equal(sim_subnet_port_facts(f->subnet, port_of(f, name), &facts), 0);
	return facts;
}

/* Lets all that is due happen. */
static uint64_t settle(struct fixture *f)
{
	uint64_t now = 0, next;

	while ((next = sim_subnet_deadline(f->subnet)) != ACM_NEVER)
		sim_subnet_advance(f->subnet, now = next);
	return now;
}

static bool gets_to(struct fixture *f, const char *from, const char *to, uint16_t dlid)
{
	struct sim_port_ref source = port_of(f, from), target = port_of(f, to);

	f->walk.tables = sim_subnet_tables(f->subnet);
	assert_int_equal(sim_walk_unicast(&f->walk,
					  sim_wiring_index(&f->wiring, source.node, source.port),
					  dlid, 256),
			 0);
	return f->walk.ends[0].arrived &&
	       f->walk.ends[0].port == sim_wiring_index(&f->wiring, target.node, target.port);
}

static void assert_all_reachable(struct fixture *f, uint8_t lmc)
{
	const struct sim_topology *topology = f->topology;

	for (uint32_t i = topology->switch_count; i < topology->node_count; i++) {
		for (uint32_t j = topology->switch_count; j < topology->node_count; j++) {
			const char *from = topology->nodes[i].name, *to = topology->nodes[j].name;
			uint16_t lid = facts_of(f, to).lid;

			for (uint16_t bits = 0; i != j && bits < 1 << lmc; bits++)
				assert_true(gets_to(f, from, to, (uint16_t)(lid + bits)));
		}
	}
}

static uint32_t count_changes(struct fixture *f, enum sim_subnet_change_type type)
{
	struct sim_subnet_change change;
	uint32_t count = 0;

	while (sim_subnet_next_change(f->subnet, &change))
		count += change.type == type;
	return count;
}

static void it_comes_up_whole(void **state)
{
	struct fixture f;

	(void)state;
	bring_up_tree(&f);
	assert_int_equal(facts_of(&f, "node1").lid, 1); /* the manager's */
	assert_int_equal(facts_of(&f, "node7").sm_lid, 1);
	assert_int_equal(facts_of(&f, "node7").state, ACM_PORT_ACTIVE);
	assert_all_reachable(&f, 0);
	assert_int_equal(sim_subnet_deadline(f.subnet), ACM_NEVER);
	assert_int_equal(count_changes(&f, SIM_SUBNET_PORT), 0);
	clean_up(&f);
}

static void lmc_takes_different_spines(void **state)
{
	struct sim_subnet_options options;
	const struct sim_tables *tables;
	struct fixture f;
	uint16_t lid;

	(void)state;
	sim_subnet_options_default(&options);
	options.lmc = 1;
	bring_up(&f, tree_text, &options);
	assert_all_reachable(&f, 1);
	lid = facts_of(&f, "node12").lid; /* on leaf3 */
	assert_int_equal(lid % 2, 0);
	assert_int_equal(facts_of(&f, "node12").lmc, 1);
	tables = sim_subnet_tables(f.subnet);
	assert_int_not_equal(tables->switches[2].lft[lid], tables->switches[2].lft[lid + 1]);
	clean_up(&f);
}

static void ways_are_balanced(void **state)
{
	uint32_t by_port[13] = {0}, most = 0, least = UINT32_MAX;
	const struct sim_tables *tables;
	struct fixture f;

	(void)state;
	bring_up_tree(&f);
	tables = sim_subnet_tables(f.subnet);
	for (uint32_t i = 5; i <= 12; i++) {
		char name[16];

		snprintf(name, sizeof(name), "node%u", i);
		by_port[tables->switches[2].lft[facts_of(&f, name).lid]]++;
	}
	for (uint32_t i = 0; i < 13; i++) {
		if (!by_port[i])
			continue;
		most = by_port[i] > most ? by_port[i] : most;
		least = by_port[i] < least ? by_port[i] : least;
	}
	assert_int_equal(most, 4);
	assert_int_equal(least, 4);
	clean_up(&f);
}

static void pkey_tables_are_in_order(void **state)
{
	struct acm_port_facts facts;
	struct fixture f;

	(void)state;
	bring_up_tree(&f);
	facts = facts_of(&f, "node1");
	assert_int_equal(facts.pkey_count, 3);
	assert_int_equal(facts.pkeys[0], 0xffff);
	/* By their bytes in network order, read the other way round. */
	assert_int_equal(facts.pkeys[1], 0x8100);
	assert_int_equal(facts.pkeys[2], 0x8010);
	assert_int_equal(facts_of(&f, "node5").pkeys[1], 0x0010);
	assert_int_equal(facts_of(&f, "node12").pkey_count, 1);
	clean_up(&f);
}

static void memberships_change(void **state)
{
	struct sim_port_ref port;
	struct fixture f;
	uint32_t first, second;

	(void)state;
	bring_up_tree(&f);
	port = port_of(&f, "node5");
	first = sim_subnet_port_index(f.subnet, port);
	second = sim_subnet_port_index(f.subnet, port_of(&f, "node6"));
	assert_int_equal(sim_subnet_set_membership(f.subnet, port, 0x7fff, SIM_MEMBER_NONE), 0);
	assert_int_equal(facts_of(&f, "node5").pkeys[0], 0);
	/* Both are limited in what is left. */
	assert_int_equal(sim_subnet_common_pkey(f.subnet, first, second), 0);
	assert_int_equal(sim_subnet_set_membership(f.subnet, port, 0x10, SIM_MEMBER_FULL), 0);
	assert_int_equal(facts_of(&f, "node5").pkeys[1], 0x8010);
	assert_int_equal(sim_subnet_common_pkey(f.subnet, first, second), 0x8010);
	assert_int_equal(sim_subnet_common_pkey(f.subnet, second, first), 0x0010);
	assert_int_equal(sim_subnet_set_membership(f.subnet, port, 0x30, SIM_MEMBER_LIMITED), 0);
	assert_int_equal(facts_of(&f, "node5").pkeys[0], 0x30); /* the first free place */
	assert_int_equal(count_changes(&f, SIM_SUBNET_PORT), 1);
	clean_up(&f);
}

static void a_lost_link_is_routed_around(void **state)
{
	struct fixture f;
	uint32_t leaf, spine, port = 1;

	(void)state;
	bring_up_tree(&f);
	leaf = sim_topology_find(f.topology, "leaf1");
	spine = sim_topology_find(f.topology, "spine1");
	while (f.topology->nodes[leaf].ports[port].peer != spine)
		port++;
	assert_int_equal(sim_subnet_cut_link(f.subnet, leaf, (uint8_t)port, 5 * MSEC), 0);
	assert_int_equal(sim_wiring_cut(&f.wiring, leaf, (uint8_t)port), 0);
	/* A trap, and a sweep: until then the old tables. */
	assert_int_equal(sim_subnet_deadline(f.subnet), 6 * MSEC);
	assert_int_equal(count_changes(&f, SIM_SUBNET_TABLES), 0);
	assert_int_equal(settle(&f), 16 * MSEC);
	assert_int_equal(count_changes(&f, SIM_SUBNET_TABLES), 1);
	assert_all_reachable(&f, 0);
	clean_up(&f);
}

static void a_port_that_returns_registers_anew(void **state)
{
	struct sim_subnet_change change;
	struct sim_group *group;
	struct acm_mcmember record = {
		.mgid = {{0xff, 0x15, 0x40, 0x01}}, .mtu = 4, .rate = 3, .pkey = 0xffff};
	struct fixture f;
	uint32_t node, port;
	uint64_t now;

	(void)state;
	bring_up_tree(&f);
	node = port_of(&f, "node5").node;
	port = sim_subnet_port_index(f.subnet, port_of(&f, "node5"));
	assert_int_equal(sim_subnet_add_group(f.subnet, &record, &group), 0);
	assert_int_equal(sim_subnet_join(f.subnet, group, port, false, 1, 0), 0);
	settle(&f);
	count_changes(&f, SIM_SUBNET_TABLES);
	assert_int_equal(sim_subnet_stop_node(f.subnet, node, 20 * MSEC), 0);
	assert_int_equal(facts_of(&f, "node5").state, ACM_PORT_DOWN);
	assert_true(sim_subnet_next_change(f.subnet, &change));
	assert_int_equal(change.type, SIM_SUBNET_PORT);
	assert_int_equal(change.port.node, node);
	now = settle(&f);
	assert_null(sim_subnet_find_group(f.subnet, &record.mgid)); /* its last member is gone */
	count_changes(&f, SIM_SUBNET_TABLES);
	assert_int_equal(sim_subnet_start_node(f.subnet, node, now + MSEC), 0);
	assert_int_equal(facts_of(&f, "node5").state, ACM_PORT_INIT);
	settle(&f);
	assert_int_equal(facts_of(&f, "node5").state, ACM_PORT_ACTIVE);
	assert_int_equal(count_changes(&f, SIM_SUBNET_REREGISTER), 1);
	assert_all_reachable(&f, 0);
	clean_up(&f);
}

static void changes_during_a_sweep_wait_for_the_next(void **state)
{
	struct fixture f;
	uint32_t node;

	(void)state;
	bring_up_tree(&f);
	node = port_of(&f, "node5").node;
	sim_subnet_stop_node(f.subnet, node, 0);
	sim_subnet_advance(f.subnet, MSEC); /* the sweep begins */
	sim_subnet_start_node(f.subnet, node, 2 * MSEC);
	sim_subnet_advance(f.subnet, 11 * MSEC);
	assert_int_equal(facts_of(&f, "node5").state, ACM_PORT_INIT);
	assert_int_equal(sim_subnet_deadline(f.subnet), 12 * MSEC);
	assert_int_equal(settle(&f), 22 * MSEC);
	assert_int_equal(facts_of(&f, "node5").state, ACM_PORT_ACTIVE);
	clean_up(&f);
}

static void fail_over(struct fixture *f, enum sim_lids lids)
{
	struct sim_port_ref standby = port_of(f, "node9");

	assert_int_equal(sim_subnet_fail_over(f->subnet, standby.node, lids, 0), 0);
	assert_false(sim_subnet_is_managed(f->subnet));
	settle(f);
	assert_true(sim_subnet_is_managed(f->subnet));
	assert_int_equal(count_changes(f, SIM_SUBNET_REREGISTER), 12);
	assert_int_equal(facts_of(f, "node3").sm_lid, facts_of(f, "node9").lid);
	assert_all_reachable(f, 0);
}

static void a_standby_takes_over(void **state)
{
	struct fixture f;
	uint16_t before;

	(void)state;
	bring_up_tree(&f);
	before = facts_of(&f, "node3").lid;
	fail_over(&f, SIM_LIDS_KEPT);
	assert_int_equal(facts_of(&f, "node3").lid, before);
	assert_int_equal(facts_of(&f, "node1").lid, 1);
	fail_over(&f, SIM_LIDS_REASSIGNED);
	assert_int_equal(facts_of(&f, "node9").lid, 1);
	assert_int_not_equal(facts_of(&f, "node1").lid, 1);
	assert_int_equal(sim_subnet_fail_over(f.subnet, 0, SIM_LIDS_KEPT, 0), -EINVAL);
	clean_up(&f);
}

static void mlids_are_given_out_and_shared(void **state)
{
	struct acm_mcmember record = {
		.mgid = {{0xff, 0x15, 0x40, 0x01}}, .mtu = 4, .rate = 3, .pkey = 0xffff};
	struct sim_subnet_options options;
	struct sim_group *first, *second;
	struct acm_gid mgid = record.mgid;
	struct fixture f;

	(void)state;
	sim_subnet_options_default(&options);
	options.mlid_count = 3;
	bring_up(&f, tree_text, &options);
	/* IPv4's broadcasts have the first. */
	assert_int_equal(sim_subnet_add_group(f.subnet, &record, &first), 0);
	assert_int_equal(first->record.mlid, 0xc001);
	record.mgid.raw[15] = 1;
	assert_int_equal(sim_subnet_add_group(f.subnet, &record, &second), 0);
	assert_int_equal(second->record.mlid, 0xc002);
	record.mgid.raw[15] = 2;
	assert_int_equal(sim_subnet_add_group(f.subnet, &record, &second), -ENOSPC);
	record.mgid.raw[15] = 1;
	assert_int_equal(sim_subnet_share_mlid(f.subnet, &mgid, &record.mgid, 0), 0);
	assert_int_equal(second->record.mlid, 0xc001);
	assert_int_equal(sim_subnet_drop_group(f.subnet, &mgid, 0), 0);
	assert_int_equal(sim_subnet_drop_group(f.subnet, &mgid, 0), -ENOENT);
	assert_int_equal(sim_subnet_share_mlid(f.subnet, &mgid, &record.mgid, 0), -ENOENT);
	clean_up(&f);
}

static uint32_t count_receivers(struct fixture *f, const char *from, uint16_t mlid)
{
	struct sim_port_ref source = port_of(f, from);
	uint32_t count = 0;

	f->walk.tables = sim_subnet_tables(f->subnet);
	assert_int_equal(sim_walk_multicast(&f->walk,
					    sim_wiring_index(&f->wiring, source.node, source.port),
					    mlid, 256),
			 0);
	for (uint32_t i = 0; i < f->walk.count; i++)
		count += f->walk.ends[i].arrived;
	return count;
}

static void trees_follow_joins(void **state)
{
	struct acm_mcmember record = {
		.mgid = {{0xff, 0x15, 0x40, 0x01}}, .mtu = 4, .rate = 3, .pkey = 0xffff};
	struct sim_group *group;
	struct fixture f;

	(void)state;
	bring_up_tree(&f);
	assert_int_equal(sim_subnet_add_group(f.subnet, &record, &group), 0);
	for (uint32_t i = 1; i <= 12; i += 3) {
		char name[16];

		snprintf(name, sizeof(name), "node%u", i);
		assert_int_equal(sim_subnet_join(f.subnet, group,
						 sim_subnet_port_index(f.subnet, port_of(&f, name)),
						 false, 1, 7 * MSEC),
				 0);
	}
	assert_int_equal(sim_subnet_deadline(f.subnet), 8 * MSEC);
	assert_int_equal(count_receivers(&f, "node1", 0xc001), 0);
	sim_subnet_advance(f.subnet, 8 * MSEC);
	assert_int_equal(count_receivers(&f, "node1", 0xc001), 3);
	assert_int_equal(count_receivers(&f, "node2", 0xc001), 4); /* who is not in it may send */
	sim_subnet_leave(f.subnet, group, sim_subnet_port_index(f.subnet, port_of(&f, "node10")), 1,
			 9 * MSEC);
	settle(&f);
	assert_int_equal(count_receivers(&f, "node1", 0xc001), 2);
	/* One alone has none. */
	for (uint32_t i = 4; i <= 7; i += 3) {
		char name[16];

		snprintf(name, sizeof(name), "node%u", i);
		assert_int_equal(count_receivers(&f, "node2", 0xc001), i == 4 ? 3 : 2);
		sim_subnet_leave(f.subnet, group,
				 sim_subnet_port_index(f.subnet, port_of(&f, name)), 1, 9 * MSEC);
		settle(&f);
	}
	assert_int_equal(group->member_count, 1);
	assert_int_equal(count_receivers(&f, "node2", 0xc001), 0);
	clean_up(&f);
}

static void too_many_lids_are_refused(void **state)
{
	struct sim_topology *topology = small_topology_star(200);
	struct sim_subnet_options options;
	struct sim_subnet *subnet;
	char why[256] = "";

	(void)state;
	sim_subnet_options_default(&options);
	options.lmc = 8;
	assert_int_equal(sim_subnet_create(topology, &options, &subnet, why, sizeof(why)), -EINVAL);
	options.lmc = 7; /* 25,600 and more: fits */
	assert_int_equal(sim_subnet_create(topology, &options, &subnet, why, sizeof(why)), 0);
	sim_subnet_destroy(subnet);
	sim_topology_free(topology);
	topology = small_topology_parse("fabric: large\ngenerate: { kind: fat-tree, radix: 64, "
					"levels: 3, hosts: 50000 }\n");
	options.lmc = 0;
	assert_int_equal(sim_subnet_create(topology, &options, &subnet, why, sizeof(why)), -E2BIG);
	assert_non_null(strstr(why, "one subnet has 49151"));
	sim_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_up_whole),
		cmocka_unit_test(lmc_takes_different_spines),
		cmocka_unit_test(ways_are_balanced),
		cmocka_unit_test(pkey_tables_are_in_order),
		cmocka_unit_test(memberships_change),
		cmocka_unit_test(a_lost_link_is_routed_around),
		cmocka_unit_test(a_port_that_returns_registers_anew),
		cmocka_unit_test(changes_during_a_sweep_wait_for_the_next),
		cmocka_unit_test(a_standby_takes_over),
		cmocka_unit_test(mlids_are_given_out_and_shared),
		cmocka_unit_test(trees_follow_joins),
		cmocka_unit_test(too_many_lids_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
