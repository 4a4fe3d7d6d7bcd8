/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void keep_notice(void *context, const char *text)
{
	struct world *world = context;

	assert_true(world->notice_count < 32);
	snprintf(world->notices[world->notice_count++], sizeof(world->notices[0]), "%s", text);
}

void world_open(struct world *world)
{
	struct verbs_options options = {.notice = keep_notice, .context = world};

	fake_reset();
	memset(world, 0, sizeof(*world));
	assert_int_equal(verbs_transport_create(&options, &world->transport), 0);
}

void world_close(struct world *world)
{
	world->transport->ops->destroy(world->transport);
	assert_int_equal(fake.handle_count, 0);
	assert_int_equal(fake.region_count, 0);
	assert_int_equal(fake.events_unacknowledged, 0);
	assert_int_equal(fake.handles_missed, 0);
	assert_int_equal(fake.buffers_shared, 0);
	assert_int_equal(fake.agents_lost, 0);
	for (int i = 0; i < FAKE_DEVICES; i++) {
		assert_false(fake.devices[i].open);
		for (int port = 0; fake.devices[i].present && port < FAKE_PORTS; port++)
			assert_int_equal(fake.devices[i].ports[port].umad_fd, -1);
	}
	for (int i = 0; i < FAKE_QUEUE_PAIRS; i++)
		assert_false(fake.queue_pairs[i].used);
	fake_reset();
}

void world_expect(struct world *world, enum acm_event_type type)
{
	assert_int_equal(world->transport->ops->next_event(world->transport, &world->event), 1);
	assert_int_equal(world->event.type, type);
}

void world_expect_nothing(struct world *world)
{
	assert_int_equal(world->transport->ops->next_event(world->transport, &world->event), 0);
}

struct fake_queue_pair *world_open_endpoint(struct world *world, uint32_t endpoint)
{
	assert_int_equal(world->transport->ops->open_endpoint(world->transport, endpoint, 0, 0xffff,
							      WORLD_QKEY, WORLD_DEPTH),
			 0);
	world_expect(world, ACM_EVENT_ENDPOINT_OPENED);
	assert_int_equal(world->event.opened.endpoint, endpoint);
	assert_int_equal(world->event.opened.status, 0);
	return fake_queue_pair(world->event.opened.qpn);
}

struct fake_device *world_start(struct world *world)
{
	struct fake_device *device;

	world_open(world);
	device = fake_add_device("mlx5_0");
	assert_int_equal(world->transport->ops->start(world->transport), 0);
	world_expect(world, ACM_EVENT_PORT_CHANGED);
	world_expect_nothing(world);
	return device;
}

uint32_t world_said(const struct world *world, const char *text)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < world->notice_count; i++)
		count += strstr(world->notices[i], text) != NULL;
	return count;
}
