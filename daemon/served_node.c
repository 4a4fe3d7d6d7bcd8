/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "served_node.h"

#include <stdlib.h>
#include <string.h>

/*
 * A node with ports that are down or have no SM, or with groups that cannot be joined, serves what
 * it can after this time: what is missing comes when it can.
 */
#define READY_AFTER (5 * ACM_NSEC_PER_SEC)

static struct served_node *node_of(struct daemon_backend *base)
{
	return (struct served_node *)base;
}

static const struct served_node *const_node_of(const struct daemon_backend *base)
{
	return (const struct served_node *)base;
}

/* ---- starting ---- */

void served_node_init(struct served_node *node, const struct daemon_backend_ops *operations,
		      const struct daemon_backend_setup *setup, const char *name)
{
	*node = (struct served_node){.base.ops = operations, .setup = *setup, .name = name};
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

static int step_address(void *context, const struct acm_event *event)
{
	return acm_driver_step(((struct served_node *)context)->driver, event);
}

/* Before --ready-timeout is over, whatever it is: nothing that can come later is a reason to end.
 */
static uint64_t ready_after(const struct command_line *line)
{
	uint64_t half = line->ready_timeout_s * ACM_NSEC_PER_SEC / 2;

	return half < READY_AFTER ? half : READY_AFTER;
}

int served_node_start(struct served_node *node,
		      int (*of_port)(void *node, const struct acm_port_facts *facts,
				     struct local_addresses *addresses),
		      uint64_t now)
{
	const struct configuration *configuration = node->setup.configuration;
	struct acm_allocator allocator = {.alloc = allocate, .free = release};
	struct node_addresses_hooks hooks = {
		.of_port = of_port, .step = step_address, .context = node};
	int error = acm_engine_create(&configuration->options.engine, &allocator, &node->engine);

	if (!error)
		error = acm_driver_create(node->engine, node->transport, &node->setup.hooks,
					  &allocator, &node->driver);
	if (!error)
		error = acm_driver_start(node->driver, now);
	if (error)
		return error;
	node_addresses_init(&node->addresses, &node->setup, node->engine, &hooks);
	node->ready_at = now + ready_after(configuration->line);
	return 0;
}

void served_node_fini(struct served_node *node)
{
	acm_driver_destroy(node->driver);
	acm_engine_destroy(node->engine);
	if (node->transport)
		node->transport->ops->destroy(node->transport);
	node_addresses_free(&node->addresses);
}

/* ---- serving ---- */

int served_node_run(struct served_node *node, uint64_t now, char *why, size_t size)
{
	int error = acm_driver_run(node->driver, now);

	if (!error)
		error = node_addresses_follow(&node->addresses, now);
	if (error)
		snprintf(why, size, "the engine cannot go on: %s", strerror(-error));
	return error;
}

static bool is_ready(const struct served_node *node, uint64_t now)
{
	struct acm_engine_stats stats;

	/* Without a port: what comes later is served then. */
	if (now >= node->ready_at || !acm_engine_port(node->engine, 0))
		return true;
	acm_engine_stats(node->engine, &stats);
	return stats.endpoints && stats.endpoints_ready == stats.endpoints;
}

void served_node_settle(struct served_node *node, uint64_t now)
{
	if (node->ready_at != ACM_NEVER && is_ready(node, now))
		node->ready_at = ACM_NEVER;
	if (node->ready_at == ACM_NEVER)
		node_addresses_tell(&node->addresses);
}

/* ---- operations ---- */

int served_node_step(struct daemon_backend *base, const struct acm_event *event)
{
	return acm_driver_step(node_of(base)->driver, event);
}

int served_node_fd(const struct daemon_backend *base)
{
	const struct acm_transport *transport = const_node_of(base)->transport;
	struct acm_transport_caps caps;

	transport->ops->capabilities(transport, &caps);
	return caps.fd;
}

uint64_t served_node_deadline(const struct daemon_backend *base)
{
	const struct served_node *node = const_node_of(base);
	uint64_t next = acm_driver_deadline(node->driver);

	return node->ready_at < next ? node->ready_at : next;
}

uint32_t served_node_unready(const struct daemon_backend *base, const char **what)
{
	const struct served_node *node = const_node_of(base);

	if (node->ready_at == ACM_NEVER)
		return 0;
	if (what)
		*what = node->name;
	return 1;
}

const struct local_addresses *served_node_addresses(const struct daemon_backend *base)
{
	return &const_node_of(base)->addresses.now;
}
