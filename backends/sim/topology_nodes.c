/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "topology_text.h"

#define SWITCH_PORTS_DEFAULT 36

bool sim_read_names(struct sim_reader *reader, const yaml_node_t *scalar, size_t offset,
		    size_t length, struct hostlist *names)
{
	const char *text = (const char *)scalar->data.scalar.value + offset;
	struct hostlist_fault fault;
	int ret = hostlist_expand(text, length, names, &fault);

	if (ret == -ENOMEM)
		reader->faults->no_memory = true;
	else if (ret)
		sim_fault_add(reader->faults, sim_document_place_in(scalar, offset + fault.offset),
			      "%s", fault.text);
	return !ret;
}

/* ", and N more" for faults that stand for several names. */
static const char *and_more(uint32_t more, char *text, size_t size)
{
	text[0] = '\0';
	if (more)
		snprintf(text, size, " (and %u more)", more);
	return text;
}

bool sim_read_node_list(struct sim_reader *reader, const yaml_node_t *scalar, size_t offset,
			size_t length, const char *what, struct sim_node_list *list)
{
	const char *missing = NULL;
	uint32_t missing_count = 0;
	struct hostlist names;
	char more[32];

	memset(list, 0, sizeof(*list));
	if (!sim_read_names(reader, scalar, offset, length, &names))
		return false;
	list->nodes = calloc(names.count, sizeof(*list->nodes));
	if (!list->nodes)
		reader->faults->no_memory = true;
	for (uint32_t i = 0; list->nodes && i < names.count; i++) {
		uint32_t node = sim_topology_find(reader->builder.topology, names.names[i]);

		if (node != SIM_NONE)
			list->nodes[list->count++] = node;
		else if (!missing_count++)
			missing = names.names[i];
	}
	if (missing_count && !reader->nodes_incomplete)
		sim_fault_add(reader->faults, sim_document_place_in(scalar, offset),
			      "there is no node '%s'%s, %s was expected to name nodes of this file",
			      missing, and_more(missing_count - 1, more, sizeof(more)), what);
	hostlist_free(&names);
	if (list->nodes && !missing_count)
		return true;
	free(list->nodes);
	memset(list, 0, sizeof(*list));
	return false;
}

const char *sim_read_device(struct sim_reader *reader, const yaml_node_t *node)
{
	const char *device;

	if (!node)
		return NULL;
	device = sim_document_text(&reader->document, node, "device");
	if (device && !sim_node_name_is_valid(device)) {
		sim_fault_add(
			reader->faults, sim_document_place(node),
			"device '%s' is no device name, 1 to %d letters, digits, '.', '_' and "
			"'-' were expected, as in mlx5_0",
			device, SIM_NODE_NAME_MAX);
		return NULL;
	}
	return device;
}

/* One address of one node; false when it is faulty, with the fault recorded. */
static bool add_address(struct sim_reader *reader, const char *pattern, struct sim_place place,
			uint32_t node, uint64_t n)
{
	const char *name = reader->builder.topology->nodes[node].name;
	struct acm_address address;
	char text[256], why[320];
	int ret;

	ret = sim_pattern_fill(pattern, name, n, text, sizeof(text), why, sizeof(why));
	if (ret == -ENAMETOOLONG)
		snprintf(why, sizeof(why), "it is longer than any address");
	if (!ret)
		ret = sim_address_parse(text, &address, why, sizeof(why));
	if (ret) {
		sim_fault_add(reader->faults, place, "address '%s' of '%s': %s", pattern, name,
			      why);
		return false;
	}
	sim_builder_add_address(&reader->builder, node, &address, place);
	return true;
}

void sim_read_address_pattern(struct sim_reader *reader, const char *pattern,
			      struct sim_place place, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!add_address(reader, pattern, place, first + i, i + 1))
			return;
	}
}

void sim_read_addresses(struct sim_reader *reader, yaml_node_t *addresses, uint32_t first,
			uint32_t count)
{
	size_t patterns = sim_document_items(&reader->document, addresses, "addresses");

	if (!addresses) {
		for (uint32_t i = 0; i < count; i++)
			add_address(reader, "{name}", reader->builder.origins[first + i].place,
				    first + i, 1);
		return;
	}
	for (size_t i = 0; i < patterns; i++) {
		yaml_node_t *item = sim_document_item(&reader->document, addresses, i);
		const char *pattern = sim_document_text(&reader->document, item, "an address");

		if (pattern)
			sim_read_address_pattern(reader, pattern, sim_document_place(item), first,
						 count);
	}
}

static bool names_are_valid(struct sim_reader *reader, const struct hostlist *names,
			    struct sim_place place)
{
	for (uint32_t i = 0; i < names->count; i++) {
		if (!sim_node_name_is_valid(names->names[i])) {
			sim_fault_add(
				reader->faults, place,
				"'%s' is no node name, 1 to %d letters, digits, '.', '_' and '-' "
				"were expected, the first a letter or digit",
				names->names[i], SIM_NODE_NAME_MAX);
			return false;
		}
	}
	return true;
}

void sim_read_add_nodes(struct sim_reader *reader, const struct hostlist *names,
			const struct sim_node_options *options, struct sim_place place)
{
	const char *taken = NULL;
	uint32_t taken_count = 0, first;
	char more[32];

	if (!names_are_valid(reader, names, place)) {
		reader->nodes_incomplete = true;
		return;
	}
	for (uint32_t i = 0; i < names->count; i++) {
		if (sim_builder_add_node(&reader->builder, names->names[i], options, place) ==
			    -EEXIST &&
		    !taken_count++)
			taken = names->names[i];
	}
	if (!taken_count)
		return;
	first = sim_topology_find(reader->builder.topology, taken);
	sim_fault_add(reader->faults, place,
		      "the name '%s'%s is used already at line %u, each name was expected once",
		      taken, and_more(taken_count - 1, more, sizeof(more)),
		      reader->builder.origins[first].place.line);
}

/* What switches and hosts have in common. */
struct node_entry {
	struct hostlist names;
	struct sim_node_options options;
	struct sim_place place;
};

static void read_guid(struct sim_reader *reader, const yaml_node_t *guid, struct node_entry *entry)
{
	if (!guid)
		return;
	if (entry->names.count > 1)
		sim_fault_add(reader->faults, sim_document_place(guid),
			      "'guid' is given for %u nodes, a single name was expected with it",
			      entry->names.count);
	else
		sim_document_number(&reader->document, guid, "guid", 1, SIM_NODE_GUID_MAX,
				    &entry->options.guid);
}

/* False: faulty, nothing to free. */
static bool read_entry(struct sim_reader *reader, yaml_node_t *map, const yaml_node_t *name,
		       const yaml_node_t *ports, const yaml_node_t *guid, uint64_t ports_max,
		       struct node_entry *entry)
{
	uint64_t port_count = entry->options.ports;
	const char *text;

	if (!name) {
		sim_fault_add(reader->faults, sim_document_place(map),
			      "the node has no 'name', one was expected");
		return false;
	}
	text = sim_document_text(&reader->document, name, "name");
	if (!text || !sim_read_names(reader, name, 0, strlen(text), &entry->names))
		return false;
	entry->place = sim_document_place(name);
	/* With a fault the port count stays usable, so that links do not add faults of their own.
	 */
	if (!sim_document_number(&reader->document, ports, "ports", 1, ports_max, &port_count))
		port_count = ports_max;
	entry->options.ports = (uint8_t)port_count;
	read_guid(reader, guid, entry);
	return true;
}

/* As many as there are ports, for one host. */
static void read_port_guids(struct sim_reader *reader, yaml_node_t *list, struct node_entry *entry,
			    uint64_t *guids)
{
	size_t count = sim_document_items(&reader->document, list, "port_guids");

	if (!list)
		return;
	if (entry->names.count > 1 || count != entry->options.ports) {
		sim_fault_add(reader->faults, sim_document_place(list),
			      "'port_guids' has %zu entries for %u port%s of %u host%s, one for "
			      "each port of a single host was expected",
			      count, entry->options.ports, entry->options.ports == 1 ? "" : "s",
			      entry->names.count, entry->names.count == 1 ? "" : "s");
		return;
	}
	for (size_t i = 0; i < count; i++)
		sim_document_number(&reader->document,
				    sim_document_item(&reader->document, list, i), "a port GUID", 1,
				    UINT64_MAX, &guids[i]);
	entry->options.port_guids = guids;
}

static void read_switch(struct sim_reader *reader, yaml_node_t *item)
{
	static const char *const keys[] = {"name", "ports", "guid"};
	struct node_entry entry = {.options = {.kind = SIM_SWITCH, .ports = SWITCH_PORTS_DEFAULT}};
	yaml_node_t *values[3];

	if (!sim_document_fields(&reader->document, item, "a switch", keys, 3, values) ||
	    !read_entry(reader, item, values[0], values[1], values[2], SIM_SWITCH_PORTS_MAX,
			&entry)) {
		reader->nodes_incomplete = true;
		return;
	}
	sim_read_add_nodes(reader, &entry.names, &entry.options, entry.place);
	hostlist_free(&entry.names);
}

static void read_host(struct sim_reader *reader, yaml_node_t *item)
{
	static const char *const keys[] = {"name",   "ports",     "guid",
					   "device", "addresses", "port_guids"};
	struct node_entry entry = {.options = {.kind = SIM_HOST, .ports = 1}};
	uint32_t first = reader->builder.topology->node_count;
	yaml_node_t *values[6];
	uint64_t guids[SIM_HOST_PORTS_MAX] = {0};

	if (!sim_document_fields(&reader->document, item, "a host", keys, 6, values) ||
	    !read_entry(reader, item, values[0], values[1], values[2], SIM_HOST_PORTS_MAX,
			&entry)) {
		reader->nodes_incomplete = true;
		return;
	}
	read_port_guids(reader, values[5], &entry, guids);
	entry.options.device = sim_read_device(reader, values[3]);
	sim_read_add_nodes(reader, &entry.names, &entry.options, entry.place);
	sim_read_addresses(reader, values[4], first, reader->builder.topology->node_count - first);
	hostlist_free(&entry.names);
}

void sim_read_switches(struct sim_reader *reader, yaml_node_t *switches)
{
	size_t count = sim_document_items(&reader->document, switches, "switches");

	for (size_t i = 0; i < count; i++)
		read_switch(reader, sim_document_item(&reader->document, switches, i));
}

void sim_read_hosts(struct sim_reader *reader, yaml_node_t *hosts)
{
	size_t count = sim_document_items(&reader->document, hosts, "hosts");

	for (size_t i = 0; i < count; i++)
		read_host(reader, sim_document_item(&reader->document, hosts, i));
}
