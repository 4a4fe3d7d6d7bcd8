/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults of a fabric without a simulation around it, as a server brings them about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "builtin_control.h"
#include "fabric_faults.h"

#define MS ACM_NSEC_PER_MSEC

static struct {
	struct sim_topology *topology;
	struct sim_control *control;
	struct sim_fabric *fabric;
	struct sim_fabric_faults faults;
	struct sim_fault_plan plan;
	uint64_t now;
	char why[256];
} world;

static int set_up(void **state)
{
	struct sim_builtin_options options;
	struct sim_errors errors;

	(void)state;
	memset(&world, 0, sizeof(world));
	assert_int_equal(
		sim_topology_load(SOURCE_DIR "/topologies/two-tier.yaml", &world.topology, &errors),
		0);
	sim_builtin_options_default(&options);
	assert_int_equal(sim_builtin_control_create(world.topology, &options, &world.control,
						    world.why, sizeof(world.why)),
			 0);
	assert_int_equal(sim_fabric_faults_init(&world.faults, world.topology, 1), 0);
	assert_int_equal(sim_fabric_create(world.topology, world.control, 1, &world.fabric), 0);
	sim_fabric_faults_use(&world.faults, world.control, SIM_UNDER_BUILTIN, world.fabric);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sim_fabric_destroy(world.fabric);
	sim_fabric_faults_free(&world.faults);
	sim_fault_plan_free(&world.plan);
	sim_topology_free(world.topology);
	return 0;
}

static int apply(const char *text)
{
	struct sim_errors errors;

	sim_fault_plan_free(&world.plan);
	if (sim_fault_plan_parse(world.topology, text, strlen(text), &world.plan, &errors))
		fail_msg("%s", errors.lines[0]);
	return sim_fabric_faults_apply(&world.faults, &world.plan, world.now, world.why,
				       sizeof(world.why));
}

static int undo(void)
{
	return sim_fabric_faults_undo(&world.faults, &world.plan, world.why, sizeof(world.why));
}

static void pass_time(uint64_t until)
{
	while (world.now < until) {
		uint64_t next = sim_fabric_faults_deadline(&world.faults);

		world.now = next < until ? next : until;
		assert_int_equal(sim_fabric_faults_process(&world.faults, world.now), 0);
		assert_int_equal(sim_fabric_process(world.fabric, world.now), 0);
	}
}

static uint8_t port_state(const char *node)
{
	struct sim_port_ref port = {.node = sim_topology_find(world.topology, node), .port = 1};
	struct acm_port_facts facts;

	assert_int_equal(world.control->ops->port_facts(world.control, port, &facts), 0);
	return facts.state;
}

static void a_link_goes_down_until_it_is_undone(void **state)
{
	(void)state;
	assert_int_equal(apply("{ kind: link_down, link: node02 }"), 0);
	assert_int_equal(port_state("node02"), ACM_PORT_DOWN);
	assert_true(world.faults.link_down[world.plan.links.nodes[0]]);
	assert_int_equal(undo(), 0);
	assert_false(world.faults.link_down[world.plan.links.nodes[0]]);
	pass_time(2000 * MS);
	assert_int_equal(port_state("node02"), ACM_PORT_ACTIVE);
}

static void a_link_flaps_at_its_times(void **state)
{
	(void)state;
	assert_true(sim_fabric_faults_deadline(&world.faults) == ACM_NEVER);
	assert_int_equal(apply("{ kind: link_flapping, link: node02, period: 10ms, down: 0.3 }"),
			 0);
	for (uint64_t period = 0; period < 3; period++) {
		pass_time(period * 10 * MS + 2 * MS);
		assert_true(world.faults.link_down[world.plan.links.nodes[0]]);
		pass_time(period * 10 * MS + 3 * MS);
		assert_false(world.faults.link_down[world.plan.links.nodes[0]]);
		pass_time(period * 10 * MS + 9 * MS);
		assert_false(world.faults.link_down[world.plan.links.nodes[0]]);
		pass_time(period * 10 * MS + 10 * MS);
	}
	assert_int_equal(undo(), 0);
	assert_false(world.faults.link_down[world.plan.links.nodes[0]]);
	assert_true(sim_fabric_faults_deadline(&world.faults) == ACM_NEVER);
}

static void what_cannot_be_is_told_by_a_sentence(void **state)
{
	(void)state;
	assert_int_equal(apply("{ kind: stop, node: node01 }"), -EINVAL);
	assert_non_null(strstr(world.why, "what runs on nodes"));
	assert_int_equal(apply("{ kind: mlid_shared }"), -ENOENT);
	assert_non_null(strstr(world.why, "no two ACM groups"));
	world.faults.control_kind = SIM_UNDER_IBSIM;
	assert_int_equal(apply("{ kind: tree_delay, delay: 1s }"), -ENOTSUP);
	assert_non_null(strstr(world.why, "under ibsim"));
	/* Who wants no sentence needs no room for one. */
	assert_int_equal(sim_fabric_faults_apply(&world.faults, &world.plan, 0, NULL, 0), -ENOTSUP);
}

static void an_sa_that_is_silent_is_so_for_its_nodes(void **state)
{
	uint8_t mad[ACM_MAD_LENGTH] = {0};
	struct sim_sa_query query = {.port = {.port = 1}, .mad = mad};
	struct sim_sa_verdict verdict = {0};

	(void)state;
	assert_int_equal(apply("{ kind: sa_silent, node: node02 }"), 0);
	query.port.node = world.plan.nodes.nodes[0] + 1;
	sim_fabric_faults_judge(&world.faults, &query, &verdict);
	assert_int_equal(verdict.fate, SIM_SA_ANSWERED);
	query.port.node--;
	sim_fabric_faults_judge(&world.faults, &query, &verdict);
	assert_int_equal(verdict.fate, SIM_SA_LOST);
	assert_int_equal(undo(), 0);
	verdict = (struct sim_sa_verdict){0};
	sim_fabric_faults_judge(&world.faults, &query, &verdict);
	assert_int_equal(verdict.fate, SIM_SA_ANSWERED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_link_goes_down_until_it_is_undone),
		TEST(a_link_flaps_at_its_times),
		TEST(what_cannot_be_is_told_by_a_sentence),
		TEST(an_sa_that_is_silent_is_so_for_its_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
