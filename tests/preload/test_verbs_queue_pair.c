/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagram queue pairs: states, what is sent, what is received, and how it completes. */
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
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "attach_environment.h"
#include "fake_server.h"

#define DEPTH  4
#define GRH    40
#define BUFFER 512
#define QKEY   0x01234567u

struct rig {
	struct fake_server *server;
	struct ibv_context *context;
	struct ibv_pd *domain;
	struct ibv_comp_channel *channel;
	struct ibv_cq *queue;
	struct ibv_qp *pair;
	struct ibv_mr *memory;
	struct ibv_ah *handle;
	uint8_t buffer[BUFFER];
};

/* ---- the rig ---- */

static const union ibv_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 1}};

static void make_pair(struct rig *rig)
{
	struct ibv_qp_init_attr wishes = {
		.send_cq = rig->queue,
		.recv_cq = rig->queue,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 64},
		.qp_type = IBV_QPT_UD,
	};

	rig->pair = ibv_create_qp(rig->domain, &wishes);
	assert_non_null(rig->pair);
}

static void make_handle(struct rig *rig)
{
	struct ibv_ah_attr address = {
		.dlid = 0xc001,
		.sl = 2,
		.static_rate = 3,
		.port_num = 1,
		.is_global = 1,
		.grh = {.dgid = group, .flow_label = 0x12345, .hop_limit = 7, .traffic_class = 9},
	};

	rig->handle = ibv_create_ah(rig->domain, &address);
	assert_non_null(rig->handle);
}

static int set_up(void **state)
{
	static struct rig rig;
	struct ibv_device **list;

	memset(&rig, 0, sizeof(rig));
	rig.server = fake_server_start();
	list = ibv_get_device_list(NULL);
	assert_non_null(list);
	rig.context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	rig.domain = ibv_alloc_pd(rig.context);
	rig.channel = ibv_create_comp_channel(rig.context);
	rig.queue = ibv_create_cq(rig.context, 2 * DEPTH, &rig, rig.channel, 0);
	rig.memory = ibv_reg_mr(rig.domain, rig.buffer, BUFFER, IBV_ACCESS_LOCAL_WRITE);
	make_handle(&rig);
	make_pair(&rig);
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(ibv_destroy_qp(rig->pair), 0);
	assert_int_equal(ibv_destroy_cq(rig->queue), 0);
	assert_int_equal(ibv_destroy_comp_channel(rig->channel), 0);
	assert_int_equal(ibv_dereg_mr(rig->memory), 0);
	assert_int_equal(ibv_destroy_ah(rig->handle), 0);
	assert_int_equal(ibv_dealloc_pd(rig->domain), 0);
	if (rig->server)
		fake_server_stop(rig->server);
	assert_int_equal(ibv_close_device(rig->context), 0);
	return 0;
}

static int to_init(struct rig *rig, uint16_t pkey_index)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT, .pkey_index = pkey_index, .port_num = 1, .qkey = QKEY};

	return ibv_modify_qp(rig->pair, &attributes,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

static int to_state(struct rig *rig, enum ibv_qp_state state)
{
	struct ibv_qp_attr attributes = {.qp_state = state, .sq_psn = 0};

	return ibv_modify_qp(rig->pair, &attributes,
			     IBV_QP_STATE | (state == IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0));
}

static void make_ready(struct rig *rig)
{
	assert_int_equal(to_init(rig, 1), 0);
	assert_int_equal(to_state(rig, IBV_QPS_RTR), 0);
	assert_int_equal(to_state(rig, IBV_QPS_RTS), 0);
}

static int post_receive(struct rig *rig, uint64_t id, uint32_t length)
{
	struct ibv_sge element = {
		.addr = (uintptr_t)rig->buffer, .length = length, .lkey = rig->memory->lkey};
	struct ibv_recv_wr request = {.wr_id = id, .sg_list = &element, .num_sge = 1}, *bad;

	return ibv_post_recv(rig->pair, &request, &bad);
}

static struct ibv_send_wr send_request(struct rig *rig, struct ibv_sge *element)
{
	*element = (struct ibv_sge){
		.addr = (uintptr_t)rig->buffer, .length = 4, .lkey = rig->memory->lkey};
	return (struct ibv_send_wr){
		.wr_id = 5,
		.sg_list = element,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = rig->handle, .remote_qpn = 0xffffff, .remote_qkey = 0x42},
	};
}

static int post_send(struct rig *rig)
{
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element), *bad;

	return ibv_post_send(rig->pair, &request, &bad);
}

static void say_datagram(struct rig *rig, uint16_t length)
{
	struct sim_attach_datagram message = {
		.header.type = SIM_ATTACH_DATAGRAM,
		.endpoint = rig->pair->qp_num - FAKE_QPN_BASE,
		.source_qpn = 0x777,
		.flow_label = 0x54321,
		.slid = 12,
		.length = length,
		.sl = 3,
		.dlid_path_bits = 1,
		.hop_limit = 4,
		.traffic_class = 0xab,
		.sgid.raw = {0xfe, 0x80, [15] = 0x33},
	};

	memcpy(message.dgid.raw, group.raw, sizeof(message.dgid.raw));
	memset(message.payload, 0x61, length);
	fake_server_say(rig->server, &message);
}

/* The next completion, for which the queue must be armed if there is none yet. */
static struct ibv_wc next_completion(struct rig *rig)
{
	struct ibv_wc wc;
	struct ibv_cq *queue;
	void *context;

	while (!ibv_poll_cq(rig->queue, 1, &wc)) {
		assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), 0);
		assert_ptr_equal(queue, rig->queue);
		assert_ptr_equal(context, rig);
		ibv_ack_cq_events(queue, 1);
	}
	return wc;
}

static void expect_none(struct rig *rig)
{
	struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(rig->queue, 1, &wc), 0);
}

/* All that was said before has been heard when an answer to this comes. */
static void settle(struct rig *rig)
{
	struct sim_attach_port message = {.header.type = SIM_ATTACH_REREGISTER};
	struct ibv_async_event event;

	fake_server_say(rig->server, &message);
	do
		assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
	while (event.event_type != IBV_EVENT_CLIENT_REREGISTER);
}

/* ---- states ---- */

static void states_are_enforced(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	assert_int_equal(post_receive(rig, 1, BUFFER), EINVAL); /* in RESET */
	assert_int_equal(to_state(rig, IBV_QPS_RTR), EINVAL);
	assert_int_equal(ibv_modify_qp(rig->pair, &attributes, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	assert_int_equal(to_init(rig, 0), 0);
	assert_int_equal(post_send(rig), EINVAL);
	assert_int_equal(post_receive(rig, 1, BUFFER), 0);
	assert_int_equal(to_state(rig, IBV_QPS_RTS), EINVAL);
	assert_int_equal(to_state(rig, IBV_QPS_RTR), 0);
	assert_int_equal(post_send(rig), EINVAL);
	attributes.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(rig->pair, &attributes, IBV_QP_STATE), EINVAL);
	assert_int_equal(to_state(rig, IBV_QPS_RTS), 0);
	assert_int_equal(rig->pair->state, IBV_QPS_RTS);
	attributes.qkey = 1;
	assert_int_equal(ibv_modify_qp(rig->pair, &attributes, IBV_QP_STATE | IBV_QP_QKEY), ENOSYS);
}

static void endpoint_is_what_init_asks_for(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct ibv_qp_attr attributes;
	struct ibv_qp_init_attr made_with;

	assert_int_equal(to_init(rig, 2), EINVAL); /* an empty entry */
	assert_int_equal(to_init(rig, 1), 0);
	fake_server_take(rig->server, SIM_ATTACH_OPEN, &message);
	assert_int_equal(message.open.pkey, 0x8001);
	assert_int_equal(message.open.qkey, QKEY);
	assert_int_equal(message.open.port, 0);
	assert_int_equal(message.open.recv_depth, DEPTH);
	assert_int_equal(rig->pair->qp_num, FAKE_QPN_BASE + message.open.endpoint);
	assert_int_equal(ibv_query_qp(rig->pair, &attributes, IBV_QP_STATE, &made_with), 0);
	assert_int_equal(attributes.qp_state, IBV_QPS_INIT);
	assert_int_equal(attributes.pkey_index, 1);
	assert_int_equal(attributes.qkey, QKEY);
	assert_int_equal(attributes.cap.max_recv_wr, DEPTH);
	assert_int_equal(to_state(rig, IBV_QPS_RESET), 0);
	fake_server_take(rig->server, SIM_ATTACH_CLOSE, &message);
	assert_int_equal(to_init(rig, 1), 0);
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_OPEN), 1);
}

static void an_index_is_one_of_its_port(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct ibv_qp_attr wanted = {
		.qp_state = IBV_QPS_INIT, .pkey_index = 0, .port_num = 2, .qkey = QKEY};
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

	assert_int_equal(ibv_modify_qp(rig->pair, &wanted, mask), 0);
	fake_server_take(rig->server, SIM_ATTACH_OPEN, &message);
	assert_int_equal(message.open.port, 1);
	assert_int_equal(message.open.pkey, 0x8002);
	assert_int_equal(to_state(rig, IBV_QPS_RESET), 0);
	wanted.port_num = FAKE_PORTS + 1;
	assert_int_equal(ibv_modify_qp(rig->pair, &wanted, mask), EINVAL);
	wanted.port_num = 0;
	assert_int_equal(ibv_modify_qp(rig->pair, &wanted, mask), EINVAL);
}

static void other_kinds_are_refused(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_init_attr wishes = {
		.send_cq = rig->queue, .recv_cq = rig->queue, .qp_type = IBV_QPT_RC};

	assert_null(ibv_create_qp(rig->domain, &wishes));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void error_state_flushes(void **state)
{
	struct rig *rig = *state;
	struct ibv_wc wc;

	make_ready(rig);
	assert_int_equal(post_receive(rig, 1, BUFFER), 0);
	assert_int_equal(to_state(rig, IBV_QPS_ERR), 0);
	wc = next_completion(rig);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(post_receive(rig, 2, BUFFER), 0);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(next_completion(rig).wr_id, 2);
	wc = next_completion(rig);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_SEND), 0);
}

/* ---- sending ---- */

static void datagram_says_all_that_was_asked(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	struct ibv_wc wc;

	make_ready(rig);
	memcpy(rig->buffer, "abcd", 4);
	assert_int_equal(post_send(rig), 0);
	fake_server_take(rig->server, SIM_ATTACH_SEND, &message);
	assert_int_equal(message.send.endpoint, rig->pair->qp_num - FAKE_QPN_BASE);
	assert_int_equal(message.send.dlid, 0xc001);
	assert_int_equal(message.send.sl, 2);
	assert_int_equal(message.send.static_rate, 3);
	assert_int_equal(message.send.qpn, 0xffffff);
	assert_int_equal(message.send.qkey, 0x42);
	assert_memory_equal(message.send.dgid.raw, group.raw, 16);
	assert_int_equal(message.send.flow_label, 0x12345);
	assert_int_equal(message.send.hop_limit, 7);
	assert_int_equal(message.send.traffic_class, 9);
	assert_int_equal(message.send.length, 4);
	assert_memory_equal(message.send.payload, "abcd", 4);
	wc = next_completion(rig);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_SEND);
}

/* IBA 10.2.5: a Q_Key with its top bit set stands for the queue pair's own. */
static void privileged_q_key_is_the_own(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element), *bad;
	union sim_attach_message message;

	make_ready(rig);
	request.wr.ud.remote_qkey = 0x80010000;
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	fake_server_take(rig->server, SIM_ATTACH_SEND, &message);
	assert_int_equal(message.send.qkey, QKEY);
	next_completion(rig);
}

/* ibacm gives the low bits of its LID. */
static void path_bits_beyond_the_lmc_do_not_count(void **state)
{
	struct rig *rig = *state;
	struct ibv_ah_attr address = {.dlid = 5, .port_num = 1, .src_path_bits = 0x22};
	struct ibv_ah *handle = ibv_create_ah(rig->domain, &address);
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element), *bad;
	union sim_attach_message message;

	assert_non_null(handle);
	make_ready(rig);
	request.wr.ud.ah = handle;
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	fake_server_take(rig->server, SIM_ATTACH_SEND, &message);
	assert_int_equal(message.send.path_bits, 0);
	next_completion(rig);
	assert_int_equal(ibv_destroy_ah(handle), 0);
}

static void two_elements_are_joined(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge elements[2];
	struct ibv_send_wr request = send_request(rig, elements), *bad;
	union sim_attach_message message;

	make_ready(rig);
	memcpy(rig->buffer, "abcdefgh", 8);
	elements[1] = elements[0];
	elements[1].addr += 6;
	elements[1].length = 2;
	request.num_sge = 2;
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	fake_server_take(rig->server, SIM_ATTACH_SEND, &message);
	assert_int_equal(message.send.length, 6);
	assert_memory_equal(message.send.payload, "abcdgh", 6);
	next_completion(rig);
}

static void inline_data_needs_no_key(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element), *bad;

	make_ready(rig);
	element.lkey = 0;
	request.send_flags |= IBV_SEND_INLINE;
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	assert_int_equal(next_completion(rig).status, IBV_WC_SUCCESS);
}

static void inline_data_has_its_bound(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element), *bad;

	make_ready(rig);
	element.length = 65;
	request.send_flags |= IBV_SEND_INLINE;
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), ENOMEM);
	assert_ptr_equal(bad, &request);
	element.length = 64;
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	assert_int_equal(next_completion(rig).status, IBV_WC_SUCCESS);
}

/* What is empty has no memory that a key could be wrong for. */
static void empty_elements_do_not_count(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge elements[2] = {
		{.lkey = 1},
		{.addr = (uintptr_t)rig->buffer, .length = BUFFER, .lkey = rig->memory->lkey}};
	struct ibv_recv_wr receive = {.wr_id = 3, .sg_list = elements, .num_sge = 2}, *bad_receive;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element), *bad;

	make_ready(rig);
	assert_int_equal(ibv_post_recv(rig->pair, &receive, &bad_receive), 0);
	receive.sg_list = NULL;
	receive.num_sge = 0;
	assert_int_equal(ibv_post_recv(rig->pair, &receive, &bad_receive), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	say_datagram(rig, 10);
	assert_int_equal(next_completion(rig).status, IBV_WC_SUCCESS);
	element = (struct ibv_sge){.lkey = 1};
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	assert_int_equal(next_completion(rig).status, IBV_WC_SUCCESS);
}

static void the_first_bad_request_is_told(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr second = send_request(rig, &element), first = second, *bad = NULL;
	struct ibv_recv_wr later = {.num_sge = 3}, sooner = {.next = &later}, *bad_receive = NULL;

	make_ready(rig);
	first.next = &second;
	second.num_sge = 3;
	assert_int_equal(ibv_post_send(rig->pair, &first, &bad), EINVAL);
	assert_ptr_equal(bad, &second);
	assert_int_equal(next_completion(rig).status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_post_recv(rig->pair, &sooner, &bad_receive), EINVAL);
	assert_ptr_equal(bad_receive, &later);
}

static void addresses_are_checked(void **state)
{
	struct rig *rig = *state;
	struct ibv_ah_attr address = {.dlid = 5, .port_num = FAKE_PORTS + 1};

	assert_null(ibv_create_ah(rig->domain, &address));
	assert_int_equal(errno, EINVAL);
	address.port_num = 1;
	address.is_global = 1;
	address.grh.sgid_index = 1; /* empty */
	assert_null(ibv_create_ah(rig->domain, &address));
	assert_int_equal(errno, ENODATA);
	address.grh.sgid_index = ACM_PORT_GIDS_MAX;
	assert_null(ibv_create_ah(rig->domain, &address));
	assert_int_equal(errno, EINVAL);
}

static void memory_is_checked(void **state)
{
	struct rig *rig = *state;

	assert_null(ibv_reg_mr(rig->domain, rig->buffer, 1, IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_mr(rig->domain, rig->buffer, SIZE_MAX, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_rereg_mr(rig->memory, 0, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_CMD);
}

static void capacities_have_bounds(void **state)
{
	struct rig *rig = *state;
	struct ibv_device_attr device;
	struct ibv_qp_init_attr wishes = {
		.send_cq = rig->queue, .recv_cq = rig->queue, .qp_type = IBV_QPT_UD};

	assert_int_equal(ibv_query_device(rig->context, &device), 0);
	wishes.cap.max_send_wr = (uint32_t)device.max_qp_wr + 1;
	assert_null(ibv_create_qp(rig->domain, &wishes));
	assert_int_equal(errno, EINVAL);
	wishes.cap.max_send_wr = 1;
	wishes.cap.max_recv_sge = (uint32_t)device.max_sge + 1;
	assert_null(ibv_create_qp(rig->domain, &wishes));
	assert_null(ibv_create_cq(rig->context, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(rig->context, device.max_cqe + 1, NULL, NULL, 0));
	assert_null(ibv_create_cq(rig->context, 1, NULL, NULL, rig->context->num_comp_vectors));
	assert_int_equal(ibv_resize_cq(rig->queue, 0), EINVAL);
}

static void expect_send_fault(struct rig *rig, struct ibv_send_wr *request,
			      enum ibv_wc_status status)
{
	struct ibv_send_wr *bad;

	make_ready(rig);
	assert_int_equal(ibv_post_send(rig->pair, request, &bad), 0);
	assert_int_equal(next_completion(rig).status, status);
	assert_int_equal(rig->pair->state, IBV_QPS_SQE);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(next_completion(rig).status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_SEND), 0);
	/* The way out of that state. */
	assert_int_equal(ibv_modify_qp(rig->pair, &(struct ibv_qp_attr){.qp_state = IBV_QPS_RTS},
				       IBV_QP_STATE),
			 0);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(next_completion(rig).status, IBV_WC_SUCCESS);
}

static void wrong_key_fails_the_send_queue(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element);

	element.lkey++;
	expect_send_fault(rig, &request, IBV_WC_LOC_PROT_ERR);
}

static void memory_end_is_kept(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element);

	element.addr += BUFFER - 3;
	expect_send_fault(rig, &request, IBV_WC_LOC_PROT_ERR);
}

static void too_long_fails_the_send_queue(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element);

	element.length = ACM_DATAGRAM_MAX + 1;
	expect_send_fault(rig, &request, IBV_WC_LOC_LEN_ERR);
}

static void send_slots_come_back_when_seen(void **state)
{
	struct rig *rig = *state;
	struct ibv_sge element;
	struct ibv_send_wr request = send_request(rig, &element), *bad = NULL;

	make_ready(rig);
	request.send_flags = 0;
	for (int i = 0; i < DEPTH - 1; i++)
		assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), ENOMEM);
	assert_ptr_equal(bad, &request);
	next_completion(rig); /* stands for the silent ones before it */
	expect_none(rig);
	for (int i = 0; i < DEPTH; i++)
		assert_int_equal(ibv_post_send(rig->pair, &request, &bad), 0);
	assert_int_equal(ibv_post_send(rig->pair, &request, &bad), ENOMEM);
}

/* ---- receiving ---- */

static void grh_comes_before_the_payload(void **state)
{
	struct rig *rig = *state;
	const struct ibv_grh *grh = (const struct ibv_grh *)rig->buffer;
	struct ibv_wc wc;

	make_ready(rig);
	assert_int_equal(post_receive(rig, 9, BUFFER), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	say_datagram(rig, 10);
	wc = next_completion(rig);
	assert_int_equal(wc.wr_id, 9);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.byte_len, GRH + 10);
	assert_int_equal(wc.qp_num, rig->pair->qp_num);
	assert_int_equal(wc.src_qp, 0x777);
	assert_int_equal(wc.slid, 12);
	assert_int_equal(wc.sl, 3);
	assert_int_equal(wc.dlid_path_bits, 1);
	assert_int_equal(wc.pkey_index, 1);
	assert_int_equal(wc.wc_flags, IBV_WC_GRH);
	assert_int_equal(be32toh(grh->version_tclass_flow), 0x6ab54321);
	assert_int_equal(be16toh(grh->paylen), 10 + 24);
	assert_int_equal(grh->next_hdr, 0x1b);
	assert_int_equal(grh->hop_limit, 4);
	assert_int_equal(grh->sgid.raw[15], 0x33);
	assert_memory_equal(grh->dgid.raw, group.raw, 16);
	for (int i = 0; i < 10; i++)
		assert_int_equal(rig->buffer[GRH + i], 0x61);
	assert_int_equal(rig->buffer[GRH + 10], 0);
}

static void the_way_back_is_in_the_completion(void **state)
{
	struct rig *rig = *state;
	struct ibv_grh *grh = (struct ibv_grh *)rig->buffer;
	struct ibv_ah_attr address;
	struct ibv_wc wc;

	make_ready(rig);
	assert_int_equal(post_receive(rig, 9, BUFFER), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	say_datagram(rig, 10);
	wc = next_completion(rig);
	assert_int_equal(ibv_query_gid(rig->context, 1, 0, &grh->dgid), 0);
	assert_int_equal(ibv_init_ah_from_wc(rig->context, 1, &wc, grh, &address), 0);
	assert_int_equal(address.dlid, 12);
	assert_int_equal(address.sl, 3);
	assert_int_equal(address.is_global, 1);
	assert_int_equal(address.grh.dgid.raw[15], 0x33);
	assert_int_equal(address.grh.flow_label, 0x54321);
	assert_int_equal(address.grh.traffic_class, 0xab);
	assert_int_equal(address.grh.hop_limit, 4);
}

/* No group is where an answer comes from. */
static void there_is_no_way_back_from_a_group(void **state)
{
	struct rig *rig = *state;
	struct ibv_ah_attr address;
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .slid = 12};
	struct ibv_grh grh = {.version_tclass_flow = htobe32(6u << 28), .next_hdr = 0x1b};

	grh.dgid = group;
	assert_int_equal(ibv_init_ah_from_wc(rig->context, 1, &wc, &grh, &address), -1);
	assert_null(ibv_create_ah_from_wc(rig->domain, &wc, &grh, 1));
	assert_int_equal(errno, EINVAL);
}

static void nothing_is_received_without_a_buffer(void **state)
{
	struct rig *rig = *state;

	make_ready(rig);
	say_datagram(rig, 10);
	settle(rig);
	expect_none(rig);
	assert_int_equal(post_receive(rig, 9, BUFFER), 0);
	expect_none(rig);
}

static void nothing_is_received_before_rtr(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(to_init(rig, 0), 0);
	assert_int_equal(post_receive(rig, 9, BUFFER), 0);
	say_datagram(rig, 10);
	settle(rig);
	expect_none(rig);
}

static void too_small_a_buffer_is_an_error(void **state)
{
	struct rig *rig = *state;

	make_ready(rig);
	assert_int_equal(post_receive(rig, 1, GRH + 9), 0);
	assert_int_equal(post_receive(rig, 2, BUFFER), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	say_datagram(rig, 10);
	assert_int_equal(next_completion(rig).status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(next_completion(rig).status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(rig->pair->state, IBV_QPS_ERR);
}

static void receive_queue_has_its_depth(void **state)
{
	struct rig *rig = *state;

	make_ready(rig);
	for (uint64_t i = 0; i < DEPTH; i++)
		assert_int_equal(post_receive(rig, i, BUFFER), 0);
	assert_int_equal(post_receive(rig, 9, BUFFER), ENOMEM);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	say_datagram(rig, 1);
	assert_int_equal(next_completion(rig).wr_id, 0);
	assert_int_equal(post_receive(rig, 9, BUFFER), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	say_datagram(rig, 1);
	assert_int_equal(next_completion(rig).wr_id, 1);
}

/* ---- events ---- */

static int readable(struct rig *rig)
{
	struct pollfd polled = {.fd = rig->channel->fd, .events = POLLIN};

	return poll(&polled, 1, 0);
}

static void queue_wakes_only_when_armed(void **state)
{
	struct rig *rig = *state;
	struct ibv_cq *queue;
	void *context;

	make_ready(rig);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(readable(rig), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	assert_int_equal(readable(rig), 0); /* for later ones only */
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(readable(rig), 1);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), 0);
	ibv_ack_cq_events(queue, 1);
	assert_int_equal(readable(rig), 0); /* once for each time */
	fcntl(rig->channel->fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(ibv_get_cq_event(rig->channel, &queue, &context), -1);
	assert_int_equal(errno, EAGAIN);
}

static void solicited_is_receives_and_errors(void **state)
{
	struct rig *rig = *state;

	make_ready(rig);
	assert_int_equal(post_receive(rig, 1, BUFFER), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 1), 0);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(readable(rig), 0);
	next_completion(rig);
	say_datagram(rig, 1);
	assert_int_equal(next_completion(rig).wr_id, 1);
}

static void queue_that_is_too_small_says_so(void **state)
{
	struct rig *rig = *state;
	struct ibv_async_event event;

	make_ready(rig);
	assert_int_equal(ibv_resize_cq(rig->queue, 1), 0);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(event.element.cq, rig->queue);
	ibv_ack_async_event(&event);
}

/* ---- groups ---- */

static void groups_are_joined_and_left(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;
	union ibv_gid unicast = {.raw = {0xfe, 0x80}};

	make_ready(rig);
	assert_int_equal(ibv_attach_mcast(rig->pair, &unicast, 0xc001), EINVAL);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xbfff), EINVAL);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xffff), EINVAL);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), 0);
	fake_server_take(rig->server, SIM_ATTACH_JOIN_QP, &message);
	assert_int_equal(message.group.mlid, 0xc001);
	assert_memory_equal(message.group.mgid.raw, group.raw, 16);
	assert_int_equal(ibv_destroy_qp(rig->pair), EBUSY);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc002), EINVAL);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), 0);
	fake_server_take(rig->server, SIM_ATTACH_PART_QP, &message);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), EINVAL);
}

static void a_group_is_attached_once(void **state)
{
	struct rig *rig = *state;

	make_ready(rig);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), 0);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), 0);
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_JOIN_QP), 1);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), 0);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), EINVAL);
}

/* A subnet manager that starts anew may give a group another MLID: who is there attaches before it
 * detaches. */
static void a_group_may_have_two_mlids(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;

	make_ready(rig);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), 0);
	fake_server_take(rig->server, SIM_ATTACH_JOIN_QP, &message);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc002), 0);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), 0);
	fake_server_take(rig->server, SIM_ATTACH_PART_QP, &message);
	assert_int_equal(message.group.mlid, 0xc001);
	fake_server_take(rig->server, SIM_ATTACH_JOIN_QP, &message);
	assert_int_equal(message.group.mlid, 0xc002);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc002), 0);
	fake_server_take(rig->server, SIM_ATTACH_PART_QP, &message);
	assert_int_equal(message.group.mlid, 0xc002);
}

/* The kernel knows them by the queue pair, whatever its state. */
static void groups_outlive_a_reset(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message message;

	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), 0); /* in RESET */
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_JOIN_QP), 0);
	for (int i = 0; i < 2; i++) {
		make_ready(rig);
		fake_server_take(rig->server, SIM_ATTACH_JOIN_QP, &message);
		assert_int_equal(message.group.mlid, 0xc001);
		assert_int_equal(message.group.endpoint, rig->pair->qp_num - FAKE_QPN_BASE);
		assert_int_equal(to_state(rig, IBV_QPS_RESET), 0);
	}
	assert_int_equal(ibv_destroy_qp(rig->pair), EBUSY);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), 0);
	assert_int_equal(fake_server_count(rig->server, SIM_ATTACH_PART_QP), 0);
}

static void what_is_in_use_stays(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(ibv_destroy_cq(rig->queue), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(rig->channel), EBUSY);
	assert_int_equal(ibv_dealloc_pd(rig->domain), EBUSY);
}

/* ---- the server's end ---- */

static void lost_server_flushes_and_wakes(void **state)
{
	struct rig *rig = *state;

	make_ready(rig);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), 0);
	assert_int_equal(post_receive(rig, 1, BUFFER), 0);
	assert_int_equal(ibv_req_notify_cq(rig->queue, 0), 0);
	fake_server_stop(rig->server);
	rig->server = NULL;
	assert_int_equal(next_completion(rig).status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(post_send(rig), 0);
	assert_int_equal(next_completion(rig).status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc002), ENODEV);
	assert_int_equal(to_state(rig, IBV_QPS_RESET), 0);
	assert_int_equal(to_init(rig, 0), ENODEV);
}

/* More than its socket takes. */
#define FLOOD 5000

static int set_up_impatient(void **state)
{
	setenv(SIM_ATTACH_TIMEOUT_VARIABLE, "50", 1);
	return set_up(state);
}

static int tear_down_impatient(void **state)
{
	unsetenv(SIM_ATTACH_TIMEOUT_VARIABLE);
	return tear_down(state);
}

/* Each call ends, and all is well when it goes on. */
static void stopped_server_holds_nothing_up(void **state)
{
	struct rig *rig = *state;

	make_ready(rig);
	fake_server_hold(rig->server);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), ETIMEDOUT);
	for (int i = 0; i < FLOOD; i++) {
		assert_int_equal(post_send(rig), 0);
		assert_int_equal(next_completion(rig).status, IBV_WC_SUCCESS);
	}
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), ETIMEDOUT);
	fake_server_go_on(rig->server);
	while (ibv_attach_mcast(rig->pair, &group, 0xc001) == ETIMEDOUT)
		sched_yield();
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), 0);
	assert_in_range(fake_server_count(rig->server, SIM_ATTACH_SEND), 1, FLOOD - 1);
}

/* What was given up is taken back, as the server may do it yet. */
static void late_yes_is_taken_back(void **state)
{
	struct rig *rig = *state;
	union sim_attach_message asked, taken_back;

	make_ready(rig);
	fake_server_silence(rig->server);
	assert_int_equal(ibv_attach_mcast(rig->pair, &group, 0xc001), ETIMEDOUT);
	fake_server_take(rig->server, SIM_ATTACH_PART_QP, &taken_back);
	assert_memory_equal(taken_back.group.mgid.raw, group.raw, 16);
	assert_int_equal(ibv_detach_mcast(rig->pair, &group, 0xc001), EINVAL);
	assert_int_equal(to_state(rig, IBV_QPS_RESET), 0);
	fake_server_take(rig->server, SIM_ATTACH_OPEN, &asked);
	fake_server_take(rig->server, SIM_ATTACH_CLOSE, &taken_back);
	assert_int_equal(to_init(rig, 0), ETIMEDOUT);
	assert_int_equal(rig->pair->state, IBV_QPS_RESET);
	fake_server_take(rig->server, SIM_ATTACH_OPEN, &asked);
	fake_server_take(rig->server, SIM_ATTACH_CLOSE, &taken_back);
	assert_int_equal(taken_back.close.endpoint, asked.open.endpoint);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(states_are_enforced),
		TEST(endpoint_is_what_init_asks_for),
		TEST(an_index_is_one_of_its_port),
		TEST(other_kinds_are_refused),
		TEST(error_state_flushes),
		TEST(datagram_says_all_that_was_asked),
		TEST(privileged_q_key_is_the_own),
		TEST(path_bits_beyond_the_lmc_do_not_count),
		TEST(two_elements_are_joined),
		TEST(inline_data_needs_no_key),
		TEST(inline_data_has_its_bound),
		TEST(empty_elements_do_not_count),
		TEST(the_first_bad_request_is_told),
		TEST(addresses_are_checked),
		TEST(memory_is_checked),
		TEST(capacities_have_bounds),
		TEST(wrong_key_fails_the_send_queue),
		TEST(memory_end_is_kept),
		TEST(too_long_fails_the_send_queue),
		TEST(send_slots_come_back_when_seen),
		TEST(grh_comes_before_the_payload),
		TEST(the_way_back_is_in_the_completion),
		TEST(there_is_no_way_back_from_a_group),
		TEST(nothing_is_received_without_a_buffer),
		TEST(nothing_is_received_before_rtr),
		TEST(too_small_a_buffer_is_an_error),
		TEST(receive_queue_has_its_depth),
		TEST(queue_wakes_only_when_armed),
		TEST(solicited_is_receives_and_errors),
		TEST(queue_that_is_too_small_says_so),
		TEST(groups_are_joined_and_left),
		TEST(a_group_is_attached_once),
		TEST(a_group_may_have_two_mlids),
		TEST(groups_outlive_a_reset),
		TEST(what_is_in_use_stays),
		TEST(lost_server_flushes_and_wakes),
		cmocka_unit_test_setup_teardown(late_yes_is_taken_back, set_up_impatient,
						tear_down_impatient),
		cmocka_unit_test_setup_teardown(stopped_server_holds_nothing_up, set_up_impatient,
						tear_down_impatient),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
