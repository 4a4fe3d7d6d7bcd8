/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many seeds, of the same scenarios or of random ones, by several processes. */
#ifndef SIMULATE_SWEEP_H
#define SIMULATE_SWEEP_H

#include <stdio.h>
#include "simulation.h"

struct simulate_sweep {
	struct sim_scenario **scenarios;
	uint32_t scenario_count;
	bool random;          /* none of these: each seed has a scenario of its own */
	uint64_t first, last; /* both included */
	uint32_t jobs;
	int cancel_fd;
	FILE *junit; /* NULL: none */
};

/*
 * Runs them, with progress on standard error where that is a terminal, and says what came of it.
 * The exit status: 0 all hold; 1 something does not, or it was interrupted, or no run saw what some
 * should see.
 */
int simulate_sweep_run(const struct simulate_sweep *sweep);

#endif
