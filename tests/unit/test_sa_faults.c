/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "builtin_control.h"
#include "fake_control.h"
#include "sa_faults.h"
#include "small_topology.h"

#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY (20 * ACM_NSEC_PER_USEC) /* of the model's SA */

struct fixture {
	struct sim_topology *topology;
	struct sim_control *inner;   /* the model */
	struct sim_control *control; /* around it */
	uint64_t now;
	struct sim_control_event event;
	struct sim_sa_verdict verdict; /* on each request */
	uint32_t judged;
	uint8_t mad[ACM_MAD_LENGTH];
};

static void judge(void *context, const struct sim_sa_query *query, struct sim_sa_verdict *verdict)
{
	struct fixture *f = context;

	assert_int_equal(query->time, f->now);
	assert_memory_equal(query->mad, f->mad, ACM_MAD_LENGTH);
	f->judged++;
	*verdict = f->verdict;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sim_builtin_options options;
	char why[256];

	assert_non_null(f);
	f->topology = small_topology_two_switches();
	sim_builtin_options_default(&options);
	assert_int_equal(
		sim_builtin_control_create(f->topology, &options, &f->inner, why, sizeof(why)), 0);
	assert_int_equal(sim_sa_faults_create(f->inner, judge, f, &f->control), 0);
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

static struct acm_gid gid_of(struct fixture *f, const char *name)
{
	struct acm_port_facts facts;

	assert_int_equal(f->control->ops->port_facts(f->control, port_of(f, name), &facts), 0);
	return facts.gids[0];
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

static int try_to_ask(struct fixture *f, const char *from, uint64_t cookie)
{
	struct acm_path path = {
		.path_count = 1, .sgid = gid_of(f, from), .dgid = gid_of(f, "right3")};

	acm_sa_encode_path_get(&path, cookie, f->mad);
	return f->control->ops->sa_send(f->control, port_of(f, from), 0, f->mad, cookie);
}

static void ask(struct fixture *f, uint64_t cookie)
{
	assert_int_equal(try_to_ask(f, "left2", cookie), 0);
}

static void join_group(struct fixture *f, uint8_t number, uint64_t cookie)
{
	struct acm_mcmember member = {.port_gid = gid_of(f, "left2"),
				      .qkey = ACM_QKEY,
				      .mtu = 4,
				      .rate = 3,
				      .pkey = 0xffff,
				      .scope = 5,
				      .join_state = ACM_SA_JOIN_FULL};

	acm_group_mgid(&member.mgid, 0xffff, 3, 4);
	member.mgid.raw[15] = number;
	acm_sa_encode_join(&member, cookie, f->mad);
	assert_int_equal(
		f->control->ops->sa_send(f->control, port_of(f, "left2"), 0, f->mad, cookie), 0);
}

/* The next event is the answer to this request. Its status. */
static uint16_t expect_answer(struct fixture *f, uint64_t cookie, uint16_t attribute)
{
	struct acm_sa_header header;

	assert_true(pull(f));
	assert_int_equal(f->event.type, SIM_CONTROL_SA_ANSWER);
	assert_int_equal(f->event.cookie, cookie);
	assert_int_equal(acm_sa_decode_header(f->event.mad, f->event.length, &header), 0);
	assert_int_equal(header.tid, cookie);
	assert_int_equal(header.attribute, attribute);
	return header.status;
}

static uint16_t expect_path(struct fixture *f, uint64_t cookie)
{
	return expect_answer(f, cookie, ACM_SA_ATTRIBUTE_PATH);
}

static uint32_t group_count(const struct fixture *f)
{
	return sim_subnet_group_count(sim_builtin_subnet(f->inner));
}

static void without_a_fault_nothing_changes(void **state)
{
	struct fixture *f = *state;

	ask(f, 1);
	assert_int_equal(f->control->ops->deadline(f->control), LATENCY);
	pass(f, LATENCY - 1);
	assert_false(pull(f));
	pass(f, LATENCY);
	assert_int_equal(expect_path(f, 1), 0);
	assert_false(pull(f));
	assert_int_equal(f->control->ops->deadline(f->control), ACM_NEVER);
	assert_int_equal(f->judged, 1);
}

static void what_cannot_be_sent_is_not_judged(void **state)
{
	struct fixture *f = *state;
	struct sim_port_ref port = port_of(f, "left2");
	const struct sim_control_ops *ops = f->control->ops;

	f->verdict.fate = SIM_SA_LOST;
	assert_int_equal(ops->sa_send(f->control, port, 1, f->mad, 1), -EINVAL);
	port.port = 2;
	assert_int_equal(ops->sa_send(f->control, port, 0, f->mad, 1), -ENODEV);
	port.port = 1;
	assert_int_equal(sim_builtin_stop_node(f->inner, port.node), 0);
	assert_int_equal(ops->sa_send(f->control, port, 0, f->mad, 1), -ENETDOWN);
	assert_int_equal(f->judged, 0);
}

static void a_lost_request_has_no_effect(void **state)
{
	struct fixture *f = *state;

	f->verdict.fate = SIM_SA_LOST;
	join_group(f, 1, 1);
	assert_int_equal(f->control->ops->deadline(f->control), ACM_NEVER);
	pass(f, ACM_NSEC_PER_SEC);
	assert_false(pull(f));
	assert_int_equal(group_count(f), 1); /* of IPoIB */
}

static void a_lost_answer_leaves_its_effect(void **state)
{
	struct fixture *f = *state;

	f->verdict.lost_answer = true;
	join_group(f, 1, 1);
	pass(f, LATENCY);
	assert_false(pull(f));
	assert_int_equal(group_count(f), 2);
}

static void a_refusal_has_no_effect(void **state)
{
	struct fixture *f = *state;

	f->verdict = (struct sim_sa_verdict){.fate = SIM_SA_REFUSED, .status = 0x0200};
	join_group(f, 1, 1);
	ask(f, 2);
	pass(f, LATENCY);
	assert_int_equal(expect_answer(f, 1, ACM_SA_ATTRIBUTE_MCMEMBER), 0x0200);
	assert_int_equal(expect_path(f, 2), 0x0200);
	assert_false(pull(f));
	assert_int_equal(group_count(f), 1);
}

/* Nobody is there to refuse anything. */
static void an_sa_that_is_gone_does_not_refuse(void **state)
{
	struct fixture *f = *state;

	f->verdict = (struct sim_sa_verdict){.fate = SIM_SA_REFUSED, .status = 1};
	ask(f, 1);
	sim_builtin_set_sweep_time(f->inner, ACM_NSEC_PER_SEC);
	assert_int_equal(sim_builtin_fail_over(f->inner, port_of(f, "right1").node, SIM_LIDS_KEPT),
			 0);
	pass(f, ACM_NSEC_PER_SEC / 2);
	while (pull(f))
		assert_int_not_equal(f->event.type, SIM_CONTROL_SA_ANSWER);
}

/* Not only its answer: the SA takes it as late as that. */
static void a_slow_sa_takes_requests_late(void **state)
{
	struct fixture *f = *state;

	f->verdict.delay = ACM_NSEC_PER_MSEC;
	join_group(f, 1, 1);
	f->verdict.delay = ACM_NSEC_PER_MSEC / 2;
	ask(f, 2);
	f->verdict.delay = 0;
	ask(f, 3);
	pass(f, LATENCY);
	assert_int_equal(expect_path(f, 3), 0);
	assert_int_equal(f->control->ops->deadline(f->control), ACM_NSEC_PER_MSEC / 2);
	pass(f, ACM_NSEC_PER_MSEC);
	assert_int_equal(expect_path(f, 2), 0);
	assert_false(pull(f));
	assert_int_equal(group_count(f), 1);
	pass(f, ACM_NSEC_PER_MSEC + LATENCY);
	assert_int_equal(expect_answer(f, 1, ACM_SA_ATTRIBUTE_MCMEMBER), 0);
	assert_int_equal(group_count(f), 2);
}

/* The clock of the control inside goes on in the order in which requests reach it. */
static void late_requests_keep_their_order_when_much_time_passes(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 100; i++) {
		f->verdict.delay = (101 - i) * ACM_NSEC_PER_MSEC;
		ask(f, i);
	}
	pass(f, ACM_NSEC_PER_SEC);
	for (uint64_t i = 100; i >= 1; i--)
		assert_int_equal(expect_path(f, i), 0);
	assert_false(pull(f));
}

static void an_answer_comes_twice(void **state)
{
	struct fixture *f = *state;

	f->verdict = (struct sim_sa_verdict){.twice = true, .twice_gap = 500};
	ask(f, 1);
	pass(f, LATENCY);
	assert_int_equal(expect_path(f, 1), 0);
	assert_false(pull(f));
	assert_int_equal(f->control->ops->deadline(f->control), LATENCY + 500);
	pass(f, LATENCY + 500);
	assert_int_equal(f->control->ops->deadline(f->control), LATENCY + 500);
	assert_int_equal(expect_path(f, 1), 0);
	assert_false(pull(f));
	assert_int_equal(f->control->ops->deadline(f->control), ACM_NEVER);
}

static void a_cancelled_request_is_forgotten(void **state)
{
	struct fixture *f = *state;

	f->verdict = (struct sim_sa_verdict){.delay = ACM_NSEC_PER_MSEC};
	for (uint64_t i = 1; i <= 20; i++)
		ask(f, i);
	f->control->ops->sa_cancel(f->control, 1); /* it waits */
	f->verdict = (struct sim_sa_verdict){.twice = true, .twice_gap = 500};
	ask(f, 30);
	ask(f, 31);
	f->control->ops->sa_cancel(f->control, 30); /* it is with the SA */
	pass(f, LATENCY);
	assert_int_equal(expect_path(f, 31), 0);
	f->control->ops->sa_cancel(f->control, 31); /* answered, and to be answered again */
	pass(f, ACM_NSEC_PER_SEC);
	for (uint64_t i = 2; i <= 20; i++)
		assert_int_equal(expect_path(f, i), 0);
	assert_false(pull(f));
}

/* A port that went down meanwhile. */
static void what_cannot_be_sent_any_more_is_lost(void **state)
{
	struct fixture *f = *state;

	f->verdict.delay = ACM_NSEC_PER_MSEC;
	ask(f, 1);
	assert_int_equal(sim_builtin_stop_node(f->inner, port_of(f, "left2").node), 0);
	pass(f, ACM_NSEC_PER_SEC);
	while (pull(f))
		assert_int_not_equal(f->event.type, SIM_CONTROL_SA_ANSWER);
}

static void it_ends_with_requests_under_way(void **state)
{
	struct fixture *f = *state;

	f->verdict = (struct sim_sa_verdict){
		.delay = ACM_NSEC_PER_MSEC, .twice = true, .twice_gap = 500};
	for (uint64_t i = 1; i <= 200; i++)
		ask(f, i);
	pass(f, ACM_NSEC_PER_MSEC);
	pass(f, ACM_NSEC_PER_MSEC + LATENCY);
	expect_path(f, 1);
	pass(f, ACM_NSEC_PER_MSEC + LATENCY + 500);
	expect_path(f, 1);
	ask(f, 201);
}

/* ---- around a control that takes nothing for a while, or fails ---- */

static void nothing_is_lost_where_the_control_is_full(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct fake_control *fake;

	(void)state;
	assert_non_null(f);
	f->topology = small_topology_two_switches();
	fake = fake_control_create(f->topology);
	f->inner = &fake->base;
	assert_int_equal(sim_sa_faults_create(f->inner, judge, f, &f->control), 0);
	fake->sa_window = 0;
	f->verdict = (struct sim_sa_verdict){.twice = true};
	assert_int_equal(try_to_ask(f, "left2", 1), -EAGAIN);
	f->verdict = (struct sim_sa_verdict){.delay = 1000};
	ask(f, 2);
	pass(f, 1000);
	assert_int_equal(f->control->ops->deadline(f->control), 1000 + ACM_NSEC_PER_MSEC);
	fake->sa_window = 16;
	pass(f, ACM_NSEC_PER_SEC);
	assert_true(pull(f));
	assert_int_equal(f->event.cookie, 2);
	fake->sa_failure = -EHOSTUNREACH;
	f->verdict = (struct sim_sa_verdict){.fate = SIM_SA_REFUSED, .status = 1};
	ask(f, 3);
	assert_true(pull(f));
	assert_int_equal(f->event.type, SIM_CONTROL_SA_FAILED);
	assert_int_equal(f->event.cookie, 3);
	assert_int_equal(f->event.status, -EHOSTUNREACH);
	f->control->ops->destroy(f->control);
	sim_topology_free(f->topology);
	free(f);
}

/* ---- programs ---- */

static int send_mad(struct fixture *f, uint8_t class, uint32_t qpn, uint64_t cookie)
{
	struct sim_mad_route route = {.qpn = qpn, .dlid = 1};

	memset(f->mad, 0, sizeof(f->mad));
	acm_sa_encode_ping(cookie, f->mad);
	f->mad[1] = class;
	return f->control->ops->mad_send(f->control, port_of(f, "left2"), &route, f->mad, cookie);
}

static void requests_of_programs_are_judged(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct acm_sa_header header;
	struct fake_control *fake;

	(void)state;
	assert_non_null(f);
	f->topology = small_topology_two_switches();
	fake = fake_control_create(f->topology);
	f->inner = &fake->base;
	assert_int_equal(sim_sa_faults_create(f->inner, judge, f, &f->control), 0);
	f->verdict = (struct sim_sa_verdict){.fate = SIM_SA_REFUSED, .status = 7};
	assert_int_equal(send_mad(f, 0x03, 1, 1), 0);
	assert_int_equal(f->judged, 1);
	assert_int_equal(fake->mad_route.dlid, 1);
	assert_true(pull(f));
	assert_int_equal(acm_sa_decode_header(f->event.mad, f->event.length, &header), 0);
	assert_int_equal(header.status, 7);
	f->verdict = (struct sim_sa_verdict){.fate = SIM_SA_LOST};
	assert_int_equal(send_mad(f, 0x03, 1, 2), 0);
	assert_false(pull(f));
	/* Of a subnet manager, and of performance management. */
	assert_int_equal(send_mad(f, 0x01, 0, 3), 0);
	assert_true(pull(f));
	assert_int_equal(send_mad(f, 0x04, 1, 4), 0);
	assert_true(pull(f));
	assert_int_equal(f->event.cookie, 4);
	assert_int_equal(f->judged, 2);
	f->control->ops->destroy(f->control);
	sim_topology_free(f->topology);
	free(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_fault_nothing_changes),
		TEST(what_cannot_be_sent_is_not_judged),
		TEST(a_lost_request_has_no_effect),
		TEST(a_lost_answer_leaves_its_effect),
		TEST(a_refusal_has_no_effect),
		TEST(an_sa_that_is_gone_does_not_refuse),
		TEST(a_slow_sa_takes_requests_late),
		TEST(late_requests_keep_their_order_when_much_time_passes),
		TEST(an_answer_comes_twice),
		TEST(a_cancelled_request_is_forgotten),
		TEST(what_cannot_be_sent_any_more_is_lost),
		TEST(it_ends_with_requests_under_way),
		cmocka_unit_test(nothing_is_lost_where_the_control_is_full),
		cmocka_unit_test(requests_of_programs_are_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
