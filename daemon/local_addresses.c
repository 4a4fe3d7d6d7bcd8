/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "local_addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int local_addresses_append(struct local_addresses *addresses,
			   const struct acm_local_address *address)
{
	/* Doubles whenever the count is a power of two. */
	if (!(addresses->count & (addresses->count - 1))) {
		size_t room = addresses->count ? addresses->count * 2 : 1;
		struct acm_local_address *list = reallocarray(addresses->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		addresses->list = list;
	}
	addresses->list[addresses->count++] = *address;
	return 0;
}

void local_addresses_free(struct local_addresses *addresses)
{
	free(addresses->list);
	memset(addresses, 0, sizeof(*addresses));
}

bool local_addresses_have(const struct local_addresses *addresses,
			  const struct acm_local_address *address)
{
	for (size_t i = 0; i < addresses->count; i++) {
		const struct acm_local_address *at = &addresses->list[i];

		if (at->port == address->port && at->pkey == address->pkey &&
		    acm_address_equal(&at->address, &address->address))
			return true;
	}
	return false;
}

const struct acm_address *local_addresses_source(const struct local_addresses *addresses,
						 const struct acm_address *destination)
{
	for (size_t i = 0; i < addresses->count; i++) {
		if (addresses->list[i].address.type == destination->type)
			return &addresses->list[i].address;
	}
	return NULL;
}
