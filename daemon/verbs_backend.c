/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_backend.h"
#include "monotonic.h"
#include "port_addresses.h"
#include "verbs_transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nobody tells when a device comes or a permission is given: it is looked for so often. */
#define SCAN_EVERY (5 * ACM_NSEC_PER_SEC)

/*
 * A daemon with ports that have no SM, or groups that cannot be joined, serves what it can after
 * this time: what is missing comes when it can.
 */
#define READY_AFTER (5 * ACM_NSEC_PER_SEC)

/* What decides which addresses a port has. */
struct port_key {
	bool present;
	char device[ACM_ADDRESS_MAX];
	uint8_t number;
	uint16_t pkey_count;
	uint16_t pkeys[ACM_PORT_PKEYS_MAX];
};

struct verbs_backend {
	struct daemon_backend base;
	struct daemon_backend_setup setup;
	struct acm_allocator allocator;
	struct acm_transport *transport;
	struct acm_engine *engine;
	struct acm_driver *driver;
	int fd;
	uint64_t next_scan;
	uint64_t ready_at; /* at the latest; ACM_NEVER: it is ready */
	struct acm_address host;
	struct local_addresses addresses;
	uint32_t port_count;
	struct port_key *ports;
	size_t unserved; /* addresses of the file that this was told of */
	uint64_t now;
	int error; /* of the engine, while addresses change */
};

static struct verbs_backend *verbs_of(struct daemon_backend *backend)
{
	return (struct verbs_backend *)backend;
}

static const struct verbs_backend *const_verbs_of(const struct daemon_backend *backend)
{
	return (const struct verbs_backend *)backend;
}

static void *allocate(void *context, size_t size)
{
	(void)context;
	return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

/* ---- addresses ---- */

static struct port_key key_of(const struct acm_port_facts *facts)
{
	struct port_key key;

	memset(&key, 0, sizeof(key)); /* it is compared as bytes */
	if (!facts)
		return key;
	key.present = true;
	strcpy(key.device, facts->device);
	key.number = facts->number;
	key.pkey_count = facts->pkey_count;
	memcpy(key.pkeys, facts->pkeys, sizeof(key.pkeys));
	return key;
}

static int make_room(struct verbs_backend *backend, uint32_t count)
{
	struct port_key *ports;

	if (count <= backend->port_count)
		return 0;
	ports = reallocarray(backend->ports, count, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	backend->ports = ports;
	while (backend->port_count < count)
		backend->ports[backend->port_count++] = key_of(NULL);
	return 0;
}

/* Takes note of the ports as they are. Whether any has changed so that addresses may, or -ENOMEM.
 */
static int note_ports(struct verbs_backend *backend)
{
	uint32_t count = verbs_transport_port_count(backend->transport);
	int changed = make_room(backend, count);

	for (uint32_t i = 0; i < count && changed >= 0; i++) {
		struct port_key key = key_of(verbs_transport_port(backend->transport, i));

		if (!memcmp(&key, &backend->ports[i], sizeof(key)))
			continue;
		backend->ports[i] = key;
		changed = 1;
	}
	return changed;
}

static void step_address(struct verbs_backend *backend, enum acm_event_type type,
			 const struct acm_local_address *address)
{
	struct acm_event event = {.type = type, .time = backend->now, .address = address};

	if (!backend->error)
		backend->error = acm_driver_step(backend->driver, &event);
}

static void add(void *context, const struct acm_local_address *address)
{
	step_address(context, ACM_EVENT_ADDRESS_ADDED, address);
}

static void remove_address(void *context, const struct acm_local_address *address)
{
	step_address(context, ACM_EVENT_ADDRESS_REMOVED, address);
}

static int collect(const struct verbs_backend *backend, struct local_addresses *addresses)
{
	const struct configuration *configuration = backend->setup.configuration;
	const struct address_file *file =
		configuration->line->address_file ? &configuration->address_file : NULL;
	int error = 0;

	for (uint32_t i = 0; i < backend->port_count && !error; i++) {
		const struct acm_port_facts *facts = verbs_transport_port(backend->transport, i);

		if (facts)
			error = port_addresses_append(addresses, facts, file, &backend->host);
	}
	return error;
}

/* The engine is told what has changed in the node's addresses. */
static int change_addresses(struct verbs_backend *backend)
{
	struct local_addresses now = {.list = NULL};
	int error = collect(backend, &now);

	if (error) {
		local_addresses_free(&now);
		return error;
	}
	backend->error = 0;
	port_addresses_missing(&backend->addresses, &now, remove_address, backend);
	port_addresses_missing(&now, &backend->addresses, add, backend);
	local_addresses_free(&backend->addresses);
	backend->addresses = now;
	return backend->error;
}

static bool is_served(const struct verbs_backend *backend, const struct address_entry *entry)
{
	for (uint32_t i = 0; i < backend->port_count; i++) {
		const struct acm_port_facts *facts = verbs_transport_port(backend->transport, i);

		if (facts && port_addresses_serves(facts, entry))
			return true;
	}
	return false;
}

/* A line of the file may be mistaken, or its port may come later: only people know. */
static void tell_unserved(struct verbs_backend *backend)
{
	const struct configuration *configuration = backend->setup.configuration;
	const struct address_file *file = &configuration->address_file;
	const struct address_entry *first = NULL;
	size_t unserved = 0;
	char text[1024];

	if (!configuration->line->address_file)
		return;
	for (size_t i = file->count; i > 0; i--) {
		if (is_served(backend, &file->entries[i - 1]))
			continue;
		first = &file->entries[i - 1];
		unserved++;
	}
	if (first && unserved != backend->unserved) {
		snprintf(text, sizeof(text),
			 "%s: %zu of %zu addresses wait for their device, port or P_Key, the first "
			 "is"
			 " %s on %s port %u",
			 configuration->line->address_file, unserved, file->count, first->text,
			 first->device, first->port);
		backend->setup.notice(backend->setup.context, text);
	}
	backend->unserved = unserved;
}

/* ---- the operations ---- */

static int step(struct daemon_backend *base, const struct acm_event *event)
{
	return acm_driver_step(verbs_of(base)->driver, event);
}

static int backend_fd(const struct daemon_backend *base)
{
	return const_verbs_of(base)->fd;
}

static uint64_t deadline(const struct daemon_backend *base)
{
	const struct verbs_backend *backend = const_verbs_of(base);
	uint64_t next = acm_driver_deadline(backend->driver);

	if (backend->next_scan < next)
		next = backend->next_scan;
	return backend->ready_at < next ? backend->ready_at : next;
}

static bool is_ready(const struct verbs_backend *backend, uint64_t now)
{
	struct acm_engine_stats stats;
	bool has_port = false;

	if (now >= backend->ready_at)
		return true;
	for (uint32_t i = 0; i < backend->port_count; i++)
		has_port |= backend->ports[i].present;
	if (!has_port)
		return true; /* what comes later is served then */
	acm_engine_stats(backend->engine, &stats);
	return stats.endpoints && stats.endpoints_ready == stats.endpoints;
}

static int run(struct verbs_backend *backend, uint64_t now)
{
	int error = acm_driver_run(backend->driver, now);
	int changed = error ? error : note_ports(backend);

	if (changed <= 0)
		return changed;
	if (backend->ready_at == ACM_NEVER)
		tell_unserved(backend);
	return change_addresses(backend);
}

static int process(struct daemon_backend *base, uint64_t now, char *why, size_t size)
{
	struct verbs_backend *backend = verbs_of(base);
	int error;

	backend->now = now;
	if (now >= backend->next_scan) {
		verbs_transport_rescan(backend->transport);
		backend->next_scan = now + SCAN_EVERY;
	}
	error = run(backend, now);
	if (error)
		snprintf(why, size, "the engine cannot go on: %s", strerror(-error));
	if (backend->ready_at != ACM_NEVER && is_ready(backend, now)) {
		backend->ready_at = ACM_NEVER;
		tell_unserved(backend);
	}
	return error;
}

static uint32_t unready(const struct daemon_backend *base, const char **what)
{
	const struct verbs_backend *backend = const_verbs_of(base);

	if (backend->ready_at == ACM_NEVER)
		return 0;
	if (what)
		*what = "this host";
	return 1;
}

static const struct local_addresses *addresses(const struct daemon_backend *base)
{
	return &const_verbs_of(base)->addresses;
}

static void describe(const struct daemon_backend *base, char *words, size_t size)
{
	(void)base;
	if (size)
		words[0] = 0;
}

static void destroy(struct daemon_backend *base)
{
	struct verbs_backend *backend = verbs_of(base);

	acm_driver_destroy(backend->driver);
	acm_engine_destroy(backend->engine);
	if (backend->transport)
		backend->transport->ops->destroy(backend->transport);
	local_addresses_free(&backend->addresses);
	free(backend->ports);
	free(backend);
}

static const struct daemon_backend_ops operations = {
	.step = step,
	.fd = backend_fd,
	.deadline = deadline,
	.process = process,
	.unready = unready,
	.addresses = addresses,
	.describe = describe,
	.destroy = destroy,
};

/* ---- making it ---- */

static uint32_t to_ms(uint64_t time)
{
	return (uint32_t)(time / ACM_NSEC_PER_MSEC) + 1;
}

static int set_up(struct verbs_backend *backend)
{
	const struct configuration *configuration = backend->setup.configuration;
	struct verbs_options options = {.notice = backend->setup.notice,
					.context = backend->setup.context,
					.sa_timeout_ms =
						to_ms(configuration->options.engine.timeout),
					.sa_tries = configuration->options.engine.retries + 1};
	struct acm_transport_caps caps;
	int error = verbs_transport_create(&options, &backend->transport);

	if (!error)
		error = acm_engine_create(&configuration->options.engine, &backend->allocator,
					  &backend->engine);
	if (!error)
		error = acm_driver_create(backend->engine, backend->transport,
					  &backend->setup.hooks, &backend->allocator,
					  &backend->driver);
	if (!error)
		error = acm_driver_start(backend->driver, backend->now);
	if (error)
		return error;
	backend->transport->ops->capabilities(backend->transport, &caps);
	backend->fd = caps.fd;
	return 0;
}

/* Before --ready-timeout is over, whatever it is: no port is no reason to end. */
static uint64_t ready_after(const struct configuration *configuration)
{
	uint64_t half = configuration->line->ready_timeout_s * ACM_NSEC_PER_SEC / 2;

	return half < READY_AFTER ? half : READY_AFTER;
}

int verbs_backend_create(const struct daemon_backend_setup *setup, struct daemon_backend **backend,
			 char *why, size_t size)
{
	struct verbs_backend *made = calloc(1, sizeof(*made));
	int error;

	if (!made) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	made->base.ops = &operations;
	made->setup = *setup;
	made->allocator = (struct acm_allocator){.alloc = allocate, .free = release};
	made->now = monotonic_now();
	made->next_scan = made->now + SCAN_EVERY;
	made->ready_at = made->now + ready_after(setup->configuration);
	port_addresses_host(&made->host);
	error = set_up(made);
	if (error) {
		snprintf(why, size, "the hardware cannot be listened to: %s", strerror(-error));
		destroy(&made->base);
		return error;
	}
	*backend = &made->base;
	return 0;
}
