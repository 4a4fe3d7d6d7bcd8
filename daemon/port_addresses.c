/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "port_addresses.h"

#include <acmite/wire.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void port_addresses_host(struct acm_address *host)
{
	char name[HOST_NAME_MAX + 1] = {0};
	size_t length;

	if (gethostname(name, HOST_NAME_MAX))
		name[0] = 0;
	length = strcspn(name, ".");
	if (length > ACM_ADDRESS_MAX ||
	    acm_address_canonical(host, ACM_ADDRESS_NAME, (const uint8_t *)name, length))
		*host = (struct acm_address){.type = ACM_ADDRESS_NONE};
}

static int append(struct local_addresses *addresses, const struct acm_local_address *address)
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

static int append_entry(struct local_addresses *addresses, uint32_t port,
			const struct address_entry *entry)
{
	struct acm_local_address address = {
		.port = port, .pkey = entry->pkey, .address = entry->address};
	size_t length = strnlen(entry->text, sizeof(address.text) - 1);

	memcpy(address.text, entry->text, length);
	return append(addresses, &address);
}

static bool is_of(const struct acm_port_facts *facts, const struct address_entry *entry)
{
	return entry->port == facts->number && !strcmp(entry->device, facts->device);
}

static int append_file(struct local_addresses *addresses, const struct acm_port_facts *facts,
		       const struct address_file *file)
{
	int error = 0;

	for (size_t i = 0; i < file->count && !error; i++) {
		const struct address_entry *entry = &file->entries[i];

		if (is_of(facts, entry))
			error = append_entry(addresses, facts->port, entry);
	}
	return error;
}

/* Whether an earlier entry of the table is of the same partition. */
static bool is_repeated(const struct acm_port_facts *facts, uint16_t index)
{
	for (uint16_t i = 0; i < index; i++) {
		if (!((facts->pkeys[i] ^ facts->pkeys[index]) & ~ACM_PKEY_FULL))
			return true;
	}
	return false;
}

static int append_host(struct local_addresses *addresses, const struct acm_port_facts *facts,
		       const struct acm_address *host)
{
	struct acm_local_address address = {.port = facts->port, .address = *host};
	int error = 0;

	memcpy(address.text, host->data,
	       host->length < sizeof(address.text) ? host->length : sizeof(address.text) - 1);
	for (uint16_t i = 0; i < facts->pkey_count && !error; i++) {
		address.pkey = facts->pkeys[i];
		if ((address.pkey & ~ACM_PKEY_FULL) && !is_repeated(facts, i))
			error = append(addresses, &address);
	}
	return error;
}

int port_addresses_append(struct local_addresses *addresses, const struct acm_port_facts *facts,
			  const struct address_file *file, const struct acm_address *host)
{
	if (file)
		return append_file(addresses, facts, file);
	return host->type == ACM_ADDRESS_NONE ? 0 : append_host(addresses, facts, host);
}

bool port_addresses_serves(const struct acm_port_facts *facts, const struct address_entry *entry)
{
	if (!is_of(facts, entry))
		return false;
	if (!entry->pkey) /* whichever there is */
		return true;
	for (uint16_t i = 0; i < facts->pkey_count; i++) {
		if (!((facts->pkeys[i] ^ entry->pkey) & ~ACM_PKEY_FULL))
			return true;
	}
	return false;
}

static bool has(const struct local_addresses *addresses, const struct acm_local_address *address)
{
	for (size_t i = 0; i < addresses->count; i++) {
		const struct acm_local_address *at = &addresses->list[i];

		if (at->port == address->port && at->pkey == address->pkey &&
		    acm_address_equal(&at->address, &address->address))
			return true;
	}
	return false;
}

void port_addresses_missing(const struct local_addresses *from, const struct local_addresses *of,
			    void (*each)(void *context, const struct acm_local_address *address),
			    void *context)
{
	for (size_t i = 0; i < from->count; i++) {
		if (!has(of, &from->list[i]))
			each(context, &from->list[i]);
	}
}
