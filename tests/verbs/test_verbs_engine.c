/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine on the transport: what becomes of queue pairs when something changes in the port. */
#include "world.h"

#include <acmite/driver.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct world world;
static struct fake_device *device;
static struct acm_engine *engine;
static struct acm_driver *driver;
static uint64_t now;

static void *allocate(void *context, size_t size)
{
	(void)context;
	return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static void reply(void *context, const struct acm_reply *sent)
{
	(void)context;
	(void)sent;
}

/* Long enough for any repetition that is due. */
static void run(void)
{
	now += ACM_NSEC_PER_SEC / 10;
	assert_int_equal(acm_driver_run(driver, now), 0);
}

static void add_address(uint16_t pkey, const char *name)
{
	struct acm_local_address address = {.port = 0, .pkey = pkey};
	struct acm_event event = {
		.type = ACM_EVENT_ADDRESS_ADDED, .time = now, .address = &address};

	address.address.type = ACM_ADDRESS_NAME;
	strcpy((char *)address.address.data, name);
	address.address.length = (uint8_t)strlen(name);
	strcpy(address.text, name);
	assert_int_equal(acm_driver_step(driver, &event), 0);
}

/* With a queue pair in each of the port's two partitions. */
static int set_up(void **state)
{
	(void)state;
	struct acm_engine_config config;
	struct acm_allocator allocator = {.alloc = allocate, .free = release};
	struct acm_driver_hooks hooks = {.reply = reply};

	world_open(&world);
	device = fake_add_device("mlx5_0");
	now = 1;
	acm_engine_config_default(&config);
	config.recv_depth = WORLD_DEPTH;
	assert_int_equal(acm_engine_create(&config, &allocator, &engine), 0);
	assert_int_equal(acm_driver_create(engine, world.transport, &hooks, &allocator, &driver),
			 0);
	assert_int_equal(acm_driver_start(driver, now), 0);
	run();
	add_address(0xffff, "one");
	add_address(0x8123, "two");
	run();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	acm_driver_destroy(driver);
	acm_engine_destroy(engine);
	world_close(&world);
	return 0;
}

/* The queue pair with this index, and how many there are in all. */
static struct fake_queue_pair *find(uint16_t pkey_index, uint32_t *count)
{
	struct fake_queue_pair *found = NULL;

	*count = 0;
	for (int i = 0; i < FAKE_QUEUE_PAIRS; i++) {
		struct fake_queue_pair *at = &fake.queue_pairs[i];

		if (!at->used)
			continue;
		++*count;
		if (at->pkey_index == pkey_index)
			found = at;
	}
	return found;
}

static void expect_indices(uint16_t one, uint16_t other)
{
	uint32_t count;

	assert_non_null(find(one, &count));
	assert_non_null(find(other, &count));
	assert_int_equal(count, 2);
}

/* A queue pair keeps the index that it was made with. */
static void a_pkey_that_moves_takes_its_queue_pair_with_it(void **state)
{
	(void)state;
	uint16_t *pkeys = device->ports[0].pkeys;

	expect_indices(0, 1);
	pkeys[3] = pkeys[1];
	pkeys[1] = 0;
	fake_async(device, IBV_EVENT_PKEY_CHANGE, 1);
	run();
	expect_indices(0, 3);
	pkeys[2] = 0x7fff; /* and one that is only a limited member now */
	pkeys[0] = 0;
	fake_async(device, IBV_EVENT_PKEY_CHANGE, 1);
	run();
	expect_indices(2, 3);
}

static void other_changes_leave_queue_pairs_alone(void **state)
{
	(void)state;
	static const enum ibv_event_type changes[] = {
		IBV_EVENT_LID_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_CLIENT_REREGISTER,
		IBV_EVENT_GID_CHANGE, IBV_EVENT_PORT_ERR,  IBV_EVENT_PORT_ACTIVE};
	struct fake_port *port = &device->ports[0];
	uint32_t count, before = fake_last_queue_pair()->pair.qp_num;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		port->lid++;
		port->sm_lid = (uint16_t)(port->sm_lid + 2);
		port->prefix++;
		port->state = changes[i] == IBV_EVENT_PORT_ERR ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
		fake_async(device, changes[i], 1);
		run();
		assert_non_null(find(1, &count));
		assert_int_equal(count, 2);
		assert_int_equal(fake_last_queue_pair()->pair.qp_num, before);
	}
	/* It asks the SM that there is now. */
	assert_true(fake.request_count > 0);
	run();
	assert_int_equal(fake.requests[fake.request_count - 1].lid, port->sm_lid);
}

/* As when a device is reset: both come back with all of theirs. */
static void a_device_that_fails_comes_back_with_its_queue_pairs(void **state)
{
	(void)state;
	uint32_t count;

	fake_async(device, IBV_EVENT_DEVICE_FATAL, 0);
	run();
	find(0, &count);
	assert_int_equal(count, 0);
	verbs_transport_rescan(world.transport);
	run();
	expect_indices(0, 1);
}

/* Without the privilege for the Q_Key, or memory, for a while. */
static void what_cannot_be_opened_is_opened_later(void **state)
{
	(void)state;
	uint32_t count;

	fake_async(device, IBV_EVENT_DEVICE_FATAL, 0);
	fake.modify_error = EPERM;
	run();
	verbs_transport_rescan(world.transport);
	for (int i = 0; i < 100; i++)
		run();
	find(0, &count);
	assert_int_equal(count, 0);
	assert_int_equal(world_said(&world, "CAP_NET_RAW"), 1);
	fake.modify_error = 0;
	for (int i = 0; i < 400; i++)
		run();
	expect_indices(0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pkey_that_moves_takes_its_queue_pair_with_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_changes_leave_queue_pairs_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_device_that_fails_comes_back_with_its_queue_pairs,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_opened_is_opened_later, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
