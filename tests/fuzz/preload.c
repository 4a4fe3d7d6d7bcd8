/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a fabric server says to a program under acmite fabric exec, and what the program does
 * meanwhile: a byte says which, two bytes how long the message is that follows. The first byte
 * says whether the connection is new or all is open.
 *
 * The library's thread is not there: messages are heard one by one, and time is made here.
 */
#include "attachment.h"

#include <fcntl.h>
#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "completion_channel.h"
#include "completion_queue.h"
#include "device.h"
#include "preload/queue_pair.h"
#include "umad_agents.h"

#define ENDPOINT    1
#define DEPTH       4
#define BUFFER      300
#define TIMEOUT_MS  10
#define PATIENCE_MS 1000
#define CLASS_SA    3
#define CLASS_PERF  4

struct program {
	struct preload_attachment attachment;
	int server; /* the other end of the connection */
	struct ibv_context *context;
	struct ibv_pd *domain;
	struct ibv_comp_channel *channel;
	struct ibv_cq *queue;
	struct ibv_qp *pair;
	struct ibv_mr *memory;
	struct ibv_ah *handle;
	struct preload_reply opened;
	struct preload_reply joined;
	int umad;
	uint32_t tid;
	uint8_t buffer[BUFFER];
};

/* ---- time ---- */

static uint64_t time_now;

/* What the library calls for sim_real_time() here. */
uint64_t fuzz_real_time(void);

uint64_t fuzz_real_time(void)
{
	return time_now;
}

/* ---- what is open ---- */

static void connect_to(struct program *program)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds))
		abort();
	program->attachment.socket = fds[0];
	program->server = fds[1];
	program->attachment.next_cookie = 1;
	program->attachment.patience_ms = PATIENCE_MS;
	program->attachment.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	program->attachment.armed = ACM_NEVER;
}

static void set_ports(struct preload_attachment *attachment)
{
	attachment->welcome.port_count = 2;
	strcpy(attachment->welcome.device, "fuzz_0");
	for (uint8_t i = 0; i < 2; i++) {
		attachment->ports[i] = (struct acm_port_facts){
			.port = i,
			.number = (uint8_t)(i + 1),
			.port_count = 2,
			.state = ACM_PORT_ACTIVE,
			.lid = (uint16_t)(i + 1),
			.sm_lid = 1,
			.mtu = 4,
			.rate = 3,
			.gid_count = 1,
			.pkey_count = 1,
			.pkeys = {ACM_PKEY_DEFAULT},
		};
	}
	preload_device_init(attachment);
}

/* As if the server had said yes to all that the program has asked for. */
static void make_pair(struct program *program)
{
	struct ibv_qp_init_attr wishes = {
		.send_cq = program->queue,
		.recv_cq = program->queue,
		.cap = {DEPTH, DEPTH, 1, 2, 0},
		.qp_type = IBV_QPT_UD,
	};
	struct preload_queue_pair *pair;
	struct preload_group *group = calloc(1, sizeof(*group));

	program->pair = ibv_create_qp(program->domain, &wishes);
	pair = (struct preload_queue_pair *)program->pair;
	if (!pair || !group)
		abort();
	pair->endpoint = ENDPOINT;
	pair->open = true;
	pair->verbs.state = IBV_QPS_RTS;
	group->mgid.raw[0] = 0xff;
	group->mlid = ACM_LID_MULTICAST;
	pair->groups = group;
}

static void expect_reply(struct program *program, struct preload_reply *reply, uint32_t type)
{
	*reply = (struct preload_reply){
		.type = type, .key = ENDPOINT, .next = program->attachment.replies};
	program->attachment.replies = reply;
}

static int registered(int port, int management_class)
{
	int agent = umad_register(port, management_class, 2, 1, NULL);

	if (agent < 0)
		abort();
	return agent;
}

static void open_umad(struct program *program)
{
	preload_lock();
	program->umad = preload_umad_open(&program->attachment, NULL, 1);
	preload_unlock();
	if (program->umad < 0)
		abort();
	if (!program->attachment.lost) {
		registered(program->umad, CLASS_SA);
		registered(program->umad, CLASS_PERF);
	}
}

static void open_all(struct program *program)
{
	struct ibv_ah_attr address = {.dlid = 2, .port_num = 1};

	program->context = ibv_open_device(&program->attachment.device);
	program->domain = ibv_alloc_pd(program->context);
	program->channel = ibv_create_comp_channel(program->context);
	program->queue = ibv_create_cq(program->context, DEPTH, NULL, program->channel, 0);
	program->memory =
		ibv_reg_mr(program->domain, program->buffer, BUFFER - 1, IBV_ACCESS_LOCAL_WRITE);
	program->handle = ibv_create_ah(program->domain, &address);
	make_pair(program);
	fcntl(program->context->async_fd, F_SETFL, O_NONBLOCK);
	fcntl(program->channel->fd, F_SETFL, O_NONBLOCK);
	expect_reply(program, &program->opened, SIM_ATTACH_OPENED);
	expect_reply(program, &program->joined, SIM_ATTACH_JOINED_QP);
	open_umad(program);
}

static void drain(int fd)
{
	static union sim_attach_message message;

	while (sim_channel_receive(fd, &message) == 1)
		;
}

static void close_all(struct program *program)
{
	struct preload_queue_pair *pair = (struct preload_queue_pair *)program->pair;

	umad_close_port(program->umad);
	drain(program->server); /* nobody would make room for what is said now */
	while (pair->groups)
		ibv_detach_mcast(program->pair, &pair->groups->mgid, pair->groups->mlid);
	if (ibv_destroy_qp(program->pair) || ibv_destroy_cq(program->queue) ||
	    ibv_destroy_comp_channel(program->channel) || ibv_destroy_ah(program->handle) ||
	    ibv_dereg_mr(program->memory) || ibv_dealloc_pd(program->domain) ||
	    ibv_close_device(program->context))
		abort();
}

/* ---- what the program does ---- */

static void post_receive(struct program *program, uint32_t length)
{
	struct ibv_sge elements[] = {
		{.addr = (uintptr_t)program->buffer, .length = 50, .lkey = program->memory->lkey},
		{.addr = (uintptr_t)program->buffer + 50,
		 .length = length,
		 .lkey = program->memory->lkey},
	};
	struct ibv_recv_wr request = {.sg_list = elements, .num_sge = 2}, *bad;

	ibv_post_recv(program->pair, &request, &bad);
}

static void post_send(struct program *program)
{
	struct ibv_sge element = {
		.addr = (uintptr_t)program->buffer, .length = 9, .lkey = program->memory->lkey};
	struct ibv_send_wr request = {
		.sg_list = &element,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud.ah = program->handle,
	};
	struct ibv_send_wr *bad;

	ibv_post_send(program->pair, &request, &bad);
}

static void take_events(struct program *program)
{
	struct ibv_cq *queue;
	struct ibv_async_event event;
	void *context;

	while (!ibv_get_cq_event(program->channel, &queue, &context))
		ibv_ack_cq_events(queue, 1);
	while (!ibv_get_async_event(program->context, &event))
		ibv_ack_async_event(&event);
}

static void poll_queue(struct program *program)
{
	struct ibv_wc completions[DEPTH + 1];

	if (ibv_poll_cq(program->queue, DEPTH + 1, completions) > DEPTH)
		abort();
	ibv_req_notify_cq(program->queue, 0);
}

static void send_mad(struct program *program, int agent, int timeout_ms)
{
	struct {
		struct ib_user_mad umad;
		uint8_t mad[ACM_MAD_LENGTH];
	} sent = {.umad.addr = {.qpn = htobe32(1), .lid = htobe16(1)}};

	sent.mad[1] = agent ? CLASS_PERF : CLASS_SA;
	sent.mad[3] = 1;
	sent.mad[15] = (uint8_t)++program->tid;
	umad_send(program->umad, agent, &sent, sizeof(sent.mad), timeout_ms, 2);
}

/* All of what is received can be read. */
static void receive_mad(struct program *program, int room)
{
	struct ib_user_mad *umad = calloc(1, umad_size() + (size_t)room);
	int length = room;

	if (!umad)
		abort();
	if (umad_recv(program->umad, umad, &length, 0) == -ENOSPC) {
		umad = realloc(umad, umad_size() + (size_t)length);
		if (!umad || umad_recv(program->umad, umad, &length, 0) < 0)
			abort();
	}
	free(umad);
}

static void renew_agent(struct program *program)
{
	if (!umad_unregister(program->umad, 1) && !program->attachment.lost)
		registered(program->umad, CLASS_PERF);
}

static void change_pair(struct program *program, enum ibv_qp_state state)
{
	struct ibv_qp_attr wanted = {.qp_state = state};

	ibv_modify_qp(program->pair, &wanted, IBV_QP_STATE);
}

static void ask(struct program *program)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_gid_entry gids[4];

	ibv_query_device(program->context, &device);
	ibv_query_port(program->context, 2, &port);
	ibv_query_gid_table(program->context, gids, 4, 0);
}

static void act(struct program *program, uint8_t choice)
{
	switch (choice % 16) {
	case 0:
		shutdown(program->server, SHUT_WR);
		break;
	case 1:
		post_receive(program, BUFFER - 51);
		break;
	case 2:
		post_receive(program, choice); /* too little, or beyond the end */
		break;
	case 3:
		post_send(program);
		break;
	case 4:
		poll_queue(program);
		break;
	case 5:
		take_events(program);
		break;
	case 6:
		send_mad(program, 0, TIMEOUT_MS);
		break;
	case 7:
		send_mad(program, 1, TIMEOUT_MS);
		break;
	case 8:
		send_mad(program, 1, 0);
		break;
	case 9:
		receive_mad(program, ACM_MAD_LENGTH);
		break;
	case 10:
		renew_agent(program);
		break;
	case 11:
		umad_close_port(program->umad);
		drain(program->server);
		open_umad(program);
		break;
	case 12:
		change_pair(program, IBV_QPS_ERR);
		break;
	case 13:
		change_pair(program, IBV_QPS_RESET);
		break;
	case 14:
		time_now += ACM_NSEC_PER_SEC;
		break;
	default:
		ask(program);
	}
}

/* ---- what must be ---- */

static void check_inbox(const struct preload_inbox *inbox)
{
	struct pollfd polled = {.fd = inbox->fd, .events = POLLIN};

	if ((poll(&polled, 1, 0) == 1) != (inbox->first || inbox->ended))
		abort();
}

static void check(struct program *program)
{
	check_inbox(&((struct preload_context *)program->context)->async);
	check_inbox(&((struct preload_channel *)program->channel)->events);
	check_inbox(&preload_umad_port(program->umad)->inbox);
	if (preload_completion_queue(program->queue)->count > DEPTH)
		abort();
}

/* ---- the input ---- */

static void say(struct program *program, const uint8_t **data, size_t *size)
{
	size_t length;

	if (*size < 2) {
		*size = 0;
		return;
	}
	length = (size_t)((*data)[0] | (*data)[1] << 8);
	*data += 2;
	*size -= 2;
	if (length > *size)
		length = *size;
	(void)!send(program->server, *data, length, MSG_NOSIGNAL);
	*data += length;
	*size -= length;
}

/* The whole input comes before the first answer is read. */
static void greet(struct program *program, const uint8_t *data, size_t size)
{
	struct preload_attachment *attachment = &program->attachment;
	char why[64];

	while (size)
		say(program, &data, &size);
	shutdown(program->server, SHUT_WR);
	if (sim_attach_greet(attachment->socket, "socket", SIM_ATTACH_PROGRAM, "node", PATIENCE_MS,
			     &attachment->welcome, why, sizeof(why)))
		return;
	preload_attachment_read_ports(attachment);
}

static void run(struct program *program, const uint8_t *data, size_t size)
{
	set_ports(&program->attachment);
	open_all(program);
	while (size) {
		uint8_t choice = *data++;

		size--;
		if (choice)
			act(program, choice);
		else
			say(program, &data, &size);
		preload_lock();
		if (!program->attachment.lost)
			preload_attachment_hear(&program->attachment);
		preload_unlock(); /* which is when descriptors are told */
		check(program);
		drain(program->server);
	}
	close_all(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct program program; /* large */

	memset(&program, 0, sizeof(program));
	time_now = ACM_NSEC_PER_SEC;
	connect_to(&program);
	if (size && data[0])
		greet(&program, data + 1, size - 1);
	else if (size)
		run(&program, data + 1, size - 1);
	close(program.attachment.socket);
	close(program.attachment.timer);
	close(program.server);
	return 0;
}
