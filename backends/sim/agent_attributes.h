/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the management agent of a node says of itself and its ports: the attributes of subnet
 * management, read from the subnet as it is (IBA vol. 1, 14.2.5). Pure.
 */
#ifndef ACMITE_SIM_AGENT_ATTRIBUTES_H
#define ACMITE_SIM_AGENT_ATTRIBUTES_H

#include "subnet.h"

#define SIM_AGENT_DATA 64 /* bytes of an attribute in an SMP */

enum sim_agent_attribute {
	SIM_AGENT_NODE_DESCRIPTION = 0x10,
	SIM_AGENT_NODE_INFO = 0x11,
	SIM_AGENT_SWITCH_INFO = 0x12,
	SIM_AGENT_GUID_INFO = 0x14,
	SIM_AGENT_PORT_INFO = 0x15,
	SIM_AGENT_PKEY_TABLE = 0x16,
	SIM_AGENT_SL_TO_VL = 0x17,
	SIM_AGENT_VL_ARBITRATION = 0x18,
	SIM_AGENT_LINEAR_TABLE = 0x19,
	SIM_AGENT_MULTICAST_TABLE = 0x1b,
	SIM_AGENT_SM_INFO = 0x20,
};

/* MAD status (IBA vol. 1, 13.4.7). */
#define SIM_AGENT_METHOD_UNSUPPORTED    0x0008
#define SIM_AGENT_ATTRIBUTE_UNSUPPORTED 0x000c
#define SIM_AGENT_INVALID_FIELD         0x001c

/*
 * Reads an attribute of a node, as asked at its port `ingress` (0: from within a switch), into
 * `data`, in wire order, zeros where nothing is to say. `modifier` as in the MAD, host order; a
 * port number of 0 in it means `ingress` at a host. Returns a MAD status, 0 when it went well.
 */
uint16_t sim_agent_read(const struct sim_subnet *subnet, uint32_t node, uint8_t ingress,
			uint16_t attribute, uint32_t modifier, uint8_t data[SIM_AGENT_DATA]);

/* Whether the port's link is there and up. */
bool sim_agent_link_is_up(const struct sim_subnet *subnet, uint32_t node, uint8_t port);

#endif
