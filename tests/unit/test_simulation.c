/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs of scenarios: what holds, what does not, and that a seed names a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "simulation.h"

#define HEAD                                                                                       \
	"scenario: a test\n"                                                                       \
	"topology: " SOURCE_DIR "/topologies/pair.yaml\n"                                          \
	"options: { all: { timeout: 100, retries: 1 } }\n"                                         \
	"steps:\n"

static struct sim_scenario *parse(const char *text)
{
	struct sim_scenario *scenario = NULL;
	struct sim_errors errors;

	if (sim_scenario_parse("t.yaml", text, strlen(text), &scenario, &errors))
		fail_msg("%s", errors.count ? errors.lines[0] : "no memory");
	return scenario;
}

static struct sim_run_result run(const struct sim_scenario *scenario, uint64_t seed, FILE *trace)
{
	struct sim_run_options options = {
		.seed = seed, .trace = trace, .hash = true, .cancel_fd = -1};
	struct sim_run_result result;
	char why[512];

	if (sim_simulation_run(scenario, &options, &result, why, sizeof(why)))
		fail_msg("%s", why);
	return result;
}

static struct sim_run_result run_text(const char *text)
{
	struct sim_scenario *scenario = parse(text);
	struct sim_run_result result = run(scenario, 1, NULL);

	sim_scenario_free(scenario);
	return result;
}

static void tells_what_came_instead(void **state)
{
	struct sim_run_result result = run_text(HEAD "  - resolve: { on: node1, to: node2 }\n"
						     "    expect: { status: success, mtu: 4096 }\n"
						     "  - resolve: { on: node1, address: nobody }\n"
						     "    expect: { status: success }\n"
						     "  - at: 10s\n"
						     "    resolve: { on: node1, to: node2 }\n"
						     "    expect: { cached: no }\n");

	(void)state;
	assert_int_equal(result.outcomes[0].verdict, SIM_HELD);
	assert_int_equal(result.outcomes[1].verdict, SIM_FAILED);
	assert_non_null(strstr(result.outcomes[1].came, "timed_out"));
	assert_int_equal(result.outcomes[2].verdict, SIM_FAILED);
	assert_non_null(strstr(result.outcomes[2].came, "0 SA queries and 0 multicasts"));
	assert_int_equal(result.held, 1);
	assert_int_equal(result.failed, 2);
	sim_run_result_free(&result);
}

static void a_count_that_is_wrong_fails(void **state)
{
	struct sim_run_result result =
		run_text(HEAD "  - resolve: { on: node1, to: node2 }\n"
			      "    expect: { sa_queries: 2 }\n"
			      "  - at: 1s\n"
			      "    check: { on: node1, counter: route_query, is: 2 }\n");

	(void)state;
	assert_int_equal(result.failed, 2);
	assert_string_equal(result.outcomes[1].came, "1");
	sim_run_result_free(&result);
}

static void a_node_that_stays_stopped_is_not_waited_for(void **state)
{
	struct sim_run_result result =
		run_text(HEAD "  - fault: { kind: stop, node: node2 }\n"
			      "  - at: 1ms\n"
			      "    resolve: { on: node2, to: node1 }\n"
			      "finally: { within: 1s, all_pairs: success }\n");

	(void)state;
	assert_int_equal(result.outcomes[1].verdict, SIM_FAILED);
	assert_non_null(strstr(result.outcomes[1].came, "node2 is stopped"));
	assert_non_null(strstr(result.outcomes[2].what, "all 0 pairs"));
	sim_run_result_free(&result);
}

static char *trace_of(const struct sim_scenario *scenario, uint64_t seed, uint64_t *hash)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct sim_run_result result = run(scenario, seed, out);

	*hash = result.trace_hash;
	sim_run_result_free(&result);
	fclose(out);
	return text;
}

static void a_seed_names_a_run_to_the_byte(void **state)
{
	struct sim_scenario *scenario =
		parse("scenario: a test\n"
		      "topology: " SOURCE_DIR "/topologies/two-tier.yaml\n"
		      "random: { faults: 8, within: 5s }\n"
		      "steps:\n  - resolve: { on: \"node[01-08]\", to: \"node[09-16]\" }\n");
	uint64_t hashes[3];
	char *first = trace_of(scenario, 5, &hashes[0]);
	char *second = trace_of(scenario, 5, &hashes[1]);
	char *other = trace_of(scenario, 6, &hashes[2]);

	(void)state;
	assert_true(strlen(first) > 10000);
	assert_string_equal(first, second);
	assert_true(hashes[0] == hashes[1]);
	assert_true(strcmp(first, other) != 0);
	assert_true(hashes[0] != hashes[2]);
	free(first);
	free(second);
	free(other);
	sim_scenario_free(scenario);
}

/* ---- the checkers find what is planted ---- */

struct breaches {
	uint32_t count;
	char rule[128];
};

static void note(void *context, const char *rule, const char *text)
{
	struct breaches *breaches = context;

	(void)text;
	breaches->count++;
	snprintf(breaches->rule, sizeof(breaches->rule), "%s", rule);
}

static struct acm_gid gid_of(uint64_t guid)
{
	struct acm_gid gid = {.raw = {0xfe, 0x80}};

	for (int i = 0; i < 8; i++)
		gid.raw[15 - i] = (uint8_t)(guid >> 8 * i);
	return gid;
}

static void a_path_to_whom_does_not_hold_the_address_is_a_breach(void **state)
{
	struct sim_scenario *scenario = parse(HEAD "  - resolve: { on: node1, to: node2 }\n");
	const struct sim_topology *topology = scenario->topology;
	uint32_t node1 = sim_topology_find(topology, "node1");
	uint32_t node2 = sim_topology_find(topology, "node2");
	const struct acm_address *name = &topology->nodes[node1].addresses[0];
	struct sim_invariants invariants = {.broken = note, .lids_changed = true};
	struct breaches breaches = {0};
	struct acm_path path = {.dgid = gid_of(topology->nodes[node1].ports[1].guid)};

	(void)state;
	invariants.context = &breaches;
	assert_int_equal(sim_invariants_init(&invariants, topology), 0);
	sim_invariants_success(&invariants, &path, name, ACM_NEVER, 0);
	assert_int_equal(breaches.count, 0);
	path.dgid = gid_of(topology->nodes[node2].ports[1].guid);
	sim_invariants_success(&invariants, &path, name, ACM_NEVER, 0);
	assert_int_equal(breaches.count, 1);
	/* It comes to that node, leaves it, and is forgotten after its life only. */
	assert_true(sim_invariants_address_came(&invariants, node2, name, 10));
	sim_invariants_success(&invariants, &path, name, 100, 20);
	assert_true(sim_invariants_address_left(&invariants, node2, name, 30));
	sim_invariants_success(&invariants, &path, name, 100, 130);
	assert_int_equal(breaches.count, 1);
	sim_invariants_success(&invariants, &path, name, 100, 131);
	assert_int_equal(breaches.count, 2);
	path.dgid = gid_of(42);
	sim_invariants_success(&invariants, &path, name, 100, 131);
	assert_int_equal(breaches.count, 3);
	sim_invariants_free(&invariants);
	sim_scenario_free(scenario);
}

static void two_inquiries_at_a_time_are_a_breach(void **state)
{
	struct sim_scenario *scenario = parse(HEAD "  - resolve: { on: node1, to: node2 }\n");
	struct sim_invariants invariants = {.broken = note};
	struct breaches breaches = {0};
	uint32_t node = sim_topology_find(scenario->topology, "node1");
	struct acm_trace trace = {.type = ACM_TRACE_SA_QUERY,
				  .value = 1,
				  .destination = scenario->topology->nodes[node].addresses[0]};

	(void)state;
	invariants.context = &breaches;
	assert_int_equal(sim_invariants_init(&invariants, scenario->topology), 0);
	sim_invariants_trace(&invariants, node, &trace);
	trace.value = 2; /* a retry */
	sim_invariants_trace(&invariants, node, &trace);
	trace.type = ACM_TRACE_ROUTE;
	sim_invariants_trace(&invariants, node, &trace);
	trace.type = ACM_TRACE_SA_QUERY;
	trace.value = 1;
	sim_invariants_trace(&invariants, node, &trace);
	sim_invariants_trace(&invariants, node + 1, &trace);
	assert_int_equal(breaches.count, 0);
	sim_invariants_trace(&invariants, node, &trace);
	assert_int_equal(breaches.count, 1);
	assert_string_equal(breaches.rule, "one inquiry in flight for a destination");
	sim_invariants_free(&invariants);
	sim_scenario_free(scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_came_instead),
		cmocka_unit_test(a_count_that_is_wrong_fails),
		cmocka_unit_test(a_node_that_stays_stopped_is_not_waited_for),
		cmocka_unit_test(a_seed_names_a_run_to_the_byte),
		cmocka_unit_test(a_path_to_whom_does_not_hold_the_address_is_a_breach),
		cmocka_unit_test(two_inquiries_at_a_time_are_a_breach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
