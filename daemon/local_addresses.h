/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_LOCAL_ADDRESSES_H
#define ACMITE_DAEMON_LOCAL_ADDRESSES_H

#include <acmite/engine.h>

/* The addresses that this node answers for, first come first used as source. */
struct local_addresses {
	struct acm_local_address *list;
	size_t count;
};

/* Copies `address`. 0 or -ENOMEM. */
int local_addresses_append(struct local_addresses *addresses,
			   const struct acm_local_address *address);
void local_addresses_free(struct local_addresses *addresses);

/* Whether it is there, on the same port and with the same P_Key. */
bool local_addresses_have(const struct local_addresses *addresses,
			  const struct acm_local_address *address);
/* The first one of the destination's type, or NULL. */
const struct acm_address *local_addresses_source(const struct local_addresses *addresses,
						 const struct acm_address *destination);

#endif
