/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_reader.h"

#include <acmite/wire.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "topology_text.h"

/* More than any fabric has; a slip of the pen must not take hours to find out. */
#define LINKS_MAX 4000000u

static const struct sim_word widths[] = {
	{"1x", 1}, {"2x", 2}, {"4x", 4}, {"8x", 8}, {"12x", 12}, {NULL, 0},
};

const struct sim_word sim_link_speeds[] = {
	{"sdr", SIM_SDR}, {"ddr", SIM_DDR}, {"qdr", SIM_QDR}, {"fdr", SIM_FDR}, {"edr", SIM_EDR},
	{"hdr", SIM_HDR}, {"ndr", SIM_NDR}, {"xdr", SIM_XDR}, {NULL, 0},
};

const struct sim_word sim_link_mtus[] = {
	{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}, {NULL, 0},
};

/* PortInfo's code of a number of lanes. */
static uint8_t width_code(uint8_t lanes)
{
	static const uint8_t codes[] = {[1] = 1, [2] = 16, [4] = 2, [8] = 4, [12] = 8};

	return codes[lanes];
}

uint8_t sim_link_rate(const struct sim_link *link)
{
	uint8_t width = width_code(link->width);

	if (link->speed <= SIM_QDR)
		return acm_rate_of_link(width, (uint8_t)(1 << link->speed), 0, 0);
	if (link->speed <= SIM_NDR)
		return acm_rate_of_link(width, 4, (uint8_t)(1 << (link->speed - SIM_FDR)), 0);
	return acm_rate_of_link(width, 4, 0, 1);
}

static void read_latency(struct sim_reader *reader, const yaml_node_t *node, uint64_t *latency)
{
	const char *text;

	if (!node)
		return;
	text = sim_document_text(&reader->document, node, "latency");
	if (text && !sim_duration_parse(text, latency))
		sim_fault_add(reader->faults, sim_document_place(node),
			      "latency is '%s', a time of at most 10s was expected, as in 200ns, "
			      "1.5us or "
			      "2ms",
			      text);
}

/* What a link is, from the values of width, speed, mtu and latency, over what `link` has. */
static void read_attributes(struct sim_reader *reader, const yaml_node_t *map,
			    yaml_node_t *const *values, struct sim_link *link)
{
	uint32_t width = link->width, speed = link->speed, mtu = acm_mtu_bytes(link->mtu);

	sim_document_word(&reader->document, values[0], "width", widths, &width);
	sim_document_word(&reader->document, values[1], "speed", sim_link_speeds, &speed);
	sim_document_word(&reader->document, values[2], "mtu", sim_link_mtus, &mtu);
	read_latency(reader, values[3], &link->latency);
	link->width = (uint8_t)width;
	link->speed = (uint8_t)speed;
	link->mtu = acm_mtu_code(mtu);
	link->rate = sim_link_rate(link);
	if (!link->rate)
		sim_fault_add(
			reader->faults, sim_document_place(map),
			"no rate is defined for this width and speed, another width was expected");
}

void sim_read_link_defaults(struct sim_reader *reader, yaml_node_t *link)
{
	static const char *const keys[] = {"width", "speed", "mtu", "latency"};
	yaml_node_t *values[4];

	reader->defaults = (struct sim_link){
		.width = 4, .speed = SIM_EDR, .mtu = acm_mtu_code(4096), .latency = 200};
	reader->defaults.rate = sim_link_rate(&reader->defaults);
	if (link && sim_document_fields(&reader->document, link, "link", keys, 4, values))
		read_attributes(reader, link, values, &reader->defaults);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* The first "--" or "->" between blanks, NULL. */
static const char *find_arrow(const char *text)
{
	for (const char *at = text; (at = strchr(at, '-')); at++) {
		if (at > text && is_blank(at[-1]) && (at[1] == '-' || at[1] == '>') &&
		    is_blank(at[2]))
			return at;
	}
	return NULL;
}

/* An expression of links: who with whom, how often, and what each is like. */
struct join {
	struct sim_node_list left;
	struct sim_node_list right;
	uint32_t count;
	struct sim_link link;
	bool has_ports; /* link.port says which, of two nodes */
	struct sim_place place;
	bool with_itself; /* a node would be at both ends */
};

static void add_links(struct sim_reader *reader, struct join *join, uint32_t left, uint32_t right)
{
	if (left == right) {
		if (!join->with_itself)
			sim_fault_add(reader->faults, join->place,
				      "'%s' is joined with itself, two nodes were expected",
				      reader->builder.topology->nodes[left].name);
		join->with_itself = true;
		return;
	}
	if (join->has_ports) {
		join->link.node[0] = left;
		join->link.node[1] = right;
		sim_builder_add_link_at(&reader->builder, &join->link, join->place);
		return;
	}
	for (uint32_t i = 0; i < join->count; i++)
		sim_builder_add_link(&reader->builder, left, right, &join->link, join->place);
}

static void join_all(struct sim_reader *reader, struct join *join)
{
	for (uint32_t i = 0; i < join->left.count; i++) {
		for (uint32_t j = 0; j < join->right.count; j++)
			add_links(reader, join, join->left.nodes[i], join->right.nodes[j]);
	}
}

static void deal_out(struct sim_reader *reader, struct join *join)
{
	uint32_t block = join->left.count / join->right.count;

	if (join->left.count % join->right.count) {
		sim_fault_add(
			reader->faults, join->place,
			"%u nodes cannot be dealt out evenly to %u, a multiple of %u was expected "
			"left of '->'",
			join->left.count, join->right.count, join->right.count);
		return;
	}
	for (uint32_t i = 0; i < join->left.count; i++)
		add_links(reader, join, join->left.nodes[i], join->right.nodes[i / block]);
}

static void read_join(struct sim_reader *reader, const yaml_node_t *scalar, struct join *join)
{
	const char *text = sim_document_text(&reader->document, scalar, "a link");
	const char *arrow;
	bool left, right;
	size_t at, after;

	if (!text)
		return;
	join->place = sim_document_place(scalar);
	arrow = find_arrow(text);
	if (!arrow) {
		sim_fault_add(
			reader->faults, join->place,
			"link '%s' has no '--' or '->' between blanks, \"A -- B\" (each with each) "
			"or \"A -> B\" (dealt out) was expected",
			text);
		return;
	}
	at = (size_t)(arrow - text);
	left = sim_read_node_list(reader, scalar, 0, at, "the left of a link", &join->left);
	after = at + 2 + strspn(arrow + 2, " \t\n");
	right = sim_read_node_list(reader, scalar, after, strlen(text) - after,
				   "the right of a link", &join->right);
	if (!left || !right)
		return;
	if (join->has_ports && (join->left.count != 1 || join->right.count != 1)) {
		sim_fault_add(reader->faults, join->place,
			      "'ports' name one port of one node on either side, two single nodes "
			      "were expected");
		return;
	}
	if ((uint64_t)join->left.count * join->right.count * join->count > LINKS_MAX)
		sim_fault_add(reader->faults, join->place,
			      "these are more than %u links, fewer were expected", LINKS_MAX);
	else if (arrow[1] == '-')
		join_all(reader, join);
	else
		deal_out(reader, join);
}

/* "ports: [3, 5]": of the left, of the right. */
static void read_link_ports(struct sim_reader *reader, yaml_node_t *list, struct join *join)
{
	size_t count = sim_document_items(&reader->document, list, "ports");

	if (!list)
		return;
	if (count != 2) {
		sim_fault_add(reader->faults, sim_document_place(list),
			      "'ports' has %zu entries, two were expected, as in ports: [3, 5]",
			      count);
		return;
	}
	join->has_ports = true;
	for (size_t i = 0; i < 2; i++) {
		uint64_t port = 0;

		join->has_ports &= sim_document_number(
			&reader->document, sim_document_item(&reader->document, list, i), "a port",
			1, SIM_SWITCH_PORTS_MAX, &port);
		join->link.port[i] = (uint8_t)port;
	}
}

static void read_join_map(struct sim_reader *reader, yaml_node_t *map, struct join *join)
{
	static const char *const keys[] = {"width", "speed", "mtu",  "latency",
					   "join",  "count", "ports"};
	yaml_node_t *values[7];
	uint64_t count = 1;

	if (!sim_document_fields(&reader->document, map, "a link", keys, 7, values))
		return;
	read_attributes(reader, map, values, &join->link);
	sim_document_number(&reader->document, values[5], "count", 1, SIM_SWITCH_PORTS_MAX, &count);
	join->count = (uint32_t)count;
	read_link_ports(reader, values[6], join);
	if (values[5] && values[6])
		sim_fault_add(reader->faults, sim_document_place(values[6]),
			      "'ports' are those of one link, no 'count' was expected beside it");
	if (values[4])
		read_join(reader, values[4], join);
	else
		sim_fault_add(
			reader->faults, sim_document_place(map),
			"the link has no 'join', one was expected, as in { join: \"a -- b\" }");
}

static void read_link(struct sim_reader *reader, yaml_node_t *item)
{
	struct join join = {.count = 1, .link = reader->defaults};

	if (item->type == YAML_MAPPING_NODE)
		read_join_map(reader, item, &join);
	else
		read_join(reader, item, &join);
	free(join.left.nodes);
	free(join.right.nodes);
}

void sim_read_links(struct sim_reader *reader, yaml_node_t *links)
{
	size_t count = sim_document_items(&reader->document, links, "links");

	for (size_t i = 0; i < count; i++)
		read_link(reader, sim_document_item(&reader->document, links, i));
}
