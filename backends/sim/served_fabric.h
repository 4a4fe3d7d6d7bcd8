/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric with everything that serving one takes: its control, its faults, and the server. Real
 * time.
 */
#ifndef ACMITE_SIM_SERVED_FABRIC_H
#define ACMITE_SIM_SERVED_FABRIC_H

#include "fabric_faults.h"
#include "fabric_server.h"

struct sim_served_fabric;

struct sim_served_options {
	enum sim_control_kind control;
	struct sim_ibsim_options ibsim; /* under that control */
	struct sim_fabric_server_options server;
	uint64_t seed;
};
void sim_served_options_default(struct sim_served_options *options);

/*
 * Waits until the subnet is up: blocks, under ibsim. `topology` and what `options` points to must
 * outlive it. 0 and *served the caller's; or negative errno with a sentence in `why`; -ECANCELED by
 * options->ibsim.cancel_fd.
 */
int sim_served_create(const struct sim_topology *topology, const struct sim_served_options *options,
		      struct sim_served_fabric **served, char *why, size_t size);
/* Ends the attached programs' use of it. Under a second. NULL is allowed. */
void sim_served_destroy(struct sim_served_fabric *served);

int sim_served_fd(const struct sim_served_fabric *served);
/* 0: now. */
uint64_t sim_served_deadline(const struct sim_served_fabric *served);
/* Moves everything that is due. 0; or negative errno: it is over, `why` says why. */
int sim_served_process(struct sim_served_fabric *served, uint64_t now, char *why, size_t size);

#endif
