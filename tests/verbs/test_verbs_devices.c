/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which devices and ports are served, what is said of the others, and what changes in them. */
#include "world.h"

#include <acmite/wire.h>
#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct world world;

static void start(void)
{
	assert_int_equal(world.transport->ops->start(world.transport), 0);
}

static void rescan(void)
{
	verbs_transport_rescan(world.transport);
}

static void tells_all_of_a_port(void **state)
{
	(void)state;
	struct fake_device *device;
	const struct acm_port_facts *facts;

	world_open(&world);
	device = fake_add_device("mlx5_0");
	device->port_count = 2;
	device->ports[1].state = IBV_PORT_DOWN;
	device->ports[1].speed = 8;   /* FDR10 */
	world_expect_nothing(&world); /* before the start */
	start();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	facts = world.event.port_facts;
	assert_int_equal(facts->port, 0);
	assert_string_equal(facts->device, "mlx5_0");
	assert_int_equal(facts->device_guid, device->guid);
	assert_int_equal(facts->number, 1);
	assert_int_equal(facts->port_count, 2);
	assert_int_equal(facts->state, ACM_PORT_ACTIVE);
	assert_int_equal(facts->lid, 5);
	assert_int_equal(facts->sm_lid, 1);
	assert_int_equal(facts->sm_sl, 3);
	assert_int_equal(facts->subnet_timeout, 18);
	assert_int_equal(facts->mtu, acm_mtu_code(4096));
	assert_int_equal(facts->rate, acm_rate_code(1000));
	assert_int_equal(facts->gid_count, 1);
	assert_int_equal(facts->gids[0].raw[0], 0xfe);
	assert_int_equal(facts->gids[0].raw[14], 0x20);
	assert_int_equal(facts->pkey_count, 2);
	assert_int_equal(facts->pkeys[1], 0x8123);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->port, 1);
	assert_int_equal(world.event.port_facts->state, ACM_PORT_DOWN);
	assert_int_equal(world.event.port_facts->rate, acm_rate_code(400));
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "port 1: served"), 1);
	world_close(&world);
}

static void no_device_is_said_once_and_served_when_it_comes(void **state)
{
	(void)state;
	world_open(&world);
	start();
	world_expect_nothing(&world);
	rescan();
	rescan();
	assert_int_equal(world_said(&world, "there is no InfiniBand device"), 1);
	fake_add_device("mlx5_0");
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_expect_nothing(&world);
	rescan();
	world_expect_nothing(&world);
	world_close(&world);
}

static void no_kernel_support_is_said(void **state)
{
	(void)state;
	world_open(&world);
	fake.list_errno = ENOSYS;
	start();
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "modprobe ib_uverbs"), 1);
	world_close(&world);
}

static void leaves_out_ethernet_ports(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	device = fake_add_device("mlx5_0");
	device->port_count = 2;
	device->ports[0].link_layer = IBV_LINK_LAYER_ETHERNET;
	start();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->number, 2);
	assert_int_equal(world.event.port_facts->port, 0);
	world_expect_nothing(&world);
	rescan();
	assert_int_equal(world_said(&world, "mlx5_0 port 1 is left out"), 1);
	/* Its events harm nobody. */
	fake_async(device, IBV_EVENT_PORT_ACTIVE, 1);
	fake_async(device, IBV_EVENT_GID_CHANGE, 1);
	fake_async(device, IBV_EVENT_CLIENT_REREGISTER, 9);
	world_expect_nothing(&world);
	world_close(&world);
}

static void leaves_out_devices_without_infiniband(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	fake_add_device("cxgb4_0")->device.transport_type = IBV_TRANSPORT_IWARP;
	device = fake_add_device("rocep1s0");
	device->ports[0].link_layer = IBV_LINK_LAYER_ETHERNET;
	start();
	rescan();
	world_expect_nothing(&world);
	assert_false(device->open);
	assert_int_equal(world_said(&world, "cxgb4_0 is left out"), 1);
	assert_int_equal(world_said(&world, "rocep1s0 port 1 is left out"), 1);
	assert_int_equal(world.notice_count, 2);
	world_close(&world);
}

static void no_permission_is_said_once_and_tried_again(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	device = fake_add_device("mlx5_0");
	device->open_errno = EACCES;
	start();
	rescan();
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "/dev/infiniband/uverbs"), 1);
	device->open_errno = 0;
	device->ports[0].umad_error = -EIO;
	device->ports[0].umad_errno = EACCES;
	rescan();
	rescan();
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "/dev/infiniband/umad"), 1);
	device->ports[0].umad_error = -EOPNOTSUPP;
	rescan();
	assert_int_equal(world_said(&world, "modprobe ib_umad"), 1);
	device->ports[0].umad_error = 0;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_close(&world);
}

static void changes_close_together_are_told_once(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);

	device->ports[0].lid = 17;
	fake_async(device, IBV_EVENT_LID_CHANGE, 1);
	device->ports[0].sm_lid = 4;
	fake_async(device, IBV_EVENT_SM_CHANGE, 1);
	fake_async(device, IBV_EVENT_CLIENT_REREGISTER, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->lid, 17);
	assert_int_equal(world.event.port_facts->sm_lid, 4);
	world_expect(&world, ACM_EVENT_REREGISTER);
	assert_int_equal(world.event.port, 0);
	world_expect_nothing(&world);
	device->ports[0].state = IBV_PORT_DOWN;
	fake_async(device, IBV_EVENT_PORT_ERR, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->state, ACM_PORT_DOWN);
	world_close(&world);
}

static void the_index_of_a_pkey_is_looked_up_now(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct acm_transport *transport = world.transport;

	assert_int_equal(world_open_endpoint(&world, 1)->pkey_index, 0);
	/* Moved, without a word so far. */
	device->ports[0].pkeys[0] = 0x8123;
	device->ports[0].pkeys[1] = 0;
	device->ports[0].pkeys[2] = 0xffff;
	assert_int_equal(world_open_endpoint(&world, 2)->pkey_index, 2);
	assert_int_equal(transport->ops->open_endpoint(transport, 3, 0, 0x0123, WORLD_QKEY, 4), 0);
	world_expect(&world, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(fake_last_queue_pair()->pkey_index, 0); /* equal in 15 bits */
	assert_int_equal(fake_last_queue_pair()->qkey, WORLD_QKEY);
	assert_int_equal(transport->ops->open_endpoint(transport, 4, 0, 0x8777, WORLD_QKEY, 4),
			 -ENOENT);
	assert_int_equal(transport->ops->open_endpoint(transport, 4, 0, 0, WORLD_QKEY, 4), -ENOENT);
	assert_int_equal(transport->ops->open_endpoint(transport, 4, 1, 0xffff, WORLD_QKEY, 4),
			 -ENODEV);
	assert_int_equal(transport->ops->open_endpoint(transport, 3, 0, 0xffff, WORLD_QKEY, 4),
			 -EEXIST);
	world_close(&world);
}

static void a_device_that_goes_takes_all_with_it_and_comes_back(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct acm_transport *transport = world.transport;
	uint8_t mad[ACM_MAD_LENGTH] = {0};
	struct acm_datagram datagram = {.endpoint = 1, .qpn = 3};

	fake_deliver(world_open_endpoint(&world, 1), "x", 1);
	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 77), 0);
	world_expect(&world, ACM_EVENT_DATAGRAM);
	fake_remove_device(device);
	world_expect(&world, ACM_EVENT_PORT_REMOVED);
	assert_int_equal(world.event.port, 0);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	assert_int_equal(world.event.failed.cookie, 77);
	assert_int_equal(world.event.failed.status, -ENODEV);
	world_expect_nothing(&world);
	assert_false(device->open);
	assert_int_equal(transport->ops->send(transport, &datagram, 1), -ENOENT);
	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 78), -ENODEV);
	transport->ops->close_endpoint(transport, 1);
	rescan();
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "mlx5_0 is gone"), 1);
	/* Back, with the number that it had. */
	fake_add_device("mlx5_0")->ports[0].lid = 23;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->port, 0);
	assert_int_equal(world.event.port_facts->lid, 23);
	world_open_endpoint(&world, 2);
	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 79), 0);
	world_close(&world);
}

static void a_device_that_is_not_listed_any_more_is_closed(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world), *other = fake_add_device("mlx5_1");

	other->guid = device->guid; /* a virtual function has its parent's */
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->port, 1);
	assert_string_equal(verbs_transport_port(world.transport, 1)->device, "mlx5_1");
	device->present = false;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_REMOVED);
	assert_int_equal(world.event.port, 0);
	world_expect_nothing(&world);
	assert_true(other->open);
	assert_null(verbs_transport_port(world.transport, 0));
	assert_int_equal(verbs_transport_port_count(world.transport), 2);
	world_close(&world);
}

static void ib_umad_that_goes_and_comes_back_is_no_end(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct acm_transport *transport = world.transport;
	uint8_t mad[ACM_MAD_LENGTH] = {0};

	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 5), 0);
	fake_break_umad(&device->ports[0]);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	assert_int_equal(world.event.failed.cookie, 5);
	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 6), -ENODEV);
	device->ports[0].umad_broken = 0;
	rescan();
	world_expect_nothing(&world);
	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 7), 0);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_all_of_a_port),
		cmocka_unit_test(no_device_is_said_once_and_served_when_it_comes),
		cmocka_unit_test(no_kernel_support_is_said),
		cmocka_unit_test(leaves_out_ethernet_ports),
		cmocka_unit_test(leaves_out_devices_without_infiniband),
		cmocka_unit_test(no_permission_is_said_once_and_tried_again),
		cmocka_unit_test(changes_close_together_are_told_once),
		cmocka_unit_test(the_index_of_a_pkey_is_looked_up_now),
		cmocka_unit_test(a_device_that_goes_takes_all_with_it_and_comes_back),
		cmocka_unit_test(a_device_that_is_not_listed_any_more_is_closed),
		cmocka_unit_test(ib_umad_that_goes_and_comes_back_is_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
