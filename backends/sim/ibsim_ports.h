/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of the hosts' ports: PortInfo and P_Key tables, as read by a pass. */
#ifndef ACMITE_SIM_IBSIM_PORTS_H
#define ACMITE_SIM_IBSIM_PORTS_H

#include <acmite/engine.h>
#include "ibsim_survey.h"

struct ibsim_ports {
	uint32_t count;
	struct acm_port_facts *facts; /* by the pass's target */
	struct acm_port_facts readings[IBSIM_READINGS];
	uint8_t subnet_timeout; /* what the SM sets: ibsim does not keep it */
	/* Called for each port of which something differs, with what was known before. */
	void (*changed)(void *context, uint32_t port, const struct acm_port_facts *before);
	void *context;
};

/* For a pass whose context is a struct ibsim_ports. */
extern const struct ibsim_pass_ops ibsim_ports_ops;

#endif
