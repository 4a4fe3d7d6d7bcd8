/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the reference daemon gets wrong, one test each, with the right outcome. Where the fault lies
 * in sockets or files (split messages, many clients, file modes) its test is with the daemon's.
 */
#include "support/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct acm_engine_config config;

static int reset(void **state)
{
	(void)state;
	acm_engine_config_default(&config);
	config.timeout = 100 * ACM_NSEC_PER_MSEC;
	config.trace_mask = 0;
	return 0;
}

static int lose_everything_for_dead(struct cluster *cluster, struct cluster_packet *packet)
{
	struct acm_message message;

	(void)cluster;
	assert_int_equal(acm_message_decode(packet->payload, sizeof(packet->payload), &message), 0);
	return message.destination.type == ACM_ADDRESS_NAME &&
			       !memcmp(message.destination.data, "dead", 4)
		       ? 0
		       : 1;
}

/* 1 */
static void a_dead_destination_stalls_no_other(void **state)
{
	struct cluster cluster = {0};
	uint64_t dead[100], live[7];
	char name[16];

	(void)state;
	cluster_init(&cluster, 8, &config);
	cluster.on_packet = lose_everything_for_dead;
	cluster_start(&cluster);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "dead%d", i);
		dead[i] = cluster_ask(&cluster, 1, name);
	}
	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "node%d", i + 2);
		live[i] = cluster_ask(&cluster, 1, name);
	}
	cluster_run_for(&cluster, 20 * ACM_NSEC_PER_MSEC);
	for (int i = 0; i < 7; i++) {
		assert_true(cluster_answer(&cluster, live[i])->given);
		assert_int_equal(cluster_answer(&cluster, live[i])->reply.status, ACM_STATUS_OK);
		assert_int_equal(cluster_answer(&cluster, live[i])->reply.path.dlid, i + 2);
	}
	assert_false(cluster_answer(&cluster, dead[0])->given);
	cluster_run_for(&cluster, ACM_NSEC_PER_SEC);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(cluster_answer(&cluster, dead[i])->times, 1);
		assert_int_equal(cluster_answer(&cluster, dead[i])->reply.status,
				 ACM_STATUS_TIMED_OUT);
	}
	cluster_destroy(&cluster);
}

/* 1, of the SA: an answer that is lost holds up its own request only */
static void silence_for_first_path(struct cluster *cluster, struct cluster_sa_query *query)
{
	(void)cluster;
	query->silent = query->attribute == ACM_SA_ATTRIBUTE_PATH && query->dgid.raw[15] == 2;
}

static void a_lost_sa_answer_stalls_no_other(void **state)
{
	struct cluster cluster = {0};
	uint64_t lost, other;

	(void)state;
	cluster_init(&cluster, 3, &config);
	cluster.on_sa = silence_for_first_path;
	cluster_start(&cluster);
	lost = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	other = cluster_ask(&cluster, 1, "node3");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, other)->reply.status, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, other)->given);
	assert_false(cluster_answer(&cluster, lost)->given);
	cluster_run_for(&cluster, ACM_NSEC_PER_SEC);
	assert_int_equal(cluster_answer(&cluster, lost)->reply.status, ACM_STATUS_TIMED_OUT);
	cluster_destroy(&cluster);
}

/* 2 */
static void a_responder_asks_no_sa(void **state)
{
	struct cluster cluster = {0};
	uint64_t id;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster.path_queries, 1);
	assert_int_equal(cluster_counter(&cluster, 2, ACM_COUNTER_ROUTE_QUERY), 0);
	assert_int_equal(cluster_counter(&cluster, 2, ACM_COUNTER_ANSWERED), 1);
	cluster_destroy(&cluster);
}

/* 3 */
static void overheard_names_stay_within_the_budget(void **state)
{
	struct cluster cluster = {0};
	struct acm_message message = {.gid_count = 1};
	uint64_t id;
	char name[32];

	(void)state;
	config.memory_budget = 64 << 10;
	cluster_init(&cluster, 3, &config);
	cluster_start(&cluster);
	acm_group_mgid(&message.gids[0], ACM_PKEY_DEFAULT, config.min_rate, config.min_mtu);
	acm_address_canonical(&message.destination, ACM_ADDRESS_NAME, (const uint8_t *)"x", 1);
	id = cluster_ask(&cluster, 1, "node2");
	for (int i = 0; i < 10000; i++) {
		int length = snprintf(name, sizeof(name), "overheard%d", i);

		acm_address_canonical(&message.source, ACM_ADDRESS_NAME, (uint8_t *)name,
				      (size_t)length);
		message.tid++;
		cluster_hear(&cluster, 1, 3, &message);
		assert_true(cluster_stats(&cluster, 1).memory <= config.memory_budget);
	}
	/* The one that a request waits for was not thrown out. */
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, id)->given);
	assert_true(cluster_counter(&cluster, 1, ACM_COUNTER_EVICTED) > 9000);
	cluster_destroy(&cluster);
}

/* 4 */
static void names_are_one_in_any_case(void **state)
{
	struct cluster cluster = {0};
	uint64_t first, second;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	first = cluster_ask(&cluster, 1, "Node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	second = cluster_ask(&cluster, 1, "NODE2");
	assert_int_equal(cluster_answer(&cluster, first)->reply.status, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, second)->given);
	assert_int_equal(cluster_answer(&cluster, second)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, 1);
	cluster_destroy(&cluster);
}

/* 7: LID change */
static void a_changed_lid_makes_routes_new(void **state)
{
	struct cluster cluster = {0};
	uint64_t id;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	cluster_port(&cluster, 1)->lid = 40;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster_answer(&cluster, id)->reply.path.slid, 40);
	assert_int_equal(cluster.multicasts, 1); /* the address did not become doubtful */
	assert_int_equal(cluster.path_queries, 2);
	cluster_destroy(&cluster);
}

/* 7: SM fail-over */
static void a_new_sm_is_joined_anew_and_asked_anew(void **state)
{
	struct cluster cluster = {0};
	uint64_t joins, id;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	joins = cluster.joins;
	cluster_port(&cluster, 1)->sm_lid = 101;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster.joins, joins + 1);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster.path_queries, 2);
	cluster_destroy(&cluster);
}

/* 7: another SM, which keeps this node's LID and moves the peer's */
static void a_reregister_makes_routes_new(void **state)
{
	struct acm_event event = {.type = ACM_EVENT_REREGISTER};
	struct cluster cluster = {0};
	uint64_t id;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	cluster_port(&cluster, 2)->lid = 40;
	cluster_port_changed(&cluster, 2);
	cluster_step(&cluster, 1, event);
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster_answer(&cluster, id)->reply.path.dlid, 40);
	cluster_destroy(&cluster);
}

/* 7: a question to the SM that is gone is put to the one that came */
static void silent_old_sm(struct cluster *cluster, struct cluster_sa_query *query)
{
	query->silent = query->attribute == ACM_SA_ATTRIBUTE_PATH &&
			cluster_port(cluster, 1)->sm_lid == CLUSTER_SM_LID;
}

static void a_route_under_way_is_asked_of_the_new_sm(void **state)
{
	struct cluster cluster = {0};
	uint64_t id;

	(void)state;
	config.timeout = 10 * ACM_NSEC_PER_SEC;
	cluster_init(&cluster, 2, &config);
	cluster.on_sa = silent_old_sm;
	cluster_start(&cluster);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_false(cluster_answer(&cluster, id)->given);
	cluster_port(&cluster, 1)->sm_lid = 101;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_true(cluster_answer(&cluster, id)->given);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

/* 7: partition removed */
static void a_removed_partition_takes_its_routes_along(void **state)
{
	struct cluster cluster = {0};
	uint64_t id;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_stats(&cluster, 1).destinations, 1);
	cluster_port(&cluster, 1)->pkeys[0] = 0x8012;
	cluster_port_changed(&cluster, 1);
	assert_int_equal(cluster_stats(&cluster, 1).destinations, 0);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 2 * ACM_NSEC_PER_SEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	cluster_destroy(&cluster);
}

/* 7: GID change */
static void a_changed_gid_is_the_new_source(void **state)
{
	struct cluster cluster = {0};
	uint64_t id;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	cluster_port(&cluster, 1)->gids[0].raw[15] = 99;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster_answer(&cluster, id)->reply.path.sgid.raw[15], 99);
	cluster_destroy(&cluster);
}

/* 7: a join that fails */
static void refuse_first_joins(struct cluster *cluster, struct cluster_sa_query *query)
{
	if (query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->method == 2 &&
	    cluster->joins <= 5)
		query->status = ACM_SA_REQ_INVALID << 8;
}

static void a_failed_join_is_tried_until_it_holds(void **state)
{
	struct cluster cluster = {0};
	uint64_t early, late;

	(void)state;
	cluster_init(&cluster, 1, &config);
	cluster.on_sa = refuse_first_joins;
	cluster_start(&cluster);
	early = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster_answer(&cluster, early)->reply.status, ACM_STATUS_NOT_CONNECTED);
	assert_true(cluster_answer(&cluster, early)->given);
	cluster_run_for(&cluster, 30 * ACM_NSEC_PER_SEC);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints_ready, 1);
	assert_int_equal(cluster.joins, 6);
	late = cluster_ask(&cluster, 1, "node2");
	assert_false(cluster_answer(&cluster, late)->given);
	cluster_destroy(&cluster);
}

/* 8 */
static int answers_twice_and_late(struct cluster *cluster, struct cluster_packet *packet)
{
	(void)cluster;
	if (packet->answer)
		packet->delay = 50 * ACM_NSEC_PER_MSEC;
	return packet->answer ? 2 : 1;
}

static void a_late_and_doubled_answer_completes_nothing_else(void **state)
{
	struct cluster cluster = {0};
	uint64_t first, second;

	(void)state;
	config.retries = 0;
	config.timeout = 10 * ACM_NSEC_PER_MSEC;
	config.negative_life = 0;
	cluster_init(&cluster, 3, &config);
	cluster.on_packet = answers_twice_and_late;
	cluster_start(&cluster);
	first = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 45 * ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, first)->reply.status, ACM_STATUS_TIMED_OUT);
	second = cluster_ask(&cluster, 1, "nobody");
	cluster_run_for(&cluster, 5 * ACM_NSEC_PER_SEC);
	assert_int_equal(cluster_answer(&cluster, second)->reply.status, ACM_STATUS_TIMED_OUT);
	assert_int_equal(cluster_answer(&cluster, first)->times, 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED), 2);
	cluster_destroy(&cluster);
}

static int node3_answers_in_node2s_place(struct cluster *cluster, struct cluster_packet *packet)
{
	struct acm_message message;

	(void)cluster;
	if (!packet->answer)
		return 1;
	assert_int_equal(acm_message_decode(packet->payload, sizeof(packet->payload), &message), 0);
	acm_address_canonical(&message.destination, ACM_ADDRESS_NAME, (const uint8_t *)"node3", 5);
	acm_message_encode(&message, packet->payload);
	return 1;
}

static void an_answer_for_another_address_is_dropped(void **state)
{
	struct cluster cluster = {0};
	uint64_t id;

	(void)state;
	cluster_init(&cluster, 3, &config);
	cluster.on_packet = node3_answers_in_node2s_place;
	cluster_start(&cluster);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 5 * ACM_NSEC_PER_SEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	assert_true(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED) >= 3);
	cluster_destroy(&cluster);
}

/* 9 */
static void a_failure_is_remembered_for_a_while(void **state)
{
	struct cluster cluster = {0};
	uint64_t id, sent;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	cluster_ask(&cluster, 1, "nobody");
	cluster_run_for(&cluster, 3 * ACM_NSEC_PER_SEC);
	sent = cluster.multicasts;
	assert_int_equal(sent, config.retries + 1);
	for (int i = 0; i < 50; i++) {
		id = cluster_ask(&cluster, 1, "nobody");
		assert_true(cluster_answer(&cluster, id)->given);
		assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	}
	assert_int_equal(cluster.multicasts, sent);
	cluster_run_for(&cluster, config.negative_life);
	id = cluster_ask(&cluster, 1, "nobody");
	assert_false(cluster_answer(&cluster, id)->given);
	assert_int_equal(cluster.multicasts, sent + 1);
	cluster_destroy(&cluster);
}

/* 11 */
static void ipv6_equals_ipv4(void **state)
{
	struct cluster cluster = {0};
	struct acm_request request;
	uint8_t ip6[16] = {0xfd, [15] = 2};
	uint64_t id;

	(void)state;
	cluster_init(&cluster, 2, &config);
	cluster_start(&cluster);
	request = cluster_request(&cluster, 1, "x");
	request.has_source = false;
	acm_address_canonical(&request.destination, ACM_ADDRESS_IP6, ip6, sizeof(ip6));
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, ACM_NSEC_PER_MSEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster_answer(&cluster, id)->reply.path.dlid, 2);
	assert_true(cluster_answer(&cluster, id)->reply.has_source);
	assert_int_equal(cluster_answer(&cluster, id)->reply.source.type, ACM_ADDRESS_IP6);
	assert_int_equal(cluster_answer(&cluster, id)->reply.source.data[15], 1);
	/* It moves away: the old owner is silent. */
	cluster_remove_address(&cluster, 2, ACM_ADDRESS_IP6, ip6, sizeof(ip6));
	assert_int_equal(cluster_counter(&cluster, 2, ACM_COUNTER_ANSWERED), 1);
	{
		struct acm_event event = {.type = ACM_EVENT_RELOAD};

		cluster_step(&cluster, 1, event);
	}
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, 3 * ACM_NSEC_PER_SEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	cluster_destroy(&cluster);
}

/* 13: hostile MADs */
static int garbage(struct cluster *cluster, struct cluster_packet *packet)
{
	uint64_t x = packet->number * UINT64_C(0x9e3779b97f4a7c15) +
		     (uint64_t)(uintptr_t)cluster->context;

	for (int i = 0; i < 8; i++, x = x * UINT64_C(6364136223846793005) + 1)
		packet->payload[(x >> 33) % ACM_DATAGRAM_MAX] = (uint8_t)(x >> 56);
	packet->datagram.length = (uint16_t)((x >> 20) % (ACM_DATAGRAM_MAX + 1));
	return 1;
}

static void damaged_datagrams_harm_nobody(void **state)
{
	struct cluster cluster = {0};

	(void)state;
	config.timeout = 5 * ACM_NSEC_PER_MSEC;
	for (uintptr_t seed = 0; seed < 50; seed++) {
		uint64_t id[8];

		cluster_init(&cluster, 3, &config);
		cluster.context = (void *)seed;
		cluster.on_packet = garbage;
		cluster_start(&cluster);
		for (int i = 0; i < 8; i++)
			id[i] = cluster_ask(&cluster, 1 + i % 3, i % 2 ? "node1" : "node2");
		cluster_run_for(&cluster, 20 * ACM_NSEC_PER_SEC);
		for (int i = 0; i < 8; i++)
			assert_int_equal(cluster_answer(&cluster, id[i])->times, 1);
		cluster_destroy(&cluster);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_dead_destination_stalls_no_other, reset),
		cmocka_unit_test_setup(a_lost_sa_answer_stalls_no_other, reset),
		cmocka_unit_test_setup(a_responder_asks_no_sa, reset),
		cmocka_unit_test_setup(overheard_names_stay_within_the_budget, reset),
		cmocka_unit_test_setup(names_are_one_in_any_case, reset),
		cmocka_unit_test_setup(a_changed_lid_makes_routes_new, reset),
		cmocka_unit_test_setup(a_new_sm_is_joined_anew_and_asked_anew, reset),
		cmocka_unit_test_setup(a_reregister_makes_routes_new, reset),
		cmocka_unit_test_setup(a_route_under_way_is_asked_of_the_new_sm, reset),
		cmocka_unit_test_setup(a_removed_partition_takes_its_routes_along, reset),
		cmocka_unit_test_setup(a_changed_gid_is_the_new_source, reset),
		cmocka_unit_test_setup(a_failed_join_is_tried_until_it_holds, reset),
		cmocka_unit_test_setup(a_late_and_doubled_answer_completes_nothing_else, reset),
		cmocka_unit_test_setup(an_answer_for_another_address_is_dropped, reset),
		cmocka_unit_test_setup(a_failure_is_remembered_for_a_while, reset),
		cmocka_unit_test_setup(ipv6_equals_ipv4, reset),
		cmocka_unit_test_setup(damaged_datagrams_harm_nobody, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
