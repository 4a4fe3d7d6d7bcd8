/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random scenarios: a seed decides all of one, and all that can be drawn is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fault_draw.h"
#include "scenario_random.h"
#include "simulation.h"

#define SEEDS 400

static struct sim_scenario *draw(uint64_t seed)
{
	struct sim_scenario *scenario = NULL;

	assert_int_equal(sim_scenario_random(seed, &scenario), 0);
	return scenario;
}

static uint64_t hash_of(uint64_t seed)
{
	struct sim_scenario *scenario = draw(seed);
	struct sim_run_options options = {.seed = seed, .hash = true, .cancel_fd = -1};
	struct sim_run_result result;
	char why[512];
	uint64_t hash;

	if (sim_simulation_run(scenario, &options, &result, why, sizeof(why)))
		fail_msg("%s", why);
	hash = result.trace_hash;
	sim_run_result_free(&result);
	sim_scenario_free(scenario);
	return hash;
}

static void a_seed_decides_all(void **state)
{
	struct sim_scenario *one = draw(4711), *same = draw(4711), *other = draw(4712);

	(void)state;
	assert_string_equal(one->name, same->name);
	assert_string_not_equal(one->name, other->name);
	assert_int_equal(one->step_count, same->step_count);
	sim_scenario_free(one);
	sim_scenario_free(same);
	sim_scenario_free(other);
	assert_int_equal(hash_of(4711), hash_of(4711));
	assert_int_not_equal(hash_of(4711), hash_of(4712));
}

static void options_are_such_as_an_engine_takes(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_scenario *scenario = draw(seed);
		const char *field = "";

		for (uint32_t i = 0; i < scenario->topology->node_count; i++) {
			if (acm_engine_config_check(sim_scenario_config(scenario, i), &field))
				fail_msg("seed %u: %s", (unsigned int)seed, field);
		}
		sim_scenario_free(scenario);
	}
}

/* So that all can find each other in the end. */
static void steps_come_in_order_and_faults_end(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_scenario *scenario = draw(seed);
		uint64_t at = 0;

		for (uint32_t i = 0; i < scenario->step_count; i++) {
			const struct sim_step *step = &scenario->steps[i];

			assert_true(step->at >= at);
			at = step->at;
			if (step->kind == SIM_STEP_FAULT && step->fault.duration != ACM_NEVER)
				assert_true(at + step->fault.duration <= 10 * ACM_NSEC_PER_SEC);
			assert_true(step->kind != SIM_STEP_CHECK);
		}
		assert_true(scenario->has_finally);
		sim_scenario_free(scenario);
	}
}

static void all_kinds_of_faults_are_drawn(void **state)
{
	uint64_t seen = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_scenario *scenario = draw(seed);

		for (uint32_t i = 0; i < scenario->step_count; i++) {
			if (scenario->steps[i].kind == SIM_STEP_FAULT)
				seen |= SIM_FAULT_BIT(scenario->steps[i].fault.kind);
		}
		sim_scenario_free(scenario);
	}
	assert_int_equal(seen, sim_faults_drawn | SIM_FAULT_BIT(SIM_FAULT_PKEY));
}

static bool begins_with(const struct sim_topology *topology, const char *kind)
{
	return !strncmp(topology->name, kind, strlen(kind));
}

static void all_kinds_of_fabrics_are_drawn(void **state)
{
	static const char *const kinds[] = {"random", "star", "fat-tree", "torus", "dragonfly"};
	bool large = false, dual = false, limited = false, several_lids = false, updn = false;
	uint32_t seen = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_scenario *scenario = draw(seed);
		const struct sim_topology *topology = scenario->topology;

		for (uint32_t i = 0; i < 5; i++)
			seen |= (uint32_t)begins_with(topology, kinds[i]) << i;
		large = large || topology->host_count >= 48;
		updn = updn || topology->routing == SIM_ROUTING_UPDN;
		several_lids = several_lids || scenario->lmc;
		for (uint32_t i = topology->switch_count; i < topology->node_count; i++) {
			dual = dual || topology->nodes[i].port_count > 1;
			assert_int_equal(topology->nodes[i].address_count, 3);
		}
		for (uint32_t i = 0; i < topology->partition_count; i++)
			limited = limited || topology->partitions[i].pkey == 0x7fff;
		assert_true(topology->host_count >= 2);
		sim_scenario_free(scenario);
	}
	assert_int_equal(seen, 31);
	assert_true(large && dual && limited && several_lids && updn);
}

static void paths_of_any_partition_and_port_are_asked_for(void **state)
{
	bool pkey = false, from_port = false, to_port = false;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim_scenario *scenario = draw(seed);

		for (uint32_t i = 0; i < scenario->step_count; i++) {
			const struct sim_resolve *resolve = &scenario->steps[i].resolve;

			pkey = pkey || resolve->pkey;
			from_port = from_port || resolve->from_port > 1;
			to_port = to_port || resolve->to_port > 1;
			if (resolve->by < SIM_BY_GID)
				assert_false(resolve->pkey || resolve->from_port);
		}
		sim_scenario_free(scenario);
	}
	assert_true(pkey && from_port && to_port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_decides_all),
		cmocka_unit_test(options_are_such_as_an_engine_takes),
		cmocka_unit_test(steps_come_in_order_and_faults_end),
		cmocka_unit_test(all_kinds_of_faults_are_drawn),
		cmocka_unit_test(all_kinds_of_fabrics_are_drawn),
		cmocka_unit_test(paths_of_any_partition_and_port_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
