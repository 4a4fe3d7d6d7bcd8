/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SA transactions: matched, joined, cancelled, bounded, failed. */
#include "world.h"

#include <acmite/wire.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct world world;

static int ask_from(uint32_t port, uint64_t tid, uint64_t cookie)
{
	uint8_t mad[ACM_MAD_LENGTH] = {1, 3, 2, 0x81};
	int error;

	for (int i = 0; i < 8; i++)
		mad[8 + i] = (uint8_t)(tid >> (56 - 8 * i));
	error = world.transport->ops->sa_send(world.transport, port, 1, mad, cookie);
	memset(mad, 0xee, sizeof(mad));
	return error;
}

static int ask(uint64_t tid, uint64_t cookie)
{
	return ask_from(0, tid, cookie);
}

static void reply(uint32_t request)
{
	fake_answer(&fake.requests[request], fake.requests[request].mad, 256);
}

static uint64_t tid_of(const uint8_t *mad)
{
	uint64_t tid = 0;

	for (int i = 0; i < 8; i++)
		tid = tid << 8 | mad[8 + i];
	return tid;
}

static void asks_the_ports_sm(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	device = fake_add_device("mlx5_0");
	device->port_count = 2;
	assert_int_equal(world.transport->ops->start(world.transport), 0);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(ask(0x1122334455667788, 9), 0);
	assert_int_equal(fake.requests[0].lid, 1);
	assert_int_equal(fake.requests[0].sl, 3);
	assert_int_equal(fake.requests[0].qpn, 1);
	assert_int_equal(fake.requests[0].qkey, 0x80010000);
	assert_int_equal(fake.requests[0].pkey_index, 1);
	assert_int_equal(fake.requests[0].mad[3], 0x81);
	reply(0);
	world_expect(&world, ACM_EVENT_SA_ANSWER);
	assert_int_equal(world.event.sa.cookie, 9);
	assert_int_equal(world.event.sa.length, 256);
	assert_true(tid_of(world.event.sa.mad) == 0x1122334455667788);
	world_expect_nothing(&world);
	/* The SM as it is now, also before the change was pulled: the other port's was first. */
	device->ports[1].sm_lid = 42;
	fake_async(device, IBV_EVENT_SM_CHANGE, 2);
	fake_async(device, IBV_EVENT_SM_CHANGE, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->port, 0);
	assert_int_equal(ask_from(1, 2, 10), 0);
	assert_int_equal(fake.requests[1].lid, 42);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->port, 1);
	device->ports[0].sm_lid = 0;
	fake_async(device, IBV_EVENT_PORT_ERR, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(ask(3, 11), -ENETDOWN);
	world_close(&world);
}

static void long_answers_come_whole(void **state)
{
	(void)state;
	static const uint32_t lengths[] = {256, 257, 5000, 1000000, 24, 56};

	world_start(&world);
	for (uint32_t i = 0; i < 6; i++) {
		uint8_t *mad = malloc(lengths[i]);

		assert_non_null(mad);
		for (uint32_t j = 0; j < lengths[i]; j++)
			mad[j] = (uint8_t)(j * 7 + j / 251);
		assert_int_equal(ask(100 + i, i), 0);
		memcpy(mad + 8, fake.requests[i].mad + 8, 8);
		fake_answer(&fake.requests[i], mad, lengths[i]);
		world_expect(&world, ACM_EVENT_SA_ANSWER);
		assert_int_equal(world.event.sa.cookie, i);
		assert_int_equal(world.event.sa.length, lengths[i]);
		assert_memory_equal(world.event.sa.mad, mad, lengths[i]);
		free(mad);
	}
	world_close(&world);
}

static void answers_come_in_any_order_and_once(void **state)
{
	(void)state;
	world_start(&world);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(ask(1000 + i, i), 0);
	for (uint32_t i = 40; i-- > 0;) {
		reply(i);
		reply(i); /* an SA that answers twice */
	}
	for (uint32_t i = 40; i-- > 0;) {
		world_expect(&world, ACM_EVENT_SA_ANSWER);
		assert_int_equal(world.event.sa.cookie, i);
		assert_true(tid_of(world.event.sa.mad) == 1000 + i);
	}
	world_expect_nothing(&world);
	world_close(&world);
}

static void what_was_cancelled_is_forgotten(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct acm_transport *transport = world.transport;

	/* Under way, answered later. */
	assert_int_equal(ask(1, 1), 0);
	transport->ops->sa_cancel(transport, 1);
	transport->ops->sa_cancel(transport, 1);
	reply(0);
	assert_int_equal(ask(3, 3), 0);
	reply(1);
	world_expect(&world, ACM_EVENT_SA_ANSWER);
	assert_int_equal(world.event.sa.cookie, 3);
	world_expect_nothing(&world);
	/* Over, and not pulled. */
	assert_int_equal(ask(4, 4), 0);
	assert_int_equal(ask(5, 5), 0);
	fake_remove_device(device);
	world_expect(&world, ACM_EVENT_PORT_REMOVED);
	transport->ops->sa_cancel(transport, 4);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	assert_int_equal(world.event.failed.cookie, 5);
	world_expect_nothing(&world);
	world_close(&world);
}

static void a_request_that_the_kernel_gives_up_fails(void **state)
{
	(void)state;
	world_start(&world);
	assert_int_equal(ask(1, 1), 0);
	fake_give_up(&fake.requests[0], ETIMEDOUT);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	assert_int_equal(world.event.failed.cookie, 1);
	assert_int_equal(world.event.failed.status, -ETIMEDOUT);
	world_expect_nothing(&world);
	fake.request_errno = EINVAL;
	assert_int_equal(ask(2, 2), -EINVAL);
	fake.request_errno = EAGAIN;
	assert_int_equal(ask(2, 2), -ENOBUFS); /* nothing is under way that could end */
	fake.request_errno = 0;
	assert_int_equal(ask(2, 2), 0);
	assert_int_equal(ask(2, 3), -EEXIST); /* their answers could not be told apart */
	world_close(&world);
}

/* No longer than the user waits: the kernel lets out only so many that it has not forgotten. */
static void the_kernel_holds_a_request_as_long_as_it_is_waited_for(void **state)
{
	(void)state;
	struct verbs_options options = {.sa_timeout_ms = 2000, .sa_tries = 3};
	struct acm_transport *transport;

	fake_reset();
	fake_add_device("mlx5_0"); /* whose subnet time-out is 18: 1,073 ms */
	assert_int_equal(verbs_transport_create(&options, &transport), 0);
	world.transport = transport;
	assert_int_equal(transport->ops->start(transport), 0);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(ask(1, 1), 0);
	assert_in_range(fake.requests[0].timeout_ms, 3 * 3073, 3 * 3075);
	world_close(&world);
	world_start(&world);
	assert_int_equal(ask(1, 1), 0);
	assert_int_equal(fake.requests[0].timeout_ms, 60000);
	world_close(&world);
}

/* It lets out only so many at the same time, and would wait for answers of one that is gone. */
static void the_kernel_forgets_what_another_sm_was_asked(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct fake_port *port = &device->ports[0];
	struct acm_transport *transport = world.transport;

	assert_int_equal(ask(1, 1), 0);
	assert_int_equal(ask(2, 2), 0);
	transport->ops->sa_cancel(transport, 1);
	port->sm_lid = 44;
	fake_async(device, IBV_EVENT_SM_CHANGE, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_false(port->agents & 1u << fake.requests[0].agent);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	assert_int_equal(world.event.failed.cookie, 2);
	assert_int_equal(world.event.failed.status, -ECANCELED);
	assert_int_equal(ask(3, 3), 0);
	assert_true(fake.requests[2].agent != fake.requests[0].agent);
	reply(2);
	world_expect(&world, ACM_EVENT_SA_ANSWER);
	/* One that has begun anew at the same place. Without anything held there is nothing to do.
	 */
	fake_async(device, IBV_EVENT_CLIENT_REREGISTER, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_expect(&world, ACM_EVENT_REREGISTER);
	assert_true(port->agents & 1u << fake.requests[2].agent);
	assert_int_equal(ask(4, 4), 0);
	fake_async(device, IBV_EVENT_CLIENT_REREGISTER, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_expect(&world, ACM_EVENT_REREGISTER);
	assert_false(port->agents & 1u << fake.requests[2].agent);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	/* When there can be no other agent, the one there is goes on. */
	assert_int_equal(ask(5, 5), 0);
	fake_async(device, IBV_EVENT_CLIENT_REREGISTER, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	fake.fail_first = fake.calls + 1;
	fake.fail_count = 1;
	world_expect(&world, ACM_EVENT_REREGISTER);
	assert_string_equal(fake.failed, "umad_register");
	reply(4);
	world_expect(&world, ACM_EVENT_SA_ANSWER);
	assert_int_equal(world.event.sa.cookie, 5);
	world_close(&world);
}

static void a_file_that_hangs_up_is_no_loop(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);

	assert_int_equal(ask(1, 1), 0);
	fake_hang_up_umad(&device->ports[0]);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	world_expect_nothing(&world);
	assert_int_equal(ask(2, 2), -ENODEV);
	verbs_transport_rescan(world.transport);
	assert_int_equal(ask(2, 2), 0);
	world_close(&world);
}

static void an_answer_without_end_is_none(void **state)
{
	(void)state;
	uint32_t length = 4u << 20;
	uint8_t *mad = calloc(1, length);

	assert_non_null(mad);
	world_start(&world);
	assert_int_equal(ask(1, 1), 0);
	memcpy(mad, fake.requests[0].mad, 256);
	fake_answer(&fake.requests[0], mad, length);
	free(mad);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	assert_int_equal(world.event.failed.cookie, 1);
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "Message too long"), 1);
	verbs_transport_rescan(world.transport);
	assert_int_equal(ask(2, 2), 0);
	world_close(&world);
}

static void the_window_is_bounded_and_goes_on(void **state)
{
	(void)state;
	struct acm_transport_caps caps;
	uint64_t count = 0;

	world_start(&world);
	world.transport->ops->capabilities(world.transport, &caps);
	assert_true(caps.flags & ACM_TRANSPORT_RMPP);
	while (!ask(1000 + count, count))
		count++;
	assert_int_equal(count, caps.sa_window);
	assert_int_equal(ask(1, 1), -EAGAIN);
	world_expect_nothing(&world);
	reply(5);
	world_expect(&world, ACM_EVENT_WRITABLE);
	world_expect(&world, ACM_EVENT_SA_ANSWER);
	assert_int_equal(ask(1, 1), 0);
	assert_int_equal(ask(2, 2), -EAGAIN);
	world.transport->ops->sa_cancel(world.transport, 7);
	world_expect(&world, ACM_EVENT_WRITABLE);
	assert_int_equal(ask(2, 2), 0);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_the_ports_sm),
		cmocka_unit_test(long_answers_come_whole),
		cmocka_unit_test(answers_come_in_any_order_and_once),
		cmocka_unit_test(what_was_cancelled_is_forgotten),
		cmocka_unit_test(a_request_that_the_kernel_gives_up_fails),
		cmocka_unit_test(the_kernel_holds_a_request_as_long_as_it_is_waited_for),
		cmocka_unit_test(the_kernel_forgets_what_another_sm_was_asked),
		cmocka_unit_test(a_file_that_hangs_up_is_no_loop),
		cmocka_unit_test(an_answer_without_end_is_none),
		cmocka_unit_test(the_window_is_bounded_and_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
