/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "performance_agent.h"

#include "agent_attributes.h"

#include <acmite/bytes.h>
#include <stddef.h>
#include <string.h>

#define CLASS_INFO        0x01
#define COUNTERS          0x12
#define COUNTERS_EXTENDED 0x1d

/* Capabilities in ClassPortInfo. */
#define ALL_PORT_SELECT 0x0100
#define EXTENDED_WIDTH  0x0400 /* 64-bit counters, none of them of unicasts or multicasts alone */

#define AT_PORT   1
#define AT_SELECT 2
#define ALL_PORTS 0xff

/* A counter in the attribute, and what of a port's traffic it is. */
struct counter {
	uint8_t at, bytes;
	uint8_t select; /* its bit in the attribute's CounterSelect */
	uint8_t unit;   /* bytes count in words of four (IBA vol. 1, 16.1.3.5) */
	size_t member;
};

#define OF(member) offsetof(struct sim_port_traffic, member)

static const struct counter counters[] = {
	{14, 2, 6, 1, OF(discards)},          {24, 4, 12, 4, OF(sent_bytes)},
	{28, 4, 13, 4, OF(received_bytes)},   {32, 4, 14, 1, OF(sent_packets)},
	{36, 4, 15, 1, OF(received_packets)},
};

static const struct counter extended[] = {
	{8, 8, 0, 4, OF(sent_bytes)},
	{16, 8, 1, 4, OF(received_bytes)},
	{24, 8, 2, 1, OF(sent_packets)},
	{32, 8, 3, 1, OF(received_packets)},
};

/* The counters of an attribute, and how many they are. NULL: it has none. */
static const struct counter *counters_of(uint16_t attribute, size_t *count)
{
	switch (attribute) {
	case COUNTERS:
		*count = sizeof(counters) / sizeof(counters[0]);
		return counters;
	case COUNTERS_EXTENDED:
		*count = sizeof(extended) / sizeof(extended[0]);
		return extended;
	default:
		return NULL;
	}
}

static uint64_t *member_of(struct sim_port_traffic *traffic, const struct counter *counter)
{
	return (uint64_t *)((char *)traffic + counter->member);
}

static void put_saturated(uint8_t *at, uint64_t value, int bytes)
{
	uint64_t most = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

	if (value > most)
		value = most;
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* ---- ports ---- */

struct ports {
	uint32_t first, last;
};

/* False: there is no such port. Only switches have one of number 0. */
static bool select_ports(const struct sim_topology *topology, uint32_t node, uint8_t port,
			 struct ports *ports)
{
	const struct sim_node *of = &topology->nodes[node];

	*ports = (struct ports){port, port};
	if (port == ALL_PORTS)
		*ports = (struct ports){1, of->port_count};
	else if (port > of->port_count || (port == 0 && of->kind != SIM_SWITCH))
		return false;
	return true;
}

static void add_traffic(struct sim_port_traffic *sum, const struct sim_port_traffic *one)
{
	sum->sent_packets += one->sent_packets;
	sum->sent_bytes += one->sent_bytes;
	sum->received_packets += one->received_packets;
	sum->received_bytes += one->received_bytes;
	sum->discards += one->discards;
}

static void read_one(const struct sim_traffic_source *source, uint32_t node, uint32_t port,
		     struct sim_port_traffic *traffic)
{
	*traffic = (struct sim_port_traffic){0};
	if (source->read)
		source->read(source->context, node, (uint8_t)port, traffic);
}

/* ---- attributes ---- */

uint16_t sim_performance_read(const struct sim_topology *topology, uint32_t node,
			      const struct sim_traffic_source *source, uint16_t attribute,
			      uint8_t data[SIM_PERFORMANCE_DATA])
{
	struct sim_port_traffic sum = {0}, one;
	uint8_t port = data[AT_PORT];
	const struct counter *counter;
	struct ports ports;
	size_t count = 0;

	memset(data, 0, SIM_PERFORMANCE_DATA);
	if (attribute == CLASS_INFO) {
		data[0] = data[1] = 1;
		store_be16(data + 2, ALL_PORT_SELECT | EXTENDED_WIDTH);
		data[7] = 0x10;
		return 0;
	}
	data[AT_PORT] = port;
	counter = counters_of(attribute, &count);
	if (!counter)
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	if (!select_ports(topology, node, port, &ports))
		return SIM_AGENT_INVALID_FIELD;
	for (uint32_t number = ports.first; number <= ports.last; number++) {
		read_one(source, node, number, &one);
		add_traffic(&sum, &one);
	}
	for (size_t i = 0; i < count; i++)
		put_saturated(data + counter[i].at, *member_of(&sum, &counter[i]) / counter[i].unit,
			      counter[i].bytes);
	return 0;
}

static void set_one(const struct sim_traffic_source *source, uint32_t node, uint32_t port,
		    const struct counter *counter, size_t count, const uint8_t *data)
{
	uint16_t selected = load_be16(data + AT_SELECT);
	struct sim_port_traffic traffic;

	read_one(source, node, port, &traffic);
	for (size_t i = 0; i < count; i++) {
		if (selected >> counter[i].select & 1)
			*member_of(&traffic, &counter[i]) =
				get(data + counter[i].at, counter[i].bytes) * counter[i].unit;
	}
	if (source->set)
		source->set(source->context, node, (uint8_t)port, &traffic);
}

uint16_t sim_performance_set(const struct sim_topology *topology, uint32_t node,
			     const struct sim_traffic_source *source, uint16_t attribute,
			     uint8_t data[SIM_PERFORMANCE_DATA])
{
	struct ports ports;
	size_t count = 0;
	const struct counter *counter = counters_of(attribute, &count);

	if (!counter)
		return SIM_AGENT_ATTRIBUTE_UNSUPPORTED;
	if (!select_ports(topology, node, data[AT_PORT], &ports))
		return SIM_AGENT_INVALID_FIELD;
	for (uint32_t number = ports.first; number <= ports.last; number++)
		set_one(source, node, number, counter, count, data);
	return sim_performance_read(topology, node, source, attribute, data);
}
