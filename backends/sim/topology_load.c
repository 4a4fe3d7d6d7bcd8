/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_file.h"
#include "topology_generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FABRIC_NAME_MAX 63

static const struct sim_word routings[] = {
	{"minhop", SIM_ROUTING_MINHOP},
	{"updn", SIM_ROUTING_UPDN},
	{NULL, 0},
};

enum { FABRIC, SM, LINK, SWITCHES, HOSTS, LINKS, PARTITIONS, GENERATE, KEYS };
static const char *const keys[KEYS] = {"fabric", "sm",    "link",       "switches",
				       "hosts",  "links", "partitions", "generate"};

static void read_fabric_name(struct sim_reader *reader, const yaml_node_t *node)
{
	struct sim_topology *topology = reader->builder.topology;
	const char *name = "fabric";

	if (node)
		name = sim_document_text(&reader->document, node, "fabric");
	if (!name)
		return;
	/* It goes into comments of other files: one line, and not a long one. */
	if (strlen(name) > FABRIC_NAME_MAX || name[strcspn(name, "\n\r")])
		sim_fault_add(reader->faults, sim_document_place(node),
			      "the fabric's name was expected to be one line of at most %d bytes",
			      FABRIC_NAME_MAX);
	topology->name = strdup(name);
	if (!topology->name)
		reader->faults->no_memory = true;
}

static void read_sm_node(struct sim_reader *reader, const yaml_node_t *node)
{
	struct sim_topology *topology = reader->builder.topology;
	const char *name;
	uint32_t sm;

	name = sim_document_text(&reader->document, node, "node");
	if (!name)
		return;
	sm = sim_topology_find(topology, name);
	if (sm == SIM_NONE) {
		if (!reader->nodes_incomplete)
			sim_fault_add(
				reader->faults, sim_document_place(node),
				"the subnet manager's node '%s' is not in this file, a host was "
				"expected",
				name);
	} else if (topology->nodes[sm].kind == SIM_SWITCH) {
		sim_fault_add(reader->faults, sim_document_place(node),
			      "the subnet manager's node '%s' is a switch, a host was expected",
			      name);
	} else {
		topology->sm = sm;
	}
}

/* After the nodes. */
static void read_sm(struct sim_reader *reader, yaml_node_t *map)
{
	static const char *const sm_keys[] = {"node", "routing"};
	struct sim_topology *topology = reader->builder.topology;
	uint32_t routing = SIM_ROUTING_MINHOP;
	yaml_node_t *values[2];

	if (topology->host_count)
		topology->sm = topology->switch_count;
	if (!map || !sim_document_fields(&reader->document, map, "sm", sm_keys, 2, values))
		return;
	if (values[0])
		read_sm_node(reader, values[0]);
	sim_document_word(&reader->document, values[1], "routing", routings, &routing);
	topology->routing = (enum sim_routing)routing;
}

static void read_topology(struct sim_reader *reader)
{
	yaml_node_t *root = sim_document_root(&reader->document);
	yaml_node_t *values[KEYS];
	struct sim_plan plan;

	if (!sim_document_fields(&reader->document, root, "the topology", keys, KEYS, values))
		return;
	read_fabric_name(reader, values[FABRIC]);
	sim_read_link_defaults(reader, values[LINK]);
	sim_read_generate(reader, values[GENERATE], &plan);
	sim_generate_switches(reader, &plan);
	sim_read_switches(reader, values[SWITCHES]);
	sim_generate_hosts(reader, &plan);
	sim_read_hosts(reader, values[HOSTS]);
	if (!reader->builder.topology->host_count && !reader->nodes_incomplete)
		sim_fault_add(reader->faults, sim_document_place(root),
			      "the fabric has no hosts, 'hosts' or 'generate' was expected");
	read_sm(reader, values[SM]);
	sim_generate_links(reader, &plan);
	sim_read_links(reader, values[LINKS]);
	sim_generate_partitions(reader, &plan);
	sim_read_partitions(reader, values[PARTITIONS]);
	sim_builder_check(&reader->builder);
}

int sim_topology_parse(const char *path, const char *text, size_t length,
		       struct sim_topology **topology, struct sim_errors *errors)
{
	struct sim_faults faults = {0};
	struct sim_reader reader = {.faults = &faults};
	int ret;

	if (!sim_builder_create(&reader.builder, &faults)) {
		memset(errors, 0, sizeof(*errors));
		return -ENOMEM;
	}
	if (sim_document_open(&reader.document, text, length, &faults)) {
		read_topology(&reader);
		sim_document_close(&reader.document);
	}
	ret = sim_faults_report(&faults, path, errors);
	if (!ret)
		*topology = sim_builder_finish(&reader.builder);
	sim_builder_destroy(&reader.builder);
	return ret;
}

int sim_topology_load(const char *path, struct sim_topology **topology, struct sim_errors *errors)
{
	size_t length;
	char *text;
	int ret = sim_topology_file_read(path, "a topology file", &text, &length, errors);

	if (ret)
		return ret;
	ret = sim_topology_parse(path, text, length, topology, errors);
	free(text);
	return ret;
}
