/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses of this node where ports come and go: what the address file has for the ports that
 * are there, or without such a file the host's name, on every endpoint.
 */
#ifndef ACMITE_DAEMON_PORT_ADDRESSES_H
#define ACMITE_DAEMON_PORT_ADDRESSES_H

#include <acmite/engine.h>
#include "address_file.h"
#include "local_addresses.h"

/* The host's name up to its first dot, as ib_acme -A writes it; type NONE: it has none. */
void port_addresses_host(struct acm_address *host);

/*
 * Appends those of one port to `addresses`. `file` NULL: there is none, `host` is taken. 0 or
 * -ENOMEM.
 */
int port_addresses_append(struct local_addresses *addresses, const struct acm_port_facts *facts,
			  const struct address_file *file, const struct acm_address *host);

/* Whether the port is the one of this line of the file, and has its P_Key. */
bool port_addresses_serves(const struct acm_port_facts *facts, const struct address_entry *entry);

/* Calls `each` for every address of `from` that `of` has not. */
void port_addresses_missing(const struct local_addresses *from, const struct local_addresses *of,
			    void (*each)(void *context, const struct acm_local_address *address),
			    void *context);

#endif
