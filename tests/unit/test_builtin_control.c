/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "builtin_control.h"
#include "small_topology.h"

#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY (20 * ACM_NSEC_PER_USEC)

struct fixture {
	struct sim_topology *topology;
	struct sim_control *control;
	uint64_t now;
	struct sim_control_event event;
	uint8_t mad[ACM_MAD_LENGTH];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sim_builtin_options options;
	char why[256];

	assert_non_null(f);
	f->topology = small_topology_two_switches();
	sim_builtin_options_default(&options);
	assert_int_equal(
		sim_builtin_control_create(f->topology, &options, &f->control, why, sizeof(why)),
		0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	f->control->ops->destroy(f->control);
	sim_topology_free(f->topology);
	free(f);
	return 0;
}

static struct sim_port_ref port_of(const struct fixture *f, const char *name)
{
	return (struct sim_port_ref){.node = sim_topology_find(f->topology, name), .port = 1};
}

static struct acm_port_facts facts_of(struct fixture *f, const char *name)
{
	struct acm_port_facts facts;

	assert_int_equal(f->control->ops->port_facts(f->control, port_of(f, name), &facts), 0);
	return facts;
}

static void pass(struct fixture *f, uint64_t now)
{
	f->now = now;
	assert_int_equal(f->control->ops->process(f->control, now), 0);
}

static bool pull(struct fixture *f)
{
	return f->control->ops->next_event(f->control, &f->event) == 1;
}

static void ask(struct fixture *f, const char *from, const char *to, uint64_t cookie)
{
	struct acm_path path = {.path_count = 1,
				.sgid = facts_of(f, from).gids[0],
				.dgid = facts_of(f, to).gids[0]};

	acm_sa_encode_path_get(&path, cookie, f->mad);
	assert_int_equal(f->control->ops->sa_send(f->control, port_of(f, from), 0, f->mad, cookie),
			 0);
}

static uint16_t expect_answer(struct fixture *f, uint64_t cookie)
{
	struct acm_sa_header header;

	assert_true(pull(f));
	assert_int_equal(f->event.type, SIM_CONTROL_SA_ANSWER);
	assert_int_equal(f->event.cookie, cookie);
	assert_int_equal(acm_sa_decode_header(f->event.mad, f->event.length, &header), 0);
	assert_int_equal(header.tid, cookie);
	return header.status;
}

static void join_group(struct fixture *f, const char *name, uint8_t number, uint64_t cookie)
{
	struct acm_port_facts facts = facts_of(f, name);
	struct acm_mcmember member = {.port_gid = facts.gids[0],
				      .qkey = ACM_QKEY,
				      .mtu = 4,
				      .rate = 3,
				      .pkey = 0xffff,
				      .scope = 5,
				      .join_state = ACM_SA_JOIN_FULL};

	acm_group_mgid(&member.mgid, 0xffff, 3, 4);
	member.mgid.raw[15] = number;
	acm_sa_encode_join(&member, cookie, f->mad);
	assert_int_equal(f->control->ops->sa_send(f->control, port_of(f, name), 0, f->mad, cookie),
			 0);
}

static void answers_come_after_the_latency(void **state)
{
	struct fixture *f = *state;

	pass(f, 1000);
	ask(f, "left2", "right3", 5);
	memset(f->mad, 0xee, sizeof(f->mad));
	assert_int_equal(f->control->ops->deadline(f->control), 1000 + LATENCY);
	pass(f, 1000 + LATENCY - 1);
	assert_false(pull(f));
	pass(f, 1000 + LATENCY);
	assert_int_equal(expect_answer(f, 5), 0);
	assert_false(pull(f));
	assert_int_equal(f->control->ops->deadline(f->control), ACM_NEVER);
	assert_int_equal(f->control->ops->fd(f->control), -1);
}

static void a_cancelled_request_is_forgotten(void **state)
{
	struct fixture *f = *state;

	ask(f, "left2", "right3", 5);
	ask(f, "left2", "right2", 6);
	f->control->ops->sa_cancel(f->control, 5);
	pass(f, LATENCY);
	f->control->ops->sa_cancel(f->control, 7);
	assert_int_equal(expect_answer(f, 6), 0);
	assert_false(pull(f));
	ask(f, "left2", "right2", 8);
	pass(f, 2 * LATENCY);
	f->control->ops->sa_cancel(f->control, 8); /* when it has been answered */
	while (pull(f))
		assert_int_not_equal(f->event.type, SIM_CONTROL_SA_ANSWER);
}

static void what_cannot_be_sent(void **state)
{
	struct fixture *f = *state;
	struct sim_port_ref port = port_of(f, "left2");
	const struct sim_control_ops *ops = f->control->ops;

	assert_int_equal(ops->sa_send(f->control, port, 1, f->mad, 1), -EINVAL);
	port.port = 2;
	assert_int_equal(ops->sa_send(f->control, port, 0, f->mad, 1), -ENODEV);
	port.port = 1;
	assert_int_equal(sim_builtin_stop_node(f->control, port.node), 0);
	assert_int_equal(ops->sa_send(f->control, port, 0, f->mad, 1), -ENETDOWN);
}

static void tells_who_is_in_which_group(void **state)
{
	struct fixture *f = *state;
	struct sim_membership_query query = {0};
	struct sim_group_memberships all;

	assert_int_equal(f->control->ops->memberships(f->control, &query, &all), 0);
	assert_int_equal(all.count, 0);
	join_group(f, "left2", 1, 1);
	join_group(f, "left3", 2, 2);
	join_group(f, "right1", 2, 3);
	pass(f, LATENCY);
	assert_int_equal(f->control->ops->memberships(f->control, &query, &all), 0);
	assert_int_equal(all.count, 3);
	for (uint32_t i = 0; i < all.count; i++) {
		const struct sim_group_membership *member = &all.all[i];
		bool is_first = member->port.node == port_of(f, "left2").node;

		assert_false(member->unknown);
		assert_int_equal(member->port.port, 1);
		assert_int_equal(member->record.mgid.raw[15], is_first ? 1 : 2);
		assert_int_equal(member->record.join_state, ACM_SA_JOIN_FULL);
		assert_int_equal(member->record.qkey, ACM_QKEY);
	}
	assert_int_equal(sim_builtin_drop_group(f->control, &all.all[0].record.mgid), 0);
	assert_int_equal(f->control->ops->memberships(f->control, &query, &all), 0);
	assert_int_equal(all.count, 2);
}

static void joins_are_answered_before_their_tree_is_there(void **state)
{
	struct fixture *f = *state;
	const struct sim_tables *tables = f->control->ops->tables(f->control);
	uint64_t generation = tables->generation;

	sim_builtin_set_tree_delay(f->control, 3 * ACM_NSEC_PER_MSEC);
	join_group(f, "left2", 1, 1);
	pass(f, LATENCY);
	assert_int_equal(expect_answer(f, 1), 0);
	assert_int_equal(tables->generation, generation);
	pass(f, LATENCY + 3 * ACM_NSEC_PER_MSEC);
	assert_true(pull(f));
	assert_int_equal(f->event.type, SIM_CONTROL_TABLES);
	assert_true(f->control->ops->tables(f->control)->generation > generation);
}

/* Events of a type until now; nothing else but ports and tables may come. */
static uint32_t count_events(struct fixture *f, enum sim_control_event_type type)
{
	uint32_t count = 0;

	while (pull(f))
		count += f->event.type == type;
	return count;
}

static void no_sa_answers_during_a_fail_over(void **state)
{
	struct fixture *f = *state;
	struct acm_gid mgid;

	join_group(f, "left2", 1, 1);
	pass(f, ACM_NSEC_PER_MSEC);
	count_events(f, SIM_CONTROL_PORT);
	ask(f, "left2", "right3", 2);
	sim_builtin_set_sweep_time(f->control, 50 * ACM_NSEC_PER_MSEC);
	assert_int_equal(
		sim_builtin_fail_over(f->control, port_of(f, "right1").node, SIM_LIDS_KEPT), 0);
	ask(f, "left2", "right3", 3);
	pass(f, 40 * ACM_NSEC_PER_MSEC);
	assert_int_equal(count_events(f, SIM_CONTROL_SA_ANSWER), 0);
	pass(f, 60 * ACM_NSEC_PER_MSEC);
	assert_int_equal(count_events(f, SIM_CONTROL_REREGISTER), 6);
	assert_int_equal(facts_of(f, "left2").sm_lid, facts_of(f, "right1").lid);
	ask(f, "left2", "right3", 4);
	pass(f, 61 * ACM_NSEC_PER_MSEC);
	assert_int_equal(expect_answer(f, 4), 0);
	acm_group_mgid(&mgid, 0xffff, 3, 4);
	mgid.raw[15] = 1;
	assert_int_equal(sim_builtin_drop_group(f->control, &mgid), -ENOENT);
}

static void a_cut_off_port_gets_no_answer(void **state)
{
	struct fixture *f = *state;
	struct sim_port_ref port = port_of(f, "right1");
	uint32_t count;

	/* Both links between the switches. */
	for (uint8_t i = 1; i <= 8; i++)
		if (f->topology->nodes[0].ports[i].peer == 1)
			assert_int_equal(sim_builtin_cut_link(f->control, 0, i), 0);
	ask(f, "right1", "right2", 1);
	assert_int_equal(f->control->ops->deadline(f->control), ACM_NSEC_PER_MSEC);
	pass(f, 100 * ACM_NSEC_PER_MSEC);
	count = count_events(f, SIM_CONTROL_SA_ANSWER);
	assert_int_equal(count, 0);
	ask(f, "left1", "right1", 2); /* the manager does not know it any more */
	pass(f, 101 * ACM_NSEC_PER_MSEC);
	assert_int_equal(expect_answer(f, 2), ACM_SA_NO_RECORDS << 8);
	for (uint8_t i = 1; i <= 8; i++)
		if (f->topology->nodes[0].ports[i].peer == 1)
			assert_int_equal(sim_builtin_mend_link(f->control, 0, i), 0);
	pass(f, 200 * ACM_NSEC_PER_MSEC);
	count_events(f, SIM_CONTROL_TABLES);
	ask(f, "right1", "left2", 3);
	pass(f, 201 * ACM_NSEC_PER_MSEC);
	assert_int_equal(expect_answer(f, 3), 0);
	assert_int_equal(sim_builtin_cut_link(f->control, port.node, 2), -ENODEV);
}

static void a_pkey_is_taken_away(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sim_builtin_set_membership(f->control, port_of(f, "left2"), 0x7fff,
						    SIM_MEMBER_NONE),
			 0);
	assert_int_equal(f->control->ops->deadline(f->control), 0);
	assert_true(pull(f));
	assert_int_equal(f->event.type, SIM_CONTROL_PORT);
	assert_int_equal(f->event.port.node, port_of(f, "left2").node);
	assert_int_equal(facts_of(f, "left2").pkeys[0], 0);
}

static void groups_share_an_mlid(void **state)
{
	struct fixture *f = *state;
	struct acm_mcmember member;
	struct acm_gid first, second;

	join_group(f, "left2", 1, 1);
	join_group(f, "left3", 2, 2);
	pass(f, LATENCY);
	assert_int_equal(expect_answer(f, 1), 0);
	acm_sa_decode_mcmember(f->event.mad, f->event.length, &member);
	first = member.mgid;
	assert_int_equal(expect_answer(f, 2), 0);
	acm_sa_decode_mcmember(f->event.mad, f->event.length, &member);
	second = member.mgid;
	assert_int_equal(sim_builtin_share_mlid(f->control, &first, &second), 0);
	join_group(f, "right1", 2, 3);
	pass(f, 2 * LATENCY);
	assert_int_equal(expect_answer(f, 3), 0);
	acm_sa_decode_mcmember(f->event.mad, f->event.length, &member);
	assert_int_equal(member.mlid, 0xc001);
	assert_int_equal(sim_builtin_drop_group(f->control, &first), 0);
}

static void it_ends_with_requests_under_way(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 200; i++)
		ask(f, "left2", "right3", i);
	pass(f, LATENCY);
	expect_answer(f, 0);
	for (uint64_t i = 200; i < 300; i++)
		ask(f, "left2", "right3", i);
}

static void agents_answer_who_reaches_them(void **state)
{
	struct fixture *f = *state;
	struct sim_mad_route route = {.dlid = facts_of(f, "right3").lid};

	f->mad[0] = 1;
	f->mad[1] = 1; /* subnet management by LID */
	f->mad[3] = 1;
	f->mad[17] = 0x10; /* NodeDescription */
	assert_int_equal(
		f->control->ops->mad_send(f->control, port_of(f, "left2"), &route, f->mad, 8), 0);
	pass(f, LATENCY);
	assert_true(pull(f));
	assert_int_equal(f->event.type, SIM_CONTROL_SA_ANSWER);
	assert_int_equal(f->event.cookie, 8);
	assert_string_equal((const char *)f->event.mad + 64, "right3");
	route.dlid = 999;
	assert_int_equal(
		f->control->ops->mad_send(f->control, port_of(f, "left2"), &route, f->mad, 9), 0);
	pass(f, 10 * LATENCY);
	assert_false(pull(f));
	assert_int_equal(sim_builtin_cut_link(f->control, port_of(f, "left2").node, 1), 0);
	pass(f, ACM_NSEC_PER_SEC);
	assert_int_equal(
		f->control->ops->mad_send(f->control, port_of(f, "left2"), &route, f->mad, 10),
		-ENETDOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_come_after_the_latency),
		TEST(a_cancelled_request_is_forgotten),
		TEST(what_cannot_be_sent),
		TEST(tells_who_is_in_which_group),
		TEST(joins_are_answered_before_their_tree_is_there),
		TEST(no_sa_answers_during_a_fail_over),
		TEST(a_cut_off_port_gets_no_answer),
		TEST(a_pkey_is_taken_away),
		TEST(groups_share_an_mlid),
		TEST(agents_answer_who_reaches_them),
		TEST(it_ends_with_requests_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
