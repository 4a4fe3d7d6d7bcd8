/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "subnet.h"

#define FILE_BYTES_MAX (16u << 20)

const struct acm_engine_config *sim_scenario_config(const struct sim_scenario *scenario,
						    uint32_t node)
{
	return scenario->configs[node] ? scenario->configs[node] : &scenario->config;
}

void sim_scenario_free(struct sim_scenario *scenario)
{
	if (!scenario)
		return;
	for (uint32_t i = 0; i < scenario->step_count; i++) {
		free(scenario->steps[i].resolve.on.nodes);
		free(scenario->steps[i].resolve.to.nodes);
		sim_fault_plan_free(&scenario->steps[i].fault);
		free(scenario->steps[i].check.on.nodes);
	}
	free(scenario->steps);
	for (uint32_t i = 0; scenario->configs && i < scenario->topology->node_count; i++)
		free(scenario->configs[i]);
	free(scenario->configs);
	if (scenario->topology)
		sim_topology_free(scenario->topology);
	free(scenario->topology_path);
	free(scenario->path);
	free(scenario->name);
	free(scenario);
}

/* ---- reading ---- */

enum {
	SCENARIO,
	TOPOLOGY,
	SEED,
	START,
	MLIDS,
	LMC,
	OPTIONS,
	RANDOM,
	SOMETIMES,
	STEPS,
	FINALLY,
	KEYS
};

/* Beside the scenario's file, unless the path is absolute. */
static char *path_beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');
	char *joined;

	if (*path == '/' || !slash)
		return strdup(path);
	return asprintf(&joined, "%.*s%s", (int)(slash + 1 - file), file, path) < 0 ? NULL : joined;
}

static bool read_topology(struct scenario_reader *reader, const yaml_node_t *root,
			  const yaml_node_t *node)
{
	struct sim_scenario *scenario = reader->scenario;
	struct sim_errors errors = {0};
	const char *text;
	int error;

	if (!node) {
		sim_fault_add(reader->faults, sim_document_place(root),
			      "the scenario has no 'topology', the path of one was expected");
		return false;
	}
	text = sim_document_text(&reader->document, node, "topology");
	if (!text)
		return false;
	scenario->topology_path = path_beside(scenario->path, text);
	error = scenario->topology_path
			? sim_topology_load(scenario->topology_path, &scenario->topology, &errors)
			: -ENOMEM;
	if (error == -ENOMEM)
		reader->faults->no_memory = true;
	for (uint32_t i = 0; i < errors.count; i++)
		sim_fault_add(reader->faults, sim_document_place(node), "%s", errors.lines[i]);
	sim_errors_free(&errors);
	if (error)
		return false;
	reader->topology = scenario->topology;
	reader->topology_name = scenario->topology_path;
	scenario->configs = calloc(scenario->topology->node_count, sizeof(*scenario->configs));
	if (!scenario->configs)
		reader->faults->no_memory = true;
	return scenario->configs != NULL;
}

static void read_finally(struct scenario_reader *reader, yaml_node_t *map)
{
	static const char *const keys[] = {"within", "all_pairs"};
	static const struct sim_word outcomes[] = {{"success", 1}, {NULL, 0}};
	struct sim_scenario *scenario = reader->scenario;
	yaml_node_t *values[2];
	uint32_t outcome = 1;

	if (!map || !sim_document_fields(&reader->document, map, "finally", keys, 2, values))
		return;
	scenario->has_finally = true;
	scenario->finally_within = 10 * ACM_NSEC_PER_SEC;
	scenario_read_duration(reader, values[0], "within", &scenario->finally_within);
	sim_document_word(&reader->document, values[1], "all_pairs", outcomes, &outcome);
}

static void read_random(struct scenario_reader *reader, yaml_node_t *map)
{
	static const char *const keys[] = {"faults", "within"};
	struct sim_scenario *scenario = reader->scenario;
	yaml_node_t *values[2];
	uint64_t faults = 0;

	scenario->random_within = 5 * ACM_NSEC_PER_SEC;
	if (!map || !sim_document_fields(&reader->document, map, "random", keys, 2, values))
		return;
	sim_document_number(&reader->document, values[0], "faults", 1, 1000, &faults);
	scenario->random_faults = (uint32_t)faults;
	scenario_read_duration(reader, values[1], "within", &scenario->random_within);
}

static void read_sometimes(struct scenario_reader *reader, yaml_node_t *list)
{
	size_t count = sim_document_items(&reader->document, list, "sometimes");

	for (size_t i = 0; i < count; i++) {
		yaml_node_t *item = sim_document_item(&reader->document, list, i);
		const char *text = sim_document_text(&reader->document, item, "a counter");
		uint32_t counter = 0;

		while (text && counter < ACM_COUNTER_COUNT &&
		       strcmp(acm_counter_name((enum acm_counter)counter), text) != 0)
			counter++;
		if (text && counter < ACM_COUNTER_COUNT)
			reader->scenario->sometimes |= UINT64_C(1) << counter;
		else if (text)
			sim_fault_add(reader->faults, sim_document_place(item),
				      "there is no counter '%s', one such as retries, coalesced "
				      "or negative_cache was expected",
				      text);
	}
}

static void read_name(struct scenario_reader *reader, const yaml_node_t *root,
		      const yaml_node_t *node)
{
	const char *name = node ? sim_document_text(&reader->document, node, "scenario") : NULL;

	if (!node)
		sim_fault_add(
			reader->faults, sim_document_place(root),
			"the file has no 'scenario', a sentence on what must hold was expected");
	if (!name)
		return;
	reader->scenario->name = strdup(name);
	if (!reader->scenario->name)
		reader->faults->no_memory = true;
}

static void read_scenario(struct scenario_reader *reader)
{
	static const char *const keys[KEYS] = {"scenario",       "topology", "seed",    "start",
					       "multicast_lids", "lmc",      "options", "random",
					       "sometimes",      "steps",    "finally"};
	static const struct sim_word starts[] = {{"ready", 0}, {"cold", 1}, {NULL, 0}};
	struct sim_scenario *scenario = reader->scenario;
	yaml_node_t *root = sim_document_root(&reader->document);
	yaml_node_t *values[KEYS];
	uint32_t cold = 0;
	uint64_t mlids = 0, lmc = 0;

	if (!sim_document_fields(&reader->document, root, "the scenario", keys, KEYS, values))
		return;
	read_name(reader, root, values[SCENARIO]);
	sim_document_number(&reader->document, values[SEED], "seed", 0, UINT64_MAX,
			    &scenario->seed);
	sim_document_word(&reader->document, values[START], "start", starts, &cold);
	scenario->cold = cold != 0;
	sim_document_number(&reader->document, values[MLIDS], "multicast_lids", 1, 0x3fff, &mlids);
	scenario->mlid_count = (uint32_t)mlids;
	sim_document_number(&reader->document, values[LMC], "lmc", 0, SIM_LMC_MAX, &lmc);
	scenario->lmc = (uint8_t)lmc;
	if (!read_topology(reader, root, values[TOPOLOGY]))
		return; /* nothing else can be told */
	scenario_read_options(reader, values[OPTIONS]);
	read_random(reader, values[RANDOM]);
	read_sometimes(reader, values[SOMETIMES]);
	scenario_read_steps(reader, values[STEPS]);
	read_finally(reader, values[FINALLY]);
	if (!scenario->step_count && !scenario->has_finally)
		sim_fault_add(reader->faults, sim_document_place(root),
			      "the scenario says nothing, 'steps' or 'finally' was expected");
}

int sim_scenario_parse(const char *path, const char *text, size_t length,
		       struct sim_scenario **scenario, struct sim_errors *errors)
{
	struct sim_faults faults = {0};
	struct scenario_reader reader = {.faults = &faults,
					 .scenario = calloc(1, sizeof(**scenario))};
	int error;

	memset(errors, 0, sizeof(*errors));
	if (!reader.scenario)
		return -ENOMEM;
	reader.scenario->path = strdup(path);
	reader.scenario->seed = 1;
	acm_engine_config_default(&reader.scenario->config);
	if (!reader.scenario->path)
		faults.no_memory = true;
	else if (sim_document_open(&reader.document, text, length, &faults)) {
		read_scenario(&reader);
		sim_document_close(&reader.document);
	}
	error = sim_faults_report(&faults, path, errors);
	if (error)
		sim_scenario_free(reader.scenario);
	else
		*scenario = reader.scenario;
	return error;
}

static int report_unreadable(const char *path, int error, struct sim_errors *errors)
{
	struct sim_faults faults = {0};

	sim_fault_add(&faults, (struct sim_place){0}, "cannot be read: %s, a scenario was expected",
		      strerror(error));
	return sim_faults_report(&faults, path, errors);
}

int sim_scenario_load(const char *path, struct sim_scenario **scenario, struct sim_errors *errors)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t length = 0, room = 0;
	int error = 0;

	memset(errors, 0, sizeof(*errors));
	if (!file)
		return report_unreadable(path, errno, errors);
	do {
		char *larger = realloc(text, room += 65536);

		if (!larger) {
			error = ENOMEM;
			break;
		}
		text = larger;
		length += fread(text + length, 1, room - length, file);
		if (ferror(file))
			error = errno;
		else if (length > FILE_BYTES_MAX)
			error = EFBIG;
	} while (!error && length == room);
	fclose(file);
	if (error)
		error = error == ENOMEM ? -ENOMEM : report_unreadable(path, error, errors);
	else
		error = sim_scenario_parse(path, text, length, scenario, errors);
	free(text);
	return error;
}
