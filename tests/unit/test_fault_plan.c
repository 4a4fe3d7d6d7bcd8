/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One fault, read from a text against a topology, without a scenario around it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "scenario.h"

static struct sim_topology *topology;

static int load(void **state)
{
	struct sim_errors errors;

	(void)state;
	return sim_topology_load(SOURCE_DIR "/topologies/two-tier.yaml", &topology, &errors);
}

static int unload(void **state)
{
	(void)state;
	sim_topology_free(topology);
	return 0;
}

static struct sim_fault_plan parse(const char *text)
{
	struct sim_fault_plan plan;
	struct sim_errors errors;

	if (sim_fault_plan_parse(topology, text, strlen(text), &plan, &errors))
		fail_msg("%s", errors.count ? errors.lines[0] : "no memory");
	return plan;
}

/* It has exactly this one fault. */
static void refuse(const char *text, const char *what)
{
	struct sim_fault_plan plan;
	struct sim_errors errors;

	assert_int_equal(sim_fault_plan_parse(topology, text, strlen(text), &plan, &errors),
			 -EINVAL);
	assert_int_equal(errors.count, 1);
	if (!strstr(errors.lines[0], what))
		fail_msg("not '%s' but: %s", what, errors.lines[0]);
	assert_null(plan.nodes.nodes);
	sim_errors_free(&errors);
}

static void one_fault_needs_no_scenario(void **state)
{
	struct sim_fault_plan plan = parse("{ kind: link_down, link: leaf1 -- spine1, for: 2s }");

	(void)state;
	assert_int_equal(plan.kind, SIM_FAULT_LINK_DOWN);
	assert_int_equal(plan.links.count, 1);
	assert_int_equal(plan.duration, 2 * ACM_NSEC_PER_SEC);
	sim_fault_plan_free(&plan);
	plan = parse("kind: stop\nnode: node[01-03]\n");
	assert_int_equal(plan.nodes.count, 3);
	assert_int_equal(plan.nodes.nodes[0], sim_topology_find(topology, "node01"));
	assert_int_equal(plan.duration, ACM_NEVER);
	sim_fault_plan_free(&plan);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
	(void)state;
	refuse("{ kind: stop, node: node99 }", "fault:1:21: there is no node 'node99'");
	refuse("{ kind: stop, node: node99 }", "nodes of two-tier");
	refuse("{ kind: storm }", "there is no fault of kind 'storm'");
	refuse("- kind: stop\n- node: node01", "fault:1:1:");
	refuse("{ kind: stop", "fault:");
	refuse("", "fault:");
}

/* The same mistake, wherever braces are and are not: its place is where it was written. */
static void places_are_those_in_what_was_written(void **state)
{
	static const struct {
		const char *text, *told;
	} mistakes[] = {
		{"kind: stop, node: node99", "fault:1:19: there is no node 'node99'"},
		{"{kind: stop, node: node99}", "fault:1:20: there is no node 'node99'"},
		{"{ kind: stop, node: node99 }", "fault:1:21: there is no node 'node99'"},
		{"  kind: stop, node: node99 ", "fault:1:21: there is no node 'node99'"},
		{"  { kind: stop, node: node99 }", "fault:1:23: there is no node 'node99'"},
		{"kind: stop,\nnode: node99", "fault:2:7: there is no node 'node99'"},
		{"\n kind: stop ,\r\n  node: node99\n", "fault:3:9: there is no node 'node99'"},
		{"{ kind: stop,\n  node: node99 }", "fault:2:9: there is no node 'node99'"},
		{"kind: stop\nnode: node99\n", "fault:2:7: there is no node 'node99'"},
		{"\n  kind: stop\n  node: node99\n", "fault:3:9: there is no node 'node99'"},
		{"kind: stop, node: node99 # not there", "fault:1:19: there is no node 'node99'"},
		{"kind: loss, rate: 2", "fault:1:19: "},
		{"kind: frob", "fault:1:7: there is no fault of kind 'frob'"},
		/* What libyaml finds wrong at the end of a text, or behind it. */
		{"kind: stop, node: [ node01", "fault:1:27: this is not YAML"},
		{"kind: stop, node: \"node01", "fault:1:26: this is not YAML"},
		{"kind: stop }", "fault:1:13: this is not YAML"},
		{"kind: stop,\nnode: [ node01", "that begins at line 2"},
		{"kind: stop, node: \x80", "fault:1:19: "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		refuse(mistakes[i].text, mistakes[i].told);
}

static void braces_may_be_left_out(void **state)
{
	static const char *const texts[] = {
		"kind: stop, node: node02",
		" kind: stop, node: node02\n",
		"kind: stop,\n     node: node02",
		"kind: stop\nnode: node02",
		"kind: stop, node: node02 # the second one",
		"# the second one\n{ kind: stop, node: node02 }",
		"{ kind: stop,\n  node: node02 }\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct sim_fault_plan plan = parse(texts[i]);

		assert_int_equal(plan.kind, SIM_FAULT_STOP);
		assert_int_equal(plan.nodes.count, 1);
		sim_fault_plan_free(&plan);
	}
}

static void a_prefix_is_the_upper_half_of_a_gid(void **state)
{
	struct sim_fault_plan plan = parse("{ kind: subnet_prefix, prefix: \"fec0:0:0:7::\" }");

	(void)state;
	assert_true(plan.prefix == UINT64_C(0xfec0000000000007));
	sim_fault_plan_free(&plan);
	refuse("{ kind: subnet_prefix, prefix: \"fec0::1\" }", "prefix is 'fec0::1'");
	refuse("{ kind: subnet_prefix, prefix: \"ff12::\" }", "prefix is 'ff12::'");
}

static void an_address_moves_from_its_node_to_one_other(void **state)
{
	(void)state;
	refuse("{ kind: move, address: nobody, node: node01 }", "no node of two-tier holds");
	refuse("{ kind: move, address: node01, node: \"node[02-03]\" }", "moves to one node");
}

static void a_reason_implies_the_status(void **state)
{
	struct sim_fault_plan plan = parse("{ kind: join_refused, reason: no_mlids }");

	(void)state;
	assert_int_equal(plan.status, 0x0100);
	sim_fault_plan_free(&plan);
	refuse("{ kind: join_refused, reason: mtu, status: 0x0100 }", "follows from the reason");
	refuse("{ kind: join_refused, reason: mood }", "reason");
}

static void a_group_is_named_by_quality_or_mgid(void **state)
{
	struct sim_fault_plan plan = parse("{ kind: loss, group: 10/2048, link: node01 }");

	(void)state;
	assert_int_equal(plan.groups, SIM_GROUPS_QUALITY);
	assert_int_equal(plan.group_rate, 3);
	assert_int_equal(plan.group_mtu, 4);
	sim_fault_plan_free(&plan);
	plan = parse("{ kind: delay, delay: 1ms, group: \"ff15::7\" }");
	assert_int_equal(plan.groups, SIM_GROUPS_MGID);
	assert_int_equal(plan.mgid.raw[15], 7);
	sim_fault_plan_free(&plan);
	refuse("{ kind: loss, group: 11/2048 }", "group is '11/2048'");
	refuse("{ kind: loss, group: \"fe80::1\" }", "group is 'fe80::1'");
}

static void mads_of_the_sa_have_no_link(void **state)
{
	(void)state;
	refuse("{ kind: loss, packet: sa, link: node01 }", "told apart by node only");
	refuse("{ kind: corruption, packet: sa_request }", "only answers of the SA");
}

static void a_flapping_link_has_a_period(void **state)
{
	struct sim_fault_plan plan =
		parse("{ kind: link_flapping, link: node02, period: 40ms, down: 0.25 }");

	(void)state;
	assert_int_equal(plan.period, 40 * ACM_NSEC_PER_MSEC);
	assert_true(plan.down == 0.25);
	sim_fault_plan_free(&plan);
	refuse("{ kind: link_flapping, link: node02 }", "has no 'period'");
	refuse("{ kind: link_flapping, link: node02, period: 10ns }", "at least 1us");
	refuse("{ kind: link_flapping, link: node02, period: 1s, down: 1.5 }",
	       "down is '1.5', a share above 0 up to 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_fault_needs_no_scenario),
		cmocka_unit_test(what_is_wrong_is_told_with_its_place),
		cmocka_unit_test(places_are_those_in_what_was_written),
		cmocka_unit_test(braces_may_be_left_out),
		cmocka_unit_test(a_prefix_is_the_upper_half_of_a_gid),
		cmocka_unit_test(an_address_moves_from_its_node_to_one_other),
		cmocka_unit_test(a_reason_implies_the_status),
		cmocka_unit_test(a_group_is_named_by_quality_or_mgid),
		cmocka_unit_test(mads_of_the_sa_have_no_link),
		cmocka_unit_test(a_flapping_link_has_a_period),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
