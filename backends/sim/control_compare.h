/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two controls of one topology held against each other: the model and OpenSM. What the SA says of
 * each pair of hosts' ports, and where the tables lead.
 */
#ifndef ACMITE_SIM_CONTROL_COMPARE_H
#define ACMITE_SIM_CONTROL_COMPARE_H

#include "control.h"

struct sim_compare_options {
	uint32_t pair_limit; /* above, so many pairs are drawn by the seed instead of all; 0: all */
	uint64_t seed;
	uint8_t mtu_limit; /* code of the most that the second control's links have, 0: as the
			      topology says */
	uint64_t timeout;  /* ns of real time for one control's answers */
	/* Called for each difference, with a sentence. */
	void (*differ)(void *context, const char *text);
	void *context;
};
/* For a model against ibsim, whose links all have an MTU of 2048. */
void sim_compare_options_default(struct sim_compare_options *options);

struct sim_compare_result {
	uint64_t pairs_there_are; /* ordered, each port with itself too */
	uint32_t pairs;           /* compared */
	uint32_t differing;
	uint32_t lids_differing; /* ports whose LID is not the same: for information */
};

/*
 * Compares. `names` are what to call the controls. A control with a descriptor is run in real time,
 * one without in its own. 0; -ETIMEDOUT: the answers did not come; -ENOMEM; or what ended a
 * control.
 */
int sim_compare_controls(const struct sim_topology *topology, struct sim_control *const controls[2],
			 const char *const names[2], const struct sim_compare_options *options,
			 struct sim_compare_result *result);

#endif
