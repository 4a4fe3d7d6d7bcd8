/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the suite does with the two nodes of a fixture. Whatever does not come fails the test. */
#ifndef ACMITE_TEST_PAIR_H
#define ACMITE_TEST_PAIR_H

#include "fixture.h"

#include <acmite/engine.h>
#include <acmite/wire.h>

/* The endpoint that open_both() makes, on either node. */
#define ENDPOINT 11
#define DEPTH    64

struct node {
	struct acm_transport *transport;
	struct acm_port_facts facts; /* of its port, when it was started */
	uint32_t qpn;                /* of its endpoint */
	struct acm_event event;      /* the last one pulled */
	uint32_t wake_count;
	bool woken; /* since it was set to false */
};

struct pair {
	const struct fixture *fixture;
	void *fabric;
	struct node nodes[2];
};

/* Attaches; starts both; opens an endpoint in the default partition on each. */
void pair_attach(struct pair *pair);
void pair_start(struct pair *pair);
void pair_open(struct pair *pair);
/* Destroys what pair_attach() made. */
void pair_detach(struct pair *pair);

/* Lets time pass; fails the test when nothing can happen any more, or too much time has passed
 * since `begin`, which is 0 at first. */
void pair_wait(struct pair *pair, uint64_t *begin);
/* Pulls an event. False: none. Port events, which may come at any time, are passed over. */
bool pair_pull(struct node *node);
/* Waits for the node's next event, which must be of this type. */
void pair_await(struct pair *pair, struct node *node, enum acm_event_type type);
/* Whether the transport has a descriptor that tells of events. */
bool pair_has_fd(const struct node *node);
/* Whether the node has been told that there may be events: by its waker or by the descriptor. */
bool pair_is_told(const struct node *node);
/* Waits for that. */
void pair_await_told(struct pair *pair, const struct node *node);
/* Has the node's wake_count count, from 0. */
void pair_count_wakes(struct node *node);

/* From one endpoint to the other node's. What the payload points to is the caller's to set. */
struct acm_datagram pair_datagram(const struct node *to);
void pair_send(const struct node *from, const struct acm_datagram *datagram);

/* Discards what is on its way from a node to another, or to itself, or has arrived there. */
void pair_flush(struct pair *pair, struct node *from, struct node *to);

/* MGID of the group that the tests use: of the ports' own rate and MTU. */
struct acm_gid pair_group(const struct pair *pair);
/* Joins by the SA, and gives the MLID; then attaches the endpoint. */
uint16_t pair_join(struct pair *pair, struct node *node);
struct acm_datagram pair_multicast(const struct pair *pair, uint16_t mlid);
/* Sends to the group until the node has had one: from then on its tree is there. */
void pair_await_group(struct pair *pair, struct node *from, struct node *to, uint16_t mlid);

/* Has both join, and get what either sends; nothing is on its way afterwards. The MLID. */
uint16_t pair_gather(struct pair *pair);

/* Asks for the path to the other node. As sa_send(). */
int pair_ask_path(const struct node *from, const struct node *to, uint64_t tid, uint64_t cookie);

#endif
