/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a run has seen, when it is over. */
#include "simulation_state.h"

static void see_progress(const struct simulation *simulation, bool *seen)
{
	const struct sim_scenario *scenario = simulation->scenario;

	for (uint32_t i = 0; i < scenario->step_count; i++) {
		const struct sim_step *step = &scenario->steps[i];

		for (int status = 0; status < SIM_STATUSES; status++)
			seen[SIM_SEEN_STATUSES + status] |=
				simulation->progress[i].statuses[status] != 0;
		if (step->kind == SIM_STEP_FAULT && simulation->progress[i].done)
			seen[SIM_SEEN_FAULTS + step->fault.kind] = true;
	}
	for (uint32_t i = 0; i < simulation->drawn_count; i++)
		seen[SIM_SEEN_FAULTS + simulation->drawn[i].kind] = true;
}

void simulation_note_sightings(struct simulation *simulation)
{
	struct sim_run_result *result = simulation->result;
	struct sim_fabric_stats stats;

	for (int i = 0; i < ACM_COUNTER_COUNT; i++)
		result->seen[SIM_SEEN_COUNTERS + i] = result->counters[i] != 0;
	sim_fabric_stats(simulation->fabric, &stats);
	for (int i = 0; i < SIM_DROP_COUNT; i++)
		result->seen[SIM_SEEN_DROPS + i] = stats.dropped[i] != 0;
	see_progress(simulation, result->seen);
}
