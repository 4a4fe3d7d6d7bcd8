/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <acmite/wire.h>
#include <errno.h>
#include "topology_text.h"

#define SEEDS 1000

static struct sim_topology *made(uint64_t seed, const struct sim_random_limits *limits)
{
	struct sim_topology *topology = NULL;

	if (sim_topology_random(seed, limits, &topology))
		fail_msg("seed %llu makes no fabric", (unsigned long long)seed);
	return topology;
}

static bool within(uint32_t value, struct sim_range range)
{
	return value >= range.least && value <= range.most;
}

/* Nodes that can be reached from node 0. */
static uint32_t reached(const struct sim_topology *t)
{
	uint32_t *queue = calloc(t->node_count, sizeof(*queue));
	bool *seen = calloc(t->node_count, sizeof(*seen));
	uint32_t tail = 1;

	assert_non_null(queue);
	assert_non_null(seen);
	seen[0] = true;
	for (uint32_t head = 0; head < tail; head++) {
		const struct sim_node *node = &t->nodes[queue[head]];

		for (uint8_t p = 1; p <= node->port_count; p++) {
			uint32_t peer = node->ports[p].peer;

			if (peer == SIM_NONE || seen[peer])
				continue;
			seen[peer] = true;
			queue[tail++] = peer;
		}
	}
	free(queue);
	free(seen);
	return tail;
}

static void assert_links(uint64_t seed, const struct sim_topology *t,
			 const struct sim_random_limits *limits)
{
	uint32_t tree = t->host_count + t->switch_count - 1;

	for (uint32_t i = 0; i < t->link_count; i++) {
		const struct sim_link *link = &t->links[i];

		if (link->node[0] == link->node[1] || !(limits->speeds >> link->speed & 1) ||
		    !(limits->mtus >> link->mtu & 1) || !link->rate)
			fail_msg("seed %llu: link %u is not one of the limits",
				 (unsigned long long)seed, i);
	}
	if (t->switch_count == 1)
		assert_int_equal(t->link_count, tree);
	else if (!within(t->link_count - tree, limits->redundant))
		fail_msg("seed %llu: %u redundant links", (unsigned long long)seed,
			 t->link_count - tree);
}

static void assert_partitions(uint64_t seed, const struct sim_topology *t)
{
	for (uint32_t i = 0; i < t->partition_count; i++) {
		const struct sim_partition *partition = &t->partitions[i];
		uint32_t full = 0;

		assert_in_range(partition->pkey, 1, 0x7ffe);
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(partition->pkey, t->partitions[j].pkey);
		for (uint32_t j = 0; j < partition->member_count; j++) {
			const struct sim_member *member = &partition->members[j];

			assert_int_equal(t->nodes[member->node].kind, SIM_HOST);
			if (j)
				assert_true(member->node > member[-1].node);
			full += member->full;
		}
		if (!full || full == partition->member_count)
			fail_msg("seed %llu: %u full members of %u", (unsigned long long)seed, full,
				 partition->member_count);
	}
}

/* Names and addresses held twice would be faults of the file. */
static void assert_addressed(const struct sim_topology *t)
{
	for (uint32_t i = t->switch_count; i < t->node_count; i++) {
		const struct sim_node *host = &t->nodes[i];

		assert_int_equal(host->address_count, 3);
		assert_int_equal(host->addresses[0].type, ACM_ADDRESS_NAME);
		assert_int_equal(host->addresses[1].type, ACM_ADDRESS_IP);
		assert_int_equal(host->addresses[2].type, ACM_ADDRESS_IP6);
	}
}

static void a_thousand_seeds_keep_to_their_limits(void **state)
{
	struct sim_random_limits limits;
	char why[256];

	(void)state;
	sim_random_limits_default(&limits);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_topology *t = made(seed, &limits);

		if (!within(t->switch_count, limits.switches) ||
		    !within(t->host_count, limits.hosts) ||
		    !within(t->partition_count, limits.partitions))
			fail_msg("seed %llu: %u switches, %u hosts, %u partitions",
				 (unsigned long long)seed, t->switch_count, t->host_count,
				 t->partition_count);
		assert_int_equal(reached(t), t->node_count);
		assert_links(seed, t, &limits);
		assert_partitions(seed, t);
		assert_addressed(t);
		if (sim_topology_fits_ibsim(t, why, sizeof(why)))
			fail_msg("seed %llu: %s", (unsigned long long)seed, why);
		free(written(sim_topology_write_ibsim, t));
		free(written(sim_topology_write_partitions, t));
		sim_topology_free(t);
	}
}

/* All that draws decide. */
static int write_whole(const struct sim_topology *t, FILE *out)
{
	for (uint32_t i = 0; i < t->link_count; i++) {
		const struct sim_link *link = &t->links[i];

		fprintf(out, "%s %u %s %u %u %u %u\n", t->nodes[link->node[0]].name, link->port[0],
			t->nodes[link->node[1]].name, link->port[1], link->speed, link->mtu,
			link->rate);
	}
	for (uint32_t i = 0; i < t->partition_count; i++) {
		const struct sim_partition *partition = &t->partitions[i];

		fprintf(out, "%s %x", partition->name, partition->pkey);
		for (uint32_t j = 0; j < partition->member_count; j++)
			fprintf(out, " %s=%d", t->nodes[partition->members[j].node].name,
				partition->members[j].full);
		fprintf(out, "\n");
	}
	return 0;
}

static char *whole_text(const struct sim_topology *t)
{
	return written(write_whole, t);
}

static void a_seed_is_one_fabric(void **state)
{
	struct sim_random_limits limits;
	char *before = strdup("");

	(void)state;
	sim_random_limits_default(&limits);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_topology *first = made(seed, &limits), *second = made(seed, &limits);
		char *a = whole_text(first), *b = whole_text(second);

		assert_string_equal(a, b);
		assert_string_not_equal(a, before);
		sim_topology_free(first);
		sim_topology_free(second);
		free(before);
		free(b);
		before = a;
	}
	free(before);
}

/* The same on every machine and in every version: whoever tells a seed tells a fabric. */
static void seed_seven_never_changes(void **state)
{
	struct sim_random_limits limits;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct sim_topology *t;
	char *text;

	(void)state;
	sim_random_limits_default(&limits);
	t = made(7, &limits);
	text = whole_text(t);
	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	assert_int_equal(hash, UINT64_C(0x635dbe1cac5ff911));
	free(text);
	sim_topology_free(t);
}

static void the_file_of_a_seed_is_its_fabric(void **state)
{
	struct sim_random_limits limits;
	struct sim_topology *made_here, *loaded;
	char *file, *a, *b;
	size_t length;
	FILE *out = open_memstream(&file, &length);

	(void)state;
	assert_non_null(out);
	sim_random_limits_default(&limits);
	limits.switches = (struct sim_range){20, 30};
	limits.hosts = (struct sim_range){100, 200};
	limits.mtus = 1u << acm_mtu_code(256) | 1u << acm_mtu_code(1024);
	assert_int_equal(sim_topology_write_random(UINT64_MAX, &limits, out), 0);
	fclose(out);
	loaded = load_text(file);
	made_here = made(UINT64_MAX, &limits);
	a = whole_text(made_here);
	b = whole_text(loaded);
	assert_string_equal(a, b);
	assert_in_range(loaded->host_count, 100, 200);
	sim_topology_free(loaded);
	sim_topology_free(made_here);
	free(file);
	free(a);
	free(b);
}

/* Whatever can be drawn is, and a link's attributes are not all alike. */
static void seeds_reach_all_that_the_limits_allow(void **state)
{
	uint32_t switches = 0, hosts = 0, partitions = 0, speeds = 0, mtus = 0;
	struct sim_random_limits limits;

	(void)state;
	sim_random_limits_default(&limits);
	limits.switches = (struct sim_range){1, 4};
	limits.hosts = (struct sim_range){2, 5};
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_topology *t = made(seed, &limits);

		switches |= 1u << t->switch_count;
		hosts |= 1u << t->host_count;
		partitions |= 1u << t->partition_count;
		for (uint32_t i = 0; i < t->link_count; i++) {
			speeds |= 1u << t->links[i].speed;
			mtus |= 1u << t->links[i].mtu;
		}
		sim_topology_free(t);
	}
	assert_int_equal(switches, 0x1e);
	assert_int_equal(hosts, 0x3c);
	assert_int_equal(partitions, 0xf);
	assert_int_equal(speeds, limits.speeds);
	assert_int_equal(mtus, limits.mtus);
}

/* Hosts take every port that the tree of switches leaves: there is no room for redundant links. */
static void switches_full_to_the_last_port(void **state)
{
	struct sim_random_limits limits;

	(void)state;
	sim_random_limits_default(&limits);
	limits.switches = (struct sim_range){6, 6};
	limits.redundant = (struct sim_range){50, 50};
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_topology *t;

		limits.radix = 2 + (uint32_t)(seed % 3);
		limits.hosts.least = limits.hosts.most = 6 * limits.radix - 10;
		t = made(seed, &limits);
		assert_int_equal(reached(t), t->node_count);
		assert_int_equal(t->link_count, 5 + limits.hosts.most);
		sim_topology_free(t);
	}
}

static void limits_without_room(void **state)
{
	struct sim_topology *t = NULL;
	struct sim_random_limits limits;

	(void)state;
	sim_random_limits_default(&limits);
	limits.hosts.most = 37;
	assert_int_equal(sim_topology_random(1, &limits, &t), -EINVAL);
	sim_random_limits_default(&limits);
	limits.switches = (struct sim_range){3, 2};
	assert_int_equal(sim_topology_random(1, &limits, &t), -EINVAL);
	sim_random_limits_default(&limits);
	limits.speeds = 0;
	assert_int_equal(sim_topology_random(1, &limits, &t), -EINVAL);
	assert_null(t);
}

static void a_file_may_say_less_and_more(void **state)
{
	struct sim_topology *t =
		load_text("link: { width: 1x }\n"
			  "generate: { kind: random, switches: 3, hosts: 4, names: \"h[1-4]\", "
			  "addresses: [ \"{name}\" ], partitions: 2, speeds: [sdr], mtus: [256], "
			  "redundant: 0, radix: 8 }\n"
			  "hosts: [ { name: sm1 } ]\n"
			  "sm: { node: sm1 }\n"
			  "links: [ sm1 -- switch2 ]\n"
			  "partitions: [ { name: p, pkey: 3, full: \"h[1-4]\" } ]\n");

	(void)state;
	assert_int_equal(t->switch_count, 3);
	assert_int_equal(t->host_count, 5);
	assert_int_equal(t->link_count, 2 + 4 + 1);
	assert_int_equal(t->partition_count, 3);
	assert_string_equal(t->partitions[1].name, "partition2");
	assert_string_equal(t->nodes[3].name, "h1");
	assert_int_equal(t->nodes[3].address_count, 1);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(t->links[i].speed, SIM_SDR);
		assert_int_equal(t->links[i].width, 1);
		assert_int_equal(acm_mtu_bytes(t->links[i].mtu), 256);
	}
	sim_topology_free(t);
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

static void faults(void **state)
{
	(void)state;
	assert_fault("generate: { kind: random, switches: [4, 2] }\n",
		     "t:1:37: switches runs from 4 down to 2");
	assert_fault("generate: { kind: random, hosts: [1, 2, 3] }\n",
		     "t:1:34: hosts is a list, a number or two were expected, as in [2, 8]");
	assert_fault("generate: { kind: random, hosts: [1, x] }\n", "t:1:38: hosts is 'x'");
	assert_fault("generate: { kind: random, hosts: 0 }\n", "t:1:34: hosts is out of range");
	assert_fault("generate: { kind: random, switches: 2, hosts: 80 }\n",
		     "t:1:11: 80 hosts do not fit on 2 switches with 36 ports each, at most 70");
	assert_fault("generate: { kind: random, radix: 255 }\n", "t:1:34: radix is out of range");
	assert_fault("generate: { kind: random, partitions: 33 }\n",
		     "t:1:39: partitions is out of range, 0 to 32");
	assert_fault("generate: { kind: random, seed: -1 }\n", "t:1:33: seed is '-1'");
	assert_fault("generate: { kind: random, speeds: [warp] }\n",
		     "t:1:36: speeds is 'warp', expected one of: sdr");
	assert_fault("generate: { kind: random, speeds: [] }\n",
		     "t:1:35: speeds has 0 values, 1 to 8 were expected");
	assert_fault("generate: { kind: random, mtus: 2048 }\n",
		     "t:1:33: mtus is a single value, a list was expected");
	assert_fault("generate: { kind: random, mtus: [1500] }\n", "t:1:34: mtus is '1500'");
	assert_fault("generate: { kind: random, dims: [3] }\n",
		     "t:1:33: kind random has no 'dims', expected some of: hosts, radix, seed");
	assert_fault("link: { width: 8x, speed: hdr }\n"
		     "generate: { kind: random, hosts: 5, partitions: 1 }\n"
		     "partitions: [ { name: partition1, pkey: 0x7fff, full: \"node[1-2]\" } ]\n",
		     "t:3:23: a partition 'partition1' is there already");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_seeds_keep_to_their_limits),
		cmocka_unit_test(a_seed_is_one_fabric),
		cmocka_unit_test(seed_seven_never_changes),
		cmocka_unit_test(the_file_of_a_seed_is_its_fabric),
		cmocka_unit_test(seeds_reach_all_that_the_limits_allow),
		cmocka_unit_test(switches_full_to_the_last_port),
		cmocka_unit_test(limits_without_room),
		cmocka_unit_test(a_file_may_say_less_and_more),
		cmocka_unit_test(faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
