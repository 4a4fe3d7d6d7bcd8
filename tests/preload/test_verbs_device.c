/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device and its ports as libibverbs shows them, async events, and what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fake_server.h"

struct rig {
	struct fake_server *server;
	struct ibv_context *context;
};

static struct ibv_context *open_first(void)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_context *context;

	assert_non_null(list);
	assert_int_equal(count, 1);
	context = ibv_open_device(list[0]);
	assert_non_null(context);
	ibv_free_device_list(list);
	return context;
}

static int set_up(void **state)
{
	static struct rig rig;

	rig.server = fake_server_start();
	rig.context = open_first();
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	if (rig->server)
		fake_server_stop(rig->server);
	if (rig->context)
		ibv_close_device(rig->context);
	return 0;
}

/* ---- what it shows ---- */

static void device_is_the_node_s(void **state)
{
	struct rig *rig = *state;
	struct ibv_device_attr attributes;

	assert_string_equal(ibv_get_device_name(rig->context->device), "fake_0");
	assert_int_equal(be64toh(ibv_get_device_guid(rig->context->device)), 0x1122334455667788);
	assert_int_equal(ibv_get_device_index(rig->context->device), -1);
	assert_int_equal(ibv_query_device(rig->context, &attributes), 0);
	assert_int_equal(attributes.phys_port_cnt, FAKE_PORTS);
	assert_int_equal(be64toh(attributes.sys_image_guid), 0x1122334455667799);
}

static void port_is_as_the_server_says(void **state)
{
	struct rig *rig = *state;
	struct ibv_port_attr port;

	assert_int_equal(ibv_query_port(rig->context, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.lid, 17);
	assert_int_equal(port.sm_lid, 3);
	assert_int_equal(port.sm_sl, 1);
	assert_int_equal(port.active_mtu, IBV_MTU_2048);
	assert_int_equal(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_int_equal(port.active_width, 2);  /* 4x */
	assert_int_equal(port.active_speed, 32); /* EDR */
	assert_int_equal(port.phys_state, 5);
	assert_int_equal(ibv_query_port(rig->context, 2, &port), 0);
	assert_int_equal(port.state, IBV_PORT_DOWN);
	assert_int_equal(ibv_query_port(rig->context, 3, &port), EINVAL);
	assert_int_equal(ibv_query_port(rig->context, 0, &port), EINVAL);
}

/* Programs call with a structure that ends before port_cap_flags2. */
static void port_fits_the_older_structure(void **state)
{
	struct rig *rig = *state;
	struct ibv_port_attr port;

	memset(&port, 0x5a, sizeof(port));
	assert_int_equal((ibv_query_port)(rig->context, 1, (struct _compat_ibv_port_attr *)&port),
			 0);
	assert_int_equal(port.flags, 0);
	assert_int_equal(port.port_cap_flags2, 0x5a5a);
}

static void tables_keep_their_indices(void **state)
{
	struct rig *rig = *state;
	struct ibv_gid_entry entries[4], entry;
	union ibv_gid gid;
	__be16 pkey;

	assert_int_equal(ibv_query_gid(rig->context, 1, 0, &gid), 0);
	assert_int_equal(gid.raw[15], 8);
	assert_int_equal(ibv_query_gid(rig->context, 1, 1, &gid), 0);
	assert_int_equal(gid.global.interface_id, 0);
	assert_int_equal(ibv_query_gid(rig->context, 1, ACM_PORT_GIDS_MAX, &gid), -1);
	assert_int_equal(ibv_query_gid_ex(rig->context, 2, 0, &entry, 0), 0);
	assert_int_equal(entry.gid.raw[15], 9);
	assert_int_equal(entry.gid_type, IBV_GID_TYPE_IB);
	assert_int_equal(ibv_query_gid_ex(rig->context, 2, 1, &entry, 0), ENODATA);
	assert_int_equal(ibv_query_gid_table(rig->context, entries, 4, 0), 2);
	assert_int_equal(entries[1].port_num, 2);
	assert_int_equal(ibv_query_gid_table(rig->context, entries, 1, 0), -EINVAL);
	assert_int_equal(ibv_query_pkey(rig->context, 1, 1, &pkey), 0);
	assert_int_equal(be16toh(pkey), 0x8001);
	assert_int_equal(ibv_query_pkey(rig->context, 1, ACM_PORT_PKEYS_MAX, &pkey), -1);
	assert_int_equal(ibv_get_pkey_index(rig->context, 1, htobe16(0x8001)), 1);
	assert_int_equal(ibv_get_pkey_index(rig->context, 1, htobe16(0x0001)), -1);
	assert_int_equal(ibv_query_pkey(rig->context, 2, 0, &pkey), 0);
	assert_int_equal(be16toh(pkey), 0x8002);
	assert_int_equal(ibv_get_pkey_index(rig->context, 2, htobe16(0x8001)), 2);
	assert_int_equal(ibv_get_pkey_index(rig->context, 1, htobe16(0x8002)), -1);
	assert_int_equal(ibv_query_pkey(rig->context, 3, 0, &pkey), -1);
	assert_int_equal(ibv_query_gid(rig->context, 0, 0, &gid), -1);
}

/* ---- async events ---- */

static void expect_event(struct ibv_context *context, enum ibv_event_type type, int port)
{
	struct ibv_async_event event;

	assert_int_equal(ibv_get_async_event(context, &event), 0);
	assert_int_equal(event.event_type, type);
	assert_int_equal(event.element.port_num, port);
	ibv_ack_async_event(&event);
}

static void expect_no_event(struct ibv_context *context)
{
	struct pollfd polled = {.fd = context->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(poll(&polled, 1, 0), 0);
	fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
	assert_int_equal(ibv_get_async_event(context, &event), -1);
	assert_int_equal(errno, EAGAIN);
	fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) & ~O_NONBLOCK);
}

static void say_port(struct rig *rig, const struct acm_port_facts *facts)
{
	struct sim_attach_port message = {
		.header.type = SIM_ATTACH_PORT, .port = facts->port, .facts = *facts};

	fake_server_say(rig->server, &message);
}

static void each_difference_is_an_event(void **state)
{
	struct rig *rig = *state;
	struct sim_attach_port reregister = {.header.type = SIM_ATTACH_REREGISTER, .port = 1};
	struct acm_port_facts facts;

	fake_server_facts(0, &facts);
	expect_no_event(rig->context);
	facts.lid = 99;
	say_port(rig, &facts);
	expect_event(rig->context, IBV_EVENT_LID_CHANGE, 1);
	facts.sm_lid = 4;
	say_port(rig, &facts);
	expect_event(rig->context, IBV_EVENT_SM_CHANGE, 1);
	facts.pkeys[1] = 0x0001;
	say_port(rig, &facts);
	expect_event(rig->context, IBV_EVENT_PKEY_CHANGE, 1);
	facts.gids[0].raw[0] = 0xfd;
	say_port(rig, &facts);
	expect_event(rig->context, IBV_EVENT_GID_CHANGE, 1);
	facts.state = ACM_PORT_DOWN;
	say_port(rig, &facts);
	expect_event(rig->context, IBV_EVENT_PORT_ERR, 1);
	facts.state = ACM_PORT_INIT;
	say_port(rig, &facts);
	facts.state = ACM_PORT_ACTIVE;
	facts.lid = 100;
	say_port(rig, &facts);
	expect_event(rig->context, IBV_EVENT_LID_CHANGE, 1);
	expect_event(rig->context, IBV_EVENT_PORT_ACTIVE, 1);
	fake_server_say(rig->server, &reregister);
	expect_event(rig->context, IBV_EVENT_CLIENT_REREGISTER, 2);
	say_port(rig, &facts); /* nothing new */
	fake_server_say(rig->server, &reregister);
	expect_event(rig->context, IBV_EVENT_CLIENT_REREGISTER, 2);
	expect_no_event(rig->context);
}

static void facts_are_new_when_the_event_comes(void **state)
{
	struct rig *rig = *state;
	struct acm_port_facts facts;
	struct ibv_port_attr port;

	fake_server_facts(0, &facts);
	facts.lid = 99;
	say_port(rig, &facts);
	expect_event(rig->context, IBV_EVENT_LID_CHANGE, 1);
	assert_int_equal(ibv_query_port(rig->context, 1, &port), 0);
	assert_int_equal(port.lid, 99);
}

/* ---- the server's end ---- */

static void *wait_for_event(void *argument)
{
	struct ibv_context *context = argument;
	static struct ibv_async_event event;

	return ibv_get_async_event(context, &event) ? NULL : &event;
}

static void device_is_lost_with_the_server(void **state)
{
	struct rig *rig = *state;
	struct ibv_async_event event;
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_event, rig->context), 0);
	fake_server_stop(rig->server);
	rig->server = NULL;
	pthread_join(thread, &result);
	assert_non_null(result);
	assert_int_equal(((struct ibv_async_event *)result)->event_type, IBV_EVENT_DEVICE_FATAL);
	assert_int_equal(ibv_get_async_event(rig->context, &event), -1);
	assert_int_equal(errno, EIO);
	assert_null(ibv_open_device(rig->context->device));
	assert_int_equal(errno, ENODEV);
	assert_null(ibv_get_device_list(NULL)); /* nobody serves any more */
}

static void a_new_server_is_a_new_device(void **state)
{
	struct rig *rig = *state;
	struct ibv_context *context;
	struct ibv_port_attr port;

	fake_server_stop(rig->server);
	rig->server = NULL;
	expect_event(rig->context, IBV_EVENT_DEVICE_FATAL, 0);
	rig->server = fake_server_start();
	context = open_first();
	assert_int_equal(ibv_query_port(context, 1, &port), 0);
	assert_int_equal(ibv_close_device(context), 0);
}

static void a_child_attaches_anew(void **state)
{
	struct rig *rig = *state;
	struct ibv_port_attr port;
	struct ibv_async_event event;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct ibv_context *context;

		/* What the parent opened fails, at once. */
		if (ibv_get_async_event(rig->context, &event) != -1 || errno != EIO)
			_exit(1);
		context = open_first();
		_exit(ibv_query_port(context, 1, &port) ? 2 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(fake_server_guests(rig->server), 2);
	expect_no_event(rig->context); /* the parent goes on */
	assert_int_equal(ibv_query_port(rig->context, 1, &port), 0);
}

/* ---- what is not there ---- */

/* What is said on standard error goes into a pipe, until what_was_said(). */
static int heard, standard_error;

static void listen_in(void)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	standard_error = dup(STDERR_FILENO);
	assert_return_code(dup2(ends[1], STDERR_FILENO), errno);
	close(ends[1]);
	heard = ends[0];
}

static void what_was_said(const char *call)
{
	char text[1024], line[128];
	ssize_t length;

	dup2(standard_error, STDERR_FILENO);
	close(standard_error);
	length = read(heard, text, sizeof(text) - 1);
	close(heard);
	text[length > 0 ? length : 0] = '\0';
	snprintf(line, sizeof(line), "acmite-preload: %s is not there on a simulated node\n", call);
	assert_string_equal(text, line);
}

#define MISSES_OBJECT(call, error, ...)                                                            \
	do {                                                                                       \
		listen_in();                                                                       \
		errno = 0;                                                                         \
		assert_null(call(__VA_ARGS__));                                                    \
		assert_int_equal(errno, error);                                                    \
		what_was_said(#call);                                                              \
	} while (0)

#define MISSES_STATUS(call, ...)                                                                   \
	do {                                                                                       \
		listen_in();                                                                       \
		assert_int_equal(call(__VA_ARGS__), EOPNOTSUPP);                                   \
		what_was_said(#call);                                                              \
	} while (0)

static void what_is_missing_says_so_and_fails(void **state)
{
	struct rig *rig = *state;
	struct ibv_context *context = rig->context;
	struct ibv_pd *domain = ibv_alloc_pd(context);
	struct ibv_cq *queue = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr wishes = {.qp_type = IBV_QPT_UD,
					  .send_cq = queue,
					  .recv_cq = queue,
					  .cap = {.max_send_wr = 1, .max_recv_wr = 1}};
	struct ibv_qp *pair = ibv_create_qp(domain, &wishes);
	struct ibv_qp_init_attr_ex more = {.comp_mask =
						   IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD};

	MISSES_OBJECT(ibv_create_srq, ENOSYS, domain, &(struct ibv_srq_init_attr){0});
	MISSES_OBJECT(ibv_create_cq_ex, EOPNOTSUPP, context,
		      &(struct ibv_cq_init_attr_ex){.cqe = 1});
	MISSES_OBJECT(ibv_create_qp_ex, EOPNOTSUPP, context, &more);
	MISSES_OBJECT(ibv_open_qp, EOPNOTSUPP, context, &(struct ibv_qp_open_attr){0});
	MISSES_OBJECT(ibv_create_srq_ex, EOPNOTSUPP, context,
		      &(struct ibv_srq_init_attr_ex){.comp_mask = IBV_SRQ_INIT_ATTR_XRCD});
	MISSES_OBJECT(ibv_open_xrcd, EOPNOTSUPP, context, &(struct ibv_xrcd_init_attr){0});
	MISSES_OBJECT(ibv_create_wq, EOPNOTSUPP, context, &(struct ibv_wq_init_attr){0});
	MISSES_OBJECT(ibv_create_rwq_ind_table, EOPNOTSUPP, context,
		      &(struct ibv_rwq_ind_table_init_attr){0});
	MISSES_OBJECT(ibv_create_flow, EOPNOTSUPP, pair, &(struct ibv_flow_attr){0});
	MISSES_OBJECT(ibv_create_flow_action_esp, EOPNOTSUPP, context,
		      &(struct ibv_flow_action_esp_attr){0});
	MISSES_OBJECT(ibv_create_counters, EOPNOTSUPP, context,
		      &(struct ibv_counters_init_attr){0});
	MISSES_OBJECT(ibv_alloc_dm, EOPNOTSUPP, context, &(struct ibv_alloc_dm_attr){0});
	MISSES_OBJECT(ibv_alloc_td, EOPNOTSUPP, context, &(struct ibv_td_init_attr){0});
	MISSES_OBJECT(ibv_alloc_parent_domain, EOPNOTSUPP, context,
		      &(struct ibv_parent_domain_init_attr){0});
	MISSES_OBJECT(ibv_alloc_null_mr, EOPNOTSUPP, domain);
	MISSES_OBJECT(ibv_alloc_mw, EOPNOTSUPP, domain, IBV_MW_TYPE_1);
	MISSES_STATUS(ibv_modify_cq, queue, &(struct ibv_modify_cq_attr){0});
	MISSES_STATUS(ibv_modify_qp_rate_limit, pair, &(struct ibv_qp_rate_limit_attr){0});
	MISSES_STATUS(ibv_query_rt_values_ex, context, &(struct ibv_values_ex){0});
	MISSES_STATUS(ibv_advise_mr, domain, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0);
	assert_int_equal(ibv_destroy_qp(pair), 0);
	assert_int_equal(ibv_destroy_cq(queue), 0);
	assert_int_equal(ibv_dealloc_pd(domain), 0);
}

/* What verbs.h does another way when the device has no such operation. */
static void later_calls_go_the_older_way(void **state)
{
	struct rig *rig = *state;
	struct ibv_device_attr_ex attributes;
	struct ibv_pd *domain = ibv_alloc_pd(rig->context);
	struct ibv_cq *queue = ibv_create_cq(rig->context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex wishes = {.qp_type = IBV_QPT_UD,
					     .send_cq = queue,
					     .recv_cq = queue,
					     .cap = {.max_send_wr = 1, .max_recv_wr = 1},
					     .comp_mask = IBV_QP_INIT_ATTR_PD,
					     .pd = domain};
	struct ibv_qp *pair = ibv_create_qp_ex(rig->context, &wishes);

	assert_non_null(pair);
	assert_int_equal(ibv_query_device_ex(rig->context, NULL, &attributes), 0);
	assert_int_equal(attributes.orig_attr.phys_port_cnt, FAKE_PORTS);
	assert_int_equal(ibv_destroy_qp(pair), 0);
	assert_int_equal(ibv_destroy_cq(queue), 0);
	assert_int_equal(ibv_dealloc_pd(domain), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(device_is_the_node_s),           TEST(port_is_as_the_server_says),
		TEST(port_fits_the_older_structure),  TEST(tables_keep_their_indices),
		TEST(each_difference_is_an_event),    TEST(facts_are_new_when_the_event_comes),
		TEST(device_is_lost_with_the_server), TEST(a_new_server_is_a_new_device),
		TEST(a_child_attaches_anew),          TEST(what_is_missing_says_so_and_fails),
		TEST(later_calls_go_the_older_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
