/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which devices and ports are served, what is said of the others, and what changes in them. */
#include "world.h"

#include <acmite/wire.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

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

static void knows_the_rate_of_every_link(void **state)
{
	(void)state;
	static const struct {
		uint8_t width;
		uint16_t speed;
		uint32_t tenths_gbps;
	} links[] = {
		{1, 1, 25},     {2, 1, 100},     {8, 1, 300},    {2, 2, 200},     {2, 4, 400},
		{2, 8, 400},    {2, 16, 560},    {2, 32, 1000},  {16, 32, 500},   {2, 64, 2000},
		{16, 64, 1000}, {2, 128, 4000},  {4, 128, 8000}, {8, 128, 12000},
#ifdef VERBS_ACTIVE_SPEED_EX
		{2, 256, 8000}, {4, 256, 16000},
#else
		{2, 256, 4000}, /* it looks like NDR */
#endif
	};
	struct fake_device *device = world_start(&world);

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		device->ports[0].width = links[i].width;
		device->ports[0].speed = links[i].speed;
		fake_async(device, IBV_EVENT_PORT_ACTIVE, 1);
		world_expect(&world, ACM_EVENT_PORT_CHANGED);
		assert_int_equal(acm_rate_tenths_gbps(world.event.port_facts->rate),
				 links[i].tenths_gbps);
	}
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
	assert_string_equal(world.event.port_facts->device, "mlx5_1");
	device->present = false;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_REMOVED);
	assert_int_equal(world.event.port, 0);
	world_expect_nothing(&world);
	assert_true(other->open);
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
	assert_int_equal(world_said(&world, "its SA cannot be asked any more"), 1);
	assert_int_equal(world_said(&world, "its SA can be asked again"), 1);
	/* One whose agents the kernel has ended may say so only to who sends. */
	fake.request_errno = EIO;
	mad[15] = 1;
	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 8), -EIO);
	world_expect(&world, ACM_EVENT_SA_FAILED);
	assert_int_equal(world.event.failed.cookie, 7);
	world_expect_nothing(&world);
	fake.request_errno = 0;
	rescan();
	assert_int_equal(transport->ops->sa_send(transport, 0, 0, mad, 9), 0);
	world_close(&world);
}

/* On another kind of link, or without a word: it is another device of the same name. */
static void one_that_comes_back_at_once_is_looked_at_anew(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	device = fake_add_device("mlx4_0");
	device->ports[0].link_layer = IBV_LINK_LAYER_ETHERNET;
	start();
	rescan();
	world_expect_nothing(&world);
	fake_replace_device(device);
	device->ports[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	world_open_endpoint(&world, 1);
	fake_replace_device(device);
	rescan();
	world_expect(&world, ACM_EVENT_PORT_REMOVED);
	assert_int_equal(world.event.port, 0);
	/* That was not told yet, so its number was not free. */
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->port, 1);
	assert_int_equal(world_said(&world, "mlx4_0 went and came back"), 1);
	world_expect_nothing(&world);
	world_close(&world);
}

static void only_channel_adapters_are_served(void **state)
{
	(void)state;
	world_open(&world);
	fake_add_device("switch_0")->device.node_type = IBV_NODE_SWITCH;
	fake_add_device("usnic_0")->device.transport_type = IBV_TRANSPORT_USNIC;
	start();
	rescan();
	world_expect_nothing(&world);
	assert_int_equal(world_said(&world, "switch_0 is left out"), 1);
	assert_int_equal(world_said(&world, "usnic_0 is left out"), 1);
	world_close(&world);
}

static void what_changes_without_a_word_is_seen_later(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);
	struct fake_port *port = &device->ports[0];

	rescan();
	world_expect_nothing(&world);
	port->prefix = 0xfec0000000000001;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->gids[0].raw[1], 0xc0);
	assert_int_equal(world.event.port_facts->gids[0].raw[7], 1);
	port->sm_lid = 44;
	port->lmc = 2;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->sm_lid, 44);
	assert_int_equal(world.event.port_facts->lmc, 2);
	port->state = IBV_PORT_INIT;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->state, ACM_PORT_INIT);
	rescan();
	world_expect_nothing(&world);
	world_close(&world);
}

static void tables_that_cannot_be_read_are_read_later(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	device = fake_add_device("mlx5_0");
	device->ports[0].unreadable = true;
	start();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->pkey_count, 0);
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world_said(&world, "active without a P_Key"), 1);
	device->ports[0].unreadable = false;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->pkey_count, 2);
	assert_int_equal(world.event.port_facts->gid_count, 1);
	/* What was known stands until there is something newer. */
	device->ports[0].unreadable = true;
	fake_async(device, IBV_EVENT_PKEY_CHANGE, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->pkey_count, 2);
	assert_int_equal(world.event.port_facts->gid_count, 1);
	device->ports[0].unreadable = false;
	device->ports[0].pkeys[2] = 0x8456;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.event.port_facts->pkeys[2], 0x8456);
	world_close(&world);
}

/* Omni-Path's extended LIDs do not fit, and the kernel gives 0 for them. */
static void a_port_without_a_lid_is_told(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	device = fake_add_device("hfi1_0");
	device->ports[0].lid = 0;
	start();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	rescan();
	fake_async(device, IBV_EVENT_SM_CHANGE, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world_said(&world, "hfi1_0 port 1 is active without a LID of 16 bits"), 1);
	device->ports[0].lid = 7;
	device->ports[0].sm_lid = 0;
	fake_async(device, IBV_EVENT_LID_CHANGE, 1);
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world_said(&world, "without an SM"), 1);
	world_close(&world);
}

static int open_at(uint32_t endpoint, uint16_t pkey)
{
	return world.transport->ops->open_endpoint(world.transport, endpoint, 0, pkey, WORLD_QKEY,
						   WORLD_DEPTH);
}

static void why_no_queue_pair_can_be_opened_is_told_once(void **state)
{
	(void)state;
	world_start(&world);
	fake.region_errno = ENOMEM;
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(open_at(i, 0xffff), -ENOMEM);
	assert_int_equal(world_said(&world, "memory"), 1);
	fake.region_errno = 0;
	fake.modify_error = EPERM; /* newer kernels: the Q_Key's high bit is not for everybody */
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(open_at(i, i % 2 ? 0xffff : 0x8123), -EPERM);
	assert_int_equal(world_said(&world, "CAP_NET_RAW"), 1);
	assert_int_equal(world_said(&world, "no queue pair for P_Key 0xffff"), 2);
	fake.modify_error = 0;
	world_open_endpoint(&world, 1);
	/* And again when it is so again. */
	fake.modify_error = EPERM;
	assert_int_equal(open_at(2, 0xffff), -EPERM);
	assert_int_equal(world_said(&world, "CAP_NET_RAW"), 2);
	assert_int_equal(open_at(3, 0x8999), -ENOENT); /* a table that changes is no trouble */
	assert_int_equal(world.notice_count, 4);
	world_close(&world);
}

/* As it is for users who are not root, where nobody has raised it. */
static void too_little_locked_memory_is_told_with_the_limit(void **state)
{
	(void)state;
	struct rlimit before, small;

	world_start(&world);
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	small = before;
	small.rlim_cur = 64 << 10;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &small), 0);
	fake.region_errno = ENOMEM;
	assert_int_equal(open_at(1, 0xffff), -ENOMEM);
	assert_int_equal(world_said(&world, "at most 64 KiB may be locked"), 1);
	assert_int_equal(world_said(&world, "LimitMEMLOCK=infinity"), 1);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
	fake.region_errno = 0;
	world_open_endpoint(&world, 1);
	world_close(&world);
}

/* Whatever fails again and again has one line when it begins, and one when it is over. */
static void what_fails_at_each_look_is_told_once(void **state)
{
	(void)state;
	struct fake_device *device;

	world_open(&world);
	device = fake_add_device("mlx4_0");
	device->port_count = 2;
	device->ports[1].link_layer = IBV_LINK_LAYER_ETHERNET;
	device->without_pd = true;
	start();
	for (int i = 0; i < 5; i++)
		rescan();
	assert_int_equal(world.notice_count, 1);
	device->without_pd = false;
	rescan();
	world_expect(&world, ACM_EVENT_PORT_CHANGED);
	assert_int_equal(world.notice_count, 3); /* one served, one left out */
	/* The device. */
	for (int i = 0; i < 5; i++) {
		fake_async(device, IBV_EVENT_DEVICE_FATAL, 0);
		world_expect(&world, ACM_EVENT_PORT_REMOVED);
		rescan();
		world_expect(&world, ACM_EVENT_PORT_CHANGED);
	}
	assert_int_equal(world_said(&world, "mlx4_0 failed"), 1);
	assert_int_equal(world.notice_count, 4);
	rescan();
	rescan();
	assert_int_equal(world_said(&world, "mlx4_0 is served again"), 1);
	assert_int_equal(world.notice_count, 5);
	/* The SA. */
	for (int i = 0; i < 5; i++) {
		fake_break_umad(&device->ports[0]);
		world_expect_nothing(&world);
		rescan();
		device->ports[0].umad_broken = 0;
	}
	assert_int_equal(world_said(&world, "cannot be asked any more"), 1);
	assert_int_equal(world_said(&world, "can be asked again"), 1);
	assert_int_equal(world.notice_count, 7);
	world_close(&world);
}

/* What tells only that there is nothing to read must not be asked for ever. */
static void a_descriptor_at_its_end_is_the_devices_end(void **state)
{
	(void)state;
	struct fake_device *device = world_start(&world);

	device->ended = true;
	fake_async(device, IBV_EVENT_PORT_ACTIVE, 1);
	errno = EAGAIN;
	world_expect(&world, ACM_EVENT_PORT_REMOVED);
	assert_false(device->open);
	world_close(&world);
}

static void what_ib_umad_lacks_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int error;
		int error_number;
		const char *said;
	} cases[] = {
		{"mlx5_0", -EOPNOTSUPP, 0, "modprobe ib_umad"},
		{"mlx5_0", -EINVAL, ENOENT, "ib_umad does not have it"},
		{"roce_with_a_long_name", -EINVAL, ENOENT, "rdma dev set roce_with_a_long_name"},
		{"mlx5_0", -EIO, ENOENT, "a container has to be given it"},
		{"mlx5_0", -EIO, EPERM, "no permission for /dev/infiniband/umad"},
		{"mlx5_0", -EIO, EMFILE, "Too many open files"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_device *device;

		world_open(&world);
		device = fake_add_device(cases[i].name);
		device->ports[0].umad_error = cases[i].error;
		device->ports[0].umad_errno = cases[i].error_number;
		start();
		rescan();
		world_expect_nothing(&world);
		assert_int_equal(world_said(&world, cases[i].said), 1);
		assert_int_equal(world.notice_count, 1);
		device->ports[0].umad_error = 0;
		rescan();
		world_expect(&world, ACM_EVENT_PORT_CHANGED);
		world_close(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_all_of_a_port),
		cmocka_unit_test(knows_the_rate_of_every_link),
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
		cmocka_unit_test(one_that_comes_back_at_once_is_looked_at_anew),
		cmocka_unit_test(only_channel_adapters_are_served),
		cmocka_unit_test(what_changes_without_a_word_is_seen_later),
		cmocka_unit_test(tables_that_cannot_be_read_are_read_later),
		cmocka_unit_test(a_port_without_a_lid_is_told),
		cmocka_unit_test(why_no_queue_pair_can_be_opened_is_told_once),
		cmocka_unit_test(too_little_locked_memory_is_told_with_the_limit),
		cmocka_unit_test(what_fails_at_each_look_is_told_once),
		cmocka_unit_test(a_descriptor_at_its_end_is_the_devices_end),
		cmocka_unit_test(what_ib_umad_lacks_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
