/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collects everything that is wrong with a topology file, each fault with its place. */
#ifndef ACMITE_SIM_TOPOLOGY_FAULT_H
#define ACMITE_SIM_TOPOLOGY_FAULT_H

#include "topology.h"

/* From 1. Line 0: the file as a whole. */
struct sim_place {
	uint32_t line;
	uint32_t column;
};

struct sim_fault {
	struct sim_place place;
	uint32_t sequence; /* keeps faults of one place in the order they were found */
	char *text;
};

struct sim_faults {
	uint32_t count;
	uint32_t room;
	struct sim_fault *list;
	bool no_memory; /* something could not be recorded or built: the whole load fails with
			   -ENOMEM */
};

/* One sentence without a full stop: what is wrong, what was expected. */
void sim_fault_add(struct sim_faults *faults, struct sim_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Moves all faults into `errors`, in the order of their places, with `path` before each. 0 when
 * there are none, -EINVAL, -ENOMEM (then `errors` is empty). Frees the faults in any case.
 */
int sim_faults_report(struct sim_faults *faults, const char *path, struct sim_errors *errors);

#endif
