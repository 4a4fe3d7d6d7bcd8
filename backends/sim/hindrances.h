/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults that strike packets on links: whom they hinder follows from the tables. Two nodes whose
 * requests and answers pass none of these links have nothing to do with them, wherever they are.
 */
#ifndef ACMITE_SIM_HINDRANCES_H
#define ACMITE_SIM_HINDRANCES_H

#include "disturbances.h"

/* The ways of packets, from outside. */
struct sim_ways {
	/* Grows with every change of them. */
	uint64_t (*generation)(void *context);
	/* Whether what a wait is for passes one of these links now, there or back. */
	bool (*pass)(void *context, const struct sim_wait *wait, const struct sim_nodes *links);
	void *context;
};

struct sim_hindrance {
	const struct sim_fault_plan *plan;
	uint64_t began;
	uint64_t ended;      /* ACM_NEVER: it has not */
	uint64_t generation; /* of the ways, when it began */
};

struct sim_hindrances {
	struct sim_ways ways;
	uint32_t count, room;
	struct sim_hindrance *all;
};

void sim_hindrances_init(struct sim_hindrances *hindrances, const struct sim_ways *ways);
void sim_hindrances_free(struct sim_hindrances *hindrances);

/* Whether a fault is one: others are for disturbances.h. */
bool sim_fault_hinders(const struct sim_fault_plan *plan);
/* It begins; `plan` stays. 0 or -ENOMEM. */
int sim_hindrances_begin(struct sim_hindrances *hindrances, const struct sim_fault_plan *plan,
			 uint64_t now);
void sim_hindrances_end(struct sim_hindrances *hindrances, const struct sim_fault_plan *plan,
			uint64_t now);
/* Whether one was in force during the wait that its packets may have met: where the ways have
 * changed since it began, they may. */
bool sim_hindrances_met(const struct sim_hindrances *hindrances, const struct sim_wait *wait);

#endif
