/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests by address: what is asked, what is answered, from when on from the cache. The cluster
 * checks after every test that each request was answered once, was cancelled, or waits.
 */
#include "support/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define US  ACM_NSEC_PER_USEC
#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

static struct acm_engine_config config;
static struct cluster cluster;

static int reset(void **state)
{
	(void)state;
	acm_engine_config_default(&config);
	config.timeout = 100 * MS;
	config.trace_mask = 0;
	memset(&cluster, 0, sizeof(cluster));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cluster_destroy(&cluster);
	return 0;
}

static void start(int nodes)
{
	assert_int_equal(cluster_init(&cluster, nodes, &config), 0);
	cluster_start(&cluster);
}

/* The latest moment for an answer, from when the request came. */
static uint64_t bound(void)
{
	return 2 * (config.retries + 1) * (config.timeout + 4096);
}

static const struct acm_reply *reply(uint64_t id)
{
	const struct cluster_answer *answer = cluster_answer(&cluster, id);

	assert_true(answer->given);
	assert_int_equal(answer->times, 1);
	return &answer->reply;
}

static void waits(uint64_t id)
{
	assert_false(cluster_answer(&cluster, id)->given);
}

static void answered(uint64_t id, enum acm_status status)
{
	assert_int_equal(reply(id)->status, status);
}

/* Asked now, answered by `status` within `duration`. */
static const struct acm_reply *ask_request(int node, struct acm_request request,
					   enum acm_status status, uint64_t duration)
{
	uint64_t id = cluster_ask_request(&cluster, node, &request);

	cluster_run_for(&cluster, duration);
	answered(id, status);
	return reply(id);
}

static const struct acm_reply *ask(int node, const char *to, enum acm_status status)
{
	return ask_request(node, cluster_request(&cluster, node, to), status, MS);
}

static void set_address(struct acm_address *address, enum acm_address_type type, uint8_t last)
{
	uint8_t ip[4] = {10, 0, 0, last};
	uint8_t ip6[16] = {0xfd, [15] = last};

	if (type == ACM_ADDRESS_IP)
		assert_int_equal(acm_address_canonical(address, type, ip, sizeof(ip)), 0);
	else
		assert_int_equal(acm_address_canonical(address, type, ip6, sizeof(ip6)), 0);
}

/* By IP or IPv6, without a source. */
static struct acm_request by_ip(int node, enum acm_address_type type, uint8_t last)
{
	struct acm_request request = cluster_request(&cluster, node, "x");

	request.has_source = false;
	set_address(&request.destination, type, last);
	return request;
}

static void reload(int node)
{
	struct acm_event event = {.type = ACM_EVENT_RELOAD};

	assert_int_equal(cluster_step(&cluster, node, event), 0);
}

static void check_path(const struct acm_path *path, int from, int to)
{
	struct acm_gid sgid = cluster_gid(from), dgid = cluster_gid(to);

	assert_int_equal(path->slid, from);
	assert_int_equal(path->dlid, to);
	assert_memory_equal(&path->sgid, &sgid, sizeof(sgid));
	assert_memory_equal(&path->dgid, &dgid, sizeof(dgid));
	assert_int_equal(path->pkey, ACM_PKEY_DEFAULT);
	assert_true(path->reversible);
	assert_int_equal(path->path_count, 1);
}

/* ---- the plain ways ---- */

static void by_name_address_and_both_ip_versions(void **state)
{
	(void)state;
	start(4);
	check_path(&ask(1, "node2", ACM_STATUS_OK)->path, 1, 2);
	check_path(&ask_request(1, by_ip(1, ACM_ADDRESS_IP, 3), ACM_STATUS_OK, MS)->path, 1, 3);
	check_path(&ask_request(1, by_ip(1, ACM_ADDRESS_IP6, 4), ACM_STATUS_OK, MS)->path, 1, 4);
	assert_int_equal(cluster.multicasts, 3);
	assert_int_equal(cluster.path_queries, 3);
	/* Now from the cache, without a word. */
	check_path(&ask_request(1, by_ip(1, ACM_ADDRESS_IP, 3), ACM_STATUS_OK, 0)->path, 1, 3);
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
	start(2);
	request = cluster_request(&cluster, 1, "node2");
	answer = ask_request(1, request, ACM_STATUS_OK, MS);
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
	start(2);
	ask(1, "node2", ACM_STATUS_OK);
	sent = cluster.multicasts;
	ask(2, "node1", ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, sent);
	assert_int_equal(cluster.path_queries, 2);
}

static void bystanders_learn_too(void **state)
{
	(void)state;
	start(3);
	ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(cluster_counter(&cluster, 3, ACM_COUNTER_LEARNED), 1);
	ask(3, "node1", ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, 1);
}

static void own_addresses_need_no_traffic(void **state)
{
	uint64_t packets, queries;
	const struct acm_reply *answer;

	(void)state;
	start(2);
	packets = cluster.packets;
	queries = cluster.sa_queries;
	answer = ask_request(1, cluster_request(&cluster, 1, "NODE1"), ACM_STATUS_OK, 0);
	check_path(&answer->path, 1, 1);
	assert_int_equal(answer->path.mtu, acm_mtu_code(4096));
	check_path(&ask_request(1, by_ip(1, ACM_ADDRESS_IP, 1), ACM_STATUS_OK, 0)->path, 1, 1);
	check_path(&ask_request(1, by_ip(1, ACM_ADDRESS_IP6, 1), ACM_STATUS_OK, 0)->path, 1, 1);
	assert_int_equal(cluster.packets, packets);
	assert_int_equal(cluster.sa_queries, queries);
}

static void without_loopback_the_sa_is_asked_for_the_way_home(void **state)
{
	(void)state;
	config.loopback = false;
	start(2);
	check_path(&ask(1, "node1", ACM_STATUS_OK)->path, 1, 1);
	assert_int_equal(cluster.multicasts, 0);
	assert_int_equal(cluster.path_queries, 1);
}

static void an_address_that_left_is_not_remembered_as_here(void **state)
{
	(void)state;
	config.loopback = false;
	start(2);
	cluster_add_address(&cluster, 1, ACM_ADDRESS_NAME, "service", 7);
	check_path(&ask(1, "service", ACM_STATUS_OK)->path, 1, 1);
	cluster_remove_address(&cluster, 1, ACM_ADDRESS_NAME, "service", 7);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "service", 7);
	check_path(&ask(1, "service", ACM_STATUS_OK)->path, 1, 2);
}

/* ---- sources ---- */

static void a_single_source_is_picked_and_told(void **state)
{
	const struct acm_reply *answer;
	struct acm_request request;

	(void)state;
	start(2);
	answer = ask_request(1, by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK, MS);
	assert_true(answer->has_source);
	assert_int_equal(answer->source.type, ACM_ADDRESS_IP);
	assert_int_equal(answer->source.data[3], 1);
	answer = ask_request(1, by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK,
			     0); /* also from the cache */
	assert_true(answer->has_source);
	assert_int_equal(answer->source.data[3], 1);
	request = cluster_request(&cluster, 1, "node2");
	request.has_source = false;
	answer = ask_request(1, request, ACM_STATUS_OK, MS);
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
	start(2);
	add_second_ip();
	cluster.search_status = 0;
	cluster.search_delay = 5 * MS;
	set_address(&cluster.search_result, ACM_ADDRESS_IP, 99);
	answer = ask_request(1, by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK, 6 * MS);
	check_path(&answer->path, 1, 2);
	assert_true(answer->has_source);
	assert_int_equal(answer->source.data[3], 99);
	assert_int_equal(cluster.searches, 1);
	/* Known by now, but which source is to be used still is the host's matter. */
	answer = ask_request(1, by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_OK, 6 * MS);
	assert_int_equal(cluster.searches, 2);
	assert_int_equal(answer->source.data[3], 99);
}

static void a_search_that_finds_nothing_is_status_7(void **state)
{
	(void)state;
	start(2);
	add_second_ip();
	ask_request(1, by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_SOURCE_ADDRESS, MS);
	/* As is one that finds an address which is not this node's. */
	cluster.search_status = 0;
	set_address(&cluster.search_result, ACM_ADDRESS_IP, 77);
	ask_request(1, by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_SOURCE_ADDRESS, MS);
	assert_int_equal(cluster.multicasts, 0);
}

static void a_search_nobody_answers_ends(void **state)
{
	uint64_t id;
	struct acm_request request;

	(void)state;
	start(2);
	add_second_ip();
	request = by_ip(1, ACM_ADDRESS_IP, 2);
	cluster.search_delay = ACM_NEVER;
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, 900 * MS);
	waits(id);
	cluster_run_for(&cluster, 200 * MS);
	answered(id, ACM_STATUS_SOURCE_ADDRESS);
}

static void a_late_or_unwanted_search_result_is_nothing(void **state)
{
	struct acm_request request;
	uint64_t late, cancelled;

	(void)state;
	start(2);
	add_second_ip();
	request = by_ip(1, ACM_ADDRESS_IP, 2);
	cluster.search_status = 0;
	cluster.search_delay = 2 * SEC;
	set_address(&cluster.search_result, ACM_ADDRESS_IP, 99);
	late = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, 3 * SEC);
	answered(late, ACM_STATUS_SOURCE_ADDRESS);
	cluster.search_delay = 5 * MS;
	cancelled = cluster_ask_request(&cluster, 1, &request);
	cluster_cancel(&cluster, 1, cancelled);
	cluster_run_for(&cluster, SEC);
	waits(cancelled);
	assert_int_equal(cluster.multicasts, 0);
}

static void no_delay_waits_for_the_search_alone(void **state)
{
	struct acm_request request;

	(void)state;
	start(2);
	add_second_ip();
	cluster.search_status = 0;
	set_address(&cluster.search_result, ACM_ADDRESS_IP, 99);
	request = by_ip(1, ACM_ADDRESS_IP, 2);
	request.no_delay = true;
	ask_request(1, request, ACM_STATUS_NO_DATA, US);
	cluster_run_for(&cluster, MS);
	ask_request(1, request, ACM_STATUS_OK, US);
}

static void an_unknown_source_is_status_7(void **state)
{
	struct acm_request request;

	(void)state;
	start(2);
	request = cluster_request(&cluster, 1, "node2");
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"stranger", 8);
	ask_request(1, request, ACM_STATUS_SOURCE_ADDRESS, 0);
	assert_int_equal(cluster.multicasts, 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ERROR), 1);
}

static void other_destination_types_are_status_10(void **state)
{
	struct acm_request request;

	(void)state;
	start(2);
	request = cluster_request(&cluster, 1, "node2");
	request.destination.type = ACM_ADDRESS_GID;
	ask_request(1, request, ACM_STATUS_DESTINATION_TYPE, 0);
	request.kind = ACM_REQUEST_MALFORMED;
	request.malformed = ACM_STATUS_SOURCE_TYPE;
	ask_request(1, request, ACM_STATUS_SOURCE_TYPE, 0);
}

/* ---- flags ---- */

static void query_sa_asks_anew_and_leaves_the_cache_alone(void **state)
{
	struct acm_request request;

	(void)state;
	start(2);
	ask(1, "node2", ACM_STATUS_OK);
	request = cluster_request(&cluster, 1, "node2");
	request.query_sa = true;
	check_path(&ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 2);
	assert_int_equal(cluster.path_queries, 2);
	assert_int_equal(cluster.multicasts, 1); /* the address is known */
	check_path(&ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 2);
	assert_int_equal(cluster.path_queries, 3);
	ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
	assert_int_equal(cluster.path_queries, 3);
	assert_int_equal(cluster_stats(&cluster, 1).destinations, 1);
	/* Of an address that nobody knows yet, of its own too. */
	acm_address_canonical(&request.destination, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	check_path(&ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 1);
	assert_int_equal(cluster.path_queries, 4);
}

static void query_sa_of_the_unknown_asks_for_both(void **state)
{
	struct acm_request request;

	(void)state;
	start(2);
	request = cluster_request(&cluster, 1, "node2");
	request.query_sa = true;
	check_path(&ask_request(1, request, ACM_STATUS_OK, MS)->path, 1, 2);
	assert_int_equal(cluster.multicasts, 1);
	assert_int_equal(cluster.path_queries, 1);
}

static void no_delay_begins_the_look_up_and_the_next_hits(void **state)
{
	struct acm_request request;

	(void)state;
	start(2);
	request = cluster_request(&cluster, 1, "node2");
	request.no_delay = true;
	for (int i = 0; i < 20; i++)
		ask_request(1, request, ACM_STATUS_NO_DATA, 0);
	assert_int_equal(cluster.multicasts, 1); /* one for all */
	cluster_run_for(&cluster, MS);
	ask_request(1, request, ACM_STATUS_OK, 0);
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
	start(2);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "nobody%d", i);
		request = cluster_request(&cluster, 1, name);
		request.no_delay = true;
		id = cluster_ask_request(&cluster, 1, &request);
		assert_true(reply(id)->status == ACM_STATUS_NO_DATA ||
			    reply(id)->status == ACM_STATUS_NO_MEMORY);
	}
	assert_true(cluster_stats(&cluster, 1).memory <= config.memory_budget);
	assert_true(cluster.live_bytes < 1 << 20);
	cluster_run_for(&cluster, 5 * SEC);
	ask(1, "node2", ACM_STATUS_OK);
}

/* ---- coalescing, limits, ids ---- */

static void fifty_requests_are_one_look_up(void **state)
{
	uint64_t ids[50];

	(void)state;
	start(2);
	for (int i = 0; i < 50; i++)
		ids[i] = cluster_ask(&cluster, 1, i % 2 ? "node2" : "Node2");
	cluster_run_for(&cluster, MS);
	for (int i = 0; i < 50; i++)
		check_path(&reply(ids[i])->path, 1, 2);
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
	start(2);
	for (int i = 0; i < 12; i++)
		ids[i] = cluster_ask(&cluster, 1, i < 10 ? "nobody" : "nobody-else");
	answered(ids[10], ACM_STATUS_NO_MEMORY);
	answered(ids[11], ACM_STATUS_NO_MEMORY);
	sent = cluster.multicasts;
	assert_int_equal(sent, 1); /* nothing was begun for whom nothing is answered */
	cluster_run_for(&cluster, bound());
	for (int i = 0; i < 10; i++)
		answered(ids[i], ACM_STATUS_TIMED_OUT);
	ask(1, "node2", ACM_STATUS_OK);
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
	start(2);
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

		reset(state);
		start(2);
		id = cluster_ask(&cluster, 1, "node2");
		other = cluster_ask(&cluster, 1, "node2");
		cluster_run_for(&cluster, stages[i]);
		waits(id);
		cluster_cancel(&cluster, 1, id);
		cluster_run_for(&cluster, MS);
		waits(id);
		answered(other, ACM_STATUS_OK);
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
	start(2);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_cancel(&cluster, 1, id);
	cluster_run_for(&cluster, MS);
	ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
}

static void cancelling_first_middle_and_last_of_many(void **state)
{
	uint64_t ids[5];

	(void)state;
	for (int gone = 0; gone < 5; gone++) {
		reset(state);
		start(2);
		for (int i = 0; i < 5; i++)
			ids[i] = cluster_ask(&cluster, 1, "node2");
		cluster_cancel(&cluster, 1, ids[gone]);
		ids[gone] = cluster_ask(&cluster, 1, "node2"); /* behind the last */
		cluster_run_for(&cluster, MS);
		for (int i = 0; i < 5; i++)
			answered(ids[i], ACM_STATUS_OK);
		if (gone < 4)
			cluster_destroy(&cluster);
	}
}

/* ---- loss ---- */

static uint64_t lost_mask; /* bit n: multicast or answer number n is lost */

static int lose_by_mask(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	return packet->number < 64 && lost_mask >> packet->number & 1 ? 0 : 1;
}

static int lose_all(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	(void)packet;
	return 0;
}

static void a_lost_packet_costs_a_try(void **state)
{
	(void)state;
	/* Without the node's own copy there are two packets a try: request and answer. */
	for (uint64_t mask = 0; mask < 4; mask++) {
		uint64_t id;

		reset(state);
		lost_mask = mask << 1;
		assert_int_equal(cluster_init(&cluster, 2, &config), 0);
		cluster.on_packet = lose_by_mask;
		cluster_start(&cluster);
		id = cluster_ask(&cluster, 1, "node2");
		cluster_run_for(&cluster, MS);
		assert_int_equal(cluster_answer(&cluster, id)->given, mask == 0);
		cluster_run_for(&cluster, bound());
		answered(id, ACM_STATUS_OK);
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
	start(2);
	cluster.on_packet = lose_all;
	id = cluster_ask(&cluster, 1, "node2");
	while (cluster.multicasts < 4)
		cluster_run_for(&cluster, MS);
	waits(id);
	cluster_run_for(&cluster, MS);
	cluster.on_packet = NULL;
	cluster_run_for(&cluster, bound() / 2);
	answered(id, ACM_STATUS_OK);
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
	start(3);
	cluster.on_packet = duplicate;
	check_path(&ask(1, "node2", ACM_STATUS_OK)->path, 1, 2);
	check_path(&ask(3, "node2", ACM_STATUS_OK)->path, 3, 2);
	assert_int_equal(cluster.path_queries, 2);
}

static void retries_double_and_keep_to_their_time(void **state)
{
	uint64_t begun, id;

	(void)state;
	config.retries = 3;
	start(2);
	begun = cluster.now;
	id = cluster_ask(&cluster, 1, "nobody");
	cluster_run_for(&cluster, 100 * SEC);
	answered(id, ACM_STATUS_TIMED_OUT);
	assert_int_equal(cluster.multicasts, 4);
	assert_in_range(cluster_answer(&cluster, id)->time - begun, bound() / 2 * 7 / 10,
			bound() / 2);
}

/* ---- crossing, moving, claiming ---- */

static void crossing_requests_serve_each_other(void **state)
{
	uint64_t there, back;

	(void)state;
	start(2);
	there = cluster_ask(&cluster, 1, "node2");
	back = cluster_ask(&cluster, 2, "node1");
	cluster_run_for(&cluster, MS);
	check_path(&reply(there)->path, 1, 2);
	check_path(&reply(back)->path, 2, 1);
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
	start(2);
	cluster.on_packet = only_from_node2;
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, MS);
	waits(id);
	cluster_ask(&cluster, 2, "whoever");
	cluster_run_for(&cluster, MS);
	check_path(&reply(id)->path, 1, 2);
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
	start(2);
	ask(1, "node2", ACM_STATUS_OK);
	cluster_run_for(&cluster, 2 * SEC);
	id = cluster_ask(&cluster, 1, "node2"); /* the route is too old; the SA is asked */
	assert_int_equal(cluster.path_queries, 2);
	chatter();
	cluster_run_for(&cluster, MS);
	answered(id, ACM_STATUS_OK);
	assert_int_equal(cluster.path_queries, 2);
}

static void chatter_of_the_peer_does_not_cost_its_place_in_the_queue(void **state)
{
	uint64_t first, id, last, queries;

	(void)state;
	config.route_life = SEC;
	config.sa_depth = 1;
	start(4);
	ask(1, "node2", ACM_STATUS_OK);
	ask(1, "node3", ACM_STATUS_OK);
	ask(1, "node4", ACM_STATUS_OK);
	cluster_run_for(&cluster, 2 * SEC);
	queries = cluster_counter(&cluster, 1, ACM_COUNTER_ROUTE_QUERY);
	first = cluster_ask(&cluster, 1, "node3");
	id = cluster_ask(&cluster, 1, "node2");
	last = cluster_ask(&cluster, 1, "node4");
	chatter();
	cluster_run_for(&cluster, MS);
	answered(first, ACM_STATUS_OK);
	answered(id, ACM_STATUS_OK);
	answered(last, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, id)->time < cluster_answer(&cluster, last)->time);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ROUTE_QUERY), queries + 3);
}

static void a_name_that_moves_is_found_where_it_says_it_is(void **state)
{
	struct acm_request request;

	(void)state;
	start(3);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "service", 7);
	check_path(&ask(1, "service", ACM_STATUS_OK)->path, 1, 2);
	cluster_remove_address(&cluster, 2, ACM_ADDRESS_NAME, "service", 7);
	cluster_add_address(&cluster, 3, ACM_ADDRESS_NAME, "service", 7);
	/* The new owner asks for something under that name. */
	request = cluster_request(&cluster, 3, "node2");
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"service", 7);
	ask_request(3, request, ACM_STATUS_OK, MS);
	check_path(&ask(1, "service", ACM_STATUS_OK)->path, 1, 3);
}

static void a_peer_with_a_new_gid_is_found_again(void **state)
{
	(void)state;
	start(2);
	ask(1, "node2", ACM_STATUS_OK);
	cluster_port(&cluster, 2)->gids[0].raw[8] = 7; /* the adapter was exchanged */
	cluster_port_changed(&cluster, 2);
	cluster_port(&cluster, 1)->sm_lid = 101; /* so the route is asked for anew */
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, MS);
	assert_int_equal(ask(1, "node2", ACM_STATUS_OK)->path.dgid.raw[8], 7);
	assert_int_equal(cluster.multicasts, 2);
}

static void of_two_claims_the_first_counts(void **state)
{
	int owner;

	(void)state;
	start(3);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "twice", 5);
	cluster_add_address(&cluster, 3, ACM_ADDRESS_NAME, "twice", 5);
	owner = ask(1, "twice", ACM_STATUS_OK)->path.dlid;
	assert_true(owner == 2 || owner == 3);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED), 1);
	assert_int_equal(ask(1, "twice", ACM_STATUS_OK)->path.dlid, owner);
}

static void a_claim_of_an_own_address_is_ignored(void **state)
{
	(void)state;
	config.loopback = false;
	start(2);
	cluster_add_address(&cluster, 2, ACM_ADDRESS_NAME, "node1", 5);
	check_path(&ask(1, "node1", ACM_STATUS_OK)->path, 1, 1);
	{
		struct acm_request request = cluster_request(&cluster, 2, "x");

		acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"node1",
				      5);
		cluster_ask_request(&cluster, 2, &request);
	}
	cluster_run_for(&cluster, MS);
	check_path(&ask(1, "node1", ACM_STATUS_OK)->path, 1, 1);
}

/* ---- routes from multicast ---- */

static void routes_from_multicast_need_no_sa(void **state)
{
	const struct acm_reply *answer;

	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	start(3);
	answer = ask(1, "node2", ACM_STATUS_OK);
	check_path(&answer->path, 1, 2);
	assert_int_equal(answer->path.rate, acm_rate_code(1000)); /* the better group of both */
	assert_int_equal(answer->path.mtu, acm_mtu_code(4096));
	assert_int_equal(cluster.path_queries, 0);
	/* The other way round it is known from the question. */
	check_path(&ask(2, "node1", ACM_STATUS_OK)->path, 2, 1);
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
	assert_int_equal(ask(1, "node2", ACM_STATUS_OK)->path.rate, config.min_rate);
	assert_int_equal(ask(2, "node1", ACM_STATUS_OK)->path.rate, config.min_rate);
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
	start(2);
	cluster.on_packet = in_no_group_of_ours;
	ask(1, "node2", ACM_STATUS_NO_DATA);
}

static void without_a_common_group_nothing_is_answered(void **state)
{
	struct acm_message message = {.gid_count = 1, .tid = 5};

	(void)state;
	start(2);
	acm_group_mgid(&message.gids[0], 0x8012, config.min_rate, config.min_mtu);
	acm_address_canonical(&message.source, ACM_ADDRESS_NAME, (const uint8_t *)"node2", 5);
	acm_address_canonical(&message.destination, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	cluster_hear(&cluster, 1, 2, &message);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ANSWERED), 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED), 1);
}

/* ---- age ---- */

static void addresses_and_routes_expire_each_on_its_own(void **state)
{
	(void)state;
	config.address_life = 100 * SEC;
	config.route_life = 30 * SEC;
	config.join_verify = 0;
	start(2);
	ask(1, "node2", ACM_STATUS_OK);
	cluster_run_for(&cluster, 29 * SEC);
	ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
	assert_int_equal(cluster.path_queries, 1);
	cluster_run_for(&cluster, 2 * SEC);
	ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(cluster.path_queries, 2);
	assert_int_equal(cluster.multicasts, 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_EXPIRED), 1);
	cluster_run_for(&cluster, 70 * SEC);
	ask(1, "node2", ACM_STATUS_OK);
	assert_int_equal(cluster.multicasts, 2);
}

static void never_is_for_ever(void **state)
{
	(void)state;
	config.address_life = ACM_NEVER;
	config.join_verify = 0;
	start(2);
	ask(1, "node2", ACM_STATUS_OK);
	cluster_run_for(&cluster, UINT64_C(1) << 60);
	ask_request(1, cluster_request(&cluster, 1, "node2"), ACM_STATUS_OK, 0);
	assert_int_equal(cluster.multicasts, 1);
}

static void reloading_forgets_what_was_learned(void **state)
{
	uint64_t id;

	(void)state;
	start(2);
	ask(1, "node2", ACM_STATUS_OK);
	reload(1);
	assert_int_equal(cluster_stats(&cluster, 1).destinations, 0);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster.multicasts, 2);
	reload(1); /* what is under way goes on */
	cluster_run_for(&cluster, MS);
	answered(id, ACM_STATUS_OK);
}

/* ---- every request is answered in time ---- */

static void silence(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->silent = true;
}

static void with_network_and_sa_dead_all_are_answered_in_time(void **state)
{
	uint64_t ids[200], begun;
	char name[32];

	(void)state;
	config.resolve_depth = 3;
	config.sa_depth = 2;
	start(3);
	for (int i = 2; i <= 3; i++) {
		snprintf(name, sizeof(name), "node%d", i);
		ask(i, "node1", ACM_STATUS_OK); /* node 1 knows them; only routes are wanting */
	}
	cluster.on_packet = lose_all;
	cluster.on_sa = silence;
	begun = cluster.now;
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), i % 3 ? "nobody%d" : "node%d", i % 3 ? i : 2 + i % 2);
		ids[i] = cluster_ask(&cluster, 1, name);
		if (i % 10 == 0)
			cluster_run_for(&cluster, MS);
	}
	cluster_run_for(&cluster, bound());
	for (int i = 0; i < 200; i++) {
		answered(ids[i], ACM_STATUS_TIMED_OUT);
		assert_true(cluster_answer(&cluster, ids[i])->time <= begun + 20 * MS + bound());
	}
}

static void without_any_port_all_are_answered_at_once(void **state)
{
	struct acm_request request;

	(void)state;
	assert_int_equal(cluster_init(&cluster, 1, &config), 0);
	ask_request(1, by_ip(1, ACM_ADDRESS_IP, 2), ACM_STATUS_NOT_CONNECTED, 0);
	request = cluster_request(&cluster, 1, "x");
	request.has_source = false;
	ask_request(1, request, ACM_STATUS_NOT_CONNECTED, 0);
	ask_request(1, cluster_request(&cluster, 1, "x"), ACM_STATUS_SOURCE_ADDRESS, 0);
	request.kind = ACM_REQUEST_PATH;
	request.path.dlid = 5;
	ask_request(1, request, ACM_STATUS_NOT_CONNECTED, 0);
}

static void a_port_that_goes_down_answers_all(void **state)
{
	uint64_t ids[30];
	uint64_t sent;

	(void)state;
	config.resolve_depth = 2;
	config.sa_depth = 1;
	start(3);
	cluster.on_sa = silence;
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
		answered(ids[i], ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(cluster.multicasts + cluster.sa_queries, sent);
}

static void a_partition_that_goes_answers_all(void **state)
{
	uint64_t ids[30];
	uint64_t sent;

	(void)state;
	config.resolve_depth = 2;
	start(2);
	for (int i = 0; i < 30; i++) {
		char name[32];

		snprintf(name, sizeof(name), "nobody%d", i);
		ids[i] = cluster_ask(&cluster, 1, name);
	}
	sent = cluster.multicasts;
	cluster_port(&cluster, 1)->pkeys[0] = 0x8012;
	cluster_port_changed(&cluster, 1);
	for (int i = 0; i < 30; i++)
		answered(ids[i], ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(cluster.multicasts, sent);
}

static void a_port_that_is_removed_answers_all(void **state)
{
	struct acm_event event = {.type = ACM_EVENT_PORT_REMOVED};
	uint64_t id;

	(void)state;
	start(2);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster_step(&cluster, 1, event), 0);
	answered(id, ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints, 0);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	ask(1, "node2", ACM_STATUS_OK);
}

static void a_membership_in_doubt_keeps_the_queue(void **state)
{
	uint64_t id;

	(void)state;
	start(2);
	cluster_port(&cluster, 1)->sm_lid = 101;
	cluster_port_changed(&cluster, 1);
	id = cluster_ask(&cluster, 1, "node2");
	assert_int_equal(cluster.multicasts, 0); /* until the new SM has confirmed it */
	cluster_run_for(&cluster, MS);
	answered(id, ACM_STATUS_OK);
}

/* Neither does what waited for the window go out, when that opens. */
static void a_membership_in_doubt_keeps_the_window_shut(void **state)
{
	(void)state;
	config.resolve_depth = 1;
	start(2);
	cluster_ask(&cluster, 1, "nobody");
	cluster_ask(&cluster, 1, "node2");
	cluster.on_sa = silence;
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
	start(2);
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
		answered(ids[i], ACM_STATUS_NOT_CONNECTED);
	cluster_run_for(&cluster, bound());
	answered(ids[0], ACM_STATUS_NOT_CONNECTED); /* its next try found no membership */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, teardown)

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
		TEST(no_delay_begins_the_look_up_and_the_next_hits),
		TEST(no_delay_for_the_unknown_is_bounded),
		TEST(fifty_requests_are_one_look_up),
		TEST(more_than_the_limit_get_status_1),
		TEST(an_id_that_waits_already_is_refused),
		TEST(cancelling_at_each_stage),
		TEST(a_look_up_nobody_waits_for_ends_and_helps_the_next),
		TEST(cancelling_first_middle_and_last_of_many),
		TEST(a_lost_packet_costs_a_try),
		TEST(each_try_but_the_last_may_be_lost),
		TEST(duplicates_do_no_harm),
		TEST(retries_double_and_keep_to_their_time),
		TEST(crossing_requests_serve_each_other),
		TEST(an_overheard_request_is_as_good_as_an_answer),
		TEST(chatter_of_the_peer_does_not_restart_the_sa_query),
		TEST(chatter_of_the_peer_does_not_cost_its_place_in_the_queue),
		TEST(a_name_that_moves_is_found_where_it_says_it_is),
		TEST(a_peer_with_a_new_gid_is_found_again),
		TEST(of_two_claims_the_first_counts),
		TEST(a_claim_of_an_own_address_is_ignored),
		TEST(routes_from_multicast_need_no_sa),
		TEST(the_best_common_group_is_chosen),
		TEST(no_common_group_is_no_data),
		TEST(without_a_common_group_nothing_is_answered),
		TEST(addresses_and_routes_expire_each_on_its_own),
		TEST(never_is_for_ever),
		TEST(reloading_forgets_what_was_learned),
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
