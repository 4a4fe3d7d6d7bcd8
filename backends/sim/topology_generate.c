/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_reader.h"

#include <string.h>

static const struct sim_word generators[] = {
	{"fat-tree", SIM_FAT_TREE},
	{"star", SIM_STAR},
	{NULL, 0},
};

enum { KIND, RADIX, LEVELS, HOSTS, NAMES, ADDRESSES, DEVICE, KEYS };
static const char *const keys[KEYS] = {"kind",  "radix",     "levels", "hosts",
				       "names", "addresses", "device"};

#define HOSTS_MAX 1000000u

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

static void plan_star(struct sim_plan *plan)
{
	plan->levels = 1;
	plan->leaf_count = 1;
}

/* Every leaf has half of its ports for hosts; there are only as many leaves and pods as hosts need.
 */
static void plan_fat_tree(struct sim_plan *plan)
{
	uint32_t half = plan->radix / 2;

	plan->leaf_count = divide_up(plan->host_count, half);
	plan->pod_count = plan->levels == 2 ? 1 : divide_up(plan->leaf_count, half);
	plan->spine_count = plan->pod_count * half;
	plan->core_count = plan->levels == 2 ? 0 : half * half;
}

static uint32_t hosts_that_fit(const struct sim_plan *plan)
{
	uint32_t half = plan->radix / 2;

	if (plan->kind == SIM_STAR)
		return plan->radix;
	return plan->levels == 2 ? plan->radix * half : plan->radix * half * half;
}

static bool read_numbers(struct sim_reader *reader, const yaml_node_t *map,
			 yaml_node_t *const *values, struct sim_plan *plan)
{
	struct sim_document *document = &reader->document;
	bool star = plan->kind == SIM_STAR;
	uint64_t hosts = 0, levels = 2, radix = star ? SIM_SWITCH_PORTS_MAX : 36;

	if (!values[HOSTS]) {
		sim_fault_add(reader->faults, sim_document_place(map),
			      "'generate' has no 'hosts', their number was expected");
		return false;
	}
	if (star && values[LEVELS]) {
		sim_fault_add(reader->faults, sim_document_place(values[LEVELS]),
			      "a star has no 'levels', 'hosts' and 'radix' were expected");
		return false;
	}
	if (!sim_document_number(document, values[RADIX], "radix", 2, SIM_SWITCH_PORTS_MAX,
				 &radix) ||
	    !sim_document_number(document, values[LEVELS], "levels", 2, 3, &levels) ||
	    !sim_document_number(document, values[HOSTS], "hosts", 1, HOSTS_MAX, &hosts))
		return false;
	if (!star && radix % 2) {
		sim_fault_add(reader->faults, sim_document_place(values[RADIX]),
			      "radix is %u, an even number was expected", (unsigned)radix);
		return false;
	}
	plan->radix = (uint32_t)radix;
	plan->levels = (uint32_t)levels;
	if (hosts > hosts_that_fit(plan)) {
		sim_fault_add(
			reader->faults, sim_document_place(values[HOSTS]),
			"%u hosts do not fit, at most %u were expected with this kind, radix and "
			"levels",
			(unsigned)hosts, hosts_that_fit(plan));
		return false;
	}
	plan->host_count = (uint32_t)hosts;
	return true;
}

void sim_read_generate(struct sim_reader *reader, yaml_node_t *generate, struct sim_plan *plan)
{
	yaml_node_t *values[KEYS];
	uint32_t kind = SIM_FAT_TREE;

	memset(plan, 0, sizeof(*plan));
	if (!generate)
		return;
	plan->place = sim_document_place(generate);
	reader->nodes_incomplete = true;
	if (!sim_document_fields(&reader->document, generate, "generate", keys, KEYS, values))
		return;
	if (!values[KIND]) {
		sim_fault_add(reader->faults, plan->place,
			      "'generate' has no 'kind', fat-tree or star was expected");
		return;
	}
	if (!sim_document_word(&reader->document, values[KIND], "kind", generators, &kind))
		return;
	plan->kind = (enum sim_generator)kind;
	if (!read_numbers(reader, generate, values, plan))
		return;
	reader->nodes_incomplete = false;
	plan->names = values[NAMES];
	plan->addresses = values[ADDRESSES];
	plan->device = sim_read_device(reader, values[DEVICE]);
	if (plan->kind == SIM_STAR)
		plan_star(plan);
	else
		plan_fat_tree(plan);
}

/* Adds prefix1 .. prefixN. */
static void add_switches(struct sim_reader *reader, const struct sim_plan *plan, const char *prefix,
			 uint32_t count)
{
	const struct sim_node_options options = {.kind = SIM_SWITCH, .ports = (uint8_t)plan->radix};
	struct hostlist_fault fault;
	struct hostlist names;
	char text[64];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%s[1-%u]", prefix, count);
	if (hostlist_expand(text, strlen(text), &names, &fault)) {
		reader->faults->no_memory = true;
		return;
	}
	sim_read_add_nodes(reader, &names, &options, plan->place);
	hostlist_free(&names);
}

void sim_generate_switches(struct sim_reader *reader, struct sim_plan *plan)
{
	plan->first_switch = reader->builder.topology->node_count;
	if (!plan->host_count)
		return;
	add_switches(reader, plan, plan->kind == SIM_STAR ? "switch" : "leaf", plan->leaf_count);
	add_switches(reader, plan, "spine", plan->spine_count);
	add_switches(reader, plan, "core", plan->core_count);
}

/* node01 and so on, all of one width. */
static bool expand_default_names(struct sim_reader *reader, const struct sim_plan *plan,
				 struct hostlist *names)
{
	struct hostlist_fault fault;
	char text[64];
	int width = snprintf(text, sizeof(text), "%u", plan->host_count);

	snprintf(text, sizeof(text), "node[%0*u-%u]", width, 1u, plan->host_count);
	if (!hostlist_expand(text, strlen(text), names, &fault))
		return true;
	reader->faults->no_memory = true;
	return false;
}

static bool read_host_names(struct sim_reader *reader, const struct sim_plan *plan,
			    struct hostlist *names)
{
	const char *text;

	if (!plan->names)
		return expand_default_names(reader, plan, names);
	text = sim_document_text(&reader->document, plan->names, "names");
	if (!text || !sim_read_names(reader, plan->names, 0, strlen(text), names))
		return false;
	if (names->count == plan->host_count)
		return true;
	sim_fault_add(reader->faults, sim_document_place(plan->names),
		      "these are %u names for %u hosts, one for each was expected", names->count,
		      plan->host_count);
	hostlist_free(names);
	return false;
}

void sim_generate_hosts(struct sim_reader *reader, struct sim_plan *plan)
{
	const struct sim_node_options options = {
		.kind = SIM_HOST, .ports = 1, .device = plan->device};
	const struct sim_topology *topology = reader->builder.topology;
	struct hostlist names;

	plan->first_host = topology->node_count;
	if (!plan->host_count)
		return;
	if (!read_host_names(reader, plan, &names)) {
		reader->nodes_incomplete = true;
		return;
	}
	sim_read_add_nodes(reader, &names, &options,
			   plan->names ? sim_document_place(plan->names) : plan->place);
	hostlist_free(&names);
	sim_read_addresses(reader, plan->addresses, plan->first_host,
			   topology->node_count - plan->first_host);
}

static void join(struct sim_reader *reader, const struct sim_plan *plan, uint32_t left,
		 uint32_t right)
{
	sim_builder_add_link(&reader->builder, left, right, &reader->defaults, plan->place);
}

/* Each leaf with all spines of its pod; each spine with its share of the cores. */
static void join_switches(struct sim_reader *reader, const struct sim_plan *plan)
{
	uint32_t half = plan->radix / 2;
	uint32_t spines = plan->first_switch + plan->leaf_count;
	uint32_t cores = spines + plan->spine_count;

	for (uint32_t leaf = 0; leaf < plan->leaf_count; leaf++) {
		uint32_t pod = plan->levels == 2 ? 0 : leaf / half;

		for (uint32_t i = 0; i < half; i++)
			join(reader, plan, plan->first_switch + leaf, spines + pod * half + i);
	}
	if (!plan->core_count)
		return;
	for (uint32_t spine = 0; spine < plan->spine_count; spine++) {
		for (uint32_t i = 0; i < half; i++)
			join(reader, plan, spines + spine, cores + spine % half * half + i);
	}
}

void sim_generate_links(struct sim_reader *reader, const struct sim_plan *plan)
{
	uint32_t share = plan->kind == SIM_STAR ? plan->radix : plan->radix / 2;

	/* With nodes missing the indices would not be those of the plan. */
	if (!plan->host_count || reader->faults->count || reader->faults->no_memory)
		return;
	for (uint32_t i = 0; i < plan->host_count; i++)
		join(reader, plan, plan->first_host + i, plan->first_switch + i / share);
	if (plan->kind == SIM_FAT_TREE)
		join_switches(reader, plan);
}
