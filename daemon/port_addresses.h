/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which addresses a port of this node has: those of the address file's lines for it, or without
 * such a file those that the fabric's topology gives the node, or on hardware the host's name.
 *
 * Those that append to a list return 0 or -ENOMEM.
 */
#ifndef ACMITE_DAEMON_PORT_ADDRESSES_H
#define ACMITE_DAEMON_PORT_ADDRESSES_H

#include <acmite/engine.h>
#include "address_file.h"
#include "local_addresses.h"

/* Those of the file's lines for the port, whether or not it has their P_Key. */
int port_addresses_of_file(struct local_addresses *addresses, const struct acm_port_facts *facts,
			   const struct address_file *file);
/* Whether the port is the one of this line of the file, and has its P_Key. */
bool port_addresses_serves(const struct acm_port_facts *facts, const struct address_entry *entry);

/* What a topology gives a node is its first port's, in the default partition. */
int port_addresses_of_node(struct local_addresses *addresses, const struct acm_port_facts *facts,
			   const struct acm_address *given, uint32_t count);

/* The host's name up to its first dot, as ib_acme -A writes it; type NONE: it has none. */
void port_addresses_host(struct acm_address *host);
/* It is every port's, in each of its partitions. */
int port_addresses_of_host(struct local_addresses *addresses, const struct acm_port_facts *facts,
			   const struct acm_address *host);

#endif
