/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include "topology_text.h"

/* A fabric without faults, to which tests add lines. */
#define SMALL                                                                                      \
	"switches: [ { name: \"s[1-2]\", ports: 4 } ]\n"                                           \
	"hosts: [ { name: \"n[1-4]\" } ]\n"

/* All lines of all faults, each with '\n'. */
static char *faults_of(const char *text, size_t length)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors;
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);
	int ret = sim_topology_parse("t", text, length, &topology, &errors);

	for (uint32_t i = 0; i < errors.count; i++)
		fprintf(out, "%s\n", errors.lines[i]);
	fclose(out);
	assert_int_equal(ret, errors.count ? -EINVAL : 0);
	sim_errors_free(&errors);
	sim_topology_free(topology);
	return all;
}

/* The faults are exactly as many as there are parts, and each begins with its part. */
static void check_faults(const char *text, const char *const *parts, size_t count)
{
	char *all = faults_of(text, strlen(text));
	char *line = all;

	for (size_t i = 0; i < count; i++) {
		if (strncmp(line, parts[i], strlen(parts[i])))
			fail_msg("expected \"%s...\" in\n%sof\n%s", parts[i], all, text);
		line = strchr(line, '\n') + 1;
	}
	if (*line)
		fail_msg("more than %zu faults:\n%sof\n%s", count, all, text);
	free(all);
}

#define assert_faults(text, ...)                                                                   \
	do {                                                                                       \
		const char *const parts_[] = {__VA_ARGS__};                                        \
		check_faults(text, parts_, sizeof(parts_) / sizeof(*parts_));                      \
	} while (0)

static void the_documented_example(void **state)
{
	struct sim_topology *t = NULL;
	struct sim_errors errors;
	const struct sim_node *node;
	uint32_t n09;

	(void)state;
	assert_int_equal(sim_topology_load(SOURCE_DIR "/topologies/two-tier.yaml", &t, &errors), 0);
	assert_string_equal(t->name, "two-tier");
	assert_int_equal(t->switch_count, 6);
	assert_int_equal(t->host_count, 33);
	assert_int_equal(t->link_count, 8 + 32 + 1);
	assert_string_equal(t->nodes[t->sm].name, "sm1");
	assert_int_equal(t->routing, SIM_ROUTING_MINHOP);
	n09 = sim_topology_find(t, "node09");
	node = &t->nodes[n09];
	assert_int_equal(node->kind, SIM_HOST);
	assert_string_equal(node->device, "mlx5_0");
	assert_int_equal(node->address_count, 3);
	assert_int_equal(node->addresses[0].type, ACM_ADDRESS_NAME);
	assert_memory_equal(node->addresses[0].data, "node09", 7);
	assert_int_equal(node->addresses[1].type, ACM_ADDRESS_IP);
	assert_memory_equal(node->addresses[1].data, "\x0a\x00\x00\x09", 4);
	assert_int_equal(node->addresses[2].type, ACM_ADDRESS_IP6);
	assert_int_equal(node->addresses[2].data[15], 9);
	assert_string_equal(t->nodes[node->ports[1].peer].name, "leaf2");
	assert_int_equal(node->ports[1].peer_port, 3);
	assert_int_equal(t->partition_count, 1);
	assert_int_equal(t->partitions[0].pkey, 0x10);
	assert_int_equal(t->partitions[0].member_count, 32);
	assert_true(t->partitions[0].members[7].full);
	assert_false(t->partitions[0].members[8].full);
	sim_topology_free(t);
}

static void all_topologies_load(void **state)
{
	static const char *const names[] = {"pair",        "two-tier",   "fat-tree-648",
					    "mixed-speed", "partitions", "ring-of-switches",
					    "torus-4x4",   "dragonfly",  "random"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct sim_topology *t = NULL;
		struct sim_errors errors;
		char path[256], why[256];

		snprintf(path, sizeof(path), SOURCE_DIR "/topologies/%s.yaml", names[i]);
		assert_int_equal(sim_topology_load(path, &t, &errors), 0);
		assert_string_equal(t->name, names[i]);
		assert_int_equal(sim_topology_fits_ibsim(t, why, sizeof(why)), 0);
		sim_topology_free(t);
	}
}

static void switches_come_first(void **state)
{
	struct sim_topology *t = load_text("hosts: [ { name: a } ]\nswitches: [ { name: s } ]\n");

	(void)state;
	assert_string_equal(t->nodes[0].name, "s");
	assert_string_equal(t->nodes[1].name, "a");
	assert_int_equal(t->nodes[0].port_count, 36);
	assert_int_equal(t->nodes[1].port_count, 1);
	assert_int_equal(t->sm, 1);
	assert_int_equal(sim_topology_find(t, "A"), SIM_NONE);
	assert_int_equal(sim_topology_find(t, ""), SIM_NONE);
	assert_int_equal(t->nodes[1].ports[1].peer, SIM_NONE);
	assert_int_equal(t->nodes[1].ports[1].link, SIM_NONE);
	sim_topology_free(t);
}

static void guids_come_from_names(void **state)
{
	struct sim_topology *a = load_text("hosts: [ { name: x }, { name: y, ports: 2 } ]\n");
	struct sim_topology *b =
		load_text("switches: [ { name: \"s[1-9]\" } ]\n"
			  "hosts: [ { name: y, ports: 2 }, { name: new }, { name: x } ]\n");
	const struct sim_node *x = &a->nodes[sim_topology_find(a, "x")];
	const struct sim_node *y = &a->nodes[sim_topology_find(a, "y")];

	(void)state;
	assert_int_equal(x->guid, b->nodes[sim_topology_find(b, "x")].guid);
	assert_int_equal(y->ports[2].guid, b->nodes[sim_topology_find(b, "y")].ports[2].guid);
	assert_int_not_equal(x->guid, y->guid);
	assert_int_not_equal(x->guid, x->ports[1].guid);
	assert_int_not_equal(y->ports[1].guid, y->ports[2].guid);
	assert_int_equal(x->guid >> 48, 0x02ac);
	assert_int_equal(b->nodes[0].guid, b->nodes[0].ports[3].guid);
	sim_topology_free(a);
	sim_topology_free(b);
}

static void guids_may_be_given(void **state)
{
	struct sim_topology *t = load_text("switches: [ { name: s, guid: 0x2c90000000010 } ]\n"
					   "hosts: [ { name: a, guid: 4096 } ]\n");

	(void)state;
	assert_int_equal(t->nodes[0].guid, UINT64_C(0x2c90000000010));
	assert_int_equal(t->nodes[1].guid, 4096);
	assert_int_equal(t->nodes[1].ports[1].guid, 4097);
	sim_topology_free(t);
}

static void ports_in_file_order(void **state)
{
	struct sim_topology *t = load_text(SMALL "links: [ \"s1 -- s2\", \"n[1-4] -> s[1-2]\", { "
						 "join: \"s1 -- s2\", count: 1 } ]\n");
	const struct sim_link *l = t->links;

	(void)state;
	assert_int_equal(t->link_count, 6);
	assert_int_equal(l[0].port[0], 1);
	assert_int_equal(l[0].port[1], 1);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(l[1 + i].node[0], 2 + i);
		assert_int_equal(l[1 + i].node[1], i / 2);
		assert_int_equal(l[1 + i].port[1], 2 + i % 2);
	}
	assert_int_equal(l[5].port[0], 4);
	assert_int_equal(t->nodes[0].ports[4].peer, 1);
	assert_int_equal(t->nodes[0].ports[4].peer_port, 4);
	assert_int_equal(t->nodes[0].ports[4].link, 5);
	sim_topology_free(t);
}

static void hosts_with_two_ports(void **state)
{
	struct sim_topology *t = load_text("switches: [ { name: \"s[1-2]\" } ]\n"
					   "hosts: [ { name: \"n[1-2]\", ports: 2 } ]\n"
					   "links: [ \"n[1-2] -- s[1-2]\" ]\n");

	(void)state;
	assert_int_equal(t->link_count, 4);
	assert_int_equal(t->nodes[2].ports[1].peer, 0);
	assert_int_equal(t->nodes[2].ports[2].peer, 1);
	assert_int_equal(t->nodes[3].ports[2].peer, 1);
	assert_int_equal(t->nodes[3].ports[2].peer_port, 2);
	sim_topology_free(t);
}

static void link_attributes(void **state)
{
	struct sim_topology *t = load_text(
		"link: { width: 1x, speed: SDR, mtu: 1024, latency: 1.5us }\n" SMALL "links:\n"
		"  - n1 -- s1\n"
		"  - { join: n2 -- s1, width: 12x, speed: ndr, mtu: 4096, latency: 2ms }\n"
		"  - { join: n3 -- s1, width: 4x, speed: hdr, latency: 0ns }\n");

	(void)state;
	assert_int_equal(t->links[0].width, 1);
	assert_int_equal(t->links[0].speed, SIM_SDR);
	assert_int_equal(t->links[0].mtu, 3);
	assert_int_equal(acm_rate_tenths_gbps(t->links[0].rate), 25);
	assert_int_equal(t->links[0].latency, 1500);
	assert_int_equal(t->links[1].mtu, 5);
	assert_int_equal(acm_rate_tenths_gbps(t->links[1].rate), 12000);
	assert_int_equal(t->links[1].latency, 2000000);
	assert_int_equal(acm_rate_tenths_gbps(t->links[2].rate), 2000);
	assert_int_equal(t->links[2].latency, 0);
	sim_topology_free(t);
}

static void address_arithmetic(void **state)
{
	struct sim_topology *t = load_text("hosts: [ { name: \"n[1-300]\", addresses: [ "
					   "\"{name}.example\", \"10.0.{n/256}.{n%256}\","
					   " \"fd00::{n-1/100+7}:{n}\" ] } ]\n");
	const struct sim_node *last = &t->nodes[299];

	(void)state;
	assert_memory_equal(last->addresses[0].data, "n300.example", 13);
	assert_memory_equal(last->addresses[1].data, "\x0a\x00\x01\x2c", 4);
	assert_memory_equal(last->addresses[2].data + 12, "\x00\x09\x03\x00", 4);
	sim_topology_free(t);
}

static void aliases_work(void **state)
{
	struct sim_topology *t = load_text("hosts:\n"
					   "  - { name: a, addresses: &list [ \"{name}\" ] }\n"
					   "  - { name: b, addresses: *list }\n");

	(void)state;
	assert_int_equal(t->nodes[1].address_count, 1);
	sim_topology_free(t);
}

static void the_default_partition(void **state)
{
	struct sim_topology *t = load_text(
		SMALL "partitions: [ { name: all, pkey: 0x7fff, limited: \"n[2-3]\" } ]\n");

	(void)state;
	assert_int_equal(t->partitions[0].member_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(t->partitions[0].members[i].node, 2 + i);
		assert_int_equal(t->partitions[0].members[i].full, i == 0 || i == 3);
	}
	sim_topology_free(t);
}

static void faults_of_syntax(void **state)
{
	static const char nul[] = "fabric: a\0b\n";
	char *all;

	(void)state;
	assert_faults("", "t:1:1: the file is empty");
	assert_faults("# only this\n", "t:1:1: the file is empty");
	assert_faults("---\n", "t:2:1: the topology is nothing, a map was expected");
	assert_faults("hosts: [ { name: a }\nlinks: []\n", "t:2:1: this is not YAML");
	assert_faults("hosts:\n\t- a\n", "t:2:1: this is not YAML");
	assert_faults("hosts: [ *nobody ]\n", "t:1:10: this is not YAML: found undefined alias");
	assert_faults("hosts: [ { name: a } ]\n---\nx: 1\n",
		      "t:2:1: a second document begins here");
	assert_faults("fabric: \xff\n", "t:1:9: invalid leading UTF-8 octet");
	assert_faults("fabric: x\nsm: \xc3(\n", "t:2:6: invalid trailing UTF-8 octet");
	assert_faults("- a\n", "t:1:1: the topology is a list, a map was expected");
	assert_faults("hello\n", "t:1:1: the topology is a single value");
	assert_faults("&a [ *a ]\n", "t:1:1: the topology is a list");
	assert_faults("hosts: &a [ *a ]\n", "t:1:8: a host is a list, a map was expected");
	all = faults_of(nul, sizeof(nul) - 1);
	assert_non_null(strstr(all, "t:1:10: control characters are not allowed"));
	free(all);
}

static void deep_nesting(void **state)
{
	char text[20001];
	char *all;

	(void)state;
	memset(text, '[', 20000);
	text[20000] = '\0';
	all = faults_of(text, 20000);
	assert_string_equal(all, "t:1:65: lists and maps are nested more than 64 deep\n");
	free(all);
}

static void faults_of_keys_and_types(void **state)
{
	(void)state;
	assert_faults(SMALL "swiches: []\n",
		      "t:3:1: unknown key 'swiches' in the topology, expected one of");
	assert_faults(SMALL "links: []\nlinks: []\n", "t:4:1: key 'links' is given twice");
	assert_faults(SMALL "? [ a ]\n: 1\n", "t:3:3: a key of the topology is a list");
	assert_faults(SMALL "links: 7\n", "t:3:8: links is a single value, a list was expected");
	assert_faults(SMALL "sm: n1\n",
		      "t:3:5: sm is a single value, a map was expected with the keys: node");
	assert_faults(SMALL "fabric: []\n", "t:3:9: fabric is a list, text was expected");
	assert_faults(SMALL "fabric:\n", "t:3:8: fabric is nothing, text was expected");
	assert_faults("hosts: [ { name: a, ports: two } ]\n",
		      "t:1:28: ports is 'two', a number from 1 to 7 was expected");
	assert_faults("hosts: [ { name: a, ports: \"1\" } ]\n", "t:1:28: ports is '1', a number");
	assert_faults("hosts: [ { name: a, ports: 8 } ]\n",
		      "t:1:28: ports is out of range, 1 to 7");
	assert_faults("hosts: [ { name: a, ports: -1 } ]\n", "t:1:28: ports is '-1', a number");
	assert_faults("switches: [ { name: s, ports: 255 } ]\nhosts: [ { name: a } ]\n",
		      "t:1:31: ports is out of range, 1 to 254");
	assert_faults("hosts: [ { name: a, port: 1 } ]\n", "t:1:21: unknown key 'port' in a host");
	assert_faults("hosts: [ { device: a } ]\n", "t:1:10: the node has no 'name'");
	assert_faults("hosts: [ a ]\n", "t:1:10: a host is a single value, a map was expected");
	assert_faults("switches: []\n", "t:1:1: the fabric has no hosts");
	assert_faults("hosts: [ { name: a, guid: 0 } ]\n", "t:1:27: guid is out of range");
	assert_faults("hosts: [ { name: \"a[1-2]\", guid: 5 } ]\n",
		      "t:1:34: 'guid' is given for 2 nodes");
	assert_faults("hosts: [ { name: a, device: \"x y\" } ]\n",
		      "t:1:29: device 'x y' is no device name");
}

static void faults_of_names(void **state)
{
	(void)state;
	assert_faults("hosts: [ { name: \"a[3-1]\" } ]\n", "t:1:21: the range runs backwards");
	assert_faults("hosts: [ { name: \"a[1-3\" } ]\n", "t:1:20: the bracket is not closed");
	assert_faults("hosts: [ { name: 'a[1-99999999]' } ]\n", "t:1:20: the range has more than");
	assert_faults("hosts: [ { name: a:b } ]\n", "t:1:18: 'a:b' is no node name");
	assert_faults("hosts: [ { name: -a } ]\n", "t:1:18: '-a' is no node name");
	assert_faults("hosts:\n  - { name: a }\n  - { name: a }\n",
		      "t:3:13: the name 'a' is used already at line 2");
	assert_faults("hosts:\n  - { name: \"n[1-5]\" }\n  - { name: \"n[3-9]\" }\n",
		      "t:3:13: the name 'n3' (and 2 more) is used already at line 2");
	assert_faults("switches: [ { name: a } ]\nhosts: [ { name: a } , { name: b } ]\n",
		      "t:2:18: the name 'a' is used already at line 1");
	assert_faults("hosts: [ { name: \"n[1-2],n2\" } ]\n",
		      "t:1:18: the name 'n2' is used already");
	/* What follows from a faulty entry is not told. */
	assert_faults("switches: [ { name: s } ]\nhosts: [ { name: \"n[\" } ]\nsm: { node: n1 }\n"
		      "links: [ n1 -- s ]\n",
		      "t:2:20: the bracket is not closed");
}

static void faults_of_guids(void **state)
{
	(void)state;
	assert_faults("hosts:\n  - { name: a, guid: 16 }\n  - { name: b, guid: 16 }\n",
		      "t:3:13: the GUIDs of 'b' and 'a' (line 2) overlap at 0x0000000000000010");
	assert_faults("hosts:\n  - { name: a, guid: 17 }\n  - { name: b, guid: 16 }\n",
		      "t:3:13: the GUIDs of 'b' and 'a' (line 2) overlap at 0x0000000000000011");
	assert_faults("hosts:\n  - { name: a, ports: 2, port_guids: [ 5, 5 ] }\n",
		      "t:2:13: two ports of 'a' have the GUID 0x0000000000000005");
	assert_faults("hosts:\n  - { name: a, ports: 2, port_guids: [ 5 ] }\n",
		      "t:2:38: 'port_guids' has 1 entries for 2 ports of 1 host");
	assert_faults("hosts:\n  - { name: \"n[1-2]\", port_guids: [ 5 ] }\n",
		      "t:2:35: 'port_guids' has 1 entries for 1 port of 2 hosts");
	assert_faults("hosts:\n  - { name: a, port_guids: [ 5 ] }\n  - { name: b, guid: 5 }\n",
		      "t:3:13: the GUIDs of 'b' and 'a' (line 2) overlap at 0x0000000000000005");
}

static void faults_of_addresses(void **state)
{
	(void)state;
	assert_faults("hosts:\n  - { name: \"n[1-300]\", addresses: [ \"10.0.0.{n}\" ] }\n",
		      "t:2:38: address '10.0.0.{n}' of 'n256': '10.0.0.256' is no IPv4 address");
	assert_faults("hosts: [ { name: a, addresses: [ \"fe80:::1\" ] } ]\n",
		      "t:1:34: address 'fe80:::1' of 'a': 'fe80:::1' is no IPv6 address");
	assert_faults("hosts: [ { name: a, addresses: [ \"{nam}\" ] } ]\n",
		      "t:1:34: address '{nam}' of 'a': '{nam}' is not {n} followed by");
	assert_faults("hosts: [ { name: a, addresses: [ \"{x}\" ] } ]\n",
		      "t:1:34: address '{x}' of 'a': '{x}' is unknown");
	assert_faults("hosts: [ { name: a, addresses: [ \"{n\" ] } ]\n",
		      "t:1:34: address '{n' of 'a': '{'");
	assert_faults("hosts: [ { name: a, addresses: [ \"n}\" ] } ]\n",
		      "t:1:34: address 'n}' of 'a': '}'");
	assert_faults("hosts: [ { name: a, addresses: [ \"h{n/0}\" ] } ]\n",
		      "t:1:34: address 'h{n/0}' of 'a': division by zero");
	assert_faults("hosts: [ { name: a, addresses: [ \"h{n-2}\" ] } ]\n",
		      "t:1:34: address 'h{n-2}' of 'a': 1 - 2 is below zero");
	assert_faults("hosts: [ { name: a, addresses: b } ]\n",
		      "t:1:32: addresses is a single value");
	assert_faults("hosts:\n  - { name: a, addresses: [ 10.0.0.1 ] }\n"
		      "  - { name: b, addresses: [ 10.0.0.1 ] }\n",
		      "t:3:29: 'b' gets an address that 'a' (line 2) has");
	assert_faults("hosts:\n  - { name: a }\n  - { name: b, addresses: [ A ] }\n",
		      "t:3:29: 'b' gets an address that 'a' (line 2) has");
	assert_faults("hosts:\n  - { name: \"n[1-3]\", addresses: [ same ] }\n",
		      "t:2:36: 'n2' gets an address that 'n1' (line 2) has, each address was "
		      "expected once, "
		      "and so do more of these");
	assert_faults("hosts: [ { name: a, addresses: [ b, b ] } ]\n",
		      "t:1:37: 'a' gets an address that 'a' (line 1) has");
}

static void faults_of_links(void **state)
{
	(void)state;
	assert_faults(SMALL "links: [ s1 - s2 ]\n", "t:3:10: link 's1 - s2' has no '--' or '->'");
	assert_faults(SMALL "links: [ s1 ->  s9 ]\n",
		      "t:3:17: there is no node 's9', the right of a link");
	assert_faults(SMALL "links:\n  - \"n[3-7] -- s1\"\n",
		      "t:4:6: there is no node 'n5' (and 2 more), the left of a link");
	assert_faults(SMALL "links: [ \"s1 -- n[1\" ]\n", "t:3:18: the bracket is not closed");
	assert_faults(SMALL "links: [ \"n[1-3] -> s[1-2]\" ]\n",
		      "t:3:10: 3 nodes cannot be dealt out evenly to 2");
	assert_faults(SMALL "links: [ s1 -- s1 ]\n", "t:3:10: 's1' is joined with itself");
	assert_faults(SMALL "links:\n  - { join: s1 -- s2, count: 5 }\n",
		      "t:4:13: 's1' has only 4 ports and all are taken",
		      "t:4:13: 's2' has only 4 ports and all are taken");
	assert_faults(SMALL "links:\n  - n1 -- s1\n  - n1 -- s2\n  - n1 -- s2\n",
		      "t:5:5: 'n1' has only 1 port and all are taken, fewer links or more ports "
		      "(line 2)");
	assert_faults(SMALL "links: [ { speed: edr } ]\n", "t:3:10: the link has no 'join'");
	assert_faults(SMALL "links:\n  - { join: s1 -- s2, ports: [ 1, 5 ] }\n",
		      "t:4:13: 's2' has no port 5, a number from 1 to 4 was expected");
	assert_faults(SMALL "links:\n  - { join: s1 -- s2, ports: [ 1, 1 ] }\n"
			    "  - { join: n1 -- s1, ports: [ 1, 1 ] }\n",
		      "t:5:13: port 1 of 's1' is joined with 's2' already");
	assert_faults(SMALL "links: [ { join: s1 -- s2, ports: [ 1 ] } ]\n",
		      "t:3:35: 'ports' has 1 entries, two were expected");
	assert_faults(SMALL "links: [ { join: \"s1 -- n[1-2]\", ports: [ 1, 1 ] } ]\n",
		      "t:3:18: 'ports' name one port of one node on either side");
	assert_faults(SMALL "links: [ { join: s1 -- s2, ports: [ 1, 1 ], count: 2 } ]\n",
		      "t:3:35: 'ports' are those of one link, no 'count'");
	assert_faults(SMALL "links: [ [ s1 ] ]\n", "t:3:10: a link is a list, text was expected");
	assert_faults(SMALL "links: [ { join: s1 -- s2, count: 0 } ]\n",
		      "t:3:35: count is out of range");
	assert_faults(SMALL "link: { width: 3x }\n",
		      "t:3:16: width is '3x', expected one of: 1x, 2x, 4x");
	assert_faults(SMALL "link: { speed: warp }\n",
		      "t:3:16: speed is 'warp', expected one of: sdr");
	assert_faults(SMALL "link: { mtu: 1500 }\n", "t:3:14: mtu is '1500', expected one of: 256");
	assert_faults(SMALL "link: { latency: 5 }\n",
		      "t:3:18: latency is '5', a time of at most 10s");
	assert_faults(SMALL "link: { latency: 1.us }\n", "t:3:18: latency is '1.us'");
	assert_faults(SMALL "link: { latency: 11s }\n", "t:3:18: latency is '11s'");
	assert_faults(SMALL "link: { latency: 99999999999999999999s }\n", "t:3:18: latency is");
}

static void faults_of_the_sm(void **state)
{
	(void)state;
	assert_faults(SMALL "sm: { node: gone }\n",
		      "t:3:13: the subnet manager's node 'gone' is not in this file");
	assert_faults(SMALL "sm: { node: s1 }\n",
		      "t:3:13: the subnet manager's node 's1' is a switch");
	assert_faults(SMALL "sm: { routing: magic }\n",
		      "t:3:16: routing is 'magic', expected one of: minhop");
}

static void faults_of_partitions(void **state)
{
	(void)state;
	assert_faults(SMALL "partitions: [ { pkey: 1, full: n1 } ]\n",
		      "t:3:15: the partition has no 'name'");
	assert_faults(SMALL "partitions: [ { name: p, full: n1 } ]\n",
		      "t:3:15: the partition has no 'pkey'");
	assert_faults(SMALL "partitions: [ { name: p, pkey: 1 } ]\n",
		      "t:3:15: the partition has no members");
	assert_faults(SMALL "partitions: [ { name: p, pkey: 0, full: n1 } ]\n",
		      "t:3:32: pkey 0 is out of range");
	assert_faults(SMALL "partitions: [ { name: p, pkey: 0x8001, full: n1 } ]\n",
		      "t:3:32: pkey 0x8001 is out of range");
	assert_faults(SMALL "partitions: [ { name: p, pkey: x, full: n1 } ]\n",
		      "t:3:32: pkey is 'x', a number");
	assert_faults(SMALL "partitions: [ { name: p, pkey: 1, full: n9 } ]\n",
		      "t:3:41: there is no node 'n9', full was expected");
	assert_faults(SMALL "partitions: [ { name: p, pkey: 1, full: s1 } ]\n",
		      "t:3:41: 's1' is a switch");
	assert_faults(SMALL "partitions: [ { name: p, pkey: 1, full: n1, limited: \"n[1-2]\" } ]\n",
		      "t:3:54: 'n1' is both a full and a limited member");
	assert_faults(SMALL "partitions: [ { name: p, pkey: 1, full: [ n1, n1 ] } ]\n",
		      "t:3:47: 'n1' is named twice");
	assert_faults(SMALL "partitions:\n  - { name: p, pkey: 1, full: n1 }\n  - { name: p, pkey: "
			    "1, full: n1 }\n",
		      "t:5:13: a partition 'p' is there already",
		      "t:5:22: pkey 0x0001 is used by another");
	assert_faults(SMALL "partitions: [ { name: d, pkey: 0x7fff, limited: n1 } ]\n",
		      "t:3:15: 'n1' runs the subnet manager and is a limited member");
}

static void all_faults_at_once_in_order(void **state)
{
	(void)state;
	assert_faults("partitions: [ { name: p, pkey: 0, full: zz } ]\n"
		      "colour: red\n"
		      "links:\n"
		      "  - s -- t\n"
		      "  - a -- s\n"
		      "hosts:\n"
		      "  - { name: a }\n"
		      "  - { name: a }\n"
		      "switches: [ { name: s, ports: 1 } ]\n"
		      "sm: { node: s }\n",
		      "t:1:32: pkey 0", "t:1:41: there is no node 'zz'",
		      "t:2:1: unknown key 'colour'", "t:4:10: there is no node 't'",
		      "t:8:13: the name 'a'", "t:10:13: the subnet manager");
}

static void a_file_that_cannot_be_read(void **state)
{
	struct sim_topology *t = NULL;
	struct sim_errors errors;

	(void)state;
	assert_int_equal(sim_topology_load("/nonexistent/t.yaml", &t, &errors), -EINVAL);
	assert_int_equal(errors.count, 1);
	assert_string_equal(errors.lines[0], "/nonexistent/t.yaml: cannot be read: No such file or "
					     "directory, a topology file was expected");
	sim_errors_free(&errors);
	assert_int_equal(sim_topology_load("/", &t, &errors), -EINVAL);
	assert_int_equal(errors.count, 1);
	sim_errors_free(&errors);
	assert_null(t);
}

/* However a file is cut off or damaged, it loads or has faults. */
static void damaged_files_never_crash(void **state)
{
	char text[4096];
	size_t length;
	FILE *file = fopen(SOURCE_DIR "/topologies/two-tier.yaml", "r");

	(void)state;
	assert_non_null(file);
	length = fread(text, 1, sizeof(text), file);
	fclose(file);
	for (size_t cut = 0; cut < length; cut++)
		free(faults_of(text, cut));
	for (size_t at = 0; at < length; at++) {
		static const char damage[] = {'[', ']', '{', '"', ',', ':', '9', '\n', '\x80'};
		char kept = text[at];

		text[at] = damage[at % sizeof(damage)];
		free(faults_of(text, length));
		text[at] = kept;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documented_example),
		cmocka_unit_test(all_topologies_load),
		cmocka_unit_test(switches_come_first),
		cmocka_unit_test(guids_come_from_names),
		cmocka_unit_test(guids_may_be_given),
		cmocka_unit_test(ports_in_file_order),
		cmocka_unit_test(hosts_with_two_ports),
		cmocka_unit_test(link_attributes),
		cmocka_unit_test(address_arithmetic),
		cmocka_unit_test(aliases_work),
		cmocka_unit_test(the_default_partition),
		cmocka_unit_test(faults_of_syntax),
		cmocka_unit_test(deep_nesting),
		cmocka_unit_test(faults_of_keys_and_types),
		cmocka_unit_test(faults_of_names),
		cmocka_unit_test(faults_of_guids),
		cmocka_unit_test(faults_of_addresses),
		cmocka_unit_test(faults_of_links),
		cmocka_unit_test(faults_of_the_sm),
		cmocka_unit_test(faults_of_partitions),
		cmocka_unit_test(all_faults_at_once_in_order),
		cmocka_unit_test(a_file_that_cannot_be_read),
		cmocka_unit_test(damaged_files_never_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
