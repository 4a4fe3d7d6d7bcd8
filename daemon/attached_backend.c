/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attached_backend.h"
#include "attached_transport.h"
#include "monotonic.h"
#include "port_addresses.h"
#include "served_node.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Between looking for a server that is gone. */
#define RETRY_MIN (50 * ACM_NSEC_PER_MSEC)
#define RETRY_MAX (2 * ACM_NSEC_PER_SEC)

struct attached_backend {
	struct served_node node;
	bool lost;   /* the server is gone, or does not have us */
	int told;    /* why, as people were told last */
	bool trying; /* a connection has begun and not come to anything yet */
	uint64_t retry_at;
	uint64_t pause; /* before the retry after that */
};

static struct attached_backend *attached_of(struct daemon_backend *backend)
{
	return (struct attached_backend *)backend;
}

static const struct attached_backend *const_attached_of(const struct daemon_backend *backend)
{
	return (const struct attached_backend *)backend;
}

/* What the server gives the node. It has said so before it tells of a port. */
static int given_addresses(void *context, const struct acm_port_facts *facts,
			   struct local_addresses *addresses)
{
	const struct served_node *node = context;
	const struct acm_address *given;
	const struct sim_attach_welcome *welcome = sim_attached_welcome(node->transport, &given);

	return welcome ? port_addresses_of_node(addresses, facts, given, welcome->address_count)
		       : 0;
}

/* ---- a server that goes and comes ---- */

static void notice(const struct attached_backend *backend, const char *text)
{
	backend->node.setup.notice(backend->node.setup.context, text);
}

/* Once for each reason: not with every attempt. */
static void tell_lost(struct attached_backend *backend)
{
	char text[1024];
	int error;
	const char *failure = sim_attached_failure(backend->node.transport, &error);

	if (backend->lost && backend->told == error)
		return;
	backend->told = error;
	snprintf(text, sizeof(text), "%s%s", failure,
		 backend->lost ? "" : "; no port is left, and the server is looked for");
	notice(backend, text);
}

static void note_failure(struct attached_backend *backend, uint64_t now)
{
	tell_lost(backend);
	if (!backend->lost)
		backend->pause = RETRY_MIN;
	backend->lost = true;
	backend->trying = false;
	backend->retry_at = now + backend->pause;
	backend->pause = 2 * backend->pause < RETRY_MAX ? 2 * backend->pause : RETRY_MAX;
}

static void note_return(struct attached_backend *backend)
{
	const struct command_line *line = backend->node.setup.configuration->line;
	char text[256];

	snprintf(text, sizeof(text), "attached to %s of the fabric at %s again", line->node,
		 line->fabric);
	notice(backend, text);
	backend->lost = backend->trying = false;
}

static void look_after_server(struct attached_backend *backend, uint64_t now)
{
	struct acm_transport *transport = backend->node.transport;
	enum sim_attached_state state = sim_attached_state(transport);

	if (state == SIM_ATTACHED_READY && backend->lost)
		note_return(backend);
	if (state != SIM_ATTACHED_GONE)
		return;
	if (!backend->lost || backend->trying)
		note_failure(backend, now);
	if (now < backend->retry_at)
		return;
	backend->trying = true;
	sim_attached_connect(transport);
	if (sim_attached_state(transport) == SIM_ATTACHED_GONE)
		note_failure(backend, now);
}

/* ---- the operations ---- */

static uint64_t deadline(const struct daemon_backend *base)
{
	const struct attached_backend *backend = const_attached_of(base);
	uint64_t next = served_node_deadline(base);

	if (sim_attached_state(backend->node.transport) == SIM_ATTACHED_GONE &&
	    backend->retry_at < next)
		next = backend->retry_at;
	return next;
}

static int process(struct daemon_backend *base, uint64_t now, char *why, size_t size)
{
	struct attached_backend *backend = attached_of(base);
	int error = served_node_run(&backend->node, now, why, size);

	if (error)
		return error;
	look_after_server(backend, now);
	served_node_settle(&backend->node, now);
	return 0;
}

static void describe(const struct daemon_backend *base, char *words, size_t size)
{
	const struct command_line *line = const_attached_of(base)->node.setup.configuration->line;

	snprintf(words, size, " fabric=%s node=%s", line->fabric, line->node);
}

static void destroy(struct daemon_backend *base)
{
	struct attached_backend *backend = attached_of(base);

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

static bool is_cancelled(const struct daemon_backend_setup *setup)
{
	struct pollfd fd = {.fd = setup->cancel_fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static int connect_first(struct served_node *node, char *why, size_t size)
{
	const struct command_line *line = node->setup.configuration->line;
	int error =
		sim_attached_create(line->fabric, SIM_ATTACH_OWNER, line->node, &node->transport);
	enum sim_attached_state state;

	if (error) {
		snprintf(why, size, "the fabric at %s cannot be attached to: %s", line->fabric,
			 strerror(-error));
		return error;
	}
	sim_attached_connect(node->transport);
	state = sim_attached_await(node->transport, (int)line->ready_timeout_s * 1000,
				   node->setup.cancel_fd);
	if (state == SIM_ATTACHED_READY)
		return 0;
	if (state == SIM_ATTACHED_GONE) {
		snprintf(why, size, "%s", sim_attached_failure(node->transport, &error));
		return error;
	}
	if (is_cancelled(&node->setup))
		return -ECANCELED;
	snprintf(why, size,
		 "the fabric server at %s does not answer; --ready-timeout waits longer than %u s",
		 line->fabric, line->ready_timeout_s);
	return -ETIMEDOUT;
}

static int start(struct served_node *node, char *why, size_t size)
{
	int error = served_node_start(node, given_addresses, monotonic_now());

	if (error)
		snprintf(why, size, "%s cannot be started on the fabric: %s", node->name,
			 strerror(-error));
	return error;
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
	served_node_init(&made->node, &operations, setup, setup->configuration->line->node);
	error = connect_first(&made->node, why, size);
	if (!error)
		error = start(&made->node, why, size);
	if (error) {
		destroy(&made->node.base);
		return error;
	}
	*backend = &made->node.base;
	return 0;
}
