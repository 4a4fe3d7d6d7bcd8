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

static struct sim_run_result run_guarded(const struct sim_scenario *scenario,
					 const struct sim_guards *guards, uint64_t seed,
					 FILE *trace)
{
	struct sim_run_options options = {
		.seed = seed, .trace = trace, .hash = true, .cancel_fd = -1, .guards = *guards};
	struct sim_run_result result;
	char why[512];

	if (sim_simulation_run(scenario, &options, &result, why, sizeof(why)))
		fail_msg("%s", why);
	return result;
}

static struct sim_run_result run(const struct sim_scenario *scenario, uint64_t seed, FILE *trace)
{
	return run_guarded(scenario, &(struct sim_guards){0}, seed, trace);
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

/* ---- what no run may go beyond ---- */

static void fails_by(const char *rule, const struct sim_guards *guards)
{
	struct sim_scenario *scenario = parse(HEAD "  - at: 1ms\n"
						   "    resolve: { on: all, to: all }\n"
						   "  - at: 2s\n"
						   "    resolve: { on: node2, to: node1 }\n");
	struct sim_run_result result = run_guarded(scenario, guards, 1, NULL);
	const struct sim_outcome *last = &result.outcomes[result.outcome_count - 1];

	if (result.outcome_count != 3 || !strstr(last->what, rule))
		fail_msg("%s: instead of '%s'", last->what, rule);
	sim_run_result_free(&result);
	sim_scenario_free(scenario);
}

static void each_guard_is_a_failure_of_its_own(void **state)
{
	(void)state;
	fails_by("the fabric becomes ready", &(struct sim_guards){.ready = 1});
	fails_by("time goes on", &(struct sim_guards){.turns = 1});
	fails_by("a run has so many events at most", &(struct sim_guards){.events = 5});
	fails_by("a run lasts so long at most",
		 &(struct sim_guards){.fabric_time = ACM_NSEC_PER_SEC});
	fails_by("so many packets are under way at most", &(struct sim_guards){.queue = 1});
}

static void guards_that_are_just_wide_enough_are_silent(void **state)
{
	struct sim_guards guards = {.ready = ACM_NSEC_PER_SEC,
				    .turns = 100,
				    .events = 1000,
				    .fabric_time = 10 * ACM_NSEC_PER_SEC,
				    .queue = 1};
	struct sim_scenario *scenario = parse(HEAD "  - resolve: { on: node1, to: node2 }\n");
	struct sim_run_result result = run_guarded(scenario, &guards, 1, NULL);

	(void)state;
	assert_int_equal(result.outcome_count, 1);
	assert_int_equal(result.failed, 0);
	sim_run_result_free(&result);
	sim_scenario_free(scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_came_instead),
		cmocka_unit_test(a_count_that_is_wrong_fails),
		cmocka_unit_test(a_node_that_stays_stopped_is_not_waited_for),
		cmocka_unit_test(a_seed_names_a_run_to_the_byte),
		cmocka_unit_test(each_guard_is_a_failure_of_its_own),
		cmocka_unit_test(guards_that_are_just_wide_enough_are_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
