/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

const struct acm_gid world_group = {.raw = {0xff, 0x15, 0x40, 0x01, 0xff, 0xff}};
const struct acm_gid world_other_group = {.raw = {0xff, 0x15, 0x40, 0x01, 0x12, 0x34}};

void world_set_up(struct world *world, struct sim_topology *topology)
{
	*world = (struct world){.topology = topology};
	world->control = fake_control_create(topology);
	assert_int_equal(sim_fabric_create(topology, &world->control->base, 1, &world->fabric), 0);
}

void world_tear_down(struct world *world)
{
	for (int i = 0; i < WORLD_NODES; i++)
		if (world->nodes[i].transport)
			world->nodes[i].transport->ops->destroy(world->nodes[i].transport);
	sim_fabric_destroy(world->fabric);
	sim_topology_free(world->topology);
}

struct sim_fabric_stats world_stats(const struct world *world)
{
	struct sim_fabric_stats stats;
	uint64_t total;

	sim_fabric_stats(world->fabric, &stats);
	total = stats.delivered + stats.in_flight;
	for (int i = 0; i < SIM_DROP_COUNT; i++)
		total += stats.dropped[i];
	assert_int_equal(stats.copies, total);
	return stats;
}

void world_assert_drops(const struct world *world, enum sim_drop cause, uint64_t count)
{
	struct sim_fabric_stats stats = world_stats(world);

	for (int i = 0; i < SIM_DROP_COUNT; i++)
		if (stats.dropped[i] != (i == (int)cause ? count : 0))
			fail_msg("%llu packets lost: %s", (unsigned long long)stats.dropped[i],
				 sim_drop_name((enum sim_drop)i));
}

void world_run(struct world *world)
{
	uint64_t next;

	while ((next = sim_fabric_deadline(world->fabric)) != ACM_NEVER) {
		assert_int_equal(sim_fabric_process(world->fabric, next), 0);
		world_stats(world);
	}
}

bool world_pull(struct node *node)
{
	return node->transport->ops->next_event(node->transport, &node->event) == 1;
}

void world_expect(struct node *node, enum acm_event_type type)
{
	assert_true(world_pull(node));
	assert_int_equal(node->event.type, type);
}

void world_attach(struct world *world, int i, const char *name)
{
	struct node *node = &world->nodes[i];

	node->index = sim_topology_find(world->topology, name);
	assert_int_equal(sim_fabric_attach(world->fabric, name, &node->transport), 0);
	assert_int_equal(node->transport->ops->start(node->transport), 0);
	world_expect(node, ACM_EVENT_PORT_CHANGED);
}

void world_open(struct node *node, uint16_t pkey, uint32_t qkey, uint32_t depth)
{
	assert_int_equal(
		node->transport->ops->open_endpoint(node->transport, 7, 0, pkey, qkey, depth), 0);
	world_expect(node, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(node->event.opened.endpoint, 7);
	node->qpn = node->event.opened.qpn;
}

void world_set_up_star(struct world *world, int count)
{
	char name[] = "node1";

	world_set_up(world, small_topology_star((uint32_t)count));
	for (int i = 0; i < count; i++) {
		name[4] = (char)('1' + i);
		world_attach(world, i, name);
		world_open(&world->nodes[i], ACM_PKEY_DEFAULT, ACM_QKEY, WORLD_DEPTH);
	}
}

uint16_t world_join(struct world *world, int i, const struct acm_gid *mgid)
{
	struct node *node = &world->nodes[i];
	uint16_t mlid = fake_control_join(world->control, node->index, 1, mgid);

	assert_int_equal(node->transport->ops->attach(node->transport, 7, mgid, mlid, 42), 0);
	world_expect(node, ACM_EVENT_ATTACHED);
	assert_int_equal(node->event.attached.status, 0);
	assert_int_equal(node->event.attached.cookie, 42);
	return mlid;
}

const struct acm_port_facts *world_facts(struct world *world, int i)
{
	return fake_control_port(world->control, world->nodes[i].index, 1);
}

struct acm_datagram world_unicast_to(struct world *world, int i)
{
	return (struct acm_datagram){
		.endpoint = 7,
		.dlid = world_facts(world, i)->lid,
		.qpn = world->nodes[i].qpn,
		.qkey = ACM_QKEY,
		.dgid = world_facts(world, i)->gids[0],
		.payload = (const uint8_t *)"hello",
		.length = 5,
	};
}

struct acm_datagram world_multicast_to(uint16_t mlid)
{
	return (struct acm_datagram){.endpoint = 7,
				     .dlid = mlid,
				     .qpn = 0xffffff,
				     .qkey = ACM_QKEY,
				     .dgid = world_group,
				     .payload = (const uint8_t *)"hello",
				     .length = 5};
}

int world_try_send(struct world *world, int from, const struct acm_datagram *datagram)
{
	struct acm_transport *transport = world->nodes[from].transport;

	return transport->ops->send(transport, datagram, 1);
}

void world_send(struct world *world, int from, struct acm_datagram datagram)
{
	assert_int_equal(world_try_send(world, from, &datagram), 0);
}

uint32_t world_take_datagrams(struct world *world, int i)
{
	uint32_t count = 0;

	while (world_pull(&world->nodes[i])) {
		assert_int_equal(world->nodes[i].event.type, ACM_EVENT_DATAGRAM);
		assert_int_equal(world->nodes[i].event.datagram.length, 5);
		assert_memory_equal(world->nodes[i].event.datagram.payload, "hello", 5);
		count++;
	}
	return count;
}
