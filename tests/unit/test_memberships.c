/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the subnet manager has nodes in the groups that they take themselves to be in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "memberships.h"
#include "topology.h"

static const char text[] = "fabric: test\n"
			   "link: { speed: edr, mtu: 4096 }\n"
			   "switches:\n"
			   "  - { name: s1, ports: 8 }\n"
			   "hosts:\n"
			   "  - { name: \"n[1-2]\" }\n"
			   "links:\n"
			   "  - \"n1 -- s1\"\n"
			   "  - \"n2 -- s1\"\n";

static const struct acm_mcmember first = {
	.mgid = {{0xff, 0x15, 0x40, 0x01}}, .mtu = 4, .rate = 3, .pkey = 0xffff};
static const struct acm_mcmember second = {
	.mgid = {{0xff, 0x15, 0x40, 0x02}}, .mtu = 4, .rate = 3, .pkey = 0xffff};

struct fixture {
	struct sim_topology *topology;
	struct sim_subnet *subnet;
	struct sim_memberships memberships;
	uint32_t n1, n2;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	struct sim_subnet_options options;
	struct sim_errors errors;
	char why[256];

	assert_int_equal(
		sim_topology_parse("test.yaml", text, sizeof(text) - 1, &fixture.topology, &errors),
		0);
	sim_subnet_options_default(&options);
	assert_int_equal(
		sim_subnet_create(fixture.topology, &options, &fixture.subnet, why, sizeof(why)),
		0);
	assert_int_equal(sim_memberships_init(&fixture.memberships, fixture.topology->node_count),
			 0);
	fixture.n1 = sim_topology_find(fixture.topology, "n1");
	fixture.n2 = sim_topology_find(fixture.topology, "n2");
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	sim_memberships_free(&fixture->memberships);
	sim_subnet_destroy(fixture->subnet);
	sim_topology_free(fixture->topology);
	return 0;
}

/* The manager takes the node in. Returns the group's MLID. */
static uint16_t take_in(struct fixture *fixture, uint32_t node, const struct acm_mcmember *record)
{
	struct sim_port_ref ref = {.node = node, .port = 1};
	struct sim_group *group = sim_subnet_find_group(fixture->subnet, &record->mgid);

	if (!group)
		assert_int_equal(sim_subnet_add_group(fixture->subnet, record, &group), 0);
	assert_int_equal(sim_subnet_join(fixture->subnet, group,
					 sim_subnet_port_index(fixture->subnet, ref), false, 1, 0),
			 0);
	return group->record.mlid;
}

static void lose(struct fixture *fixture, const struct acm_mcmember *record)
{
	assert_int_equal(sim_subnet_drop_group(fixture->subnet, &record->mgid, 0), 0);
}

static void tell(struct fixture *fixture, uint32_t node, enum acm_trace_type type,
		 const struct acm_mcmember *record, uint16_t mlid)
{
	const struct acm_trace trace = {.type = type, .gid = record->mgid, .lid = mlid};

	sim_memberships_trace(&fixture->memberships, node, &trace);
}

static bool hold(const struct fixture *fixture, uint32_t node)
{
	return sim_memberships_hold(&fixture->memberships, node, fixture->subnet);
}

/* Though it was lost before the node was ready: there is no time at which it could be counted. */
static void a_group_that_the_manager_lost_does_not_hold_until_it_is_joined_anew(void **state)
{
	struct fixture *fixture = *state;
	uint16_t mlid = take_in(fixture, fixture->n1, &first);

	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &first, mlid);
	assert_true(hold(fixture, fixture->n1));
	lose(fixture, &first);
	mlid = take_in(fixture, fixture->n1, &second);
	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &second, mlid);
	assert_false(hold(fixture, fixture->n1));
	mlid = take_in(fixture, fixture->n2, &first);
	tell(fixture, fixture->n2, ACM_TRACE_JOINED, &first, mlid);
	assert_true(hold(fixture, fixture->n2));
	assert_false(hold(fixture, fixture->n1)); /* another made it anew */
	take_in(fixture, fixture->n1, &first);
	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &first, mlid);
	assert_true(hold(fixture, fixture->n1));
}

static void a_group_whose_mlid_is_another_does_not_hold(void **state)
{
	struct fixture *fixture = *state;
	uint16_t mlid = take_in(fixture, fixture->n1, &first);

	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &first, (uint16_t)(mlid + 1));
	assert_false(hold(fixture, fixture->n1));
	tell(fixture, fixture->n1, ACM_TRACE_JOIN, &first, mlid); /* only asked for */
	assert_false(hold(fixture, fixture->n1));
	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &first, mlid);
	assert_true(hold(fixture, fixture->n1));
}

/* The SA is silent, and the node asks again: what it asks waits with what it asked before. */
static void a_join_is_under_way_until_it_is_answered(void **state)
{
	struct fixture *fixture = *state;
	struct acm_trace trace = {.type = ACM_TRACE_JOIN, .time = 7, .gid = first.mgid};
	struct sim_memberships *memberships = &fixture->memberships;

	assert_true(sim_memberships_oldest_join(memberships, fixture->n1) == ACM_NEVER);
	sim_memberships_trace(memberships, fixture->n1, &trace);
	assert_int_equal(sim_memberships_oldest_join(memberships, fixture->n1), 7);
	assert_true(sim_memberships_oldest_join(memberships, fixture->n2) == ACM_NEVER);
	assert_true(hold(fixture, fixture->n1)); /* it is in none yet */
	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &second,
	     take_in(fixture, fixture->n1, &second));
	assert_int_equal(sim_memberships_oldest_join(memberships, fixture->n1), 7);
	tell(fixture, fixture->n1, ACM_TRACE_JOIN_FAILED, &first, 0);
	assert_true(sim_memberships_oldest_join(memberships, fixture->n1) == ACM_NEVER);
	trace.time = 8;
	sim_memberships_trace(memberships, fixture->n1, &trace);
	trace.time = 9;
	sim_memberships_trace(memberships, fixture->n1, &trace); /* once more: the first is over */
	assert_int_equal(sim_memberships_oldest_join(memberships, fixture->n1), 9);
	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &first, take_in(fixture, fixture->n1, &first));
	assert_true(sim_memberships_oldest_join(memberships, fixture->n1) == ACM_NEVER);
}

static void what_a_node_has_left_need_not_hold(void **state)
{
	struct fixture *fixture = *state;
	uint16_t mlid = take_in(fixture, fixture->n1, &second);

	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &first, 0xc0ff);
	tell(fixture, fixture->n1, ACM_TRACE_JOINED, &second, mlid);
	assert_false(hold(fixture, fixture->n1));
	tell(fixture, fixture->n1, ACM_TRACE_LEFT, &first, 0);
	assert_true(hold(fixture, fixture->n1));
	lose(fixture, &second);
	assert_false(hold(fixture, fixture->n1));
	sim_memberships_forget(&fixture->memberships, fixture->n1);
	assert_true(hold(fixture, fixture->n1));
}

#define MEMBERSHIP_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MEMBERSHIP_TEST(
			a_group_that_the_manager_lost_does_not_hold_until_it_is_joined_anew),
		MEMBERSHIP_TEST(a_group_whose_mlid_is_another_does_not_hold),
		MEMBERSHIP_TEST(a_join_is_under_way_until_it_is_answered),
		MEMBERSHIP_TEST(what_a_node_has_left_need_not_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
