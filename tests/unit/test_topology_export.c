/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include "topology_json.h"
#include "topology_text.h"

static const char fabric[] = "fabric: two \"ports\"\n"
			     "switches: [ { name: s, ports: 4, guid: 0x100 } ]\n"
			     "hosts:\n"
			     "  - { name: a, ports: 2, guid: 0x1000, device: mlx5_0, addresses: [ "
			     "\"{name}\", 10.0.0.1, \"fd00::1\" ] }\n"
			     "  - { name: b, guid: 0x2000 }\n"
			     "link: { speed: fdr, mtu: 2048 }\n"
			     "links: [ a -- s, { join: a -- s, width: 1x, speed: sdr }, { join: b "
			     "-- s, latency: 1us } ]\n";

static void a_netlist(void **state)
{
	struct sim_topology *t = load_text(fabric);
	char *text = written(sim_topology_write_ibsim, t);

	(void)state;
	assert_string_equal(text, "# two \"ports\": 1 switches, 2 hosts, 3 links\n"
				  "\n"
				  "switchguid=0x0000000000000100\n"
				  "Switch\t4 \"s\"\n"
				  "[1]\t\"a\"[1]\t# lid 0 4xFDR\n"
				  "[2]\t\"a:2\"[1]\t# lid 0 1xSDR\n"
				  "[3]\t\"b\"[1]\t# lid 0 4xFDR\n"
				  "\n"
				  "sysimgguid=0x0000000000001000\n"
				  "caguid=0x0000000000001000\n"
				  "Ca\t1 \"a\"\n"
				  "[1]\t\"s\"[1]\t# lid 0 4xFDR\n"
				  "\n"
				  "sysimgguid=0x0000000000001000\n"
				  "caguid=0x0000000000001002\n"
				  "Ca\t1 \"a:2\"\n"
				  "[1]\t\"s\"[2]\t# lid 0 1xSDR\n"
				  "\n"
				  "sysimgguid=0x0000000000002000\n"
				  "caguid=0x0000000000002000\n"
				  "Ca\t1 \"b\"\n"
				  "[1]\t\"s\"[3]\t# lid 0 4xFDR\n");
	assert_int_equal(t->nodes[1].ports[1].guid, 0x1001);
	assert_int_equal(t->nodes[1].ports[2].guid, 0x1003);
	free(text);
	sim_topology_free(t);
}

static void partitions_of_opensm(void **state)
{
	struct sim_topology *t =
		load_text("hosts: [ { name: a, guid: 16, ports: 2 }, { name: b, guid: 32 } ]\n"
			  "partitions:\n"
			  "  - { name: p, pkey: 0x10, full: a, limited: b }\n");
	char *text = written(sim_topology_write_partitions, t);

	(void)state;
	assert_string_equal(text, "Default=0x7fff, ipoib :\n\tALL=full,\n\tSELF=full ;\n"
				  "p=0x0010 :\n\tNONE,\n"
				  "\t0x0000000000000011=full,\n"
				  "\t0x0000000000000013=full,\n"
				  "\t0x0000000000000021=limited ;\n");
	free(text);
	sim_topology_free(t);
	t = load_text("hosts: [ { name: a, guid: 16 }, { name: b, guid: 32 } ]\n"
		      "partitions: [ { name: all, pkey: 0x7fff, limited: b } ]\n");
	text = written(sim_topology_write_partitions, t);
	assert_string_equal(text, "Default=0x7fff, ipoib :\n\tALL_SWITCHES=full,\n\tSELF=full,\n"
				  "\t0x0000000000000011=full,\n"
				  "\t0x0000000000000021=limited ;\n");
	free(text);
	sim_topology_free(t);
}

static void graphviz(void **state)
{
	struct sim_topology *t = load_text("fabric: 'a \"b\" \\'\n"
					   "switches: [ { name: s } ]\nhosts: [ { name: h } ]\n"
					   "links: [ h -- s ]\n");
	char *text = written(sim_topology_write_dot, t);

	(void)state;
	assert_string_equal(
		text, "graph \"a \\\"b\\\" \\\\\" {\n"
		      "\tnode [shape=ellipse];\n"
		      "\t\"s\" [shape=box];\n"
		      "\t\"h\";\n"
		      "\t\"h\" -- \"s\" [taillabel=\"1\", headlabel=\"1\", label=\"4x edr\"];\n"
		      "}\n");
	free(text);
	sim_topology_free(t);
}

static void json(void **state)
{
	struct sim_topology *t = load_text(fabric);
	char *text = written(acmite_topology_write_json, t);
	json_t *root = json_loads(text, 0, NULL);
	const char *name, *sm, *speed, *ip, *ip6, *end;
	int mtu, port;
	double rate;

	(void)state;
	assert_non_null(root);
	assert_int_equal(json_unpack(root, "{s:s, s:{s:s}, s:[{s:[{s:s, s:i}], s:s, s:i, s:F}]}",
				     "fabric", &name, "sm", "node", &sm, "links", "ends", "node",
				     &end, "port", &port, "speed", &speed, "mtu", &mtu, "rate_gbps",
				     &rate),
			 0);
	assert_string_equal(name, "two \"ports\"");
	assert_string_equal(sm, "a");
	assert_string_equal(end, "a");
	assert_int_equal(port, 1);
	assert_string_equal(speed, "fdr");
	assert_int_equal(mtu, 2048);
	assert_true(rate == 56.0);
	assert_int_equal(
		json_unpack(root, "{s:[{s:[s,s,s]}]}", "hosts", "addresses", &name, &ip, &ip6), 0);
	assert_string_equal(ip, "10.0.0.1");
	assert_string_equal(ip6, "fd00::1");
	json_decref(root);
	free(text);
	sim_topology_free(t);
}

static void a_stream_that_fails(void **state)
{
	struct sim_topology *t = load_text(fabric);
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(sim_topology_write_ibsim(t, full), -ENOSPC);
	assert_int_equal(sim_topology_write_dot(t, full), -ENOSPC);
	assert_true(acmite_topology_write_json(t, full) < 0);
	fclose(full);
	sim_topology_free(t);
}

static void assert_unfit(const char *text, const char *part)
{
	struct sim_topology *t = load_text(text);
	char why[256] = "";

	assert_int_equal(sim_topology_fits_ibsim(t, why, sizeof(why)), -E2BIG);
	if (!strstr(why, part))
		fail_msg("\"%s\" does not say \"%s\"", why, part);
	sim_topology_free(t);
}

static void what_ibsim_cannot_hold(void **state)
{
	char chain[2048] = "switches: [ { name: \"s[1-17]\", ports: 3 } ]\nhosts: [ { name: a } ]\n"
			   "links:\n  - a -- s1\n";
	char why[256];
	struct sim_topology *t;

	(void)state;
	assert_unfit("switches: [ { name: \"s[1-257]\", ports: 2 } ]\nhosts: [ { name: a } ]\n",
		     "257 switches, ibsim holds at most 256");
	assert_unfit("hosts: [ { name: \"n[1-1025]\", ports: 2 } ]\n", "at most 2048 nodes");
	assert_unfit("switches: [ { name: \"s[1-100]\", ports: 200 } ]\nhosts: [ { name: a } ]\n",
		     "ports, ibsim holds at most 13312");
	assert_unfit("hosts: [ { name: a2345678901234567890123456789012 } ]\n", "takes 31 bytes");
	assert_unfit("hosts: [ { name: a23456789012345678901234567890, ports: 2 } ]\n",
		     "takes 29 bytes");
	assert_unfit(
		"hosts: [ { name: a }, { name: b } ]\nlink: { speed: ndr }\nlinks: [ a -- b ]\n",
		"faster than HDR");
	assert_unfit(
		"hosts: [ { name: a }, { name: b } ]\nlink: { mtu: 1024 }\nlinks: [ a -- b ]\n",
		"an MTU of 1024, ibsim's ports have 2048");
	assert_unfit("hosts: [ { name: a } ]\n", "port 1 of 'a', which runs the subnet manager");
	for (int i = 1; i < 17; i++)
		sprintf(chain + strlen(chain), "  - s%d -- s%d\n", i, i + 1);
	assert_unfit(chain, "passes 17 switches");
	*strstr(chain, "  - s16") = '\0';
	t = load_text(chain);
	assert_int_equal(sim_topology_fits_ibsim(t, why, sizeof(why)), 0);
	sim_topology_free(t);
}

static void partitions_that_ibsim_cannot_hold(void **state)
{
	char text[8192] = "hosts: [ { name: a }, { name: b } ]\nlinks: [ a -- b ]\npartitions:\n";

	(void)state;
	for (int i = 1; i <= 64; i++)
		sprintf(text + strlen(text), "  - { name: p%d, pkey: %d, full: a }\n", i, i);
	assert_unfit(text, "'a' is in more than 64 partitions");
}

static void names_under_ibsim(void **state)
{
	struct sim_topology *t =
		load_text("switches: [ { name: s } ]\nhosts: [ { name: a, ports: 2 } ]\n");
	char name[32];

	(void)state;
	sim_topology_ibsim_name(t, 0, 0, name);
	assert_string_equal(name, "s");
	sim_topology_ibsim_name(t, 1, 1, name);
	assert_string_equal(name, "a");
	sim_topology_ibsim_name(t, 1, 2, name);
	assert_string_equal(name, "a:2");
	sim_topology_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_netlist),
		cmocka_unit_test(partitions_of_opensm),
		cmocka_unit_test(graphviz),
		cmocka_unit_test(json),
		cmocka_unit_test(a_stream_that_fails),
		cmocka_unit_test(what_ibsim_cannot_hold),
		cmocka_unit_test(partitions_that_ibsim_cannot_hold),
		cmocka_unit_test(names_under_ibsim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
