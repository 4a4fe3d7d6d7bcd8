/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a scenario: a fabric with an engine on each host, in virtual time under the built-in
 * control, in real time under ibsim. Under the first a seed names the run: the same to the byte on
 * every machine.
 */
#ifndef ACMITE_SIM_SIMULATION_H
#define ACMITE_SIM_SIMULATION_H

#include <stdio.h>
#include "fabric_faults.h"
#include "sightings.h"

/* What no run may go beyond; each is a failure of its own, never a hang. 0: as it is usual. */
struct sim_guards {
	uint64_t ready;       /* ns until all nodes are ready */
	uint64_t turns;       /* runs of nodes at one time */
	uint64_t events;      /* moments at which something happens */
	uint64_t fabric_time; /* ns */
	uint64_t queue;       /* copies of packets under way */
};

struct sim_run_options {
	uint64_t seed;
	enum sim_control_kind control;
	FILE *trace;   /* all trace events, and where a rule breaks, a line each; NULL: none */
	bool hash;     /* fill in trace_hash, which takes time */
	int cancel_fd; /* readable: give up; -1: none */
	struct sim_guards guards;
};

enum sim_verdict { SIM_HELD, SIM_FAILED, SIM_SKIPPED };

#define SIM_WHAT_SIZE 160
#define SIM_CAME_SIZE 320

/* One step, `finally`, or a rule that was broken. */
struct sim_outcome {
	uint32_t line; /* in the scenario's file; 0: none */
	uint64_t at;   /* ns of fabric time: when it began */
	uint64_t took; /* ns until the last answer */
	enum sim_verdict verdict;
	char what[SIM_WHAT_SIZE];
	char came[SIM_CAME_SIZE]; /* what came instead; why it was skipped; "" */
};

struct sim_run_result {
	uint32_t outcome_count;
	struct sim_outcome *outcomes; /* steps in their order, then finally, then broken rules */
	uint32_t held, failed, skipped;
	uint64_t fabric_time; /* ns from the start of the nodes to the end */
	uint64_t events;      /* moments at which something happened */
	uint64_t requests;
	uint64_t counters[ACM_COUNTER_COUNT]; /* of all nodes together */
	bool seen[SIM_SIGHTINGS];
	uint64_t trace_hash;
};

/*
 * 0: it ran, `result` tells how; free with sim_run_result_free(). -ECANCELED: cancel_fd; -ENOMEM;
 * or another negative errno with a sentence in `why`: the fabric could not be made or ended.
 */
int sim_simulation_run(const struct sim_scenario *scenario, const struct sim_run_options *options,
		       struct sim_run_result *result, char *why, size_t size);
void sim_run_result_free(struct sim_run_result *result);

#endif
