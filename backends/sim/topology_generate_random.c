/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics that a seed decides: for tests that are to hold whatever the fabric is like. */
#include "topology_generate.h"

#include <acmite/wire.h>
#include <stdlib.h>
#include <string.h>
#include "wiring.h"

/* With the default one far from full P_Key tables. */
#define PARTITIONS_MAX 32
#define REDUNDANT_MAX  100000

/* SplitMix64: whole numbers only, so that a seed is the same fabric on every machine. */
static uint64_t next(struct sim_random_plan *random)
{
	random->state += UINT64_C(0x9e3779b97f4a7c15);
	return sim_mix(random->state);
}

/* 0 .. count - 1 */
static uint32_t draw(struct sim_random_plan *random, uint32_t count)
{
	return (uint32_t)(next(random) % count);
}

static uint32_t draw_between(struct sim_random_plan *random, struct sim_range range)
{
	return range.least + draw(random, range.most - range.least + 1);
}

/* A number, or [LEAST, MOST]. A missing node leaves *range. */
static bool read_range(struct sim_document *document, yaml_node_t *node, const char *what,
		       struct sim_range bounds, struct sim_range *range)
{
	uint64_t ends[2] = {range->least, range->most};

	if (!node)
		return true;
	if (node->type != YAML_SEQUENCE_NODE) {
		if (!sim_document_number(document, node, what, bounds.least, bounds.most, ends))
			return false;
		ends[1] = ends[0];
	} else if (sim_document_items(document, node, what) != 2) {
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s is a list, a number or two were expected, as in [2, 8]", what);
		return false;
	} else {
		for (size_t i = 0; i < 2; i++) {
			if (!sim_document_number(document, sim_document_item(document, node, i),
						 what, bounds.least, bounds.most, &ends[i]))
				return false;
		}
	}
	if (ends[0] > ends[1]) {
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s runs from %u down to %u, the smaller number was expected first",
			      what, (unsigned)ends[0], (unsigned)ends[1]);
		return false;
	}
	*range = (struct sim_range){(uint32_t)ends[0], (uint32_t)ends[1]};
	return true;
}

/* What each link draws from; a missing node leaves *values. */
static bool read_choice(struct sim_document *document, yaml_node_t *node, const char *what,
			const struct sim_word *words, uint32_t room, uint32_t *values,
			uint32_t *count)
{
	size_t items = sim_document_items(document, node, what);

	if (!node)
		return true;
	if (node->type != YAML_SEQUENCE_NODE)
		return false;
	if (!items || items > room) {
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s has %zu values, 1 to %u were expected", what, items, room);
		return false;
	}
	for (size_t i = 0; i < items; i++) {
		if (!sim_document_word(document, sim_document_item(document, node, i), what, words,
				       &values[i]))
			return false;
	}
	*count = (uint32_t)items;
	return true;
}

static bool read_speeds(struct sim_reader *reader, yaml_node_t *node,
			struct sim_random_plan *random)
{
	uint32_t values[8] = {SIM_QDR, SIM_FDR, SIM_EDR, SIM_HDR};

	random->speed_count = 4;
	if (!read_choice(&reader->document, node, "speeds", sim_link_speeds, 8, values,
			 &random->speed_count))
		return false;
	for (uint32_t i = 0; i < random->speed_count; i++) {
		struct sim_link link = reader->defaults;

		random->speeds[i] = (uint8_t)values[i];
		link.speed = random->speeds[i];
		if (!sim_link_rate(&link)) {
			sim_fault_add(reader->faults, sim_document_place(node),
				      "no rate is defined for %s and the width of 'link', another "
				      "speed was expected",
				      sim_speed_name(values[i]));
			return false;
		}
	}
	return true;
}

static bool read_mtus(struct sim_reader *reader, yaml_node_t *node, struct sim_random_plan *random)
{
	uint32_t values[5] = {2048, 4096};

	random->mtu_count = 2;
	if (!read_choice(&reader->document, node, "mtus", sim_link_mtus, 5, values,
			 &random->mtu_count))
		return false;
	for (uint32_t i = 0; i < random->mtu_count; i++)
		random->mtus[i] = acm_mtu_code(values[i]);
	return true;
}

/* Ports for hosts and redundant links, once a tree joins the switches. */
static uint64_t free_ports(uint32_t switches, uint32_t radix)
{
	return (uint64_t)switches * radix - 2 * ((uint64_t)switches - 1);
}

/* Every draw is to have room for its hosts. */
static bool check_room(struct sim_reader *reader, const struct sim_plan *plan,
		       struct sim_range switches, struct sim_range hosts)
{
	uint64_t room = free_ports(switches.least, plan->radix);

	if (hosts.most <= room)
		return true;
	sim_fault_add(reader->faults, plan->place,
		      "%u hosts do not fit on %u switches with %u ports each, at most %llu were "
		      "expected, or more switches or ports",
		      hosts.most, switches.least, plan->radix, (unsigned long long)room);
	return false;
}

static uint32_t draw_redundant(struct sim_plan *plan, struct sim_range range)
{
	uint64_t room = (free_ports(plan->switch_count, plan->radix) - plan->host_count) / 2;
	uint32_t links = draw_between(&plan->random, range);

	return links < room ? links : (uint32_t)room;
}

static bool read_limits(struct sim_document *document, yaml_node_t *const *values,
			struct sim_random_limits *limits)
{
	const struct {
		enum sim_generate_key key;
		const char *what;
		struct sim_range bounds;
		struct sim_range *range;
	} ranges[] = {
		{SIM_KEY_SWITCHES, "switches", {1, SIM_GENERATED_SWITCHES_MAX}, &limits->switches},
		{SIM_KEY_HOSTS, "hosts", {1, SIM_GENERATED_HOSTS_MAX}, &limits->hosts},
		{SIM_KEY_REDUNDANT, "redundant", {0, REDUNDANT_MAX}, &limits->redundant},
		{SIM_KEY_PARTITIONS, "partitions", {0, PARTITIONS_MAX}, &limits->partitions},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (!read_range(document, values[ranges[i].key], ranges[i].what, ranges[i].bounds,
				ranges[i].range))
			return false;
	}
	return true;
}

static bool read_random(struct sim_reader *reader, yaml_node_t *const *values,
			struct sim_plan *plan)
{
	struct sim_random_plan *random = &plan->random;
	struct sim_random_limits limits;

	sim_random_limits_default(&limits);
	plan->radix = limits.radix;
	random->state = 1;
	if (!sim_document_number(&reader->document, values[SIM_KEY_SEED], "seed", 0, UINT64_MAX,
				 &random->state) ||
	    !read_limits(&reader->document, values, &limits) ||
	    !read_speeds(reader, values[SIM_KEY_SPEEDS], random) ||
	    !read_mtus(reader, values[SIM_KEY_MTUS], random) ||
	    !sim_generate_read_radix(reader, values, 0, plan) ||
	    !check_room(reader, plan, limits.switches, limits.hosts))
		return false;
	plan->switch_count = draw_between(random, limits.switches);
	plan->host_count = draw_between(random, limits.hosts);
	random->redundant = draw_redundant(plan, limits.redundant);
	random->partitions = draw_between(random, limits.partitions);
	return true;
}

static void add_random_switches(struct sim_reader *reader, const struct sim_plan *plan)
{
	char names[32];

	snprintf(names, sizeof(names), "switch[1-%u]", plan->switch_count);
	sim_generate_add_switches(reader, plan, names);
}

/* One of the first `count` switches that has a free port and is not `other`; SIM_NONE. */
static uint32_t draw_switch(const struct sim_reader *reader, struct sim_plan *plan, uint32_t count,
			    uint32_t other)
{
	uint32_t from = draw(&plan->random, count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = plan->first_switch + (from + i) % count;

		if (node != other && reader->builder.origins[node].ports_used < plan->radix)
			return node;
	}
	return SIM_NONE;
}

static void join_by_chance(struct sim_reader *reader, struct sim_plan *plan, uint32_t left,
			   uint32_t right)
{
	struct sim_random_plan *random = &plan->random;
	struct sim_link link = reader->defaults;

	link.speed = random->speeds[draw(random, random->speed_count)];
	link.mtu = random->mtus[draw(random, random->mtu_count)];
	link.rate = sim_link_rate(&link);
	sim_builder_add_link(&reader->builder, left, right, &link, plan->place);
}

/* Each switch joins one before it; then links that close rings; then the hosts. */
static void join_random(struct sim_reader *reader, struct sim_plan *plan)
{
	for (uint32_t i = 1; i < plan->switch_count; i++)
		join_by_chance(reader, plan, plan->first_switch + i,
			       draw_switch(reader, plan, i, SIM_NONE));
	for (uint32_t i = 0; i < plan->random.redundant; i++) {
		uint32_t left = draw_switch(reader, plan, plan->switch_count, SIM_NONE);
		uint32_t right = draw_switch(reader, plan, plan->switch_count, left);

		if (right == SIM_NONE)
			break;
		join_by_chance(reader, plan, left, right);
	}
	for (uint32_t i = 0; i < plan->host_count; i++)
		join_by_chance(reader, plan, plan->first_host + i,
			       draw_switch(reader, plan, plan->switch_count, SIM_NONE));
}

static uint16_t draw_pkey(const struct sim_topology *topology, struct sim_random_plan *random)
{
	for (;;) {
		uint16_t pkey = (uint16_t)(1 + draw(random, 0x7ffe));
		uint32_t i = 0;

		while (i < topology->partition_count && topology->partitions[i].pkey != pkey)
			i++;
		if (i == topology->partition_count)
			return pkey;
	}
}

/* A full member and, with two hosts or more, a limited one for sure; half of the others. */
static void draw_members(struct sim_plan *plan, struct sim_partition *partition)
{
	struct sim_random_plan *random = &plan->random;
	uint32_t full = draw(random, plan->host_count);
	uint32_t limited = (full + 1) % plan->host_count;

	for (uint32_t i = 0; i < plan->host_count; i++) {
		uint32_t chance = draw(random, 4);

		if (i != full && i != limited && chance >= 2)
			continue;
		partition->members[partition->member_count++] = (struct sim_member){
			plan->first_host + i, i == full || (i != limited && chance == 0)};
	}
}

static void add_random_partitions(struct sim_reader *reader, struct sim_plan *plan)
{
	for (uint32_t i = 0; i < plan->random.partitions; i++) {
		uint16_t pkey = draw_pkey(reader->builder.topology, &plan->random);
		struct sim_partition *partition = sim_builder_add_partition(&reader->builder);
		char name[32];

		if (!partition)
			return;
		snprintf(name, sizeof(name), "partition%u", i + 1);
		partition->pkey = pkey;
		partition->name = strdup(name);
		partition->members = calloc(plan->host_count, sizeof(*partition->members));
		if (!partition->name || !partition->members) {
			reader->faults->no_memory = true;
			return;
		}
		draw_members(plan, partition);
	}
}

static const char *const addresses[] = {"{name}", "10.{n/65536}.{n/256%256}.{n%256}",
					"fd00::{n/10000}:{n%10000}", NULL};

const struct sim_generator sim_generator_random = {
	.kind = "random",
	.keys = 1u << SIM_KEY_SEED | 1u << SIM_KEY_SWITCHES | 1u << SIM_KEY_HOSTS |
		1u << SIM_KEY_RADIX | 1u << SIM_KEY_REDUNDANT | 1u << SIM_KEY_PARTITIONS |
		1u << SIM_KEY_SPEEDS | 1u << SIM_KEY_MTUS,
	.addresses = addresses,
	.read = read_random,
	.add_switches = add_random_switches,
	.join = join_random,
	.add_partitions = add_random_partitions,
};
