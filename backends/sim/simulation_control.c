/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subnet that a scenario runs on. */
#include "simulation_state.h"

/* Answers may be late by as much under ibsim, where time is real and the machine has others to
 * serve. */
#define ALLOWANCE (500 * ACM_NSEC_PER_MSEC)

static int make_control(struct simulation *simulation, char *why, size_t size)
{
	struct sim_builtin_options builtin;
	struct sim_ibsim_options ibsim;

	if (simulation->options->control == SIM_UNDER_IBSIM) {
		simulation->allowance = ALLOWANCE;
		if (simulation->scenario->mlid_count)
			simulation->skips = "multicast_lids is not under ibsim";
		if (simulation->scenario->lmc)
			simulation->skips = "lmc is not under ibsim";
		sim_ibsim_options_default(&ibsim);
		ibsim.cancel_fd = simulation->options->cancel_fd;
		return sim_ibsim_control_create(simulation->topology, &ibsim, &simulation->control,
						why, size);
	}
	sim_builtin_options_default(&builtin);
	if (simulation->scenario->mlid_count)
		builtin.subnet.mlid_count = simulation->scenario->mlid_count;
	builtin.subnet.lmc = simulation->scenario->lmc;
	return sim_builtin_control_create(simulation->topology, &builtin, &simulation->control, why,
					  size);
}

int simulation_make_fabric(struct simulation *simulation, char *why, size_t size)
{
	struct sim_control *judged;
	int error = make_control(simulation, why, size);

	if (error)
		return error;
	snprintf(why, size, "out of memory");
	judged = simulation->control;
	error = sim_sa_faults_create(simulation->control, sim_fabric_faults_judge,
				     &simulation->fabric_faults, &judged);
	if (!error)
		error = sim_fabric_create(simulation->topology, judged, simulation->options->seed,
					  &simulation->fabric);
	if (error) {
		judged->ops->destroy(judged);
		return error;
	}
	sim_fabric_faults_use(&simulation->fabric_faults, simulation->control,
			      simulation->options->control, simulation->fabric);
	return 0;
}

bool simulation_is_managed(struct simulation *simulation)
{
	if (sim_fabric_faults_managed(&simulation->fabric_faults)) {
		simulation->managed_by = 0;
		return true;
	}
	if (!simulation->managed_by)
		simulation->managed_by = simulation->now + SIM_READY_MOST;
	if (simulation->now < simulation->managed_by)
		return false;
	simulation_broken(simulation, "a subnet manager takes over", "none has for %u s",
			  (unsigned int)(SIM_READY_MOST / ACM_NSEC_PER_SEC));
	return true;
}
