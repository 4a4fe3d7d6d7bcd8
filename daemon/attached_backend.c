/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attached_backend.h"
#include "attached_transport.h"
#include "monotonic.h"
#include "port_addresses.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Between looking for a server that is gone. */
#define RETRY_MIN (50 * ACM_NSEC_PER_MSEC)
#define RETRY_MAX (2 * ACM_NSEC_PER_SEC)

/* A port that is down, or groups that cannot be joined, hold nothing up for longer than this. */
#define READY_AFTER (5 * ACM_NSEC_PER_SEC)

struct attached_backend {
	struct daemon_backend base;
	struct daemon_backend_setup setup;
	struct acm_allocator allocator;
	struct acm_transport *transport;
	struct acm_engine *engine;
	struct acm_driver *driver;
	int fd;
	struct local_addresses addresses;
	uint64_t now;
	uint64_t ready_at; /* at the latest; ACM_NEVER: it is ready */
	bool lost;         /* the server is gone, or does not have us */
	int told;          /* why, as people were told last */
	bool trying;       /* a connection has begun and not come to anything yet */
	uint64_t retry_at;
	uint64_t pause; /* before the retry after that */
	int error;      /* of the engine, while addresses change */
};

static struct attached_backend *attached_of(struct daemon_backend *backend)
{
	return (struct attached_backend *)backend;
}

static const struct attached_backend *const_attached_of(const struct daemon_backend *backend)
{
	return (const struct attached_backend *)backend;
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

static void step_address(struct attached_backend *backend, enum acm_event_type type,
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

/* Those of the file for the node's ports, or without a file those that the fabric gives it. */
static int collect(const struct attached_backend *backend, struct local_addresses *addresses)
{
	const struct configuration *configuration = backend->setup.configuration;
	struct problems problems = {.out = stderr};
	const struct acm_address *given;
	const struct sim_attach_welcome *welcome = sim_attached_welcome(backend->transport, &given);
	struct sim_node node = {.name = (char *)configuration->line->node,
				.kind = SIM_HOST,
				.port_count = (uint8_t)welcome->port_count,
				.address_count = welcome->address_count,
				.addresses = (struct acm_address *)given};

	strcpy(node.device, welcome->device);
	if (!configuration->line->address_file)
		return local_addresses_of_node(addresses, &node);
	return local_addresses_of_file(addresses, &node, &configuration->address_file,
				       configuration->line->address_file, &problems);
}

/* The engine is told what has changed in the node's addresses. */
static int change_addresses(struct attached_backend *backend)
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

/* ---- a server that goes and comes ---- */

/* Once for each reason: not with every attempt. */
static void tell_lost(struct attached_backend *backend)
{
	char text[1024];
	int error;
	const char *failure = sim_attached_failure(backend->transport, &error);

	if (backend->lost && backend->told == error)
		return;
	backend->told = error;
	snprintf(text, sizeof(text), "%s%s", failure,
		 backend->lost ? "" : "; no port is left, and the server is looked for");
	backend->setup.notice(backend->setup.context, text);
}

static void note_failure(struct attached_backend *backend)
{
	tell_lost(backend);
	if (!backend->lost)
		backend->pause = RETRY_MIN;
	backend->lost = true;
	backend->trying = false;
	backend->retry_at = backend->now + backend->pause;
	backend->pause = 2 * backend->pause < RETRY_MAX ? 2 * backend->pause : RETRY_MAX;
}

static int note_return(struct attached_backend *backend)
{
	char text[256];

	snprintf(text, sizeof(text), "attached to %s of the fabric at %s again",
		 backend->setup.configuration->line->node,
		 backend->setup.configuration->line->fabric);
	backend->setup.notice(backend->setup.context, text);
	backend->lost = backend->trying = false;
	return change_addresses(backend);
}

static int look_after_server(struct attached_backend *backend)
{
	enum sim_attached_state state = sim_attached_state(backend->transport);

	if (state == SIM_ATTACHED_READY)
		return backend->lost ? note_return(backend) : 0;
	if (state == SIM_ATTACHED_GREETING)
		return 0;
	if (!backend->lost || backend->trying)
		note_failure(backend);
	if (backend->now < backend->retry_at)
		return 0;
	backend->trying = true;
	sim_attached_connect(backend->transport);
	if (sim_attached_state(backend->transport) == SIM_ATTACHED_GONE)
		note_failure(backend);
	return 0;
}

/* ---- the operations ---- */

static int step(struct daemon_backend *base, const struct acm_event *event)
{
	return acm_driver_step(attached_of(base)->driver, event);
}

static int backend_fd(const struct daemon_backend *base)
{
	return const_attached_of(base)->fd;
}

static uint64_t deadline(const struct daemon_backend *base)
{
	const struct attached_backend *backend = const_attached_of(base);
	uint64_t next = acm_driver_deadline(backend->driver);

	if (sim_attached_state(backend->transport) == SIM_ATTACHED_GONE && backend->retry_at < next)
		next = backend->retry_at;
	return backend->ready_at < next ? backend->ready_at : next;
}

static bool is_ready(const struct attached_backend *backend)
{
	struct acm_engine_stats stats;

	acm_engine_stats(backend->engine, &stats);
	return backend->now >= backend->ready_at ||
	       (stats.endpoints && stats.endpoints_ready == stats.endpoints);
}

static int process(struct daemon_backend *base, uint64_t now, char *why, size_t size)
{
	struct attached_backend *backend = attached_of(base);
	int error;

	backend->now = now;
	error = acm_driver_run(backend->driver, now);
	if (!error)
		error = look_after_server(backend);
	if (error)
		snprintf(why, size, "the engine cannot go on: %s", strerror(-error));
	if (backend->ready_at != ACM_NEVER && is_ready(backend))
		backend->ready_at = ACM_NEVER;
	return error;
}

static uint32_t unready(const struct daemon_backend *base, const char **what)
{
	const struct attached_backend *backend = const_attached_of(base);

	if (backend->ready_at == ACM_NEVER)
		return 0;
	if (what)
		*what = backend->setup.configuration->line->node;
	return 1;
}

static const struct local_addresses *addresses(const struct daemon_backend *base)
{
	return &const_attached_of(base)->addresses;
}

static void describe(const struct daemon_backend *base, char *words, size_t size)
{
	const struct command_line *line = const_attached_of(base)->setup.configuration->line;

	snprintf(words, size, " fabric=%s node=%s", line->fabric, line->node);
}

static void destroy(struct daemon_backend *base)
{
	struct attached_backend *backend = attached_of(base);

	acm_driver_destroy(backend->driver);
	acm_engine_destroy(backend->engine);
	if (backend->transport)
		backend->transport->ops->destroy(backend->transport);
	local_addresses_free(&backend->addresses);
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

static bool is_cancelled(const struct daemon_backend_setup *setup)
{
	struct pollfd fd = {.fd = setup->cancel_fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static int connect_first(struct attached_backend *backend, char *why, size_t size)
{
	const struct command_line *line = backend->setup.configuration->line;
	int error = sim_attached_create(line->fabric, SIM_ATTACH_OWNER, line->node,
					&backend->transport);
	enum sim_attached_state state;

	if (error) {
		snprintf(why, size, "the fabric at %s cannot be attached to: %s", line->fabric,
			 strerror(-error));
		return error;
	}
	sim_attached_connect(backend->transport);
	state = sim_attached_await(backend->transport, (int)line->ready_timeout_s * 1000,
				   backend->setup.cancel_fd);
	if (state == SIM_ATTACHED_READY)
		return 0;
	if (state == SIM_ATTACHED_GONE) {
		snprintf(why, size, "%s", sim_attached_failure(backend->transport, &error));
		return error;
	}
	if (is_cancelled(&backend->setup))
		return -ECANCELED;
	snprintf(why, size,
		 "the fabric server at %s does not answer; --ready-timeout waits longer than %u s",
		 line->fabric, line->ready_timeout_s);
	return -ETIMEDOUT;
}

static int start(struct attached_backend *backend, char *why, size_t size)
{
	const struct configuration *configuration = backend->setup.configuration;
	struct acm_transport_caps caps;
	int error = acm_engine_create(&configuration->options.engine, &backend->allocator,
				      &backend->engine);

	if (!error)
		error = acm_driver_create(backend->engine, backend->transport,
					  &backend->setup.hooks, &backend->allocator,
					  &backend->driver);
	if (!error)
		error = acm_driver_start(backend->driver, backend->now);
	if (!error)
		error = change_addresses(backend);
	backend->transport->ops->capabilities(backend->transport, &caps);
	backend->fd = caps.fd;
	if (error)
		snprintf(why, size, "%s cannot be started on the fabric: %s",
			 configuration->line->node, strerror(-error));
	return error;
}

/* Before --ready-timeout is over, whatever it is. */
static uint64_t ready_after(const struct configuration *configuration)
{
	uint64_t half = configuration->line->ready_timeout_s * ACM_NSEC_PER_SEC / 2;

	return half < READY_AFTER ? half : READY_AFTER;
}

int attached_backend_create(const struct daemon_backend_setup *setup,
			    struct daemon_backend **backend, char *why, size_t size)
{
	struct attached_backend *made = calloc(1, sizeof(*made));
	int error;

	if (!made) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	made->base.ops = &operations;
	made->setup = *setup;
	made->allocator = (struct acm_allocator){.alloc = allocate, .free = release};
	error = connect_first(made, why, size);
	made->now = monotonic_now();
	made->ready_at = made->now + ready_after(setup->configuration);
	if (!error)
		error = start(made, why, size);
	if (error) {
		destroy(&made->base);
		return error;
	}
	*backend = &made->base;
	return 0;
}
