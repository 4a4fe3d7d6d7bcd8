/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many questions to a control's SA at once, and their answers, in the order of the questions. */
#ifndef ACMITE_SIM_SA_INQUIRY_H
#define ACMITE_SIM_SA_INQUIRY_H

#include "control.h"

#include <acmite/transport.h>

struct sim_inquiry {
	struct sim_port_ref port; /* that asks */
	uint8_t mad[ACM_MAD_LENGTH];
	bool answered;
	uint8_t answer[ACM_MAD_LENGTH]; /* its first bytes */
};

/*
 * Asks all and waits for the answers. 0; -ETIMEDOUT with what has been answered; another negative
 * errno of the control. A control with a descriptor is run in real time for at most `timeout` ns,
 * one without in its own time, until nothing is due. Other events of the control are passed over.
 */
int sim_inquire(struct sim_control *control, struct sim_inquiry *inquiries, uint32_t count,
		uint64_t timeout);

/* Lets a control go on until it may have changed. False: it is done, or the time of CLOCK_MONOTONIC
 * is up. */
bool sim_control_wait(struct sim_control *control, uint64_t until);

#endif
