/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests by address: what is asked, what is answered, from when on from the cache. The cluster
 * checks after every test that each request was answered once, was cancelled, or waits.
 */
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

/* ---- the plain ways ---- */

static void by_name_address_and_both_ip_versions(void **state)
{
	(void)state;
	inquiry_start(4);
	inquiry_check_path(&inquiry_ask(1, "node2", ACM_STATUS_OK)->path, 1, 2);
	inquiry_check_path(
		&inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 3), ACM_STATUS_OK, MS)
			 ->path,
		1, 3);
	inquiry_check_path(
		&inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP6, 4), ACM_STATUS_OK, MS)
			 ->path,
		1, 4);
	assert_int_equal(cluster.multicasts, 3);
	assert_int_equal(cluster.path_queries, 3);
	/* Now from the cache, without a word. */
	inquiry_check_path(
		&inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 3), ACM_STATUS_OK, 0)
			 ->path,
		1, 3);
	assert_int_equal(cluster.multicasts, 3);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ROUTE_CACHE), 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ADDR_CACHE), 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_RESOLVE), 4);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ADDR_QUERY), 3);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ROUTE_QUERY), 3);
}

static void the_answer_carries_what_the_request_had(void **state)
{
	struct acm_request request;
	const struct acm_reply *answer;

	(void)state;
	inquiry_start(2);
	request = cluster_request(&cluster, 1, "node2");
	answer = inquiry_ask_request(1, request, ACM_STATUS_OK, MS);
	assert_int_equal(answer->id, cluster.last_request);
	assert_int_equal(answer->tid, cluster.last_request * 1000);
	assert_int_equal(answer->opcode, ACM_OPCODE_RESOLVE);
	assert_int_equal(answer->kind, ACM_REQUEST_RESOLVE);
	assert_false(answer->has_source);
}

static void the_asked_knows_the_asker(void **state)
{
	uint64_t sent;

	(void)state;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	sent = cluster.multicasts;
	inquiry_ask(2, "node1", ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, sent);
	assert_int_equal(cluster.path_queries, 2);
}

static void bystanders_learn_too(void **state)
{
	(void)state;
	inquiry_start(3);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(cluster_counter(&cluster, 3, ACM_COUNTER_LEARNED), 1);
	inquiry_ask(3, "node1", ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, 1);
}

static void own_addresses_need_no_traffic(void **state)
{
	uint64_t packets, queries;
	const struct acm_reply *answer;

	(void)state;
	inquiry_start(2);
	packets = cluster.packets;
	queries = cluster.sa_queries;
	answer = inquiry_ask_request(1, cluster_request(&cluster, 1, "NODE1"), ACM_STATUS_OK, 0);
	inquiry_check_path(&answer->path, 1, 1);
	assert_int_equal(answer->path.mtu, acm_mtu_code(4096));
	inquiry_check_path(
		&inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 1), ACM_STATUS_OK, 0)
			 ->path,
		1, 1);
	inquiry_check_path(
		&inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP6, 1), ACM_STATUS_OK, 0)
			 ->path,
		1, 1);
	assert_int_equal(cluster.packets, packets);
	assert_int_equal(cluster.sa_queries, queries);
}

static void without_loopback_the_sa_is_asked_for_the_way_home(void **state)
{
	(void)state;
	config.loopback = false;
	inquiry_start(2);
	inquiry_check_path(&inquiry_ask(1, "node1", ACM_STATUS_OK)->path, 1, 1);
	assert_int_equal(cluster.multicasts, 0);
	assert_int_equal(cluster.path_queries, 1);
}

static void an_address_that_left_is_not_remembered_as_here(void **state)
{
	(void)state;
	config.loopback = false;
	inquiry_start(2);
	cluster_add_address(&cluster, 1, ACM_ADDRESS_NAME, "service", 7);
	inquiry_check_path(&inquiry_ask(1, "service", ACM_STATUS_OK)->path, 1, 1);
	cluster_remove_address(&cluster, 1, ACM_ADDRESS_NAME, "service", 7);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "service", 7);
	inquiry_check_path(&inquiry_ask(1, "service", ACM_STATUS_OK)->path, 1, 2);
}

/* ---- sources ---- */

static void a_single_source_is_picked_and_told(void **state)
{
	const struct acm_reply *answer;
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	answer = inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK, MS);
	assert_true(answer->has_source);
	assert_int_equal(answer->source.type, ACM_ADDRESS_IP);
	assert_int_equal(answer->source.data[3], 1);
	answer = inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK,
				     0); /* also from the cache */
	assert_true(answer->has_source);
	assert_int_equal(answer->source.data[3], 1);
	request = cluster_request(&cluster, 1, "node2");
	request.has_source = false;
	answer = inquiry_ask_request(1, request, ACM_STATUS_OK, MS);
	assert_true(answer->has_source);
	assert_int_equal(answer->source.type, ACM_ADDRESS_NAME);
	assert_int_equal(cluster.searches, 0);
}

static void add_second_ip(void)
{
	uint8_t ip[4] = {10, 0, 0, 99};

	cluster_add_address(&cluster, 1, ACM_ADDRESS_IP, ip, sizeof(ip));
}

static void of_several_sources_the_hosts_routes_decide(void **state)
{
	const struct acm_reply *answer;

	(void)state;
	inquiry_start(2);
	add_second_ip();
	cluster.search_status = 0;
	cluster.search_delay = 5 * MS;
	inquiry_set_ip(&cluster.search_result, ACM_ADDRESS_IP, 99);
	answer = inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK, 6 * MS);
	inquiry_check_path(&answer->path, 1, 2);
	assert_true(answer->has_source);
	assert_int_equal(answer->source.data[3], 99);
	assert_int_equal(cluster.searches, 1);
	/* Known by now, but which source is to be used still is the host's matter. */
	answer = inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK, 6 * MS);
	assert_int_equal(cluster.searches, 2);
	assert_int_equal(answer->source.data[3], 99);
}

static void a_search_that_finds_nothing_is_status_7(void **state)
{
	(void)state;
	inquiry_start(2);
	add_second_ip();
	inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_SOURCE_ADDRESS, MS);
	/* As is one that finds an address which is not this node's. */
	cluster.search_status = 0;
	inquiry_set_ip(&cluster.search_result, ACM_ADDRESS_IP, 77);
	inquiry_ask_request(1, inquiry_by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_SOURCE_ADDRESS, MS);
	assert_int_equal(cluster.multicasts, 0);
}

static void a_search_nobody_answers_ends(void **state)
{
	uint64_t id;
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	add_second_ip();
	request = inquiry_by_ip(1, ACM_ADDRESS_IP, 2);
	cluster.search_delay = ACM_NEVER;
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, 900 * MS);
	inquiry_waits(id);
	cluster_run_for(&cluster, 200 * MS);
	inquiry_answered(id, ACM_STATUS_SOURCE_ADDRESS);
}

static void a_late_or_unwanted_search_result_is_nothing(void **state)
{
	struct acm_request request;
	uint64_t late, cancelled;

	(void)state;
	inquiry_start(2);
	add_second_ip();
	request = inquiry_by_ip(1, ACM_ADDRESS_IP, 2);
	cluster.search_status = 0;
	cluster.search_delay = 2 * SEC;
	inquiry_set_ip(&cluster.search_result, ACM_ADDRESS_IP, 99);
	late = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, 3 * SEC);
	inquiry_answered(late, ACM_STATUS_SOURCE_ADDRESS);
	cluster.search_delay = 5 * MS;
	cancelled = cluster_ask_request(&cluster, 1, &request);
	cluster_cancel(&cluster, 1, cancelled);
	cluster_run_for(&cluster, SEC);
	inquiry_waits(cancelled);
	assert_int_equal(cluster.multicasts, 0);
}

static void no_delay_waits_for_the_search_alone(void **state)
{
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	add_second_ip();
	cluster.search_status = 0;
	inquiry_set_ip(&cluster.search_result, ACM_ADDRESS_IP, 99);
	request = inquiry_by_ip(1, ACM_ADDRESS_IP, 2);
	request.no_delay = true;
	inquiry_ask_request(1, request, ACM_STATUS_NO_DATA, US);
	cluster_run_for(&cluster, MS);
	inquiry_ask_request(1, request, ACM_STATUS_OK, US);
}

static void an_unknown_source_is_status_7(void **state)
{
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	request = cluster_request(&cluster, 1, "node2");
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"stranger", 8);
	inquiry_ask_request(1, request, ACM_STATUS_SOURCE_ADDRESS, 0);
	assert_int_equal(cluster.multicasts, 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ERROR), 1);
}

static void other_destination_types_are_status_10(void **state)
{
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	request = cluster_request(&cluster, 1, "node2");
	request.destination.type = ACM_ADDRESS_GID;
	inquiry_ask_request(1, request, ACM_STATUS_DESTINATION_TYPE, 0);
	request.kind = ACM_REQUEST_MALFORMED;
	request.malformed = ACM_STATUS_SOURCE_TYPE;
	inquiry_ask_request(1, request, ACM_STATUS_SOURCE_TYPE, 0);
}

/* ---- flags ---- */

static void query_sa_asks_anew_and_leaves_the_cache_alone(void **state)
{
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	request = cluster_request(&cluster, 1, "node2");
	request.query_sa = true;
	inquiry_check_path(&inquiry_ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 2);
	assert_int_equal(cluster.path_queries, 2);
	assert_int_equal(cluster.multicasts, 1); /* the address is known */
	inquiry_check_path(&inquiry_ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 2);
	assert_int_equal(cluster.path_queries, 3);
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
	assert_int_equal(cluster.path_queries, 3);
	assert_int_equal(cluster_stats(&cluster, 1).destinations, 1);
	/* Of an address that nobody knows yet, of its own too. */
	acm_address_canonical(&request.destination, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	inquiry_check_path(&inquiry_ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 1);
	assert_int_equal(cluster.path_queries, 4);
}

static void query_sa_of_the_unknown_asks_for_both(void **state)
{
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	request = cluster_request(&cluster, 1, "node2");
	request.query_sa = true;
	inquiry_check_path(&inquiry_ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 2);
	assert_int_equal(cluster.multicasts, 1);
	assert_int_equal(cluster.path_queries, 1);
}

/* Of one look-up that bypasses the cache: what the trace says of its SA queries, and of others. */
static struct {
	uint32_t queries;
	uint32_t withdrawn;
	uint32_t others;
} told;

static void count_told(struct cluster *of, int node, const struct acm_trace *trace)
{
	(void)of;
	if (node != 1 ||
	    (trace->type != ACM_TRACE_SA_QUERY && trace->type != ACM_TRACE_SA_WITHDRAWN &&
	     trace->type != ACM_TRACE_ADDRESS))
		return;
	if (!trace->bypass)
		told.others++;
	told.queries += trace->type == ACM_TRACE_SA_QUERY;
	told.withdrawn += trace->type == ACM_TRACE_SA_WITHDRAWN;
}

static void a_query_that_is_given_up_to_be_asked_anew_is_told(void **state)
{
	struct acm_event reregister = {.type = ACM_EVENT_REREGISTER};
	struct acm_request request;
	uint64_t id;

	(void)state;
	config.trace_mask = UINT64_MAX;
	inquiry_start(2);
	memset(&told, 0, sizeof(told));
	cluster.on_trace = count_told;
	cluster.on_sa = inquiry_silence;
	request = cluster_request(&cluster, 1, "node2");
	request.query_sa = true;
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, 5 * MS);
	assert_int_equal(told.queries, 1);
	cluster.on_sa = NULL;
	assert_int_equal(cluster_step(&cluster, 1, reregister), 0);
	assert_int_equal(told.withdrawn, 1);
	cluster_run_for(&cluster, 50 * MS);
	inquiry_answered(id, ACM_STATUS_OK);
	assert_int_equal(told.queries, 2);
	assert_int_equal(told.withdrawn, 1);
	assert_int_equal(told.others, 0);
}

static struct acm_address spoken_for; /* by the latest multicast */

static void note_source(struct cluster *of, int node, const struct acm_trace *trace)
{
	(void)of;
	(void)node;
	if (trace->type == ACM_TRACE_MULTICAST)
		spoken_for = trace->source;
}

static void a_try_does_not_speak_for_an_address_that_was_given_up(void **state)
{
	struct acm_local_address alias = {.text = "alias"};
	struct acm_event added = {.type = ACM_EVENT_ADDRESS_ADDED, .address = &alias};
	struct acm_event removed = {.type = ACM_EVENT_ADDRESS_REMOVED, .address = &alias};
	struct acm_address own;
	struct acm_request request;

	(void)state;
	acm_address_canonical(&alias.address, ACM_ADDRESS_NAME, (const uint8_t *)"alias", 5);
	acm_address_canonical(&own, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	config.trace_mask = UINT64_MAX;
	inquiry_start(2);
	assert_int_equal(cluster_step(&cluster, 1, added), 0);
	cluster.on_trace = note_source;
	request = cluster_request(&cluster, 1, "nobody");
	request.has_source = true;
	request.source = alias.address;
	cluster_ask_request(&cluster, 1, &request);
	assert_true(acm_address_equal(&spoken_for, &alias.address));
	assert_int_equal(cluster_step(&cluster, 1, removed), 0);
	assert_true(acm_address_equal(&spoken_for, &alias.address));
	cluster_run_for(&cluster, inquiry_bound());
	assert_true(acm_address_equal(&spoken_for, &own));
}

static void no_delay_begins_the_look_up_and_the_next_hits(void **state)
{
	struct acm_request request;

	(void)state;
	inquiry_start(2);
	request = cluster_request(&cluster, 1, "node2");
	request.no_delay = true;
	for (int i = 0; i < 20; i++)
		inquiry_ask_request(1, request, ACM_STATUS_NO_DATA, 0);
	assert_int_equal(cluster.multicasts, 1); /* one for all */
	cluster_run_for(&cluster, MS);
	inquiry_ask_request(1, request, ACM_STATUS_OK, 0);
	assert_int_equal(cluster.multicasts, 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_NODATA), 20);
}

static void no_delay_for_the_unknown_is_bounded(void **state)
{
	struct acm_request request;
	char name[32];
	uint64_t id;

	(void)state;
	config.memory_budget = 16384;
	inquiry_start(2);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "nobody%d", i);
		request = cluster_request(&cluster, 1, name);
		request.no_delay = true;
		id = cluster_ask_request(&cluster, 1, &request);
		assert_true(inquiry_reply(id)->status == ACM_STATUS_NO_DATA ||
			    inquiry_reply(id)->status == ACM_STATUS_NO_MEMORY);
	}
	assert_true(cluster_stats(&cluster, 1).memory <= config.memory_budget);
	assert_true(cluster.live_bytes < 1 << 20);
	cluster_run_for(&cluster, 5 * SEC);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
}

/* ---- routes from multicast ---- */

static void routes_from_multicast_need_no_sa(void **state)
{
	const struct acm_reply *answer;

	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	inquiry_start(3);
	answer = inquiry_ask(1, "node2", ACM_STATUS_OK);
	inquiry_check_path(&answer->path, 1, 2);
	assert_int_equal(answer->path.rate, acm_rate_code(1000)); /* the better group of both */
	assert_int_equal(answer->path.mtu, acm_mtu_code(4096));
	assert_int_equal(cluster.path_queries, 0);
	/* The other way round it is known from the question. */
	inquiry_check_path(&inquiry_ask(2, "node1", ACM_STATUS_OK)->path, 2, 1);
	assert_int_equal(cluster.multicasts, 1);
	assert_int_equal(cluster.path_queries, 0);
}

static void the_best_common_group_is_chosen(void **state)
{
	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	assert_int_equal(cluster_init(&cluster, 2, &config), 0);
	cluster_port(&cluster, 2)->rate = acm_rate_code(400);
	cluster_start(&cluster);
	assert_int_equal(inquiry_ask(1, "node2", ACM_STATUS_OK)->path.rate, config.min_rate);
	assert_int_equal(inquiry_ask(2, "node1", ACM_STATUS_OK)->path.rate, config.min_rate);
}

static int in_no_group_of_ours(struct cluster *at, struct cluster_packet *packet)
{
	struct acm_message message;

	(void)at;
	if (!packet->answer)
		return 1;
	assert_int_equal(acm_message_decode(packet->payload, sizeof(packet->payload), &message), 0);
	message.gids[0].raw[7] ^= 1;
	acm_message_encode(&message, packet->payload);
	return 1;
}

static void no_common_group_is_no_data(void **state)
{
	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	inquiry_start(2);
	cluster.on_packet = in_no_group_of_ours;
	inquiry_ask(1, "node2", ACM_STATUS_NO_DATA);
}

static void without_a_common_group_nothing_is_answered(void **state)
{
	struct acm_message message = {.gid_count = 1, .tid = 5};

	(void)state;
	inquiry_start(2);
	acm_group_mgid(&message.gids[0], 0x8012, config.min_rate, config.min_mtu);
	acm_address_canonical(&message.source, ACM_ADDRESS_NAME, (const uint8_t *)"node2", 5);
	acm_address_canonical(&message.destination, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	cluster_hear(&cluster, 1, 2, &message);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ANSWERED), 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED), 1);
}

static void reload(int node)
{
	struct acm_event event = {.type = ACM_EVENT_RELOAD};

	assert_int_equal(cluster_step(&cluster, node, event), 0);
}

/* ---- age ---- */

static void addresses_and_routes_expire_each_on_its_own(void **state)
{
	(void)state;
	config.address_life = 100 * SEC;
	config.route_life = 30 * SEC;
	config.join_verify = 0;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_run_for(&cluster, 29 * SEC);
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
	assert_int_equal(cluster.path_queries, 1);
	cluster_run_for(&cluster, 2 * SEC);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(cluster.path_queries, 2);
	assert_int_equal(cluster.multicasts, 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_EXPIRED), 1);
	cluster_run_for(&cluster, 70 * SEC);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, 2);
}

/* An answer of no life serves those who wait for it and nobody else, and is not asked for again at
 * once for having expired. */
static void what_has_no_life_serves_who_waits(enum acm_route_protocol protocol)
{
	struct acm_request request;

	config.address_life = config.route_life = 0;
	config.route_protocol = protocol;
	config.join_verify = 0;
	inquiry_start(2);
	for (uint32_t times = 1; times <= 3; times++) {
		inquiry_ask(1, "node2", ACM_STATUS_OK);
		assert_int_equal(cluster.multicasts, times);
	}
	inquiry_ask(1, "node1", ACM_STATUS_OK);
	request = cluster_request(&cluster, 1, "node2");
	request.query_sa = true;
	inquiry_ask_request(1, request, ACM_STATUS_OK, MS);
	assert_int_equal(cluster.multicasts, 4);
}

static void nothing_is_remembered_of_paths_from_the_sa(void **state)
{
	(void)state;
	what_has_no_life_serves_who_waits(ACM_ROUTE_SA);
}

static void nothing_is_remembered_of_paths_from_groups(void **state)
{
	(void)state;
	what_has_no_life_serves_who_waits(ACM_ROUTE_ACM);
}

static void never_is_for_ever(void **state)
{
	(void)state;
	config.address_life = ACM_NEVER;
	config.join_verify = 0;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_run_for(&cluster, UINT64_C(1) << 60);
	inquiry_ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
	assert_int_equal(cluster.multicasts, 1);
}

static void reloading_forgets_what_was_learned(void **state)
{
	uint64_t id;

	(void)state;
	inquiry_start(2);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	reload(1);
	assert_int_equal(cluster_stats(&cluster, 1).destinations, 0);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster.multicasts, 2);
	reload(1); /* what is under way goes on */
	cluster_run_for(&cluster, MS);
	inquiry_answered(id, ACM_STATUS_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inquiry_reset, inquiry_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_name_address_and_both_ip_versions),
		TEST(the_answer_carries_what_the_request_had),
		TEST(the_asked_knows_the_asker),
		TEST(bystanders_learn_too),
		TEST(own_addresses_need_no_traffic),
		TEST(without_loopback_the_sa_is_asked_for_the_way_home),
		TEST(an_address_that_left_is_not_remembered_as_here),
		TEST(a_single_source_is_picked_and_told),
		TEST(of_several_sources_the_hosts_routes_decide),
		TEST(a_search_that_finds_nothing_is_status_7),
		TEST(a_search_nobody_answers_ends),
		TEST(a_late_or_unwanted_search_result_is_nothing),
		TEST(no_delay_waits_for_the_search_alone),
		TEST(an_unknown_source_is_status_7),
		TEST(other_destination_types_are_status_10),
		TEST(query_sa_asks_anew_and_leaves_the_cache_alone),
		TEST(query_sa_of_the_unknown_asks_for_both),
		TEST(a_try_does_not_speak_for_an_address_that_was_given_up),
		TEST(a_query_that_is_given_up_to_be_asked_anew_is_told),
		TEST(no_delay_begins_the_look_up_and_the_next_hits),
		TEST(no_delay_for_the_unknown_is_bounded),
		TEST(routes_from_multicast_need_no_sa),
		TEST(the_best_common_group_is_chosen),
		TEST(no_common_group_is_no_data),
		TEST(without_a_common_group_nothing_is_answered),
		TEST(addresses_and_routes_expire_each_on_its_own),
		TEST(nothing_is_remembered_of_paths_from_the_sa),
		TEST(nothing_is_remembered_of_paths_from_groups),
		TEST(never_is_for_ever),
		TEST(reloading_forgets_what_was_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
