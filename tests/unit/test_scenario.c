/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scenario files: what they say, and every fault with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"

#define HEAD                                                                                       \
	"scenario: a test\n"                                                                       \
	"topology: " SOURCE_DIR "/topologies/two-tier.yaml\n"

static struct sim_scenario *parse(const char *text)
{
	struct sim_scenario *scenario = NULL;
	struct sim_errors errors;

	if (sim_scenario_parse("t.yaml", text, strlen(text), &scenario, &errors))
		fail_msg("%s", errors.count ? errors.lines[0] : "no memory");
	return scenario;
}

/* There is exactly this one fault, at this place, and nothing is loaded. */
static void refuse(const char *text, const char *place, const char *what)
{
	struct sim_scenario *scenario = NULL;
	struct sim_errors errors;

	assert_int_equal(sim_scenario_parse("t.yaml", text, strlen(text), &scenario, &errors),
			 -EINVAL);
	assert_null(scenario);
	if (strncmp(errors.lines[0], place, strlen(place)) || !strstr(errors.lines[0], what))
		fail_msg("not '%s ... %s' but: %s", place, what, errors.lines[0]);
	assert_int_equal(errors.count, 1);
	sim_errors_free(&errors);
}

static void says_what_is_to_happen(void **state)
{
	struct sim_scenario *scenario = parse(
		HEAD "seed: 7\n"
		     "options: { all: { timeout: 200, retries: 3 }, \"node[01-02]\": { retries: 5, "
		     "compat: ibacm } }\n"
		     "steps:\n"
		     "  - at: 1.5ms\n"
		     "    resolve: { on: node01, to: \"node[02-04]\", by: ip6 }\n"
		     "    expect: { status: [success, timed_out], within: 2s, sa_queries: 1..3 }\n"
		     "  - at: 2ms\n"
		     "    fault: { kind: loss, node: node02, packet: answer, packets: [0, 2] }\n"
		     "  - check: { drop: loss, is: \">=1\" }\n"
		     "  - resolve: { on: node01, to: node02, by: gid, pkey: 0x0010, to_port: 1 }\n"
		     "finally: { within: 3s, all_pairs: success }\n");
	const struct sim_step *steps = scenario->steps;
	uint32_t node01 = sim_topology_find(scenario->topology, "node01");

	(void)state;
	assert_int_equal(scenario->seed, 7);
	assert_int_equal(scenario->config.retries, 3);
	assert_int_equal(sim_scenario_config(scenario, node01)->retries, 5);
	assert_int_equal(sim_scenario_config(scenario, node01)->compat, ACM_COMPAT_IBACM);
	assert_int_equal(scenario->config.compat, ACM_COMPAT_NONE);
	assert_int_equal(sim_scenario_config(scenario, node01)->timeout, 200 * ACM_NSEC_PER_MSEC);
	assert_int_equal(sim_scenario_config(scenario, node01 + 2)->retries, 3);
	assert_int_equal(scenario->step_count, 4);
	assert_int_equal(steps[0].at, 1500000);
	assert_int_equal(steps[0].resolve.by, SIM_BY_IP6);
	assert_int_equal(steps[0].resolve.to.count, 3);
	assert_int_equal(steps[0].expect.statuses, 1u << 0 | 1u << 6);
	assert_int_equal(steps[0].expect.sa_queries.least, 1);
	assert_int_equal(steps[0].expect.sa_queries.most, 3);
	assert_int_equal(steps[1].fault.kind, SIM_FAULT_LOSS);
	assert_int_equal(steps[1].fault.packets, 5);
	assert_int_equal(steps[1].fault.classes, SIM_CLASS_ANSWER);
	assert_int_equal(steps[2].at, steps[1].at);
	assert_true(steps[2].check.of_drop);
	assert_int_equal(steps[3].resolve.pkey, 0x10);
	assert_int_equal(steps[3].resolve.to_port, 1);
	assert_int_equal(steps[0].resolve.pkey, 0);
	assert_true(scenario->has_finally);
	assert_int_equal(scenario->finally_within, 3 * ACM_NSEC_PER_SEC);
	sim_scenario_free(scenario);
}

#define STEP HEAD "steps:\n  - "

static void unknown_keys_have_places(void **state)
{
	(void)state;
	refuse(HEAD "stepps: []\nfinally: {}\n", "t.yaml:3:1:", "unknown key 'stepps'");
	refuse(STEP "resolve: { on: node01, too: node02, to: node02 }\n",
	       "t.yaml:4:28:", "unknown key 'too'");
	refuse(HEAD "options: { all: { retrys: 1 } }\nfinally: {}\n",
	       "t.yaml:3:19:", "unknown key 'retrys'");
	refuse(STEP "fault: { kind: earthquake }\n",
	       "t.yaml:4:20:", "no fault of kind 'earthquake'");
	refuse(STEP "fault: { kind: stop, node: node01, rate: 0.5 }\n",
	       "t.yaml:4:", "has no 'rate'");
	refuse(STEP "fault: { kind: stop }\n", "t.yaml:4:", "has no 'node'");
	refuse(STEP "check: { on: node01, counter: evictions, is: 1 }\n",
	       "t.yaml:4:", "no counter 'evictions'");
}

static void nodes_are_those_of_the_topology(void **state)
{
	(void)state;
	refuse(STEP "resolve: { on: node01, to: node33 }\n", "t.yaml:4:", "no node 'node33'");
	refuse(STEP "resolve: { on: leaf1, to: node01 }\n", "t.yaml:4:", "'leaf1' is a switch");
	refuse(STEP "fault: { kind: link_down, link: \"node01 -- node02\" }\n",
	       "t.yaml:4:", "there is no link");
	refuse(STEP "resolve: { on: node01, to: sm1, by: ip }\n",
	       "t.yaml:4:", "has no IPv4 address");
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	refuse(STEP "resolve: { on: node01, to: node02, pkey: 0x0010 }\n",
	       "t.yaml:4:", "beside 'by: gid' or 'by: lid' only");
	refuse(STEP "resolve: { on: node01, to: node02, to_port: 1 }\n",
	       "t.yaml:4:", "beside 'by: gid' or 'by: lid' only");
	refuse(STEP "resolve: { on: node01, to: node02, by: gid, from_port: 2 }\n",
	       "t.yaml:4:", "'node01' has no port 2, 1 to 1 were expected");
	refuse(STEP "resolve: { on: node01, to: node02, by: lid, to_port: 2 }\n",
	       "t.yaml:4:", "'node02' has no port 2, 1 to 1 were expected");
	refuse(STEP "resolve: { on: node01, to: node02, by: gid, pkey: 0x8010 }\n",
	       "t.yaml:4:", "pkey");
	refuse(STEP "{ at: 2s, resolve: { on: node01, to: node02 } }\n"
		    "  - { at: 1s, resolve: { on: node01, to: node02 } }\n",
	       "t.yaml:5:11:", "comes before the one above it");
	refuse(STEP "resolve: { on: node01, to: node02 }\n    expect: { status: timed_out, mtu: "
		    "4096 }\n",
	       "t.yaml:5:", "contradict each other");
	refuse(STEP "resolve: { on: node01, to: node02 }\n    expect: { after: 2s, within: 1s }\n",
	       "t.yaml:5:", "can never come so");
	refuse(STEP
	       "resolve: { on: node01, to: node02 }\n    expect: { cached: yes, sa_queries: 1 }\n",
	       "t.yaml:5:", "contradicts the queries");
	refuse(STEP "resolve: { on: node01, to: node02 }\n    expect: { sa_queries: 3..1 }\n",
	       "t.yaml:5:", "a count was expected");
	refuse(STEP "resolve: { on: node01 }\n", "t.yaml:4:", "either 'to', nodes, or 'address'");
	refuse(STEP "{ fault: { kind: groups_lost }, check: { drop: loss, is: 1 } }\n",
	       "t.yaml:4:", "exactly one of");
	refuse(STEP "fault: { kind: loss, rate: 0.5, packets: [1] }\n", "t.yaml:4:", "contradict");
	refuse(STEP "fault: { kind: loss, rate: 1.5 }\n", "t.yaml:4:", "a share above 0 up to 1");
	refuse(HEAD, "t.yaml:1:1:", "says nothing");
	refuse(HEAD "lmc: 8\nfinally: {}\n", "t.yaml:3:6:", "lmc");
	refuse("scenario: x\nfinally: {}\n", "t.yaml:1:1:", "no 'topology'");
	refuse("scenario: x\ntopology: /nowhere.yaml\nfinally: {}\n",
	       "t.yaml:2:11:", "/nowhere.yaml: cannot be read");
}

static void all_faults_are_told_at_once(void **state)
{
	struct sim_scenario *scenario = NULL;
	struct sim_errors errors;
	const char *text = HEAD "steps:\n"
				"  - resolve: { on: nobody, to: node01 }\n"
				"  - resolve: { on: node01, to: nobody }\n"
				"finally: { within: soon }\n";

	(void)state;
	assert_int_equal(sim_scenario_parse("t.yaml", text, strlen(text), &scenario, &errors),
			 -EINVAL);
	assert_int_equal(errors.count, 3);
	sim_errors_free(&errors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_is_to_happen),
		cmocka_unit_test(unknown_keys_have_places),
		cmocka_unit_test(nodes_are_those_of_the_topology),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(all_faults_are_told_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
