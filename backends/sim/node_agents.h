/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agents of all nodes of a subnet: subnet management packets, by a directed route or by LID,
 * and performance counters (IBA vol. 1, chapters 14 and 16). They answer what is read; what would
 * change a node, but for its counters, is the manager's, and refused. Pure.
 */
#ifndef ACMITE_SIM_NODE_AGENTS_H
#define ACMITE_SIM_NODE_AGENTS_H

#include "performance_agent.h"
#include "subnet.h"

/*
 * A MAD (ACM_MAD_LENGTH bytes) from a host's port, by its directed route where `dlid` is
 * ACM_LID_PERMISSIVE. 0 and the answer; -EHOSTUNREACH: it gets to nobody, or nobody's answer gets
 * back; -EPROTO: no agent answers such a MAD.
 */
int sim_node_agents_answer(const struct sim_subnet *subnet, struct sim_port_ref from, uint16_t dlid,
			   const uint8_t *mad, const struct sim_traffic_source *traffic,
			   uint8_t *answer);

#endif
