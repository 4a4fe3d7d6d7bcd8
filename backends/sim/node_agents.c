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
#define METHOD_RESPONSE   0x80
#define DIRECTION_BACK    0x80 /* in the first byte of a directed MAD's status */
#define DIRECTED_HOPS_MAX 63
#define HOPS_MAX          64

#define COUNTERS_CLASS_INFO 0x01
#define COUNTERS            0x12
#define COUNTERS_EXTENDED   0x1d
#define EXTENDED_WIDTH      0x0200 /* of ClassPortInfo's capabilities: 64-bit counters */
#define ALL_PORTS           0xff

/* Where a MAD is: a node, and the port by which it came in (0: from within). */
struct place {
	uint32_t node;
	uint8_t port;
};

static void put_saturated(uint8_t *at, uint64_t value, int bytes)
{
	uint64_t most = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

	if (value > most)
		value = most;
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

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

/* ---- performance ---- */

static void add_traffic(struct sim_port_traffic *sum, const struct sim_port_traffic *one)
{
	sum->sent_packets += one->sent_packets;
	sum->sent_bytes += one->sent_bytes;
	sum->received_packets += one->received_packets;
	sum->received_bytes += one->received_bytes;
	sum->discards += one->discards;
}

static void read_traffic(const struct sim_subnet *subnet, const struct sim_traffic_source *source,
			 uint32_t node, uint8_t port, struct sim_port_traffic *traffic)
{
	uint8_t first = port == ALL_PORTS ? 1 : port;
	uint8_t last = port == ALL_PORTS ? subnet->topology->nodes[node].port_count : port;

	*traffic = (struct sim_port_traffic){0};
	for (uint32_t number = first; source->read && number <= last; number++) {
		struct sim_port_traffic one = {0};

		source->read(source->context, node, (uint8_t)number, &one);
		add_traffic(traffic, &one);
	}
}

/* Bytes count in words of four (IBA vol. 1, 16.1.3.5). */
static void put_counters(uint8_t *data, const struct sim_port_traffic *traffic)
{
	put_saturated(data + 14, traffic->discards, 2);
	put_saturated(data + 24, traffic->sent_bytes / 4, 4);
	put_saturated(data + 28, traffic->received_bytes / 4, 4);
	put_saturated(data + 32, traffic->sent_packets, 4);
	put_saturated(data + 36, traffic->received_packets, 4);
}

static void put_extended_counters(uint8_t *data, const struct sim_port_traffic *traffic)
{
	put_saturated(data + 8, traffic->sent_bytes / 4, 8);
	put_saturated(data + 16, traffic->received_bytes / 4, 8);
	put_saturated(data + 24, traffic->sent_packets, 8);
	put_saturated(data + 32, traffic->received_packets, 8);
}

static uint16_t read_performance(const struct sim_subnet *subnet, uint32_t node,
				 const struct sim_traffic_source *source, uint16_t attribute,
				 uint8_t *data)
{
	struct sim_port_traffic traffic;
	uint8_t port = data[1];

	if (attribute == COUNTERS_CLASS_INFO) {
		data[0] = data[1] = 1;
		store_be16(data + 2, EXTENDED_WIDTH);
		data[7] = 0x10;
		return 0;
	}
	if (attribute != COUNTERS && attribute != COUNTERS_EXTENDED)
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	if (port != ALL_PORTS && port > subnet->topology->nodes[node].port_count)
		return SIM_AGENT_INVALID_FIELD;
	read_traffic(subnet, source, node, port, &traffic);
	data[1] = port;
	if (attribute == COUNTERS)
		put_counters(data, &traffic);
	else
		put_extended_counters(data, &traffic);
	return 0;
}

/* ---- answers ---- */

static uint16_t read_attribute(const struct sim_subnet *subnet, const struct place *at,
			       const struct sim_traffic_source *traffic, uint8_t *mad)
{
	uint16_t attribute = load_be16(mad + AT_ATTRIBUTE);
	uint8_t asked = mad[AT_DATA + 1];

	if (mad[AT_METHOD] != METHOD_GET)
		return SIM_AGENT_METHOD_UNSUPPORTED;
	if (mad[AT_CLASS] != CLASS_PERFORMANCE)
		return sim_agent_read(subnet, at->node, at->port, attribute,
				      load_be32(mad + AT_MODIFIER), mad + AT_DATA);
	memset(mad + AT_DATA, 0, ACM_MAD_LENGTH - AT_DATA);
	mad[AT_DATA + 1] = asked;
	return read_performance(subnet, at->node, traffic, attribute, mad + AT_DATA);
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
	status = read_attribute(subnet, &at, traffic, answer);
	answer[AT_METHOD] = METHOD_GET | METHOD_RESPONSE;
	store_be16(answer + AT_STATUS, status);
	if (mad[AT_CLASS] == CLASS_DIRECTED) {
		answer[AT_STATUS] |= DIRECTION_BACK;
		answer[AT_HOP_POINTER] = 0;
	}
	return 0;
}
