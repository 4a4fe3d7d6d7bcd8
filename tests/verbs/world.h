/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A verbs transport on the fake hardware, and what it has said. */
#ifndef ACMITE_TEST_VERBS_WORLD_H
#define ACMITE_TEST_VERBS_WORLD_H

#include "fake_hardware.h"
#include "verbs_transport.h"

#define WORLD_QKEY  0x80110011
#define WORLD_DEPTH 16

struct world {
	struct acm_transport *transport;
	struct acm_event event; /* pulled last */
	uint32_t notice_count;
	char notices[32][256];
};

/* No device yet. The transport is not started. */
void world_open(struct world *world);
/* Destroys the transport; fails when anything of it is left. */
void world_close(struct world *world);
/* The next event must be of this type. */
void world_expect(struct world *world, enum acm_event_type type);
void world_expect_nothing(struct world *world);
/* Starts with one device, mlx5_0, whose port 0 is told; opens endpoint 1 on it. */
struct fake_device *world_start(struct world *world);
struct fake_queue_pair *world_open_endpoint(struct world *world, uint32_t endpoint);
/* How many notices contain the text. */
uint32_t world_said(const struct world *world, const char *text);

#endif
