/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_attributes.h"

#include "subnet_state.h"

#include <acmite/bytes.h>
#include <string.h>

#define BASE_VERSION         1
#define CLASS_VERSION        1
#define NODE_CHANNEL_ADAPTER 1
#define NODE_SWITCH          2

/* Capability mask of a port (IBA vol. 1, 14.2.5.6). */
#define CAPABLE_SM              (1u << 1)
#define CAPABLE_SYSTEM_GUID     (1u << 11)
#define CAPABLE_EXTENDED_SPEEDS (1u << 14)
#define CAPABLE_REREGISTER      (1u << 25)

#define PHYSICAL_POLLING 2
#define PHYSICAL_LINK_UP 5
#define DOWN_TO_POLLING  2

#define SM_STATE_MASTER 3

#define PKEYS_IN_BLOCK     32
#define LIDS_IN_BLOCK      64
#define MLIDS_IN_BLOCK     32
#define PORTS_IN_POSITION  16
#define SWITCH_PARTITIONS  32
#define SWITCH_UNICAST_CAP (SIM_LID_MAX + 1u)
#define LIFE_TIME          18 /* 4.096 us * 2^18: about a second */

/* A port asked about. */
struct subject {
	const struct sim_subnet *subnet;
	const struct sim_node *node;
	uint32_t index; /* of the node */
	uint8_t ingress;
	uint8_t port;
	uint8_t *data;
};

static bool is_switch(const struct subject *subject)
{
	return subject->node->kind == SIM_SWITCH;
}

/* What the subnet keeps of a port: all of a host's, a switch's as a whole. */
static const struct subnet_port *kept(const struct subject *subject)
{
	uint8_t number = is_switch(subject) ? 0 : subject->port;

	return &subject->subnet->ports[subject->subnet->first[subject->index] + number];
}

bool sim_agent_link_is_up(const struct sim_subnet *subnet, uint32_t node, uint8_t port)
{
	uint32_t link = subnet->topology->nodes[node].ports[port].link;

	return port != 0 && link != SIM_NONE && subnet_link_is_up(subnet, link);
}

static const struct sim_link *link_of(const struct subject *subject)
{
	uint32_t link = subject->port ? subject->node->ports[subject->port].link : SIM_NONE;

	return link == SIM_NONE ? NULL : &subject->subnet->topology->links[link];
}

/* ---- the attributes ---- */

static uint16_t node_description(const struct subject *subject)
{
	memcpy(subject->data, subject->node->name, strnlen(subject->node->name, SIM_AGENT_DATA));
	return 0;
}

static uint16_t node_info(const struct subject *subject)
{
	uint8_t *data = subject->data;
	uint8_t own = is_switch(subject) ? 0 : subject->ingress;

	data[0] = BASE_VERSION;
	data[1] = CLASS_VERSION;
	data[2] = is_switch(subject) ? NODE_SWITCH : NODE_CHANNEL_ADAPTER;
	data[3] = subject->node->port_count;
	store_be64(data + 4, subject->node->guid);
	store_be64(data + 12, subject->node->guid);
	store_be64(data + 20, subject->node->ports[own].guid);
	store_be16(data + 28, is_switch(subject) ? SWITCH_PARTITIONS : ACM_PORT_PKEYS_MAX);
	data[36] = subject->ingress;
	return 0;
}

static uint16_t switch_info(const struct subject *subject)
{
	const struct sim_switch_tables *tables;
	uint8_t *data = subject->data;
	uint32_t top;

	if (!is_switch(subject))
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	tables = &subject->subnet->tables.switches[subject->index];
	for (top = tables->lft_size; top > 1 && tables->lft[top - 1] == SUBNET_NO_PATH;)
		top--;
	store_be16(data, SWITCH_UNICAST_CAP);
	store_be16(data + 4, (uint16_t)subject->subnet->options.mlid_count);
	store_be16(data + 6, (uint16_t)(top ? top - 1 : 0));
	data[11] = LIFE_TIME << 3;
	store_be16(data + 14, SWITCH_PARTITIONS);
	return 0;
}

static uint16_t guid_info(const struct subject *subject, uint32_t block)
{
	if (block == 0)
		store_be64(subject->data, kept(subject)->guid);
	return 0;
}

static uint32_t capabilities(const struct subject *subject)
{
	uint32_t mask = CAPABLE_SYSTEM_GUID | CAPABLE_EXTENDED_SPEEDS;

	if (!is_switch(subject))
		mask |= CAPABLE_REREGISTER;
	if (subject->index == subject->subnet->sm && subject->port == 1)
		mask |= CAPABLE_SM;
	return mask;
}

/* What the subnet manager has given to a host's port, or to a switch. */
static void put_assigned(const struct subject *subject)
{
	const struct subnet_port *port = kept(subject);
	const struct subnet_port *sm =
		&subject->subnet->ports[subject->subnet->first[subject->subnet->sm] + 1];
	uint8_t *data = subject->data;

	data[8] = 0xfe;
	data[9] = 0x80;
	store_be16(data + 16, port->lid);
	store_be16(data + 18, is_switch(subject) ? sm->lid : port->sm_lid);
	store_be32(data + 20, capabilities(subject));
	data[34] = port->lmc;
	data[51] = subject->subnet->options.subnet_timeout;
}

static uint8_t width_code(uint8_t lanes)
{
	return lanes == 1 ? 1 : lanes == 4 ? 2 : lanes == 8 ? 4 : lanes == 12 ? 8 : 16;
}

/* SDR to QDR have a field of their own; above them is the extended one, and XDR in one more. */
static void put_speed(uint8_t *data, uint8_t speed)
{
	uint8_t plain = (uint8_t)(speed < SIM_FDR ? 1u << speed : 4);

	data[32] = (uint8_t)((data[32] & 0x0f) | ((2 * plain - 1) & 0x7) << 4);
	data[35] = (uint8_t)(plain << 4 | ((2 * plain - 1) & 0x7));
	if (speed == SIM_XDR) {
		data[56] = 1 << 5 | 1 << 3 | 1;
	} else if (speed >= SIM_FDR) {
		uint8_t extended = (uint8_t)(1u << (speed - SIM_FDR));

		data[62] = (uint8_t)(extended << 4 | extended);
		data[63] = extended;
	}
}

static void put_link(const struct subject *subject, const struct sim_link *link)
{
	bool up = sim_agent_link_is_up(subject->subnet, subject->index, subject->port);
	uint8_t state = is_switch(subject) ? ACM_PORT_ACTIVE : kept(subject)->state;
	uint8_t *data = subject->data;
	uint8_t width = width_code(link->width);

	data[29] = width;
	data[30] = width;
	data[31] = width;
	data[32] |= up ? state : ACM_PORT_DOWN;
	data[33] = (uint8_t)((up ? PHYSICAL_LINK_UP : PHYSICAL_POLLING) << 4 | DOWN_TO_POLLING);
	put_speed(data, link->speed);
	data[36] = (uint8_t)(link->mtu << 4);
	data[41] |= link->mtu;
}

static uint16_t port_info(const struct subject *subject)
{
	const struct sim_link *link = link_of(subject);
	uint8_t *data = subject->data;

	if (!is_switch(subject) || subject->port == 0)
		put_assigned(subject);
	data[28] = subject->ingress;
	data[37] = 1 << 4; /* one data VL */
	data[43] = 1 << 4;
	if (link) {
		put_link(subject, link);
	} else {
		bool managed = subject->port == 0;

		data[29] = data[30] = data[31] = width_code(4);
		data[32] = managed ? ACM_PORT_ACTIVE : ACM_PORT_DOWN;
		data[33] = (uint8_t)((managed ? PHYSICAL_LINK_UP : PHYSICAL_POLLING) << 4 |
				     DOWN_TO_POLLING);
		put_speed(data, SIM_SDR);
		data[36] = 5 << 4;
		data[41] = 5;
	}
	data[52] = 0x10; /* answers within 4.096 us * 2^16 */
	data[50] = 1;    /* block of GUIDs */
	return 0;
}

static uint16_t pkey_table(const struct subject *subject, uint32_t block)
{
	const struct subnet_port *port = kept(subject);

	if (is_switch(subject)) {
		if (block == 0)
			store_be16(subject->data, ACM_PKEY_DEFAULT);
		return 0;
	}
	for (uint32_t i = 0; i < PKEYS_IN_BLOCK; i++) {
		uint32_t index = block * PKEYS_IN_BLOCK + i;

		if (index < port->pkey_count)
			store_be16(subject->data + 2 * i, port->pkeys[index]);
	}
	return 0;
}

static uint16_t linear_table(const struct subject *subject, uint32_t block)
{
	const struct sim_switch_tables *tables;

	if (!is_switch(subject))
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	if (block > SIM_LID_MAX / LIDS_IN_BLOCK)
		return SIM_AGENT_INVALID_FIELD;
	tables = &subject->subnet->tables.switches[subject->index];
	for (uint32_t i = 0; i < LIDS_IN_BLOCK; i++) {
		uint32_t lid = block * LIDS_IN_BLOCK + i;

		subject->data[i] = lid < tables->lft_size ? tables->lft[lid] : SUBNET_NO_PATH;
	}
	return 0;
}

/* The low 9 bits of the modifier are the block of MLIDs, the high 4 the position of ports. */
static uint16_t multicast_table(const struct subject *subject, uint32_t modifier)
{
	const struct sim_switch_tables *tables;
	uint32_t block = modifier & 0x1ff, first = (modifier >> 28) * PORTS_IN_POSITION;

	if (!is_switch(subject))
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	tables = &subject->subnet->tables.switches[subject->index];
	for (uint32_t i = 0; i < MLIDS_IN_BLOCK; i++) {
		uint32_t mlid = block * MLIDS_IN_BLOCK + i;

		if (mlid < tables->mft_size)
			store_be16(subject->data + 2 * i,
				   (uint16_t)(tables->mft[mlid][first / 64] >> first % 64));
	}
	return 0;
}

static uint16_t sm_info(const struct subject *subject)
{
	if (subject->index != subject->subnet->sm || !subject->subnet->managed)
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	store_be64(subject->data, subject->node->ports[1].guid);
	store_be32(subject->data + 16, (uint32_t)subject->subnet->tables.generation);
	subject->data[20] = SM_STATE_MASTER;
	return 0;
}

/* Everything goes over the one data VL, which every SL maps to, and is never held back. */
static uint16_t vl_arbitration(const struct subject *subject)
{
	subject->data[1] = 0xff;
	return 0;
}

uint16_t sim_agent_read(const struct sim_subnet *subnet, uint32_t node, uint8_t ingress,
			uint16_t attribute, uint32_t modifier, uint8_t data[SIM_AGENT_DATA])
{
	struct subject subject = {.subnet = subnet,
				  .node = &subnet->topology->nodes[node],
				  .index = node,
				  .ingress = ingress,
				  .port = ingress,
				  .data = data};
	uint32_t port = ingress;

	memset(data, 0, SIM_AGENT_DATA);
	if (attribute == SIM_AGENT_PORT_INFO)
		port = modifier & 0xff;
	else if (attribute == SIM_AGENT_PKEY_TABLE && is_switch(&subject))
		port = modifier >> 16;
	if (port == 0 && !is_switch(&subject))
		port = ingress;
	if (port > subject.node->port_count)
		return SIM_AGENT_INVALID_FIELD;
	subject.port = (uint8_t)port;
	switch (attribute) {
	case SIM_AGENT_NODE_DESCRIPTION:
		return node_description(&subject);
	case SIM_AGENT_NODE_INFO:
		return node_info(&subject);
	case SIM_AGENT_SWITCH_INFO:
		return switch_info(&subject);
	case SIM_AGENT_GUID_INFO:
		return guid_info(&subject, modifier);
	case SIM_AGENT_PORT_INFO:
		return port_info(&subject);
	case SIM_AGENT_PKEY_TABLE:
		return pkey_table(&subject, modifier & 0xffff);
	case SIM_AGENT_SL_TO_VL:
		return 0;
	case SIM_AGENT_VL_ARBITRATION:
		return vl_arbitration(&subject);
	case SIM_AGENT_LINEAR_TABLE:
		return linear_table(&subject, modifier);
	case SIM_AGENT_MULTICAST_TABLE:
		return multicast_table(&subject, modifier);
	case SIM_AGENT_SM_INFO:
		return sm_info(&subject);
	default:
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	}
}
