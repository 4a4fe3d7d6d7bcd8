/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_reader.h"

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "hostlist.h"
#include "topology_text.h"

#define DAY (24 * 3600 * ACM_NSEC_PER_SEC)

static uint64_t unit_of(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ns", 1},
		{"us", ACM_NSEC_PER_USEC},
		{"ms", ACM_NSEC_PER_MSEC},
		{"s", ACM_NSEC_PER_SEC},
		{"min", 60 * ACM_NSEC_PER_SEC},
		{"h", 3600 * ACM_NSEC_PER_SEC},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(text, units[i].name))
			return units[i].ns;
	}
	return 0;
}

static bool parse_duration(const char *text, uint64_t *ns)
{
	size_t length = strspn(text, "0123456789.");
	uint64_t unit = unit_of(text + length);
	double value;
	char *end;

	if (!length || length > 16 || !unit || text[0] == '.')
		return false;
	value = strtod(text, &end) * (double)unit;
	if (end != text + length || value > (double)DAY)
		return false;
	*ns = (uint64_t)(value + 0.5);
	return true;
}

void scenario_read_duration(struct scenario_reader *reader, const yaml_node_t *node,
			    const char *what, uint64_t *ns)
{
	const char *text = node ? sim_document_text(&reader->document, node, what) : NULL;

	if (text && !parse_duration(text, ns))
		sim_fault_add(reader->faults, sim_document_place(node),
			      "%s is '%s', a time up to 24h was expected, such as 200ns, 1.5ms, 2s "
			      "or 3min",
			      what, text);
}

/* Expands names and finds them; false with a fault. */
static bool read_nodes(struct scenario_reader *reader, const yaml_node_t *scalar, size_t offset,
		       size_t length, const char *what, struct sim_nodes *nodes)
{
	const char *text = (const char *)scalar->data.scalar.value + offset;
	struct hostlist_fault fault;
	struct hostlist names;
	bool good = true;
	int error = hostlist_expand(text, length, &names, &fault);

	if (error == -ENOMEM)
		reader->faults->no_memory = true;
	else if (error)
		sim_fault_add(reader->faults, sim_document_place_in(scalar, offset + fault.offset),
			      "%s", fault.text);
	if (error)
		return false;
	nodes->nodes = calloc(names.count, sizeof(*nodes->nodes));
	if (!nodes->nodes)
		reader->faults->no_memory = true;
	for (uint32_t i = 0; nodes->nodes && i < names.count && good; i++) {
		uint32_t node = sim_topology_find(reader->topology, names.names[i]);

		good = node != SIM_NONE;
		if (good)
			nodes->nodes[nodes->count++] = node;
		else
			sim_fault_add(reader->faults, sim_document_place_in(scalar, offset),
				      "there is no node '%s', %s was expected to name nodes of %s",
				      names.names[i], what, reader->topology_name);
	}
	good = good && nodes->nodes;
	hostlist_free(&names);
	if (!good) {
		free(nodes->nodes);
		*nodes = (struct sim_nodes){0};
	}
	return good;
}

void scenario_read_hosts(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			 struct sim_nodes *nodes)
{
	const struct sim_topology *topology = reader->topology;
	const char *text = node ? sim_document_text(&reader->document, node, what) : NULL;

	if (!text)
		return;
	if (!strcmp(text, "all") && sim_topology_find(topology, "all") == SIM_NONE) {
		nodes->nodes = calloc(topology->host_count, sizeof(*nodes->nodes));
		if (!nodes->nodes)
			reader->faults->no_memory = true;
		for (uint32_t i = 0; nodes->nodes && i < topology->host_count; i++)
			nodes->nodes[nodes->count++] = topology->switch_count + i;
		return;
	}
	if (!read_nodes(reader, node, 0, strlen(text), what, nodes))
		return;
	for (uint32_t i = 0; i < nodes->count; i++) {
		if (topology->nodes[nodes->nodes[i]].kind == SIM_HOST)
			continue;
		sim_fault_add(reader->faults, sim_document_place(node),
			      "'%s' is a switch, %s was expected to name hosts",
			      topology->nodes[nodes->nodes[i]].name, what);
		return;
	}
}

static bool holds(const struct sim_nodes *nodes, uint32_t node)
{
	for (uint32_t i = 0; i < nodes->count; i++) {
		if (nodes->nodes[i] == node)
			return true;
	}
	return false;
}

static bool joins(const struct sim_link *link, const struct sim_nodes *left,
		  const struct sim_nodes *right)
{
	if (!right->count)
		return holds(left, link->node[0]) || holds(left, link->node[1]);
	return (holds(left, link->node[0]) && holds(right, link->node[1])) ||
	       (holds(left, link->node[1]) && holds(right, link->node[0]));
}

void scenario_read_links(struct scenario_reader *reader, const yaml_node_t *node,
			 struct sim_nodes *links)
{
	const struct sim_topology *topology = reader->topology;
	const char *text = node ? sim_document_text(&reader->document, node, "link") : NULL;
	const char *arrow = text ? strstr(text, " -- ") : NULL;
	struct sim_nodes left = {0}, right = {0};
	bool good;

	if (!text)
		return;
	good = read_nodes(reader, node, 0, arrow ? (size_t)(arrow - text) : strlen(text), "link",
			  &left);
	if (good && arrow)
		good = read_nodes(reader, node, (size_t)(arrow - text) + 4, strlen(arrow + 4),
				  "link", &right);
	links->nodes = calloc(topology->link_count + 1, sizeof(*links->nodes));
	if (!links->nodes)
		reader->faults->no_memory = true;
	for (uint32_t i = 0; good && links->nodes && i < topology->link_count; i++) {
		if (joins(&topology->links[i], &left, &right))
			links->nodes[links->count++] = i;
	}
	if (good && !links->count)
		sim_fault_add(reader->faults, sim_document_place(node),
			      "there is no link '%s', one of %s was expected", text,
			      reader->topology_name);
	free(left.nodes);
	free(right.nodes);
}

static bool parse_bounds(const char *text, struct sim_bounds *bounds)
{
	uint64_t least, most;
	char rest;

	*bounds = (struct sim_bounds){.given = true, .most = UINT64_MAX};
	if (text[strspn(text, "0123456789.<=>")] || !strpbrk(text, "0123456789") ||
	    strlen(text) > 40)
		return false;
	if (sscanf(text, ">=%" SCNu64 "%c", &least, &rest) == 1) {
		bounds->least = least;
	} else if (sscanf(text, "<=%" SCNu64 "%c", &most, &rest) == 1) {
		bounds->most = most;
	} else if (sscanf(text, "%" SCNu64 "..%" SCNu64 "%c", &least, &most, &rest) == 2) {
		bounds->least = least;
		bounds->most = most;
	} else if (sscanf(text, "%" SCNu64 "%c", &least, &rest) == 1) {
		bounds->least = bounds->most = least;
	} else {
		return false;
	}
	return bounds->least <= bounds->most;
}

void scenario_read_bounds(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			  struct sim_bounds *bounds)
{
	const char *text = node ? sim_document_text(&reader->document, node, what) : NULL;

	if (text && !parse_bounds(text, bounds))
		sim_fault_add(reader->faults, sim_document_place(node),
			      "%s is '%s', a count was expected: 3, \">=3\", \"<=3\" or 1..3", what,
			      text);
}

void scenario_read_yes_no(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			  bool *value)
{
	static const struct sim_word words[] = {
		{"yes", 1}, {"no", 0}, {"true", 1}, {"false", 0}, {NULL, 0}};
	uint32_t word = *value;

	sim_document_word(&reader->document, node, what, words, &word);
	*value = word != 0;
}

bool scenario_read_address(struct scenario_reader *reader, const yaml_node_t *node,
			   const char *what, struct acm_address *address)
{
	const char *text = node ? sim_document_text(&reader->document, node, what) : NULL;
	char why[160];

	if (!text)
		return false;
	if (!sim_address_parse(text, address, why, sizeof(why)))
		return true;
	sim_fault_add(reader->faults, sim_document_place(node), "%s: %s", what, why);
	return false;
}

void scenario_read_share(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
			 double *share)
{
	const char *text = node ? sim_document_text(&reader->document, node, what) : NULL;
	char *end;

	if (!text)
		return;
	*share = text[strspn(text, "0123456789.")] || !strpbrk(text, "0123456789")
			 ? 2
			 : strtod(text, &end);
	if (!(*share > 0 && *share <= 1))
		sim_fault_add(reader->faults, sim_document_place(node),
			      "%s is '%s', a share above 0 up to 1 was expected, such as 0.1", what,
			      text);
}
