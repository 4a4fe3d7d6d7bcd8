/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memberships that change: leaving, attaching, partitions, two groups; and whatever comes, in
 * whatever order, each group ends in one live membership.
 */
#include "support/membership_watch.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

/* ---- leaving ---- */

static void remove_all_addresses(int node)
{
	uint8_t ip[4] = {10, 0, 0, (uint8_t)node};
	uint8_t ip6[16] = {0xfd, [15] = (uint8_t)node};
	char name[16];
	int length = snprintf(name, sizeof(name), "node%d", node);

	cluster_remove_address(&cluster, node, ACM_ADDRESS_NAME, name, (size_t)length);
	cluster_remove_address(&cluster, node, ACM_ADDRESS_IP, ip, sizeof(ip));
	cluster_remove_address(&cluster, node, ACM_ADDRESS_IP6, ip6, sizeof(ip6));
}

static void an_endpoint_without_addresses_leaves(void **state)
{
	struct acm_gid mgid;

	(void)state;
	membership_start(1);
	acm_group_mgid(&mgid, ACM_PKEY_DEFAULT, config.min_rate, config.min_mtu);
	remove_all_addresses(1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(seen.leaves, 1);
	assert_memory_equal(&seen.last_left, &mgid, 16);
	assert_int_equal(seen.last_port_gid.raw[15], 1);
	assert_int_equal(seen.detaches, 1);
	assert_int_equal(seen.closes, 1);
	assert_int_equal(cluster_memberships(&cluster, 1), 0);
	assert_true(membership_ready(1)); /* it needs none */
	cluster_add_address(&cluster, 1, ACM_ADDRESS_NAME, "again", 5);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void a_leave_follows_a_join_without_an_answer(void **state)
{
	(void)state;
	membership_make(1);
	cluster.on_sa = membership_slow_first_join;
	cluster_start(&cluster);
	remove_all_addresses(1);
	cluster_run_for(&cluster, SEC);
	assert_int_equal(seen.leaves, 1);
	assert_int_equal(seen.last_port_gid.raw[15], 1);
	assert_int_equal(cluster_memberships(&cluster, 1), 0);
	cluster_destroy(&cluster);
}

static void a_leave_is_repeated_and_then_given_up(void **state)
{
	(void)state;
	membership_start(1);
	cluster.on_sa = inquiry_silence;
	remove_all_addresses(1);
	cluster_run_for(&cluster, 10 * SEC);
	assert_int_equal(seen.leaves, config.retries + 1);
	cluster_destroy(&cluster);
}

static void a_leave_goes_down_with_its_port(void **state)
{
	(void)state;
	membership_start(1);
	cluster.on_sa = inquiry_silence;
	remove_all_addresses(1);
	membership_set_state(1, ACM_PORT_DOWN);
	cluster_run_for(&cluster, 10 * SEC);
	assert_int_equal(seen.leaves, 1);
	membership_event(1, ACM_EVENT_PORT_REMOVED);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints, 0);
	cluster_destroy(&cluster);
}

/* ---- attaching ---- */

static void an_attach_that_fails_is_tried_again(void **state)
{
	(void)state;
	membership_make(1);
	cluster.attach_status = -ENOMEM;
	cluster_start(&cluster);
	assert_false(membership_ready(1));
	cluster_run_for(&cluster, SEC);
	assert_true(seen.attaches > 1);
	cluster.attach_status = 0;
	cluster_run_for(&cluster, 10 * SEC);
	assert_true(membership_ready(1));
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

/* The join is confirmed anew while the attach, which will fail, is under way. */
static void an_attach_that_fails_behind_a_new_join_is_not_taken_for_good(void **state)
{
	(void)state;
	membership_make(1);
	cluster.attach_status = -ENOMEM;
	cluster.attach_delay = 50 * MS;
	cluster_start(&cluster);
	assert_int_equal(seen.attaches, 1);
	cluster.attach_status = 0;
	membership_event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 20 * MS);
	assert_false(membership_ready(1));
	cluster_run_for(&cluster, 5 * SEC);
	assert_true(membership_ready(1));
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	assert_int_equal(seen.attaches, 2);
	cluster_destroy(&cluster);
}

/* An attach that succeeds meanwhile makes nothing live: the new join has yet to be answered. */
static void an_attach_behind_a_new_join_waits_for_its_answer(void **state)
{
	(void)state;
	membership_make(1);
	cluster.attach_delay = 50 * MS;
	cluster_start(&cluster);
	cluster.on_sa = inquiry_silence;
	membership_event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 60 * MS);
	assert_false(membership_ready(1));
	cluster.on_sa = NULL;
	cluster_run_for(&cluster, SEC);
	assert_true(membership_ready(1));
	assert_int_equal(seen.attaches, 1);
	cluster_destroy(&cluster);
}

static void an_attach_nobody_answers_is_given_up(void **state)
{
	(void)state;
	membership_make(1);
	cluster.attach_delay = ACM_NEVER;
	cluster_start(&cluster);
	cluster.attach_delay = 0;
	cluster_run_for(&cluster, 15 * SEC);
	assert_true(membership_ready(1));
	assert_int_equal(seen.attaches, 2);
	assert_int_equal(seen.detaches, 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void an_endpoint_nobody_opens_is_given_up(void **state)
{
	(void)state;
	membership_make(1);
	cluster.open_delay = ACM_NEVER;
	cluster_start(&cluster);
	cluster.open_delay = 0;
	cluster_run_for(&cluster, 15 * SEC);
	assert_true(membership_ready(1));
	assert_int_equal(seen.opens, 2);
	assert_int_equal(seen.closes, 1);
	cluster_destroy(&cluster);
}

static void an_endpoint_that_cannot_be_opened_is_tried_again(void **state)
{
	(void)state;
	membership_make(2);
	cluster.open_status = -ENOMEM;
	cluster_start(&cluster);
	inquiry_ask(1, "node2", ACM_STATUS_NOT_CONNECTED);
	cluster_run_for(&cluster, SEC);
	assert_true(seen.opens > 4);
	cluster.open_status = 0;
	cluster_run_for(&cluster, 10 * SEC);
	assert_true(membership_ready(1));
	assert_int_equal(seen.closes, 0);
	cluster_destroy(&cluster);
}

static void reregister_while_opening_attaches_to_nothing(void **state)
{
	(void)state;
	membership_start(1);
	cluster.open_delay = 50 * MS;
	membership_set_pkeys(1, 0x7fff, 0);
	cluster_port_changed(&cluster, 1); /* another P_Key of the partition: a new queue pair */
	membership_event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 20 * MS);
	assert_int_equal(seen.attaches, 1);
	cluster_run_for(&cluster, 100 * MS);
	assert_int_equal(seen.attaches, 2);
	assert_true(membership_ready(1));
	cluster_destroy(&cluster);
}

/* ---- partitions ---- */

static struct acm_gid joined_mgid[CLUSTER_NODES_MAX + 1];

static void note_join(struct cluster *at, int node, const struct acm_action *action)
{
	membership_watch(at, node, action);
	if (action->type == ACM_ACTION_SA_SEND && action->sa.mad[3] == METHOD_SET)
		memcpy(&joined_mgid[node], action->sa.mad + 56, 16);
}

/* An SA takes a group's P_Key from whoever makes it: with a limited one no limited member joins. */
static void limited_members_join_by_the_full_pkey(void **state)
{
	(void)state;
	membership_make(1);
	membership_set_pkeys(1, 0x7fff, 0);
	cluster_start(&cluster);
	assert_true(membership_ready(1));
	assert_int_equal(seen.last_join_pkey, 0xffff);
	cluster_destroy(&cluster);
}

static void full_and_limited_members_share_a_group(void **state)
{
	(void)state;
	membership_make(2);
	cluster.on_action = note_join;
	membership_set_pkeys(1, 0x8012, 0);
	membership_set_pkeys(2, 0x0012, 0);
	cluster_start(&cluster);
	assert_memory_equal(&joined_mgid[1], &joined_mgid[2], 16);
	assert_int_equal(joined_mgid[2].raw[4], 0x80);
	assert_int_equal(joined_mgid[2].raw[5], 0x12);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	inquiry_ask(2, "node1", ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

static void the_full_key_of_a_partition_is_the_one_that_is_used(void **state)
{
	(void)state;
	membership_make(1);
	membership_set_pkeys(1, 0x7fff, 0xffff);
	cluster_start(&cluster);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints, 1);
	/* The full one goes: the limited one stands in, through a new queue pair. */
	membership_set_pkeys(1, 0x7fff, 0);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(seen.opens, 2);
	assert_int_equal(seen.closes, 1);
	assert_true(membership_ready(1));
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void change_name_in(int node, uint16_t pkey, const char *name, enum acm_event_type type)
{
	struct acm_local_address local = {.pkey = pkey};
	struct acm_event at = {.type = type, .address = &local};

	assert_int_equal(acm_address_canonical(&local.address, ACM_ADDRESS_NAME,
					       (const uint8_t *)name, strlen(name)),
			 0);
	assert_int_equal(cluster_step(&cluster, node, at), 0);
}

static void add_name_in(int node, uint16_t pkey, const char *name)
{
	change_name_in(node, pkey, name, ACM_EVENT_ADDRESS_ADDED);
}

static void no_answer(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->silent = true;
}

/* What waits for a membership that is not wanted any more is told so. */
static void an_endpoint_without_addresses_leaves_nobody_waiting(void **state)
{
	struct acm_request request;
	uint64_t id;

	(void)state;
	config.compat = ACM_COMPAT_IBACM; /* which waits without bound */
	membership_make(1);
	membership_set_pkeys(1, 0xffff, 0x8012);
	cluster_start(&cluster);
	cluster.on_sa = no_answer;
	add_name_in(1, 0x12, "one-in-12");
	request = cluster_request(&cluster, 1, "nobody");
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"one-in-12", 9);
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, MS);
	assert_false(cluster_answer(&cluster, id)->given);
	change_name_in(1, 0x12, "one-in-12", ACM_EVENT_ADDRESS_REMOVED);
	cluster_run_for(&cluster, MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_NOT_CONNECTED);
	cluster_destroy(&cluster);
}

static void each_partition_has_its_own_endpoint_and_group(void **state)
{
	struct acm_request request;
	uint64_t id;

	(void)state;
	membership_make(2);
	for (int i = 1; i <= 2; i++)
		membership_set_pkeys(i, 0xffff, 0x8012);
	cluster_start(&cluster);
	add_name_in(1, 0x12, "one-in-12");
	add_name_in(2, 0x8012, "two-in-12");
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster_memberships(&cluster, 1), 2);
	assert_int_equal(cluster_attachments(&cluster, 2), 2);
	request = cluster_request(&cluster, 1, "two-in-12");
	id = cluster_ask_request(&cluster, 1, &request); /* asked for from the other partition */
	acm_address_canonical(&request.source, ACM_ADDRESS_NAME, (const uint8_t *)"one-in-12", 9);
	cluster_run_for(&cluster, SEC);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_TIMED_OUT);
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster_answer(&cluster, id)->reply.path.pkey, 0x8012);
	/* The partition goes: its endpoint seen.leaves; the other stays as it is. */
	membership_set_pkeys(1, 0xffff, 0);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(seen.leaves, 1);
	assert_int_equal(seen.last_left.raw[5], 0x12);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	assert_true(membership_ready(1));
	cluster_destroy(&cluster);
}

/* ---- routes from multicast: two groups ---- */

static void with_routes_from_multicast_there_are_two_groups(void **state)
{
	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	membership_start(2);
	assert_int_equal(cluster_memberships(&cluster, 1), 2);
	assert_int_equal(cluster_attachments(&cluster, 1), 2);
	assert_true(membership_ready(1));
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	/* Another rate: that group is another one, the common one stays. */
	cluster_port(&cluster, 1)->rate = acm_rate_code(400);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(seen.leaves, 1);
	assert_int_equal(seen.last_left.raw[7], acm_rate_code(1000));
	assert_int_equal(cluster_attachments(&cluster, 1), 2);
	/* The common group's own: one is enough. */
	cluster_port(&cluster, 1)->rate = config.min_rate;
	cluster_port(&cluster, 1)->mtu = config.min_mtu;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	assert_true(membership_ready(1));
	cluster_destroy(&cluster);
}

static void refuse_fast_group(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	if (membership_is_join(query) && query->node == 1 && query->number % 2)
		query->status = ACM_SA_REQ_INVALID << 8;
}

static void the_common_group_suffices_to_ask(void **state)
{
	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	membership_make(2);
	cluster.on_sa = refuse_fast_group; /* every second join of node 1 */
	cluster_start(&cluster);
	cluster_run_for(&cluster, 10 * SEC);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

/* ---- any order of everything ---- */

static struct acm_random random_events;
static bool unruly;

static uint64_t draw(uint64_t below)
{
	return acm_random_next(&random_events) % below;
}

static void unruly_sa(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	if (!unruly)
		return;
	query->delay = draw(40) * MS;
	switch (draw(6)) {
	case 0:
		query->silent = true;
		break;
	case 1:
		query->status = (uint16_t)(1 << draw(11));
		break;
	case 2:
		query->failed = -EIO;
		break;
	}
}

static void unruly_answers(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			   uint32_t *length)
{
	(void)at;
	if (!unruly)
		return;
	if (draw(8) == 0)
		mad[draw(ACM_MAD_LENGTH)] ^= (uint8_t)(1 + draw(255));
	if (draw(16) == 0)
		*length = (uint32_t)draw(ACM_MAD_LENGTH);
	if (membership_is_join(query) && draw(8) == 0)
		mad[56 + 37] = (uint8_t)draw(250); /* the group moved */
}

static void random_event(int node)
{
	static const uint16_t pkeys[] = {0xffff, 0x7fff, 0x8012, 0x0012, 0};
	struct acm_port_facts *facts = cluster_port(&cluster, node);

	switch (draw(12)) {
	case 0:
		facts->state = (uint8_t)(1 + draw(4));
		break;
	case 1:
		facts->sm_lid = (uint16_t)(draw(4) ? 100 + draw(3) : 0);
		break;
	case 2:
		membership_set_pkeys(node, pkeys[draw(5)], pkeys[draw(5)]);
		break;
	case 3:
		facts->lid = (uint16_t)(node + 20 * (int)draw(2));
		break;
	case 4:
		facts->rate = draw(2) ? config.min_rate : acm_rate_code(400);
		break;
	case 5:
		facts->gids[0].raw[8] = (uint8_t)draw(2);
		break;
	case 6:
	case 7:
		membership_event(node, ACM_EVENT_REREGISTER);
		return;
	case 8:
		cluster_add_address(&cluster, node, ACM_ADDRESS_NAME, "more", 4);
		return;
	case 9:
		if (draw(2))
			cluster_remove_address(&cluster, node, ACM_ADDRESS_NAME, "more", 4);
		else
			remove_all_addresses(node);
		return;
	case 10:
		cluster.open_status = draw(4) ? 0 : -ENOMEM;
		cluster.attach_status = draw(4) ? 0 : -ENOMEM;
		cluster.open_delay = draw(20) ? draw(5) * MS : ACM_NEVER;
		cluster.attach_delay = draw(20) ? draw(5) * MS : ACM_NEVER;
		return;
	default:
		if (draw(10) == 0) {
			membership_event(node, ACM_EVENT_PORT_REMOVED);
			return;
		}
		facts->state = ACM_PORT_ACTIVE;
		facts->sm_lid = CLUSTER_SM_LID;
	}
	cluster_port_changed(&cluster, node);
}

static void heal(int nodes)
{
	unruly = false;
	cluster.open_status = cluster.attach_status = 0;
	cluster.open_delay = cluster.attach_delay = 0;
	for (int i = 1; i <= nodes; i++) {
		struct acm_port_facts *facts = cluster_port(&cluster, i);
		char name[16];

		facts->state = ACM_PORT_ACTIVE;
		facts->sm_lid = CLUSTER_SM_LID;
		facts->lid = (uint16_t)i;
		facts->rate = acm_rate_code(1000);
		facts->gids[0] = cluster_gid(i);
		membership_set_pkeys(i, 0xffff, 0);
		cluster_port_changed(&cluster, i);
		snprintf(name, sizeof(name), "node%d", i);
		cluster_add_address(&cluster, i, ACM_ADDRESS_NAME, name, strlen(name));
	}
	cluster_run_for(&cluster, 2 * config.join_backoff_max + 11 * SEC);
}

static void run_random_sequence(uint64_t seed)
{
	int groups;

	acm_random_seed(&random_events, seed);
	config.route_protocol = draw(2) ? ACM_ROUTE_ACM : ACM_ROUTE_SA;
	config.join_verify = draw(2) ? SEC : 0;
	config.join_backoff_max = 4 * SEC;
	config.sa_depth = (uint32_t)(1 + draw(4));
	config.seed = seed;
	membership_make(2);
	cluster.on_sa = unruly_sa;
	cluster.on_sa_answer = unruly_answers;
	unruly = true;
	cluster_start(&cluster);
	for (int i = 0; i < 60; i++) {
		random_event(1 + (int)draw(2));
		if (draw(3) == 0)
			cluster_ask(&cluster, 1 + (int)draw(2), draw(2) ? "node1" : "node2");
		if (draw(2))
			cluster_run_for(&cluster, draw(draw(4) ? 20 : 2000) * MS);
	}
	heal(2);
	groups = config.route_protocol == ACM_ROUTE_ACM ? 2 : 1;
	for (int i = 1; i <= 2; i++) {
		if (!membership_ready(i) || cluster_attachments(&cluster, i) != groups ||
		    cluster_stats(&cluster, i).endpoints != 1)
			fail_msg("seed %d: node %d is not in its groups", (int)seed, i);
	}
	cluster_run_for(&cluster, config.negative_life);
	inquiry_ask(1, "node2", ACM_STATUS_OK);
	inquiry_ask(2, "node1", ACM_STATUS_OK);
	cluster_run_for(&cluster, 60 * SEC);
	for (uint64_t id = 1; id <= cluster.last_request; id++)
		assert_int_equal(cluster_answer(&cluster, id)->times, 1);
	cluster_destroy(&cluster);
}

static void any_order_ends_in_one_live_membership(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		membership_reset(state);
		run_random_sequence(seed);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, membership_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_endpoint_without_addresses_leaves),
		TEST(a_leave_follows_a_join_without_an_answer),
		TEST(a_leave_is_repeated_and_then_given_up),
		TEST(a_leave_goes_down_with_its_port),
		TEST(an_attach_that_fails_is_tried_again),
		TEST(an_attach_that_fails_behind_a_new_join_is_not_taken_for_good),
		TEST(an_attach_behind_a_new_join_waits_for_its_answer),
		TEST(an_attach_nobody_answers_is_given_up),
		TEST(an_endpoint_nobody_opens_is_given_up),
		TEST(an_endpoint_that_cannot_be_opened_is_tried_again),
		TEST(reregister_while_opening_attaches_to_nothing),
		TEST(limited_members_join_by_the_full_pkey),
		TEST(full_and_limited_members_share_a_group),
		TEST(the_full_key_of_a_partition_is_the_one_that_is_used),
		TEST(an_endpoint_without_addresses_leaves_nobody_waiting),
		TEST(each_partition_has_its_own_endpoint_and_group),
		TEST(with_routes_from_multicast_there_are_two_groups),
		TEST(the_common_group_suffices_to_ask),
		TEST(any_order_ends_in_one_live_membership),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
