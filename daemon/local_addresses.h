/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_LOCAL_ADDRESSES_H
#define ACMITE_DAEMON_LOCAL_ADDRESSES_H

#include <acmite/engine.h>
#include "address_file.h"
#include "topology.h"

/* The addresses that this node answers for, first come first used as source. */
struct local_addresses {
	struct acm_local_address *list;
	size_t count;
};

/* Those that the topology gives the node. 0 or -ENOMEM. */
int local_addresses_of_node(struct local_addresses *addresses, const struct sim_node *node);
/*
 * Those that the file has for devices and ports of the node; how many it has for others is told as
 * a warning. 0 or -ENOMEM.
 */
int local_addresses_of_file(struct local_addresses *addresses, const struct sim_node *node,
			    const struct address_file *file, const char *path,
			    struct problems *problems);
void local_addresses_free(struct local_addresses *addresses);

/* The first one of the destination's type, or NULL. */
const struct acm_address *local_addresses_source(const struct local_addresses *addresses,
						 const struct acm_address *destination);

#endif
