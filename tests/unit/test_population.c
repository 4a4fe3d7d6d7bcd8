/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_control.h"
#include "population.h"
#include "small_topology.h"

#include <acmite/wire.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More rounds than any of these takes: a population that does not come to rest fails. */
#define ROUNDS_MAX 100000

struct world {
	struct sim_topology *topology;
	struct fake_control *control;
	struct sim_fabric *fabric;
	struct sim_population *population;
	struct acm_engine_config config;
	uint64_t now;
	struct acm_reply reply;
	unsigned int replies;
};

static void take_reply(void *context, const struct acm_reply *reply)
{
	struct world *world = context;

	world->reply = *reply;
	world->replies++;
}

static void open_world(struct world *world, const char *hosts, const char *links)
{
	char text[1024];

	memset(world, 0, sizeof(*world));
	snprintf(text, sizeof(text),
		 "fabric: small\n"
		 "switches:\n"
		 "  - { name: switch1, ports: 36 }\n"
		 "hosts:\n"
		 "%s"
		 "links:\n"
		 "%s",
		 hosts, links);
	world->topology = small_topology_parse(text);
	world->control = fake_control_create(world->topology);
	assert_int_equal(
		sim_fabric_create(world->topology, &world->control->base, 1, &world->fabric), 0);
	assert_int_equal(sim_population_create(world->topology, world->fabric, &world->population),
			 0);
	acm_engine_config_default(&world->config);
	world->now = ACM_NSEC_PER_SEC;
}

static void open_four(struct world *world)
{
	open_world(world,
		   "  - { name: \"node[1-4]\", addresses: [ \"{name}\", \"10.0.0.{n}\" ] }\n",
		   "  - \"node[1-4] -- switch1\"\n");
}

static void close_world(struct world *world)
{
	sim_population_destroy(world->population);
	sim_fabric_destroy(world->fabric);
	sim_topology_free(world->topology);
}

/* When something is to be done next. */
static uint64_t next_time(const struct world *world)
{
	uint64_t fabric = sim_fabric_deadline(world->fabric);
	uint64_t population = sim_population_deadline(world->population);

	return fabric < population ? fabric : population;
}

/* Lets all happen that does until `end`; waiting takes no time. */
static void run_until(struct world *world, uint64_t end)
{
	for (int round = 0; round < ROUNDS_MAX; round++) {
		uint64_t next;

		assert_int_equal(sim_fabric_process(world->fabric, world->now), 0);
		assert_int_equal(sim_population_run(world->population, world->now), 0);
		next = next_time(world);
		if (next > end) {
			world->now = end;
			return;
		}
		if (next > world->now)
			world->now = next;
	}
	fail_msg("no rest after %d rounds", ROUNDS_MAX);
}

static void run_for(struct world *world, uint64_t duration)
{
	run_until(world, world->now + duration);
}

static struct sim_resident *add_first(struct world *world)
{
	struct acm_driver_hooks hooks = {.reply = take_reply, .context = world};
	struct sim_resident *resident;

	assert_int_equal(sim_population_add(world->population, "node1", &world->config, &hooks,
					    world->now, &resident),
			 0);
	assert_int_equal(sim_resident_add_addresses(resident, world->now), 0);
	return resident;
}

static void add_others(struct world *world)
{
	uint32_t node;

	assert_int_equal(
		sim_population_add_others(world->population, &world->config, world->now, &node), 0);
}

static void ask(struct world *world, struct sim_resident *resident, const char *name)
{
	struct acm_request request = {
		.id = 1, .opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_RESOLVE};
	struct acm_event event = {
		.type = ACM_EVENT_REQUEST, .time = world->now, .request = &request};

	assert_int_equal(acm_address_canonical(&request.destination, ACM_ADDRESS_NAME,
					       (const uint8_t *)name, strlen(name)),
			 0);
	assert_int_equal(sim_resident_step(resident, &event), 0);
}

static uint16_t lid_of(struct world *world, const char *name)
{
	return fake_control_port(world->control, sim_topology_find(world->topology, name), 1)->lid;
}

static void test_becomes_ready_and_answers(void **state)
{
	struct sim_resident *resident;
	struct world world;

	(void)state;
	open_four(&world);
	resident = add_first(&world);
	add_others(&world);
	assert_int_equal(sim_population_unready(world.population, NULL), 4);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	for (unsigned int i = 2; i <= 4; i++) {
		char name[16];

		snprintf(name, sizeof(name), "node%u", i);
		ask(&world, resident, name);
		run_for(&world, ACM_NSEC_PER_SEC);
		assert_int_equal(world.replies, i - 1);
		assert_int_equal(world.reply.status, ACM_STATUS_OK);
		assert_int_equal(world.reply.path.dlid, lid_of(&world, name));
	}
	close_world(&world);
}

static void test_nobody_else_there(void **state)
{
	struct sim_resident *resident;
	struct world world;

	(void)state;
	open_four(&world);
	world.config.timeout = 10 * ACM_NSEC_PER_MSEC;
	resident = add_first(&world);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	ask(&world, resident, "node2");
	assert_int_equal(world.replies, 0);
	run_for(&world, 60 * ACM_NSEC_PER_SEC);
	assert_int_equal(world.replies, 1);
	assert_int_not_equal(world.reply.status, ACM_STATUS_OK);
	close_world(&world);
}

static void test_ready_when_the_sa_is(void **state)
{
	const struct sim_resident *first = NULL;
	struct world world;

	(void)state;
	open_four(&world);
	world.config.timeout = 10 * ACM_NSEC_PER_MSEC;
	world.control->sa_failure = -ETIMEDOUT;
	add_first(&world);
	add_others(&world);
	run_for(&world, 5 * ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, &first), 4);
	assert_non_null(first);
	assert_int_equal(sim_resident_node(first), sim_topology_find(world.topology, "node1"));
	world.control->sa_failure = 0;
	run_for(&world, 120 * ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	close_world(&world);
}

/* What holds no longer is noticed, whoever it is. */
static void test_unready_again(void **state)
{
	struct acm_port_facts *facts;
	struct world world;
	uint32_t node;

	(void)state;
	open_four(&world);
	add_first(&world);
	add_others(&world);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	node = sim_topology_find(world.topology, "node3");
	facts = fake_control_port(world.control, node, 1);
	facts->state = ACM_PORT_DOWN;
	fake_control_tell(world.control, SIM_CONTROL_PORT, node, 1);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 1);
	facts->state = ACM_PORT_ACTIVE;
	fake_control_tell(world.control, SIM_CONTROL_PORT, node, 1);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	close_world(&world);
}

/* With its first address a node has a group to join: from that moment, not from its next run. */
static void test_unready_with_its_first_address(void **state)
{
	struct sim_resident *resident;
	struct world world;

	(void)state;
	open_four(&world);
	assert_int_equal(sim_population_add(world.population, "node1", &world.config, NULL,
					    world.now, &resident),
			 0);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	assert_int_equal(sim_resident_add_addresses(resident, world.now), 0);
	assert_int_equal(sim_population_unready(world.population, NULL), 1);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	close_world(&world);
}

static void test_unconnected_host_is_not_waited_for(void **state)
{
	struct world world;

	(void)state;
	open_world(&world, "  - { name: \"node[1-3]\" }\n", "  - \"node[1-2] -- switch1\"\n");
	add_first(&world);
	add_others(&world);
	assert_int_equal(sim_population_unready(world.population, NULL), 2);
	run_for(&world, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_population_unready(world.population, NULL), 0);
	close_world(&world);
}

static void test_wrong_nodes(void **state)
{
	struct world world;

	(void)state;
	open_four(&world);
	add_first(&world);
	assert_int_equal(
		sim_population_add(world.population, "node1", &world.config, NULL, world.now, NULL),
		-EBUSY);
	assert_int_equal(
		sim_population_add(world.population, "node9", &world.config, NULL, world.now, NULL),
		-ENOENT);
	assert_int_equal(sim_population_add(world.population, "switch1", &world.config, NULL,
					    world.now, NULL),
			 -ENODEV);
	world.config.sa_depth = 0;
	assert_int_equal(
		sim_population_add(world.population, "node2", &world.config, NULL, world.now, NULL),
		-EINVAL);
	/* And it can still be added rightly. */
	world.config.sa_depth = 1;
	assert_int_equal(
		sim_population_add(world.population, "node2", &world.config, NULL, world.now, NULL),
		0);
	close_world(&world);
}

static void test_never_run(void **state)
{
	struct world world;

	(void)state;
	open_four(&world);
	assert_int_equal(sim_population_deadline(world.population), ACM_NEVER);
	assert_int_equal(sim_population_run(world.population, world.now), 0);
	add_first(&world);
	add_others(&world);
	assert_int_equal(sim_population_deadline(world.population), 0);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_becomes_ready_and_answers),
		cmocka_unit_test(test_nobody_else_there),
		cmocka_unit_test(test_ready_when_the_sa_is),
		cmocka_unit_test(test_unready_again),
		cmocka_unit_test(test_unready_with_its_first_address),
		cmocka_unit_test(test_unconnected_host_is_not_waited_for),
		cmocka_unit_test(test_wrong_nodes),
		cmocka_unit_test(test_never_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
