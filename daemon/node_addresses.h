/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses of this daemon's node, as its ports come, change and go. What ports there are is
 * what the node's engine was told; a line of the address file whose device, port or P_Key is not
 * there is told to people, as it may be mistaken, or its port may come later.
 */
#ifndef ACMITE_DAEMON_NODE_ADDRESSES_H
#define ACMITE_DAEMON_NODE_ADDRESSES_H

#include "backend.h"

struct node_addresses_hooks {
	/* Without an address file: appends those of one port. 0 or -ENOMEM. */
	int (*of_port)(void *context, const struct acm_port_facts *facts,
		       struct local_addresses *addresses);
	/* Feeds the node's engine. As acm_engine_step(). */
	int (*step)(void *context, const struct acm_event *event);
	void *context;
};

struct noted_port;

/* All zero: of a node that is not followed yet. */
struct node_addresses {
	const struct daemon_backend_setup *setup;
	const struct acm_engine *engine;
	struct node_addresses_hooks hooks;
	struct local_addresses now;
	uint32_t port_count;
	struct noted_port *ports;
	bool untold; /* what has no place may be other than what people were told */
	const struct address_entry *first; /* of the lines that were told to have none */
	size_t count;                      /* of these */
};

/* `setup` and `engine` must outlive it. */
void node_addresses_init(struct node_addresses *addresses, const struct daemon_backend_setup *setup,
			 const struct acm_engine *engine, const struct node_addresses_hooks *hooks);
void node_addresses_free(struct node_addresses *addresses);

/*
 * Where ports have changed, gives the engine what that adds to the addresses, and takes what is
 * not there any more. 0, -ENOMEM, or as acm_engine_step().
 */
int node_addresses_follow(struct node_addresses *addresses, uint64_t now);
/* One notice when the lines of the address file that have no place are others than before. */
void node_addresses_tell(struct node_addresses *addresses);

#endif
