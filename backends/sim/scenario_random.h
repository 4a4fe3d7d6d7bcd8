/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scenarios of which a seed decides all: the fabric, the options of all nodes and of some, what
 * they are asked, what happens to them; and in the end all must find each other.
 */
#ifndef ACMITE_SIM_SCENARIO_RANDOM_H
#define ACMITE_SIM_SCENARIO_RANDOM_H

#include "scenario.h"

/*
 * Draws the scenario of a seed, the same on every machine; its name says in one line what was
 * drawn. 0 and *scenario the caller's, for sim_scenario_free(); -ENOMEM.
 */
int sim_scenario_random(uint64_t seed, struct sim_scenario **scenario);

#endif
