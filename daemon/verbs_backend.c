/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_backend.h"
#include "monotonic.h"
#include "port_addresses.h"
#include "served_node.h"
#include "verbs_transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nobody tells when a device comes or a permission is given: it is looked for so often. */
#define SCAN_EVERY (5 * ACM_NSEC_PER_SEC)

struct verbs_backend {
	struct served_node node;
	struct acm_address host;
	uint64_t next_scan;
};

static struct verbs_backend *verbs_of(struct daemon_backend *backend)
{
	return (struct verbs_backend *)backend;
}

static int host_addresses(void *context, const struct acm_port_facts *facts,
			  struct local_addresses *addresses)
{
	const struct verbs_backend *backend = context;

	return port_addresses_of_host(addresses, facts, &backend->host);
}

/* ---- the operations ---- */

static uint64_t deadline(const struct daemon_backend *base)
{
	const struct verbs_backend *backend = (const struct verbs_backend *)base;
	uint64_t next = served_node_deadline(base);

	return backend->next_scan < next ? backend->next_scan : next;
}

static int process(struct daemon_backend *base, uint64_t now, char *why, size_t size)
{
	struct verbs_backend *backend = verbs_of(base);
	int error;

	if (now >= backend->next_scan) {
		verbs_transport_rescan(backend->node.transport);
		backend->next_scan = now + SCAN_EVERY;
	}
	error = served_node_run(&backend->node, now, why, size);
	if (!error)
		served_node_settle(&backend->node, now);
	return error;
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

	served_node_fini(&backend->node);
	free(backend);
}

static const struct daemon_backend_ops operations = {
	.step = served_node_step,
	.fd = served_node_fd,
	.deadline = deadline,
	.process = process,
	.unready = served_node_unready,
	.addresses = served_node_addresses,
	.describe = describe,
	.destroy = destroy,
};

/* ---- making it ---- */

static uint32_t to_ms(uint64_t time)
{
	return (uint32_t)(time / ACM_NSEC_PER_MSEC) + 1;
}

int verbs_backend_create(const struct daemon_backend_setup *setup, struct daemon_backend **backend,
			 char *why, size_t size)
{
	const struct acm_engine_config *engine = &setup->configuration->options.engine;
	struct verbs_options options = {.notice = setup->notice,
					.context = setup->context,
					.sa_timeout_ms = to_ms(engine->timeout),
					.sa_tries = engine->retries + 1};
	struct verbs_backend *made = calloc(1, sizeof(*made));
	uint64_t now = monotonic_now();
	int error;

	if (!made) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	served_node_init(&made->node, &operations, setup, "this host");
	made->next_scan = now + SCAN_EVERY;
	port_addresses_host(&made->host);
	error = verbs_transport_create(&options, &made->node.transport);
	if (!error)
		error = served_node_start(&made->node, host_addresses, now);
	if (error) {
		snprintf(why, size, "the hardware cannot be listened to: %s", strerror(-error));
		destroy(&made->node.base);
		return error;
	}
	*backend = &made->node.base;
	return 0;
}
