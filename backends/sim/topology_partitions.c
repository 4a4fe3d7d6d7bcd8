/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_reader.h"

#include <stdlib.h>
#include <string.h>
#include "topology_text.h"

#define PKEY_DEFAULT 0x7fffu

/* The partition that is being read. */
struct membership {
	struct sim_partition *partition;
	/* By node: number of the partition that named it last, and how. */
	uint32_t *named_in;
	bool *named_full;
	uint32_t number; /* of this partition, from 1 */
	uint32_t room;
};

static bool append(struct sim_reader *reader, struct membership *membership, uint32_t node,
		   bool full)
{
	struct sim_partition *partition = membership->partition;

	if (partition->member_count == membership->room) {
		uint32_t room = membership->room ? membership->room * 2 : 16;
		struct sim_member *members =
			reallocarray(partition->members, room, sizeof(*members));

		if (!members) {
			reader->faults->no_memory = true;
			return false;
		}
		partition->members = members;
		membership->room = room;
	}
	partition->members[partition->member_count++] = (struct sim_member){node, full};
	return true;
}

/* False, with a fault, when the node cannot be a member in this way. */
static bool check_member(struct sim_reader *reader, const struct membership *membership,
			 uint32_t node, bool full, struct sim_place place)
{
	const struct sim_node *member = &reader->builder.topology->nodes[node];

	if (member->kind == SIM_SWITCH) {
		sim_fault_add(reader->faults, place,
			      "'%s' is a switch, hosts were expected as members", member->name);
		return false;
	}
	if (membership->named_in[node] != membership->number)
		return true;
	if (membership->named_full[node] != full)
		sim_fault_add(reader->faults, place,
			      "'%s' is both a full and a limited member of this partition, one was "
			      "expected",
			      member->name);
	else
		sim_fault_add(reader->faults, place,
			      "'%s' is named twice in this partition, once was expected",
			      member->name);
	return false;
}

static void read_members_of(struct sim_reader *reader, const yaml_node_t *scalar,
			    struct membership *membership, bool full)
{
	const char *what = full ? "full" : "limited";
	const char *text = sim_document_text(&reader->document, scalar, what);
	struct sim_place place = sim_document_place(scalar);
	struct sim_node_list list;

	if (!text || !sim_read_node_list(reader, scalar, 0, strlen(text), what, &list))
		return;
	for (uint32_t i = 0; i < list.count; i++) {
		if (!check_member(reader, membership, list.nodes[i], full, place) ||
		    !append(reader, membership, list.nodes[i], full))
			break;
		membership->named_in[list.nodes[i]] = membership->number;
		membership->named_full[list.nodes[i]] = full;
	}
	free(list.nodes);
}

/* A hostlist, or a list of them. */
static void read_members(struct sim_reader *reader, yaml_node_t *node,
			 struct membership *membership, bool full)
{
	size_t count;

	if (!node)
		return;
	if (node->type != YAML_SEQUENCE_NODE) {
		read_members_of(reader, node, membership, full);
		return;
	}
	count = sim_document_items(&reader->document, node, full ? "full" : "limited");
	for (size_t i = 0; i < count; i++)
		read_members_of(reader, sim_document_item(&reader->document, node, i), membership,
				full);
}

/* In the default partition whoever is not named is a full member: without it no host reaches the
 * SA. */
static void complete_default(struct sim_reader *reader, struct membership *membership,
			     struct sim_place place)
{
	const struct sim_topology *topology = reader->builder.topology;

	if (topology->sm != SIM_NONE && membership->named_in[topology->sm] == membership->number &&
	    !membership->named_full[topology->sm])
		sim_fault_add(reader->faults, place,
			      "'%s' runs the subnet manager and is a limited member of the default "
			      "partition, a full one was expected",
			      topology->nodes[topology->sm].name);
	membership->partition->member_count = 0;
	for (uint32_t i = topology->switch_count; i < topology->node_count; i++) {
		bool full =
			membership->named_in[i] != membership->number || membership->named_full[i];

		if (!append(reader, membership, i, full))
			return;
	}
}

static void read_name(struct sim_reader *reader, const yaml_node_t *map, const yaml_node_t *node,
		      struct sim_partition *partition)
{
	const struct sim_topology *topology = reader->builder.topology;
	const char *name;

	if (!node) {
		sim_fault_add(reader->faults, sim_document_place(map),
			      "the partition has no 'name', one was expected");
		return;
	}
	name = sim_document_text(&reader->document, node, "name");
	if (!name)
		return;
	if (!sim_node_name_is_valid(name)) {
		sim_fault_add(
			reader->faults, sim_document_place(node),
			"'%s' is no partition name, 1 to %d letters, digits, '.', '_' and '-' were "
			"expected",
			name, SIM_NODE_NAME_MAX);
		return;
	}
	for (uint32_t i = 0; i + 1 < topology->partition_count; i++) {
		if (topology->partitions[i].name && !strcmp(topology->partitions[i].name, name)) {
			sim_fault_add(
				reader->faults, sim_document_place(node),
				"a partition '%s' is there already, each name was expected once",
				name);
			return;
		}
	}
	partition->name = strdup(name);
	if (!partition->name)
		reader->faults->no_memory = true;
}

static void read_pkey(struct sim_reader *reader, const yaml_node_t *map, const yaml_node_t *node,
		      struct sim_partition *partition)
{
	const struct sim_topology *topology = reader->builder.topology;
	uint64_t pkey = 0;

	if (!node) {
		sim_fault_add(reader->faults, sim_document_place(map),
			      "the partition has no 'pkey', one was expected, as in 0x0010");
		return;
	}
	if (!sim_document_number(&reader->document, node, "pkey", 0, UINT64_MAX, &pkey))
		return;
	if (!pkey || pkey > PKEY_DEFAULT) {
		sim_fault_add(
			reader->faults, sim_document_place(node),
			"pkey %s is out of range, 0x0001 to 0x7ffe was expected, or 0x7fff for the "
			"default partition (15 bits: membership is not part of it)",
			(const char *)node->data.scalar.value);
		return;
	}
	for (uint32_t i = 0; i + 1 < topology->partition_count; i++) {
		if (topology->partitions[i].pkey == pkey) {
			sim_fault_add(reader->faults, sim_document_place(node),
				      "pkey 0x%04x is used by another partition already, each was "
				      "expected once",
				      (unsigned)pkey);
			return;
		}
	}
	partition->pkey = (uint16_t)pkey;
}

static void read_partition(struct sim_reader *reader, yaml_node_t *item,
			   struct membership *membership)
{
	static const char *const keys[] = {"name", "pkey", "full", "limited"};
	yaml_node_t *values[4];

	if (!sim_document_fields(&reader->document, item, "a partition", keys, 4, values))
		return;
	membership->partition = sim_builder_add_partition(&reader->builder);
	if (!membership->partition)
		return;
	membership->number++;
	membership->room = 0;
	read_name(reader, item, values[0], membership->partition);
	read_pkey(reader, item, values[1], membership->partition);
	read_members(reader, values[2], membership, true);
	read_members(reader, values[3], membership, false);
	if (!values[2] && !values[3])
		sim_fault_add(reader->faults, sim_document_place(item),
			      "the partition has no members, 'full' or 'limited' was expected");
	if (membership->partition->pkey == PKEY_DEFAULT)
		complete_default(reader, membership, sim_document_place(item));
}

void sim_read_partitions(struct sim_reader *reader, yaml_node_t *partitions)
{
	size_t count = sim_document_items(&reader->document, partitions, "partitions");
	uint32_t nodes = reader->builder.topology->node_count;
	struct membership membership = {0};

	if (!count)
		return;
	membership.named_in = calloc(nodes + 1, sizeof(*membership.named_in));
	membership.named_full = calloc(nodes + 1, sizeof(*membership.named_full));
	if (!membership.named_in || !membership.named_full)
		reader->faults->no_memory = true;
	else
		for (size_t i = 0; i < count; i++)
			read_partition(reader, sim_document_item(&reader->document, partitions, i),
				       &membership);
	free(membership.named_in);
	free(membership.named_full);
}
