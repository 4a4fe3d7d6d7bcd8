/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runs of scenarios came to: for people, as JSON, and as JUnit's XML. */
#ifndef SIMULATE_REPORT_H
#define SIMULATE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include "simulation.h"

/* Of a random scenario, before it runs: what was drawn, in one line. */
void simulate_print_drawn(FILE *out, const struct sim_scenario *scenario);
/* A table of all steps with what became of them, and one line that sums up. False: no memory. */
bool simulate_print(const struct sim_scenario *scenario, const struct sim_run_result *result);
/* The one command that repeats a run. */
void simulate_print_repeat(FILE *out, const struct sim_scenario *scenario, uint64_t seed,
			   const char *control);
/* What did not hold, a line each. */
void simulate_print_failures(FILE *out, const struct sim_scenario *scenario,
			     const struct sim_run_result *result);
json_t *simulate_json(const struct sim_scenario *scenario, uint64_t seed,
		      const struct sim_run_result *result);

/* One case of JUnit's. `failure` NULL: it passed; `skipped` NULL: it was not skipped. */
void simulate_junit_open(FILE *out);
void simulate_junit_case(FILE *out, const char *suite, const char *name, const char *failure,
			 const char *skipped);
void simulate_junit_steps(FILE *out, const struct sim_scenario *scenario,
			  const struct sim_run_result *result);
void simulate_junit_close(FILE *out);

#endif
