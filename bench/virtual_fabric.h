/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric under the built-in control with an engine on each host, in virtual time: it goes as fast
 * as the processor. Ends the program when anything fails.
 */
#ifndef ACMITE_BENCH_VIRTUAL_FABRIC_H
#define ACMITE_BENCH_VIRTUAL_FABRIC_H

#include "fabric.h"
#include "population.h"
#include "topology.h"

struct virtual_host {
	struct virtual_fabric *of;
	struct sim_resident *resident;
	uint32_t asked;  /* how often */
	bool answered;   /* and not yet seen by virtual_fabric_answered() */
	uint32_t failed; /* answers that were no success */
};

struct virtual_fabric {
	struct sim_topology *topology;
	struct sim_control *control;
	struct sim_fabric *fabric;
	struct sim_population *population;
	struct virtual_host *hosts; /* by node index, less the switches */
	uint32_t host_count;
	uint32_t *answered; /* hosts */
	uint32_t answered_count;
	uint64_t now;
};

/* With what may have gone wrong named. */
void virtual_fabric_check(bool good, const char *what);

/* From the text of a topology file. */
struct sim_topology *virtual_fabric_topology(const char *text);
/* Takes over the topology; the subnet is up, nobody lives there. */
void virtual_fabric_init(struct virtual_fabric *virtual, struct sim_topology *topology);
/*
 * Starts an engine with these options on each host and waits until all are in their groups, and the
 * groups' trees are set.
 */
void virtual_fabric_populate(struct virtual_fabric *virtual,
			     const struct acm_engine_config *config);
void virtual_fabric_fini(struct virtual_fabric *virtual);

/*
 * All that happens at this time, then on to the next at which something does, or to `most` where
 * that is earlier. The time stays while there are answers to look at. Nothing left at all: ends the
 * program.
 */
void virtual_fabric_step(struct virtual_fabric *virtual, uint64_t most);
/* A host asks for another by its first address. One question at a time. */
void virtual_fabric_ask(struct virtual_fabric *virtual, uint32_t from, uint32_t to);
/* The next host that has its answer; SIM_NONE. */
uint32_t virtual_fabric_answered(struct virtual_fabric *virtual);

/* Of all hosts together. */
uint64_t virtual_fabric_counter(const struct virtual_fabric *virtual, enum acm_counter counter);
uint64_t virtual_fabric_failures(const struct virtual_fabric *virtual);

/* The most that this process has taken so far, MB. */
double virtual_fabric_peak_mb(void);

#endif
