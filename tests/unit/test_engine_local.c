/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a node knows of itself: addresses, endpoints, counters; and the contract of the step
 * function. */
#include "support/inquiry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

static void step(struct acm_event event)
{
	assert_int_equal(cluster_step(&cluster, 1, event), 0);
}

static void change(enum acm_event_type type, uint32_t port, uint16_t pkey, const char *name)
{
	struct acm_local_address local = {.port = port, .pkey = pkey};
	struct acm_event event = {.type = type, .address = &local};

	assert_int_equal(acm_address_canonical(&local.address, ACM_ADDRESS_NAME,
					       (const uint8_t *)name, strlen(name)),
			 0);
	snprintf(local.text, sizeof(local.text), "%s", name);
	step(event);
}

static const struct acm_reply *query(struct acm_request *request)
{
	uint64_t id;

	request->opcode =
		request->kind == ACM_REQUEST_COUNTERS ? ACM_OPCODE_COUNTERS : ACM_OPCODE_ENDPOINT;
	id = cluster_ask_request(&cluster, 1, request);
	assert_true(cluster_answer(&cluster, id)->given);
	return &cluster_answer(&cluster, id)->reply;
}

static const struct acm_reply *query_endpoint(uint8_t index, uint8_t port)
{
	struct acm_request request = {.kind = ACM_REQUEST_ENDPOINT, .index = index, .port = port};

	return query(&request);
}

/* ---- an address that is given up ---- */

static uint32_t spoken_for; /* multicast requests in the name of 10.0.0.1 */
static uint32_t spoken;

static void count_sources(struct cluster *at, int node, const struct acm_trace *trace)
{
	(void)at;
	if (node != 1 || trace->type != ACM_TRACE_MULTICAST)
		return;
	spoken++;
	spoken_for += trace->source.type == ACM_ADDRESS_IP;
}

/* Others would learn from a retry that it is still here. */
static void a_retry_does_not_name_a_source_that_was_given_up(void **state)
{
	static const uint8_t own[4] = {10, 0, 0, 1}, nobody[4] = {10, 0, 0, 99};
	struct acm_request request;
	uint64_t id;

	(void)state;
	config.trace_mask = UINT64_MAX;
	inquiry_start(2);
	cluster.on_trace = count_sources;
	spoken = spoken_for = 0;
	request = cluster_request(&cluster, 1, "nobody");
	acm_address_canonical(&request.source, ACM_ADDRESS_IP, own, 4);
	acm_address_canonical(&request.destination, ACM_ADDRESS_IP, nobody, 4);
	id = cluster_ask_request(&cluster, 1, &request);
	assert_int_equal(spoken, 1);
	assert_int_equal(spoken_for, 1);
	cluster_remove_address(&cluster, 1, ACM_ADDRESS_IP, own, 4);
	cluster_run_for(&cluster, 60 * SEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	assert_true(spoken > 1);
	assert_int_equal(spoken_for, 1);
}

/* ---- any order gives the same ---- */

enum fact { PORT0, PORT1, NAME_A, NAME_B, NAME_IN_12, NAME_ON_1, FACTS };

static void tell(enum fact fact)
{
	struct acm_port_facts *facts = cluster_port(&cluster, 1);

	switch (fact) {
	case PORT0:
		facts->port = 0;
		facts->number = 1;
		facts->lid = 1;
		facts->gids[0] = cluster_gid(1);
		cluster_port_changed(&cluster, 1);
		break;
	case PORT1:
		facts->port = 1;
		facts->number = 2;
		facts->lid = 11;
		facts->gids[0] = cluster_gid(11);
		cluster_port_changed(&cluster, 1);
		break;
	case NAME_A:
		change(ACM_EVENT_ADDRESS_ADDED, 0, 0, "a");
		break;
	case NAME_B:
		change(ACM_EVENT_ADDRESS_ADDED, 0, 0xffff, "b");
		break;
	case NAME_IN_12:
		change(ACM_EVENT_ADDRESS_ADDED, 0, 0x0012, "c");
		break;
	case NAME_ON_1:
		change(ACM_EVENT_ADDRESS_ADDED, 1, 0, "a");
		break;
	case FACTS:
		break;
	}
}

/* All endpoints with their addresses, in the order of port and P_Key. */
static void describe(char *text, size_t size)
{
	static const uint16_t pkeys[] = {0xffff, 0x8012};
	size_t at = 0;

	for (uint8_t port = 1; port <= 2; port++) {
		for (int p = 0; p < 2; p++) {
			for (uint8_t index = 1; index < 5; index++) {
				const struct acm_reply *reply = query_endpoint(index, 0);

				if (reply->status || reply->endpoint.port != port ||
				    reply->endpoint.pkey != pkeys[p])
					continue;
				at += (size_t)snprintf(text + at, size - at, "%u/%x:", port,
						       pkeys[p]);
				for (int i = 0; i < reply->endpoint.address_count; i++)
					at += (size_t)snprintf(text + at, size - at, " %s",
							       reply->endpoint.addresses[i]);
				at += (size_t)snprintf(text + at, size - at, "\n");
			}
		}
	}
}

static void run_permutation(const int order[FACTS], char *text, size_t size)
{
	assert_int_equal(cluster_init(&cluster, 1, &config), 0);
	cluster_port(&cluster, 1)->pkey_count = 2;
	cluster_port(&cluster, 1)->pkeys[1] = 0x8012;
	cluster_port(&cluster, 1)->port_count = 2;
	for (int i = 0; i < FACTS; i++) {
		tell((enum fact)order[i]);
		if (i % 2)
			cluster_run_for(&cluster, MS);
	}
	cluster_run_for(&cluster, 10 * MS);
	describe(text, size);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints, 4);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints_ready, 4);
	assert_int_equal(cluster_attachments(&cluster, 1), 3); /* one endpoint has no address */
	cluster_destroy(&cluster);
}

static void swap(int *a, int *b)
{
	int other = *a;

	*a = *b;
	*b = other;
}

static bool next_permutation(int order[FACTS])
{
	int i = FACTS - 2, j = FACTS - 1;

	while (i >= 0 && order[i] > order[i + 1])
		i--;
	if (i < 0)
		return false;
	while (order[j] < order[i])
		j--;
	swap(&order[i], &order[j]);
	for (int left = i + 1, right = FACTS - 1; left < right; left++, right--)
		swap(&order[left], &order[right]);
	return true;
}

static void any_order_of_facts_gives_the_same(void **state)
{
	int order[FACTS] = {0, 1, 2, 3, 4, 5};
	char first[512], other[512];
	int count = 0;

	(void)state;
	run_permutation(order, first, sizeof(first));
	assert_string_equal(first, "1/ffff: a b\n1/8012: c\n2/ffff: a\n2/8012:\n");
	do {
		run_permutation(order, other, sizeof(other));
		assert_string_equal(other, first);
		count++;
	} while (next_permutation(order));
	assert_int_equal(count, 720);
	assert_int_equal(cluster_init(&cluster, 1, &config), 0);
}

static void adding_twice_and_removing_what_is_not_there(void **state)
{
	(void)state;
	inquiry_start(1);
	change(ACM_EVENT_ADDRESS_ADDED, 0, 0, "twice");
	change(ACM_EVENT_ADDRESS_ADDED, 0, 0, "TWICE");
	change(ACM_EVENT_ADDRESS_REMOVED, 0, 0, "never");
	change(ACM_EVENT_ADDRESS_REMOVED, 0, 0x12, "twice"); /* another fact */
	assert_int_equal(query_endpoint(1, 0)->endpoint.address_count, 4);
	/* One address by two facts: it stays until both are gone. */
	change(ACM_EVENT_ADDRESS_ADDED, 0, 0xffff, "twice");
	assert_int_equal(query_endpoint(1, 0)->endpoint.address_count, 4);
	change(ACM_EVENT_ADDRESS_REMOVED, 0, 0, "twice");
	assert_int_equal(query_endpoint(1, 0)->endpoint.address_count, 4);
	change(ACM_EVENT_ADDRESS_REMOVED, 0, 0xffff, "twice");
	assert_int_equal(query_endpoint(1, 0)->endpoint.address_count, 3);
}

static void the_default_partition_is_where_it_is_now(void **state)
{
	(void)state;
	assert_int_equal(cluster_init(&cluster, 1, &config), 0);
	cluster_port(&cluster, 1)->pkeys[0] = 0x8012;
	cluster_start(&cluster);
	assert_int_equal(query_endpoint(1, 0)->endpoint.address_count, 3); /* the first stands in */
	cluster_port(&cluster, 1)->pkey_count = 2;
	cluster_port(&cluster, 1)->pkeys[1] = 0xffff;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(query_endpoint(1, 0)->endpoint.address_count, 0);
	assert_int_equal(query_endpoint(2, 0)->endpoint.address_count, 3);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
}

static void two_thousand_addresses(void **state)
{
	struct acm_request request;
	char name[32];
	uint64_t id;

	(void)state;
	inquiry_start(2);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "alias%d", i * 7919 % 2000);
		change(ACM_EVENT_ADDRESS_ADDED, 0, 0, name);
	}
	/* An answer's length has 16 bits; what fits is told. */
	assert_in_range(query_endpoint(1, 0)->endpoint.address_count, 900, 1022);
	for (int i = 0; i < 2000; i += 333) {
		snprintf(name, sizeof(name), "ALIAS%d", i);
		request = cluster_request(&cluster, 2, name);
		id = cluster_ask_request(&cluster, 2, &request);
		cluster_run_for(&cluster, MS);
		assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
		assert_int_equal(cluster_answer(&cluster, id)->reply.path.dlid, 1);
	}
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "alias%d", i);
		change(ACM_EVENT_ADDRESS_REMOVED, 0, 0, name);
	}
	assert_int_equal(query_endpoint(1, 0)->endpoint.address_count, 3);
}

/* ---- queries ---- */

static void two_ports(void)
{
	struct acm_port_facts *facts;

	assert_int_equal(cluster_init(&cluster, 1, &config), 0);
	cluster_port(&cluster, 1)->port_count = 2;
	cluster_start(&cluster);
	facts = cluster_port(&cluster, 1);
	facts->port = 1;
	facts->number = 2;
	facts->lid = 11;
	facts->gids[0] = cluster_gid(11);
	facts->pkey_count = 2;
	facts->pkeys[1] = 0x8012;
	cluster_port_changed(&cluster, 1);
	change(ACM_EVENT_ADDRESS_ADDED, 1, 0x12, "second");
	cluster_run_for(&cluster, 10 * MS);
}

static void endpoints_by_index_and_port(void **state)
{
	const struct acm_reply *reply;

	(void)state;
	two_ports();
	reply = query_endpoint(1, 0);
	assert_int_equal(reply->status, ACM_STATUS_OK);
	assert_int_equal(reply->endpoint.index, 1);
	assert_int_equal(reply->endpoint.device_guid, 0x1001);
	assert_int_equal(reply->endpoint.port, 1);
	assert_int_equal(reply->endpoint.port_count, 2);
	assert_int_equal(reply->endpoint.pkey, ACM_PKEY_DEFAULT);
	assert_string_equal(reply->endpoint.provider, "acmite");
	assert_int_equal(reply->endpoint.address_count, 3);
	assert_string_equal(reply->endpoint.addresses[0], "node1");
	assert_string_equal(reply->endpoint.addresses[1], "10.0.0.1");
	assert_string_equal(reply->endpoint.addresses[2], "fd00::1");
	assert_int_equal(query_endpoint(3, 0)->endpoint.pkey, 0x8012);
	assert_int_equal(query_endpoint(4, 0)->status, ACM_STATUS_INVALID);
	/* The port filter counts within the port. */
	reply = query_endpoint(1, 2);
	assert_int_equal(reply->endpoint.port, 2);
	assert_int_equal(reply->endpoint.pkey, ACM_PKEY_DEFAULT);
	assert_int_equal(query_endpoint(2, 2)->endpoint.pkey, 0x8012);
	assert_string_equal(query_endpoint(2, 2)->endpoint.addresses[0], "second");
	assert_int_equal(query_endpoint(3, 2)->status, ACM_STATUS_INVALID);
	assert_int_equal(query_endpoint(2, 1)->status, ACM_STATUS_INVALID);
	assert_int_equal(query_endpoint(1, 9)->status, ACM_STATUS_INVALID);
	assert_int_equal(query_endpoint(0, 0)->status, ACM_STATUS_INVALID);
	assert_int_equal(query_endpoint(255, 0)->status, ACM_STATUS_INVALID);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ERROR), 0);
}

static void counters_of_the_service_and_of_an_endpoint(void **state)
{
	struct acm_request request = {.kind = ACM_REQUEST_COUNTERS};
	const struct acm_reply *reply;

	(void)state;
	inquiry_start(2);
	cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, MS);
	cluster_ask(&cluster, 1, "node2");
	reply = query(&request);
	assert_int_equal(reply->status, ACM_STATUS_OK);
	assert_int_equal(reply->counter_count, ACM_COUNTER_WIRE_COUNT);
	assert_int_equal(reply->counters[ACM_COUNTER_RESOLVE], 2);
	assert_int_equal(reply->counters[ACM_COUNTER_ADDR_QUERY], 1);
	assert_int_equal(reply->counters[ACM_COUNTER_ADDR_CACHE], 1);
	assert_int_equal(reply->counters[ACM_COUNTER_ROUTE_QUERY], 1);
	assert_int_equal(reply->counters[ACM_COUNTER_ROUTE_CACHE], 1);
	assert_int_equal(reply->counters[ACM_COUNTER_ERROR], 0);
	request.index = 1;
	reply = query(&request);
	assert_int_equal(reply->counters[ACM_COUNTER_RESOLVE], 2);
	request.index = 2;
	assert_int_equal(query(&request)->status, ACM_STATUS_INVALID);
	request.index = 0;
	request.has_source = true;
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	assert_int_equal(query(&request)->counters[ACM_COUNTER_RESOLVE], 2);
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"stranger", 8);
	assert_int_equal(query(&request)->status, ACM_STATUS_SOURCE_ADDRESS);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ERROR), 0);
}

/* What a search for the source answers is the endpoint's as well. */
static void an_endpoint_counts_what_came_by_a_search(void **state)
{
	struct acm_request request = {.kind = ACM_REQUEST_COUNTERS, .index = 1};
	struct acm_request resolve;
	uint8_t ip[4] = {10, 0, 0, 99};

	(void)state;
	inquiry_start(2);
	cluster_add_address(&cluster, 1, ACM_ADDRESS_IP, ip, sizeof(ip));
	cluster.search_status = 0;
	acm_address_canonical(&cluster.search_result, ACM_ADDRESS_IP, ip, sizeof(ip));
	resolve = cluster_request(&cluster, 1, "x");
	resolve.has_source = false;
	ip[3] = 2;
	acm_address_canonical(&resolve.destination, ACM_ADDRESS_IP, ip, sizeof(ip));
	for (int i = 0; i < 2; i++) {
		cluster_ask_request(&cluster, 1, &resolve);
		cluster_run_for(&cluster, MS);
	}
	assert_int_equal(query(&request)->counters[ACM_COUNTER_RESOLVE], 2);
}

/* ---- the contract of the step function ---- */

static void time_does_not_go_back(void **state)
{
	struct acm_engine *engine;
	struct acm_event event = {.type = ACM_EVENT_DEADLINE};
	struct acm_engine_stats before, after;

	(void)state;
	inquiry_start(1);
	engine = cluster_engine(&cluster, 1);
	acm_engine_stats(engine, &before);
	event.time = 1;
	assert_int_equal(acm_engine_step(engine, &event), -EINVAL);
	event.type = (enum acm_event_type)99;
	event.time = cluster.now;
	assert_int_equal(acm_engine_step(engine, &event), -EINVAL);
	event.type = (enum acm_event_type) - 1;
	assert_int_equal(acm_engine_step(engine, &event), -EINVAL);
	acm_engine_stats(engine, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	event.type = ACM_EVENT_WRITABLE; /* the driver's; the engine has nothing to do with it */
	assert_int_equal(acm_engine_step(engine, &event), 0);
	event.type = ACM_EVENT_DEADLINE; /* the same time once more */
	assert_int_equal(acm_engine_step(engine, &event), 0);
}

static void actions_have_to_be_pulled(void **state)
{
	struct acm_request request;
	struct acm_event ask = {.type = ACM_EVENT_REQUEST, .request = &request};
	struct acm_event idle = {.type = ACM_EVENT_DEADLINE};
	struct acm_action action;
	struct acm_engine *engine;

	(void)state;
	inquiry_start(2);
	engine = cluster_engine(&cluster, 1);
	request = cluster_request(&cluster, 1, "node1");
	request.id = 1;
	ask.time = idle.time = cluster.now;
	/* An answer at once. */
	assert_int_equal(acm_engine_step(engine, &ask), 0);
	assert_int_equal(acm_engine_step(engine, &idle), -EBUSY);
	assert_true(acm_engine_next_action(engine, &action));
	assert_int_equal(action.type, ACM_ACTION_REPLY);
	assert_false(acm_engine_next_action(engine, &action));
	assert_int_equal(acm_engine_step(engine, &idle), 0);
	assert_false(acm_engine_next_action(engine, &action));
	/* A datagram. */
	request = cluster_request(&cluster, 1, "node2");
	request.id = 2;
	assert_int_equal(acm_engine_step(engine, &ask), 0);
	assert_int_equal(acm_engine_step(engine, &ask), -EBUSY);
	assert_true(acm_engine_next_action(engine, &action));
	assert_int_equal(action.type, ACM_ACTION_SEND);
	assert_false(acm_engine_next_action(engine, &action));
	assert_int_equal(acm_engine_step(engine, &idle), 0);
	/* An answer to one that waited. */
	idle.time += 10 * SEC;
	assert_int_equal(acm_engine_step(engine, &idle), 0);
	while (acm_engine_next_action(engine, &action) && action.type != ACM_ACTION_REPLY)
		;
	assert_int_equal(action.type, ACM_ACTION_REPLY);
	assert_int_equal(action.reply->status, ACM_STATUS_TIMED_OUT);
	assert_false(acm_engine_next_action(engine, &action));
	cluster.now = idle.time;
}

static void a_deadline_is_never_in_the_past_once_it_was_served(void **state)
{
	(void)state;
	inquiry_start(2);
	for (int i = 0; i < 5; i++)
		cluster_ask(&cluster, 1, i % 2 ? "nobody" : "node2");
	for (int i = 0; i < 200; i++) {
		struct acm_event event = {.type = ACM_EVENT_DEADLINE};
		uint64_t deadline = acm_engine_deadline(cluster_engine(&cluster, 1));

		if (deadline == ACM_NEVER || deadline > cluster.now + 10 * SEC)
			break;
		cluster_run_until(&cluster, deadline);
		step(event);
		assert_true(acm_engine_deadline(cluster_engine(&cluster, 1)) > cluster.now);
	}
}

static void stray_completions_are_nothing(void **state)
{
	static const uint64_t cookies[] = {0, 1, 2, 3, 5, UINT64_C(1) << 32, UINT64_MAX};
	uint8_t mad[ACM_MAD_LENGTH] = {0};
	uint64_t id;

	(void)state;
	inquiry_start(2);
	id = cluster_ask(&cluster, 1, "node2");
	for (size_t i = 0; i < sizeof(cookies) / sizeof(cookies[0]); i++) {
		struct acm_event event = {.type = ACM_EVENT_SA_ANSWER};

		event.sa.cookie = cookies[i];
		event.sa.mad = mad;
		event.sa.length = sizeof(mad);
		step(event);
		event = (struct acm_event){.type = ACM_EVENT_ATTACHED};
		event.attached.cookie = cookies[i];
		step(event);
		event = (struct acm_event){.type = ACM_EVENT_SEND_FAILED};
		event.failed.cookie = cookies[i];
		step(event);
		event.type = ACM_EVENT_SA_FAILED;
		step(event);
		event = (struct acm_event){.type = ACM_EVENT_SOURCE_FOUND};
		event.source.cookie = cookies[i];
		step(event);
		event = (struct acm_event){.type = ACM_EVENT_CANCEL, .cancel = cookies[i] + 1000};
		step(event);
		event = (struct acm_event){.type = ACM_EVENT_ENDPOINT_OPENED};
		event.opened.endpoint = (uint32_t)cookies[i];
		step(event);
		event = (struct acm_event){.type = ACM_EVENT_DATAGRAM};
		event.datagram.endpoint = (uint32_t)cookies[i];
		event.datagram.payload = mad;
		event.datagram.length = sizeof(mad);
		step(event);
		event = (struct acm_event){.type = ACM_EVENT_PORT_REMOVED, .port = 7};
		step(event);
		event.type = ACM_EVENT_REREGISTER;
		step(event);
	}
	cluster_run_for(&cluster, MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, id)->given);
}

static void a_configuration_out_of_range_makes_no_engine(void **state)
{
	struct acm_engine_config wrong;
	const char *field = NULL;

	(void)state;
	inquiry_start(1);
	wrong = config;
	wrong.resolve_depth = 0;
	assert_int_equal(acm_engine_config_check(&wrong, &field), -EINVAL);
	assert_string_equal(field, "resolve_depth");
	wrong = config;
	wrong.retries = 17;
	assert_int_equal(acm_engine_config_check(&wrong, &field), -EINVAL);
	assert_string_equal(field, "retries");
	wrong = config;
	memset(wrong.provider, 'x', sizeof(wrong.provider));
	assert_int_equal(acm_engine_config_check(&wrong, &field), -EINVAL);
	assert_string_equal(field, "provider");
	assert_int_equal(acm_engine_config_check(&config, &field), 0);
	acm_engine_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inquiry_reset, inquiry_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_order_of_facts_gives_the_same),
		TEST(adding_twice_and_removing_what_is_not_there),
		TEST(the_default_partition_is_where_it_is_now),
		TEST(two_thousand_addresses),
		TEST(endpoints_by_index_and_port),
		TEST(counters_of_the_service_and_of_an_endpoint),
		TEST(an_endpoint_counts_what_came_by_a_search),
		TEST(a_retry_does_not_name_a_source_that_was_given_up),
		TEST(time_does_not_go_back),
		TEST(actions_have_to_be_pulled),
		TEST(a_deadline_is_never_in_the_past_once_it_was_served),
		TEST(stray_completions_are_nothing),
		TEST(a_configuration_out_of_range_makes_no_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
