/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "local_addresses.h"

#include <acmite/trace.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct local_addresses *addresses, size_t count)
{
	addresses->count = 0;
	addresses->list = calloc(count + 1, sizeof(addresses->list[0]));
	return addresses->list ? 0 : -ENOMEM;
}

/* As long as it fits, with a NUL; endpoint queries have no more room for it. */
static void set_text(struct acm_local_address *address, const char *text)
{
	size_t length = strlen(text);

	if (length >= sizeof(address->text))
		length = sizeof(address->text) - 1;
	memcpy(address->text, text, length);
}

int local_addresses_of_node(struct local_addresses *addresses, const struct sim_node *node)
{
	char text[ACM_ADDRESS_MAX + 1];

	if (make_room(addresses, node->address_count))
		return -ENOMEM;
	for (uint32_t i = 0; i < node->address_count; i++) {
		struct acm_local_address *address = &addresses->list[addresses->count++];

		address->address = node->addresses[i];
		acm_address_format(&address->address, text, sizeof(text));
		set_text(address, text);
	}
	return 0;
}

int local_addresses_of_file(struct local_addresses *addresses, const struct sim_node *node,
			    const struct address_file *file, const char *path,
			    struct problems *problems)
{
	size_t elsewhere = 0;

	if (make_room(addresses, file->count))
		return -ENOMEM;
	for (size_t i = 0; i < file->count; i++) {
		const struct address_entry *entry = &file->entries[i];
		struct acm_local_address *address;

		if (strcmp(entry->device, node->device) || entry->port > node->port_count) {
			elsewhere++;
			continue;
		}
		address = &addresses->list[addresses->count++];
		address->port = entry->port - 1u;
		address->pkey = entry->pkey;
		address->address = entry->address;
		set_text(address, entry->text);
	}
	if (elsewhere)
		problems_warning(problems, path, 0,
				 "%zu addresses are for ports that %s does not have (it has %s, "
				 "ports 1 to %u)",
				 elsewhere, node->name, node->device, node->port_count);
	return 0;
}

void local_addresses_free(struct local_addresses *addresses)
{
	free(addresses->list);
	memset(addresses, 0, sizeof(*addresses));
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
