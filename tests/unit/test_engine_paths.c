/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests by path, and all that an SA may answer. */
#include "support/inquiry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#define MS  ACM_NSEC_PER_MSEC
#define SEC ACM_NSEC_PER_SEC

static const struct acm_reply *ask_path(const struct acm_path *path, enum acm_status status,
					uint64_t duration)
{
	struct acm_request request = {
		.opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_PATH, .path = *path};
	uint64_t id = cluster_ask_request(&cluster, 1, &request);

	cluster_run_for(&cluster, duration);
	assert_true(cluster_answer(&cluster, id)->given);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, status);
	return &cluster_answer(&cluster, id)->reply;
}

static void ask(const char *to, enum acm_status status, uint64_t duration)
{
	uint64_t id = cluster_ask(&cluster, 1, to);

	cluster_run_for(&cluster, duration);
	assert_true(cluster_answer(&cluster, id)->given);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, status);
}

/* ---- by path ---- */

static void by_dlid_by_dgid_and_by_both(void **state)
{
	struct acm_path path = {.dlid = 2};
	const struct acm_reply *answer;

	(void)state;
	inquiry_start(3);
	answer = ask_path(&path, ACM_STATUS_OK, MS);
	assert_int_equal(answer->kind, ACM_REQUEST_PATH);
	assert_int_equal(answer->path.dlid, 2);
	assert_int_equal(answer->path.dgid.raw[15], 2);
	assert_int_equal(answer->path.sgid.raw[15], 1);
	path = (struct acm_path){.dgid = cluster_gid(3)};
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.dlid, 3);
	path.dlid = 3;
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.dlid, 3);
	assert_int_equal(cluster.path_queries, 3);
	assert_int_equal(cluster.multicasts, 0);
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, 0)->path.dlid, 3); /* from the cache */
	assert_int_equal(cluster.path_queries, 3);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ROUTE_CACHE), 1);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_ADDR_CACHE), 0);
}

static void without_a_destination_it_is_status_9(void **state)
{
	struct acm_path path = {.slid = 1};

	(void)state;
	inquiry_start(2);
	ask_path(&path, ACM_STATUS_DESTINATION_ADDRESS, 0);
	path = (struct acm_path){.sgid = cluster_gid(1)};
	ask_path(&path, ACM_STATUS_DESTINATION_ADDRESS, 0);
}

static void sources_that_are_not_ours_are_status_7(void **state)
{
	struct acm_path path = {.dlid = 2, .slid = 9};

	(void)state;
	inquiry_start(2);
	ask_path(&path, ACM_STATUS_SOURCE_ADDRESS, 0);
	path = (struct acm_path){.dlid = 2, .sgid = cluster_gid(2)};
	ask_path(&path, ACM_STATUS_SOURCE_ADDRESS, 0);
	/* Both are known, but they are not one port. */
	path = (struct acm_path){.dlid = 2, .sgid = cluster_gid(1), .slid = 2};
	ask_path(&path, ACM_STATUS_SOURCE_ADDRESS, 0);
	path = (struct acm_path){.dlid = 2, .pkey = 0x8012};
	ask_path(&path, ACM_STATUS_SOURCE_ADDRESS, 0);
	path = (struct acm_path){.dlid = 2, .sgid = cluster_gid(1), .slid = 1, .pkey = 0x7fff};
	ask_path(&path, ACM_STATUS_OK, MS);
	assert_int_equal(cluster.path_queries, 1);
}

static void an_slid_may_be_any_of_the_ports(void **state)
{
	struct acm_path path = {.dlid = 2, .slid = 18};

	(void)state;
	assert_int_equal(cluster_init(&cluster, 2, &config), 0);
	cluster_port(&cluster, 1)->lid = 16;
	cluster_port(&cluster, 1)->lmc = 2;
	cluster_start(&cluster);
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.slid, 18);
	path.slid = 16;
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.slid, 16);
	path.slid = 20;
	ask_path(&path, ACM_STATUS_SOURCE_ADDRESS, 0);
	path.slid = 15;
	ask_path(&path, ACM_STATUS_SOURCE_ADDRESS, 0);
	assert_int_equal(cluster.path_queries, 2); /* two sources, two entries */
}

static void the_own_port_is_answered_without_the_sa(void **state)
{
	struct acm_path path = {.dlid = 1};

	(void)state;
	inquiry_start(2);
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, 0)->path.dlid, 1);
	path = (struct acm_path){.dgid = cluster_gid(1), .service_id = 0x1234};
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, 0)->path.dgid.raw[15], 1);
	assert_int_equal(cluster.path_queries, 0);
}

static void every_constraint_is_its_own_question(void **state)
{
	static const struct acm_path constraints[] = {
		{.dlid = 2},
		{.dlid = 2, .sl = 1},
		{.dlid = 2, .traffic_class = 1},
		{.dlid = 2, .flow_label = 1},
		{.dlid = 2, .hop_limit = 1},
		{.dlid = 2, .qos_class = 1},
		{.dlid = 2, .reversible = true},
		{.dlid = 2, .pkey = 0xffff},
		{.dlid = 2, .service_id = 1},
		{.dlid = 2, .mtu = 4, .mtu_selector = 2},
		{.dlid = 2, .mtu = 4, .mtu_selector = 1},
		{.dlid = 2, .rate = 3, .rate_selector = 2},
		{.dlid = 2, .rate = 3},
		{.dlid = 2, .packet_life = 9, .packet_life_selector = 1},
		{.dlid = 2, .packet_life = 9},
		{.dlid = 2, .slid = 1},
		{.dlid = 2, .dgid = {{0xfe, 0x80, [15] = 2}}},
		{.dlid = 2, .sgid = {{0xfe, 0x80, [15] = 1}}},
	};
	const int count = (int)(sizeof(constraints) / sizeof(constraints[0]));

	(void)state;
	inquiry_start(2);
	for (int twice = 0; twice < 2; twice++) {
		for (int i = 0; i < count; i++) {
			const struct acm_reply *answer =
				ask_path(&constraints[i], ACM_STATUS_OK, twice ? 0 : MS);

			assert_true(answer->path.service_id == constraints[i].service_id);
		}
		assert_int_equal(cluster.path_queries, count);
	}
}

static void two_prefixes_of_one_guid_are_two_sources(void **state)
{
	struct acm_path path = {.dlid = 2, .sgid = cluster_gid(1)};

	(void)state;
	assert_int_equal(cluster_init(&cluster, 2, &config), 0);
	cluster_port(&cluster, 1)->gid_count = 2;
	cluster_port(&cluster, 1)->gids[1] = cluster_gid(1);
	cluster_port(&cluster, 1)->gids[1].raw[1] = 0xc0;
	cluster_start(&cluster);
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.sgid.raw[1], 0x80);
	path.sgid.raw[1] = 0xc0;
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.sgid.raw[1], 0xc0);
}

static void a_gid_table_that_changes_changes_no_answer(void **state)
{
	struct acm_path path = {.dlid = 2, .sgid = cluster_gid(9)};

	(void)state;
	assert_int_equal(cluster_init(&cluster, 2, &config), 0);
	cluster_port(&cluster, 1)->gid_count = 3;
	cluster_port(&cluster, 1)->gids[1] = cluster_gid(9);
	cluster_port(&cluster, 1)->gids[2] = cluster_gid(8);
	cluster_start(&cluster);
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.sgid.raw[15], 9);
	cluster_port(&cluster, 1)->gids[1] = cluster_gid(8);
	cluster_port(&cluster, 1)->gids[2] = cluster_gid(9);
	cluster_port_changed(&cluster, 1);
	cluster_run_for(&cluster, MS);
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.sgid.raw[15], 9);
}

static void flags_work_by_path_too(void **state)
{
	struct acm_request request = {.opcode = ACM_OPCODE_RESOLVE,
				      .kind = ACM_REQUEST_PATH,
				      .path = {.dlid = 2},
				      .no_delay = true};
	uint64_t id;

	(void)state;
	inquiry_start(2);
	id = cluster_ask_request(&cluster, 1, &request);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_NO_DATA);
	cluster_run_for(&cluster, MS);
	id = cluster_ask_request(&cluster, 1, &request);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	request.no_delay = false;
	request.query_sa = true;
	id = cluster_ask_request(&cluster, 1, &request);
	cluster_run_for(&cluster, MS);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_OK);
	assert_int_equal(cluster.path_queries, 2);
}

/* ---- the SA ---- */

static uint16_t sa_status;
static uint64_t refusals; /* so many path queries are refused, then all is well */

static void refuse_paths(struct cluster *at, struct cluster_sa_query *query)
{
	if (query->attribute == ACM_SA_ATTRIBUTE_PATH && at->path_queries <= refusals)
		query->status = sa_status;
}

static void each_refusal_has_its_status(void **state)
{
	static const struct {
		uint16_t mad_status;
		enum acm_status status;
	} cases[] = {
		{ACM_SA_NO_RESOURCES << 8, ACM_STATUS_NO_MEMORY},
		{ACM_SA_REQ_INVALID << 8, ACM_STATUS_INVALID},
		{ACM_SA_NO_RECORDS << 8, ACM_STATUS_NO_DATA},
		{ACM_SA_TOO_MANY_RECORDS << 8, ACM_STATUS_INVALID},
		{ACM_SA_INVALID_GID << 8, ACM_STATUS_DESTINATION_ADDRESS},
		{ACM_SA_INSUFFICIENT_COMPONENTS << 8, ACM_STATUS_INVALID},
		{ACM_SA_DENIED << 8, ACM_STATUS_NO_DATA},
		{0x7f00, ACM_STATUS_INVALID},
		{0x0002, ACM_STATUS_NOT_CONNECTED}, /* redirect */
		{0x001c, ACM_STATUS_INVALID},       /* an invalid attribute value */
		{0x0001, ACM_STATUS_TIMED_OUT},     /* busy to the end */
	};
	const size_t count = sizeof(cases) / sizeof(cases[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		struct acm_path path = {.dlid = 2};

		inquiry_reset(state);
		inquiry_start(2);
		refusals = UINT64_MAX;
		sa_status = cases[i].mad_status;
		cluster.on_sa = refuse_paths;
		ask("node2", cases[i].status, 2 * inquiry_bound());
		ask_path(&path, cases[i].status, 2 * inquiry_bound());
		if (i + 1 < count)
			cluster_destroy(&cluster);
	}
}

static void a_busy_sa_is_asked_again(void **state)
{
	(void)state;
	config.timeout = SEC;
	inquiry_start(2);
	refusals = 2;
	sa_status = 0x0001;
	cluster.on_sa = refuse_paths;
	ask("node2", ACM_STATUS_OK, inquiry_bound());
	assert_int_equal(cluster.path_queries, 3);
	assert_int_equal(cluster.multicasts, 1);
}

static void no_records_is_believed_for_a_second(void **state)
{
	struct acm_path path = {.dgid = cluster_gid(2)};

	(void)state;
	inquiry_start(2);
	refusals = 1;
	sa_status = ACM_SA_NO_RECORDS << 8;
	cluster.on_sa = refuse_paths;
	ask_path(&path, ACM_STATUS_NO_DATA, MS);
	ask_path(&path, ACM_STATUS_NO_DATA, 0);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_NEGATIVE_CACHE), 1);
	assert_int_equal(cluster.path_queries, 1);
	cluster_run_for(&cluster, SEC);
	ask_path(&path, ACM_STATUS_OK, MS);
}

static void a_lack_of_resources_is_not_remembered(void **state)
{
	struct acm_path path = {.dgid = cluster_gid(2)};

	(void)state;
	inquiry_start(2);
	refusals = 1;
	sa_status = ACM_SA_NO_RESOURCES << 8;
	cluster.on_sa = refuse_paths;
	ask_path(&path, ACM_STATUS_NO_MEMORY, MS);
	ask_path(&path, ACM_STATUS_OK, MS);
}

static void paths_only(struct cluster *at, struct cluster_sa_query *query)
{
	if (query->attribute == ACM_SA_ATTRIBUTE_PATH && at->path_queries <= refusals) {
		query->silent = sa_status == 0;
		query->failed = sa_status ? -EIO : 0;
	}
}

static void a_lost_query_or_answer_is_repeated(void **state)
{
	(void)state;
	for (sa_status = 0; sa_status < 2; sa_status++) {
		inquiry_reset(state);
		inquiry_start(2);
		refusals = 2;
		cluster.on_sa = paths_only;
		ask("node2", ACM_STATUS_OK, inquiry_bound() / 2 + MS);
		assert_int_equal(cluster.path_queries, 3);
		assert_int_equal(cluster.multicasts, 1);
		if (!sa_status)
			cluster_destroy(&cluster);
	}
}

static void late_answer(struct cluster *at, struct cluster_sa_query *query)
{
	if (query->attribute == ACM_SA_ATTRIBUTE_PATH && at->path_queries == 1)
		query->delay = 50 * MS; /* the first try waits for 43 ms */
}

static void an_answer_to_an_earlier_try_is_cancelled(void **state)
{
	(void)state;
	inquiry_start(2);
	cluster.on_sa = late_answer;
	ask("node2", ACM_STATUS_OK, 60 * MS);
	assert_int_equal(cluster.path_queries, 2);
	cluster_run_for(&cluster, SEC);
	assert_int_equal(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED), 0);
}

/* What is spoilt: an offset in the MAD, and what comes there. */
static struct {
	uint32_t offset;
	uint8_t value;
	uint32_t length;
} spoil;

static void spoil_path(struct cluster *at, const struct cluster_sa_query *query, uint8_t *mad,
		       uint32_t *length)
{
	(void)at;
	if (query->attribute != ACM_SA_ATTRIBUTE_PATH)
		return;
	mad[spoil.offset] ^= spoil.value;
	*length = spoil.length;
}

static void wrong_answers_are_no_routes(void **state)
{
	/* A wrong MAD answers nothing: the question is repeated; a wrong record is a wrong answer.
	 */
	static const struct {
		uint32_t offset;
		uint8_t value;
		uint32_t length;
		enum acm_status status;
	} cases[] = {
		{56 + 8 + 15, 1, 256, ACM_STATUS_NO_DATA},  /* DGID */
		{56 + 24 + 15, 8, 256, ACM_STATUS_NO_DATA}, /* SGID */
		{56 + 43, 8, 256, ACM_STATUS_NO_DATA},      /* SLID */
		{56 + 51, 1, 256, ACM_STATUS_NO_DATA},      /* P_Key */
		{56 + 40, 0xc0, 256, ACM_STATUS_NO_DATA},   /* DLID of a group */
		{56 + 54, 0x3f, 256, ACM_STATUS_NO_DATA},   /* MTU that is none */
		{56 + 55, 0x3f, 256, ACM_STATUS_NO_DATA},   /* rate that is none */
		{0, 0, 100, ACM_STATUS_NO_DATA},            /* cut within the record */
		{0, 0, 20, ACM_STATUS_TIMED_OUT},           /* cut within the header */
		{0, 0, 0, ACM_STATUS_TIMED_OUT},
		{1, 0x10, 256, ACM_STATUS_TIMED_OUT},  /* class */
		{2, 1, 256, ACM_STATUS_TIMED_OUT},     /* class version */
		{3, 0x80, 256, ACM_STATUS_TIMED_OUT},  /* a request */
		{15, 1, 256, ACM_STATUS_TIMED_OUT},    /* transaction */
		{12, 0x80, 256, ACM_STATUS_TIMED_OUT}, /* its first sender's byte */
		{17, 0x0d, 256, ACM_STATUS_TIMED_OUT}, /* attribute: McMemberRecord */
	};
	const size_t count = sizeof(cases) / sizeof(cases[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		inquiry_reset(state);
		inquiry_start(2);
		spoil.offset = cases[i].offset;
		spoil.value = cases[i].value;
		spoil.length = cases[i].length;
		cluster.on_sa_answer = spoil_path;
		ask("node2", cases[i].status, inquiry_bound());
		assert_true(cluster_counter(&cluster, 1, ACM_COUNTER_DROPPED) >= 1);
		cluster.on_sa_answer = NULL;
		cluster_run_for(&cluster, config.negative_life);
		ask("node2", ACM_STATUS_OK, MS);
		if (i + 1 < count)
			cluster_destroy(&cluster);
	}
}

static void a_dlid_or_slid_that_was_asked_for_has_to_come(void **state)
{
	struct acm_path path = {.dlid = 2, .slid = 17};

	(void)state;
	assert_int_equal(cluster_init(&cluster, 2, &config), 0);
	cluster_port(&cluster, 1)->lid = 16;
	cluster_port(&cluster, 1)->lmc = 2;
	cluster_start(&cluster);
	cluster.on_sa_answer = spoil_path;
	spoil.length = 256;
	spoil.offset = 56 + 41; /* DLID */
	spoil.value = 1;
	ask_path(&path, ACM_STATUS_NO_DATA, MS);
	spoil.offset = 56 + 43; /* SLID 16: the port's too, but not the one that was wanted */
	path.sl = 1;
	ask_path(&path, ACM_STATUS_NO_DATA, MS);
}

static void the_upper_half_of_a_tid_may_be_rewritten(void **state)
{
	(void)state;
	inquiry_start(2);
	cluster.on_sa_answer = spoil_path;
	spoil.offset = 8;
	spoil.value = 0xff;
	spoil.length = 256;
	ask("node2", ACM_STATUS_OK, MS);
}

/* ---- the window ---- */

static uint64_t in_flight, most_in_flight;

static void count_in_flight(struct cluster *at, int node, const struct acm_action *action)
{
	(void)at;
	(void)node;
	if (action->type == ACM_ACTION_SA_SEND)
		in_flight++;
	most_in_flight = in_flight > most_in_flight ? in_flight : most_in_flight;
}

static void no_more_are_in_flight_than_the_window_has(void **state)
{
	uint64_t ids[100];

	(void)state;
	config.sa_depth = 8;
	inquiry_start(2);
	in_flight = most_in_flight = 0;
	cluster.on_action = count_in_flight;
	for (int i = 0; i < 100; i++) {
		struct acm_request request = {.opcode = ACM_OPCODE_RESOLVE,
					      .kind = ACM_REQUEST_PATH,
					      .path = {.dlid = 2, .service_id = (uint64_t)i + 1}};

		ids[i] = cluster_ask_request(&cluster, 1, &request);
	}
	assert_int_equal(most_in_flight, 8);
	cluster_run_for(&cluster, 10 * MS);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(cluster_answer(&cluster, ids[i])->reply.status, ACM_STATUS_OK);
		assert_true(cluster_answer(&cluster, ids[i])->given);
	}
}

static void sa_of_the_default_partition(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	assert_int_equal(query->pkey_index, query->node == 1 ? 2 : 0);
}

static void answers_no_path(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->silent = query->attribute == ACM_SA_ATTRIBUTE_PATH;
}

static void never_answers(struct cluster *at, struct cluster_sa_query *query)
{
	(void)at;
	query->silent = true;
}

/* The join in flight is given up first, which leaves room; but nothing goes out of a port that is
 * down. */
static void what_waits_for_the_window_does_not_go_out_of_a_dead_port(void **state)
{
	struct acm_event reregister = {.type = ACM_EVENT_REREGISTER};
	struct acm_request request = {
		.opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_PATH, .path = {.dlid = 2}};
	uint64_t id;

	(void)state;
	config.sa_depth = 1;
	inquiry_start(2);
	cluster.on_sa = never_answers;
	assert_int_equal(cluster_step(&cluster, 1, reregister), 0);
	id = cluster_ask_request(&cluster, 1, &request);
	assert_int_equal(cluster.path_queries, 0);
	cluster_port(&cluster, 1)->state = ACM_PORT_DOWN;
	cluster_port_changed(&cluster, 1);
	assert_true(cluster_answer(&cluster, id)->given);
	assert_int_equal(cluster_answer(&cluster, id)->reply.status, ACM_STATUS_NOT_CONNECTED);
	assert_int_equal(cluster.path_queries, 0);
}

/* What waits for its turn is not sent only to be taken back and sent once more. */
static void a_reregister_sends_no_more_than_the_window_has(void **state)
{
	struct acm_event reregister = {.type = ACM_EVENT_REREGISTER};
	uint64_t before;

	(void)state;
	config.sa_depth = 2;
	inquiry_start(8);
	cluster.on_sa = answers_no_path;
	for (uint16_t lid = 2; lid <= 8; lid++) {
		struct acm_request request = {.opcode = ACM_OPCODE_RESOLVE,
					      .kind = ACM_REQUEST_PATH,
					      .path = {.dlid = lid}};

		cluster_ask_request(&cluster, 1, &request);
	}
	assert_int_equal(cluster.path_queries, 2);
	for (int i = 0; i < 3; i++) { /* in whatever order they wait */
		before = cluster.sa_queries;
		assert_int_equal(cluster_step(&cluster, 1, reregister), 0);
		assert_int_equal(cluster.sa_queries - before, 2); /* the join, and a path */
		cluster_run_for(&cluster, MS);
	}
	cluster.on_sa = NULL;
	before = cluster.path_queries;
	assert_int_equal(cluster_step(&cluster, 1, reregister), 0);
	cluster_run_for(&cluster, 10 * MS);
	assert_int_equal(cluster.path_queries - before, 7);
}

static void the_sa_is_asked_in_the_default_partition(void **state)
{
	struct acm_path path = {.dlid = 2, .pkey = 0x8012};
	struct acm_port_facts *facts;

	(void)state;
	assert_int_equal(cluster_init(&cluster, 2, &config), 0);
	facts = cluster_port(&cluster, 1);
	facts->pkey_count = 3;
	facts->pkeys[0] = 0x8012;
	facts->pkeys[1] = 0x7fff;
	facts->pkeys[2] = 0xffff;
	cluster.on_sa = sa_of_the_default_partition;
	cluster_start(&cluster);
	assert_int_equal(ask_path(&path, ACM_STATUS_OK, MS)->path.pkey, 0x8012);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inquiry_reset, inquiry_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_dlid_by_dgid_and_by_both),
		TEST(without_a_destination_it_is_status_9),
		TEST(sources_that_are_not_ours_are_status_7),
		TEST(an_slid_may_be_any_of_the_ports),
		TEST(the_own_port_is_answered_without_the_sa),
		TEST(every_constraint_is_its_own_question),
		TEST(two_prefixes_of_one_guid_are_two_sources),
		TEST(a_gid_table_that_changes_changes_no_answer),
		TEST(flags_work_by_path_too),
		TEST(each_refusal_has_its_status),
		TEST(a_busy_sa_is_asked_again),
		TEST(no_records_is_believed_for_a_second),
		TEST(a_lack_of_resources_is_not_remembered),
		TEST(a_lost_query_or_answer_is_repeated),
		TEST(an_answer_to_an_earlier_try_is_cancelled),
		TEST(wrong_answers_are_no_routes),
		TEST(a_dlid_or_slid_that_was_asked_for_has_to_come),
		TEST(the_upper_half_of_a_tid_may_be_rewritten),
		TEST(no_more_are_in_flight_than_the_window_has),
		TEST(what_waits_for_the_window_does_not_go_out_of_a_dead_port),
		TEST(a_reregister_sends_no_more_than_the_window_has),
		TEST(the_sa_is_asked_in_the_default_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
