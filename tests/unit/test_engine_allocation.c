/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What fails, fails for those who asked, and only now: a whole scenario with its allocation number
 * k failing, for every k; with every k-th and all later ones failing; with every send failing; with
 * every SA answer and every datagram cut short.
 */
#include "support/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

static struct acm_engine_config config;
static struct cluster cluster;

static int lose_every_third(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	return packet->number % 3 == 1 ? 0 : 1;
}

static void refuse_some(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	if (query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->number == 1)
		query->status = ACM_SA_REQ_INVALID << 8;
	if (query->attribute == ACM_SA_ATTRIBUTE_PATH && query->number % 5 == 4)
		query->silent = true;
}

static void ask_by_ip(int node, uint8_t last)
{
	struct acm_request request = cluster_request(&cluster, node, "x");
	uint8_t ip[4] = {10, 0, 0, last};

	request.has_source = false;
	acm_address_canonical(&request.destination, ACM_ADDRESS_IP, ip, sizeof(ip));
	cluster_ask_request(&cluster, node, &request);
}

static void ask_by_path(int node, uint16_t dlid)
{
	struct acm_request request = {
		.opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_PATH, .path = {.dlid = dlid}};

	cluster_ask_request(&cluster, node, &request);
}

static void ask_with_flags(int node, const char *to, bool no_delay, bool query_sa)
{
	struct acm_request request = cluster_request(&cluster, node, to);

	request.no_delay = no_delay;
	request.query_sa = query_sa;
	cluster_ask_request(&cluster, node, &request);
}

static void set_port(int node, uint8_t state, uint16_t second_pkey)
{
	struct acm_port_facts *facts = cluster_port(&cluster, node);

	facts->state = state;
	facts->pkeys[1] = second_pkey;
	facts->pkey_count = (uint16_t)(second_pkey ? 2 : 1);
	cluster_port_changed(&cluster, node);
}

static void ask_all_ways(void)
{
	uint8_t ip[4] = {10, 0, 0, 99};
	char name[64];

	cluster_ask(&cluster, 1, "node2");
	cluster_ask(&cluster, 1, "node2");
	ask_by_ip(1, 3);
	ask_by_path(1, 2);
	ask_by_path(2, 1);
	ask_with_flags(2, "node3", true, false);
	ask_with_flags(3, "node1", false, true);
	cluster_cancel(&cluster, 1, cluster_ask(&cluster, 1, "node3"));
	cluster_run_for(&cluster, 5 * MS);
	/* Two IP addresses: the host is asked for the source. */
	cluster.search_status = 0;
	acm_address_canonical(&cluster.search_result, ACM_ADDRESS_IP, ip, sizeof(ip));
	cluster_add_address(&cluster, 1, ACM_ADDRESS_IP, ip, sizeof(ip));
	ask_by_ip(1, 3);
	/* More than the budget holds. */
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "a-rather-long-name-of-nobody-%d", i);
		ask_with_flags(2, name, i % 4 != 0, false);
	}
	cluster_run_for(&cluster, 300 * MS);
}

static void disturb(void)
{
	struct acm_event reload = {.type = ACM_EVENT_RELOAD};
	struct acm_event removed = {.type = ACM_EVENT_PORT_REMOVED};

	cluster_ask(&cluster, 1, "node2");
	set_port(1, ACM_PORT_DOWN, 0);
	cluster_run_for(&cluster, MS);
	set_port(1, ACM_PORT_ACTIVE, 0x8012);
	set_port(2, ACM_PORT_ACTIVE, 0x8012);
	cluster_ask(&cluster, 1, "node3");
	cluster_run_for(&cluster, 20 * MS);
	(void)cluster_step(&cluster, 2, reload);
	cluster_port(&cluster, 3)->sm_lid = 101;
	set_port(3, ACM_PORT_ACTIVE, 0);
	set_port(1, ACM_PORT_ACTIVE, 0);
	cluster_ask(&cluster, 3, "node2");
	(void)cluster_step(&cluster, 2, removed);
	cluster_run_for(&cluster, 20 * MS);
	set_port(2, ACM_PORT_ACTIVE, 0);
	cluster_run_for(&cluster, 20 * MS);
}

/* Ports and addresses are told again, as their sources do when asked; then all must be well. */
static void recover(void)
{
	cluster.fail_at = cluster.fail_from = 0;
	cluster.send_status = 0;
	cluster.on_packet = NULL;
	cluster.on_sa = NULL;
	cluster.on_sa_answer = NULL;
	cluster_start(&cluster);
	cluster_run_for(&cluster, config.join_backoff_max * 2 + config.negative_life + 11 * SEC);
	for (uint64_t id = 1; id <= cluster.last_request; id++) {
		const struct cluster_answer *answer = cluster_answer(&cluster, id);

		assert_int_equal(answer->times + answer->cancelled, 1);
	}
	for (int i = 1; i <= 3; i++) {
		char name[16];
		uint64_t id;

		snprintf(name, sizeof(name), "node%d", i % 3 + 1);
		id = cluster_ask(&cluster, i, name);
		cluster_run_for(&cluster, MS);
		assert_true(cluster_answer(&cluster, id)->given);
		assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
		assert_int_equal(cluster_attachments(&cluster, i),
				 config.route_protocol == ACM_ROUTE_ACM ? 2 : 1);
	}
}

/* What the scenario has seen, all nodes together. */
static uint64_t seen[ACM_COUNTER_COUNT], searches;

static void note_counters(void)
{
	memset(seen, 0, sizeof(seen));
	for (int i = 1; i <= 3; i++) {
		for (int c = 0; c < ACM_COUNTER_COUNT; c++)
			seen[c] += cluster_counter(&cluster, i, (enum acm_counter)c);
	}
	searches = cluster.searches;
}

/* A scenario without failures that meets nothing of interest would prove nothing. */
static void check_interest(void)
{
	static const enum acm_counter interesting[] = {
		ACM_COUNTER_RESOLVE,   ACM_COUNTER_ADDR_CACHE,    ACM_COUNTER_ROUTE_CACHE,
		ACM_COUNTER_CANCELLED, ACM_COUNTER_COALESCED,     ACM_COUNTER_RETRIES,
		ACM_COUNTER_LEARNED,   ACM_COUNTER_ANSWERED,      ACM_COUNTER_NODATA,
		ACM_COUNTER_ERROR,     ACM_COUNTER_JOIN_FAILURES,
	};

	for (size_t i = 0; i < sizeof(interesting) / sizeof(interesting[0]); i++) {
		if (!seen[interesting[i]])
			fail_msg("the scenario has no \"%s\"", acm_counter_name(interesting[i]));
	}
	if (config.compat == ACM_COMPAT_NONE)
		assert_true(seen[ACM_COUNTER_EVICTED] > 0);
	assert_true(searches > 0);
}

static void scenario(void)
{
	cluster_start(&cluster);
	ask_all_ways();
	disturb();
	cluster_run_for(&cluster, 10 * SEC);
	recover();
	note_counters();
	cluster_destroy(&cluster);
}

static int reset(void **state)
{
	(void)state;
	acm_engine_config_default(&config);
	config.timeout = 20 * MS;
	config.memory_budget = 4096;
	config.join_backoff_max = SEC;
	config.negative_life = SEC;
	memset(&cluster, 0, sizeof(cluster));
	return 0;
}

/* False when not even the engines could be made. */
static bool make(void)
{
	if (cluster_init(&cluster, 3, &config)) {
		cluster_destroy(&cluster);
		return false;
	}
	cluster.on_packet = lose_every_third;
	cluster.on_sa = refuse_some;
	return true;
}

static void one_allocation_fails(enum acm_route_protocol protocol, enum acm_compat compat,
				 uint64_t trace_mask)
{
	uint64_t k;

	for (k = 1;; k++) {
		reset(NULL);
		config.route_protocol = protocol;
		config.compat = compat;
		config.trace_mask = trace_mask;
		cluster.fail_at = k;
		if (!make())
			continue;
		scenario();
		if (cluster.allocations < k)
			break;
	}
	assert_in_range(k, 150, 100000);
	check_interest();
}

static void each_allocation_fails_once(void **state)
{
	(void)state;
	one_allocation_fails(ACM_ROUTE_SA, ACM_COMPAT_NONE, 0);
}

static void each_allocation_fails_once_with_traces(void **state)
{
	(void)state;
	one_allocation_fails(ACM_ROUTE_SA, ACM_COMPAT_NONE, UINT64_MAX);
}

static void each_allocation_fails_once_with_routes_from_multicast(void **state)
{
	(void)state;
	one_allocation_fails(ACM_ROUTE_ACM, ACM_COMPAT_NONE, 0);
}

static void each_allocation_fails_once_as_the_reference_daemon(void **state)
{
	(void)state;
	one_allocation_fails(ACM_ROUTE_SA, ACM_COMPAT_IBACM, 0);
	one_allocation_fails(ACM_ROUTE_ACM, ACM_COMPAT_IBACM, 0);
}

/* Only what was told and could not be kept is lost: one port, or one address of three. */
static void what_is_known_is_made_later(void **state)
{
	uint64_t lost = 0, ran = 0;

	for (uint64_t k = 1;; k++) {
		struct acm_engine_stats stats;

		reset(state);
		config.trace_mask = 0;
		cluster.fail_at = k;
		if (cluster_init(&cluster, 1, &config)) {
			cluster_destroy(&cluster);
			continue;
		}
		ran++;
		cluster_start(&cluster);
		cluster_run_for(&cluster, 5 * SEC);
		stats = cluster_stats(&cluster, 1);
		lost += stats.endpoints == 0;
		assert_int_equal(stats.endpoints_ready, stats.endpoints);
		assert_int_equal(cluster_attachments(&cluster, 1), stats.endpoints);
		cluster_destroy(&cluster);
		if (cluster.allocations < k)
			break;
	}
	assert_int_equal(lost, 1);
	assert_true(ran > 10);
}

/* There is no memory any more, until the scenario is over. */
static void all_allocations_fail_from_one_on(void **state)
{
	uint64_t most = 0;

	for (uint64_t k = 1; k < 400; k++) {
		reset(state);
		config.trace_mask = 0;
		cluster.fail_from = k;
		if (!make())
			continue;
		scenario();
		most = k;
	}
	assert_int_equal(most, 399);
}

static void every_send_fails(void **state)
{
	(void)state;
	assert_true(make());
	cluster.send_status = -EIO;
	scenario();
}

static uint32_t cut;

static void cut_answers(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			uint32_t *length)
{
	(void)at;
	(void)query;
	/* What is behind the end is nobody's business. */
	if (cut < *length)
		memset(mad + cut, 0xff, *length - cut);
	*length = cut;
}

static int cut_datagrams(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	packet->datagram.length = (uint16_t)cut;
	memset(packet->payload + cut, 0xff, sizeof(packet->payload) - cut);
	return 1;
}

static void every_sa_answer_is_cut_short(void **state)
{
	for (cut = 0; cut < ACM_MAD_LENGTH; cut += 9) {
		reset(state);
		config.trace_mask = 0;
		assert_true(make());
		cluster.on_sa_answer = cut_answers;
		scenario();
	}
}

static void every_datagram_is_cut_short(void **state)
{
	for (cut = 0; cut < ACM_MAD_LENGTH; cut += 9) {
		reset(state);
		config.trace_mask = 0;
		assert_true(make());
		cluster.on_packet = cut_datagrams;
		scenario();
	}
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_allocation_fails_once),
		TEST(each_allocation_fails_once_with_traces),
		TEST(each_allocation_fails_once_with_routes_from_multicast),
		TEST(each_allocation_fails_once_as_the_reference_daemon),
		TEST(what_is_known_is_made_later),
		TEST(all_allocations_fail_from_one_on),
		TEST(every_send_fails),
		TEST(every_sa_answer_is_cut_short),
		TEST(every_datagram_is_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
