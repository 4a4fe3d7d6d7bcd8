/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether what a path says of the fabric is so: its ends, its partition, and what the links on the
 * way carry, by the forwarding tables as they are. Without the engine's code, and without the
 * SA's.
 */
#ifndef ACMITE_SIM_PATH_TRUTH_H
#define ACMITE_SIM_PATH_TRUTH_H

#include "invariants.h"

/* Part of rule 2: tells the first thing that is not so of a path that the address's holder has. */
void sim_path_truth_check(const struct sim_invariants *invariants,
			  const struct sim_success *success);

#endif
