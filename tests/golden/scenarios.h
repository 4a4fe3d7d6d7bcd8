/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_TESTS_GOLDEN_SCENARIOS_H
#define ACMITE_TESTS_GOLDEN_SCENARIOS_H

#include "cluster.h"

struct scenario {
	const char *name; /* of its text, without .txt */
	const char *title;
	int nodes;
	void (*configure)(struct acm_engine_config *config); /* NULL: as it is */
	/* Tells its steps by say(); what the engines trace in between is printed after them. */
	void (*play)(struct cluster *cluster);
};

extern const struct scenario scenarios[];
extern const int scenario_count;

/* A line of narration. */
void say(struct cluster *cluster, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* From here on traces are printed. */
void show(struct cluster *cluster);

#endif
