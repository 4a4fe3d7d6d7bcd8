/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each kind of fault does, in runs of small scenarios. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation.h"

#define HEAD                                                                                       \
	"scenario: a test\n"                                                                       \
	"topology: " SOURCE_DIR "/topologies/two-tier.yaml\n"                                      \
	"options: { all: { timeout: 100, retries: 1, negative_timeout: 100 } }\n"
#define COLD HEAD "start: cold\nsteps:\n"

/* Runs it; all must hold. Its trace, the caller's to free. */
static char *trace_of(const char *text)
{
	struct sim_run_options options = {.seed = 1, .cancel_fd = -1};
	struct sim_run_result result;
	struct sim_scenario *scenario;
	struct sim_errors errors;
	char why[512], *trace = NULL;
	size_t length = 0;

	if (sim_scenario_parse("t.yaml", text, strlen(text), &scenario, &errors))
		fail_msg("%s", errors.count ? errors.lines[0] : "no memory");
	options.trace = open_memstream(&trace, &length);
	if (sim_simulation_run(scenario, &options, &result, why, sizeof(why)))
		fail_msg("%s", why);
	fclose(options.trace);
	for (uint32_t i = 0; i < result.outcome_count; i++) {
		if (result.outcomes[i].verdict != SIM_HELD)
			fail_msg("%s: %s", result.outcomes[i].what, result.outcomes[i].came);
	}
	sim_run_result_free(&result);
	sim_scenario_free(scenario);
	return trace;
}

static void holds(const char *text)
{
	free(trace_of(text));
}

static void tells_why_refused(const char *fault, const char *reason)
{
	char text[1024], *trace;

	snprintf(text, sizeof(text),
		 COLD "  - fault: { kind: join_refused, node: node02, %s }\n"
		      "  - at: 1s\n"
		      "    resolve: { on: node02, to: node01 }\n"
		      "    expect: { status: not_connected }\n",
		 fault);
	trace = trace_of(text);
	if (!strstr(trace, reason))
		fail_msg("the trace does not tell '%s'", reason);
	free(trace);
}

static void a_refused_join_is_explained_by_the_groups_record(void **state)
{
	(void)state;
	tells_why_refused("reason: mtu", "group's_MTU_is_another");
	tells_why_refused("reason: rate", "group's_rate_is_another");
	tells_why_refused("reason: pkey", "group's_P_Key_is_another");
	tells_why_refused("reason: no_mlids", "0x0100");
	tells_why_refused("status: 0x0200", "group_would_fit");
}

static void an_address_that_moves_is_found_at_its_new_node(void **state)
{
	(void)state;
	holds(HEAD "steps:\n"
		   "  - fault: { kind: move, address: node02, node: node05, for: 2s }\n"
		   "  - at: 1ms\n"
		   "    resolve: { on: node01, to: node02 }\n"
		   "    expect: { status: success, node: node05 }\n"
		   "  - at: 2001ms\n"
		   "    resolve: { on: node03, to: node02 }\n"
		   "    expect: { status: success, node: node02 }\n");
}

static void full_receive_queues_take_nothing(void **state)
{
	(void)state;
	holds(HEAD "steps:\n"
		   "  - fault: { kind: receive_queue_full, node: node02, for: 5s }\n"
		   "  - at: 1ms\n"
		   "    resolve: { on: node01, to: node02 }\n"
		   "    expect: { status: timed_out }\n"
		   "  - at: 4s\n"
		   "    check: { drop: no_buffer, is: \">=2\" }\n"
		   "  - at: 5001ms\n"
		   "    resolve: { on: node01, to: node02 }\n"
		   "    expect: { status: success, within: 1ms }\n");
}

static void a_new_lid_is_used_by_who_asks_anew(void **state)
{
	char *trace;

	(void)state;
	trace = trace_of(HEAD "steps:\n"
			      "  - fault: { kind: lid_change, node: node02 }\n"
			      "  - at: 2s\n"
			      "    resolve: { on: node01, to: node02 }\n"
			      "    expect: { status: success, within: 1ms }\n"
			      "  - at: 2s\n"
			      "    resolve: { on: node02, to: node03 }\n"
			      "    expect: { status: success, within: 1ms }\n"
			      "  - at: 3s\n"
			      "    fault: { kind: lid_change, node: sm1 }\n"
			      "finally: { within: 5s }\n");
	/* 33 hosts and 6 switches have 1 to 39. */
	assert_non_null(strstr(trace, "node02 port port=0 lid=40 "));
	free(trace);
}

static void a_new_subnet_prefix_is_in_every_path(void **state)
{
	char *trace;

	(void)state;
	trace = trace_of(HEAD
			 "steps:\n"
			 "  - fault: { kind: subnet_prefix, prefix: \"fec0:0:0:7::\", for: 10s }\n"
			 "  - at: 2s\n"
			 "    resolve: { on: node01, to: node02 }\n"
			 "    expect: { status: success, within: 1ms }\n"
			 "  - at: 2s\n"
			 "    resolve: { on: node03, to: node04, by: gid }\n"
			 "    expect: { status: success, within: 1ms }\n"
			 "  - at: 9s\n"
			 "    check: { on: all, counter: join_failures, is: 0 }\n"
			 "finally: { within: 5s }\n");
	assert_non_null(strstr(trace, "gid=fec0::7:"));
	free(trace);
}

static void a_spoilt_answer_of_the_sa_is_no_route(void **state)
{
	(void)state;
	holds(HEAD "steps:\n"
		   "  - fault: { kind: hostile_sa, node: node01, for: 10s }\n"
		   "  - at: 1ms\n"
		   "    resolve: { on: node01, to: node02 }\n"
		   "    expect: { status: [timed_out, no_data] }\n"
		   "  - at: 20s\n"
		   "    resolve: { on: node01, to: node02 }\n"
		   "    expect: { status: success }\n");
}

static void hostile_datagrams_are_sent_in_time_and_dropped(void **state)
{
	(void)state;
	holds(HEAD "steps:\n"
		   "  - fault: { kind: hostile_datagrams, node: node02, period: 1ms, for: 1s }\n"
		   "  - at: 2s\n"
		   "    check: { on: all, counter: dropped, is: 5000..20000 }\n"
		   "  - at: 2s\n"
		   "    resolve: { on: node01, to: node02 }\n"
		   "    expect: { status: success, node: node02 }\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_join_is_explained_by_the_groups_record),
		cmocka_unit_test(an_address_that_moves_is_found_at_its_new_node),
		cmocka_unit_test(a_new_lid_is_used_by_who_asks_anew),
		cmocka_unit_test(a_new_subnet_prefix_is_in_every_path),
		cmocka_unit_test(a_spoilt_answer_of_the_sa_is_no_route),
		cmocka_unit_test(hostile_datagrams_are_sent_in_time_and_dropped),
		cmocka_unit_test(full_receive_queues_take_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
