/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many who ask for many in one moment: who asks is overheard by all, so little need be asked. */
#include "support/inquiry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MS    ACM_NSEC_PER_MSEC
#define NODES CLUSTER_NODES_MAX

static uint64_t ask_number(int node, const char *name, int number)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%d", name, number);
	return cluster_ask(&cluster, node, text);
}

static void found(uint64_t id)
{
	assert_true(cluster_answer(&cluster, id)->given);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
}

static void all_ask_for_all_and_few_multicasts_do(void **state)
{
	uint64_t ids[NODES][NODES], dead[NODES];

	(void)state;
	inquiry_start(NODES);
	for (int from = 1; from <= NODES; from++) {
		dead[from - 1] = cluster_ask(&cluster, from, "dead");
		for (int to = 1; to <= NODES; to++)
			ids[from - 1][to - 1] = from == to ? 0 : ask_number(from, "node", to);
	}
	cluster_run_for(&cluster, MS);
	for (int from = 0; from < NODES; from++) {
		for (int to = 0; to < NODES; to++) {
			if (from != to)
				found(ids[from][to]);
		}
		assert_false(cluster_answer(&cluster, dead[from])->given);
	}
	/* Two from each at once; all others were overheard by then. */
	assert_int_equal(cluster.multicasts, 2 * NODES);
}

/* A place in the window is not for the next when its request is overtaken: that is still out. */
static void what_is_overheard_makes_no_room(void **state)
{
	(void)state;
	inquiry_start(4);
	/* Node 1 asks for node 3 and node 4, and hears of both before they can answer. */
	cluster_run_for(&cluster, 1000 * MS);
	for (int node = 1; node <= 4; node++)
		cluster_step(&cluster, node, (struct acm_event){.type = ACM_EVENT_RELOAD});
	cluster.multicasts = 0;
	ask_number(3, "node", 2);
	ask_number(4, "node", 2);
	ask_number(1, "node", 3);
	ask_number(1, "node", 4);
	ask_number(1, "none", 1);
	cluster_run_for(&cluster, MS);
	assert_int_equal(cluster.multicasts, 4);
	cluster_run_for(&cluster, 2 * MS);
	assert_int_equal(cluster.multicasts, 5);
}

/* One that asks alone is as fast as the answers come. */
static void one_that_asks_for_all_doubles_with_each_answer(void **state)
{
	uint64_t ids[NODES];

	(void)state;
	inquiry_start(NODES);
	for (int to = 2; to <= NODES; to++)
		ids[to - 1] = ask_number(1, "node", to);
	/* 2, 4, 8 and 1 */
	cluster_run_for(&cluster, 4 * 2 * CLUSTER_DELAY + 2 * CLUSTER_DELAY);
	for (int to = 2; to <= NODES; to++)
		found(ids[to - 1]);
	assert_int_equal(cluster.multicasts, NODES - 1);
}

static int lose_requests(struct cluster *at, struct cluster_packet *packet)
{
	(void)at;
	return packet->answer;
}

/* What is lost while many others are heard, in a queue that is short, is asked for ever slower. */
static void in_a_crowd_less_is_asked(void **state)
{
	struct acm_message message = {.tid = 1, .gid_count = 1};

	(void)state;
	config.recv_depth = 16; /* two requests of others are a crowd */
	inquiry_start(2);
	cluster.on_packet = lose_requests;
	assert_int_equal(acm_address_canonical(&message.source, ACM_ADDRESS_NAME,
					       (const uint8_t *)"node2", 5),
			 0);
	message.destination = message.source;
	acm_group_mgid(&message.gids[0], ACM_PKEY_DEFAULT, config.min_rate, config.min_mtu);
	for (int i = 0; i < 20; i++)
		ask_number(1, "lost", i);
	for (int flight = 0; flight < 8; flight++) {
		cluster_hear(&cluster, 1, 2, &message);
		cluster_hear(&cluster, 1, 2, &message);
		cluster_run_for(&cluster, 2 * MS);
	}
	/* Two, and then one at a time; the tries of the first begin anew later. */
	assert_int_equal(cluster.multicasts, 2 + 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inquiry_reset, inquiry_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_ask_for_all_and_few_multicasts_do),
		TEST(what_is_overheard_makes_no_room),
		TEST(one_that_asks_for_all_doubles_with_each_answer),
		TEST(in_a_crowd_less_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
