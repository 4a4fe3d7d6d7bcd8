/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include "topology_text.h"

/* Links from each switch whose name begins with `prefix` to nodes whose names begin with `peers`.
 */
static void assert_degree(const struct sim_topology *t, const char *prefix, const char *peers,
			  uint32_t expected)
{
	for (uint32_t i = 0; i < t->switch_count; i++) {
		uint32_t degree = 0;

		if (strncmp(t->nodes[i].name, prefix, strlen(prefix)))
			continue;
		for (uint8_t p = 1; p <= t->nodes[i].port_count; p++) {
			uint32_t peer = t->nodes[i].ports[p].peer;

			degree += peer != SIM_NONE &&
				  !strncmp(t->nodes[peer].name, peers, strlen(peers));
		}
		assert_int_equal(degree, expected);
	}
}

/* Both ends of every link agree. */
static void assert_links_hold(const struct sim_topology *t)
{
	for (uint32_t i = 0; i < t->node_count; i++) {
		for (uint8_t p = 1; p <= t->nodes[i].port_count; p++) {
			const struct sim_port *port = &t->nodes[i].ports[p];
			const struct sim_port *back;

			if (port->peer == SIM_NONE)
				continue;
			back = &t->nodes[port->peer].ports[port->peer_port];
			assert_int_equal(back->peer, i);
			assert_int_equal(back->peer_port, p);
			assert_int_equal(back->link, port->link);
		}
	}
}

static void assert_fault(const char *text, const char *expected)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors;

	assert_int_equal(sim_topology_parse("t", text, strlen(text), &topology, &errors), -EINVAL);
	if (errors.count != 1 || strncmp(errors.lines[0], expected, strlen(expected)))
		fail_msg("%u faults, the first \"%s\", not \"%s\"", errors.count, errors.lines[0],
			 expected);
	sim_errors_free(&errors);
}

static void a_star(void **state)
{
	struct sim_topology *t = load_text("generate: { kind: star, hosts: 12, radix: 16 }\n");

	(void)state;
	assert_int_equal(t->switch_count, 1);
	assert_int_equal(t->host_count, 12);
	assert_int_equal(t->link_count, 12);
	assert_int_equal(t->nodes[0].port_count, 16);
	assert_string_equal(t->nodes[0].name, "switch1");
	assert_string_equal(t->nodes[1].name, "node01");
	assert_string_equal(t->nodes[12].name, "node12");
	assert_degree(t, "switch", "node", 12);
	assert_links_hold(t);
	sim_topology_free(t);
}

static void two_levels(void **state)
{
	struct sim_topology *t = load_text(
		"link: { speed: hdr }\n"
		"generate: { kind: fat-tree, radix: 36, levels: 2, hosts: 648, names: "
		"\"r[01-36]n[01-18]\","
		" addresses: [ \"{name}\", \"10.1.{n/256}.{n%256}\" ], device: mlx5_1 }\n");

	(void)state;
	assert_int_equal(t->switch_count, 54);
	assert_int_equal(t->host_count, 648);
	assert_int_equal(t->link_count, 648 + 36 * 18);
	assert_degree(t, "leaf", "r", 18);
	assert_degree(t, "leaf", "spine", 18);
	assert_degree(t, "spine", "leaf", 36);
	assert_links_hold(t);
	assert_string_equal(t->nodes[54 + 18].name, "r02n01");
	assert_string_equal(t->nodes[t->nodes[54 + 18].ports[1].peer].name, "leaf2");
	assert_string_equal(t->nodes[54].device, "mlx5_1");
	assert_memory_equal(t->nodes[54 + 255].addresses[1].data, "\x0a\x01\x01\x00", 4);
	assert_int_equal(t->links[0].speed, SIM_HDR);
	sim_topology_free(t);
}

static void three_levels(void **state)
{
	struct sim_topology *t =
		load_text("generate: { kind: fat-tree, radix: 8, levels: 3, hosts: 128 }\n");

	(void)state;
	assert_int_equal(t->switch_count, 32 + 32 + 16);
	assert_int_equal(t->link_count, 128 * 3);
	assert_degree(t, "leaf", "node", 4);
	assert_degree(t, "leaf", "spine", 4);
	assert_degree(t, "spine", "leaf", 4);
	assert_degree(t, "spine", "core", 4);
	assert_degree(t, "core", "spine", 8);
	assert_links_hold(t);
	sim_topology_free(t);
}

static void only_the_switches_that_are_needed(void **state)
{
	struct sim_topology *t =
		load_text("generate: { kind: fat-tree, radix: 8, levels: 3, hosts: 17 }\n");

	(void)state;
	/* Five leaves in two pods of four spines, 16 cores. */
	assert_int_equal(t->switch_count, 5 + 8 + 16);
	assert_int_equal(t->link_count, 17 + 5 * 4 + 8 * 4);
	assert_links_hold(t);
	sim_topology_free(t);
}

static void nodes_may_be_added(void **state)
{
	struct sim_topology *t =
		load_text("generate: { kind: star, hosts: 2, radix: 8 }\n"
			  "switches: [ { name: more } ]\n"
			  "hosts: [ { name: sm1 } ]\n"
			  "sm: { node: sm1 }\n"
			  "links: [ sm1 -- switch1, switch1 -- more ]\n"
			  "partitions: [ { name: p, pkey: 3, full: \"node[1-2]\" } ]\n");

	(void)state;
	assert_int_equal(t->switch_count, 2);
	assert_int_equal(t->host_count, 3);
	assert_int_equal(t->link_count, 4);
	assert_string_equal(t->nodes[t->sm].name, "sm1");
	assert_links_hold(t);
	sim_topology_free(t);
}

static uint32_t find(const struct sim_topology *t, const char *name)
{
	uint32_t node = sim_topology_find(t, name);

	if (node == SIM_NONE)
		fail_msg("there is no '%s'", name);
	return node;
}

/* Links that join the two. */
static uint32_t links_between(const struct sim_topology *t, const char *a, const char *b)
{
	uint32_t left = find(t, a), right = find(t, b), count = 0;

	for (uint8_t p = 1; p <= t->nodes[left].port_count; p++)
		count += t->nodes[left].ports[p].peer == right;
	return count;
}

static void a_torus_of_three_dimensions(void **state)
{
	struct sim_topology *t = load_text(
		"generate: { kind: torus, dims: [4, 3, 2], hosts_per_switch: 2, radix: 7, names: "
		"\"n[1-48]\", addresses: [ \"{name}\", \"10.0.0.{n}\" ], device: mlx5_1 }\n");

	(void)state;
	assert_int_equal(t->switch_count, 24);
	assert_int_equal(t->host_count, 48);
	/* Two neighbours in dimensions of 3 and 4, one in that of 2. */
	assert_int_equal(t->link_count, 48 + 24 * 5 / 2);
	assert_degree(t, "switch", "n", 2);
	assert_degree(t, "switch", "switch", 5);
	assert_links_hold(t);
	assert_int_equal(links_between(t, "switch1-1-1", "switch2-1-1"), 1);
	assert_int_equal(links_between(t, "switch1-1-1", "switch4-1-1"), 1);
	assert_int_equal(links_between(t, "switch1-1-1", "switch3-1-1"), 0);
	assert_int_equal(links_between(t, "switch1-1-1", "switch1-3-1"), 1);
	assert_int_equal(links_between(t, "switch1-1-1", "switch1-1-2"), 1);
	assert_int_equal(links_between(t, "switch4-3-2", "switch1-3-2"), 1);
	assert_int_equal(links_between(t, "switch4-3-2", "switch1-1-2"), 0);
	assert_int_equal(links_between(t, "n1", "switch1-1-1"), 1);
	assert_int_equal(links_between(t, "n3", "switch1-1-2"), 1);
	assert_int_equal(links_between(t, "n48", "switch4-3-2"), 1);
	assert_memory_equal(t->nodes[find(t, "n48")].addresses[1].data, "\x0a\x00\x00\x30", 4);
	assert_string_equal(t->nodes[find(t, "n48")].device, "mlx5_1");
	sim_topology_free(t);
}

static void a_torus_of_pairs_with_two_links(void **state)
{
	struct sim_topology *t =
		load_text("generate: { kind: torus, dims: [2, 2], pair_links: 2, hosts: 4 }\n");

	(void)state;
	assert_int_equal(t->switch_count, 4);
	assert_int_equal(t->link_count, 4 + 8);
	assert_int_equal(links_between(t, "switch1-1", "switch1-2"), 2);
	assert_int_equal(links_between(t, "switch1-1", "switch2-2"), 0);
	assert_degree(t, "switch", "switch", 4);
	sim_topology_free(t);
}

/* 21 hosts on 8 switches: two or three each. */
static void hosts_of_a_torus_are_spread(void **state)
{
	struct sim_topology *t = load_text("generate: { kind: torus, dims: [8], hosts: 21 }\n");

	(void)state;
	assert_int_equal(t->link_count, 21 + 8);
	for (uint32_t i = 0; i < t->switch_count; i++) {
		uint32_t hosts = 0;

		for (uint8_t p = 1; p <= t->nodes[i].port_count; p++)
			hosts += t->nodes[i].ports[p].peer != SIM_NONE &&
				 t->nodes[i].ports[p].peer >= t->switch_count;
		assert_in_range(hosts, 2, 3);
	}
	sim_topology_free(t);
}

/* Links between each two groups of a dragonfly are `expected`. */
static void assert_groups_joined(const struct sim_topology *t, uint32_t groups, uint32_t expected)
{
	uint32_t *links = calloc((size_t)groups * groups, sizeof(*links));
	uint32_t each = t->switch_count / groups;

	assert_non_null(links);
	for (uint32_t i = 0; i < t->link_count; i++) {
		const struct sim_link *link = &t->links[i];

		if (link->node[0] >= t->switch_count || link->node[1] >= t->switch_count)
			continue;
		links[link->node[0] / each * groups + link->node[1] / each]++;
		links[link->node[1] / each * groups + link->node[0] / each]++;
	}
	for (uint32_t i = 0; i < groups; i++) {
		for (uint32_t j = 0; j < groups; j++)
			assert_int_equal(links[i * groups + j],
					 i == j ? each * (each - 1) : expected);
	}
	free(links);
}

static void a_balanced_dragonfly(void **state)
{
	struct sim_topology *t = load_text("generate: { kind: dragonfly, radix: 7 }\n");

	(void)state;
	assert_int_equal(t->switch_count, 9 * 4);
	assert_int_equal(t->host_count, 72);
	assert_int_equal(t->link_count, 72 + 9 * 6 + 36);
	/* Every port is used. */
	assert_degree(t, "switch", "node", 2);
	assert_degree(t, "switch", "switch", 5);
	assert_links_hold(t);
	assert_groups_joined(t, 9, 1);
	assert_int_equal(links_between(t, "switch1-1", "switch1-4"), 1);
	assert_int_equal(links_between(t, "node72", "switch9-4"), 1);
	sim_topology_free(t);
}

static void a_dragonfly_of_given_numbers(void **state)
{
	struct sim_topology *t = load_text(
		"generate: { kind: dragonfly, groups: 4, switches_per_group: 3, "
		"hosts_per_switch: 5, global_links: 2, hosts: 50, names: \"h[01-50]\" }\n");

	(void)state;
	assert_int_equal(t->switch_count, 12);
	assert_int_equal(t->host_count, 50);
	assert_int_equal(t->nodes[0].port_count, 5 + 2 + 2);
	assert_groups_joined(t, 4, 2);
	assert_links_hold(t);
	assert_string_equal(t->nodes[12].name, "h01");
	sim_topology_free(t);
}

/* Seven links for three peers: two each, one unused; no switch has more than its ports. */
static void a_dragonfly_with_links_to_spare(void **state)
{
	struct sim_topology *t =
		load_text("generate: { kind: dragonfly, groups: 4, switches_per_group: 7, "
			  "hosts_per_switch: 1, global_links: 1 }\n");

	(void)state;
	assert_groups_joined(t, 4, 2);
	assert_links_hold(t);
	sim_topology_free(t);
	t = load_text("generate: { kind: dragonfly, groups: 1, hosts_per_switch: 2 }\n");
	assert_groups_joined(t, 1, 0);
	sim_topology_free(t);
}

static void faults_of_a_torus(void **state)
{
	(void)state;
	assert_fault("generate: { kind: torus, hosts: 8 }\n", "t:1:11: 'generate' has no 'dims'");
	assert_fault("generate: { kind: torus, dims: [4, 4] }\n",
		     "t:1:11: 'generate' has no 'hosts', that or 'hosts_per_switch'");
	assert_fault("generate: { kind: torus, dims: 4, hosts: 8 }\n",
		     "t:1:32: dims is a single value, a list was expected");
	assert_fault("generate: { kind: torus, dims: [], hosts: 8 }\n",
		     "t:1:32: dims has 0 numbers, 1 to 8 were expected");
	assert_fault("generate: { kind: torus, dims: [2,2,2,2,2,2,2,2,2], hosts: 8 }\n",
		     "t:1:32: dims has 9 numbers, 1 to 8 were expected");
	assert_fault("generate: { kind: torus, dims: [4, 1], hosts: 8 }\n",
		     "t:1:36: a dimension is out of range, 2 to");
	assert_fault("generate: { kind: torus, dims: [4, x], hosts: 8 }\n",
		     "t:1:36: a dimension is 'x', a number");
	assert_fault("generate: { kind: torus, dims: [1000, 1000], hosts: 8 }\n",
		     "t:1:32: these are more than 100000 switches");
	assert_fault("generate: { kind: torus, dims: [100000,100000,100000,100000], hosts: 8 }\n",
		     "t:1:32: these are more than 100000 switches");
	assert_fault("generate: { kind: torus, dims: [2], pair_links: 3, hosts: 8 }\n",
		     "t:1:49: pair_links is out of range, 1 to 2");
	assert_fault("generate: { kind: torus, dims: [4, 4], hosts_per_switch: 5, radix: 8 }\n",
		     "t:1:68: each switch needs 9 ports, 5 of them for hosts, and radix is 8: 9 or "
		     "more was expected");
	assert_fault("generate: { kind: torus, dims: [4, 4], hosts_per_switch: 40 }\n",
		     "t:1:11: each switch needs 44 ports");
	assert_fault("generate: { kind: torus, dims: [4, 4], hosts_per_switch: 251, radix: 254 }\n",
		     "t:1:11: each switch needs 255 ports, 251 of them for hosts, at most 254");
	assert_fault("generate: { kind: torus, dims: [4, 4], hosts_per_switch: 2, hosts: 33 }\n",
		     "t:1:68: 33 hosts do not fit, at most 32 were expected with 16 switches");
	assert_fault("generate: { kind: torus, dims: [300, 300], hosts_per_switch: 20 }\n",
		     "t:1:11: 1800000 hosts do not fit, at most 1000000");
	assert_fault("generate: { kind: torus, dims: [4], hosts: 8, groups: 3, radix: 300 }\n",
		     "t:1:55: kind torus has no 'groups', expected some of: hosts, radix,");
	assert_fault("generate: { kind: torus, dims: [4], hosts: 8, names: \"n[1-9]\" }\n",
		     "t:1:54: these are 9 names for 8 hosts");
}

static void faults_of_a_dragonfly(void **state)
{
	(void)state;
	assert_fault("generate: { kind: dragonfly, hosts: 8 }\n",
		     "t:1:11: 'generate' has no 'radix', that or 'hosts_per_switch'");
	assert_fault("generate: { kind: dragonfly, radix: 2 }\n", "t:1:37: radix is out of range");
	assert_fault("generate: { kind: dragonfly, radix: 255 }\n",
		     "t:1:37: radix is out of range, 3 to 254");
	assert_fault("generate: { kind: dragonfly, radix: 7, groups: 10 }\n",
		     "t:1:48: 10 groups cannot all be joined, at most 9 were expected");
	assert_fault("generate: { kind: dragonfly, radix: 7, hosts: 73 }\n",
		     "t:1:47: 73 hosts do not fit, at most 72 were expected with 36 switches");
	assert_fault("generate: { kind: dragonfly, radix: 7, switches_per_group: 5 }\n",
		     "t:1:37: each switch needs 8 ports, 2 of them for hosts, and radix is 7");
	assert_fault("generate: { kind: dragonfly, hosts_per_switch: 64 }\n",
		     "t:1:11: each switch needs 255 ports");
	assert_fault("generate: { kind: dragonfly, radix: 254 }\n",
		     "t:1:11: 7939 groups of 126 are more than 100000 switches");
	assert_fault("generate: { kind: dragonfly, radix: 7, dims: [3] }\n",
		     "t:1:46: kind dragonfly has no 'dims'");
}

static void faults(void **state)
{
	(void)state;
	assert_fault("generate: { kind: mesh, hosts: 8 }\n",
		     "t:1:19: kind is 'mesh', expected one of: fat-tree, star, torus, dragonfly, "
		     "random");
	assert_fault("generate: { hosts: 8 }\n", "t:1:11: 'generate' has no 'kind'");
	assert_fault("generate: { kind: star }\n", "t:1:11: 'generate' has no 'hosts'");
	assert_fault("generate: { kind: star, hosts: 3, levels: 2 }\n",
		     "t:1:43: kind star has no 'levels', expected some of: hosts, radix");
	assert_fault("generate: { kind: star, hosts: 255 }\n",
		     "t:1:32: 255 hosts do not fit, at most 254");
	assert_fault("generate: { kind: fat-tree, radix: 36, hosts: 649 }\n",
		     "t:1:47: 649 hosts do not fit, at most 648");
	assert_fault("generate: { kind: fat-tree, radix: 7, hosts: 4 }\n",
		     "t:1:36: radix is 7, an even number");
	assert_fault("generate: { kind: fat-tree, levels: 4, hosts: 4 }\n",
		     "t:1:37: levels is out of range");
	assert_fault("generate: { kind: star, hosts: 3, names: \"n[1-2]\" }\n",
		     "t:1:42: these are 2 names for 3 hosts");
	assert_fault("generate: { kind: star, hosts: 2, names: \"n[2-1]\" }\n",
		     "t:1:45: the range runs back");
	assert_fault("generate: { kind: star, hosts: 300, radix: 254 }\n",
		     "t:1:32: 300 hosts do not fit");
	assert_fault("generate: { kind: star, hosts: 2 }\nhosts: [ { name: node1 } ]\n",
		     "t:2:18: the name 'node1' is used already at line 1");
	assert_fault("generate: [ ]\n", "t:1:11: generate is a list");
	assert_fault("generate: { kind: fat-tree, hosts: 300, addresses: [ \"10.0.0.{n}\" ] }\n",
		     "t:1:54: address '10.0.0.{n}' of 'node256'");
}

static void a_hundred_thousand_hosts(void **state)
{
	struct sim_topology *t =
		load_text("generate: { kind: fat-tree, radix: 74, levels: 3, hosts: 100000,"
			  " addresses: [ \"{name}\", \"10.{n/65536}.{n/256%256}.{n%256}\" ] }\n");

	(void)state;
	assert_int_equal(t->host_count, 100000);
	assert_string_equal(t->nodes[sim_topology_find(t, "node099999")].name, "node099999");
	sim_topology_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_star),
		cmocka_unit_test(two_levels),
		cmocka_unit_test(three_levels),
		cmocka_unit_test(only_the_switches_that_are_needed),
		cmocka_unit_test(nodes_may_be_added),
		cmocka_unit_test(a_torus_of_three_dimensions),
		cmocka_unit_test(a_torus_of_pairs_with_two_links),
		cmocka_unit_test(hosts_of_a_torus_are_spread),
		cmocka_unit_test(a_balanced_dragonfly),
		cmocka_unit_test(a_dragonfly_of_given_numbers),
		cmocka_unit_test(a_dragonfly_with_links_to_spare),
		cmocka_unit_test(faults),
		cmocka_unit_test(faults_of_a_torus),
		cmocka_unit_test(faults_of_a_dragonfly),
		cmocka_unit_test(a_hundred_thousand_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
