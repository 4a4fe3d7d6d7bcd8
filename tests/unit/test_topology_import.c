/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics of other programs, and topology files that say everything: each is the same fabric again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "topology_import.h"
#include "topology_text.h"

#include <dirent.h>
#include <errno.h>

static struct sim_topology *imported(const char *text)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors;
	int ret = sim_topology_import_text("site.txt", text, strlen(text), &topology, &errors);

	for (uint32_t i = 0; i < errors.count; i++)
		print_error("%s\n", errors.lines[i]);
	assert_int_equal(ret, 0);
	sim_errors_free(&errors);
	return topology;
}

static const struct sim_node *node_of(const struct sim_topology *topology, const char *name)
{
	uint32_t node = sim_topology_find(topology, name);

	if (node == SIM_NONE)
		fail_msg("there is no node %s", name);
	return &topology->nodes[node];
}

static void assert_same_port(const struct sim_topology *a, const struct sim_topology *b,
			     const struct sim_port *of_a, const struct sim_port *of_b)
{
	const struct sim_link *x, *y;

	assert_true(of_a->guid == of_b->guid);
	assert_int_equal(of_a->link == SIM_NONE, of_b->link == SIM_NONE);
	if (of_a->link == SIM_NONE)
		return;
	assert_string_equal(a->nodes[of_a->peer].name, b->nodes[of_b->peer].name);
	assert_int_equal(of_a->peer_port, of_b->peer_port);
	x = &a->links[of_a->link];
	y = &b->links[of_b->link];
	assert_int_equal(x->width, y->width);
	assert_int_equal(x->speed, y->speed);
	assert_int_equal(x->mtu, y->mtu);
	assert_int_equal(x->rate, y->rate);
	assert_true(x->latency == y->latency);
}

static void assert_same_node(const struct sim_topology *a, const struct sim_topology *b,
			     const struct sim_node *x)
{
	const struct sim_node *y = node_of(b, x->name);

	assert_int_equal(x->kind, y->kind);
	assert_true(x->guid == y->guid);
	assert_string_equal(x->device, y->device);
	assert_int_equal(x->port_count, y->port_count);
	for (uint32_t port = 1; port <= x->port_count; port++)
		assert_same_port(a, b, &x->ports[port], &y->ports[port]);
	assert_int_equal(x->address_count, y->address_count);
	for (uint32_t i = 0; i < x->address_count; i++)
		assert_memory_equal(&x->addresses[i], &y->addresses[i], sizeof(x->addresses[i]));
}

static void assert_same_partition(const struct sim_topology *a, const struct sim_topology *b,
				  uint32_t index)
{
	const struct sim_partition *x = &a->partitions[index], *y = &b->partitions[index];
	uint32_t full = 0;

	assert_string_equal(x->name, y->name);
	assert_int_equal(x->pkey, y->pkey);
	assert_int_equal(x->member_count, y->member_count);
	for (uint32_t i = 0; i < x->member_count; i++)
		full += x->members[i].full;
	for (uint32_t i = 0; i < y->member_count; i++)
		full -= y->members[i].full;
	assert_int_equal(full, 0);
}

static void assert_same(const struct sim_topology *a, const struct sim_topology *b)
{
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->link_count, b->link_count);
	for (uint32_t i = 0; i < a->node_count; i++)
		assert_same_node(a, b, &a->nodes[i]);
	assert_string_equal(a->nodes[a->sm].name, b->nodes[b->sm].name);
	assert_int_equal(a->routing, b->routing);
	assert_int_equal(a->partition_count, b->partition_count);
	for (uint32_t i = 0; i < a->partition_count; i++)
		assert_same_partition(a, b, i);
}

/* ---- written out ---- */

static struct sim_topology *written_out(const struct sim_topology *topology)
{
	char *text = written(sim_topology_write_yaml, topology);
	struct sim_topology *again = load_text(text);

	free(text);
	return again;
}

static void every_fabric_is_the_same_when_written_out(void **state)
{
	DIR *folder = opendir(SOURCE_DIR "/topologies");
	struct dirent *entry;
	uint32_t count = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		struct sim_topology *topology, *again;
		struct sim_errors errors;
		char path[512];

		if (!strstr(entry->d_name, ".yaml"))
			continue;
		snprintf(path, sizeof(path), SOURCE_DIR "/topologies/%s", entry->d_name);
		assert_int_equal(sim_topology_load(path, &topology, &errors), 0);
		again = written_out(topology);
		assert_same(topology, again);
		sim_topology_free(again);
		sim_topology_free(topology);
		count++;
	}
	closedir(folder);
	assert_true(count >= 9);
}

static void guids_and_ports_that_were_given_stay(void **state)
{
	struct sim_topology *topology =
		load_text("switches: [ { name: s, ports: 8, guid: 0xa0 } ]\n"
			  "hosts:\n"
			  "  - { name: a, guid: 0x10, port_guids: [ 0x10 ] }\n"
			  "  - { name: b, ports: 2, guid: 0x20, port_guids: [ 0x31, 0x30 ] }\n"
			  "links:\n"
			  "  - { join: \"a -- s\", ports: [ 1, 7 ], speed: hdr }\n"
			  "  - \"b -- s\"\n"
			  "  - { join: \"s -- b\", ports: [ 2, 2 ], latency: 1us, width: 1x }\n");
	struct sim_topology *again = written_out(topology);

	(void)state;
	assert_int_equal(node_of(topology, "s")->ports[7].peer, sim_topology_find(topology, "a"));
	assert_int_equal(node_of(topology, "s")->ports[1].peer, sim_topology_find(topology, "b"));
	assert_int_equal(node_of(topology, "s")->ports[2].peer_port, 2);
	assert_true(node_of(topology, "b")->ports[1].guid == 0x31);
	assert_same(topology, again);
	sim_topology_free(again);
	sim_topology_free(topology);
}

/* ---- ibnetdiscover ---- */

static const char site[] =
	"#\n# Topology file: generated on a day\n#\n"
	"\nvendid=0x2c9\ndevid=0xb924\nsysimgguid=0x2c902004056bb\n"
	"switchguid=0x2c902004056b8(2c902004056b8)\n"
	"Switch\t24 \"S-0002c902004056b8\"\t\t# \"MF0;sw one:SX/U1\" enhanced "
	"port 0 lid 3 lmc 0\n"
	"[7]\t\"H-0002c90300021b02\"[2](2c90300021b04) \t\t# \"node 07 x\" lid 9 "
	"4xEDR\n"
	"[1]\t\"H-0002c90300021a02\"[1](2c90300021a03) \t\t# \"node01 mlx5_0\" "
	"lid 1 2xHDR\n"
	"\nvendid=0x2c9\ndevid=0x1003\nsysimgguid=0x2c90300021a05\n"
	"caguid=0x2c90300021a02\n"
	"Ca\t1 \"H-0002c90300021a02\"\t\t# \"node01 mlx5_0\"\n"
	"[1](2c90300021a03) \t\"S-0002c902004056b8\"[1]\t\t# lid 1 lmc 0 \"MF0\" "
	"lid 3 2xHDR\n"
	"\ncaguid=0x2c90300021b02\n"
	"Ca\t2 \"H-0002c90300021b02\"\t\t# \"node01 mlx5_1\"\n"
	"[2](2c90300021b04) \t\"S-0002c902004056b8\"[7]\t\t# lid 9 lmc 0 \"MF0\" "
	"lid 3 4xEDR\n";

static void a_sites_fabric_is_read(void **state)
{
	struct sim_topology *topology = imported(site);
	const struct sim_node *sw = node_of(topology, "MF0-sw-one-SX-U1");
	const struct sim_node *first = node_of(topology, "node01");
	const struct sim_node *second = node_of(topology, "node01-mlx5_1");

	(void)state;
	assert_string_equal(topology->name, "site");
	assert_int_equal(topology->node_count, 3);
	assert_int_equal(topology->link_count, 2);
	assert_true(sw->guid == UINT64_C(0x2c902004056b8));
	assert_int_equal(sw->port_count, 24);
	assert_true(first->ports[1].guid == UINT64_C(0x2c90300021a03));
	assert_string_equal(first->device, "mlx5_0");
	assert_string_equal(second->device, "mlx5_1");
	assert_int_equal(second->ports[1].link, SIM_NONE);
	assert_int_equal(second->ports[2].peer_port, 7);
	assert_true(second->ports[2].guid == UINT64_C(0x2c90300021b04));
	assert_int_equal(topology->links[sw->ports[1].link].width, 2);
	assert_int_equal(topology->links[sw->ports[1].link].speed, SIM_HDR);
	assert_int_equal(topology->links[sw->ports[7].link].speed, SIM_EDR);
	assert_int_equal(topology->nodes[topology->sm].kind, SIM_HOST);
	assert_int_equal(first->address_count, 1);
	sim_topology_free(topology);
}

/* ---- netlists ---- */

static void a_netlist_is_read(void **state)
{
	struct sim_topology *topology = imported("Switch 8 \"Switch1\"\n"
						 "[1]\t\"Hca1\"[1]\n"
						 "[3]\t\"Switch2\"[4]\n"
						 "\n"
						 "Switch\t8 \"Switch2\"\n"
						 "[4]\t\"Switch1\"[3]\n"
						 "\n"
						 "Hca\t2 \"Hca1\"\r\n"
						 "[2]\t\"Switch2\"[8]");

	(void)state;
	assert_int_equal(topology->link_count, 3);
	assert_int_equal(node_of(topology, "Switch2")->ports[8].peer_port, 2);
	sim_topology_free(topology);
}

static void our_own_netlist_is_the_same_fabric(void **state)
{
	struct sim_topology *topology, *again;
	struct sim_errors errors;
	char *text;

	(void)state;
	assert_int_equal(
		sim_topology_load(SOURCE_DIR "/topologies/fat-tree-648.yaml", &topology, &errors),
		0);
	text = written(sim_topology_write_ibsim, topology);
	again = imported(text);
	assert_int_equal(again->node_count, topology->node_count);
	assert_int_equal(again->link_count, topology->link_count);
	for (uint32_t i = 0; i < topology->node_count; i++) {
		const struct sim_node *node = &topology->nodes[i],
				      *same = node_of(again, node->name);

		assert_true(node->kind == SIM_HOST || node->guid == same->guid);
		for (uint32_t port = 1; port <= node->port_count; port++) {
			if (node->ports[port].link == SIM_NONE)
				continue;
			assert_string_equal(topology->nodes[node->ports[port].peer].name,
					    again->nodes[same->ports[port].peer].name);
			assert_int_equal(node->ports[port].peer_port, same->ports[port].peer_port);
		}
	}
	free(text);
	sim_topology_free(again);
	sim_topology_free(topology);
}

/* ---- what is wrong ---- */

static void assert_refused(const char *text, const char *expected)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors;

	assert_int_equal(sim_topology_import_text("t", text, strlen(text), &topology, &errors),
			 -EINVAL);
	assert_null(topology);
	assert_true(errors.count >= 1);
	if (strncmp(errors.lines[0], expected, strlen(expected)))
		fail_msg("\"%s\" came, \"%s\" was expected", errors.lines[0], expected);
	sim_errors_free(&errors);
}

#define PAIR "Switch 4 \"s\"\n[1] \"a\"[1]\n\nCa 1 \"a\"\n[1] \"s\"[1]\n"

static void ports_without_a_guid_derive_theirs_beside_those_with_one(void **state)
{
	struct sim_topology *topology = imported("Ca 2 \"a\"\n"
						 "[1](10) \"b\"[1]\n"
						 "Ca 2 \"b\"\n"
						 "[1](20) \"a\"[1]\n");

	(void)state;
	assert_true(node_of(topology, "a")->ports[1].guid == 0x10);
	assert_true(node_of(topology, "a")->ports[2].guid == node_of(topology, "a")->guid + 3);
	assert_true(node_of(topology, "b")->ports[2].guid == node_of(topology, "b")->guid + 3);
	sim_topology_free(topology);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
	(void)state;
	assert_refused("", "t: the fabric has no channel adapters");
	assert_refused("hello\n", "t:1:1: this is no line of ibnetdiscover's");
	assert_refused("[1] \"a\"[1]\n", "t:1:1: this port belongs to no node");
	assert_refused("Ca 9 \"a\"\n", "t:1:1: a number of ports from 1 to 7");
	assert_refused("Switch 300 \"a\"\n", "t:1:1: a number of ports from 1 to 254");
	assert_refused("Switch 4 a\n", "t:1:1: a number of ports from 1 to 254 and a name");
	assert_refused("Rt 1 \"r\"\n", "t:1:1: a router joins subnets");
	assert_refused(PAIR "[2] \"s\"[2]\n", "t:6:1: a port in brackets that the node above has");
	assert_refused(PAIR "[1] \"s\"[2]\n", "t:6:1: the node above has this port already");
	assert_refused(PAIR "Ca 1 \"a\"\n", "t:6:1: this node is there already");
	assert_refused("Ca 1 \"a\"\n[1] \"s\"\n", "t:2:1: the other end was expected");
	assert_refused("Ca 1 \"a\"\n[1] \"s\"[1]\n", "t:2:1: the node at the other end is not in");
	assert_refused("Switch 4 \"s\"\nCa 1 \"a\"\n[1] \"s\"[5]\n",
		       "t:3:1: the node at the other end has no such port");
	assert_refused("Switch 4 \"s\"\n[2] \"a\"[1]\nCa 1 \"a\"\n[1] \"s\"[3]\n",
		       "t:2:1: the other end names another port");
	assert_refused("Ca 2 \"a\"\n[1] \"a\"[2]\n", "t:2:1: a node is joined with itself");
	assert_refused("caguid=0xffffffffffffffff\nCa 1 \"a\"\n",
		       "t:2:1: the GUID of the node leaves no room");
}

static void damaged_text_never_crashes(void **state)
{
	char text[sizeof(site)];

	(void)state;
	for (size_t at = 0; at + 1 < sizeof(site); at++) {
		struct sim_topology *topology = NULL;
		struct sim_errors errors;

		memcpy(text, site, sizeof(site));
		text[at] = (char)(text[at] ^ (1 << at % 8));
		if (!sim_topology_import_text("t", text, sizeof(site) - 1, &topology, &errors))
			sim_topology_free(topology);
		sim_errors_free(&errors);
		if (!sim_topology_import_text("t", site, at, &topology, &errors))
			sim_topology_free(topology);
		sim_errors_free(&errors);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fabric_is_the_same_when_written_out),
		cmocka_unit_test(guids_and_ports_that_were_given_stay),
		cmocka_unit_test(a_sites_fabric_is_read),
		cmocka_unit_test(ports_without_a_guid_derive_theirs_beside_those_with_one),
		cmocka_unit_test(a_netlist_is_read),
		cmocka_unit_test(our_own_netlist_is_the_same_fabric),
		cmocka_unit_test(what_is_wrong_is_told_with_its_line),
		cmocka_unit_test(damaged_text_never_crashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
