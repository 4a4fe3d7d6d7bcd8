/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memberships: a port joins, checks now and then, and copes with answers that are late, wrong or
 * missing. The cluster itself fails the test where a group is attached twice or something is sent
 * from a closed endpoint.
 */
#include "support/membership_watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

/* ---- single events ---- */

static void a_port_joins_once(void **state)
{
	(void)state;
	membership_start(1);
	assert_true(membership_ready(1));
	assert_int_equal(seen.opens, 1);
	assert_int_equal(seen.attaches, 1);
	assert_int_equal(cluster.joins, 1);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void the_same_port_again_changes_nothing(void **state)
{
	uint64_t queries;

	(void)state;
	membership_start(1);
	queries = cluster.sa_queries;
	for (int i = 0; i < 5; i++)
		cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, SEC);
	assert_int_equal(cluster.sa_queries, queries);
	assert_int_equal(seen.attaches, 1);
	cluster_destroy(&cluster);
}

static void reregister_confirms_without_attaching_again(void **state)
{
	(void)state;
	membership_start(1);
	for (int i = 0; i < 3; i++)
		membership_event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 10 * MS);
	assert_true(membership_ready(1));
	assert_int_equal(seen.attaches, 1);
	assert_int_equal(seen.detaches, 0);
	cluster_destroy(&cluster);
}

static void a_port_that_returns_joins_anew(void **state)
{
	(void)state;
	membership_start(2);
	membership_set_state(1, ACM_PORT_DOWN);
	cluster_run_for(&cluster, SEC);
	assert_false(membership_ready(1));
	inquiry_ask(1, "node2", ACM_STATUS_NOT_CONNECTED);
	membership_set_state(1, ACM_PORT_ACTIVE);
	cluster_run_for(&cluster, 10 * MS);
	assert_true(membership_ready(1));
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(seen.attaches, 2); /* one each: the queue pair was attached all the time */
	cluster_destroy(&cluster);
}

static void a_request_right_after_the_port_is_up_waits_for_the_join(void **state)
{
	uint64_t id;

	(void)state;
	membership_start(2);
	membership_set_state(1, ACM_PORT_DOWN);
	membership_set_state(1, ACM_PORT_ACTIVE);
	id = cluster_ask(&cluster, 1, "node2");
	assert_false(cluster_answer(&cluster, id)->given);
	cluster_run_for(&cluster, MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, id)->given);
	cluster_destroy(&cluster);
}

static void refuse_node1(struct cluster *at, struct cluster_sa_query *query)
{
	if (membership_is_join(query) && query->node == 1)
		query->status = ACM_SA_REQ_INVALID << 8;
	(void)at;
}

static void a_failure_before_the_port_went_down_is_forgotten(void **state)
{
	uint64_t id;

	(void)state;
	membership_make(2);
	cluster.on_sa = refuse_node1;
	cluster_start(&cluster);
	inquiry_ask(1, "node2", ACM_STATUS_NOT_CONNECTED);
	membership_set_state(1, ACM_PORT_DOWN);
	cluster.on_sa = NULL;
	membership_set_state(1, ACM_PORT_ACTIVE);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

/* ---- replies that come late, wrong or not at all ---- */

static void a_join_answer_after_the_port_went_down_joins_nothing(void **state)
{
	(void)state;
	membership_make(1);
	cluster.on_sa = membership_slow_first_join;
	cluster_start(&cluster);
	assert_false(membership_ready(1));
	membership_set_state(1, ACM_PORT_DOWN);
	cluster_run_for(&cluster, 100 * MS);
	assert_int_equal(seen.attaches, 0);
	assert_false(membership_ready(1));
	membership_set_state(1, ACM_PORT_ACTIVE);
	cluster_run_for(&cluster, 10 * MS);
	assert_true(membership_ready(1));
	assert_int_equal(seen.attaches, 1);
	cluster_destroy(&cluster);
}

static int wrong_field;

static void wrong_answer(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			 uint32_t *length)
{
	uint8_t *record = mad + 56;

	if (!membership_is_join(query) || at->joins > 1)
		return;
	switch (wrong_field) {
	case 0: /* MGID */
		record[9] ^= 1;
		break;
	case 1: /* MLID that is none */
		record[36] = 0x00;
		break;
	case 2: /* Q_Key */
		record[33] ^= 1;
		break;
	case 3: /* MTU */
		record[38] = (uint8_t)(0x80 | acm_mtu_code(4096));
		break;
	case 4: /* rate */
		record[42] = (uint8_t)(0x80 | acm_rate_code(400));
		break;
	case 5: /* P_Key */
		record[41] ^= 1;
		break;
	case 6: /* permissive MLID */
		record[36] = record[37] = 0xff;
		break;
	case 7:
		*length = 100;
		break;
	}
}

static void an_answer_that_does_not_fit_is_no_membership(void **state)
{
	(void)state;
	for (wrong_field = 0; wrong_field < 8; wrong_field++) {
		membership_reset(state);
		membership_make(1);
		cluster.on_sa_answer = wrong_answer;
		cluster_start(&cluster);
		assert_false(membership_ready(1));
		assert_int_equal(seen.attaches, 0);
		assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_JOIN_FAILURES), 1);
		assert_true(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED) >= 1);
		cluster_run_for(&cluster, SEC);
		assert_true(membership_ready(1));
		assert_int_equal(seen.attaches, 1);
		cluster_destroy(&cluster);
	}
}

static void doubled_answer(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			   uint32_t *length)
{
	(void)at;
	(void)query;
	(void)length;
	mad[12] ^= 0x55; /* another transaction's id */
}

static void answers_of_other_transactions_are_dropped(void **state)
{
	(void)state;
	membership_make(1);
	cluster.on_sa_answer = doubled_answer;
	cluster_start(&cluster);
	assert_false(membership_ready(1));
	assert_true(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED) >= 1);
	cluster.on_sa_answer = NULL;
	cluster_run_for(&cluster, SEC);
	assert_true(membership_ready(1));
	cluster_destroy(&cluster);
}

static void refuse_joins(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	if (membership_is_join(query))
		query->status = ACM_SA_REQ_INVALID << 8;
}

static uint8_t spoilt_record;

static void other_record(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			 uint32_t *length)
{
	(void)at;
	(void)length;
	if (query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->method == METHOD_GET)
		mad[56 + spoilt_record] = (uint8_t)(0x80 | acm_mtu_code(1024));
}

static void a_refusal_is_explained_by_the_groups_record(void **state)
{
	(void)state;
	config.trace_mask = UINT64_MAX;
	membership_make(1);
	cluster.on_sa = refuse_joins;
	cluster.on_sa_answer = other_record;
	spoilt_record = 38;
	cluster_start(&cluster);
	assert_true(seen.records >= 1);
	assert_int_equal(seen.last_record.value, acm_mtu_code(1024) << 8 | acm_rate_code(100));
	assert_int_equal(seen.last_record.pkey, ACM_PKEY_DEFAULT);
	assert_string_equal(seen.last_record.reason, "the group's MTU is another");
	cluster_destroy(&cluster);
}

static void a_record_that_would_fit_says_so(void **state)
{
	(void)state;
	config.trace_mask = UINT64_MAX;
	membership_make(1);
	cluster.on_sa = refuse_joins;
	cluster_start(&cluster);
	assert_true(seen.records >= 1);
	assert_non_null(strstr(seen.last_record.reason, "may not be allowed"));
	cluster_destroy(&cluster);
}

static int failed_with; /* what the transport says of the request */

static void fail_joins(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->failed = failed_with;
}

/* The end of the line; what the test has set of the cluster goes with it. */
static void fails_with(const char *end)
{
	size_t length;

	cluster_start(&cluster);
	cluster_run_for(&cluster, 60 * SEC);
	length = strlen(seen.last_failure);
	assert_in_range(strlen(end), 1, length);
	assert_string_equal(seen.last_failure + length - strlen(end), end);
	cluster_destroy(&cluster);
	membership_reset(NULL);
	config.trace_mask = UINT64_MAX;
	membership_make(1);
}

static void a_failed_join_says_why(void **state)
{
	(void)state;
	config.trace_mask = UINT64_MAX;
	membership_make(1);
	cluster.on_sa = refuse_joins;
	fails_with(" pkey=0xffff mad_status=0x0200 reason=invalid_request");
	cluster.on_sa = inquiry_silence;
	fails_with(" pkey=0xffff reason=the_SA_did_not_answer");
	/* What a kernel says that has waited is silence too. */
	cluster.on_sa = fail_joins;
	failed_with = -ETIMEDOUT;
	fails_with(" pkey=0xffff reason=the_SA_did_not_answer");
	cluster.on_sa = fail_joins;
	failed_with = -EIO;
	fails_with(" status=-5 gid=ff15:4001:ffff:3:400:: pkey=0xffff "
		   "reason=the_SA_could_not_be_asked");
	cluster.attach_status = -ENOMEM;
	fails_with(" status=-12 gid=ff15:4001:ffff:3:400:: pkey=0xffff "
		   "reason=not_attached_to_the_group");
	cluster.attach_delay = ACM_NEVER;
	fails_with(" pkey=0xffff reason=whether_it_is_attached_to_the_group_is_not_told");
	wrong_field = 2;
	cluster.on_sa_answer = wrong_answer;
	fails_with(" pkey=0xffff reason=the_SA's_answer_does_not_fit");
	cluster_destroy(&cluster);
}

/* ---- the verify timer ---- */

static uint16_t moved_mlid;

static void move_group(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
		       uint32_t *length)
{
	(void)at;
	(void)length;
	if (membership_is_join(query) && moved_mlid) {
		mad[56 + 36] = (uint8_t)(moved_mlid >> 8);
		mad[56 + 37] = (uint8_t)moved_mlid;
	}
}

static void a_membership_is_checked_now_and_then(void **state)
{
	(void)state;
	config.join_verify = 60 * SEC;
	membership_start(1);
	cluster_run_for(&cluster, 50 * SEC);
	assert_int_equal(cluster.joins, 1);
	cluster_run_for(&cluster, 20 * SEC);
	assert_int_equal(cluster.joins, 2);
	assert_int_equal(seen.attaches, 1);
	cluster_run_for(&cluster, 600 * SEC);
	assert_in_range(cluster.joins, 10, 13);
	assert_int_equal(seen.attaches, 1);
	cluster_destroy(&cluster);
}

static void never_means_never(void **state)
{
	(void)state;
	config.join_verify = 0;
	membership_start(1);
	cluster_run_for(&cluster, 100000 * SEC);
	assert_int_equal(cluster.joins, 1);
	cluster_destroy(&cluster);
}

static void a_check_finds_a_group_that_moved(void **state)
{
	(void)state;
	config.join_verify = 60 * SEC;
	membership_make(1);
	cluster.on_sa_answer = move_group;
	moved_mlid = 0;
	cluster_start(&cluster);
	moved_mlid = 0xc123;
	cluster_run_for(&cluster, 70 * SEC);
	assert_true(membership_ready(1));
	assert_int_equal(seen.attaches, 2);
	assert_int_equal(seen.detaches, 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void a_silent_sm_takes_no_membership_away(void **state)
{
	(void)state;
	config.join_verify = 60 * SEC;
	membership_start(2);
	cluster.on_sa = inquiry_silence;
	cluster_run_for(&cluster, 600 * SEC);
	assert_true(membership_ready(1));
	assert_int_equal(seen.attaches, 2);
	cluster.on_sa = NULL;
	cluster_run_for(&cluster, 60 * SEC);
	assert_true(membership_ready(1));
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

static void an_sm_that_is_silent_from_the_start_is_asked_until_it_answers(void **state)
{
	uint64_t id;

	(void)state;
	membership_make(2);
	cluster.on_sa = inquiry_silence;
	cluster_start(&cluster);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 600 * SEC);
	assert_int_equal(cluster_answer(&cluster, id)->times, 1);
	assert_false(membership_ready(1));
	/* Not a storm: the back-off grew. */
	assert_in_range(cluster.joins, 2 * 20, 2 * 150);
	cluster.on_sa = NULL;
	cluster_run_for(&cluster, config.join_backoff_max * 2);
	assert_true(membership_ready(1));
	assert_true(membership_ready(2));
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

static void the_back_off_begins_anew_after_success(void **state)
{
	uint64_t joins;

	(void)state;
	membership_make(1);
	cluster.on_sa = refuse_joins;
	cluster_start(&cluster);
	cluster_run_for(&cluster, 300 * SEC);
	cluster.on_sa = NULL;
	cluster_run_for(&cluster, 40 * SEC);
	assert_true(membership_ready(1));
	cluster.on_sa = refuse_joins;
	membership_event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, MS);
	joins = cluster.joins;
	cluster.on_sa = NULL;
	cluster_run_for(&cluster, 120 * MS); /* the least back-off and its jitter */
	assert_int_equal(cluster.joins, joins + 1);
	assert_true(membership_ready(1));
	cluster_destroy(&cluster);
}

#define TEST(name) cmocka_unit_test_setup(name, membership_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_port_joins_once),
		TEST(the_same_port_again_changes_nothing),
		TEST(reregister_confirms_without_attaching_again),
		TEST(a_port_that_returns_joins_anew),
		TEST(a_request_right_after_the_port_is_up_waits_for_the_join),
		TEST(a_failure_before_the_port_went_down_is_forgotten),
		TEST(a_join_answer_after_the_port_went_down_joins_nothing),
		TEST(an_answer_that_does_not_fit_is_no_membership),
		TEST(answers_of_other_transactions_are_dropped),
		TEST(a_refusal_is_explained_by_the_groups_record),
		TEST(a_record_that_would_fit_says_so),
		TEST(a_failed_join_says_why),
		TEST(a_membership_is_checked_now_and_then),
		TEST(never_means_never),
		TEST(a_check_finds_a_group_that_moved),
		TEST(a_silent_sm_takes_no_membership_away),
		TEST(an_sm_that_is_silent_from_the_start_is_asked_until_it_answers),
		TEST(the_back_off_begins_anew_after_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
