/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests that wait: many for one, too many, cancelled ones; each is answered in time. */
#include "support/inquiry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define US  ACM_NSEC_PER_USEC
#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

/* ---- coalescing, limits, ids ---- */

static void fifty_requests_are_one_look_up(void **state)
{
	uint64_t ids[50];

	(void)state;
	inquiry_start(2);
	for (int i = 0; i < 50; i++)
		ids[i] = cluster_ask(&cluster, 1, i % 2 ? "node2" : "Node2");
	cluster_run_for(&cluster, MS);
	for (int i = 0; i < 50; i++)
		inquiry_check_path(&inquiry_reply(ids[i])->path, 1, 2);
	assert_int_equal(cluster.multicasts, 1);
	assert_int_equal(cluster.path_queries, 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_COALESCED), 49);
}

static void more_than_the_limit_get_status_1(void **state)
{
	uint64_t ids[12];
	uint64_t sent;

	(void)state;
	config.request_limit = 10;
	inquiry_start(2);
	for (int i = 0; i < 12; i++)
		ids[i] = cluster_ask(&cluster, 1, i < 10 ? "nobody" : "nobody-else");
	inquiry_answered(ids[10], ACM_STATUS_NO_MEMORY);
	inquiry_answered(ids[11], ACM_STATUS_NO_MEMORY);
	sent = cluster.multicasts;
	assert_int_equal(sent, 1); /* nothing was begun for whom nothing is answered */
	cluster_run_for(&cluster, inquiry_bound());
	for (int i = 0; i < 10; i++)
		inquiry_answered(ids[i], ACM_STATUS_TIMED_OUT);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
}

static int same_id_answers;

static void count_same_id(struct cluster *at, int node, const struct acm_action *action)
{
	(void)at;
	(void)node;
	same_id_answers += action->type == ACM_ACTION_REPLY;
}

static void an_id_that_waits_already_is_refused(void **state)
{
	struct acm_request request;
	struct acm_event event = {.type = ACM_EVENT_REQUEST};
	uint64_t id;

	(void)state;
	inquiry_start(2);
	id = cluster_ask(&cluster, 1, "node2");
	request = cluster_request(&cluster, 1, "node2");
	request.id = id;
	event.request = &request;
	cluster.on_action = count_same_id;
	same_id_answers = 0;
	assert_int_equal(cluster_step(&cluster, 1, event), 0);
	assert_int_equal(same_id_answers, 1);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_NO_MEMORY);
	cluster_run_for(&cluster, MS);
	assert_int_equal(same_id_answers, 2);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	cluster.answers[id].times = 1; /* two requests, two answers */
	cluster_run_for(&cluster, 10 * SEC);
	assert_int_equal(same_id_answers, 2);
}

/* ---- cancelling ---- */

static void cancelling_at_each_stage(void **state)
{
	static const uint64_t stages[] = {0, 5 * US, 10 * US, 15 * US, 25 * US};

	(void)state;
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		uint64_t id, other;

		inquiry_reset(state);
		inquiry_start(2);
		id = cluster_ask(&cluster, 1, "node2");
		other = cluster_ask(&cluster, 1, "node2");
		cluster_run_for(&cluster, stages[i]);
		inquiry_waits(id);
		cluster_cancel(&cluster, 1, id);
		cluster_run_for(&cluster, MS);
		inquiry_waits(id);
		inquiry_answered(other, ACM_STATUS_OK);
		cluster_cancel(&cluster, 1, id); /* again, or one that was answered: nothing */
		cluster_cancel(&cluster, 1, other);
		assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_CANCELLED), 1);
		if (i + 1 < sizeof(stages) / sizeof(stages[0]))
			cluster_destroy(&cluster);
	}
}

static void a_look_up_nobody_waits_for_ends_and_helps_the_next(void **state)
{
	uint64_t id;

	(void)state;
	inquiry_start(2);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_cancel(&cluster, 1, id);
	cluster_run_for(&cluster, MS);
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
}

static void cancelling_first_middle_and_last_of_many(void **state)
{
	uint64_t ids[5];

	(void)state;
	for (int gone = 0; gone < 5; gone++) {
		inquiry_reset(state);
		inquiry_start(2);
		for (int i = 0; i < 5; i++)
			ids[i] = cluster_ask(&cluster, 1, "node2");
		cluster_cancel(&cluster, 1, ids[gone]);
		ids[gone] = cluster_ask(&cluster, 1, "node2"); /* behind the last */
		cluster_run_for(&cluster, MS);
		for (int i = 0; i < 5; i++)
			inquiry_answered(ids[i], ACM_STATUS_OK);
		if (gone < 4)
			cluster_destroy(&cluster);
	}
}

/* ---- look-ups that nobody waits for ---- */

#define UNATTENDED_MAX 1024

static struct acm_request without_delay(int number)
{
	char name[32];
	struct acm_request request;

	snprintf(name, sizeof(name), "nobody%d", number);
	request = cluster_request(&cluster, 1, name);
	request.no_delay = true;
	return request;
}

static void look_ups_without_delay_are_so_many_at_once(void **state)
{
	uint64_t destinations;

	(void)state;
	inquiry_start(2);
	for (int i = 0; i < UNATTENDED_MAX; i++)
		inquiry_ask_request(1, without_delay(i), ACM_STATUS_NO_DATA, 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_UNATTENDED), 0);
	destinations = cluster_stats(&cluster, 1).destinations;
	for (int i = 0; i < 100; i++)
		inquiry_ask_request(1, without_delay(UNATTENDED_MAX + i), ACM_STATUS_NO_DATA, 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_UNATTENDED), 100);
	/* They leave nothing behind, and joining one that is under way is no new one. */
	assert_int_equal(cluster_stats(&cluster, 1).destinations, destinations);
	inquiry_ask_request(1, without_delay(0), ACM_STATUS_NO_DATA, 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_UNATTENDED), 100);
	/* Who waits is served. */
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 100 * MS);
	/* When the first have failed there is room again. */
	cluster_run_for(&cluster, inquiry_bound());
	inquiry_ask_request(1, without_delay(UNATTENDED_MAX), ACM_STATUS_NO_DATA, 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_UNATTENDED), 100);
}

static void look_ups_that_clients_left_are_so_many_at_once(void **state)
{
	static uint64_t ids[UNATTENDED_MAX + 50];
	uint64_t kept;
	char name[32];

	(void)state;
	inquiry_start(2);
	for (int i = 0; i < UNATTENDED_MAX + 50; i++) {
		snprintf(name, sizeof(name), "nobody%d", i);
		ids[i] = cluster_ask(&cluster, 1, name);
	}
	kept = cluster_ask(&cluster, 1, "nobody0");
	for (int i = 0; i < UNATTENDED_MAX + 50; i++)
		cluster_cancel(&cluster, 1, ids[i]);
	/* The first has another that waits. */
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_UNATTENDED), 49);
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 100 * MS);
	cluster_run_for(&cluster, inquiry_bound());
	inquiry_answered(kept, ACM_STATUS_TIMED_OUT);
}

static struct acm_trace last_failed;

static void watch_failed(struct cluster *at, int node, const struct acm_trace *trace)
{
	(void)at;
	(void)node;
	if (trace->type == ACM_TRACE_FAILED)
		last_failed = *trace;
}

static void one_too_many_is_told(void **state)
{
	(void)state;
	config.trace_mask = UINT64_C(1) << ACM_TRACE_FAILED;
	inquiry_start(2);
	cluster.on_trace = watch_failed;
	for (int i = 0; i <= UNATTENDED_MAX; i++)
		inquiry_ask_request(1, without_delay(i), ACM_STATUS_NO_DATA, 0);
	assert_int_equal(last_failed.status, ACM_STATUS_NO_MEMORY);
	assert_non_null(last_failed.reason);
	assert_memory_equal(last_failed.destination.data, "nobody1024", 10);
}

/* ---- every request is answered in time ---- */

static void with_network_and_sa_dead_all_are_answered_in_time(void **state)
{
	uint64_t ids[200], begun;
	char name[32];

	(void)state;
	config.resolve_depth = 3;
	config.sa_depth = 2;
	inquiry_start(3);
	for (int i = 2; i <= 3; i++) {
		snprintf(name, sizeof(name), "node%d", i);
		inquiry_ask(i, "node1",
			    ACM_STATUS_OK); /* node 1 knows them; only routes are wanting */
	}
	cluster.on_packet = inquiry_lose_all;
	cluster.on_sa = inquiry_silence;
	begun = cluster.now;
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), i % 3 ? "nobody%d" : "node%d", i % 3 ? i : 2 + i % 2);
		ids[i] = cluster_ask(&cluster, 1, name);
		if (i % 10 == 0)
			cluster_run_for(&cluster, MS);
	}
	cluster_run_for(&cluster, inquiry_bound());
	for (int i = 0; i < 200; i++) {
		inquiry_answered(ids[i], ACM_STATUS_TIMED_OUT);
		assert_true(cluster_answer(&cluster, ids[i])->time <=
			    begun + 20 * MS + inquiry_bound());
	}
}

static void without_any_port_all_are_answered_at_once(void **state)
{
	struct acm_request request;

	(void)state;
	assert_int_equal(cluster_init(&cluster, 1, &config), 0);
	inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_NOT_CONNECTED, 0);
	request = cluster_request(&cluster, 1, "x");
	request.has_source = false;
	inquiry_ask_request(1, request, ACM_STATUS_NOT_CONNECTED, 0);
	inquiry_ask_request(1, cluster_request(&cluster, 1, "x"), ACM_STATUS_SOURCE_ADDRESS, 0);
	request.kind = ACM_REQUEST_PATH;
	request.path.dlid = 5;
	inquiry_ask_request(1, request, ACM_STATUS_NOT_CONNECTED, 0);
}

static void a_port_that_goes_down_answers_all(void **state)
{
	uint64_t ids[30];
	uint64_t sent;

	(void)state;
	config.resolve_depth = 2;
	config.sa_depth = 1;
	inquiry_start(3);
	cluster.on_sa = inquiry_silence;
	ids[0] = cluster_ask(&cluster, 1, "node2");
	ids[1] = cluster_ask(&cluster, 1, "node3");
	cluster_run_for(&cluster, MS); /* one is at the SA, one waits to be asked there */
	for (int i = 2; i < 30; i++) {
		char name[32];

		snprintf(name, sizeof(name), "nobody%d", i);
		ids[i] = cluster_ask(&cluster, 1,
				     name); /* these wait for the window, most of them */
	}
	sent = cluster.multicasts + cluster.sa_queries;
	cluster_port(&cluster, 1)->state = ACM_PORT_DOWN;
	cluster_port_changed(&cluster, 1);
	for (int i = 0; i < 30; i++)
		inquiry_answered(ids[i], ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(cluster.multicasts + cluster.sa_queries, sent);
}

static void a_partition_that_goes_answers_all(void **state)
{
	uint64_t ids[30];
	uint64_t sent;

	(void)state;
	config.resolve_depth = 2;
	inquiry_start(2);
	for (int i = 0; i < 30; i++) {
		char name[32];

		snprintf(name, sizeof(name), "nobody%d", i);
		ids[i] = cluster_ask(&cluster, 1, name);
	}
	sent = cluster.multicasts;
	cluster_port(&cluster, 1)->pkeys[0] = 0x8012;
	cluster_port_changed(&cluster, 1);
	for (int i = 0; i < 30; i++)
		inquiry_answered(ids[i], ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(cluster.multicasts, sent);
}

static void a_port_that_is_removed_answers_all(void **state)
{
	struct acm_event event = {.type = ACM_EVENT_PORT_REMOVED};
	uint64_t id;

	(void)state;
	inquiry_start(2);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster_step(&cluster, 1, event), 0);
	inquiry_answered(id, ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints, 0);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
}

static void a_membership_in_doubt_keeps_the_queue(void **state)
{
	uint64_t id;

	(void)state;
	inquiry_start(2);
	cluster_port(&cluster, 1)->sm_lid = 101;
	cluster_port_changed(&cluster, 1);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster.multicasts, 0); /* until the new SM has confirmed it */
	cluster_run_for(&cluster, MS);
	inquiry_answered(id, ACM_STATUS_OK);
}

/* Neither does what waited for the window go out, when that opens. */
static void a_membership_in_doubt_keeps_the_window_shut(void **state)
{
	(void)state;
	config.resolve_depth = 1;
	inquiry_start(2);
	cluster_ask(&cluster, 1, "nobody");
	cluster_ask(&cluster, 1, "node2");
	cluster.on_sa = inquiry_silence;
	cluster_port(&cluster, 1)->sm_lid = 101;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster.multicasts, 1);
}

static void refuse_joins(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	if (query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER)
		query->status = ACM_SA_DENIED << 8;
}

static void what_is_queued_when_the_membership_is_refused_fails(void **state)
{
	uint64_t ids[10];

	(void)state;
	config.resolve_depth = 1;
	inquiry_start(2);
	for (int i = 0; i < 10; i++) {
		char name[32];

		snprintf(name, sizeof(name), "nobody%d", i);
		ids[i] = cluster_ask(&cluster, 1, name);
	}
	cluster.on_sa = refuse_joins;
	cluster_port(&cluster, 1)->sm_lid = 101;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, MS);
	for (int i = 1; i < 10; i++)
		inquiry_answered(ids[i], ACM_STATUS_NOT_CONNECTED);
	cluster_run_for(&cluster, inquiry_bound());
	inquiry_answered(ids[0], ACM_STATUS_NOT_CONNECTED); /* its next try found no membership */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inquiry_reset, inquiry_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fifty_requests_are_one_look_up),
		TEST(more_than_the_limit_get_status_1),
		TEST(an_id_that_waits_already_is_refused),
		TEST(cancelling_at_each_stage),
		TEST(a_look_up_nobody_waits_for_ends_and_helps_the_next),
		TEST(cancelling_first_middle_and_last_of_many),
		TEST(look_ups_without_delay_are_so_many_at_once),
		TEST(look_ups_that_clients_left_are_so_many_at_once),
		TEST(one_too_many_is_told),
		TEST(with_network_and_sa_dead_all_are_answered_in_time),
		TEST(without_any_port_all_are_answered_at_once),
		TEST(a_port_that_goes_down_answers_all),
		TEST(a_partition_that_goes_answers_all),
		TEST(a_port_that_is_removed_answers_all),
		TEST(a_membership_in_doubt_keeps_the_queue),
		TEST(a_membership_in_doubt_keeps_the_window_shut),
		TEST(what_is_queued_when_the_membership_is_refused_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
