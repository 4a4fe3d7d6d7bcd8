/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "port_addresses.h"

#include <acmite/trace.h>
#include <acmite/wire.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* As much of the text as fits, with a NUL; endpoint queries have no more room for it. */
static int append(struct local_addresses *addresses, struct acm_local_address *address,
		  const char *text)
{
	size_t length = strnlen(text, sizeof(address->text) - 1);

	memcpy(address->text, text, length);
	return local_addresses_append(addresses, address);
}

static bool is_of(const struct acm_port_facts *facts, const struct address_entry *entry)
{
	return entry->port == facts->number && !strcmp(entry->device, facts->device);
}

int port_addresses_of_file(struct local_addresses *addresses, const struct acm_port_facts *facts,
			   const struct address_file *file)
{
	int error = 0;

	for (size_t i = 0; i < file->count && !error; i++) {
		const struct address_entry *entry = &file->entries[i];
		struct acm_local_address address = {
			.port = facts->port, .pkey = entry->pkey, .address = entry->address};

		if (is_of(facts, entry))
			error = append(addresses, &address, entry->text);
	}
	return error;
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

int port_addresses_of_node(struct local_addresses *addresses, const struct acm_port_facts *facts,
			   const struct acm_address *given, uint32_t count)
{
	char text[ACM_ADDRESS_MAX + 1];
	int error = 0;

	for (uint32_t i = 0; facts->number == 1 && i < count && !error; i++) {
		struct acm_local_address address = {.port = facts->port, .address = given[i]};

		acm_address_format(&given[i], text, sizeof(text));
		error = append(addresses, &address, text);
	}
	return error;
}

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

/* Whether an earlier entry of the table is of the same partition. */
static bool is_repeated(const struct acm_port_facts *facts, uint16_t index)
{
	for (uint16_t i = 0; i < index; i++) {
		if (!((facts->pkeys[i] ^ facts->pkeys[index]) & ~ACM_PKEY_FULL))
			return true;
	}
	return false;
}

int port_addresses_of_host(struct local_addresses *addresses, const struct acm_port_facts *facts,
			   const struct acm_address *host)
{
	struct acm_local_address address = {.port = facts->port, .address = *host};
	char text[ACM_ADDRESS_MAX + 1];
	int error = 0;

	if (host->type == ACM_ADDRESS_NONE)
		return 0;
	acm_address_format(host, text, sizeof(text));
	for (uint16_t i = 0; i < facts->pkey_count && !error; i++) {
		address.pkey = facts->pkeys[i];
		if ((address.pkey & ~ACM_PKEY_FULL) && !is_repeated(facts, i))
			error = append(addresses, &address, text);
	}
	return error;
}
