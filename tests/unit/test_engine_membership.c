/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memberships: whatever comes, in whatever order, each group ends in one live membership. The
 * cluster itself fails the test where a group is attached twice or something is sent from a closed
 * endpoint.
 */
#include "support/cluster.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define MS            ACM_NSEC_PER_MSEC
#define SEC           ACM_NSEC_PER_SEC
#define METHOD_GET    0x01
#define METHOD_SET    0x02
#define METHOD_DELETE 0x15

static struct acm_engine_config config;
static struct cluster cluster;

/* What on_action and on_trace saw. */
static int opens, closes, attaches, detaches, leaves;
static struct acm_gid last_left, last_port_gid;
static uint16_t last_join_pkey;
static struct acm_trace last_record;
static int records;

static bool is_join(const struct cluster_sa_query *query)
{
	return query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->method == METHOD_SET;
}

static void watch(struct cluster *at, int node, const struct acm_action *action)
{
	(void)at;
	(void)node;
	opens += action->type == ACM_ACTION_OPEN_ENDPOINT;
	closes += action->type == ACM_ACTION_CLOSE_ENDPOINT;
	attaches += action->type == ACM_ACTION_ATTACH;
	detaches += action->type == ACM_ACTION_DETACH;
	if (action->type == ACM_ACTION_SA_SEND && action->sa.mad[3] == METHOD_SET)
		last_join_pkey = (uint16_t)(action->sa.mad[96] << 8 | action->sa.mad[97]);
	if (action->type == ACM_ACTION_SA_SEND && action->sa.mad[3] == METHOD_DELETE) {
		leaves++;
		memcpy(&last_left, action->sa.mad + 56, 16);
		memcpy(&last_port_gid, action->sa.mad + 72, 16);
	}
}

static void watch_records(struct cluster *at, int node, const struct acm_trace *trace)
{
	(void)at;
	(void)node;
	if (trace->type != ACM_TRACE_GROUP_RECORD)
		return;
	records++;
	last_record = *trace;
}

static int reset(void **state)
{
	(void)state;
	acm_engine_config_default(&config);
	config.timeout = 100 * MS;
	config.trace_mask = 0;
	memset(&cluster, 0, sizeof(cluster));
	opens = closes = attaches = detaches = leaves = records = 0;
	return 0;
}

static void make(int nodes)
{
	assert_int_equal(cluster_init(&cluster, nodes, &config), 0);
	cluster.on_action = watch;
	cluster.on_trace = watch_records;
}

static void start(int nodes)
{
	make(nodes);
	cluster_start(&cluster);
}

static bool ready(int node)
{
	struct acm_engine_stats stats = cluster_stats(&cluster, node);

	return stats.endpoints_ready == stats.endpoints && stats.endpoints > 0;
}

static void event(int node, enum acm_event_type type)
{
	struct acm_event at = {.type = type};

	assert_int_equal(cluster_step(&cluster, node, at), 0);
}

static void set_state(int node, uint8_t port_state)
{
	cluster_port(&cluster, node)->state = port_state;
	cluster_port_changed(&cluster, node);
}

static void set_pkeys(int node, uint16_t first, uint16_t second)
{
	struct acm_port_facts *facts = cluster_port(&cluster, node);

	facts->pkeys[0] = first;
	facts->pkeys[1] = second;
	facts->pkey_count = (uint16_t)(second ? 2 : 1);
}

static void resolves(int from, const char *to, enum acm_status status)
{
	uint64_t id = cluster_ask(&cluster, from, to);

	cluster_run_for(&cluster, MS);
	assert_true(cluster_answer(&cluster, id)->given);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, status);
}

/* ---- single events ---- */

static void a_port_joins_once(void **state)
{
	(void)state;
	start(1);
	assert_true(ready(1));
	assert_int_equal(opens, 1);
	assert_int_equal(attaches, 1);
	assert_int_equal(cluster.joins, 1);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void the_same_port_again_changes_nothing(void **state)
{
	uint64_t queries;

	(void)state;
	start(1);
	queries = cluster.sa_queries;
	for (int i = 0; i < 5; i++)
		cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, SEC);
	assert_int_equal(cluster.sa_queries, queries);
	assert_int_equal(attaches, 1);
	cluster_destroy(&cluster);
}

static void reregister_confirms_without_attaching_again(void **state)
{
	(void)state;
	start(1);
	for (int i = 0; i < 3; i++)
		event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 10 * MS);
	assert_true(ready(1));
	assert_int_equal(attaches, 1);
	assert_int_equal(detaches, 0);
	cluster_destroy(&cluster);
}

static void a_port_that_returns_joins_anew(void **state)
{
	(void)state;
	start(2);
	set_state(1, ACM_PORT_DOWN);
	cluster_run_for(&cluster, SEC);
	assert_false(ready(1));
	resolves(1, "node2", ACM_STATUS_NOT_CONNECTED);
	set_state(1, ACM_PORT_ACTIVE);
	cluster_run_for(&cluster, 10 * MS);
	assert_true(ready(1));
	resolves(1, "node2", ACM_STATUS_OK);
	assert_int_equal(attaches, 2); /* one each: the queue pair was attached all the time */
	cluster_destroy(&cluster);
}

static void a_request_right_after_the_port_is_up_waits_for_the_join(void **state)
{
	uint64_t id;

	(void)state;
	start(2);
	set_state(1, ACM_PORT_DOWN);
	set_state(1, ACM_PORT_ACTIVE);
	id = cluster_ask(&cluster, 1, "node2");
	assert_false(cluster_answer(&cluster, id)->given);
	cluster_run_for(&cluster, MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_true(cluster_answer(&cluster, id)->given);
	cluster_destroy(&cluster);
}

static void refuse_node1(struct cluster *at, struct cluster_sa_query *query)
{
	if (is_join(query) && query->node == 1)
		query->status = ACM_SA_REQ_INVALID << 8;
	(void)at;
}

static void a_failure_before_the_port_went_down_is_forgotten(void **state)
{
	uint64_t id;

	(void)state;
	make(2);
	cluster.on_sa = refuse_node1;
	cluster_start(&cluster);
	resolves(1, "node2", ACM_STATUS_NOT_CONNECTED);
	set_state(1, ACM_PORT_DOWN);
	cluster.on_sa = NULL;
	set_state(1, ACM_PORT_ACTIVE);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

/* ---- replies that come late, wrong or not at all ---- */

static void slow_first_join(struct cluster *at, struct cluster_sa_query *query)
{
	if (is_join(query) && at->joins == 1)
		query->delay = 50 * MS;
}

static void a_join_answer_after_the_port_went_down_joins_nothing(void **state)
{
	(void)state;
	make(1);
	cluster.on_sa = slow_first_join;
	cluster_start(&cluster);
	assert_false(ready(1));
	set_state(1, ACM_PORT_DOWN);
	cluster_run_for(&cluster, 100 * MS);
	assert_int_equal(attaches, 0);
	assert_false(ready(1));
	set_state(1, ACM_PORT_ACTIVE);
	cluster_run_for(&cluster, 10 * MS);
	assert_true(ready(1));
	assert_int_equal(attaches, 1);
	cluster_destroy(&cluster);
}

static int wrong_field;

static void wrong_answer(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			 uint32_t *length)
{
	uint8_t *record = mad + 56;

	if (!is_join(query) || at->joins > 1)
		return;
	switch (wrong_field) {
	case 0: /* MGID */
		record[9] ^= 1;
		break;
	case 1: /* MLID that is none */
		record[36] = 0x00;
		break;
	case 2: /* Q_Key */
		record[33] ^= 1;
		break;
	case 3: /* MTU */
		record[38] = (uint8_t)(0x80 | acm_mtu_code(4096));
		break;
	case 4: /* rate */
		record[42] = (uint8_t)(0x80 | acm_rate_code(400));
		break;
	case 5: /* P_Key */
		record[41] ^= 1;
		break;
	case 6: /* permissive MLID */
		record[36] = record[37] = 0xff;
		break;
	case 7:
		*length = 100;
		break;
	}
}

static void an_answer_that_does_not_fit_is_no_membership(void **state)
{
	(void)state;
	for (wrong_field = 0; wrong_field < 8; wrong_field++) {
		reset(state);
		make(1);
		cluster.on_sa_answer = wrong_answer;
		cluster_start(&cluster);
		assert_false(ready(1));
		assert_int_equal(attaches, 0);
		assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_JOIN_FAILURES), 1);
		assert_true(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED) >= 1);
		cluster_run_for(&cluster, SEC);
		assert_true(ready(1));
		assert_int_equal(attaches, 1);
		cluster_destroy(&cluster);
	}
}

static void doubled_answer(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			   uint32_t *length)
{
	(void)at;
	(void)query;
	(void)length;
	mad[12] ^= 0x55; /* another transaction's id */
}

static void answers_of_other_transactions_are_dropped(void **state)
{
	(void)state;
	make(1);
	cluster.on_sa_answer = doubled_answer;
	cluster_start(&cluster);
	assert_false(ready(1));
	assert_true(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED) >= 1);
	cluster.on_sa_answer = NULL;
	cluster_run_for(&cluster, SEC);
	assert_true(ready(1));
	cluster_destroy(&cluster);
}

static void refuse_joins(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	if (is_join(query))
		query->status = ACM_SA_REQ_INVALID << 8;
}

static uint8_t spoilt_record;

static void other_record(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
			 uint32_t *length)
{
	(void)at;
	(void)length;
	if (query->attribute == ACM_SA_ATTRIBUTE_MCMEMBER && query->method == METHOD_GET)
		mad[56 + spoilt_record] = (uint8_t)(0x80 | acm_mtu_code(1024));
}

static void a_refusal_is_explained_by_the_groups_record(void **state)
{
	(void)state;
	config.trace_mask = UINT64_MAX;
	make(1);
	cluster.on_sa = refuse_joins;
	cluster.on_sa_answer = other_record;
	spoilt_record = 38;
	cluster_start(&cluster);
	assert_true(records >= 1);
	assert_int_equal(last_record.value, acm_mtu_code(1024) << 8 | acm_rate_code(100));
	assert_int_equal(last_record.pkey, ACM_PKEY_DEFAULT);
	assert_string_equal(last_record.reason, "the group's MTU is another");
	cluster_destroy(&cluster);
}

static void a_record_that_would_fit_says_so(void **state)
{
	(void)state;
	config.trace_mask = UINT64_MAX;
	make(1);
	cluster.on_sa = refuse_joins;
	cluster_start(&cluster);
	assert_true(records >= 1);
	assert_non_null(strstr(last_record.reason, "may not be allowed"));
	cluster_destroy(&cluster);
}

/* ---- the verify timer ---- */

static uint16_t moved_mlid;

static void move_group(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
		       uint32_t *length)
{
	(void)at;
	(void)length;
	if (is_join(query) && moved_mlid) {
		mad[56 + 36] = (uint8_t)(moved_mlid >> 8);
		mad[56 + 37] = (uint8_t)moved_mlid;
	}
}

static void a_membership_is_checked_now_and_then(void **state)
{
	(void)state;
	config.join_verify = 60 * SEC;
	start(1);
	cluster_run_for(&cluster, 50 * SEC);
	assert_int_equal(cluster.joins, 1);
	cluster_run_for(&cluster, 20 * SEC);
	assert_int_equal(cluster.joins, 2);
	assert_int_equal(attaches, 1);
	cluster_run_for(&cluster, 600 * SEC);
	assert_in_range(cluster.joins, 10, 13);
	assert_int_equal(attaches, 1);
	cluster_destroy(&cluster);
}

static void never_means_never(void **state)
{
	(void)state;
	config.join_verify = 0;
	start(1);
	cluster_run_for(&cluster, 100000 * SEC);
	assert_int_equal(cluster.joins, 1);
	cluster_destroy(&cluster);
}

static void a_check_finds_a_group_that_moved(void **state)
{
	(void)state;
	config.join_verify = 60 * SEC;
	make(1);
	cluster.on_sa_answer = move_group;
	moved_mlid = 0;
	cluster_start(&cluster);
	moved_mlid = 0xc123;
	cluster_run_for(&cluster, 70 * SEC);
	assert_true(ready(1));
	assert_int_equal(attaches, 2);
	assert_int_equal(detaches, 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static bool silent;

static void silence(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->silent = silent;
}

static void a_silent_sm_takes_no_membership_away(void **state)
{
	(void)state;
	config.join_verify = 60 * SEC;
	start(2);
	cluster.on_sa = silence;
	silent = true;
	cluster_run_for(&cluster, 600 * SEC);
	assert_true(ready(1));
	assert_int_equal(attaches, 2);
	silent = false;
	cluster_run_for(&cluster, 60 * SEC);
	assert_true(ready(1));
	resolves(1, "node2", ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

static void an_sm_that_is_silent_from_the_start_is_asked_until_it_answers(void **state)
{
	uint64_t id;

	(void)state;
	make(2);
	cluster.on_sa = silence;
	silent = true;
	cluster_start(&cluster);
	id = cluster_ask(&cluster, 1, "node2");
	cluster_run_for(&cluster, 600 * SEC);
	assert_int_equal(cluster_answer(&cluster, id)->times, 1);
	assert_false(ready(1));
	/* Not a storm: the back-off grew. */
	assert_in_range(cluster.joins, 2 * 20, 2 * 150);
	silent = false;
	cluster_run_for(&cluster, config.join_backoff_max * 2);
	assert_true(ready(1));
	assert_true(ready(2));
	resolves(1, "node2", ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

static void the_back_off_begins_anew_after_success(void **state)
{
	uint64_t joins;

	(void)state;
	make(1);
	cluster.on_sa = refuse_joins;
	cluster_start(&cluster);
	cluster_run_for(&cluster, 300 * SEC);
	cluster.on_sa = NULL;
	cluster_run_for(&cluster, 40 * SEC);
	assert_true(ready(1));
	cluster.on_sa = refuse_joins;
	event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, MS);
	joins = cluster.joins;
	cluster.on_sa = NULL;
	cluster_run_for(&cluster, 120 * MS); /* the least back-off and its jitter */
	assert_int_equal(cluster.joins, joins + 1);
	assert_true(ready(1));
	cluster_destroy(&cluster);
}

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
	start(1);
	acm_group_mgid(&mgid, ACM_PKEY_DEFAULT, config.min_rate, config.min_mtu);
	remove_all_addresses(1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(leaves, 1);
	assert_memory_equal(&last_left, &mgid, 16);
	assert_int_equal(last_port_gid.raw[15], 1);
	assert_int_equal(detaches, 1);
	assert_int_equal(closes, 1);
	assert_int_equal(cluster_memberships(&cluster, 1), 0);
	assert_true(ready(1)); /* it needs none */
	cluster_add_address(&cluster, 1, ACM_ADDRESS_NAME, "again", 5);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void a_leave_follows_a_join_without_an_answer(void **state)
{
	(void)state;
	make(1);
	cluster.on_sa = slow_first_join;
	cluster_start(&cluster);
	remove_all_addresses(1);
	cluster_run_for(&cluster, SEC);
	assert_int_equal(leaves, 1);
	assert_int_equal(last_port_gid.raw[15], 1);
	assert_int_equal(cluster_memberships(&cluster, 1), 0);
	cluster_destroy(&cluster);
}

static void a_leave_is_repeated_and_then_given_up(void **state)
{
	(void)state;
	start(1);
	cluster.on_sa = silence;
	silent = true;
	remove_all_addresses(1);
	cluster_run_for(&cluster, 10 * SEC);
	assert_int_equal(leaves, config.retries + 1);
	cluster_destroy(&cluster);
}

static void a_leave_goes_down_with_its_port(void **state)
{
	(void)state;
	start(1);
	cluster.on_sa = silence;
	silent = true;
	remove_all_addresses(1);
	set_state(1, ACM_PORT_DOWN);
	cluster_run_for(&cluster, 10 * SEC);
	assert_int_equal(leaves, 1);
	event(1, ACM_EVENT_PORT_REMOVED);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints, 0);
	cluster_destroy(&cluster);
}

/* ---- attaching ---- */

static void an_attach_that_fails_is_tried_again(void **state)
{
	(void)state;
	make(1);
	cluster.attach_status = -ENOMEM;
	cluster_start(&cluster);
	assert_false(ready(1));
	cluster_run_for(&cluster, SEC);
	assert_true(attaches > 1);
	cluster.attach_status = 0;
	cluster_run_for(&cluster, 10 * SEC);
	assert_true(ready(1));
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

/* The join is confirmed anew while the attach, which will fail, is under way. */
static void an_attach_that_fails_behind_a_new_join_is_not_taken_for_good(void **state)
{
	(void)state;
	make(1);
	cluster.attach_status = -ENOMEM;
	cluster.attach_delay = 50 * MS;
	cluster_start(&cluster);
	assert_int_equal(attaches, 1);
	cluster.attach_status = 0;
	event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 20 * MS);
	assert_false(ready(1));
	cluster_run_for(&cluster, 5 * SEC);
	assert_true(ready(1));
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	assert_int_equal(attaches, 2);
	cluster_destroy(&cluster);
}

/* An attach that succeeds meanwhile makes nothing live: the new join has yet to be answered. */
static void an_attach_behind_a_new_join_waits_for_its_answer(void **state)
{
	(void)state;
	make(1);
	cluster.attach_delay = 50 * MS;
	cluster_start(&cluster);
	cluster.on_sa = silence;
	silent = true;
	event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 60 * MS);
	assert_false(ready(1));
	silent = false;
	cluster_run_for(&cluster, SEC);
	assert_true(ready(1));
	assert_int_equal(attaches, 1);
	cluster_destroy(&cluster);
}

static void an_attach_nobody_answers_is_given_up(void **state)
{
	(void)state;
	make(1);
	cluster.attach_delay = ACM_NEVER;
	cluster_start(&cluster);
	cluster.attach_delay = 0;
	cluster_run_for(&cluster, 15 * SEC);
	assert_true(ready(1));
	assert_int_equal(attaches, 2);
	assert_int_equal(detaches, 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	cluster_destroy(&cluster);
}

static void an_endpoint_nobody_opens_is_given_up(void **state)
{
	(void)state;
	make(1);
	cluster.open_delay = ACM_NEVER;
	cluster_start(&cluster);
	cluster.open_delay = 0;
	cluster_run_for(&cluster, 15 * SEC);
	assert_true(ready(1));
	assert_int_equal(opens, 2);
	assert_int_equal(closes, 1);
	cluster_destroy(&cluster);
}

static void an_endpoint_that_cannot_be_opened_is_tried_again(void **state)
{
	(void)state;
	make(2);
	cluster.open_status = -ENOMEM;
	cluster_start(&cluster);
	resolves(1, "node2", ACM_STATUS_NOT_CONNECTED);
	cluster_run_for(&cluster, SEC);
	assert_true(opens > 4);
	cluster.open_status = 0;
	cluster_run_for(&cluster, 10 * SEC);
	assert_true(ready(1));
	assert_int_equal(closes, 0);
	cluster_destroy(&cluster);
}

static void reregister_while_opening_attaches_to_nothing(void **state)
{
	(void)state;
	start(1);
	cluster.open_delay = 50 * MS;
	set_pkeys(1, 0x7fff, 0);
	cluster_port_changed(&cluster, 1); /* another P_Key of the partition: a new queue pair */
	event(1, ACM_EVENT_REREGISTER);
	cluster_run_for(&cluster, 20 * MS);
	assert_int_equal(attaches, 1);
	cluster_run_for(&cluster, 100 * MS);
	assert_int_equal(attaches, 2);
	assert_true(ready(1));
	cluster_destroy(&cluster);
}

/* ---- partitions ---- */

static struct acm_gid joined_mgid[CLUSTER_NODES_MAX + 1];

static void note_join(struct cluster *at, int node, const struct acm_action *action)
{
	watch(at, node, action);
	if (action->type == ACM_ACTION_SA_SEND && action->sa.mad[3] == METHOD_SET)
		memcpy(&joined_mgid[node], action->sa.mad + 56, 16);
}

/* An SA takes a group's P_Key from whoever makes it: with a limited one no limited member joins. */
static void limited_members_join_by_the_full_pkey(void **state)
{
	(void)state;
	make(1);
	set_pkeys(1, 0x7fff, 0);
	cluster_start(&cluster);
	assert_true(ready(1));
	assert_int_equal(last_join_pkey, 0xffff);
	cluster_destroy(&cluster);
}

static void full_and_limited_members_share_a_group(void **state)
{
	(void)state;
	make(2);
	cluster.on_action = note_join;
	set_pkeys(1, 0x8012, 0);
	set_pkeys(2, 0x0012, 0);
	cluster_start(&cluster);
	assert_memory_equal(&joined_mgid[1], &joined_mgid[2], 16);
	assert_int_equal(joined_mgid[2].raw[4], 0x80);
	assert_int_equal(joined_mgid[2].raw[5], 0x12);
	resolves(1, "node2", ACM_STATUS_OK);
	resolves(2, "node1", ACM_STATUS_OK);
	cluster_destroy(&cluster);
}

static void the_full_key_of_a_partition_is_the_one_that_is_used(void **state)
{
	(void)state;
	make(1);
	set_pkeys(1, 0x7fff, 0xffff);
	cluster_start(&cluster);
	assert_int_equal(cluster_stats(&cluster, 1).endpoints, 1);
	/* The full one goes: the limited one stands in, through a new queue pair. */
	set_pkeys(1, 0x7fff, 0);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(opens, 2);
	assert_int_equal(closes, 1);
	assert_true(ready(1));
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
	make(1);
	set_pkeys(1, 0xffff, 0x8012);
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
	make(2);
	for (int i = 1; i <= 2; i++)
		set_pkeys(i, 0xffff, 0x8012);
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
	/* The partition goes: its endpoint leaves; the other stays as it is. */
	set_pkeys(1, 0xffff, 0);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(leaves, 1);
	assert_int_equal(last_left.raw[5], 0x12);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	assert_true(ready(1));
	cluster_destroy(&cluster);
}

/* ---- routes from multicast: two groups ---- */

static void with_routes_from_multicast_there_are_two_groups(void **state)
{
	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	start(2);
	assert_int_equal(cluster_memberships(&cluster, 1), 2);
	assert_int_equal(cluster_attachments(&cluster, 1), 2);
	assert_true(ready(1));
	resolves(1, "node2", ACM_STATUS_OK);
	/* Another rate: that group is another one, the common one stays. */
	cluster_port(&cluster, 1)->rate = acm_rate_code(400);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(leaves, 1);
	assert_int_equal(last_left.raw[7], acm_rate_code(1000));
	assert_int_equal(cluster_attachments(&cluster, 1), 2);
	/* The common group's own: one is enough. */
	cluster_port(&cluster, 1)->rate = config.min_rate;
	cluster_port(&cluster, 1)->mtu = config.min_mtu;
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster_memberships(&cluster, 1), 1);
	assert_int_equal(cluster_attachments(&cluster, 1), 1);
	assert_true(ready(1));
	cluster_destroy(&cluster);
}

static void refuse_fast_group(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	if (is_join(query) && query->node == 1 && query->number % 2)
		query->status = ACM_SA_REQ_INVALID << 8;
}

static void the_common_group_suffices_to_ask(void **state)
{
	(void)state;
	config.route_protocol = ACM_ROUTE_ACM;
	make(2);
	cluster.on_sa = refuse_fast_group; /* every second join of node 1 */
	cluster_start(&cluster);
	cluster_run_for(&cluster, 10 * SEC);
	resolves(1, "node2", ACM_STATUS_OK);
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
	if (is_join(query) && draw(8) == 0)
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
		set_pkeys(node, pkeys[draw(5)], pkeys[draw(5)]);
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
		event(node, ACM_EVENT_REREGISTER);
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
			event(node, ACM_EVENT_PORT_REMOVED);
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
		set_pkeys(i, 0xffff, 0);
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
	make(2);
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
		if (!ready(i) || cluster_attachments(&cluster, i) != groups ||
		    cluster_stats(&cluster, i).endpoints != 1)
			fail_msg("seed %d: node %d is not in its groups", (int)seed, i);
	}
	cluster_run_for(&cluster, config.negative_life);
	resolves(1, "node2", ACM_STATUS_OK);
	resolves(2, "node1", ACM_STATUS_OK);
	cluster_run_for(&cluster, 60 * SEC);
	for (uint64_t id = 1; id <= cluster.last_request; id++)
		assert_int_equal(cluster_answer(&cluster, id)->times, 1);
	cluster_destroy(&cluster);
}

static void any_order_ends_in_one_live_membership(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		reset(state);
		run_random_sequence(seed);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_port_joins_once),
		TEST(the_same_port_again_changes_nothing),
		TEST(reregister_confirms_without_attaching_again),
		TEST(a_port_that_returns_joins_anew),
		TEST(a_request_right_after_the_port_is_up_waits_for_the_join),
		TEST(a_failure_before_the_port_went_down_is_forgotten),
		TEST(a_join_answer_after_the_port_went_down_joins_nothing),
		TEST(an_answer_that_does_not_fit_is_no_membership),
		TEST(answers_of_other_transactions_are_dropped),
		TEST(a_refusal_is_explained_by_the_groups_record),
		TEST(a_record_that_would_fit_says_so),
		TEST(a_membership_is_checked_now_and_then),
		TEST(never_means_never),
		TEST(a_check_finds_a_group_that_moved),
		TEST(a_silent_sm_takes_no_membership_away),
		TEST(an_sm_that_is_silent_from_the_start_is_asked_until_it_answers),
		TEST(the_back_off_begins_anew_after_success),
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
		TEST(an_endpoint_without_addresses_leaves_nobody_waiting),
		TEST(limited_members_join_by_the_full_pkey),
		TEST(full_and_limited_members_share_a_group),
		TEST(the_full_key_of_a_partition_is_the_one_that_is_used),
		TEST(each_partition_has_its_own_endpoint_and_group),
		TEST(with_routes_from_multicast_there_are_two_groups),
		TEST(the_common_group_suffices_to_ask),
		TEST(any_order_ends_in_one_live_membership),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
