/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ports of a node on a transport of their own: the engine that answers for them with its
 * driver, its addresses, and when it counts as ready. What backends have in common that serve one
 * node only; they put it first in their own object.
 */
#ifndef ACMITE_DAEMON_SERVED_NODE_H
#define ACMITE_DAEMON_SERVED_NODE_H

#include "node_addresses.h"

struct served_node {
	struct daemon_backend base;
	struct daemon_backend_setup setup;
	const char *name; /* as people know it */
	struct acm_transport *transport;
	struct acm_engine *engine;
	struct acm_driver *driver;
	struct node_addresses addresses;
	uint64_t ready_at; /* at the latest; ACM_NEVER: it is ready */
};

/* Copies `setup`. To be followed by served_node_fini(), whatever comes of it. */
void served_node_init(struct served_node *node, const struct daemon_backend_ops *operations,
		      const struct daemon_backend_setup *setup, const char *name);
/*
 * Starts the engine on node->transport, which was created meanwhile and is the node's. `of_port`
 * is given the node: see node_addresses.h. 0, or negative errno as the engine's, the driver's and
 * the transport's functions.
 */
int served_node_start(struct served_node *node,
		      int (*of_port)(void *node, const struct acm_port_facts *facts,
				     struct local_addresses *addresses),
		      uint64_t now);
void served_node_fini(struct served_node *node);

/* Moves everything that is due, addresses too. As the operation process(). */
int served_node_run(struct served_node *node, uint64_t now, char *why, size_t size);
/* Afterwards: once it is ready, people are told which addresses have no place. */
void served_node_settle(struct served_node *node, uint64_t now);

/* Operations of struct daemon_backend_ops. */
int served_node_step(struct daemon_backend *base, const struct acm_event *event);
int served_node_fd(const struct daemon_backend *base);
uint64_t served_node_deadline(const struct daemon_backend *base);
uint32_t served_node_unready(const struct daemon_backend *base, const char **what);
const struct local_addresses *served_node_addresses(const struct daemon_backend *base);

#endif
