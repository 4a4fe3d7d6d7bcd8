/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The last events of a run that fails. */
#ifndef SIMULATE_EVENTS_H
#define SIMULATE_EVENTS_H

#include "simulation.h"

/*
 * Runs the scenario once more, in virtual time, and prints the last trace events up to the first
 * rule that breaks, or up to the end where none does. Says so when that cannot be done.
 */
void simulate_print_events(FILE *out, const struct sim_scenario *scenario, uint64_t seed);

#endif
