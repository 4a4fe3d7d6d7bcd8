/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Deeper than any topology is, and far from where the parser's own stacks would grow large. */
#define DEPTH_MAX 64

static struct sim_place place_of_mark(const yaml_mark_t *mark)
{
	return (struct sim_place){.line = (uint32_t)mark->line + 1,
				  .column = (uint32_t)mark->column + 1};
}

struct sim_place sim_place_of_offset(const char *text, size_t length, size_t offset)
{
	struct sim_place place = {.line = 1, .column = 1};

	for (size_t i = 0; i < offset && i < length; i++) {
		if (text[i] == '\n') {
			place.line++;
			place.column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			place.column++;
		}
	}
	return place;
}

static void report_syntax(struct sim_faults *faults, const yaml_parser_t *parser, const char *text,
			  size_t length)
{
	switch (parser->error) {
	case YAML_MEMORY_ERROR:
		faults->no_memory = true;
		break;
	case YAML_READER_ERROR: /* gives no more than an offset */
		sim_fault_add(faults, sim_place_of_offset(text, length, parser->problem_offset),
			      "%s, UTF-8 text without control characters was expected",
			      parser->problem);
		break;
	default:
		if (parser->context)
			sim_fault_add(faults, place_of_mark(&parser->problem_mark),
				      "this is not YAML: %s, %s that begins at line %zu",
				      parser->problem, parser->context,
				      parser->context_mark.line + 1);
		else
			sim_fault_add(faults, place_of_mark(&parser->problem_mark),
				      "this is not YAML: %s", parser->problem);
	}
}

static bool begins_collection(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
}

static bool ends_collection(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
}

/* One event of the scan; false when the scan is over, by a fault or at the end. */
static bool scan_event(yaml_parser_t *parser, struct sim_faults *faults, uint32_t *depth,
		       uint32_t *documents)
{
	yaml_event_t event;
	bool more = true;

	if (!yaml_parser_parse(parser, &event))
		return false;
	if (event.type == YAML_STREAM_END_EVENT) {
		more = false;
	} else if (event.type == YAML_DOCUMENT_START_EVENT && ++*documents > 1) {
		sim_fault_add(
			faults, place_of_mark(&event.start_mark),
			"a second document begins here, one document for each file was expected");
		more = false;
	} else if (begins_collection(&event) && ++*depth > DEPTH_MAX) {
		sim_fault_add(faults, place_of_mark(&event.start_mark),
			      "lists and maps are nested more than %d deep", DEPTH_MAX);
		more = false;
	} else if (ends_collection(&event)) {
		--*depth;
	}
	yaml_event_delete(&event);
	return more;
}

/* Syntax, depth and the number of documents, before anything is built from the text. */
static bool scan(const char *text, size_t length, struct sim_faults *faults)
{
	uint32_t before = faults->count;
	uint32_t depth = 0, documents = 0;
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser)) {
		faults->no_memory = true;
		return false;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	while (scan_event(&parser, faults, &depth, &documents))
		continue;
	if (parser.error != YAML_NO_ERROR)
		report_syntax(faults, &parser, text, length);
	else if (!documents)
		sim_fault_add(faults, (struct sim_place){1, 1},
			      "the file is empty, a topology was expected");
	yaml_parser_delete(&parser);
	return faults->count == before && !faults->no_memory;
}

bool sim_document_open(struct sim_document *document, const char *text, size_t length,
		       struct sim_faults *faults)
{
	yaml_parser_t parser;
	bool loaded;

	document->faults = faults;
	if (!scan(text, length, faults))
		return false;
	if (!yaml_parser_initialize(&parser)) {
		faults->no_memory = true;
		return false;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	loaded = yaml_parser_load(&parser, &document->yaml);
	if (!loaded)
		report_syntax(faults, &parser, text, length);
	yaml_parser_delete(&parser);
	return loaded;
}

void sim_document_close(struct sim_document *document)
{
	yaml_document_delete(&document->yaml);
}

yaml_node_t *sim_document_root(struct sim_document *document)
{
	return yaml_document_get_root_node(&document->yaml);
}

struct sim_place sim_document_place(const yaml_node_t *node)
{
	return place_of_mark(&node->start_mark);
}

struct sim_place sim_document_place_in(const yaml_node_t *scalar, size_t offset)
{
	struct sim_place place = sim_document_place(scalar);
	size_t quotes = scalar->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 0 : 2;

	/* With escapes or folded lines bytes of the value are not bytes of the file. */
	if (scalar->start_mark.line != scalar->end_mark.line ||
	    scalar->end_mark.index - scalar->start_mark.index !=
		    scalar->data.scalar.length + quotes)
		return place;
	place.column += (uint32_t)(offset + quotes / 2);
	return place;
}

static const char *kind_of(const yaml_node_t *node)
{
	switch (node->type) {
	case YAML_SEQUENCE_NODE:
		return "a list";
	case YAML_MAPPING_NODE:
		return "a map";
	case YAML_SCALAR_NODE:
		return node->data.scalar.length ? "a single value" : "nothing";
	default:
		return "nothing";
	}
}

static void list_keys(const char *const *keys, size_t count, char *list, size_t size)
{
	size_t length = 0;

	list[0] = '\0';
	for (size_t i = 0; i < count && length < size; i++)
		length += (size_t)snprintf(list + length, size - length, "%s%s", i ? ", " : "",
					   keys[i]);
}

static size_t find_key(const yaml_node_t *key, const char *const *keys, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (strlen(keys[i]) == key->data.scalar.length &&
		    !memcmp(keys[i], key->data.scalar.value, key->data.scalar.length))
			break;
	}
	return i;
}

static void take_field(struct sim_document *document, const yaml_node_pair_t *pair,
		       const char *what, const char *const *keys, size_t count,
		       yaml_node_t **values)
{
	const yaml_node_t *key = yaml_document_get_node(&document->yaml, pair->key);
	char list[256];
	size_t i;

	if (key->type != YAML_SCALAR_NODE) {
		sim_fault_add(document->faults, sim_document_place(key),
			      "a key of %s is %s, a word was expected", what, kind_of(key));
		return;
	}
	i = find_key(key, keys, count);
	if (i == count) {
		list_keys(keys, count, list, sizeof(list));
		sim_fault_add(document->faults, sim_document_place(key),
			      "unknown key '%s' in %s, expected one of: %s",
			      (const char *)key->data.scalar.value, what, list);
	} else if (values[i]) {
		sim_fault_add(document->faults, sim_document_place(key),
			      "key '%s' is given twice in %s, once was expected", keys[i], what);
	} else {
		values[i] = yaml_document_get_node(&document->yaml, pair->value);
	}
}

bool sim_document_fields(struct sim_document *document, yaml_node_t *node, const char *what,
			 const char *const *keys, size_t count, yaml_node_t **values)
{
	char list[256];

	for (size_t i = 0; i < count; i++)
		values[i] = NULL;
	if (node->type != YAML_MAPPING_NODE) {
		list_keys(keys, count, list, sizeof(list));
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s is %s, a map was expected with the keys: %s", what, kind_of(node),
			      list);
		return false;
	}
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++)
		take_field(document, pair, what, keys, count, values);
	return true;
}

size_t sim_document_items(struct sim_document *document, const yaml_node_t *node, const char *what)
{
	if (!node)
		return 0;
	if (node->type != YAML_SEQUENCE_NODE) {
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s is %s, a list was expected", what, kind_of(node));
		return 0;
	}
	return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

yaml_node_t *sim_document_item(struct sim_document *document, const yaml_node_t *sequence,
			       size_t index)
{
	return yaml_document_get_node(&document->yaml, sequence->data.sequence.items.start[index]);
}

const char *sim_document_text(struct sim_document *document, const yaml_node_t *node,
			      const char *what)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE || !node->data.scalar.length) {
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s is %s, text was expected", what, kind_of(node));
		return NULL;
	}
	text = (const char *)node->data.scalar.value;
	if (strlen(text) != node->data.scalar.length) {
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s has a NUL inside, text was expected", what);
		return NULL;
	}
	return text;
}

/* Only digits, so that no sign, blank or octal slips in. */
static bool parse_number(const char *text, uint64_t *value)
{
	int base = !strncmp(text, "0x", 2) || !strncmp(text, "0X", 2) ? 16 : 10;
	const char *digits = base == 16 ? text + 2 : text;
	const char *allowed = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";

	if (!*digits || digits[strspn(digits, allowed)])
		return false;
	errno = 0;
	*value = strtoull(digits, NULL, base);
	return errno == 0;
}

bool sim_document_number(struct sim_document *document, const yaml_node_t *node, const char *what,
			 uint64_t least, uint64_t most, uint64_t *value)
{
	uint64_t number;

	if (!node)
		return true;
	if (node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	    strlen((const char *)node->data.scalar.value) == node->data.scalar.length &&
	    parse_number((const char *)node->data.scalar.value, &number)) {
		if (number >= least && number <= most) {
			*value = number;
			return true;
		}
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s is out of range, %" PRIu64 " to %" PRIu64 " was expected", what,
			      least, most);
		return false;
	}
	if (node->type == YAML_SCALAR_NODE && node->data.scalar.length)
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s is '%s', a number from %" PRIu64 " to %" PRIu64 " was expected",
			      what, (const char *)node->data.scalar.value, least, most);
	else
		sim_fault_add(document->faults, sim_document_place(node),
			      "%s is %s, a number from %" PRIu64 " to %" PRIu64 " was expected",
			      what, kind_of(node), least, most);
	return false;
}

bool sim_document_word(struct sim_document *document, const yaml_node_t *node, const char *what,
		       const struct sim_word *words, uint32_t *value)
{
	const char *text, *keys[16];
	char list[256];
	size_t count = 0;

	if (!node)
		return true;
	text = sim_document_text(document, node, what);
	if (!text)
		return false;
	for (; words[count].word; count++) {
		if (!strcasecmp(words[count].word, text)) {
			*value = words[count].value;
			return true;
		}
		keys[count] = words[count].word;
	}
	list_keys(keys, count, list, sizeof(list));
	sim_fault_add(document->faults, sim_document_place(node), "%s is '%s', expected one of: %s",
		      what, text, list);
	return false;
}
