/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stars and fat trees. */
#include "topology_generate.h"

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* Reads `hosts`, of which at most so many fit. */
static bool read_hosts(struct sim_reader *reader, yaml_node_t *const *values, uint32_t most,
		       struct sim_plan *plan)
{
	uint64_t hosts = 0;

	if (!values[SIM_KEY_HOSTS]) {
		sim_fault_add(reader->faults, plan->place,
			      "'generate' has no 'hosts', their number was expected");
		return false;
	}
	if (!sim_document_number(&reader->document, values[SIM_KEY_HOSTS], "hosts", 1,
				 SIM_GENERATED_HOSTS_MAX, &hosts))
		return false;
	if (hosts > most) {
		sim_fault_add(
			reader->faults, sim_document_place(values[SIM_KEY_HOSTS]),
			"%u hosts do not fit, at most %u were expected with this kind, radix and "
			"levels",
			(unsigned)hosts, most);
		return false;
	}
	plan->host_count = (uint32_t)hosts;
	return true;
}

static bool read_star(struct sim_reader *reader, yaml_node_t *const *values, struct sim_plan *plan)
{
	plan->radix = SIM_SWITCH_PORTS_MAX;
	plan->switch_count = 1;
	return sim_generate_read_radix(reader, values, 0, plan) &&
	       read_hosts(reader, values, plan->radix, plan);
}

static void add_star_switch(struct sim_reader *reader, const struct sim_plan *plan)
{
	sim_generate_add_switches(reader, plan, "switch1");
}

static void join_star(struct sim_reader *reader, struct sim_plan *plan)
{
	sim_generate_spread_hosts(reader, plan);
}

const struct sim_generator sim_generator_star = {
	.kind = "star",
	.keys = 1u << SIM_KEY_HOSTS | 1u << SIM_KEY_RADIX,
	.read = read_star,
	.add_switches = add_star_switch,
	.join = join_star,
};

/* Every leaf has half of its ports for hosts; there are only as many leaves and pods as hosts need.
 */
static void size_tree(struct sim_plan *plan)
{
	struct sim_tree_plan *tree = &plan->tree;
	uint32_t half = plan->radix / 2;

	tree->leaf_count = divide_up(plan->host_count, half);
	tree->pod_count = tree->levels == 2 ? 1 : divide_up(tree->leaf_count, half);
	tree->spine_count = tree->pod_count * half;
	tree->core_count = tree->levels == 2 ? 0 : half * half;
	plan->switch_count = tree->leaf_count + tree->spine_count + tree->core_count;
	plan->hosts_per_switch = half;
}

static bool read_tree(struct sim_reader *reader, yaml_node_t *const *values, struct sim_plan *plan)
{
	uint64_t levels = 2;
	uint32_t most;

	plan->radix = SIM_RADIX_DEFAULT;
	if (!sim_generate_read_radix(reader, values, 0, plan) ||
	    !sim_document_number(&reader->document, values[SIM_KEY_LEVELS], "levels", 2, 3,
				 &levels))
		return false;
	if (plan->radix % 2) {
		sim_fault_add(reader->faults, sim_document_place(values[SIM_KEY_RADIX]),
			      "radix is %u, an even number was expected", plan->radix);
		return false;
	}
	plan->tree.levels = (uint32_t)levels;
	most = plan->radix * plan->radix / 2;
	if (!read_hosts(reader, values, levels == 2 ? most : most * (plan->radix / 2), plan))
		return false;
	size_tree(plan);
	return true;
}

/* prefix1 .. prefixN */
static void add_row(struct sim_reader *reader, const struct sim_plan *plan, const char *prefix,
		    uint32_t count)
{
	char names[64];

	if (!count)
		return;
	snprintf(names, sizeof(names), "%s[1-%u]", prefix, count);
	sim_generate_add_switches(reader, plan, names);
}

static void add_tree_switches(struct sim_reader *reader, const struct sim_plan *plan)
{
	add_row(reader, plan, "leaf", plan->tree.leaf_count);
	add_row(reader, plan, "spine", plan->tree.spine_count);
	add_row(reader, plan, "core", plan->tree.core_count);
}

/* Each leaf with its hosts and with all spines of its pod; each spine with its share of the cores.
 */
static void join_tree(struct sim_reader *reader, struct sim_plan *plan)
{
	const struct sim_tree_plan *tree = &plan->tree;
	uint32_t half = plan->radix / 2;
	uint32_t spines = plan->first_switch + tree->leaf_count;
	uint32_t cores = spines + tree->spine_count;

	for (uint32_t i = 0; i < plan->host_count; i++)
		sim_generate_join(reader, plan, plan->first_host + i,
				  plan->first_switch + i / half);
	for (uint32_t leaf = 0; leaf < tree->leaf_count; leaf++) {
		uint32_t pod = tree->levels == 2 ? 0 : leaf / half;

		for (uint32_t i = 0; i < half; i++)
			sim_generate_join(reader, plan, plan->first_switch + leaf,
					  spines + pod * half + i);
	}
	if (!tree->core_count)
		return;
	for (uint32_t spine = 0; spine < tree->spine_count; spine++) {
		for (uint32_t i = 0; i < half; i++)
			sim_generate_join(reader, plan, spines + spine,
					  cores + spine % half * half + i);
	}
}

const struct sim_generator sim_generator_fat_tree = {
	.kind = "fat-tree",
	.keys = 1u << SIM_KEY_HOSTS | 1u << SIM_KEY_RADIX | 1u << SIM_KEY_LEVELS,
	.read = read_tree,
	.add_switches = add_tree_switches,
	.join = join_tree,
};
