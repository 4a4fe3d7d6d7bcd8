/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The daemon's options, as far as an engine has them, for all nodes or for some. */
#include "scenario_reader.h"

#include <acmite/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 100 years: no overflow of a time, and nobody waits for it. */
#define MINUTES_MAX      (100u * 366 * 24 * 60)
#define MILLISECONDS_MAX 3600000u

enum {
	ADDR_TIMEOUT,
	ROUTE_TIMEOUT,
	ROUTE_PROT,
	LOOPBACK_PROT,
	TIMEOUT,
	NEGATIVE_TIMEOUT,
	RETRIES,
	RESOLVE_DEPTH,
	SA_DEPTH,
	RECV_DEPTH,
	REQUEST_LIMIT,
	MEMORY_BUDGET,
	MIN_MTU,
	MIN_RATE,
	JOIN_VERIFY,
	COMPAT,
	OPTIONS
};
static const char *const names[OPTIONS] = {
	"addr_timeout", "route_timeout",    "route_prot",    "loopback_prot",
	"timeout",      "negative_timeout", "retries",       "resolve_depth",
	"sa_depth",     "recv_depth",       "request_limit", "memory_budget",
	"min_mtu",      "min_rate",         "join_verify",   "compat"};

/* Minutes, or -1 for ever; a time with its unit, which option files do not have, is taken too. */
static void read_life(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
		      uint64_t *life)
{
	const char *text = node ? sim_document_text(&reader->document, node, what) : NULL;
	uint64_t minutes = 0;

	if (!text)
		return;
	if (!strcmp(text, "-1"))
		*life = ACM_NEVER;
	else if (text[strspn(text, "0123456789")])
		scenario_read_duration(reader, node, what, life);
	else if (sim_document_number(&reader->document, node, what, 0, MINUTES_MAX, &minutes))
		*life = minutes * 60 * ACM_NSEC_PER_SEC;
}

static void read_u32(struct scenario_reader *reader, const yaml_node_t *node, const char *what,
		     uint32_t least, uint32_t most, uint32_t *value)
{
	uint64_t number = *value;

	if (sim_document_number(&reader->document, node, what, least, most, &number))
		*value = (uint32_t)number;
}

static void read_milliseconds(struct scenario_reader *reader, const yaml_node_t *node,
			      const char *what, uint32_t least, uint64_t *ns)
{
	uint64_t number = 0;

	if (node &&
	    sim_document_number(&reader->document, node, what, least, MILLISECONDS_MAX, &number))
		*ns = number * ACM_NSEC_PER_MSEC;
}

static void read_words(struct scenario_reader *reader, yaml_node_t *const *values,
		       struct acm_engine_config *config)
{
	static const struct sim_word protocols[] = {
		{"sa", ACM_ROUTE_SA}, {"acm", ACM_ROUTE_ACM}, {NULL, 0}};
	static const struct sim_word loopbacks[] = {{"local", 1}, {"none", 0}, {NULL, 0}};
	static const struct sim_word compats[] = {
		{"none", ACM_COMPAT_NONE}, {"ibacm", ACM_COMPAT_IBACM}, {NULL, 0}};
	uint32_t protocol = config->route_protocol, loopback = config->loopback;
	uint32_t compat = config->compat;

	sim_document_word(&reader->document, values[ROUTE_PROT], "route_prot", protocols,
			  &protocol);
	sim_document_word(&reader->document, values[LOOPBACK_PROT], "loopback_prot", loopbacks,
			  &loopback);
	sim_document_word(&reader->document, values[COMPAT], "compat", compats, &compat);
	config->compat = (enum acm_compat)compat;
	config->route_protocol = (enum acm_route_protocol)protocol;
	config->loopback = loopback != 0;
}

static void read_codes(struct scenario_reader *reader, yaml_node_t *const *values,
		       struct acm_engine_config *config)
{
	uint64_t number = 0;

	if (values[MIN_MTU] && sim_document_number(&reader->document, values[MIN_MTU], "min_mtu",
						   256, 4096, &number)) {
		config->min_mtu = acm_mtu_code((uint32_t)number);
		if (!config->min_mtu)
			sim_fault_add(reader->faults, sim_document_place(values[MIN_MTU]),
				      "min_mtu cannot be that, 256, 512, 1024, 2048 or 4096 was "
				      "expected");
	}
	if (values[MIN_RATE] && sim_document_number(&reader->document, values[MIN_RATE], "min_rate",
						    1, 100000, &number)) {
		config->min_rate = acm_rate_code((uint32_t)number * 10);
		if (!config->min_rate)
			sim_fault_add(reader->faults, sim_document_place(values[MIN_RATE]),
				      "min_rate cannot be that, an InfiniBand rate in Gb/s was "
				      "expected: 10, 20, 40, 56, 100, 200, ...");
	}
}

/* MiB as in option files; small ones are written with a unit. */
static void read_budget(struct scenario_reader *reader, const yaml_node_t *node, uint64_t *budget)
{
	const char *text =
		node ? sim_document_text(&reader->document, node, "memory_budget") : NULL;
	uint32_t number;
	char unit[4], rest;
	int fields;

	if (!text)
		return;
	fields = sscanf(text, "%9u%3s%c", &number, unit, &rest);
	if (fields == 1 && number)
		*budget = (uint64_t)number << 20;
	else if (fields == 2 && !strcmp(unit, "KiB") && number >= 4)
		*budget = (uint64_t)number << 10;
	else
		sim_fault_add(reader->faults, sim_document_place(node),
			      "memory_budget is '%s', a number of MiB was expected, or one of at "
			      "least 4 followed by KiB",
			      text);
}

static void read_engine(struct scenario_reader *reader, yaml_node_t *map,
			struct acm_engine_config *config)
{
	yaml_node_t *values[OPTIONS];
	struct sim_document *document = &reader->document;

	if (!sim_document_fields(document, map, "options", names, OPTIONS, values))
		return;
	read_life(reader, values[ADDR_TIMEOUT], "addr_timeout", &config->address_life);
	read_life(reader, values[ROUTE_TIMEOUT], "route_timeout", &config->route_life);
	read_words(reader, values, config);
	read_milliseconds(reader, values[TIMEOUT], "timeout", 1, &config->timeout);
	read_milliseconds(reader, values[NEGATIVE_TIMEOUT], "negative_timeout", 0,
			  &config->negative_life);
	read_u32(reader, values[RETRIES], "retries", 0, 16, &config->retries);
	read_u32(reader, values[RESOLVE_DEPTH], "resolve_depth", 1, 1024, &config->resolve_depth);
	read_u32(reader, values[SA_DEPTH], "sa_depth", 1, 64, &config->sa_depth);
	read_u32(reader, values[RECV_DEPTH], "recv_depth", 1, 65536, &config->recv_depth);
	read_u32(reader, values[REQUEST_LIMIT], "request_limit", 1, 10000000,
		 &config->request_limit);
	read_budget(reader, values[MEMORY_BUDGET], &config->memory_budget);
	read_codes(reader, values, config);
	scenario_read_duration(reader, values[JOIN_VERIFY], "join_verify", &config->join_verify);
}

static void read_some(struct scenario_reader *reader, const yaml_node_t *key, yaml_node_t *map)
{
	struct sim_scenario *scenario = reader->scenario;
	struct acm_engine_config config = scenario->config;
	struct sim_nodes nodes = {0};

	read_engine(reader, map, &config);
	scenario_read_hosts(reader, key, "a key of options", &nodes);
	for (uint32_t i = 0; i < nodes.count; i++) {
		struct acm_engine_config **own = &scenario->configs[nodes.nodes[i]];

		if (*own) {
			sim_fault_add(reader->faults, sim_document_place(key),
				      "options of '%s' are given twice, once was expected",
				      scenario->topology->nodes[nodes.nodes[i]].name);
			break;
		}
		*own = malloc(sizeof(**own));
		if (*own)
			**own = config;
		else
			reader->faults->no_memory = true;
	}
	free(nodes.nodes);
}

void scenario_read_options(struct scenario_reader *reader, yaml_node_t *options)
{
	yaml_document_t *yaml = &reader->document.yaml;

	if (!options)
		return;
	if (options->type != YAML_MAPPING_NODE) {
		sim_fault_add(reader->faults, sim_document_place(options),
			      "options was expected to be a map with the keys: all, or names of "
			      "hosts");
		return;
	}
	/* Those of all first, wherever they stand: some nodes' are theirs with changes. */
	for (int some = 0; some < 2; some++) {
		for (yaml_node_pair_t *pair = options->data.mapping.pairs.start;
		     pair < options->data.mapping.pairs.top; pair++) {
			yaml_node_t *key = yaml_document_get_node(yaml, pair->key);
			yaml_node_t *map = yaml_document_get_node(yaml, pair->value);
			bool all = key->type == YAML_SCALAR_NODE &&
				   !strcmp((const char *)key->data.scalar.value, "all");

			if (all && !some)
				read_engine(reader, map, &reader->scenario->config);
			else if (!all && some)
				read_some(reader, key, map);
		}
	}
}
