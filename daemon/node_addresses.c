/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "node_addresses.h"
#include "port_addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What decides which addresses a port has. */
struct noted_port {
	uint32_t port;
	char device[ACM_ADDRESS_MAX];
	uint8_t number;
	uint16_t pkey_count;
	uint16_t pkeys[ACM_PORT_PKEYS_MAX];
};

void node_addresses_init(struct node_addresses *addresses, const struct daemon_backend_setup *setup,
			 const struct acm_engine *engine, const struct node_addresses_hooks *hooks)
{
	*addresses = (struct node_addresses){
		.setup = setup, .engine = engine, .hooks = *hooks, .untold = true};
}

void node_addresses_free(struct node_addresses *addresses)
{
	local_addresses_free(&addresses->now);
	free(addresses->ports);
}

static const struct address_file *file_of(const struct node_addresses *addresses)
{
	const struct configuration *configuration = addresses->setup->configuration;

	return configuration->line->address_file ? &configuration->address_file : NULL;
}

/* ---- following ---- */

static struct noted_port note_of(const struct acm_port_facts *facts)
{
	struct noted_port note;

	memset(&note, 0, sizeof(note)); /* it is compared as bytes */
	note.port = facts->port;
	strcpy(note.device, facts->device);
	note.number = facts->number;
	note.pkey_count = facts->pkey_count;
	memcpy(note.pkeys, facts->pkeys, sizeof(note.pkeys));
	return note;
}

static int make_room(struct node_addresses *addresses, uint32_t count)
{
	struct noted_port *ports;

	if (count <= addresses->port_count)
		return 0;
	ports = reallocarray(addresses->ports, count, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	memset(ports + addresses->port_count, 0, (count - addresses->port_count) * sizeof(*ports));
	addresses->ports = ports;
	addresses->port_count = count;
	return 0;
}

/* Takes note of the ports as they are. Whether any is other than it was, or -ENOMEM. */
static int note_ports(struct node_addresses *addresses)
{
	const struct acm_port_facts *facts;
	uint32_t count = 0;
	int changed = 0;

	for (; (facts = acm_engine_port(addresses->engine, count)); count++) {
		struct noted_port note = note_of(facts);

		if (make_room(addresses, count + 1))
			return -ENOMEM;
		if (!memcmp(&note, &addresses->ports[count], sizeof(note)))
			continue;
		addresses->ports[count] = note;
		changed = 1;
	}
	if (count != addresses->port_count)
		changed = 1;
	addresses->port_count = count;
	return changed;
}

static int collect(const struct node_addresses *addresses, struct local_addresses *now)
{
	const struct address_file *file = file_of(addresses);
	const struct acm_port_facts *facts;
	int error = 0;

	for (uint32_t i = 0; !error && (facts = acm_engine_port(addresses->engine, i)); i++)
		error = file ? port_addresses_of_file(now, facts, file)
			     : addresses->hooks.of_port(addresses->hooks.context, facts, now);
	return error;
}

/* An event for each address of `from` that `of` has not. */
static int step_missing(const struct node_addresses *addresses, const struct local_addresses *from,
			const struct local_addresses *of, enum acm_event_type type, uint64_t now)
{
	int error = 0;

	for (size_t i = 0; i < from->count && !error; i++) {
		struct acm_event event = {.type = type, .time = now, .address = &from->list[i]};

		if (!local_addresses_have(of, event.address))
			error = addresses->hooks.step(addresses->hooks.context, &event);
	}
	return error;
}

static int change(struct node_addresses *addresses, uint64_t time)
{
	struct local_addresses now = {.list = NULL};
	int error = collect(addresses, &now);

	if (!error)
		error = step_missing(addresses, &addresses->now, &now, ACM_EVENT_ADDRESS_REMOVED,
				     time);
	if (!error)
		error = step_missing(addresses, &now, &addresses->now, ACM_EVENT_ADDRESS_ADDED,
				     time);
	if (error) {
		local_addresses_free(&now);
		return error;
	}
	local_addresses_free(&addresses->now);
	addresses->now = now;
	addresses->untold = true;
	return 0;
}

int node_addresses_follow(struct node_addresses *addresses, uint64_t now)
{
	int changed = note_ports(addresses);

	return changed > 0 ? change(addresses, now) : changed;
}

/* ---- telling ---- */

static bool is_served(const struct node_addresses *addresses, const struct address_entry *entry)
{
	const struct acm_port_facts *facts;

	for (uint32_t i = 0; (facts = acm_engine_port(addresses->engine, i)); i++) {
		if (port_addresses_serves(facts, entry))
			return true;
	}
	return false;
}

static void tell(const struct node_addresses *addresses, const struct address_file *file)
{
	const struct daemon_backend_setup *setup = addresses->setup;
	const char *path = setup->configuration->line->address_file;
	const struct address_entry *first = addresses->first;
	char text[1024], pkey[8] = "default";

	if (!first) {
		snprintf(text, sizeof(text),
			 "%s: all %zu addresses have their device, port and P_Key now", path,
			 file->count);
	} else {
		if (first->pkey)
			snprintf(pkey, sizeof(pkey), "0x%04x", first->pkey);
		snprintf(text, sizeof(text),
			 "%s: %zu of %zu addresses wait for their device, port or P_Key, the first"
			 " is %s on %s port %u, P_Key %s",
			 path, addresses->count, file->count, first->text, first->device,
			 first->port, pkey);
	}
	setup->notice(setup->context, text);
}

void node_addresses_tell(struct node_addresses *addresses)
{
	const struct address_file *file = file_of(addresses);
	const struct address_entry *first = NULL;
	size_t count = 0;

	if (!addresses->untold)
		return;
	addresses->untold = false;
	for (size_t i = 0; file && i < file->count; i++) {
		if (is_served(addresses, &file->entries[i]))
			continue;
		if (!first)
			first = &file->entries[i];
		count++;
	}
	if (first == addresses->first && count == addresses->count)
		return;
	addresses->first = first;
	addresses->count = count;
	tell(addresses, file);
}
