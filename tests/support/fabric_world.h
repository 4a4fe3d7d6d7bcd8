/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric under a fake control with some of its nodes in use, each with one endpoint. Whatever
 * does not go as it must fails the test. Every look at the counters checks that they add up.
 */
#ifndef ACMITE_TEST_FABRIC_WORLD_H
#define ACMITE_TEST_FABRIC_WORLD_H

#include "fabric.h"
#include "fake_control.h"
#include "small_topology.h"

#include <acmite/engine.h>
#include <acmite/wire.h>

#define WORLD_NODES 6
#define WORLD_DEPTH 16 /* receive buffers that world_set_up_star() gives each endpoint */

struct node {
	struct acm_transport *transport;
	uint32_t index; /* in the topology */
	uint32_t qpn;
	struct acm_event event; /* the last one pulled */
};

struct world {
	struct sim_topology *topology;
	struct fake_control *control;
	struct sim_fabric *fabric;
	struct node nodes[WORLD_NODES];
};

extern const struct acm_gid world_group;
extern const struct acm_gid world_other_group;

/* Takes over the topology. No node is in use yet. */
void world_set_up(struct world *world, struct sim_topology *topology);
/* node1 ... nodeN on one switch, in use, with an endpoint in the default partition each. */
void world_set_up_star(struct world *world, int count);
void world_tear_down(struct world *world);

/* Node number i from now on; started. */
void world_attach(struct world *world, int i, const char *name);
void world_open(struct node *node, uint16_t pkey, uint32_t qkey, uint32_t depth);
/* Makes the node's port a member, and attaches its endpoint. The MLID. */
uint16_t world_join(struct world *world, int i, const struct acm_gid *mgid);
const struct acm_port_facts *world_facts(struct world *world, int i);

/* "hello" to a node's endpoint, or to world_group. */
struct acm_datagram world_unicast_to(struct world *world, int i);
struct acm_datagram world_multicast_to(uint16_t mlid);
/* As the transport's send(). */
int world_try_send(struct world *world, int from, const struct acm_datagram *datagram);
void world_send(struct world *world, int from, struct acm_datagram datagram);

/* Lets time pass until nothing is due any more. */
void world_run(struct world *world);
/* Pulls the next event. False: there is none. */
bool world_pull(struct node *node);
/* Pulls the next event, which must be there and of this type. */
void world_expect(struct node *node, enum acm_event_type type);
/* Pulls all that is there, which must be datagrams that say hello. Their number. */
uint32_t world_take_datagrams(struct world *world, int i);

struct sim_fabric_stats world_stats(const struct world *world);
/* So many have been lost for this cause, and none for another. */
void world_assert_drops(const struct world *world, enum sim_drop cause, uint64_t count);

#endif
