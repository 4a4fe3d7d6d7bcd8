/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups of switches: all joined inside a group, and each group with each other. With p hosts, a -
 * 1 links inside the group and h to other groups on each of a group's a switches it is balanced, by
 * Kim, Dally, Scott and Abts (2008), when a = 2p = 2h.
 */
#include "topology_generate.h"

/* Reads p, h and a over what balances them. */
static bool read_switch(struct sim_reader *reader, yaml_node_t *const *values,
			struct sim_plan *plan)
{
	struct sim_document *document = &reader->document;
	uint64_t radix = 3, hosts, global_links, switches;

	if (!values[SIM_KEY_RADIX] && !values[SIM_KEY_HOSTS_PER_SWITCH]) {
		sim_fault_add(reader->faults, plan->place,
			      "'generate' has no 'radix', that or 'hosts_per_switch' was expected");
		return false;
	}
	if (!sim_document_number(document, values[SIM_KEY_RADIX], "radix", 3, SIM_SWITCH_PORTS_MAX,
				 &radix))
		return false;
	hosts = (radix + 1) / 4;
	if (!sim_document_number(document, values[SIM_KEY_HOSTS_PER_SWITCH], "hosts_per_switch", 1,
				 SIM_SWITCH_PORTS_MAX, &hosts))
		return false;
	global_links = hosts;
	switches = 2 * hosts;
	if (!sim_document_number(document, values[SIM_KEY_GLOBAL_LINKS], "global_links", 1,
				 SIM_SWITCH_PORTS_MAX, &global_links) ||
	    !sim_document_number(document, values[SIM_KEY_SWITCHES_PER_GROUP], "switches_per_group",
				 1, SIM_SWITCH_PORTS_MAX, &switches))
		return false;
	plan->hosts_per_switch = (uint32_t)hosts;
	plan->dragonfly.global_links = (uint32_t)global_links;
	plan->dragonfly.switches_per_group = (uint32_t)switches;
	return true;
}

/* As many groups as can each have a link with each other, unless fewer are asked for. */
static bool read_groups(struct sim_reader *reader, const yaml_node_t *groups, struct sim_plan *plan)
{
	struct sim_dragonfly_plan *dragonfly = &plan->dragonfly;
	uint32_t most = dragonfly->switches_per_group * dragonfly->global_links + 1;
	uint64_t count = most;

	if (!sim_document_number(&reader->document, groups, "groups", 1, SIM_GENERATED_SWITCHES_MAX,
				 &count))
		return false;
	if (count > most) {
		sim_fault_add(reader->faults, sim_document_place(groups),
			      "%u groups cannot all be joined, at most %u were expected with %u "
			      "switches of %u global links in each",
			      (unsigned)count, most, dragonfly->switches_per_group,
			      dragonfly->global_links);
		return false;
	}
	if (count * dragonfly->switches_per_group > SIM_GENERATED_SWITCHES_MAX) {
		sim_fault_add(reader->faults, groups ? sim_document_place(groups) : plan->place,
			      "%u groups of %u are more than %u switches, fewer 'groups' were "
			      "expected",
			      (unsigned)count, dragonfly->switches_per_group,
			      SIM_GENERATED_SWITCHES_MAX);
		return false;
	}
	dragonfly->groups = (uint32_t)count;
	plan->switch_count = dragonfly->groups * dragonfly->switches_per_group;
	return true;
}

static bool read_dragonfly(struct sim_reader *reader, yaml_node_t *const *values,
			   struct sim_plan *plan)
{
	struct sim_dragonfly_plan *dragonfly = &plan->dragonfly;
	uint32_t links;

	if (!read_switch(reader, values, plan))
		return false;
	links = dragonfly->switches_per_group - 1 + dragonfly->global_links;
	plan->radix = plan->hosts_per_switch + links;
	return sim_generate_read_radix(reader, values, links, plan) &&
	       read_groups(reader, values[SIM_KEY_GROUPS], plan) &&
	       sim_generate_read_hosts(reader, values, plan);
}

/* switch1-1 and so on: group, then switch. */
static void add_dragonfly_switches(struct sim_reader *reader, const struct sim_plan *plan)
{
	char names[64];

	snprintf(names, sizeof(names), "switch[1-%u]-[1-%u]", plan->dragonfly.groups,
		 plan->dragonfly.switches_per_group);
	sim_generate_add_switches(reader, plan, names);
}

static void join_group(struct sim_reader *reader, const struct sim_plan *plan, uint32_t group)
{
	uint32_t count = plan->dragonfly.switches_per_group;
	uint32_t first = plan->first_switch + group * count;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = i + 1; j < count; j++)
			sim_generate_join(reader, plan, first + i, first + j);
	}
}

/*
 * Each group numbers its global links by how far on the other group is, round after round; the
 * links are spread evenly over its switches. What does not give each pair one more stays unused.
 */
static void join_groups(struct sim_reader *reader, const struct sim_plan *plan)
{
	const struct sim_dragonfly_plan *dragonfly = &plan->dragonfly;
	uint32_t groups = dragonfly->groups, count = dragonfly->switches_per_group;
	uint32_t rounds = groups > 1 ? count * dragonfly->global_links / (groups - 1) : 0;
	uint32_t used = rounds * (groups - 1);

	for (uint32_t from = 0; from < groups; from++) {
		for (uint32_t to = from + 1; to < groups; to++) {
			for (uint32_t round = 0; round < rounds; round++) {
				uint32_t there = round * (groups - 1) + to - from - 1;
				uint32_t back = round * (groups - 1) + groups - 1 - (to - from);

				sim_generate_join(
					reader, plan,
					plan->first_switch + from * count + there * count / used,
					plan->first_switch + to * count + back * count / used);
			}
		}
	}
}

static void join_dragonfly(struct sim_reader *reader, struct sim_plan *plan)
{
	sim_generate_spread_hosts(reader, plan);
	for (uint32_t group = 0; group < plan->dragonfly.groups; group++)
		join_group(reader, plan, group);
	join_groups(reader, plan);
}

const struct sim_generator sim_generator_dragonfly = {
	.kind = "dragonfly",
	.keys = 1u << SIM_KEY_HOSTS | 1u << SIM_KEY_RADIX | 1u << SIM_KEY_HOSTS_PER_SWITCH |
		1u << SIM_KEY_GROUPS | 1u << SIM_KEY_SWITCHES_PER_GROUP |
		1u << SIM_KEY_GLOBAL_LINKS,
	.read = read_dragonfly,
	.add_switches = add_dragonfly_switches,
	.join = join_dragonfly,
};
