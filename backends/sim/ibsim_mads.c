/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs of programs that are not SA requests, through ibsim. */
#include "ibsim_subnet.h"

#include <acmite/wire.h>
#include <errno.h>

#define AT_CLASS 1

enum {
	CLASS_LID_ROUTED = 0x01,
	CLASS_SA = 0x03,
	CLASS_PERFORMANCE = 0x04,
	CLASS_DIRECTED = 0x81,
};

/*
 * What ibsim does not answer itself it gives to the SM of the port that it came to. Of a class that
 * OpenSM did not register, its stand-in for the kernel dies, and OpenSM with it. To all other ports
 * such a MAD is one that nobody answers.
 */
bool ibsim_takes_mad(const uint8_t *mad)
{
	uint8_t class = mad[AT_CLASS];

	return class == CLASS_LID_ROUTED || class == CLASS_SA || class == CLASS_PERFORMANCE ||
	       class == CLASS_DIRECTED;
}

static void mad_answered(void *context, uint64_t cookie, int status, const uint8_t *mad)
{
	struct ibsim_subnet *subnet = context;
	struct sim_control_event event = {
		.type = SIM_CONTROL_SA_FAILED, .cookie = cookie, .status = status};

	if (status == 0) {
		event.type = SIM_CONTROL_SA_ANSWER;
		event.mad = mad;
		event.length = ibsim_mad_length(mad);
		ibsim_note_answer(subnet, mad);
	}
	ibsim_events_push(&subnet->events, &event);
}

int ibsim_mad_send(struct sim_control *control, struct sim_port_ref port,
		   const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie)
{
	struct ibsim_subnet *subnet = (struct ibsim_subnet *)control;
	uint32_t index = ibsim_port_index(subnet, port);
	bool directed = route->dlid == ACM_LID_PERMISSIVE;
	struct ibsim_address to = {.dlid = route->dlid, .slid = IBSIM_LID_NONE};
	const struct acm_port_facts *facts;

	if (index == SIM_NONE)
		return -ENODEV;
	if (route->qpn > 1 || (directed && route->qpn))
		return -EINVAL;
	if (subnet->died)
		return -EHOSTUNREACH;
	facts = &subnet->ports.facts[index];
	if (!directed && facts->state != ACM_PORT_ACTIVE)
		return -ENETDOWN;
	if (!ibsim_takes_mad(mad))
		return 0;
	if (!directed)
		to.slid = facts->lid;
	to.qp = (uint8_t)route->qpn;
	return ibsim_pool_send(subnet->pool, subnet->port_targets[index].node, &to, mad,
			       mad_answered, subnet, cookie);
}

void ibsim_mad_cancel(struct ibsim_subnet *subnet, uint64_t cookie)
{
	ibsim_pool_cancel(subnet->pool, mad_answered, cookie);
}
