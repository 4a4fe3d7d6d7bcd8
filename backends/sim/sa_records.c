/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of nodes, ports, links and tables: what the nodes' own agents say, behind the LID and the
 * number that tell one record from the other (IBA vol. 1, 15.2.5).
 */
#include "sa_state.h"

#include "agent_attributes.h"

#include <acmite/bytes.h>
#include <errno.h>
#include <string.h>

#define ATTRIBUTE_CLASS_INFO  0x01
#define ATTRIBUTE_NODE        0x11
#define ATTRIBUTE_PORT_INFO   0x12
#define ATTRIBUTE_SWITCH_INFO 0x14
#define ATTRIBUTE_LINEAR      0x15
#define ATTRIBUTE_MULTICAST   0x17
#define ATTRIBUTE_SM_INFO     0x18
#define ATTRIBUTE_LINK        0x20
#define ATTRIBUTE_GUID_INFO   0x30
#define ATTRIBUTE_PKEY_TABLE  0x33

#define RECORD_MAX      112
#define NODE_INFO_SIZE  40
#define CLASS_INFO_SIZE 72
#define SA_VERSION      2
#define RESPONSE_TIME   16 /* 4.096 us * 2^16 */

#define LIDS_IN_BLOCK     64
#define MLIDS_IN_BLOCK    32
#define PKEYS_IN_BLOCK    32
#define PORTS_IN_POSITION 16

#define PORT_CAPABILITIES (UINT64_C(1) << 7) /* component of a port's record */
#define AT_CAPABILITIES   24

/* Of a record: where its n-th component is, in bits. A width of 0: it is reserved. */
struct field {
	uint16_t at;
	uint16_t width;
};

#define FIELDS_MAX 20

struct shape {
	uint16_t attribute;
	uint16_t length; /* of a record, a multiple of 8 */
	void (*collect)(struct sa_service *service, const struct shape *shape);
	struct field fields[FIELDS_MAX];
};

/* ---- what is asked for ---- */

static bool same_bits(const uint8_t *a, const uint8_t *b, const struct field *field)
{
	for (uint32_t bit = field->at; bit < (uint32_t)field->at + field->width; bit++) {
		if (((a[bit / 8] ^ b[bit / 8]) >> (7 - bit % 8)) & 1)
			return false;
	}
	return true;
}

static bool is_asked(const struct sa_service *service, const struct shape *shape,
		     const uint8_t *record, uint64_t components)
{
	for (uint32_t i = 0; i < FIELDS_MAX; i++) {
		if ((components >> i & 1) && !same_bits(record, service->record, &shape->fields[i]))
			return false;
	}
	return true;
}

static void add_if_asked(struct sa_service *service, const struct shape *shape,
			 const uint8_t *record)
{
	if (is_asked(service, shape, record, service->request->components))
		sa_add_record(service, record, shape->length);
}

/* ---- the records ---- */

/* Calls for every end port that the manager knows: ports of hosts, and port 0 of switches. */
static void each_end_port(struct sa_service *service, const struct shape *shape,
			  void (*visit)(struct sa_service *service, const struct shape *shape,
					const struct subnet_port *port))
{
	const struct sim_subnet *subnet = service->subnet;

	for (uint32_t i = 0; i < subnet->end_port_count && !service->error; i++) {
		const struct subnet_port *port = &subnet->ports[subnet->end_ports[i]];

		if (port->known)
			visit(service, shape, port);
	}
}

static bool is_switch(const struct sa_service *service, const struct subnet_port *port)
{
	return service->subnet->topology->nodes[port->node].kind == SIM_SWITCH;
}

static uint16_t read_agent(const struct sa_service *service, const struct subnet_port *port,
			   uint16_t attribute, uint32_t modifier, uint8_t *data)
{
	return sim_agent_read(service->subnet, port->node, port->number, attribute, modifier, data);
}

static void node_record(struct sa_service *service, const struct shape *shape,
			const struct subnet_port *port)
{
	uint8_t record[RECORD_MAX] = {0}, data[SIM_AGENT_DATA];

	store_be16(record, port->lid);
	read_agent(service, port, SIM_AGENT_NODE_INFO, 0, data);
	memcpy(record + 4, data, NODE_INFO_SIZE);
	read_agent(service, port, SIM_AGENT_NODE_DESCRIPTION, 0, data);
	memcpy(record + 4 + NODE_INFO_SIZE, data, SIM_AGENT_DATA);
	add_if_asked(service, shape, record);
}

static void collect_nodes(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, node_record);
}

/*
 * With the high bit of the modifier set, the capabilities that are asked for must be there,
 * whatever others are.
 */
static void add_port(struct sa_service *service, const struct shape *shape, const uint8_t *record)
{
	uint64_t components = service->request->components;

	for (int i = 0; service->subset && (components & PORT_CAPABILITIES) && i < 4; i++) {
		if (service->record[AT_CAPABILITIES + i] & ~record[AT_CAPABILITIES + i])
			return;
	}
	if (service->subset)
		components &= ~PORT_CAPABILITIES;
	if (is_asked(service, shape, record, components))
		sa_add_record(service, record, shape->length);
}

static void port_records(struct sa_service *service, const struct shape *shape,
			 const struct subnet_port *port)
{
	uint32_t first = port->number, last = port->number;

	if (is_switch(service, port))
		last = service->subnet->topology->nodes[port->node].port_count;
	for (uint32_t number = first; number <= last; number++) {
		uint8_t record[RECORD_MAX] = {0};

		store_be16(record, port->lid);
		record[2] = (uint8_t)number;
		read_agent(service, port, SIM_AGENT_PORT_INFO, number, record + 4);
		add_port(service, shape, record);
	}
}

static void collect_ports(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, port_records);
}

static void switch_record(struct sa_service *service, const struct shape *shape,
			  const struct subnet_port *port)
{
	uint8_t record[RECORD_MAX] = {0};

	store_be16(record, port->lid);
	if (!read_agent(service, port, SIM_AGENT_SWITCH_INFO, 0, record + 4))
		add_if_asked(service, shape, record);
}

static void collect_switches(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, switch_record);
}

static void sm_record(struct sa_service *service, const struct shape *shape,
		      const struct subnet_port *port)
{
	uint8_t record[RECORD_MAX] = {0};

	store_be16(record, port->lid);
	if (port->number == 1 && !read_agent(service, port, SIM_AGENT_SM_INFO, 0, record + 4))
		add_if_asked(service, shape, record);
}

static void collect_managers(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, sm_record);
}

static void guid_record(struct sa_service *service, const struct shape *shape,
			const struct subnet_port *port)
{
	uint8_t record[RECORD_MAX] = {0};

	store_be16(record, port->lid);
	read_agent(service, port, SIM_AGENT_GUID_INFO, 0, record + 8);
	add_if_asked(service, shape, record);
}

static void collect_guids(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, guid_record);
}

static void pkey_records(struct sa_service *service, const struct shape *shape,
			 const struct subnet_port *port)
{
	uint32_t blocks = 1 + (port->pkey_count ? port->pkey_count - 1u : 0) / PKEYS_IN_BLOCK;

	for (uint32_t block = 0; block < blocks; block++) {
		uint8_t record[RECORD_MAX] = {0};

		store_be16(record, port->lid);
		store_be16(record + 2, (uint16_t)block);
		record[4] = port->number;
		read_agent(service, port, SIM_AGENT_PKEY_TABLE, block, record + 8);
		add_if_asked(service, shape, record);
	}
}

static void collect_pkeys(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, pkey_records);
}

static void linear_records(struct sa_service *service, const struct shape *shape,
			   const struct subnet_port *port)
{
	uint32_t blocks;

	if (!is_switch(service, port))
		return;
	blocks = (service->subnet->lid_count + LIDS_IN_BLOCK - 1) / LIDS_IN_BLOCK;
	for (uint32_t block = 0; block < blocks; block++) {
		uint8_t record[RECORD_MAX] = {0};

		store_be16(record, port->lid);
		store_be16(record + 2, (uint16_t)block);
		read_agent(service, port, SIM_AGENT_LINEAR_TABLE, block, record + 8);
		add_if_asked(service, shape, record);
	}
}

static void collect_linear(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, linear_records);
}

static void multicast_records(struct sa_service *service, const struct shape *shape,
			      const struct subnet_port *port)
{
	const struct sim_node *node = &service->subnet->topology->nodes[port->node];
	uint32_t blocks, positions;

	if (!is_switch(service, port))
		return;
	blocks = (service->subnet->tables.switches[port->node].mft_size + MLIDS_IN_BLOCK - 1) /
		 MLIDS_IN_BLOCK;
	positions = node->port_count / PORTS_IN_POSITION + 1u;
	for (uint32_t i = 0; i < blocks * positions; i++) {
		uint8_t record[RECORD_MAX] = {0};
		uint32_t block = i / positions, position = i % positions;

		store_be16(record, port->lid);
		store_be16(record + 2, (uint16_t)(position << 12 | block));
		read_agent(service, port, SIM_AGENT_MULTICAST_TABLE, position << 28 | block,
			   record + 8);
		add_if_asked(service, shape, record);
	}
}

static void collect_multicast(struct sa_service *service, const struct shape *shape)
{
	each_end_port(service, shape, multicast_records);
}

/* LID by which the manager knows a port: a switch has one for all of its. */
static uint16_t lid_at(const struct sim_subnet *subnet, uint32_t node, uint8_t port)
{
	bool is_host = subnet->topology->nodes[node].kind == SIM_HOST;

	return subnet->ports[subnet->first[node] + (is_host ? port : 0)].lid;
}

/* Each link twice, once from either end. */
static void collect_links(struct sa_service *service, const struct shape *shape)
{
	const struct sim_subnet *subnet = service->subnet;

	for (uint32_t i = 0; i < 2 * subnet->topology->link_count && !service->error; i++) {
		const struct sim_link *link = &subnet->topology->links[i / 2];
		int from = i % 2, to = 1 - from;
		uint8_t record[RECORD_MAX] = {0};

		if (!subnet->link_seen[i / 2])
			continue;
		store_be16(record, lid_at(subnet, link->node[from], link->port[from]));
		record[2] = link->port[from];
		record[3] = link->port[to];
		store_be16(record + 4, lid_at(subnet, link->node[to], link->port[to]));
		add_if_asked(service, shape, record);
	}
}

/* What this SA can do: nothing that is optional. */
static void collect_class_info(struct sa_service *service, const struct shape *shape)
{
	uint8_t record[RECORD_MAX] = {1, SA_VERSION};

	record[7] = RESPONSE_TIME;
	sa_add_record(service, record, shape->length);
}

/* ---- all ---- */

#define LID_FIELD                                                                                  \
	{                                                                                          \
		0, 16                                                                              \
	}

static const struct shape shapes[] = {
	{ATTRIBUTE_CLASS_INFO, CLASS_INFO_SIZE, collect_class_info, {{0, 0}}},
	{ATTRIBUTE_NODE,
	 RECORD_MAX,
	 collect_nodes,
	 {LID_FIELD,
	  {0, 0},
	  {32, 8},
	  {40, 8},
	  {48, 8},
	  {56, 8},
	  {64, 64},
	  {128, 64},
	  {192, 64},
	  {256, 16},
	  {272, 16},
	  {288, 32},
	  {320, 8},
	  {328, 24},
	  {352, 512}}},
	/* The first of the port's own fields are those that are asked for: up to its state. */
	{ATTRIBUTE_PORT_INFO,
	 72,
	 collect_ports,
	 {LID_FIELD,
	  {16, 8},
	  {24, 8},
	  {32, 64},
	  {96, 64},
	  {160, 16},
	  {176, 16},
	  {192, 32},
	  {224, 16},
	  {240, 16},
	  {256, 8},
	  {264, 8},
	  {272, 8},
	  {280, 8},
	  {288, 4},
	  {292, 4},
	  {296, 4},
	  {300, 4}}},
	{ATTRIBUTE_SWITCH_INFO, 24, collect_switches, {LID_FIELD}},
	{ATTRIBUTE_LINEAR, 72, collect_linear, {LID_FIELD, {16, 16}}},
	{ATTRIBUTE_MULTICAST, 72, collect_multicast, {LID_FIELD, {16, 4}, {0, 0}, {23, 9}}},
	{ATTRIBUTE_SM_INFO,
	 32,
	 collect_managers,
	 {LID_FIELD, {0, 0}, {32, 64}, {96, 64}, {160, 32}, {192, 4}, {196, 4}}},
	{ATTRIBUTE_LINK, 8, collect_links, {LID_FIELD, {16, 8}, {24, 8}, {32, 16}}},
	{ATTRIBUTE_GUID_INFO, 72, collect_guids, {LID_FIELD, {16, 8}}},
	{ATTRIBUTE_PKEY_TABLE, 72, collect_pkeys, {LID_FIELD, {16, 16}, {32, 8}}},
};

static const struct shape *find_shape(uint16_t attribute)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].attribute == attribute)
			return &shapes[i];
	}
	return NULL;
}

uint16_t sa_record_length(uint16_t attribute)
{
	const struct shape *shape = find_shape(attribute);

	return shape ? shape->length : 0;
}

/* A component that the table of fields does not have would be passed over in silence. */
static bool knows(const struct shape *shape, uint64_t components)
{
	for (uint32_t i = 0; i < 64; i++) {
		if ((components >> i & 1) && (i >= FIELDS_MAX || shape->fields[i].width == 0))
			return false;
	}
	return true;
}

uint16_t sa_serve_records(struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;
	const struct shape *shape = find_shape(request->attribute);

	if (!shape ||
	    (request->method != ACM_SA_METHOD_GET && request->method != ACM_SA_METHOD_GET_TABLE))
		return ACM_SA_STATUS_UNSUPPORTED;
	if (!knows(shape, request->components))
		return SA_STATUS(ACM_SA_REQ_INVALID);
	shape->collect(service, shape);
	return 0;
}
