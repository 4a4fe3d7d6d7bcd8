/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_generate.h"

#include <string.h>

static const struct sim_generator *const generators[] = {
	&sim_generator_fat_tree,  &sim_generator_star,   &sim_generator_torus,
	&sim_generator_dragonfly, &sim_generator_random,
};

#define GENERATORS (sizeof(generators) / sizeof(*generators))
#define COMMON_KEYS                                                                                \
	(1u << SIM_KEY_KIND | 1u << SIM_KEY_NAMES | 1u << SIM_KEY_ADDRESSES | 1u << SIM_KEY_DEVICE)

static const char *const keys[SIM_GENERATE_KEYS] = {
	[SIM_KEY_KIND] = "kind",
	[SIM_KEY_NAMES] = "names",
	[SIM_KEY_ADDRESSES] = "addresses",
	[SIM_KEY_DEVICE] = "device",
	[SIM_KEY_HOSTS] = "hosts",
	[SIM_KEY_RADIX] = "radix",
	[SIM_KEY_LEVELS] = "levels",
	[SIM_KEY_HOSTS_PER_SWITCH] = "hosts_per_switch",
	[SIM_KEY_DIMS] = "dims",
	[SIM_KEY_PAIR_LINKS] = "pair_links",
	[SIM_KEY_GROUPS] = "groups",
	[SIM_KEY_SWITCHES_PER_GROUP] = "switches_per_group",
	[SIM_KEY_GLOBAL_LINKS] = "global_links",
	[SIM_KEY_SEED] = "seed",
	[SIM_KEY_SWITCHES] = "switches",
	[SIM_KEY_REDUNDANT] = "redundant",
	[SIM_KEY_PARTITIONS] = "partitions",
	[SIM_KEY_SPEEDS] = "speeds",
	[SIM_KEY_MTUS] = "mtus",
};

static const struct sim_generator *read_kind(struct sim_reader *reader, const yaml_node_t *kind,
					     struct sim_place place)
{
	struct sim_word words[GENERATORS + 1] = {0};
	uint32_t index = 0;

	if (!kind) {
		sim_fault_add(reader->faults, place,
			      "'generate' has no 'kind', fat-tree, star, torus, dragonfly or "
			      "random was expected");
		return NULL;
	}
	for (uint32_t i = 0; i < GENERATORS; i++)
		words[i] = (struct sim_word){generators[i]->kind, i};
	if (!sim_document_word(&reader->document, kind, "kind", words, &index))
		return NULL;
	return generators[index];
}

static void list_keys_of(const struct sim_generator *generator, char *list, size_t size)
{
	size_t length = 0;

	list[0] = '\0';
	for (uint32_t i = 0; i < SIM_GENERATE_KEYS && length < size; i++) {
		if (generator->keys >> i & 1)
			length += (size_t)snprintf(list + length, size - length, "%s%s",
						   length ? ", " : "", keys[i]);
	}
}

static bool check_keys(struct sim_reader *reader, yaml_node_t *const *values,
		       const struct sim_generator *generator)
{
	char list[256];
	bool fine = true;

	for (uint32_t i = 0; i < SIM_GENERATE_KEYS; i++) {
		if (!values[i] || (generator->keys | COMMON_KEYS) >> i & 1)
			continue;
		list_keys_of(generator, list, sizeof(list));
		sim_fault_add(reader->faults, sim_document_place(values[i]),
			      "kind %s has no '%s', expected some of: %s", generator->kind, keys[i],
			      list);
		fine = false;
	}
	return fine;
}

void sim_read_generate(struct sim_reader *reader, yaml_node_t *generate, struct sim_plan *plan)
{
	yaml_node_t *values[SIM_GENERATE_KEYS];
	const struct sim_generator *generator;

	memset(plan, 0, sizeof(*plan));
	if (!generate)
		return;
	plan->place = sim_document_place(generate);
	reader->nodes_incomplete = true;
	if (!sim_document_fields(&reader->document, generate, "generate", keys, SIM_GENERATE_KEYS,
				 values))
		return;
	generator = read_kind(reader, values[SIM_KEY_KIND], plan->place);
	if (!generator || !check_keys(reader, values, generator))
		return;
	plan->generator = generator;
	if (!generator->read(reader, values, plan)) {
		plan->host_count = 0;
		return;
	}
	reader->nodes_incomplete = false;
	plan->names = values[SIM_KEY_NAMES];
	plan->addresses = values[SIM_KEY_ADDRESSES];
	plan->device = sim_read_device(reader, values[SIM_KEY_DEVICE]);
}

bool sim_generate_read_hosts(struct sim_reader *reader, yaml_node_t *const *values,
			     struct sim_plan *plan)
{
	uint32_t each = plan->hosts_per_switch ? plan->hosts_per_switch : SIM_SWITCH_PORTS_MAX;
	uint64_t most = (uint64_t)plan->switch_count * each, hosts = most;

	if (!values[SIM_KEY_HOSTS] && !plan->hosts_per_switch) {
		sim_fault_add(reader->faults, plan->place,
			      "'generate' has no 'hosts', that or 'hosts_per_switch' was expected");
		return false;
	}
	if (!sim_document_number(&reader->document, values[SIM_KEY_HOSTS], "hosts", 1,
				 SIM_GENERATED_HOSTS_MAX, &hosts))
		return false;
	if (hosts > SIM_GENERATED_HOSTS_MAX || hosts > most) {
		sim_fault_add(reader->faults,
			      values[SIM_KEY_HOSTS] ? sim_document_place(values[SIM_KEY_HOSTS])
						    : plan->place,
			      "%llu hosts do not fit, at most %llu were expected with %u switches",
			      (unsigned long long)hosts,
			      (unsigned long long)(most < SIM_GENERATED_HOSTS_MAX
							   ? most
							   : SIM_GENERATED_HOSTS_MAX),
			      plan->switch_count);
		return false;
	}
	plan->host_count = (uint32_t)hosts;
	if (!plan->hosts_per_switch)
		plan->hosts_per_switch = (plan->host_count - 1) / plan->switch_count + 1;
	return true;
}

bool sim_generate_read_radix(struct sim_reader *reader, yaml_node_t *const *values, uint32_t links,
			     struct sim_plan *plan)
{
	uint32_t needed = plan->hosts_per_switch + links;
	uint64_t radix = plan->radix;

	if (!sim_document_number(&reader->document, values[SIM_KEY_RADIX], "radix", 2,
				 SIM_SWITCH_PORTS_MAX, &radix))
		return false;
	plan->radix = (uint32_t)radix;
	if (needed <= plan->radix && needed <= SIM_SWITCH_PORTS_MAX)
		return true;
	if (needed > SIM_SWITCH_PORTS_MAX)
		sim_fault_add(reader->faults, plan->place,
			      "each switch needs %u ports, %u of them for hosts, at most %u were "
			      "expected: fewer hosts or links",
			      needed, plan->hosts_per_switch, SIM_SWITCH_PORTS_MAX);
	else
		sim_fault_add(reader->faults,
			      values[SIM_KEY_RADIX] ? sim_document_place(values[SIM_KEY_RADIX])
						    : plan->place,
			      "each switch needs %u ports, %u of them for hosts, and radix is %u: "
			      "%u or more was expected, or fewer hosts",
			      needed, plan->hosts_per_switch, plan->radix, needed);
	return false;
}

void sim_generate_add_switches(struct sim_reader *reader, const struct sim_plan *plan,
			       const char *names)
{
	const struct sim_node_options options = {.kind = SIM_SWITCH, .ports = (uint8_t)plan->radix};
	struct hostlist_fault fault;
	struct hostlist list;

	if (hostlist_expand(names, strlen(names), &list, &fault)) {
		reader->faults->no_memory = true;
		return;
	}
	sim_read_add_nodes(reader, &list, &options, plan->place);
	hostlist_free(&list);
}

void sim_generate_switches(struct sim_reader *reader, struct sim_plan *plan)
{
	plan->first_switch = reader->builder.topology->node_count;
	if (plan->host_count)
		plan->generator->add_switches(reader, plan);
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

static void add_addresses(struct sim_reader *reader, const struct sim_plan *plan)
{
	uint32_t count = reader->builder.topology->node_count - plan->first_host;
	const char *const *patterns = plan->generator->addresses;

	if (plan->addresses || !patterns) {
		sim_read_addresses(reader, plan->addresses, plan->first_host, count);
		return;
	}
	for (; *patterns; patterns++)
		sim_read_address_pattern(reader, *patterns, plan->place, plan->first_host, count);
}

void sim_generate_hosts(struct sim_reader *reader, struct sim_plan *plan)
{
	const struct sim_node_options options = {
		.kind = SIM_HOST, .ports = 1, .device = plan->device};
	struct hostlist names;

	plan->first_host = reader->builder.topology->node_count;
	if (!plan->host_count)
		return;
	if (!read_host_names(reader, plan, &names)) {
		reader->nodes_incomplete = true;
		return;
	}
	sim_read_add_nodes(reader, &names, &options,
			   plan->names ? sim_document_place(plan->names) : plan->place);
	hostlist_free(&names);
	add_addresses(reader, plan);
}

void sim_generate_join(struct sim_reader *reader, const struct sim_plan *plan, uint32_t left,
		       uint32_t right)
{
	sim_builder_add_link(&reader->builder, left, right, &reader->defaults, plan->place);
}

void sim_generate_spread_hosts(struct sim_reader *reader, const struct sim_plan *plan)
{
	for (uint32_t i = 0; i < plan->host_count; i++) {
		uint64_t at = (uint64_t)i * plan->switch_count / plan->host_count;

		sim_generate_join(reader, plan, plan->first_host + i,
				  plan->first_switch + (uint32_t)at);
	}
}

/* With nodes missing the indices would not be those of the plan. */
static bool nodes_are_there(const struct sim_reader *reader, const struct sim_plan *plan)
{
	return plan->host_count && !reader->faults->count && !reader->faults->no_memory;
}

void sim_generate_links(struct sim_reader *reader, struct sim_plan *plan)
{
	if (nodes_are_there(reader, plan))
		plan->generator->join(reader, plan);
}

void sim_generate_partitions(struct sim_reader *reader, struct sim_plan *plan)
{
	if (nodes_are_there(reader, plan) && plan->generator->add_partitions)
		plan->generator->add_partitions(reader, plan);
}
