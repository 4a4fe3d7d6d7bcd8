/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "node_agents.h"

#include "agent_attributes.h"
#include "subnet_state.h"

#include <acmite/bytes.h>
#include <acmite/transport.h>
#include <errno.h>
#include <string.h>

/* Offsets in the MAD. */
#define AT_CLASS         1
#define AT_METHOD        3
#define AT_STATUS        4
#define AT_HOP_POINTER   6
#define AT_HOP_COUNT     7
#define AT_ATTRIBUTE     16
#define AT_MODIFIER      20
#define AT_DIRECTED_DLID 34
#define AT_DATA          64
#define AT_INITIAL_PATH  128
#define AT_RETURN_PATH   192

#define CLASS_BY_LID      0x01
#define CLASS_DIRECTED    0x81
#define CLASS_PERFORMANCE 0x04
#define METHOD_GET        0x01
#define METHOD_SET        0x02
#define METHOD_RESPONSE   0x80
#define DIRECTION_BACK    0x80 /* in the first byte of a directed MAD's status */
#define DIRECTED_HOPS_MAX 63
#define HOPS_MAX          64

/* Where a MAD is: a node, and the port by which it came in (0: from within). */
struct place {
	uint32_t node;
	uint8_t port;
};

/* ---- ways ---- */

/* Over the link at a port. False: it is down. */
static bool cross(const struct sim_subnet *subnet, struct place *at, uint32_t out)
{
	const struct sim_node *node = &subnet->topology->nodes[at->node];
	const struct sim_port *port;

	if (out == 0 || out > node->port_count)
		return false;
	port = &node->ports[out];
	if (!sim_agent_link_is_up(subnet, at->node, (uint8_t)out))
		return false;
	*at = (struct place){port->peer, port->peer_port};
	return true;
}

static bool is_switch(const struct sim_subnet *subnet, uint32_t node)
{
	return subnet->topology->nodes[node].kind == SIM_SWITCH;
}

static bool has_lid(const struct sim_subnet *subnet, const struct place *at, uint16_t lid)
{
	uint8_t own = is_switch(subnet, at->node) ? 0 : at->port;
	const struct subnet_port *port = &subnet->ports[subnet->first[at->node] + own];

	return port->lid != 0 && lid >= port->lid && lid < port->lid + (1u << port->lmc);
}

/* By the tables, from where `at` is to the port that has the LID. */
static bool follow_lid(const struct sim_subnet *subnet, struct place *at, uint16_t lid)
{
	if (has_lid(subnet, at, lid))
		return true;
	if (!is_switch(subnet, at->node) && !cross(subnet, at, at->port))
		return false;
	for (int hops = 0; hops <= HOPS_MAX && !has_lid(subnet, at, lid); hops++) {
		const struct sim_switch_tables *tables;

		if (!is_switch(subnet, at->node))
			return false;
		tables = &subnet->tables.switches[at->node];
		if (!cross(subnet, at, lid < tables->lft_size ? tables->lft[lid] : 0))
			return false;
	}
	return has_lid(subnet, at, lid);
}

/*
 * The directed part of a route, and where it came in at each hop. Its first hop leaves a host by
 * the port that sends, and no route leads through a host.
 */
static bool follow_directions(const struct sim_subnet *subnet, struct place *at, uint8_t *mad)
{
	for (uint8_t hop = 1; hop <= mad[AT_HOP_COUNT]; hop++) {
		uint8_t out = mad[AT_INITIAL_PATH + hop];

		if (!is_switch(subnet, at->node) && (hop > 1 || out != at->port))
			return false;
		if (!cross(subnet, at, out))
			return false;
		mad[AT_RETURN_PATH + hop] = at->port;
	}
	return true;
}

/* Routes may begin with a LID, as those do that start elsewhere; none ends with one. */
static bool follow_directed(const struct sim_subnet *subnet, struct place *at, uint8_t *mad)
{
	if (mad[AT_HOP_COUNT] > DIRECTED_HOPS_MAX ||
	    load_be16(mad + AT_DIRECTED_DLID) != ACM_LID_PERMISSIVE)
		return false;
	return follow_directions(subnet, at, mad);
}

/* ---- answers ---- */

static uint16_t answer_performance(const struct sim_subnet *subnet, uint32_t node,
				   const struct sim_traffic_source *traffic, uint8_t *mad)
{
	uint16_t attribute = load_be16(mad + AT_ATTRIBUTE);

	switch (mad[AT_METHOD]) {
	case METHOD_GET:
		return sim_performance_read(subnet->topology, node, traffic, attribute,
					    mad + AT_DATA);
	case METHOD_SET:
		return sim_performance_set(subnet->topology, node, traffic, attribute,
					   mad + AT_DATA);
	default:
		return SIM_AGENT_METHOD_UNSUPPORTED;
	}
}

static uint16_t answer_attribute(const struct sim_subnet *subnet, const struct place *at,
				 const struct sim_traffic_source *traffic, uint8_t *mad)
{
	if (mad[AT_CLASS] == CLASS_PERFORMANCE)
		return answer_performance(subnet, at->node, traffic, mad);
	if (mad[AT_METHOD] != METHOD_GET)
		return SIM_AGENT_METHOD_UNSUPPORTED;
	return sim_agent_read(subnet, at->node, at->port, load_be16(mad + AT_ATTRIBUTE),
			      load_be32(mad + AT_MODIFIER), mad + AT_DATA);
}

static bool is_for_agents(const uint8_t *mad)
{
	return mad[0] == 1 && (mad[AT_METHOD] & METHOD_RESPONSE) == 0 &&
	       (mad[AT_CLASS] == CLASS_BY_LID || mad[AT_CLASS] == CLASS_DIRECTED ||
		mad[AT_CLASS] == CLASS_PERFORMANCE);
}

static bool deliver(const struct sim_subnet *subnet, struct place *at, uint16_t dlid, uint16_t home,
		    uint8_t *mad)
{
	struct place back;

	if (mad[AT_CLASS] == CLASS_DIRECTED)
		return (dlid == ACM_LID_PERMISSIVE || follow_lid(subnet, at, dlid)) &&
		       follow_directed(subnet, at, mad);
	if (!follow_lid(subnet, at, dlid))
		return false;
	back = *at;
	return follow_lid(subnet, &back, home);
}

int sim_node_agents_answer(const struct sim_subnet *subnet, struct sim_port_ref from, uint16_t dlid,
			   const uint8_t *mad, const struct sim_traffic_source *traffic,
			   uint8_t *answer)
{
	uint32_t index = sim_subnet_port_index(subnet, from);
	struct place at = {.node = from.node, .port = from.port};
	uint16_t status;

	if (index == SIM_NONE)
		return -EHOSTUNREACH;
	if (!is_for_agents(mad))
		return -EPROTO;
	memcpy(answer, mad, ACM_MAD_LENGTH);
	if (!deliver(subnet, &at, dlid, subnet->ports[index].lid, answer))
		return -EHOSTUNREACH;
	status = answer_attribute(subnet, &at, traffic, answer);
	answer[AT_METHOD] = METHOD_GET | METHOD_RESPONSE;
	store_be16(answer + AT_STATUS, status);
	if (mad[AT_CLASS] == CLASS_DIRECTED) {
		answer[AT_STATUS] |= DIRECTION_BACK;
		answer[AT_HOP_POINTER] = 0;
	}
	return 0;
}
