/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_import.h"

#include "topology_file.h"
#include "topology_reader.h"
#include "topology_text.h"

#include <acmite/wire.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1024
#define TEXT_MAX       128
#define PORTS_MAX      255

/* What a line says of a port: who is at the other end. */
struct import_port {
	char remote[TEXT_MAX]; /* "": nobody */
	uint8_t remote_port;
	uint8_t width; /* 0: not told */
	uint8_t speed;
	uint64_t guid; /* 0: not told */
	uint32_t line;
};

struct import_node {
	char id[TEXT_MAX];
	char name[TEXT_MAX];
	char device[TEXT_MAX];
	enum sim_node_kind kind;
	uint8_t port_count;
	uint32_t line;
	uint64_t guid;             /* 0: not told */
	uint32_t index;            /* in the topology */
	struct import_port *ports; /* [1 .. port_count] */
};

struct import {
	struct sim_faults *faults;
	struct sim_builder builder;
	struct import_node *nodes;
	uint32_t count, room;
	struct import_node **by_id;
	uint64_t guid; /* of a line before the node's */
	uint32_t line;
};

/* Reads along one line. */
struct cursor {
	const char *at;
};

static void fault(struct import *import, const char *what)
{
	sim_fault_add(import->faults, (struct sim_place){import->line, 1}, "%s", what);
}

/* ---- pieces of a line ---- */

static void skip_blanks(struct cursor *cursor)
{
	cursor->at += strspn(cursor->at, " \t");
}

static bool take_char(struct cursor *cursor, char wanted)
{
	if (*cursor->at != wanted)
		return false;
	cursor->at++;
	return true;
}

static bool take_number(struct cursor *cursor, int base, uint64_t most, uint64_t *number)
{
	char *end;

	if (!isxdigit((unsigned char)*cursor->at))
		return false;
	errno = 0;
	*number = strtoull(cursor->at, &end, base);
	if (errno || end == cursor->at || *number > most)
		return false;
	cursor->at = end;
	return true;
}

/* "[7]" */
static bool take_port_number(struct cursor *cursor, uint8_t *port)
{
	uint64_t number;

	if (!take_char(cursor, '[') || !take_number(cursor, 10, PORTS_MAX, &number) ||
	    !take_char(cursor, ']') || number == 0)
		return false;
	*port = (uint8_t)number;
	return true;
}

/* "(2c90300)": a port's GUID, which need not be there. */
static void take_guid(struct cursor *cursor, uint64_t *guid)
{
	struct cursor ahead = *cursor;
	uint64_t number;

	skip_blanks(&ahead);
	if (!take_char(&ahead, '(') || !take_number(&ahead, 16, UINT64_MAX, &number) ||
	    !take_char(&ahead, ')'))
		return;
	*guid = number;
	*cursor = ahead;
}

static bool take_quoted(struct cursor *cursor, char *text, size_t size)
{
	size_t length;

	skip_blanks(cursor);
	if (!take_char(cursor, '"'))
		return false;
	length = strcspn(cursor->at, "\"");
	if (cursor->at[length] != '"' || length == 0 || length >= size)
		return false;
	memcpy(text, cursor->at, length);
	text[length] = '\0';
	cursor->at += length + 1;
	return true;
}

/* ---- nodes ---- */

static struct import_node *add_node(struct import *import)
{
	if (import->count == import->room) {
		uint32_t room = import->room ? 2 * import->room : 64;
		struct import_node *nodes = reallocarray(import->nodes, room, sizeof(*nodes));

		if (!nodes)
			return NULL;
		import->nodes = nodes;
		import->room = room;
	}
	memset(&import->nodes[import->count], 0, sizeof(*import->nodes));
	return &import->nodes[import->count++];
}

/* ibnetdiscover's identifiers are a letter and the GUID. */
static uint64_t guid_of_id(const char *id)
{
	char *end;
	uint64_t guid;

	if (!strchr("SHR", id[0]) || id[1] != '-' || strspn(id + 2, "0123456789abcdef") != 16)
		return 0;
	guid = strtoull(id + 2, &end, 16);
	return *end ? 0 : guid;
}

/* Letters, digits and a few more stay, and whatever else is between them becomes one dash. */
static void make_name(const char *text, size_t length, char *name)
{
	size_t used = 0;

	for (size_t i = 0; i < length && used < SIM_NODE_NAME_MAX; i++) {
		bool good = isalnum((unsigned char)text[i]) || text[i] == '.' || text[i] == '_';

		if (good)
			name[used++] = text[i];
		else if (used && name[used - 1] != '-')
			name[used++] = '-';
	}
	while (used && !isalnum((unsigned char)name[used - 1]) && name[used - 1] != '_')
		used--;
	name[used] = '\0';
	if (!sim_node_name_is_valid(name))
		name[0] = '\0';
}

/* A host's description is its name, and behind a blank mostly its device. */
static void take_description(struct import_node *node, const char *text)
{
	size_t first = node->kind == SIM_HOST ? strcspn(text, " ") : strlen(text);

	make_name(text, first, node->name);
	if (text[first])
		make_name(text + first + 1, strlen(text + first + 1), node->device);
}

/* Switch <ports> "<id>" # "<description>" ... */
static void read_node(struct import *import, struct cursor *cursor, enum sim_node_kind kind)
{
	struct import_node *node = add_node(import);
	uint64_t most = kind == SIM_HOST ? SIM_HOST_PORTS_MAX : SIM_SWITCH_PORTS_MAX;
	char description[TEXT_MAX];
	uint64_t ports;

	if (!node) {
		import->faults->no_memory = true;
		return;
	}
	node->kind = kind;
	node->line = import->line;
	skip_blanks(cursor);
	if (!take_number(cursor, 10, most, &ports) || ports == 0 ||
	    !take_quoted(cursor, node->id, sizeof(node->id))) {
		import->count--;
		fault(import, kind == SIM_HOST ? "a number of ports from 1 to 7 and a name in "
						 "quotes were expected behind 'Ca'"
					       : "a number of ports from 1 to 254 and a name in "
						 "quotes were expected behind 'Switch'");
		return;
	}
	node->port_count = (uint8_t)ports;
	node->guid = guid_of_id(node->id);
	if (!node->guid)
		node->guid = import->guid;
	import->guid = 0;
	if (node->guid > SIM_NODE_GUID_MAX)
		fault(import, "the GUID of the node leaves no room for those of its ports, at most "
			      "ffffffffffffffef was expected");
	skip_blanks(cursor);
	if (take_char(cursor, '#') && take_quoted(cursor, description, sizeof(description)))
		take_description(node, description);
	else
		make_name(node->id, strlen(node->id), node->name);
	node->ports = calloc(ports + 1, sizeof(*node->ports));
	if (!node->ports)
		import->faults->no_memory = true;
}

/* ---- ports ---- */

/* "4xEDR" */
static bool parse_rate(const char *text, struct import_port *port)
{
	struct cursor cursor = {text};
	uint64_t width;

	if (!take_number(&cursor, 10, 12, &width) || !take_char(&cursor, 'x'))
		return false;
	for (const struct sim_word *word = sim_link_speeds; word->word; word++) {
		size_t length = strlen(word->word);

		if (strncasecmp(cursor.at, word->word, length) ||
		    isalpha((unsigned char)cursor.at[length]))
			continue;
		port->width = (uint8_t)width;
		port->speed = (uint8_t)word->value;
		return true;
	}
	return false;
}

/* It stands behind the description, which may hold anything. */
static void take_rate(const char *comment, struct import_port *port)
{
	const char *blank = strrchr(comment, '"');

	while (blank && (blank = strchr(blank, ' '))) {
		if (parse_rate(++blank, port))
			return;
	}
}

/* [1](guid) "<id>"[2](guid) # ... 4xEDR */
static void read_port(struct import *import, struct cursor *cursor)
{
	struct import_node *node = import->count ? &import->nodes[import->count - 1] : NULL;
	struct import_port port = {.line = import->line};
	uint64_t remote_guid = 0;
	uint8_t number;

	if (!node || !node->ports) {
		fault(import, "this port belongs to no node, 'Switch' or 'Ca' was expected above "
			      "it");
		return;
	}
	if (!take_port_number(cursor, &number) || number > node->port_count) {
		fault(import, "a port in brackets that the node above has was expected");
		return;
	}
	take_guid(cursor, &port.guid);
	if (!take_quoted(cursor, port.remote, sizeof(port.remote)) ||
	    !take_port_number(cursor, &port.remote_port)) {
		fault(import, "the other end was expected behind the port, as in \"S-1\"[2]");
		return;
	}
	take_guid(cursor, &remote_guid);
	skip_blanks(cursor);
	if (*cursor->at == '#')
		take_rate(cursor->at, &port);
	if (node->ports[number].remote[0]) {
		fault(import, "the node above has this port already, each was expected once");
		return;
	}
	node->ports[number] = port;
}

/* ---- lines ---- */

static bool take_word(struct cursor *cursor, const char *word)
{
	size_t length = strlen(word);

	if (strncasecmp(cursor->at, word, length) || !strchr(" \t", cursor->at[length]))
		return false;
	cursor->at += length;
	return true;
}

/* vendid=, devid=, sysimgguid=, switchguid=, caguid= */
static bool is_setting(struct import *import, const char *text)
{
	size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	if (!name || text[name] != '=')
		return false;
	if (!strncmp(text, "switchguid", name) || !strncmp(text, "caguid", name) ||
	    !strncmp(text, "hcaguid", name))
		import->guid = strtoull(text + name + 1, NULL, 16);
	return true;
}

static void read_line(struct import *import, const char *line)
{
	struct cursor cursor = {line};

	skip_blanks(&cursor);
	if (*cursor.at == '\0' || *cursor.at == '#' || is_setting(import, cursor.at))
		return;
	if (*cursor.at == '[')
		read_port(import, &cursor);
	else if (take_word(&cursor, "Switch"))
		read_node(import, &cursor, SIM_SWITCH);
	else if (take_word(&cursor, "Ca") || take_word(&cursor, "Hca"))
		read_node(import, &cursor, SIM_HOST);
	else if (take_word(&cursor, "Rt"))
		fault(import, "a router joins subnets, and a topology is one: only switches and "
			      "channel adapters were expected");
	else
		fault(import, "this is no line of ibnetdiscover's or of a netlist, 'Switch', 'Ca' "
			      "or a port in brackets was expected");
}

static void read_lines(struct import *import, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t bytes = (size_t)((newline ? newline : end) - text);
		char line[LINE_MAX_BYTES];

		import->line++;
		if (bytes >= sizeof(line)) {
			fault(import, "the line is too long, fewer than 1024 bytes were expected");
		} else {
			memcpy(line, text, bytes);
			line[bytes] = '\0';
			line[strcspn(line, "\r")] = '\0';
			read_line(import, line);
		}
		text += bytes + 1;
	}
}

/* ---- the topology ---- */

static int compare_ids(const void *left, const void *right)
{
	const struct import_node *const *a = left, *const *b = right;

	return strcmp((*a)->id, (*b)->id);
}

static bool sort_nodes(struct import *import)
{
	import->by_id = calloc(import->count + 1, sizeof(struct import_node *));
	if (!import->by_id) {
		import->faults->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < import->count; i++)
		import->by_id[i] = &import->nodes[i];
	qsort(import->by_id, import->count, sizeof(struct import_node *), compare_ids);
	for (uint32_t i = 1; i < import->count; i++) {
		if (strcmp(import->by_id[i - 1]->id, import->by_id[i]->id))
			continue;
		import->line = import->by_id[i]->line > import->by_id[i - 1]->line
				       ? import->by_id[i]->line
				       : import->by_id[i - 1]->line;
		fault(import, "this node is there already, each was expected once");
		return false;
	}
	return true;
}

static struct import_node *find_node(const struct import *import, const char *id)
{
	struct import_node wanted, *key = &wanted, **found;

	memcpy(wanted.id, id, sizeof(wanted.id));
	found = bsearch(&key, import->by_id, import->count, sizeof(struct import_node *),
			compare_ids);
	return found ? *found : NULL;
}

/* With the device where a host has several, with the GUID where that is not enough. */
static int64_t add_named(struct import *import, const struct import_node *node,
			 const struct sim_node_options *options)
{
	struct sim_place place = {node->line, 1};
	uint64_t guid = node->guid ? node->guid : sim_guid_of_name(node->id);
	char name[2 * TEXT_MAX + 32];
	int64_t added = -EEXIST;

	if (node->name[0])
		added = sim_builder_add_node(&import->builder, node->name, options, place);
	if (added == -EEXIST && node->name[0] && node->device[0]) {
		snprintf(name, sizeof(name), "%s-%s", node->name, node->device);
		if (sim_node_name_is_valid(name))
			added = sim_builder_add_node(&import->builder, name, options, place);
	}
	if (added == -EEXIST) {
		snprintf(name, sizeof(name), "%.40s%s%016" PRIx64, node->name,
			 node->name[0] ? "-" : "node-", guid);
		added = sim_builder_add_node(&import->builder, name, options, place);
	}
	if (added == -EEXIST) {
		import->line = node->line;
		fault(import, "two nodes have one GUID, each was expected to have its own");
	}
	return added;
}

static void add_to_topology(struct import *import, struct import_node *node)
{
	uint64_t guids[SIM_HOST_PORTS_MAX];
	uint64_t base = node->guid ? node->guid : sim_guid_of_name(node->id);
	struct sim_node_options options = {.kind = node->kind,
					   .ports = node->port_count,
					   .device = node->device[0] ? node->device : NULL,
					   .guid = node->guid};
	bool told = false;
	int64_t added;

	for (uint8_t port = 1; node->kind == SIM_HOST && port <= node->port_count; port++) {
		uint64_t guid = node->ports[port].guid;

		told |= guid != 0;
		guids[port - 1] = guid ? guid : sim_guid_of_port(base, port);
	}
	if (told) {
		options.guid = base;
		options.port_guids = guids;
	}
	added = add_named(import, node, &options);
	if (added < 0)
		return;
	node->index = (uint32_t)added;
	if (node->kind == SIM_HOST) {
		struct acm_address address;
		char why[128];
		const char *name = import->builder.topology->nodes[added].name;

		if (!sim_address_parse(name, &address, why, sizeof(why)))
			sim_builder_add_address(&import->builder, node->index, &address,
						(struct sim_place){node->line, 1});
	}
}

/* A link is told of at both ends, or at one; what both say must agree. */
static void add_link(struct import *import, const struct import_node *node, uint8_t number)
{
	const struct import_port *port = &node->ports[number], *back;
	const struct import_node *far = find_node(import, port->remote);
	struct sim_link link = {.node = {node->index},
				.port = {number, port->remote_port},
				.width = port->width ? port->width : 4,
				.speed = port->width ? port->speed : SIM_EDR,
				.mtu = acm_mtu_code(4096),
				.latency = 200};

	import->line = port->line;
	if (!far || port->remote_port > far->port_count) {
		fault(import, far ? "the node at the other end has no such port"
				  : "the node at the other end is not in this file");
		return;
	}
	back = &far->ports[port->remote_port];
	if (back->remote[0] && (strcmp(back->remote, node->id) || back->remote_port != number)) {
		fault(import, "the other end names another port than this one, both were expected "
			      "to name each other");
		return;
	}
	if (back->remote[0] && (far < node || (far == node && port->remote_port < number)))
		return; /* made from there */
	link.node[1] = far->index;
	link.rate = sim_link_rate(&link);
	if (far == node)
		fault(import, "a node is joined with itself, two nodes were expected");
	else if (!link.rate)
		fault(import, "no rate is defined for this width and speed");
	else
		sim_builder_add_link_at(&import->builder, &link, (struct sim_place){port->line, 1});
}

static void build(struct import *import)
{
	for (uint32_t i = 0; i < import->count; i++) {
		if (import->nodes[i].kind == SIM_SWITCH)
			add_to_topology(import, &import->nodes[i]);
	}
	for (uint32_t i = 0; i < import->count; i++) {
		if (import->nodes[i].kind == SIM_HOST)
			add_to_topology(import, &import->nodes[i]);
	}
	if (!import->builder.topology->host_count) {
		import->line = 0;
		fault(import, "the fabric has no channel adapters, the output of ibnetdiscover or "
			      "a netlist was expected");
		return;
	}
	import->builder.topology->sm = import->builder.topology->switch_count;
	for (uint32_t i = 0; i < import->count && !import->faults->no_memory; i++) {
		for (uint32_t port = 1; port <= import->nodes[i].port_count; port++) {
			if (import->nodes[i].ports[port].remote[0])
				add_link(import, &import->nodes[i], (uint8_t)port);
		}
	}
	sim_builder_check(&import->builder);
}

static void set_name(struct import *import, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[TEXT_MAX];
	const char *base = slash ? slash + 1 : path;

	make_name(base, strcspn(base, "."), name);
	import->builder.topology->name = strdup(name[0] ? name : "fabric");
	if (!import->builder.topology->name)
		import->faults->no_memory = true;
}

int sim_topology_import_text(const char *path, const char *text, size_t length,
			     struct sim_topology **topology, struct sim_errors *errors)
{
	struct sim_faults faults = {0};
	struct import import = {.faults = &faults};
	int ret;

	memset(errors, 0, sizeof(*errors));
	if (!sim_builder_create(&import.builder, &faults))
		return -ENOMEM;
	set_name(&import, path);
	read_lines(&import, text, length);
	if (!faults.no_memory && !faults.count && sort_nodes(&import))
		build(&import);
	ret = sim_faults_report(&faults, path, errors);
	if (!ret)
		*topology = sim_builder_finish(&import.builder);
	for (uint32_t i = 0; i < import.count; i++)
		free(import.nodes[i].ports);
	free(import.nodes);
	free(import.by_id);
	sim_builder_destroy(&import.builder);
	return ret;
}

int sim_topology_import(const char *path, struct sim_topology **topology, struct sim_errors *errors)
{
	size_t length;
	char *text;
	int ret =
		sim_topology_file_read(path, "the output of ibnetdiscover", &text, &length, errors);

	if (ret)
		return ret;
	ret = sim_topology_import_text(path, text, length, topology, errors);
	free(text);
	return ret;
}
