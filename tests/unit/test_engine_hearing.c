/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is lost, doubled, overheard: peers that ask, move, and claim. */
#include "support/inquiry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

/* ---- loss ---- */

static uint64_t lost_mask; /* bit n: multicast or answer number n is lost */

static int lose_by_mask(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	return packet->number < 64 && lost_mask >> packet->number & 1 ? 0 : 1;
}

static void a_lost_packet_costs_a_try(void **state)
{
	(void)state;
	/* Without the node's own copy there are two packets a try: request and answer. */
	for (uint64_t mask = 0; mask < 4; mask++) {
		uint64_t id;

		inquiry_reset(state);
		lost_mask = mask << 1;
		assert_int_equal(cluster_init(&cluster, 2, &config), 0);
		cluster.on_packet = lose_by_mask;
		cluster_start(&cluster);
		id = cluster_ask(&cluster, 1, "node2");
		cluster_run_for(&cluster, MS);
		assert_int_equal(cluster_answer(&cluster, id)->given, mask == 0);
		cluster_run_for(&cluster, inquiry_bound());
		inquiry_answered(id, ACM_STATUS_OK);
		assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_RETRIES) > 0, mask != 0);
		assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ADDR_QUERY), 1);
		if (mask < 3)
			cluster_destroy(&cluster);
	}
}

static void each_try_but_the_last_may_be_lost(void **state)
{
	uint64_t id;

	(void)state;
	config.retries = 4;
	inquiry_start(2);
	cluster.on_packet = inquiry_lose_all;
	id = cluster_ask(&cluster, 1, "node2");
	while (cluster.multicasts < 4)
		cluster_run_for(&cluster, MS);
	inquiry_waits(id);
	cluster_run_for(&cluster, MS);
	cluster.on_packet = NULL;
	cluster_run_for(&cluster, inquiry_bound() / 2);
	inquiry_answered(id, ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, 5);
}

static int duplicate(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	(void)packet;
	return 3;
}

static void duplicates_do_no_harm(void **state)
{
	(void)state;
	inquiry_start(3);
	cluster.on_packet = duplicate;
	inquiry_check_path(&inquiry_ask(1, "node2", ACM_STATUS_OK)->path, 1, 2);
	inquiry_check_path(&inquiry_ask(3, "node2", ACM_STATUS_OK)->path, 3, 2);
	assert_int_equal(cluster.path_queries, 2);
}

static void retries_double_and_keep_to_their_time(void **state)
{
	uint64_t begun, id;

	(void)state;
	config.retries = 3;
	inquiry_start(2);
	begun = cluster.now;
	id = cluster_ask(&cluster, 1, "nobody");
	cluster_run_for(&cluster, 100 * SEC);
	inquiry_answered(id, ACM_STATUS_TIMED_OUT);
	assert_int_equal(cluster.multicasts, 4);
	assert_in_range(cluster_answer(&cluster, id)->time - begun, inquiry_bound() / 2 * 7 / 10,
			inquiry_bound() / 2);
}

/* ---- crossing, moving, claiming ---- */

static void crossing_requests_serve_each_other(void **state)
{
	uint64_t there, back;

	(void)state;
	inquiry_start(2);
	there = cluster_ask(&cluster, 1, "node2");
	back = cluster_ask(&cluster, 2, "node1");
	cluster_run_for(&cluster, MS);
	inquiry_check_path(&inquiry_reply(there)->path, 1, 2);
	inquiry_check_path(&inquiry_reply(back)->path, 2, 1);
	assert_int_equal(cluster.path_queries, 2);
}

/* Who asks for a peer while its own request cannot get there is served by the peer's. */
static int only_from_node2(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	return packet->from == 2 && packet->multicast;
}

static void an_overheard_request_is_as_good_as_an_answer(void **state)
{
	uint64_t id;

	(void)state;
	inquiry_start(2);
	cluster.on_packet = only_from_node2;
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, MS);
	inquiry_waits(id);
	cluster_ask(&cluster, 2, "whoever");
	cluster_run_for(&cluster, MS);
	inquiry_check_path(&inquiry_reply(id)->path, 1, 2);
}

static void silence_node2(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->silent = query->node == 2;
}

/* The SM asked for joins, and answers none: what comes by the group shows that it still is one. */
static void a_node_answers_while_its_join_is_asked_anew(void **state)
{
	struct acm_event reregister = {.type = ACM_EVENT_REREGISTER};

	(void)state;
	inquiry_start(2);
	cluster.on_sa = silence_node2;
	assert_int_equal(cluster_step(&cluster, 2, reregister), 0);
	assert_int_equal(cluster_stats(&cluster, 2).endpoints_ready, 0);
	inquiry_check_path(&inquiry_ask(1, "node2", ACM_STATUS_OK)->path, 1, 2);
	cluster_run_for(&cluster, 60 * SEC); /* no join has held */
	assert_int_equal(cluster_stats(&cluster, 2).endpoints_ready, 0);
	inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK, MS);
}

/* Node 2 asks for something again and again, and node 1 hears it. */
static void chatter(void)
{
	for (int i = 0; i < 5; i++) {
		struct acm_message message = {.tid = (uint64_t)i, .gid_count = 1};

		acm_group_mgid(&message.gids[0], ACM_PKEY_DEFAULT, config.min_rate, config.min_mtu);
		acm_address_canonical(&message.source, ACM_ADDRESS_NAME, (const uint8_t *)"node2",
				      5);
		acm_address_canonical(&message.destination, ACM_ADDRESS_NAME, (const uint8_t *)"x",
				      1);
		cluster_hear(&cluster, 1, 2, &message);
	}
}

static void chatter_of_the_peer_does_not_restart_the_sa_query(void **state)
{
	uint64_t id;

	(void)state;
	config.route_life = SEC;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_run_for(&cluster, 2 * SEC);
	id = cluster_ask(&cluster, 1, "node2"); /* the route is too old; the SA is asked */
	assert_int_equal(cluster.path_queries, 2);
	chatter();
	cluster_run_for(&cluster, MS);
	inquiry_answered(id, ACM_STATUS_OK);
	assert_int_equal(cluster.path_queries, 2);
}

static void chatter_of_the_peer_does_not_cost_its_place_in_the_queue(void **state)
{
	uint64_t first, id, last, queries;

	(void)state;
	config.route_life = SEC;
	config.sa_depth = 1;
	inquiry_start(4);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	inquiry_ask(1, "node3", ACM_STATUS_OK);
	inquiry_ask(1, "node4", ACM_STATUS_OK);
	cluster_run_for(&cluster, 2 * SEC);
	queries = cluster_counter(&cluster, 1, ACM_COUNTER_ROUTE_QUERY);
	first = cluster_ask(&cluster, 1, "node3");
	id = cluster_ask(&cluster, 1, "node2");
	last = cluster_ask(&cluster, 1, "node4");
	chatter();
	cluster_run_for(&cluster, MS);
	inquiry_answered(first, ACM_STATUS_OK);
	inquiry_answered(id, ACM_STATUS_OK);
	inquiry_answered(last, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, id)->time < cluster_answer(&cluster, last)->time);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ROUTE_QUERY), queries + 3);
}

static void a_name_that_moves_is_found_where_it_says_it_is(void **state)
{
	struct acm_request request;

	(void)state;
	inquiry_start(3);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "service", 7);
	inquiry_check_path(&inquiry_ask(1, "service", ACM_STATUS_OK)->path, 1, 2);
	cluster_remove_address(&cluster, 2, ACM_ADDRESS_NAME, "service", 7);
	cluster_add_address(&cluster, 3, ACM_ADDRESS_NAME, "service", 7);
	/* The new owner asks for something under that name. */
	request = cluster_request(&cluster, 3, "node2");
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"service", 7);
	inquiry_ask_request(3, request, ACM_STATUS_OK, MS);
	inquiry_check_path(&inquiry_ask(1, "service", ACM_STATUS_OK)->path, 1, 3);
}

static void a_peer_with_a_new_gid_is_found_again(void **state)
{
	(void)state;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_port(&cluster, 2)->gids[0].raw[8] = 7; /* the adapter was exchanged */
	cluster_port_changed(&cluster, 2);
	cluster_port(&cluster, 1)->sm_lid = 101; /* so the route is asked for anew */
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, MS);
	assert_int_equal(inquiry_ask(1, "node2", ACM_STATUS_OK)->path.dgid.raw[8], 7);
	assert_int_equal(cluster.multicasts, 2);
}

static void of_two_claims_the_first_counts(void **state)
{
	int owner;

	(void)state;
	inquiry_start(3);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "twice", 5);
	cluster_add_address(&cluster, 3, ACM_ADDRESS_NAME, "twice", 5);
	owner = inquiry_ask(1, "twice", ACM_STATUS_OK)->path.dlid;
	assert_true(owner == 2 || owner == 3);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED), 1);
	assert_int_equal(inquiry_ask(1, "twice", ACM_STATUS_OK)->path.dlid, owner);
}

/* A request of a node with a source that is another's. */
static void claim(int node, const char *source)
{
	struct acm_request request = cluster_request(&cluster, node, "x");

	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)source,
			      strlen(source));
	cluster_ask_request(&cluster, node, &request);
	cluster_run_for(&cluster, SEC);
}

static int claims;
static char last_claim[256];

static void watch_claims(struct cluster *at, int node, const struct acm_trace *trace)
{
	(void)at;
	(void)node;
	if (trace->type != ACM_TRACE_CLAIMED)
		return;
	claims++;
	acm_trace_format(trace, last_claim, sizeof(last_claim));
}

static void a_claim_of_an_own_address_is_told_and_ignored(void **state)
{
	(void)state;
	claims = 0;
	config.loopback = false;
	config.negative_life = 0;
	config.trace_mask = UINT64_MAX;
	inquiry_start(3);
	cluster.on_trace = watch_claims;
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "node1", 5);
	inquiry_check_path(&inquiry_ask(1, "node1", ACM_STATUS_OK)->path, 1, 1);
	assert_int_equal(claims, 0);
	claim(2, "node1");
	assert_int_equal(claims, 1);
	assert_string_equal(last_claim, "claimed endpoint=1 source=node1 lid=2 gid=fe80::2 "
					"qpn=0x000201 reason=another_node_has_this_address_too");
	inquiry_check_path(&inquiry_ask(1, "node1", ACM_STATUS_OK)->path, 1, 1);
	/* Whoever asks on is not told of each time, but not forgotten. */
	claim(2, "node1");
	assert_int_equal(claims, 1);
	cluster_run_for(&cluster, 60 * SEC);
	claim(2, "node1");
	assert_int_equal(claims, 2);
	/* The other way round, the other node says it. */
	claim(1, "node1");
	assert_int_equal(claims, 3);
	assert_non_null(strstr(last_claim, " lid=1 "));
	/* A further port of this node is none other. */
	{
		struct acm_port_facts facts = *cluster_port(&cluster, 2);

		facts.port = 7;
		facts.state = ACM_PORT_DOWN;
		cluster_run_for(&cluster, 60 * SEC);
		assert_int_equal(cluster_step(&cluster, 1,
					      (struct acm_event){.type = ACM_EVENT_PORT_CHANGED,
								 .port_facts = &facts}),
				 0);
		claim(2, "node1");
		assert_int_equal(claims, 3);
	}
}

/* ---- what is older than a change ---- */

#define PACKET_LIFE (UINT64_C(4096) << 18)

static uint64_t late_by; /* what node 1 hears of node 2 is under way so long */

static int from_node2_late(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	if (packet->from == 2 && packet->to == 1)
		packet->delay += late_by;
	return 1;
}

static void start_with_routes_from_groups(void)
{
	config.route_protocol = ACM_ROUTE_ACM;
	assert_int_equal(cluster_init(&cluster, 2, &config), 0);
	cluster_port(&cluster, 1)->subnet_timeout = 18;
	cluster_start(&cluster);
	cluster.on_packet = from_node2_late;
	late_by = 20 * MS;
}

/* The subnet manager gives node 2 another LID; node 1 is told of a change, not of that one. */
static void give_new_lid(enum acm_event_type told)
{
	struct acm_event event = {.type = told};

	cluster_port(&cluster, 2)->lid = 12;
	cluster_port_changed(&cluster, 2);
	if (told == ACM_EVENT_PORT_CHANGED) {
		cluster_port(&cluster, 1)->sm_lid = 101;
		cluster_port_changed(&cluster, 1);
	} else {
		assert_int_equal(cluster_step(&cluster, 1, event), 0);
	}
}

static void a_lid_from_before_a_change_is_soon_asked_for_again(void **state)
{
	static const enum acm_event_type tellings[] = {ACM_EVENT_PORT_CHANGED,
						       ACM_EVENT_REREGISTER};

	for (int asked = 0; asked < 2; asked++) {
		for (int i = 0; i < 2; i++) {
			inquiry_reset(state);
			start_with_routes_from_groups();
			if (asked) /* its answer comes too late */
				cluster_ask(&cluster, 1, "node2");
			else /* it asks for something itself */
				cluster_ask(&cluster, 2, "whoever");
			cluster_run_for(&cluster, MS);
			give_new_lid(tellings[i]);
			late_by = 0;
			cluster_run_for(&cluster, 20 * MS);
			assert_int_equal(inquiry_ask(1, "node2", ACM_STATUS_OK)->path.dlid, 2);
			cluster_run_for(&cluster, PACKET_LIFE);
			assert_int_equal(inquiry_ask(1, "node2", ACM_STATUS_OK)->path.dlid, 12);
			cluster_run_for(&cluster, 3600 * SEC);
			assert_int_equal(inquiry_ask(1, "node2", ACM_STATUS_OK)->path.dlid, 12);
			if (!asked || !i)
				cluster_destroy(&cluster);
		}
	}
}

static void what_is_heard_later_or_without_a_change_is_kept(void **state)
{
	uint64_t asked;

	(void)state;
	start_with_routes_from_groups();
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 30 * MS);
	asked = cluster.multicasts;
	cluster_run_for(&cluster, 3600 * SEC);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, asked);
	give_new_lid(ACM_EVENT_PORT_CHANGED);
	cluster_run_for(&cluster, PACKET_LIFE);
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 30 * MS);
	asked = cluster.multicasts;
	cluster_run_for(&cluster, 3600 * SEC);
	assert_int_equal(inquiry_ask(1, "node2", ACM_STATUS_OK)->path.dlid, 12);
	assert_int_equal(cluster.multicasts, asked);
}

static void a_route_asked_for_before_a_change_is_asked_for_anew(void **state)
{
	uint64_t id;

	(void)state;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_port(&cluster, 1)->rate = acm_rate_code(100);
	cluster_port_changed(&cluster, 1);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster.path_queries, 2);
	cluster_port(&cluster, 1)->rate = acm_rate_code(200);
	cluster_port_changed(&cluster, 1); /* the answer on its way is of the rate before */
	assert_int_equal(cluster.path_queries, 3);
	cluster_run_for(&cluster, MS);
	inquiry_answered(id, ACM_STATUS_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inquiry_reset, inquiry_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lost_packet_costs_a_try),
		TEST(each_try_but_the_last_may_be_lost),
		TEST(duplicates_do_no_harm),
		TEST(retries_double_and_keep_to_their_time),
		TEST(crossing_requests_serve_each_other),
		TEST(an_overheard_request_is_as_good_as_an_answer),
		TEST(a_node_answers_while_its_join_is_asked_anew),
		TEST(chatter_of_the_peer_does_not_restart_the_sa_query),
		TEST(chatter_of_the_peer_does_not_cost_its_place_in_the_queue),
		TEST(a_name_that_moves_is_found_where_it_says_it_is),
		TEST(a_peer_with_a_new_gid_is_found_again),
		TEST(of_two_claims_the_first_counts),
		TEST(a_claim_of_an_own_address_is_told_and_ignored),
		TEST(a_lid_from_before_a_change_is_soon_asked_for_again),
		TEST(what_is_heard_later_or_without_a_change_is_kept),
		TEST(a_route_asked_for_before_a_change_is_asked_for_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
