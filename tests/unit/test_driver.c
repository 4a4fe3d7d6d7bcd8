/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The driver between a real engine and a transport that does what the test tells it to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include <acmite/driver.h>
#include <acmite/trace.h>

#include "counted_memory.h"

#define CALLS_MAX  4096
#define EVENTS_MAX 64

enum call_type { OPEN, CLOSE, SEND, SA_SEND, SA_CANCEL, ATTACH, DETACH };

struct call {
	enum call_type type;
	uint64_t cookie;
	uint32_t endpoint;
	uint8_t payload[ACM_MAD_LENGTH];
};

struct fake {
	struct acm_transport base; /* must be first */
	struct call calls[CALLS_MAX];
	int count;
	/* What the operations return. */
	int send_status, sa_status, open_status, attach_status, start_status;
	int full_sa_port;   /* -1: none */
	bool opens_at_once; /* the event waits before open_endpoint() returns */
	struct acm_event events[EVENTS_MAX];
	int first, last;
	int started;
};

static struct fake fake;
static struct counted_memory memory;
static struct acm_engine *engine;
static struct acm_driver *driver;
static struct acm_port_facts facts;
static uint64_t now;
static struct acm_reply replies[600];
static int reply_count;
static int traces;
static uint64_t searched[8];
static int search_count;

static struct call *note(struct acm_transport *transport, enum call_type type)
{
	struct fake *self = (struct fake *)(void *)transport;
	struct call *call = &self->calls[self->count++];

	assert_in_range(self->count, 1, CALLS_MAX);
	memset(call, 0, sizeof(*call));
	call->type = type;
	return call;
}

static void push_event(const struct acm_event *event)
{
	assert_in_range(fake.last, 0, EVENTS_MAX - 1);
	fake.events[fake.last++] = *event;
}

static int fake_start(struct acm_transport *transport)
{
	((struct fake *)(void *)transport)->started++;
	return fake.start_status;
}

static int fake_open(struct acm_transport *transport, uint32_t endpoint, uint32_t port,
		     uint16_t pkey, uint32_t qkey, uint32_t recv_depth)
{
	struct acm_event event = {.type = ACM_EVENT_ENDPOINT_OPENED};

	assert_in_range(port, 0, 1);
	assert_int_equal(pkey, ACM_PKEY_DEFAULT);
	assert_int_equal(qkey, ACM_QKEY);
	assert_int_equal(recv_depth, 1024);
	note(transport, OPEN)->endpoint = endpoint;
	event.opened.endpoint = endpoint;
	event.opened.qpn = 0x100;
	if (fake.opens_at_once)
		push_event(&event);
	return fake.open_status;
}

static void fake_close(struct acm_transport *transport, uint32_t endpoint)
{
	note(transport, CLOSE)->endpoint = endpoint;
}

static int fake_send(struct acm_transport *transport, const struct acm_datagram *datagram,
		     uint64_t cookie)
{
	struct call *call;

	if (fake.send_status == -EAGAIN)
		return -EAGAIN;
	call = note(transport, SEND);
	call->cookie = cookie;
	memcpy(call->payload, datagram->payload, datagram->length);
	return fake.send_status;
}

static int fake_sa_send(struct acm_transport *transport, uint32_t port, uint16_t pkey_index,
			const uint8_t *mad, uint64_t cookie)
{
	struct call *call;

	(void)pkey_index;
	if (fake.sa_status == -EAGAIN || (int)port == fake.full_sa_port)
		return -EAGAIN;
	call = note(transport, SA_SEND);
	call->cookie = cookie;
	memcpy(call->payload, mad, ACM_MAD_LENGTH);
	return fake.sa_status;
}

static void fake_sa_cancel(struct acm_transport *transport, uint64_t cookie)
{
	note(transport, SA_CANCEL)->cookie = cookie;
}

static int fake_attach(struct acm_transport *transport, uint32_t endpoint,
		       const struct acm_gid *mgid, uint16_t mlid, uint64_t cookie)
{
	struct call *call = note(transport, ATTACH);

	(void)mgid;
	assert_int_equal(mlid, 0xc001);
	call->endpoint = endpoint;
	call->cookie = cookie;
	return fake.attach_status;
}

static int fake_detach(struct acm_transport *transport, uint32_t endpoint,
		       const struct acm_gid *mgid, uint16_t mlid)
{
	(void)mgid;
	(void)mlid;
	note(transport, DETACH)->endpoint = endpoint;
	return -ENOENT;
}

static int fake_next_event(struct acm_transport *transport, struct acm_event *event)
{
	(void)transport;
	if (fake.first == fake.last) {
		fake.first = fake.last = 0;
		return 0;
	}
	*event = fake.events[fake.first++];
	return 1;
}

static const struct acm_transport_ops fake_ops = {
	.start = fake_start,
	.open_endpoint = fake_open,
	.close_endpoint = fake_close,
	.send = fake_send,
	.sa_send = fake_sa_send,
	.sa_cancel = fake_sa_cancel,
	.attach = fake_attach,
	.detach = fake_detach,
	.next_event = fake_next_event,
};

static void hook_reply(void *context, const struct acm_reply *reply)
{
	assert_ptr_equal(context, &fake);
	replies[reply_count++] = *reply;
}

static void hook_trace(void *context, const struct acm_trace *trace)
{
	assert_ptr_equal(context, &fake);
	assert_non_null(acm_trace_name(trace->type));
	traces++;
}

static void hook_find_source(void *context, uint64_t cookie, const struct acm_address *destination)
{
	assert_ptr_equal(context, &fake);
	assert_int_equal(destination->type, ACM_ADDRESS_IP);
	searched[search_count++] = cookie;
}

static const struct acm_driver_hooks all_hooks = {hook_reply, hook_trace, hook_find_source, &fake};

/* ---- building ---- */

static void create(const struct acm_driver_hooks *hooks)
{
	struct acm_engine_config config;

	acm_engine_config_default(&config);
	config.timeout = 100 * ACM_NSEC_PER_MSEC;
	memset(&fake, 0, sizeof(fake));
	fake.full_sa_port = -1;
	fake.base.ops = &fake_ops;
	reply_count = traces = search_count = 0;
	now = ACM_NSEC_PER_SEC;
	counted_memory_init(&memory);
	assert_int_equal(acm_engine_create(&config, &memory.allocator, &engine), 0);
	assert_int_equal(acm_driver_create(engine, &fake.base, hooks, &memory.allocator, &driver),
			 0);
}

static int setup(void **state)
{
	(void)state;
	create(&all_hooks);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	acm_driver_destroy(driver);
	acm_engine_destroy(engine);
	assert_int_equal(memory.live_bytes, 0);
	return 0;
}

static void run(void)
{
	assert_int_equal(acm_driver_run(driver, now), 0);
}

static void step(struct acm_event event)
{
	event.time = now;
	assert_int_equal(acm_driver_step(driver, &event), 0);
}

static void push_port(void)
{
	struct acm_event event = {.type = ACM_EVENT_PORT_CHANGED, .port_facts = &facts};

	facts = (struct acm_port_facts){.number = 1,
					.port_count = 1,
					.state = ACM_PORT_ACTIVE,
					.lid = 1,
					.sm_lid = 100,
					.mtu = acm_mtu_code(4096),
					.rate = acm_rate_code(1000),
					.gid_count = 1,
					.gids = {{{0xfe, 0x80, [15] = 1}}},
					.pkey_count = 1,
					.pkeys = {ACM_PKEY_DEFAULT}};
	push_event(&event);
}

static void push_second_port(void)
{
	static struct acm_port_facts second;
	struct acm_event event = {.type = ACM_EVENT_PORT_CHANGED, .port_facts = &second};

	second = facts;
	second.port = 1;
	second.number = 2;
	second.lid = 2;
	second.gids[0].raw[15] = 2;
	push_event(&event);
}

static void add_address(enum acm_address_type type, const void *data, size_t length)
{
	struct acm_local_address local = {0};
	struct acm_event event = {.type = ACM_EVENT_ADDRESS_ADDED, .address = &local};

	assert_int_equal(acm_address_canonical(&local.address, type, data, length), 0);
	step(event);
}

static struct call *last_call(enum call_type type)
{
	for (int i = fake.count; i > 0; i--) {
		if (fake.calls[i - 1].type == type)
			return &fake.calls[i - 1];
	}
	fail_msg("no call of type %d", (int)type);
	return NULL;
}

static int calls_of(enum call_type type)
{
	int count = 0;

	for (int i = 0; i < fake.count; i++)
		count += fake.calls[i].type == type;
	return count;
}

static uint64_t tid_of(const uint8_t *mad)
{
	uint64_t tid = 0;

	for (int i = 8; i < 16; i++)
		tid = tid << 8 | mad[i];
	return tid;
}

static void answer_join(void)
{
	static uint8_t mad[ACM_MAD_LENGTH];
	const struct call *call = last_call(SA_SEND);
	struct acm_event event = {.type = ACM_EVENT_SA_ANSWER};
	struct acm_mcmember member = {.qkey = ACM_QKEY,
				      .mlid = 0xc001,
				      .pkey = ACM_PKEY_DEFAULT,
				      .mtu = acm_mtu_code(2048),
				      .rate = acm_rate_code(100),
				      .scope = 5,
				      .join_state = 1};

	acm_group_mgid(&member.mgid, member.pkey, member.rate, member.mtu);
	member.port_gid = facts.gids[0];
	acm_sa_encode_mcmember_answer(&member, 0x81, 0, tid_of(call->payload), mad);
	event.sa.cookie = call->cookie;
	event.sa.mad = mad;
	event.sa.length = sizeof(mad);
	push_event(&event);
	run();
}

static void finish_attach(int status)
{
	struct acm_event event = {.type = ACM_EVENT_ATTACHED};

	event.attached.cookie = last_call(ATTACH)->cookie;
	event.attached.status = status;
	push_event(&event);
	run();
}

/* A port, a name, all joined. */
static void bring_up(void)
{
	fake.opens_at_once = true;
	push_port();
	run();
	add_address(ACM_ADDRESS_NAME, "node1", 5);
	run();
	answer_join();
	finish_attach(0);
}

static struct acm_engine_stats stats(void)
{
	struct acm_engine_stats result;

	acm_engine_stats(engine, &result);
	return result;
}

static void ask(uint64_t id)
{
	struct acm_request request = {
		.id = id, .opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_RESOLVE};
	struct acm_event event = {.type = ACM_EVENT_REQUEST, .request = &request};
	char name[32];
	int length = snprintf(name, sizeof(name), "peer%d", (int)id);

	assert_int_equal(acm_address_canonical(&request.destination, ACM_ADDRESS_NAME,
					       (uint8_t *)name, (size_t)length),
			 0);
	step(event);
}

/* A peer asks for this node: each gets its answer at once, no window holds that back. */
static void hear(int peer)
{
	struct acm_event event = {.type = ACM_EVENT_DATAGRAM};
	struct acm_message message = {.tid = (uint64_t)peer, .gid_count = 1};
	uint8_t payload[ACM_DATAGRAM_MAX];
	char name[32];
	int length = snprintf(name, sizeof(name), "peer%d", peer);

	assert_int_equal(acm_address_canonical(&message.source, ACM_ADDRESS_NAME, (uint8_t *)name,
					       (size_t)length),
			 0);
	assert_int_equal(acm_address_canonical(&message.destination, ACM_ADDRESS_NAME,
					       (const uint8_t *)"node1", 5),
			 0);
	acm_group_mgid(&message.gids[0], ACM_PKEY_DEFAULT, acm_rate_code(100), acm_mtu_code(2048));
	acm_message_encode(&message, payload);
	event.datagram = (struct acm_datagram_received){.endpoint = 1,
							.slid = (uint16_t)(100 + peer),
							.source_qpn = 0x200,
							.sgid = {.raw = {0xfe, 0x80, [15] = 2}},
							.payload = payload,
							.length = sizeof(payload)};
	step(event);
}

/* The number in the name of the peer that a datagram asks for, or answers. */
static int peer_of(const struct call *call)
{
	struct acm_message message;
	int number = -1;

	assert_int_equal(acm_message_decode(call->payload, sizeof(call->payload), &message), 0);
	assert_int_equal(sscanf((const char *)(message.answer ? message.source.data
							      : message.destination.data),
				"peer%d", &number),
			 1);
	return number;
}

static void writable(void)
{
	struct acm_event event = {.type = ACM_EVENT_WRITABLE};

	push_event(&event);
	run();
}

/* ---- tests ---- */

static void it_carries_actions_out_and_events_in(void **state)
{
	(void)state;
	bring_up();
	assert_int_equal(stats().endpoints_ready, 1);
	assert_int_equal(calls_of(OPEN), 1);
	assert_int_equal(calls_of(SA_SEND), 1);
	assert_int_equal(calls_of(ATTACH), 1);
	assert_true(traces > 0);
	ask(1);
	assert_int_equal(peer_of(last_call(SEND)), 1);
	assert_int_equal(reply_count, 0);
	facts.state = ACM_PORT_DOWN;
	step((struct acm_event){.type = ACM_EVENT_PORT_CHANGED, .port_facts = &facts});
	assert_int_equal(reply_count, 1);
	assert_int_equal(replies[0].id, 1);
	assert_int_equal(replies[0].status, ACM_STATUS_NOT_CONNECTED);
}

static void starting_is_the_transports_business(void **state)
{
	(void)state;
	fake.start_status = -ENODEV;
	assert_int_equal(acm_driver_start(driver, now), -ENODEV);
	fake.start_status = 0;
	assert_int_equal(acm_driver_start(driver, now), 0);
	assert_int_equal(fake.started, 2);
}

static void what_has_no_room_waits_in_order(void **state)
{
	int sent;

	(void)state;
	bring_up();
	fake.send_status = -EAGAIN;
	for (int peer = 1; peer <= 5; peer++)
		hear(peer);
	assert_int_equal(calls_of(SEND), 0);
	fake.send_status = 0;
	/* Room again: but nobody overtakes what waits. */
	hear(6);
	assert_int_equal(calls_of(SEND), 0);
	sent = fake.count;
	writable();
	assert_int_equal(calls_of(SEND), 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(peer_of(&fake.calls[sent + i]), i + 1);
	hear(7);
	assert_int_equal(peer_of(last_call(SEND)), 7);
}

static void writable_may_be_premature(void **state)
{
	(void)state;
	bring_up();
	fake.send_status = -EAGAIN;
	ask(1);
	ask(2);
	writable();
	writable();
	assert_int_equal(calls_of(SEND), 0);
	fake.send_status = 0;
	writable();
	assert_int_equal(calls_of(SEND), 2);
	writable();
	assert_int_equal(calls_of(SEND), 2);
}

static void the_backlog_is_bounded_and_timers_repeat_what_was_lost(void **state)
{
	(void)state;
	bring_up();
	fake.send_status = -EAGAIN;
	for (int peer = 1; peer <= 400; peer++)
		hear(peer);
	ask(401);
	fake.send_status = 0;
	writable();
	assert_int_equal(calls_of(SEND), 256);
	assert_int_equal(peer_of(last_call(SEND)), 256);
	fake.count = 0;
	now += 50 * ACM_NSEC_PER_MSEC;
	run();
	now += 50 * ACM_NSEC_PER_MSEC;
	run();
	assert_true(calls_of(SEND) >= 1);
	assert_int_equal(peer_of(last_call(SEND)), 401);
}

static void a_backlog_used_again_keeps_its_order(void **state)
{
	int wanted = 1;

	(void)state;
	bring_up();
	for (int peer = 1; peer <= 400; peer += 40) {
		fake.send_status = -EAGAIN;
		for (int i = peer; i < peer + 40; i++)
			hear(i);
		fake.send_status = 0;
		fake.count = 0;
		writable();
		assert_int_equal(calls_of(SEND), 40);
		for (int i = 0; i < fake.count; i++)
			assert_int_equal(peer_of(&fake.calls[i]), wanted++);
	}
}

static void an_empty_backlog_takes_no_memory(void **state)
{
	int64_t before, blocked;

	(void)state;
	bring_up();
	for (int peer = 1; peer <= 40; peer++)
		hear(peer);
	before = memory.live_bytes;
	for (int round = 0; round < 2; round++) {
		fake.send_status = -EAGAIN;
		hear(1);
		blocked = memory.live_bytes;
		assert_true(blocked > before && blocked - before < 4096);
		for (int peer = 2; peer <= 40; peer++)
			hear(peer);
		assert_true(memory.live_bytes > blocked);
		fake.send_status = 0;
		writable();
		assert_int_equal(memory.live_bytes, before);
	}
}

/* The port's SA requests wait; its datagrams do not, nor does what goes to another port's SA. */
static void a_full_queue_holds_up_no_other(void **state)
{
	struct acm_event reregister = {.type = ACM_EVENT_REREGISTER};
	struct acm_local_address local = {.port = 1};
	struct acm_event added = {.type = ACM_EVENT_ADDRESS_ADDED, .address = &local};

	(void)state;
	bring_up();
	fake.count = 0;
	fake.full_sa_port = 0;
	step(reregister); /* the join anew waits */
	assert_int_equal(calls_of(SA_SEND), 0);
	hear(1);
	assert_int_equal(calls_of(SEND), 1);
	push_second_port();
	acm_address_canonical(&local.address, ACM_ADDRESS_NAME, (const uint8_t *)"node2", 5);
	step(added);
	run();
	assert_int_equal(calls_of(SA_SEND), 1);
	writable();
	assert_int_equal(calls_of(SA_SEND), 1);
	fake.send_status = -EAGAIN;
	hear(2);
	hear(3);
	fake.full_sa_port = -1;
	writable(); /* now the datagrams wait alone */
	assert_int_equal(calls_of(SA_SEND), 2);
	assert_int_equal(calls_of(SEND), 1);
	fake.send_status = 0;
	writable();
	assert_int_equal(calls_of(SEND), 3);
}

static void a_cancelled_transaction_leaves_the_backlog(void **state)
{
	struct acm_event added = {.type = ACM_EVENT_ADDRESS_REMOVED};
	struct acm_local_address local = {0};

	(void)state;
	fake.opens_at_once = true;
	fake.sa_status = -EAGAIN;
	push_port();
	run();
	add_address(ACM_ADDRESS_NAME, "node1", 5);
	run(); /* the join waits in the backlog */
	acm_address_canonical(&local.address, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	added.address = &local;
	step(added); /* nothing to join for: the join is cancelled, a leave goes behind */
	assert_int_equal(calls_of(SA_CANCEL), 1);
	fake.sa_status = 0;
	writable();
	assert_int_equal(calls_of(SA_SEND), 1);
	assert_int_equal(last_call(SA_SEND)->payload[3], 0x15); /* Delete */
}

static void failures_at_once_reach_the_engine(void **state)
{
	(void)state;
	fake.open_status = -ENOENT;
	push_port();
	run();
	add_address(ACM_ADDRESS_NAME, "node1", 5);
	assert_int_equal(calls_of(OPEN), 1);
	/* The engine knows: who asks is told at once. */
	ask(1);
	assert_int_equal(replies[0].status, ACM_STATUS_NOT_CONNECTED);
	fake.open_status = 0;
	fake.opens_at_once = true;
	now = acm_driver_deadline(driver);
	run();
	assert_int_equal(calls_of(OPEN), 2);
	assert_int_equal(calls_of(SA_SEND), 1); /* what came of the deadline was taken at once */
	fake.attach_status = -ENOMEM;
	answer_join();
	assert_int_equal(stats().counters[ACM_COUNTER_JOIN_FAILURES], 1);
	fake.attach_status = 0;
	now = acm_driver_deadline(driver);
	run();
	assert_int_equal(calls_of(SA_SEND), 2);
	answer_join();
	finish_attach(0);
	assert_int_equal(stats().endpoints_ready, 1);
}

static void failed_sends_reach_the_engine_at_once_and_from_the_backlog(void **state)
{
	(void)state;
	bring_up();
	fake.send_status = -EIO;
	ask(1);
	assert_int_equal(stats().counters[ACM_COUNTER_DROPPED], 1);
	fake.send_status = -EAGAIN;
	ask(2);
	fake.send_status = -EIO;
	writable();
	assert_int_equal(stats().counters[ACM_COUNTER_DROPPED], 2);
}

static void failed_sa_sends_are_tried_again(void **state)
{
	(void)state;
	fake.opens_at_once = true;
	fake.sa_status = -EIO;
	push_port();
	run();
	add_address(ACM_ADDRESS_NAME, "node1", 5);
	run();
	assert_int_equal(calls_of(SA_SEND), 1);
	fake.sa_status = 0;
	now = acm_driver_deadline(driver);
	run();
	assert_int_equal(calls_of(SA_SEND), 2);
	answer_join();
	finish_attach(0);
	assert_int_equal(stats().endpoints_ready, 1);
}

static void sources_are_searched_by_the_hook(void **state)
{
	static const uint8_t a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 1, 1}, to[4] = {10, 0, 0, 9};
	struct acm_request request = {
		.id = 7, .opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_RESOLVE};
	struct acm_event event = {.type = ACM_EVENT_REQUEST, .request = &request};

	(void)state;
	bring_up();
	add_address(ACM_ADDRESS_IP, a, 4);
	add_address(ACM_ADDRESS_IP, b, 4);
	acm_address_canonical(&request.destination, ACM_ADDRESS_IP, to, 4);
	step(event);
	assert_int_equal(search_count, 1);
	assert_int_equal(calls_of(SEND), 0);
	event = (struct acm_event){.type = ACM_EVENT_SOURCE_FOUND};
	event.source.cookie = searched[0];
	acm_address_canonical(&event.source.address, ACM_ADDRESS_IP, a, 4);
	step(event);
	assert_int_equal(calls_of(SEND), 1);
}

static void without_hooks_searches_fail_and_traces_vanish(void **state)
{
	static const uint8_t a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 1, 1}, to[4] = {10, 0, 0, 9};
	const struct acm_driver_hooks hooks = {hook_reply, NULL, NULL, &fake};
	struct acm_request request = {
		.id = 7, .opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_RESOLVE};
	struct acm_event event = {.type = ACM_EVENT_REQUEST, .request = &request};

	teardown(state);
	create(&hooks);
	bring_up();
	add_address(ACM_ADDRESS_IP, a, 4);
	add_address(ACM_ADDRESS_IP, b, 4);
	acm_address_canonical(&request.destination, ACM_ADDRESS_IP, to, 4);
	step(event);
	assert_int_equal(reply_count, 1);
	assert_int_equal(replies[0].status, ACM_STATUS_SOURCE_ADDRESS);
	assert_int_equal(traces, 0);
}

static void time_that_goes_back_is_refused(void **state)
{
	struct acm_event event = {.type = ACM_EVENT_DEADLINE, .time = 5};

	(void)state;
	bring_up();
	assert_int_equal(acm_driver_step(driver, &event), -EINVAL);
	run();
	ask(1);
	assert_int_equal(calls_of(SEND), 1);
}

static void closing_and_detaching_go_out(void **state)
{
	struct acm_event event = {.type = ACM_EVENT_ADDRESS_REMOVED};
	struct acm_local_address local = {0};

	(void)state;
	bring_up();
	acm_address_canonical(&local.address, ACM_ADDRESS_NAME, (const uint8_t *)"node1", 5);
	event.address = &local;
	step(event);
	assert_int_equal(calls_of(DETACH), 1); /* that it fails is of no consequence */
	assert_int_equal(calls_of(CLOSE), 1);
	assert_int_equal(last_call(SA_SEND)->payload[3], 0x15);
}

/* The engine's own timers stand in for completions that get lost. */
static void completions_that_never_come_are_given_up(void **state)
{
	(void)state;
	push_port();
	run();
	add_address(ACM_ADDRESS_NAME, "node1",
		    5); /* neither opened nor failed: the answer is lost */
	fake.opens_at_once = true;
	now = acm_driver_deadline(driver);
	run(); /* gives up */
	assert_int_equal(calls_of(CLOSE), 1);
	now = acm_driver_deadline(driver);
	run();
	assert_int_equal(calls_of(OPEN), 2);
	answer_join(); /* neither attached nor failed */
	now = acm_driver_deadline(driver);
	run();
	assert_int_equal(calls_of(DETACH), 1);
	now = acm_driver_deadline(driver);
	run();
	answer_join();
	finish_attach(0);
	assert_int_equal(stats().endpoints_ready, 1);
}

static void creating_may_fail(void **state)
{
	struct acm_driver *other;

	(void)state;
	memory.fail_from = memory.allocations + 1;
	assert_int_equal(
		acm_driver_create(engine, &fake.base, &all_hooks, &memory.allocator, &other),
		-ENOMEM);
	acm_driver_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_carries_actions_out_and_events_in),
		TEST(starting_is_the_transports_business),
		TEST(what_has_no_room_waits_in_order),
		TEST(writable_may_be_premature),
		TEST(the_backlog_is_bounded_and_timers_repeat_what_was_lost),
		TEST(a_backlog_used_again_keeps_its_order),
		TEST(an_empty_backlog_takes_no_memory),
		TEST(a_full_queue_holds_up_no_other),
		TEST(a_cancelled_transaction_leaves_the_backlog),
		TEST(failures_at_once_reach_the_engine),
		TEST(failed_sends_reach_the_engine_at_once_and_from_the_backlog),
		TEST(failed_sa_sends_are_tried_again),
		TEST(sources_are_searched_by_the_hook),
		TEST(without_hooks_searches_fail_and_traces_vanish),
		TEST(time_that_goes_back_is_refused),
		TEST(closing_and_detaching_go_out),
		TEST(completions_that_never_come_are_given_up),
		TEST(creating_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
