/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scenarios in which each call of the libraries, and for memory, fails in turn. It is told
 * or returned, nothing of it stays behind, and after a few looks all is served as if nothing had
 * been.
 */
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* More than the scenario has events. */
#define EVENTS_MAX 64

static struct world world;
static const struct acm_gid group = {{0xff, 0x12, 0x40, 0x1b}};

/* What the user has learned since the world began. */
static struct {
	bool port;
	uint32_t endpoint; /* that is open; 0: none */
	uint32_t last_endpoint;
	uint32_t qpn;
	bool attached;
	uint32_t datagrams;
	uint32_t answers;
} known;

/* ---- what a user does ---- */

static void see(const struct acm_event *event)
{
	switch (event->type) {
	case ACM_EVENT_PORT_CHANGED:
		known.port = event->port_facts->state == ACM_PORT_ACTIVE &&
			     event->port_facts->gid_count == 1 &&
			     event->port_facts->pkeys[0] == 0xffff &&
			     event->port_facts->pkeys[1] == 0x8123;
		break;
	case ACM_EVENT_PORT_REMOVED:
		if (known.endpoint)
			world.transport->ops->close_endpoint(world.transport, known.endpoint);
		known.port = known.attached = false;
		known.endpoint = 0;
		break;
	case ACM_EVENT_ENDPOINT_OPENED:
		known.endpoint = event->opened.endpoint;
		known.qpn = event->opened.qpn;
		break;
	case ACM_EVENT_ATTACHED:
		known.attached = true;
		break;
	case ACM_EVENT_DATAGRAM:
		known.datagrams++;
		break;
	case ACM_EVENT_SA_ANSWER:
		known.answers++;
		break;
	default:
		break;
	}
}

/* Takes all there is. A transport that has no end of it spins. */
static void pull(void)
{
	struct acm_event event;
	int count = 0;

	while (world.transport->ops->next_event(world.transport, &event)) {
		see(&event);
		assert_true(++count < EVENTS_MAX);
	}
}

static void look(void)
{
	verbs_transport_rescan(world.transport);
	pull();
}

static void open_and_attach(void)
{
	struct acm_transport *transport = world.transport;

	if (known.port && !known.endpoint)
		transport->ops->open_endpoint(transport, ++known.last_endpoint, 0, 0xffff,
					      WORLD_QKEY, WORLD_DEPTH);
	pull();
	if (known.endpoint && !known.attached)
		transport->ops->attach(transport, known.endpoint, &group, 0xc001, 1);
	pull();
}

static void send_to(uint16_t dlid)
{
	struct acm_datagram datagram = {.endpoint = known.endpoint,
					.dlid = dlid,
					.qpn = 0x77,
					.qkey = WORLD_QKEY,
					.payload = (const uint8_t *)"hello",
					.length = 5};

	if (known.endpoint)
		world.transport->ops->send(world.transport, &datagram, 1);
	pull();
}

static void ask(void)
{
	uint8_t mad[ACM_MAD_LENGTH] = {1, 3, 2, 0x81};
	uint32_t before = fake.request_count;
	int error;

	mad[15] = (uint8_t)(1 + fake.request_count);
	error = world.transport->ops->sa_send(world.transport, 0, 0, mad, 1);
	if (!error && fake.request_count > before && fake.requests[before].port->umad_fd >= 0)
		fake_answer(&fake.requests[before], fake.requests[before].mad, 5000);
	pull();
	world.transport->ops->sa_cancel(world.transport, 1); /* its time is over */
}

static void receive(void)
{
	struct fake_queue_pair *pair = known.endpoint ? fake_queue_pair(known.qpn) : NULL;

	if (pair)
		fake_deliver(pair, "x", 1);
	pull();
}

/* ---- the scenario ---- */

/* Opens all and uses it. */
static void use(struct fake_device *device)
{
	(void)device;
	world.transport->ops->start(world.transport);
	pull();
	open_and_attach();
	send_to(9);
	receive();
	ask();
}

/* And things happen. */
static void use_long(struct fake_device *device)
{
	struct fake_queue_pair *pair;

	use(device);
	if (known.endpoint)
		world.transport->ops->close_endpoint(world.transport, known.endpoint);
	known.endpoint = 0;
	known.attached = false;
	open_and_attach();
	if (device->open)
		fake_async(device, IBV_EVENT_SM_CHANGE, 1);
	pull();
	look();
	open_and_attach();
	pair = known.endpoint ? fake_queue_pair(known.qpn) : NULL;
	if (pair && pair->pair.state == IBV_QPS_RTS)
		fake_break(pair, IBV_QPS_ERR);
	pull();
}

static void (*const scenarios[])(struct fake_device *device) = {use, use_long};

/* All works, if not at once. */
static void expect_all(struct fake_device *device, uint32_t number)
{
	struct fake_queue_pair *pair;
	uint32_t sent, datagrams = known.datagrams, answers = known.answers;

	for (int i = 0; i < 3; i++) {
		look();
		open_and_attach();
	}
	if (!known.port || !known.endpoint || !known.attached)
		fail_msg("after call %u, %s, port %d, endpoint %u, attached %d", number,
			 fake.failed, known.port, known.endpoint, known.attached);
	sent = fake.sent_count;
	send_to(11);
	receive();
	ask();
	pair = fake_queue_pair(known.qpn);
	assert_non_null(pair);
	if (fake.sent_count != sent + 1 || known.datagrams != datagrams + 1 ||
	    known.answers != answers + 1 || pair->posted_count != WORLD_DEPTH ||
	    pair->group_count != 1 || pair->pair.state != IBV_QPS_RTS)
		fail_msg("after call %u, %s, sent %u, datagrams %u, answers %u, posted %u, "
			 "groups %u, state %d",
			 number, fake.failed, fake.sent_count - sent, known.datagrams - datagrams,
			 known.answers - answers, pair->posted_count, pair->group_count,
			 pair->pair.state);
	assert_true(device->open);
}

/* Calls that are made up for at once, or whose failing changes nothing for anybody. */
static bool may_be_silent(const char *call)
{
	static const char *const calls[] = {
		"memory",           /* of a queue of events, mostly: what is lost comes again */
		"ibv_query_gid",    /* what was known stands until it can be read */
		"ibv_query_pkey",   /* the same */
		"ibv_query_port",   /* the same, when looking */
		"ibv_query_qp",     /* it is assumed to be broken, and brought back */
		"ibv_post_recv",    /* tried again with the next */
		"ibv_detach_mcast", /* the device is closed, if that keeps the queue pair */
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(calls[i], call))
			return true;
	}
	return false;
}

static struct fake_device *begin(void)
{
	struct fake_device *device;

	world_open(&world);
	memset(&known, 0, sizeof(known));
	device = fake_add_device("mlx5_0");
	return device;
}

/* What was said that would not have been without a fault. */
static uint32_t count_complaints(void)
{
	return world.notice_count - world_said(&world, "port 1: served") -
	       world_said(&world, "was brought back") - world_said(&world, "asked again") -
	       world_said(&world, "served again");
}

/* How many calls the scenario makes when all goes well. */
static uint32_t count_calls(int which)
{
	struct fake_device *device = begin();
	uint32_t calls = fake.calls;

	scenarios[which](device);
	calls = fake.calls - calls;
	assert_int_equal(count_complaints(), 0);
	expect_all(device, 0);
	world_close(&world);
	return calls;
}

static void each_call_fails_in(int which, uint32_t times)
{
	uint32_t calls = count_calls(which);

	assert_in_range(calls, 50, 2000);
	for (uint32_t number = 1; number <= calls; number++) {
		struct fake_device *device = begin();

		fake.fail_first = fake.calls + number;
		fake.fail_count = times;
		scenarios[which](device);
		assert_non_null(fake.failed);
		fake.fail_first = 0;
		if (!count_complaints() && !may_be_silent(fake.failed))
			fail_msg("call %u, %s, failed and nobody was told", number, fake.failed);
		expect_all(device, number);
		world_close(&world);
	}
}

static void each_call_fails(uint32_t times)
{
	each_call_fails_in(0, times);
	each_call_fails_in(1, times);
}

static void each_call_fails_once(void **state)
{
	(void)state;
	each_call_fails(1);
}

static void each_call_fails_and_the_next_with_it(void **state)
{
	(void)state;
	each_call_fails(3);
}

static void each_call_fails_for_a_long_while(void **state)
{
	(void)state;
	each_call_fails(40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_fails_once),
		cmocka_unit_test(each_call_fails_and_the_next_with_it),
		cmocka_unit_test(each_call_fails_for_a_long_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
