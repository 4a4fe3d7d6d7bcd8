/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What include/acmite/transport.h says, sentence by sentence, of any implementation. */
#include "groups.h"
#include "pair.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* More than any transport takes without time passing, or the receive buffers of one endpoint. */
#define MANY 4096

static const struct fixture *fixture;
static void *fabric;

/* ---- capabilities and ports ---- */

static void tells_what_it_can(void **state)
{
	struct pair *pair = *state;
	struct acm_transport_caps caps = {.fd = -2};

	pair->nodes[0].transport->ops->capabilities(pair->nodes[0].transport, &caps);
	assert_true(caps.fd >= -1);
	assert_true(caps.sa_window >= 1);
	assert_int_equal(caps.flags & ~(ACM_TRANSPORT_SELF_DELIVERY | ACM_TRANSPORT_RMPP |
					ACM_TRANSPORT_ASYNC_PORTS),
			 0);
}

static void says_nothing_before_the_start(void **state)
{
	struct pair *pair = *state;
	struct acm_event event;

	assert_int_equal(
		pair->nodes[0].transport->ops->next_event(pair->nodes[0].transport, &event), 0);
}

static void start_tells_of_the_ports(void **state)
{
	struct pair *pair = *state;

	pair_start(pair);
	for (int i = 0; i < 2; i++) {
		const struct acm_port_facts *facts = &pair->nodes[i].facts;

		assert_int_equal(facts->state, ACM_PORT_ACTIVE);
		assert_int_not_equal(facts->lid, 0);
		assert_int_not_equal(facts->sm_lid, 0);
		assert_true(facts->device[0]);
		assert_in_range(facts->number, 1, facts->port_count);
		assert_true(facts->gid_count >= 1);
		assert_int_equal(facts->gids[0].raw[0], 0xfe);
		assert_true(facts->pkey_count >= 1);
		assert_int_equal(facts->pkeys[0], ACM_PKEY_DEFAULT);
		assert_int_not_equal(acm_mtu_bytes(facts->mtu), 0);
		assert_int_not_equal(acm_rate_tenths_gbps(facts->rate), 0);
	}
	assert_int_not_equal(pair->nodes[0].facts.lid, pair->nodes[1].facts.lid);
}

/* ---- endpoints ---- */

static int open_endpoint(struct node *node, uint32_t endpoint, uint32_t port, uint16_t pkey)
{
	return node->transport->ops->open_endpoint(node->transport, endpoint, port, pkey, ACM_QKEY,
						   DEPTH);
}

static void opens_endpoints(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[0];

	pair_open(pair);
	for (int i = 0; i < 2; i++)
		assert_in_range(pair->nodes[i].qpn, 2, 0xfffffe);
	assert_int_equal(open_endpoint(node, ENDPOINT, node->facts.port, ACM_PKEY_DEFAULT),
			 -EEXIST);
	assert_int_equal(open_endpoint(node, 12, node->facts.port + 77, ACM_PKEY_DEFAULT), -ENODEV);
	assert_int_equal(open_endpoint(node, 12, node->facts.port, 0x9234), -ENOENT);
	assert_int_equal(open_endpoint(node, 12, node->facts.port, 0), -ENOENT);
	/* Another id in the same partition is another queue pair. */
	assert_int_equal(open_endpoint(node, 12, node->facts.port, ACM_PKEY_DEFAULT), 0);
	pair_await(pair, node, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(node->event.opened.endpoint, 12);
	assert_int_not_equal(node->event.opened.qpn, node->qpn);
}

static void opens_again_what_was_closed(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[0];

	pair_open(pair);
	node->transport->ops->close_endpoint(node->transport, ENDPOINT);
	assert_int_equal(open_endpoint(node, ENDPOINT, node->facts.port, ACM_PKEY_DEFAULT), 0);
	pair_await(pair, node, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(node->event.opened.status, 0);
}

static void closing_drops_its_events(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[1];
	struct acm_datagram datagram;

	pair_open(pair);
	pair_count_wakes(node);
	datagram = pair_datagram(node);
	pair_send(&pair->nodes[0], &datagram);
	pair_await_told(pair, node); /* it is there, and not pulled */
	assert_int_equal(open_endpoint(node, 12, node->facts.port, ACM_PKEY_DEFAULT), 0);
	assert_int_equal(open_endpoint(node, 13, node->facts.port, ACM_PKEY_DEFAULT), 0);
	node->transport->ops->close_endpoint(node->transport, ENDPOINT);
	node->transport->ops->close_endpoint(node->transport, 12);
	node->transport->ops->close_endpoint(node->transport, 99); /* is none: nothing happens */
	pair_await(pair, node, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(node->event.opened.endpoint, 13);
	node->qpn = node->event.opened.qpn;
	pair_flush(pair, &pair->nodes[0], node);
	assert_int_equal(node->event.datagram.endpoint, 13);
	assert_false(pair_pull(node));
}

/* ---- datagrams ---- */

static void refuses_what_cannot_be_sent(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[0];
	static const uint8_t payload[ACM_DATAGRAM_MAX + 1];
	struct acm_datagram datagram;

	pair_start(pair);
	datagram = pair_datagram(&pair->nodes[1]);
	datagram.qpn = 5;
	assert_int_equal(node->transport->ops->send(node->transport, &datagram, 1), -ENOENT);
	pair_detach(pair);
	pair_attach(pair);
	pair_open(pair);
	datagram = pair_datagram(&pair->nodes[1]);
	datagram.payload = payload;
	datagram.length = sizeof(payload);
	assert_int_equal(node->transport->ops->send(node->transport, &datagram, 1), -EMSGSIZE);
	node->transport->ops->close_endpoint(node->transport, ENDPOINT);
	datagram.length = 0;
	assert_int_equal(node->transport->ops->send(node->transport, &datagram, 1), -ENOENT);
}

static void fill(uint8_t *payload, uint16_t length)
{
	for (uint32_t i = 0; i < length; i++)
		payload[i] = (uint8_t)(i * 7 + length);
}

static void carries_every_length_whole(void **state)
{
	struct pair *pair = *state;
	struct node *to = &pair->nodes[1];

	pair_open(pair);
	for (uint16_t length = 0; length <= ACM_DATAGRAM_MAX; length++) {
		uint8_t payload[ACM_DATAGRAM_MAX], expected[ACM_DATAGRAM_MAX];
		struct acm_datagram datagram = pair_datagram(to);

		fill(payload, length);
		fill(expected, length);
		datagram.payload = payload;
		datagram.length = length;
		pair_send(&pair->nodes[0], &datagram);
		memset(payload, 0xee, sizeof(payload)); /* it must have been read by now */
		pair_await(pair, to, ACM_EVENT_DATAGRAM);
		assert_int_equal(to->event.datagram.length, length);
		assert_memory_equal(to->event.datagram.payload, expected, length);
	}
}

static void tells_what_the_headers_say(void **state)
{
	struct pair *pair = *state;
	const struct node *from = &pair->nodes[0];
	struct node *to = &pair->nodes[1];
	const struct acm_datagram_received *got = &to->event.datagram;
	struct acm_datagram datagram;

	pair_open(pair);
	datagram = pair_datagram(to);
	datagram.flow_label = 0xabcde;
	datagram.traffic_class = 0x5a;
	datagram.hop_limit = 7;
	pair_send(from, &datagram);
	pair_await(pair, to, ACM_EVENT_DATAGRAM);
	assert_int_equal(got->endpoint, ENDPOINT);
	assert_int_equal(got->slid, from->facts.lid);
	assert_int_equal(got->sl, 0);
	assert_int_equal(got->dlid_path_bits, 0);
	assert_int_equal(got->source_qpn, from->qpn);
	assert_memory_equal(&got->sgid, &from->facts.gids[0], sizeof(got->sgid));
	assert_memory_equal(&got->dgid, &to->facts.gids[0], sizeof(got->dgid));
	assert_int_equal(got->flow_label, 0xabcde);
	assert_int_equal(got->traffic_class, 0x5a);
	assert_int_equal(got->hop_limit, 7);
}

static void answers_find_their_way_back(void **state)
{
	struct pair *pair = *state;
	struct node *to = &pair->nodes[1];
	struct acm_datagram datagram;

	pair_open(pair);
	datagram = pair_datagram(to);
	pair_send(&pair->nodes[0], &datagram);
	pair_await(pair, to, ACM_EVENT_DATAGRAM);
	/* As received: nothing is known of the sender but this. */
	datagram.dlid = to->event.datagram.slid;
	datagram.qpn = to->event.datagram.source_qpn;
	datagram.dgid = to->event.datagram.sgid;
	pair_send(to, &datagram);
	pair_await(pair, &pair->nodes[0], ACM_EVENT_DATAGRAM);
	assert_int_equal(pair->nodes[0].event.datagram.source_qpn, to->qpn);
}

static void keeps_buffers_posted(void **state)
{
	struct pair *pair = *state;
	struct node *to = &pair->nodes[1];
	struct acm_datagram datagram;

	pair_open(pair);
	datagram = pair_datagram(to);
	/* Each round fills all there are: those that were read are posted anew. */
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < DEPTH; i++)
			pair_send(&pair->nodes[0], &datagram);
		for (int i = 0; i < DEPTH; i++)
			pair_await(pair, to, ACM_EVENT_DATAGRAM);
	}
}

/* As many datagrams as are taken, each with its number. */
static uint32_t send_numbers(const struct node *from, struct acm_datagram *datagram, uint32_t first)
{
	uint32_t count = 0;
	int error = 0;

	for (; count < MANY && !error; count += !error) {
		uint32_t number = first + count;

		datagram->payload = (const uint8_t *)&number;
		datagram->length = sizeof(number);
		error = from->transport->ops->send(from->transport, datagram, 1);
	}
	assert_true(error == 0 || error == -EAGAIN);
	return count;
}

static void await_numbers(struct pair *pair, struct node *to, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number;

		pair_await(pair, to, ACM_EVENT_DATAGRAM);
		assert_int_equal(to->event.datagram.length, sizeof(number));
		memcpy(&number, to->event.datagram.payload, sizeof(number));
		assert_int_equal(number, i);
	}
}

static void pushes_back_and_says_when_to_go_on(void **state)
{
	struct pair *pair = *state;
	struct node *from = &pair->nodes[0], *to = &pair->nodes[1];
	struct acm_datagram datagram;
	uint32_t count, more;

	pair_start(pair);
	for (int i = 0; i < 2; i++) {
		struct acm_transport *transport = pair->nodes[i].transport;

		assert_int_equal(transport->ops->open_endpoint(transport, ENDPOINT, 0,
							       ACM_PKEY_DEFAULT, ACM_QKEY,
							       2 * MANY),
				 0);
		pair_await(pair, &pair->nodes[i], ACM_EVENT_ENDPOINT_OPENED);
		pair->nodes[i].qpn = pair->nodes[i].event.opened.qpn;
	}
	datagram = pair_datagram(to);
	count = send_numbers(from, &datagram, 0);
	assert_true(count > 0);
	if (count == MANY)
		return; /* it takes whatever comes */
	pair_await(pair, from, ACM_EVENT_WRITABLE);
	more = send_numbers(from, &datagram, count);
	assert_true(more > 0);
	await_numbers(pair, to, count + more); /* nothing of what was refused */
	pair_flush(pair, &pair->nodes[0], to);
	assert_false(pair_pull(to));
}

/* ---- the SA ---- */

static void asks_the_sa(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[0];
	struct acm_sa_header header;
	struct acm_path path;

	pair_start(pair);
	assert_int_equal(pair_ask_path(node, &pair->nodes[1], 0x89abcdef, 0xfedcba9876543210), 0);
	pair_await(pair, node, ACM_EVENT_SA_ANSWER);
	assert_int_equal(node->event.sa.cookie, 0xfedcba9876543210);
	assert_int_equal(acm_sa_decode_header(node->event.sa.mad, node->event.sa.length, &header),
			 0);
	assert_int_equal(header.status, 0);
	assert_int_equal(header.tid & 0xffffffff, 0x89abcdef);
	assert_int_equal(acm_sa_decode_path(node->event.sa.mad, node->event.sa.length, &path), 0);
	assert_int_equal(path.slid, node->facts.lid);
	assert_int_equal(path.dlid, pair->nodes[1].facts.lid);
	assert_memory_equal(&path.dgid, &pair->nodes[1].facts.gids[0], sizeof(path.dgid));
}

/* Asks from `first` on until it is refused, or `most` are on their way. */
static uint64_t ask_many(const struct pair *pair, uint64_t first, uint64_t most)
{
	uint64_t next = first;
	int error = 0;

	while (next < first + most && !error) {
		error = pair_ask_path(&pair->nodes[0], &pair->nodes[1], 1000 + next, next);
		next += !error;
	}
	assert_true(error == 0 || error == -EAGAIN);
	return next;
}

static void answers_carry_their_cookies(void **state)
{
	static bool seen[300];
	struct pair *pair = *state;
	struct node *node = &pair->nodes[0];
	uint64_t asked, answered = 0;

	memset(seen, 0, sizeof(seen));
	pair_start(pair);
	asked = ask_many(pair, 0, 300);
	assert_true(asked > 0);
	while (answered < 300) {
		struct acm_sa_header header;
		uint64_t begin = 0;

		while (!pair_pull(node))
			pair_wait(pair, &begin);
		if (node->event.type == ACM_EVENT_WRITABLE) {
			asked = ask_many(pair, asked, 300 - asked);
			continue;
		}
		assert_int_equal(node->event.type, ACM_EVENT_SA_ANSWER);
		assert_true(node->event.sa.cookie < asked && !seen[node->event.sa.cookie]);
		seen[node->event.sa.cookie] = true;
		assert_int_equal(
			acm_sa_decode_header(node->event.sa.mad, node->event.sa.length, &header),
			0);
		assert_int_equal(header.tid & 0xffffffff, 1000 + node->event.sa.cookie);
		answered++;
	}
	assert_false(pair_pull(node));
}

static void forgets_what_was_cancelled(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[0];

	pair_start(pair);
	pair_count_wakes(node);
	/* On its way. */
	assert_int_equal(pair_ask_path(node, &pair->nodes[1], 1, 1), 0);
	node->transport->ops->sa_cancel(node->transport, 1);
	node->transport->ops->sa_cancel(node->transport, 1);
	node->transport->ops->sa_cancel(node->transport, 77); /* never was */
	assert_int_equal(pair_ask_path(node, &pair->nodes[1], 2, 2), 0);
	pair_await(pair, node, ACM_EVENT_SA_ANSWER);
	assert_int_equal(node->event.sa.cookie, 2);
	while (pair_pull(node))
		;
	/* Answered, and not pulled. */
	pair_count_wakes(node);
	assert_int_equal(pair_ask_path(node, &pair->nodes[1], 3, 3), 0);
	pair_await_told(pair, node);
	node->transport->ops->sa_cancel(node->transport, 3);
	assert_int_equal(pair_ask_path(node, &pair->nodes[1], 4, 4), 0);
	pair_await(pair, node, ACM_EVENT_SA_ANSWER);
	assert_int_equal(node->event.sa.cookie, 4);
}

static void nodes_choose_cookies_of_their_own(void **state)
{
	struct pair *pair = *state;

	pair_start(pair);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pair_ask_path(&pair->nodes[i], &pair->nodes[!i], 8, 9), 0);
	for (int i = 0; i < 2; i++) {
		struct acm_path path;
		struct node *node = &pair->nodes[i];

		pair_await(pair, node, ACM_EVENT_SA_ANSWER);
		assert_int_equal(node->event.sa.cookie, 9);
		assert_int_equal(
			acm_sa_decode_path(node->event.sa.mad, node->event.sa.length, &path), 0);
		assert_int_equal(path.slid, node->facts.lid);
	}
}

/* ---- waking ---- */

static void wakes_when_empty_turns_to_not_empty(void **state)
{
	struct pair *pair = *state;
	struct node *node = &pair->nodes[1];
	uint32_t pulled = 0, bursts = 0;
	uint64_t begin = 0;

	pair_open(pair);
	assert_false(pair_pull(node));
	pair_count_wakes(node);
	for (int i = 0; i < 30; i++) {
		struct acm_datagram datagram = pair_datagram(node);

		pair_send(&pair->nodes[0], &datagram);
	}
	while (pulled < 30) {
		bool told = pair_is_told(node);
		uint32_t in_burst = 0;

		/* What was not told is not asked for. Port events wake as well, and are all that
		 * may come beside datagrams. */
		while (told && node->transport->ops->next_event(node->transport, &node->event)) {
			pulled += node->event.type == ACM_EVENT_DATAGRAM;
			in_burst++;
		}
		bursts += in_burst > 0;
		if (!pair_has_fd(node))
			assert_int_equal(node->wake_count, bursts);
		node->woken = false;
		if (pulled < 30)
			pair_wait(pair, &begin);
	}
	node->wake_count = 0;
	node->transport->ops->set_wake(node->transport, NULL, NULL);
	pair_flush(pair, &pair->nodes[0], node);
	assert_int_equal(node->wake_count, 0);
}

/* ---- ending ---- */

static void ends_with_everything_under_way(void **state)
{
	struct pair *pair = *state;
	uint16_t mlid = pair_gather(pair);
	struct acm_datagram datagram = pair_multicast(pair, mlid);

	for (int i = 0; i < 2; i++) {
		pair_send(&pair->nodes[i], &datagram);
		assert_int_equal(pair_ask_path(&pair->nodes[i], &pair->nodes[!i], 1, 1), 0);
	}
	pair_detach(pair);
	/* The node is free to be used anew, and hears nothing of what was. */
	pair_attach(pair);
	pair_open(pair);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair_ask_path(&pair->nodes[i], &pair->nodes[!i], 2, 2), 0);
		pair_await(pair, &pair->nodes[i], ACM_EVENT_SA_ANSWER);
		assert_int_equal(pair->nodes[i].event.sa.cookie, 2);
	}
}

/* ---- running ---- */

static int set_up(void **state)
{
	static struct pair pair;

	pair = (struct pair){.fixture = fixture, .fabric = fabric};
	pair_attach(&pair);
	*state = &pair;
	return 0;
}

static int tear_down(void **state)
{
	pair_detach(*state);
	return 0;
}

static int set_up_fabric(void **state)
{
	(void)state;
	fabric = fixture->set_up();
	return 0;
}

static int tear_down_fabric(void **state)
{
	(void)state;
	fixture->tear_down(fabric);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static int run_suite(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tells_what_it_can),
		TEST(says_nothing_before_the_start),
		TEST(start_tells_of_the_ports),
		TEST(opens_endpoints),
		TEST(opens_again_what_was_closed),
		TEST(closing_drops_its_events),
		TEST(refuses_what_cannot_be_sent),
		TEST(carries_every_length_whole),
		TEST(tells_what_the_headers_say),
		TEST(answers_find_their_way_back),
		TEST(keeps_buffers_posted),
		TEST(pushes_back_and_says_when_to_go_on),
		TEST(asks_the_sa),
		TEST(answers_carry_their_cookies),
		TEST(forgets_what_was_cancelled),
		TEST(nodes_choose_cookies_of_their_own),
		TEST(multicasts_reach_the_group),
		TEST(own_multicasts_come_back_as_promised),
		TEST(detached_endpoints_hear_nothing),
		TEST(closing_ends_attachments),
		TEST(wakes_when_empty_turns_to_not_empty),
		TEST(ends_with_everything_under_way),
	};

	return cmocka_run_group_tests_name(fixture->name, tests, set_up_fabric, tear_down_fabric);
}

static const struct {
	const char *name;
	const struct fixture *fixture;
} fixtures[] = {
	{"builtin", &builtin_fixture},
	{"fake", &fake_fixture},
	{"ibsim", &ibsim_fixture},
	{"attached_fake", &attached_fake_fixture},
	{"attached_builtin", &attached_builtin_fixture},
#ifdef ACMITE_VERBS
	{"verbs_first", &verbs_first_fixture},
	{"verbs_second", &verbs_second_fixture},
	{"verbs_ibsim", &verbs_ibsim_fixture},
#endif
};

int main(int argc, char **argv)
{
	size_t count = sizeof(fixtures) / sizeof(fixtures[0]);

	for (size_t i = 0; argc == 2 && i < count; i++) {
		if (!strcmp(argv[1], fixtures[i].name))
			fixture = fixtures[i].fixture;
	}
	if (fixture)
		return run_suite();
	fprintf(stderr, "usage: conformance IMPLEMENTATION, one of:");
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, " %s", fixtures[i].name);
	fprintf(stderr, "\n");
	return 2;
}
