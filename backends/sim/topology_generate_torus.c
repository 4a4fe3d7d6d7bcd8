/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches on a grid that is closed in every dimension. */
#include "topology_generate.h"

static bool read_sizes(struct sim_reader *reader, yaml_node_t *dims, size_t count,
		       struct sim_plan *plan)
{
	struct sim_torus_plan *torus = &plan->torus;
	uint64_t switches = 1;

	for (size_t i = 0; i < count; i++) {
		uint64_t dim = 0;

		if (!sim_document_number(&reader->document,
					 sim_document_item(&reader->document, dims, i),
					 "a dimension", 2, SIM_GENERATED_SWITCHES_MAX, &dim))
			return false;
		switches *= dim;
		if (switches > SIM_GENERATED_SWITCHES_MAX) {
			sim_fault_add(reader->faults, sim_document_place(dims),
				      "these are more than %u switches, fewer were expected",
				      SIM_GENERATED_SWITCHES_MAX);
			return false;
		}
		torus->dims[torus->dim_count++] = (uint32_t)dim;
	}
	plan->switch_count = (uint32_t)switches;
	return true;
}

static bool read_dims(struct sim_reader *reader, yaml_node_t *dims, struct sim_plan *plan)
{
	size_t count;

	if (!dims) {
		sim_fault_add(reader->faults, plan->place,
			      "'generate' has no 'dims', the torus' dimensions were expected, as "
			      "in [4, 4, 2]");
		return false;
	}
	count = sim_document_items(&reader->document, dims, "dims");
	if (dims->type != YAML_SEQUENCE_NODE)
		return false;
	if (!count || count > SIM_TORUS_DIMS_MAX) {
		sim_fault_add(reader->faults, sim_document_place(dims),
			      "dims has %zu numbers, 1 to %u were expected", count,
			      SIM_TORUS_DIMS_MAX);
		return false;
	}
	return read_sizes(reader, dims, count, plan);
}

/* Ports of each switch that go to others. */
static uint32_t links_of_switch(const struct sim_torus_plan *torus)
{
	uint32_t links = 0;

	for (uint32_t i = 0; i < torus->dim_count; i++)
		links += torus->dims[i] == 2 ? torus->pair_links : 2;
	return links;
}

static bool read_torus(struct sim_reader *reader, yaml_node_t *const *values, struct sim_plan *plan)
{
	struct sim_document *document = &reader->document;
	uint64_t each = 0, pair_links = 1;

	if (!read_dims(reader, values[SIM_KEY_DIMS], plan) ||
	    !sim_document_number(document, values[SIM_KEY_PAIR_LINKS], "pair_links", 1, 2,
				 &pair_links) ||
	    !sim_document_number(document, values[SIM_KEY_HOSTS_PER_SWITCH], "hosts_per_switch", 1,
				 SIM_SWITCH_PORTS_MAX, &each))
		return false;
	plan->torus.pair_links = (uint32_t)pair_links;
	plan->hosts_per_switch = (uint32_t)each;
	plan->radix = SIM_RADIX_DEFAULT;
	return sim_generate_read_hosts(reader, values, plan) &&
	       sim_generate_read_radix(reader, values, links_of_switch(&plan->torus), plan);
}

/* switch1-1-1 and so on: the last number counts fastest, as the node indices are to. */
static void add_torus_switches(struct sim_reader *reader, const struct sim_plan *plan)
{
	size_t length = 0;
	char names[SIM_TORUS_DIMS_MAX * 16 + 16];

	for (uint32_t i = 0; i < plan->torus.dim_count; i++)
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%s[1-%u]",
					   i ? "-" : "switch", plan->torus.dims[i]);
	sim_generate_add_switches(reader, plan, names);
}

/* `at` with the next one in a dimension of `size` switches, `stride` indices apart. */
static void join_next(struct sim_reader *reader, const struct sim_plan *plan, uint32_t at,
		      uint32_t size, uint32_t stride)
{
	uint32_t place = at / stride % size;
	uint32_t next = place + 1 < size ? at + stride : at - place * stride;
	uint32_t links = 1;

	if (size == 2)
		links = place ? 0 : plan->torus.pair_links;
	while (links--)
		sim_generate_join(reader, plan, plan->first_switch + at, plan->first_switch + next);
}

static void join_torus(struct sim_reader *reader, struct sim_plan *plan)
{
	sim_generate_spread_hosts(reader, plan);
	for (uint32_t at = 0; at < plan->switch_count; at++) {
		uint32_t stride = plan->switch_count;

		for (uint32_t i = 0; i < plan->torus.dim_count; i++) {
			stride /= plan->torus.dims[i];
			join_next(reader, plan, at, plan->torus.dims[i], stride);
		}
	}
}

const struct sim_generator sim_generator_torus = {
	.kind = "torus",
	.keys = 1u << SIM_KEY_HOSTS | 1u << SIM_KEY_RADIX | 1u << SIM_KEY_HOSTS_PER_SWITCH |
		1u << SIM_KEY_DIMS | 1u << SIM_KEY_PAIR_LINKS,
	.read = read_torus,
	.add_switches = add_torus_switches,
	.join = join_torus,
};
