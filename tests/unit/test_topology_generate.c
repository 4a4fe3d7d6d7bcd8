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

static void faults(void **state)
{
	(void)state;
	assert_fault("generate: { kind: torus, hosts: 8 }\n",
		     "t:1:19: kind is 'torus', expected one of: fat-tree, star");
	assert_fault("generate: { kind: dragonfly, hosts: 8 }\n", "t:1:19: kind is 'dragonfly'");
	assert_fault("generate: { hosts: 8 }\n", "t:1:11: 'generate' has no 'kind'");
	assert_fault("generate: { kind: star }\n", "t:1:11: 'generate' has no 'hosts'");
	assert_fault("generate: { kind: star, hosts: 3, levels: 2 }\n",
		     "t:1:43: a star has no 'levels'");
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
		cmocka_unit_test(faults),
		cmocka_unit_test(a_hundred_thousand_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
