/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "simulate_report.h"

#include <inttypes.h>
#include <string.h>
#include "table.h"

static const char *const verdicts[] = {
	[SIM_HELD] = "holds", [SIM_FAILED] = "FAILS", [SIM_SKIPPED] = "skipped"};
static const char *const colors[] = {
	[SIM_HELD] = "green", [SIM_FAILED] = "red", [SIM_SKIPPED] = "yellow"};

static const char *time_text(uint64_t ns, char *text, size_t size)
{
	if (ns < ACM_NSEC_PER_SEC)
		snprintf(text, size, "%.3f ms", (double)ns / 1e6);
	else
		snprintf(text, size, "%.3f s", (double)ns / 1e9);
	return text;
}

static bool add_outcome(struct libscols_table *table, const struct sim_outcome *outcome)
{
	char at[32], took[32] = "", line[16] = "";
	const char *texts[] = {line,         at, outcome->what, took, verdicts[outcome->verdict],
			       outcome->came};

	time_text(outcome->at, at, sizeof(at));
	if (outcome->took)
		time_text(outcome->took, took, sizeof(took));
	if (outcome->line)
		snprintf(line, sizeof(line), "%u", outcome->line);
	if (!table_add(table, texts))
		return false;
	table_color(table, 4, colors[outcome->verdict]);
	return true;
}

bool simulate_print(const struct sim_scenario *scenario, const struct sim_run_result *result)
{
	static const struct table_column columns[] = {{"LINE", true},     {"AT", true},
						      {"WHAT", false},    {"TOOK", true},
						      {"VERDICT", false}, {"INSTEAD", false}};
	struct libscols_table *table = table_create(columns, 6);

	if (!table)
		return false;
	for (uint32_t i = 0; i < result->outcome_count; i++) {
		if (add_outcome(table, &result->outcomes[i]))
			continue;
		table_drop(table);
		return false;
	}
	if (!scenario->drawn)
		printf("%s: %s\n", scenario->path, scenario->name);
	if (!table_finish(table))
		return false;
	printf("%u hold, %u fail, %u skipped; %" PRIu64 " requests in %.3f s of fabric time\n\n",
	       result->held, result->failed, result->skipped, result->requests,
	       (double)result->fabric_time / 1e9);
	return true;
}

void simulate_print_drawn(FILE *out, const struct sim_scenario *scenario)
{
	fprintf(out, "random %" PRIu64 ": %s\n", scenario->seed, scenario->name);
}

void simulate_print_repeat(FILE *out, const struct sim_scenario *scenario, uint64_t seed,
			   const char *control)
{
	fprintf(out,
		"%s fails with seed %" PRIu64 "; to repeat: acmite simulate %s --seed %" PRIu64
		"%s%s\n",
		scenario->path, seed, scenario->drawn ? "--random" : scenario->path, seed,
		control ? " --control " : "", control ? control : "");
}

void simulate_print_failures(FILE *out, const struct sim_scenario *scenario,
			     const struct sim_run_result *result)
{
	for (uint32_t i = 0; i < result->outcome_count; i++) {
		const struct sim_outcome *outcome = &result->outcomes[i];

		if (outcome->verdict != SIM_FAILED)
			continue;
		if (outcome->line)
			fprintf(out, "%s:%u: ", scenario->path, outcome->line);
		else
			fprintf(out, "%s: ", scenario->path);
		fprintf(out, "%s: %s\n", outcome->what, outcome->came);
	}
}

json_t *simulate_json(const struct sim_scenario *scenario, uint64_t seed,
		      const struct sim_run_result *result)
{
	json_t *steps = json_array();
	json_t *report = json_pack("{s:o, s:o, s:I, s:b, s:i, s:i, s:i, s:I, s:I}", "file",
				   json_text(scenario->path), "scenario", json_text(scenario->name),
				   "seed", (json_int_t)seed, "holds", !result->failed, "held",
				   (int)result->held, "failed", (int)result->failed, "skipped",
				   (int)result->skipped, "requests", (json_int_t)result->requests,
				   "fabric_time_ns", (json_int_t)result->fabric_time);

	for (uint32_t i = 0; i < result->outcome_count; i++) {
		const struct sim_outcome *outcome = &result->outcomes[i];

		json_array_append_new(steps, json_pack("{s:i, s:I, s:I, s:o, s:s, s:o}", "line",
						       (int)outcome->line, "at_ns",
						       (json_int_t)outcome->at, "took_ns",
						       (json_int_t)outcome->took, "what",
						       json_text(outcome->what), "verdict",
						       verdicts[outcome->verdict], "instead",
						       json_text(outcome->came)));
	}
	if (!report || json_object_set_new(report, "steps", steps)) {
		json_decref(report);
		return NULL;
	}
	return report;
}

/* ---- JUnit ---- */

static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		const char *special = strchr("<>&\"'", *text);

		if (special)
			fprintf(out, "&#%d;", *text);
		else if ((unsigned char)*text >= 0x20)
			fputc(*text, out);
		else
			fputc(' ', out);
	}
}

void simulate_junit_open(FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"acmite simulate\">\n",
	      out);
}

void simulate_junit_case(FILE *out, const char *suite, const char *name, const char *failure,
			 const char *skipped)
{
	fputs("  <testcase classname=\"", out);
	write_escaped(out, suite);
	fputs("\" name=\"", out);
	write_escaped(out, name);
	if (!failure && !skipped) {
		fputs("\"/>\n", out);
		return;
	}
	fputs(failure ? "\"><failure message=\"" : "\"><skipped message=\"", out);
	write_escaped(out, failure ? failure : skipped);
	fputs("\"/></testcase>\n", out);
}

void simulate_junit_steps(FILE *out, const struct sim_scenario *scenario,
			  const struct sim_run_result *result)
{
	for (uint32_t i = 0; i < result->outcome_count; i++) {
		const struct sim_outcome *outcome = &result->outcomes[i];
		char name[SIM_WHAT_SIZE + 32];

		snprintf(name, sizeof(name), "line %u: %s", outcome->line, outcome->what);
		simulate_junit_case(out, scenario->path, name,
				    outcome->verdict == SIM_FAILED ? outcome->came : NULL,
				    outcome->verdict == SIM_SKIPPED ? outcome->came : NULL);
	}
}

void simulate_junit_close(FILE *out)
{
	fputs("</testsuite>\n", out);
}
