/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An engine that behaves as the reference daemon, where that differs. */
#include "cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS ACM_NSEC_PER_MSEC
/* The cluster's ports have the shortest subnet time-out. */
#define TIMEOUT  (100 * MS)
#define RETRIES  2u
#define GIVEN_UP (TIMEOUT * (RETRIES + 1))

struct seen {
	uint64_t path_queries[CLUSTER_NODES_MAX + 1];
	struct acm_message answer; /* the last */
	uint64_t answers;
	uint64_t multicast_times[32];
	int multicasts;
	uint16_t refused_status;
	int slow_for; /* node whose paths take half of a time-out */
};

static int watch_packet(struct cluster *cluster, struct cluster_packet *packet)
{
	struct seen *seen = cluster->context;

	if (packet->answer) {
		seen->answers++;
		assert_int_equal(
			acm_message_decode(packet->payload, sizeof(packet->payload), &seen->answer),
			0);
	} else if (packet->from == 1 && packet->to == 2 && seen->multicasts < 32) {
		seen->multicast_times[seen->multicasts++] = cluster->now;
	}
	return 1;
}

static void watch_sa(struct cluster *cluster, struct cluster_sa_query *query)
{
	struct seen *seen = cluster->context;

	if (query->attribute != ACM_SA_ATTRIBUTE_PATH)
		return;
	seen->path_queries[query->node]++;
	query->status = seen->refused_status;
	if (query->node == seen->slow_for)
		query->delay = TIMEOUT / 2;
}

static struct acm_engine_config configuration(enum acm_compat compat)
{
	struct acm_engine_config config;

	acm_engine_config_default(&config);
	config.timeout = TIMEOUT;
	config.retries = RETRIES;
	config.compat = compat;
	return config;
}

static void begin(struct cluster *cluster, struct seen *seen, int nodes,
		  const struct acm_engine_config *config)
{
	memset(cluster, 0, sizeof(*cluster));
	memset(seen, 0, sizeof(*seen));
	assert_int_equal(cluster_init(cluster, nodes, config), 0);
	cluster_start(cluster);
	cluster->context = seen;
	cluster->on_packet = watch_packet;
	cluster->on_sa = watch_sa;
}

static void begin_compat(struct cluster *cluster, struct seen *seen, int nodes)
{
	const struct acm_engine_config config = configuration(ACM_COMPAT_IBACM);

	begin(cluster, seen, nodes, &config);
}

static uint64_t time_to(struct cluster *cluster, uint64_t id, uint64_t begin)
{
	const struct cluster_answer *answer = cluster_answer(cluster, id);

	assert_true(answer->given);
	return answer->time - begin;
}

static void a_dead_destination_stalls_the_next(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t begun, dead, live;

	(void)state;
	begin_compat(&cluster, &seen, 2);
	begun = cluster.now;
	dead = cluster_ask(&cluster, 1, "nobody");
	live = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(cluster_answer(&cluster, dead)->reply.status, ACM_STATUS_TIMED_OUT);
	assert_int_equal(cluster_answer(&cluster, live)->reply.status, ACM_STATUS_OK);
	assert_true(time_to(&cluster, dead, begun) >= GIVEN_UP);
	assert_true(time_to(&cluster, live, begun) > GIVEN_UP);
	cluster_destroy(&cluster);
}

static void without_it_the_next_goes_its_own_way(void **state)
{
	const struct acm_engine_config config = configuration(ACM_COMPAT_NONE);
	struct cluster cluster;
	struct seen seen;
	uint64_t begun, live;

	(void)state;
	begin(&cluster, &seen, 2, &config);
	begun = cluster.now;
	cluster_ask(&cluster, 1, "nobody");
	live = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(cluster_answer(&cluster, live)->reply.status, ACM_STATUS_OK);
	assert_true(time_to(&cluster, live, begun) < TIMEOUT);
	cluster_destroy(&cluster);
}

static void requests_wait_for_their_turn_however_long(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t begun, live;
	char name[16];

	(void)state;
	begin_compat(&cluster, &seen, 2);
	begun = cluster.now;
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "nobody%d", i);
		cluster_ask(&cluster, 1, name);
	}
	live = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 11 * (GIVEN_UP + MS));
	assert_int_equal(cluster_answer(&cluster, live)->reply.status, ACM_STATUS_OK);
	assert_true(time_to(&cluster, live, begun) > 10 * GIVEN_UP);
	cluster_destroy(&cluster);
}

static void every_try_waits_as_long(void **state)
{
	struct cluster cluster;
	struct seen seen;

	(void)state;
	begin_compat(&cluster, &seen, 2);
	cluster_ask(&cluster, 1, "nobody");
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(seen.multicasts, RETRIES + 1);
	assert_true(seen.multicast_times[1] - seen.multicast_times[0] ==
		    seen.multicast_times[2] - seen.multicast_times[1]);
	assert_true(seen.multicast_times[1] - seen.multicast_times[0] >= TIMEOUT);
	cluster_destroy(&cluster);
}

static void a_failure_is_not_remembered(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t id;

	(void)state;
	begin_compat(&cluster, &seen, 2);
	cluster_ask(&cluster, 1, "nobody");
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	id = cluster_ask(&cluster, 1, "nobody");
	assert_false(cluster_answer(&cluster, id)->given);
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(seen.multicasts, 2 * (RETRIES + 1));
	cluster_destroy(&cluster);
}

static void the_responder_asks_for_the_way_back(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t id;

	(void)state;
	begin_compat(&cluster, &seen, 3);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, TIMEOUT / 2);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(seen.path_queries[1], 1);
	assert_int_equal(seen.path_queries[2], 1);
	assert_int_equal(seen.path_queries[3], 0); /* it only heard of it */
	assert_int_equal(seen.answers, 1);
	assert_int_equal(seen.answer.destination.type, ACM_ADDRESS_NONE);
	assert_int_equal(seen.answer.source.type, ACM_ADDRESS_NONE);
	cluster_destroy(&cluster);
}

static void a_way_back_that_is_known_is_not_asked_for(void **state)
{
	struct acm_event reload = {.type = ACM_EVENT_RELOAD};
	struct cluster cluster;
	struct seen seen;
	uint64_t id;

	(void)state;
	begin_compat(&cluster, &seen, 2);
	cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, TIMEOUT / 2);
	assert_int_equal(cluster_step(&cluster, 1, reload), 0);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, TIMEOUT / 2);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(seen.path_queries[1], 2);
	assert_int_equal(seen.path_queries[2], 1);
	assert_int_equal(seen.answers, 2);
	cluster_destroy(&cluster);
}

static void no_way_back_no_answer(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t id;

	(void)state;
	begin_compat(&cluster, &seen, 2);
	seen.refused_status = 0x0300;
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	assert_int_equal(seen.answers, 0);
	assert_int_equal(seen.path_queries[2], RETRIES + 1); /* for each request anew */
	cluster_destroy(&cluster);
}

/* Whoever asked would believe it, and remember it. */
static void no_answer_is_owed_for_an_address_that_was_given_up(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t id;

	(void)state;
	begin_compat(&cluster, &seen, 2);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "moved", 5);
	seen.slow_for = 2;
	id = cluster_ask(&cluster, 1, "moved");
	cluster_run_for(&cluster, TIMEOUT / 4);
	assert_int_equal(seen.path_queries[2], 1);
	cluster_remove_address(&cluster, 2, ACM_ADDRESS_NAME, "moved", 5);
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	assert_int_equal(seen.answers, 0);
	cluster_destroy(&cluster);
}

static void routes_from_groups_need_no_way_back(void **state)
{
	struct acm_engine_config config = configuration(ACM_COMPAT_IBACM);
	struct cluster cluster;
	struct seen seen;
	uint64_t id;

	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	begin(&cluster, &seen, 2, &config);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, TIMEOUT / 2);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(seen.path_queries[1] + seen.path_queries[2], 0);
	cluster_destroy(&cluster);
}

static void both_kinds_live_on_one_fabric(void **state)
{
	struct acm_engine_config configs[] = {configuration(ACM_COMPAT_IBACM),
					      configuration(ACM_COMPAT_NONE)};
	struct cluster cluster = {0};
	struct seen seen = {0};
	uint64_t from_compat, from_ours;

	(void)state;
	assert_int_equal(cluster_init_each(&cluster, 2, configs), 0);
	cluster_start(&cluster);
	cluster.context = &seen;
	cluster.on_sa = watch_sa;
	from_compat = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, TIMEOUT / 2);
	assert_int_equal(cluster_answer(&cluster, from_compat)->reply.status, ACM_STATUS_OK);
	assert_int_equal(seen.path_queries[2], 0);
	from_ours = cluster_ask(&cluster, 2, "node1");
	cluster_run_for(&cluster, TIMEOUT / 2);
	assert_int_equal(cluster_answer(&cluster, from_ours)->reply.status, ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

static void a_request_goes_on_when_its_answer_was_overheard(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t begun, live, again;

	(void)state;
	begin_compat(&cluster, &seen, 3);
	begun = cluster.now;
	cluster_ask(&cluster, 1, "nobody");
	live = cluster_ask(&cluster, 1, "node2");
	cluster_ask(&cluster, 2, "node3");
	cluster_run_for(&cluster, TIMEOUT / 2);
	/* Known, and answered; but still to be asked for when its turn comes. */
	assert_int_equal(cluster_answer(&cluster, live)->reply.status, ACM_STATUS_OK);
	assert_true(time_to(&cluster, live, begun) < TIMEOUT / 2);
	again = cluster_ask(&cluster, 1, "node2");
	assert_true(cluster_answer(&cluster, again)->given);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_MULTICASTS), 1);
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_MULTICASTS), RETRIES + 2);
	assert_int_equal(cluster_answer(&cluster, live)->times, 1);
	again = cluster_ask(&cluster, 1, "node2");
	assert_true(cluster_answer(&cluster, again)->given);
	cluster_destroy(&cluster);
}

static int lose_answers(struct cluster *cluster, struct cluster_packet *packet)
{
	(void)cluster;
	return packet->answer ? 0 : 1;
}

static void one_that_was_overheard_may_stay_silent(void **state)
{
	struct cluster cluster;
	struct seen seen;
	uint64_t id;

	(void)state;
	begin_compat(&cluster, &seen, 3);
	cluster.on_packet = lose_answers;
	id = cluster_ask(&cluster, 1, "node2");
	cluster_ask(&cluster, 2, "node3");
	cluster_run_for(&cluster, 2 * GIVEN_UP);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster_stats(&cluster, 1).waiting, 0);
	cluster_destroy(&cluster);
}

static void nothing_is_evicted(void **state)
{
	struct acm_engine_config config = configuration(ACM_COMPAT_IBACM);
	struct acm_message message = {.tid = 1, .gid_count = 1};
	struct cluster cluster;
	struct seen seen;
	char name[16];

	(void)state;
	config.memory_budget = 4096;
	begin(&cluster, &seen, 2, &config);
	assert_int_equal(acm_address_canonical(&message.destination, ACM_ADDRESS_NAME,
					       (const uint8_t *)"other", 5),
			 0);
	for (int i = 0; i < 1000; i++) {
		int length = snprintf(name, sizeof(name), "peer%d", i);

		assert_int_equal(acm_address_canonical(&message.source, ACM_ADDRESS_NAME,
						       (const uint8_t *)name, (size_t)length),
				 0);
		cluster_hear(&cluster, 1, 2, &message);
	}
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_EVICTED), 0);
	assert_true(cluster_stats(&cluster, 1).destinations >= 1000);
	cluster_destroy(&cluster);
}

static void an_unknown_kind_is_refused(void **state)
{
	struct acm_engine_config config = configuration(ACM_COMPAT_NONE);
	const char *field = NULL;

	(void)state;
	config.compat = (enum acm_compat)2;
	assert_int_not_equal(acm_engine_config_check(&config, &field), 0);
	assert_string_equal(field, "compat");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_destination_stalls_the_next),
		cmocka_unit_test(without_it_the_next_goes_its_own_way),
		cmocka_unit_test(requests_wait_for_their_turn_however_long),
		cmocka_unit_test(every_try_waits_as_long),
		cmocka_unit_test(a_failure_is_not_remembered),
		cmocka_unit_test(the_responder_asks_for_the_way_back),
		cmocka_unit_test(a_way_back_that_is_known_is_not_asked_for),
		cmocka_unit_test(no_way_back_no_answer),
		cmocka_unit_test(no_answer_is_owed_for_an_address_that_was_given_up),
		cmocka_unit_test(routes_from_groups_need_no_way_back),
		cmocka_unit_test(both_kinds_live_on_one_fabric),
		cmocka_unit_test(a_request_goes_on_when_its_answer_was_overheard),
		cmocka_unit_test(one_that_was_overheard_may_stay_silent),
		cmocka_unit_test(nothing_is_evicted),
		cmocka_unit_test(an_unknown_kind_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
