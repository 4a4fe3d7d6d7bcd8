/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams: buffers that all come back, address handles that are kept, sends that are bounded. */
#include "world.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct world world;

static int send_from(uint32_t endpoint, uint16_t dlid, uint64_t cookie)
{
	struct acm_datagram datagram = {.endpoint = endpoint,
					.dlid = dlid,
					.sl = 2,
					.path_bits = 1,
					.static_rate = 3,
					.qpn = 0x77,
					.qkey = WORLD_QKEY,
					.dgid = {{0xfe, 0x80}},
					.flow_label = 0xabcde,
					.hop_limit = 7,
					.traffic_class = 0x5a,
					.payload = (const uint8_t *)"hello",
					.length = 5};

	return world.transport->ops->send(world.transport, &datagram, cookie);
}

static int send_to(uint16_t dlid, uint64_t cookie)
{
	return send_from(1, dlid, cookie);
}

static void reads_the_grh(void **state)
{
	(void)state;
	const struct acm_datagram_received *got = &world.event.datagram;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	assert_true(fake_deliver(pair, "payload", 7));
	world_expect(&world, ACM_EVENT_DATAGRAM);
	assert_int_equal(got->endpoint, 1);
	assert_int_equal(got->slid, 9);
	assert_int_equal(got->sl, 2);
	assert_int_equal(got->dlid_path_bits, 1);
	assert_int_equal(got->source_qpn, 0x99);
	assert_int_equal(got->sgid.raw[0], 0xfe);
	assert_int_equal(got->sgid.raw[15], 0x77);
	assert_int_equal(got->dgid.raw[14], 0x20);
	assert_int_equal(got->flow_label, 0xabcde);
	assert_int_equal(got->traffic_class, 0x5a);
	assert_int_equal(got->hop_limit, 7);
	assert_int_equal(got->length, 7);
	assert_memory_equal(got->payload, "payload", 7);
	world_close(&world);
}

static void one_without_a_grh_is_dropped(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	pair->without_grh = true;
	for (int i = 0; i < 3 * WORLD_DEPTH; i++) {
		assert_true(fake_deliver(pair, "x", 1));
		world_expect_nothing(&world);
		assert_int_equal(pair->posted_count, WORLD_DEPTH);
	}
	world_close(&world);
}

static void every_buffer_returns(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	for (int round = 0; round < 5; round++) {
		assert_int_equal(pair->posted_count, WORLD_DEPTH);
		for (int i = 0; i < WORLD_DEPTH; i++)
			assert_true(fake_deliver(pair, &i, sizeof(i)));
		assert_false(fake_deliver(pair, "", 0)); /* there are no more */
		for (int i = 0; i < WORLD_DEPTH; i++) {
			world_expect(&world, ACM_EVENT_DATAGRAM);
			assert_memory_equal(world.event.datagram.payload, &i, sizeof(i));
		}
		world_expect_nothing(&world);
	}
	world_close(&world);
}

static void one_that_completes_with_an_error_is_posted_again(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	for (int i = 0; i < 3 * WORLD_DEPTH; i++) {
		fake_fail_receive(pair, IBV_WC_LOC_LEN_ERR);
		world_expect_nothing(&world);
		assert_int_equal(pair->posted_count, WORLD_DEPTH);
	}
	assert_int_equal(pair->pair.state, IBV_QPS_RTS);
	world_close(&world);
}

static void a_broken_queue_pair_is_brought_back(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	pair->hold_sends = true;
	assert_int_equal(send_to(9, 31), 0);
	assert_true(fake_deliver(pair, "a", 1));
	assert_true(fake_deliver(pair, "b", 1));
	fake_break(pair, IBV_QPS_ERR);
	/* What came before is not lost, and its buffers are not given away. */
	world_expect(&world, ACM_EVENT_DATAGRAM);
	assert_int_equal(pair->posted_count, WORLD_DEPTH - 1);
	assert_memory_equal(world.event.datagram.payload, "a", 1);
	world_expect(&world, ACM_EVENT_DATAGRAM);
	assert_int_equal(pair->posted_count, WORLD_DEPTH);
	assert_memory_equal(world.event.datagram.payload, "b", 1);
	world_expect(&world, ACM_EVENT_SEND_FAILED);
	assert_int_equal(world.event.failed.cookie, 31);
	world_expect_nothing(&world);
	assert_int_equal(pair->pair.state, IBV_QPS_RTS);
	assert_int_equal(pair->posted_count, WORLD_DEPTH);
	assert_int_equal(world_said(&world, "was brought back"), 1);
	assert_true(fake_deliver(pair, "c", 1));
	world_expect(&world, ACM_EVENT_DATAGRAM);
	world_close(&world);
}

static void one_that_breaks_again_and_again_is_left_alone(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	for (int i = 0; i < 20; i++) {
		fake_break(pair, IBV_QPS_ERR);
		world_expect_nothing(&world);
	}
	assert_int_equal(pair->pair.state, IBV_QPS_ERR);
	assert_int_equal(world_said(&world, "was brought back"), 1);
	assert_int_equal(world_said(&world, "left alone for a while"), 1);
	/* Nothing waits for it for ever, and others wait not behind it. */
	assert_int_equal(send_to(9, 1), -ENETDOWN);
	/* The next look tries it again, and says nothing new. */
	verbs_transport_rescan(world.transport);
	assert_int_equal(pair->pair.state, IBV_QPS_RTS);
	assert_int_equal(pair->posted_count, WORLD_DEPTH);
	assert_int_equal(send_to(9, 1), 0);
	for (int i = 0; i < 20; i++) {
		fake_break(pair, IBV_QPS_ERR);
		world_expect_nothing(&world);
	}
	assert_int_equal(world.notice_count, 3);
	/* When it has been well for a time it is told again. */
	for (int i = 0; i < 3; i++)
		verbs_transport_rescan(world.transport);
	fake_break(pair, IBV_QPS_ERR);
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "was brought back"), 2);
	world_close(&world);
}

static void one_that_cannot_be_brought_back_is_tried_again(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	fake.modify_error = EIO;
	fake_break(pair, IBV_QPS_ERR);
	world_expect_nothing(&world);
	assert_int_equal(pair->pair.state, IBV_QPS_ERR);
	assert_int_equal(world_said(&world, "could not be brought back"), 1);
	for (int i = 0; i < 3; i++)
		verbs_transport_rescan(world.transport);
	assert_int_equal(world_said(&world, "could not be brought back"), 1);
	fake.modify_error = 0;
	verbs_transport_rescan(world.transport);
	assert_int_equal(pair->pair.state, IBV_QPS_RTS);
	assert_true(fake_deliver(pair, "a", 1));
	world_expect(&world, ACM_EVENT_DATAGRAM);
	world_close(&world);
}

static void sends_that_do_not_end_are_given_up(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	pair->hold_sends = true;
	while (!send_to(9, 7))
		;
	verbs_transport_rescan(world.transport); /* they may just have begun */
	world_expect_nothing(&world);
	verbs_transport_rescan(world.transport);
	world_expect(&world, ACM_EVENT_WRITABLE);
	for (int i = 0; i < pair->send_depth; i++)
		world_expect(&world, ACM_EVENT_SEND_FAILED);
	world_expect_nothing(&world);
	assert_int_equal(pair->pair.state, IBV_QPS_RTS);
	/* Those that end are none, however many there are. */
	for (int i = 0; i < 5; i++) {
		fake_complete_sends(pair);
		world_expect_nothing(&world);
		assert_int_equal(send_to(9, 7), 0);
		verbs_transport_rescan(world.transport);
	}
	assert_int_equal(world_said(&world, "was brought back"), 1);
	fake_complete_sends(pair);
	world_expect_nothing(&world);
	world_close(&world);
}

/* What its driver keeps for when the link is back must not keep other ports waiting. */
static void a_port_that_is_down_holds_nobody_up(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct fake_queue_pair *pair = world_open_endpoint(&world, 1);

	pair->hold_sends = true;
	while (!send_to(9, 7))
		;
	device->ports[0].state = IBV_PORT_DOWN;
	fake_async(device, IBV_EVENT_PORT_ERR, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_expect(&world, ACM_EVENT_WRITABLE);
	assert_int_equal(send_to(9, 7), -ENETDOWN);
	assert_int_equal(world_said(&world, "cannot be sent"), 0);
	device->ports[0].state = IBV_PORT_ACTIVE;
	fake_async(device, IBV_EVENT_PORT_ACTIVE, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(send_to(9, 7), -EAGAIN);
	fake_complete_sends(pair);
	world_expect(&world, ACM_EVENT_WRITABLE);
	assert_int_equal(send_to(9, 7), 0);
	fake_complete_sends(pair);
	world_expect_nothing(&world);
	world_close(&world);
}

static void what_completes_twice_counts_once(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	assert_int_equal(send_to(9, 7), 0);
	fake_repeat_completion(pair);
	assert_true(fake_deliver(pair, "a", 1));
	fake_repeat_completion(pair);
	fake_fail_receive(pair, IBV_WC_WR_FLUSH_ERR);
	fake_repeat_completion(pair);
	world_expect(&world, ACM_EVENT_DATAGRAM);
	world_expect_nothing(&world);
	assert_int_equal(pair->posted_count, WORLD_DEPTH);
	world_close(&world);
}

/* It would be deaf for ever: the device is opened anew. */
static void a_completion_queue_that_fails_takes_the_device_with_it(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);

	world_open_endpoint(&world, 1);
	fake_async(device, IBV_EVENT_CQ_ERR, 0);
	world_expect(&world, ACM_EVENT_PORT_REMOVED);
	world_expect_nothing(&world);
	assert_false(device->open);
	verbs_transport_rescan(world.transport);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_open_endpoint(&world, 2);
	world_close(&world);
}

/* Worth no interrupt: but errors are, and room for one that was refused. */
static void a_send_that_ended_well_is_no_event(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;
	uint32_t before;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	before = fake.completion_events;
	for (int i = 0; i < 10 * FAKE_DEPTH; i++) {
		assert_int_equal(send_to(9, 1), 0);
		world_expect_nothing(&world);
	}
	assert_int_equal(fake.completion_events, before);
	pair->hold_sends = true;
	while (!send_to(9, 1))
		;
	fake_complete_sends(pair);
	world_expect(&world, ACM_EVENT_WRITABLE);
	world_expect_nothing(&world);
	assert_int_equal(fake.completion_events, before + 1);
	pair->hold_sends = false;
	pair->send_status = IBV_WC_LOC_QP_OP_ERR;
	assert_int_equal(send_to(9, 77), 0);
	world_expect(&world, ACM_EVENT_SEND_FAILED);
	assert_int_equal(world.event.failed.cookie, 77);
	world_close(&world);
}

/* What has ended meanwhile makes room without an event, too. */
static void room_is_found_when_it_is_needed(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	pair->hold_sends = true;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < pair->send_depth; i++)
			assert_int_equal(send_to(9, 1), 0);
		fake_complete_sends(pair);
	}
	world_expect_nothing(&world);
	world_close(&world);
}

/* However little of everything it has. */
static void a_small_device_is_enough(void **state)
{
	(void)state;
	struct fake_device *device;
	struct fake_queue_pair *pair;

	world_open(&world);
	device = fake_add_device("mlx5_0");
	device->most_requests = 8;
	device->most_completions = 12;
	device->most_handles = 3;
	assert_int_equal(world.transport->ops->start(world.transport), 0);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	pair = world_open_endpoint(&world, 1);
	assert_int_equal(pair->posted_count, pair->depth);
	assert_in_range(pair->send_depth, 1, 8);
	for (uint16_t dlid = 1; dlid <= 100; dlid++) {
		assert_int_equal(send_to(dlid, 1), 0);
		world_expect_nothing(&world);
	}
	assert_int_equal(fake.sent_count, 100);
	pair->hold_sends = true;
	for (int i = 0; i < pair->send_depth; i++)
		assert_int_equal(send_to(9, 1), 0);
	assert_int_equal(send_to(9, 1), -EAGAIN);
	fake_complete_sends(pair);
	world_expect(&world, ACM_EVENT_WRITABLE);
	world_close(&world);
}

static void an_event_of_a_queue_pair_is_looked_into(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct fake_queue_pair *pair = world_open_endpoint(&world, 1);

	pair->pair.state = IBV_QPS_ERR; /* and nothing was flushed yet */
	fake_async(device, IBV_EVENT_QP_FATAL, 0);
	world_expect_nothing(&world);
	assert_int_equal(pair->pair.state, IBV_QPS_RTS);
	assert_int_equal(pair->posted_count, WORLD_DEPTH);
	/* It was flushed, and not told of. What completed before the reset is not of after it. */
	pair->keeps_completions = true;
	pair->received->armed = pair->sent->armed = false;
	fake_break(pair, IBV_QPS_ERR);
	fake_async(device, IBV_EVENT_QP_FATAL, 0);
	world_expect_nothing(&world);
	assert_int_equal(pair->posted_count, WORLD_DEPTH);
	assert_int_equal(pair->received->count + pair->sent->count, 0);
	pair->received->armed = pair->sent->armed = true;
	for (int i = 0; i < 3 * WORLD_DEPTH; i++) {
		assert_true(fake_deliver(pair, &i, sizeof(i)));
		world_expect(&world, ACM_EVENT_DATAGRAM);
		assert_memory_equal(world.event.datagram.payload, &i, sizeof(i));
		assert_int_equal(pair->posted_count, WORLD_DEPTH);
	}
	world_close(&world);
}

static void sends_as_asked(void **state)
{
	(void)state;
	const struct fake_sent *sent = &fake.sent[0];

	world_start(&world);
	world_open_endpoint(&world, 1);
	assert_int_equal(send_to(0x22, 1), 0);
	assert_int_equal(fake.sent_count, 1);
	assert_int_equal(sent->qpn, 0x77);
	assert_int_equal(sent->length, 5);
	assert_memory_equal(sent->bytes, "hello", 5);
	assert_int_equal(sent->to.dlid, 0x22);
	assert_int_equal(sent->to.sl, 2);
	assert_int_equal(sent->to.src_path_bits, 1);
	assert_int_equal(sent->to.static_rate, IBV_RATE_10_GBPS);
	assert_int_equal(sent->to.port_num, 1);
	assert_int_equal(sent->to.is_global, 1);
	assert_int_equal(sent->to.grh.dgid.raw[0], 0xfe);
	assert_int_equal(sent->to.grh.flow_label, 0xabcde);
	assert_int_equal(sent->to.grh.hop_limit, 7);
	assert_int_equal(sent->to.grh.traffic_class, 0x5a);
	assert_int_equal(sent->to.grh.sgid_index, 0);
	world_close(&world);
}

static void address_handles_are_kept_and_bounded(void **state)
{
	(void)state;
	world_start(&world);
	world_open_endpoint(&world, 1);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(send_to(0x22, 1), 0);
		world_expect_nothing(&world);
	}
	assert_int_equal(fake.handles_made, 1);
	for (uint32_t round = 0; round < 2; round++)
		for (uint16_t dlid = 1; dlid <= 5000; dlid++) {
			assert_int_equal(send_to(dlid, 1), 0);
			world_expect_nothing(&world);
		}
	assert_true(fake.handle_count <= 1024);
	assert_true(fake.handle_count >= 512);
	world_close(&world);
}

static void a_handle_under_way_stays(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;
	int error = 0;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	world_open_endpoint(&world, 2);
	pair->hold_sends = true;
	for (uint16_t dlid = 1; dlid <= 100; dlid++)
		assert_int_equal(send_to(dlid, dlid), 0);
	/* Another one wants handles, more than there are places. */
	for (uint16_t dlid = 101; dlid <= 5000 && !error; dlid++) {
		error = send_from(2, dlid, 1);
		world.transport->ops->next_event(world.transport, &world.event);
	}
	assert_true(error == 0 || error == -EAGAIN);
	assert_int_equal(fake.handles_missed, 0);
	fake_complete_sends(pair);
	world_close(&world);
}

static void sends_are_bounded_and_go_on(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;
	uint32_t count = 0;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	pair->hold_sends = true;
	while (!send_to(9, count))
		count++;
	assert_in_range(count, 16, 1024);
	assert_int_equal(send_to(9, 0), -EAGAIN);
	world_expect_nothing(&world);
	fake_complete_sends(pair);
	world_expect(&world, ACM_EVENT_WRITABLE);
	world_expect_nothing(&world); /* once, for two that were refused */
	assert_int_equal(send_to(9, 0), 0);
	fake_complete_sends(pair);
	world_expect_nothing(&world); /* none was refused */
	world_close(&world);
}

static void late_failures_are_told(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	pair = world_open_endpoint(&world, 1);
	pair->send_status = IBV_WC_LOC_PROT_ERR;
	assert_int_equal(send_to(9, 44), 0);
	world_expect(&world, ACM_EVENT_SEND_FAILED);
	assert_int_equal(world.event.failed.cookie, 44);
	assert_int_equal(world.event.failed.status, -EFAULT);
	world_expect_nothing(&world);
	assert_int_equal(pair->pair.state, IBV_QPS_RTS); /* it had stopped sending */
	pair->send_status = IBV_WC_SUCCESS;
	assert_int_equal(send_to(9, 45), 0);
	world_expect_nothing(&world);
	pair->post_send_result = EINVAL;
	for (int i = 0; i < 10; i++) {
		/* Told once, also when others are sent in between. */
		assert_int_equal(send_to(9, 46), -EINVAL);
		verbs_transport_rescan(world.transport);
		pair->post_send_result = 0;
		assert_int_equal(send_to(9, 46), 0);
		world_expect_nothing(&world);
		pair->post_send_result = EINVAL;
	}
	assert_int_equal(world_said(&world, "cannot be sent"), 1);
	verbs_transport_rescan(world.transport);
	assert_int_equal(send_to(9, 46), -EINVAL);
	assert_int_equal(world_said(&world, "cannot be sent"), 2);
	pair->post_send_result = ENOMEM;
	assert_int_equal(send_to(9, 46), -ENOMEM); /* nothing is under way that could end */
	world_close(&world);
}

static void closing_ends_what_is_about_it(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;
	struct acm_transport *transport;

	world_start(&world);
	transport = world.transport;
	pair = world_open_endpoint(&world, 1);
	assert_true(fake_deliver(pair, "a", 1));
	assert_true(fake_deliver(pair, "b", 1));
	world_expect(&world, ACM_EVENT_DATAGRAM); /* read while it is closed */
	pair->hold_sends = true;
	while (!send_to(9, 1))
		;
	transport->ops->close_endpoint(transport, 1);
	world_expect(&world, ACM_EVENT_WRITABLE);
	world_expect_nothing(&world);
	assert_int_equal(send_to(9, 1), -ENOENT);
	world_open_endpoint(&world, 1);
	assert_int_equal(send_to(9, 1), 0);
	world_close(&world);
}

static void queue_pairs_share_registered_memory(void **state)
{
	(void)state;
	world_start(&world);
	for (uint32_t endpoint = 1; endpoint <= 6; endpoint++)
		world_open_endpoint(&world, endpoint);
	assert_int_equal(fake.region_count, 1);
	for (int i = 0; i < 100; i++) {
		world.transport->ops->close_endpoint(world.transport, 3);
		world_open_endpoint(&world, 3);
	}
	assert_int_equal(fake.region_count, 1);
	world_close(&world);
}

static bool is_readable(void)
{
	struct acm_transport_caps caps;
	struct pollfd fd = {.events = POLLIN};

	world.transport->ops->capabilities(world.transport, &caps);
	fd.fd = caps.fd;
	return poll(&fd, 1, 0) == 1;
}

static void the_descriptor_tells_of_all_that_waits(void **state)
{
	(void)state;
	struct fake_queue_pair *pair;

	world_start(&world);
	assert_false(is_readable());
	/* No device tells of these. */
	assert_int_equal(world.transport->ops->open_endpoint(world.transport, 1, 0, 0xffff,
							     WORLD_QKEY, WORLD_DEPTH),
			 0);
	assert_true(is_readable());
	world_expect(&world, ACM_EVENT_ENDPOINT_OPENED);
	world_expect_nothing(&world);
	assert_false(is_readable());
	fake_add_device("mlx5_1");
	verbs_transport_rescan(world.transport);
	assert_true(is_readable());
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_expect_nothing(&world);
	assert_false(is_readable());
	pair = fake_last_queue_pair();
	assert_true(fake_deliver(pair, "a", 1));
	assert_true(fake_deliver(pair, "b", 1));
	assert_true(is_readable());
	world_expect(&world, ACM_EVENT_DATAGRAM);
	assert_true(is_readable()); /* one was read with the other */
	world_expect(&world, ACM_EVENT_DATAGRAM);
	world_expect_nothing(&world);
	assert_false(is_readable());
	world_close(&world);
}

static void groups(void **state)
{
	(void)state;
	struct acm_gid mgid = {{0xff, 0x12}}, other = {{0xfe, 0x80}};
	struct fake_device *device;
	struct acm_transport *transport;
	struct fake_queue_pair *pair;

	device = world_start(&world);
	transport = world.transport;
	pair = world_open_endpoint(&world, 1);
	assert_int_equal(transport->ops->attach(transport, 1, &mgid, 0xc001, 8), 0);
	world_expect(&world, ACM_EVENT_ATTACHED);
	assert_int_equal(world.event.attached.cookie, 8);
	assert_int_equal(pair->group_count, 1);
	assert_int_equal(transport->ops->attach(transport, 1, &other, 0xc001, 8), -EINVAL);
	assert_int_equal(transport->ops->attach(transport, 1, &mgid, 5, 8), -EINVAL);
	assert_int_equal(transport->ops->attach(transport, 2, &mgid, 0xc001, 8), -ENOENT);
	assert_int_equal(transport->ops->detach(transport, 1, &mgid, 0xc001), 0);
	assert_int_equal(transport->ops->detach(transport, 1, &mgid, 0xc001), -ENOENT);
	assert_int_equal(transport->ops->detach(transport, 2, &mgid, 0xc001), -ENOENT);
	device->most_groups = 0;
	assert_int_equal(transport->ops->attach(transport, 1, &mgid, 0xc001, 8), -ENOMEM);
	assert_int_equal(transport->ops->attach(transport, 1, &mgid, 0xc002, 8), -ENOMEM);
	assert_int_equal(world_said(&world, "table of groups is full"), 1);
	device->most_groups = 2;
	/* It is in them again when it was brought back, and out of them when it is closed. */
	assert_int_equal(transport->ops->attach(transport, 1, &mgid, 0xc001, 8), 0);
	assert_int_equal(transport->ops->attach(transport, 1, &mgid, 0xc002, 8), 0);
	assert_int_equal(transport->ops->attach(transport, 1, &mgid, 0xc002, 8), 0);
	assert_int_equal(pair->group_count, 2);
	for (int i = 0; i < 3; i++)
		world_expect(&world, ACM_EVENT_ATTACHED);
	fake_break(pair, IBV_QPS_ERR);
	world_expect_nothing(&world);
	assert_int_equal(pair->pair.state, IBV_QPS_RTS);
	assert_int_equal(pair->group_count, 2);
	transport->ops->close_endpoint(transport, 1);
	assert_false(pair->used);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_grh),
		cmocka_unit_test(one_without_a_grh_is_dropped),
		cmocka_unit_test(every_buffer_returns),
		cmocka_unit_test(one_that_completes_with_an_error_is_posted_again),
		cmocka_unit_test(a_broken_queue_pair_is_brought_back),
		cmocka_unit_test(one_that_breaks_again_and_again_is_left_alone),
		cmocka_unit_test(one_that_cannot_be_brought_back_is_tried_again),
		cmocka_unit_test(sends_that_do_not_end_are_given_up),
		cmocka_unit_test(a_port_that_is_down_holds_nobody_up),
		cmocka_unit_test(what_completes_twice_counts_once),
		cmocka_unit_test(a_completion_queue_that_fails_takes_the_device_with_it),
		cmocka_unit_test(a_send_that_ended_well_is_no_event),
		cmocka_unit_test(room_is_found_when_it_is_needed),
		cmocka_unit_test(a_small_device_is_enough),
		cmocka_unit_test(an_event_of_a_queue_pair_is_looked_into),
		cmocka_unit_test(sends_as_asked),
		cmocka_unit_test(address_handles_are_kept_and_bounded),
		cmocka_unit_test(a_handle_under_way_stays),
		cmocka_unit_test(sends_are_bounded_and_go_on),
		cmocka_unit_test(late_failures_are_told),
		cmocka_unit_test(closing_ends_what_is_about_it),
		cmocka_unit_test(queue_pairs_share_registered_memory),
		cmocka_unit_test(the_descriptor_tells_of_all_that_waits),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
