/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The nodes' agents: a whole fabric is discovered through them, as tools do, and must be the
 * file's; the SA's records must say the same as they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <acmite/bytes.h>
#include "agent_attributes.h"
#include "node_agents.h"
#include "sa_model.h"
#include "small_topology.h"

#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_DATA      64
#define AT_RECORD    ACM_SA_ANSWER_HEADER
#define GET_RESPONSE 0x81

struct fixture {
	struct sim_topology *topology;
	struct sim_subnet *subnet;
	struct sim_traffic_source traffic;
	struct sim_sa_answer sa;
	uint8_t mad[ACM_MAD_LENGTH];
	uint8_t answer[ACM_MAD_LENGTH];
};

static void bring_up(struct fixture *f, struct sim_topology *topology)
{
	struct sim_subnet_options options;
	char why[256];

	memset(f, 0, sizeof(*f));
	f->topology = topology;
	sim_subnet_options_default(&options);
	assert_int_equal(sim_subnet_create(topology, &options, &f->subnet, why, sizeof(why)), 0);
}

static void clean_up(struct fixture *f)
{
	sim_subnet_destroy(f->subnet);
	sim_topology_free(f->topology);
	free(f->sa.data);
}

static struct sim_port_ref port_of(const struct fixture *f, const char *name)
{
	return (struct sim_port_ref){.node = sim_topology_find(f->topology, name), .port = 1};
}

static uint16_t lid_of(const struct fixture *f, const char *name)
{
	uint32_t node = sim_topology_find(f->topology, name);
	struct acm_port_facts facts;

	if (f->topology->nodes[node].kind == SIM_SWITCH)
		return sim_subnet_tables(f->subnet)->switches[node].lid;
	assert_int_equal(sim_subnet_port_facts(f->subnet, port_of(f, name), &facts), 0);
	return facts.lid;
}

/* The MAD's head; what else is in it stays. */
static void ask_for(struct fixture *f, uint8_t class, uint16_t attribute, uint32_t modifier)
{
	f->mad[0] = 1;
	f->mad[1] = class;
	f->mad[2] = 1;
	f->mad[3] = 1;
	f->mad[15] = 7;
	f->mad[16] = (uint8_t)(attribute >> 8);
	f->mad[17] = (uint8_t)attribute;
	for (int i = 0; i < 4; i++)
		f->mad[20 + i] = (uint8_t)(modifier >> (24 - 8 * i));
	memset(f->mad + 32, 0xff, 4);
}

static int send_from(struct fixture *f, const char *from, uint16_t dlid)
{
	int error = sim_node_agents_answer(f->subnet, port_of(f, from), dlid, f->mad, &f->traffic,
					   f->answer);

	if (error)
		return error;
	assert_int_equal(f->answer[3], GET_RESPONSE);
	assert_memory_equal(f->answer + 8, f->mad + 8, 8);
	return load_be16(f->answer + 4) & 0x7fff;
}

static int read_by_lid(struct fixture *f, const char *from, const char *to, uint16_t attribute,
		       uint32_t modifier)
{
	memset(f->mad, 0, sizeof(f->mad));
	ask_for(f, 0x01, attribute, modifier);
	return send_from(f, from, lid_of(f, to));
}

/* ---- discovery ---- */

struct route {
	uint8_t hops;
	uint8_t out[64];
};

struct discovery {
	struct fixture *fixture;
	const char *from;
	bool *known; /* by node */
	uint32_t nodes, ends;
};

static int read_by_route(struct discovery *d, const struct route *route, uint16_t attribute,
			 uint32_t modifier)
{
	struct fixture *f = d->fixture;

	memset(f->mad, 0, sizeof(f->mad));
	f->mad[7] = route->hops;
	memcpy(f->mad + 128, route->out, sizeof(route->out));
	ask_for(f, 0x81, attribute, modifier);
	return send_from(f, d->from, ACM_LID_PERMISSIVE);
}

static uint32_t node_with_guid(const struct sim_topology *topology, uint64_t guid)
{
	for (uint32_t i = 0; i < topology->node_count; i++) {
		if (topology->nodes[i].guid == guid)
			return i;
	}
	fail_msg("no node has the GUID");
	return SIM_NONE;
}

static void explore(struct discovery *d, const struct route *route, uint32_t node);

/* What is at the other end of a port must be what the file says. */
static void explore_port(struct discovery *d, const struct route *route, uint32_t node,
			 uint8_t number)
{
	const struct sim_port *port = &d->fixture->topology->nodes[node].ports[number];
	struct route longer = *route;
	uint32_t peer;

	assert_int_equal(read_by_route(d, route, SIM_AGENT_PORT_INFO, number), 0);
	assert_int_equal(d->fixture->answer[AT_DATA + 33] >> 4, port->link == SIM_NONE ? 2 : 5);
	if (port->link == SIM_NONE)
		return;
	d->ends++;
	longer.out[++longer.hops] = number;
	assert_int_equal(read_by_route(d, &longer, SIM_AGENT_NODE_INFO, 0), 0);
	peer = node_with_guid(d->fixture->topology, load_be64(d->fixture->answer + AT_DATA + 12));
	assert_int_equal(peer, port->peer);
	assert_int_equal(d->fixture->answer[AT_DATA + 36], port->peer_port);
	assert_int_equal(d->fixture->answer[192 + longer.hops], port->peer_port);
	explore(d, &longer, peer);
}

static void explore(struct discovery *d, const struct route *route, uint32_t node)
{
	const struct sim_node *found = &d->fixture->topology->nodes[node];

	if (d->known[node])
		return;
	d->known[node] = true;
	d->nodes++;
	assert_int_equal(read_by_route(d, route, SIM_AGENT_NODE_DESCRIPTION, 0), 0);
	assert_string_equal((const char *)d->fixture->answer + AT_DATA, found->name);
	assert_int_equal(read_by_route(d, route, SIM_AGENT_NODE_INFO, 0), 0);
	assert_int_equal(d->fixture->answer[AT_DATA + 2], found->kind == SIM_SWITCH ? 2 : 1);
	assert_int_equal(d->fixture->answer[AT_DATA + 3], found->port_count);
	if (found->kind == SIM_HOST && route->hops) {
		d->ends++; /* no route leads on through it */
		return;
	}
	for (uint32_t port = 1; port <= found->port_count; port++)
		explore_port(d, route, node, (uint8_t)port);
}

static void discover(struct fixture *f, const char *from)
{
	struct discovery d = {.fixture = f, .from = from};
	struct route here = {0};

	d.known = calloc(f->topology->node_count, sizeof(*d.known));
	assert_non_null(d.known);
	explore(&d, &here, sim_topology_find(f->topology, from));
	assert_int_equal(d.nodes, f->topology->node_count);
	assert_int_equal(d.ends, 2 * f->topology->link_count);
	free(d.known);
}

static void the_fabric_is_discovered_as_the_file_has_it(void **state)
{
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	discover(&f, "left2");
	clean_up(&f);
	bring_up(&f, small_topology_star(5));
	discover(&f, "node1");
	clean_up(&f);
}

/* ---- single reads ---- */

static void a_port_says_what_the_manager_gave_it(void **state)
{
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	assert_int_equal(read_by_lid(&f, "left1", "right2", SIM_AGENT_PORT_INFO, 0), 0);
	assert_int_equal(load_be16(f.answer + AT_DATA + 16), lid_of(&f, "right2"));
	assert_int_equal(f.answer[AT_DATA + 32] & 0xf, ACM_PORT_ACTIVE);
	assert_int_equal(read_by_lid(&f, "left1", "right2", SIM_AGENT_PKEY_TABLE, 0), 0);
	assert_int_equal(load_be16(f.answer + AT_DATA), ACM_PKEY_DEFAULT);
	assert_int_equal(read_by_lid(&f, "left1", "right2", SIM_AGENT_GUID_INFO, 0), 0);
	assert_true(load_be64(f.answer + AT_DATA) ==
		    f.topology->nodes[sim_topology_find(f.topology, "right2")].ports[1].guid);
	clean_up(&f);
}

static void tables_are_those_in_use(void **state)
{
	const struct sim_switch_tables *tables;
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	tables = &sim_subnet_tables(f.subnet)->switches[sim_topology_find(f.topology, "switch2")];
	assert_int_equal(read_by_lid(&f, "left1", "switch2", SIM_AGENT_LINEAR_TABLE, 0), 0);
	for (uint32_t lid = 0; lid < 64; lid++)
		assert_int_equal(f.answer[AT_DATA + lid],
				 lid < tables->lft_size ? tables->lft[lid] : 0xff);
	assert_int_equal(read_by_lid(&f, "left1", "switch2", SIM_AGENT_MULTICAST_TABLE, 0), 0);
	for (uint32_t i = 0; i < 32 && i < tables->mft_size; i++)
		assert_int_equal(load_be16(f.answer + AT_DATA + 2 * i), tables->mft[i][0] & 0xffff);
	clean_up(&f);
}

static void what_cannot_be_read_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	assert_int_equal(read_by_lid(&f, "left1", "left2", SIM_AGENT_SWITCH_INFO, 0),
			 SIM_AGENT_ATTRIBUTE_UNSUPPORTED);
	assert_int_equal(read_by_lid(&f, "left1", "left2", 0xff90, 0),
			 SIM_AGENT_ATTRIBUTE_UNSUPPORTED);
	assert_int_equal(read_by_lid(&f, "left1", "left2", SIM_AGENT_PORT_INFO, 9),
			 SIM_AGENT_INVALID_FIELD);
	ask_for(&f, 0x01, SIM_AGENT_PORT_INFO, 1);
	f.mad[3] = 2; /* Set */
	assert_int_equal(send_from(&f, "left1", lid_of(&f, "left2")), SIM_AGENT_METHOD_UNSUPPORTED);
	ask_for(&f, 0x32, 1, 0); /* a vendor's class */
	assert_int_equal(send_from(&f, "left1", lid_of(&f, "left2")), -EPROTO);
	clean_up(&f);
}

static void nobody_answers_where_nobody_is(void **state)
{
	uint32_t node;
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	ask_for(&f, 0x01, SIM_AGENT_NODE_INFO, 0);
	assert_int_equal(send_from(&f, "left1", 999), -EHOSTUNREACH);
	node = sim_topology_find(f.topology, "right1");
	assert_int_equal(sim_subnet_cut_link(f.subnet, node, 1, 0), 0);
	assert_int_equal(send_from(&f, "left1", lid_of(&f, "right1")), -EHOSTUNREACH);
	/* A route through a host, and one out of a port that is not there. */
	ask_for(&f, 0x81, SIM_AGENT_NODE_INFO, 0);
	f.mad[7] = 1;
	f.mad[129] = 2;
	assert_int_equal(send_from(&f, "left1", ACM_LID_PERMISSIVE), -EHOSTUNREACH);
	f.mad[7] = 2;
	f.mad[129] = 1;
	f.mad[130] = 200;
	assert_int_equal(send_from(&f, "left1", ACM_LID_PERMISSIVE), -EHOSTUNREACH);
	f.mad[7] = 64;
	assert_int_equal(send_from(&f, "left1", ACM_LID_PERMISSIVE), -EHOSTUNREACH);
	clean_up(&f);
}

static void traffic_of(void *context, uint32_t node, uint8_t port, struct sim_port_traffic *traffic)
{
	(void)context;
	*traffic = (struct sim_port_traffic){.sent_packets = 100 * node + port,
					     .sent_bytes = UINT64_C(1) << 40,
					     .received_packets = 1,
					     .received_bytes = 8,
					     .discards = 70000};
}

static void counters_are_what_the_ports_carried(void **state)
{
	struct fixture f;
	uint32_t node;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	f.traffic.read = traffic_of;
	node = sim_topology_find(f.topology, "switch1");
	ask_for(&f, 0x04, 0x12, 0);
	f.mad[AT_DATA + 1] = 2;
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")), 0);
	assert_int_equal(load_be16(f.answer + AT_DATA + 34), 100 * node + 2);
	assert_int_equal(load_be16(f.answer + AT_DATA + 14), 0xffff); /* as much as it can say */
	assert_memory_equal(f.answer + AT_DATA + 24, "\xff\xff\xff\xff", 4);
	ask_for(&f, 0x04, 0x1d, 0);
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")), 0);
	assert_true(load_be64(f.answer + AT_DATA + 8) == UINT64_C(1) << 38);
	assert_true(load_be64(f.answer + AT_DATA + 24) == 100 * node + 2);
	f.mad[AT_DATA + 1] = 0xff;
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")), 0);
	assert_true(load_be64(f.answer + AT_DATA + 32) == f.topology->nodes[node].port_count);
	f.mad[AT_DATA + 1] = 99;
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")), SIM_AGENT_INVALID_FIELD);
	clean_up(&f);
}

/* By node and port, for switch1 alone: the ports of the others carry nothing. */
static struct sim_port_traffic kept[3];

static void read_kept(void *context, uint32_t node, uint8_t port, struct sim_port_traffic *traffic)
{
	*traffic = (struct sim_port_traffic){0};
	if (node == *(uint32_t *)context && port < 3)
		*traffic = kept[port];
}

static void set_kept(void *context, uint32_t node, uint8_t port,
		     const struct sim_port_traffic *traffic)
{
	if (node == *(uint32_t *)context && port < 3)
		kept[port] = *traffic;
}

static void counters_that_are_selected_are_set(void **state)
{
	struct fixture f;
	uint32_t node;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	node = sim_topology_find(f.topology, "switch1");
	f.traffic = (struct sim_traffic_source){read_kept, set_kept, &node};
	kept[1] = kept[2] = (struct sim_port_traffic){70, 7000, 80, 8000, 9};
	ask_for(&f, 0x04, 0x12, 0);
	f.mad[3] = 2; /* Set */
	f.mad[AT_DATA + 1] = 2;
	f.mad[AT_DATA + 2] = 0x40; /* packets sent, ... */
	f.mad[AT_DATA + 3] = 0x40; /* ... discards */
	f.mad[AT_DATA + 35] = 3;
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")), 0);
	assert_int_equal(f.answer[3], 0x81);
	assert_int_equal(load_be16(f.answer + AT_DATA + 14), 0);
	assert_int_equal(load_be32(f.answer + AT_DATA + 32), 3);
	assert_int_equal(load_be32(f.answer + AT_DATA + 36), 80);
	assert_int_equal(kept[2].sent_packets, 3);
	assert_int_equal(kept[2].sent_bytes, 7000);
	assert_int_equal(kept[1].sent_packets, 70);
	/* Those of 64 bits, of all ports. */
	ask_for(&f, 0x04, 0x1d, 0);
	f.mad[3] = 2;
	f.mad[AT_DATA + 1] = 0xff;
	f.mad[AT_DATA + 2] = 0;
	f.mad[AT_DATA + 3] = 0x03; /* data */
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")), 0);
	assert_int_equal(kept[1].sent_bytes + kept[1].received_bytes, 0);
	assert_int_equal(kept[2].sent_bytes + kept[2].received_bytes, 0);
	assert_int_equal(kept[1].received_packets, 80);
	/* What is no counter, and who has no such port: a host has none of number 0. */
	ask_for(&f, 0x04, 0x01, 0);
	f.mad[3] = 2;
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")),
			 SIM_AGENT_ATTRIBUTE_UNSUPPORTED);
	for (uint8_t method = 1; method <= 2; method++) {
		ask_for(&f, 0x04, 0x12, 0);
		f.mad[3] = method;
		f.mad[AT_DATA + 1] = 0;
		assert_int_equal(send_from(&f, "right1", lid_of(&f, "left1")),
				 SIM_AGENT_INVALID_FIELD);
		assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")), 0);
	}
	f.mad[3] = 6; /* TrapRepress */
	assert_int_equal(send_from(&f, "right1", lid_of(&f, "switch1")),
			 SIM_AGENT_METHOD_UNSUPPORTED);
	clean_up(&f);
}

/* ---- records of the SA ---- */

/* Number of records, after a table was asked for. */
static uint32_t records(struct fixture *f, uint16_t attribute, uint64_t components, uint32_t length)
{
	memset(f->mad, 0, AT_RECORD);
	ask_for(f, 0x03, attribute, 0);
	f->mad[2] = 2;
	f->mad[3] = ACM_SA_METHOD_GET_TABLE;
	memset(f->mad + 32, 0, 4);
	for (int i = 0; i < 8; i++)
		f->mad[48 + i] = (uint8_t)(components >> (56 - 8 * i));
	assert_int_equal(sim_sa_serve(f->subnet, port_of(f, "left1"), f->mad, 0, &f->sa), 0);
	assert_int_equal(load_be16(f->sa.data + 4), 0);
	assert_int_equal(8 * load_be16(f->sa.data + 44), length);
	assert_int_equal((f->sa.length - AT_RECORD) % length, 0);
	return (f->sa.length - AT_RECORD) / length;
}

static void records_are_those_of_the_agents(void **state)
{
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	memset(f.mad, 0, sizeof(f.mad));
	assert_int_equal(records(&f, 0x11, 0, 112), 8);
	f.mad[AT_RECORD + 6] = 2; /* node type: switch */
	assert_int_equal(records(&f, 0x11, 1 << 4, 112), 2);
	f.mad[AT_RECORD + 6] = 0;
	f.mad[AT_RECORD + 1] = (uint8_t)lid_of(&f, "right3");
	assert_int_equal(records(&f, 0x11, 1, 112), 1);
	assert_string_equal((const char *)f.sa.data + AT_RECORD + 44, "right3");
	assert_int_equal(records(&f, 0x20, 0, 8), 2 * f.topology->link_count);
	assert_int_equal(records(&f, 0x20, 1, 8), 1);
	assert_int_equal(records(&f, 0x14, 0, 24), 2);
	assert_int_equal(records(&f, 0x18, 0, 32), 1);
	assert_int_equal(records(&f, 0x15, 0, 72), 2);
	assert_int_equal(records(&f, 0x30, 0, 72), 8);
	assert_int_equal(records(&f, 0x33, 0, 72), 8);
	clean_up(&f);
}

/* As those look for subnet managers who ask for ports with the bit for it. */
static void ports_are_found_by_what_they_can_do(void **state)
{
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	memset(f.mad, 0, sizeof(f.mad));
	f.mad[AT_RECORD + 27] = 2;
	memset(f.mad + 20, 0, 4);
	assert_int_equal(records(&f, 0x12, 1 << 7, 72), 0);
	ask_for(&f, 0x03, 0x12, 1u << 31);
	f.mad[2] = 2;
	f.mad[3] = ACM_SA_METHOD_GET_TABLE;
	assert_int_equal(sim_sa_serve(f.subnet, port_of(&f, "left1"), f.mad, 0, &f.sa), 0);
	assert_int_equal(f.sa.length, AT_RECORD + 72);
	assert_int_equal(load_be16(f.sa.data + AT_RECORD),
			 lid_of(&f, f.topology->nodes[f.topology->sm].name));
	clean_up(&f);
}

static void a_component_that_is_not_looked_at_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	bring_up(&f, small_topology_two_switches());
	memset(f.mad, 0, sizeof(f.mad));
	ask_for(&f, 0x03, 0x11, 0);
	f.mad[2] = 2;
	f.mad[3] = ACM_SA_METHOD_GET_TABLE;
	f.mad[48] = 0x80;
	memset(f.mad + 32, 0, 4);
	assert_int_equal(sim_sa_serve(f.subnet, port_of(&f, "left1"), f.mad, 0, &f.sa), 0);
	assert_int_equal(load_be16(f.sa.data + 4), ACM_SA_REQ_INVALID << 8);
	clean_up(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fabric_is_discovered_as_the_file_has_it),
		cmocka_unit_test(a_port_says_what_the_manager_gave_it),
		cmocka_unit_test(tables_are_those_in_use),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(nobody_answers_where_nobody_is),
		cmocka_unit_test(counters_are_what_the_ports_carried),
		cmocka_unit_test(counters_that_are_selected_are_set),
		cmocka_unit_test(records_are_those_of_the_agents),
		cmocka_unit_test(ports_are_found_by_what_they_can_do),
		cmocka_unit_test(a_component_that_is_not_looked_at_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
