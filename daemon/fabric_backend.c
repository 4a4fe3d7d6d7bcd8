/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_backend.h"
#include "builtin_control.h"
#include "control.h"
#include "fabric.h"
#include "monotonic.h"
#include "node_addresses.h"
#include "population.h"
#include "port_addresses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fabric_backend {
	struct daemon_backend base;
	struct daemon_backend_setup setup;
	const struct sim_control *ibsim; /* the control, for its names; NULL: it is another */
	struct sim_fabric *fabric;
	struct sim_population *population;
	struct sim_resident *resident; /* this daemon's node */
	struct node_addresses addresses;
};

static struct fabric_backend *fabric_of(struct daemon_backend *backend)
{
	return (struct fabric_backend *)backend;
}

static const struct fabric_backend *const_fabric_of(const struct daemon_backend *backend)
{
	return (const struct fabric_backend *)backend;
}

/* ---- starting ---- */

static int start_ibsim(struct fabric_backend *backend, const struct daemon_backend_setup *setup,
		       struct sim_control **control, char *why, size_t size)
{
	const struct command_line *line = setup->configuration->line;
	struct sim_ibsim_options ibsim;
	int error;

	sim_ibsim_options_default(&ibsim);
	ibsim.scratch = line->scratch;
	ibsim.ready_timeout_ms = line->ready_timeout_s * 1000;
	ibsim.cancel_fd = setup->cancel_fd;
	ibsim.progress = setup->progress;
	ibsim.notice = setup->notice;
	ibsim.context = setup->context;
	error = sim_ibsim_control_create(setup->configuration->topology, &ibsim, control, why,
					 size);
	if (!error)
		backend->ibsim = *control;
	return error;
}

static int start_builtin(const struct daemon_backend_setup *setup, struct sim_control **control,
			 char *why, size_t size)
{
	struct sim_builtin_options builtin;

	sim_builtin_options_default(&builtin);
	return sim_builtin_control_create(setup->configuration->topology, &builtin, control, why,
					  size);
}

static int start_fabric(struct fabric_backend *backend, const struct daemon_backend_setup *setup,
			char *why, size_t size)
{
	const struct configuration *configuration = setup->configuration;
	struct sim_control *control;
	int error = configuration->line->ibsim ? start_ibsim(backend, setup, &control, why, size)
					       : start_builtin(setup, &control, why, size);

	if (error)
		return error;
	error = sim_fabric_create(configuration->topology, control,
				  configuration->options.engine.seed, &backend->fabric);
	if (error) {
		control->ops->destroy(control);
		snprintf(why, size, "the fabric cannot be made: %s", strerror(-error));
		return error;
	}
	return 0;
}

/* What the topology gives this daemon's node. */
static int given_addresses(void *context, const struct acm_port_facts *facts,
			   struct local_addresses *addresses)
{
	const struct fabric_backend *backend = context;
	const struct sim_topology *topology = backend->setup.configuration->topology;
	const struct sim_node *node = &topology->nodes[sim_resident_node(backend->resident)];

	return port_addresses_of_node(addresses, facts, node->addresses, node->address_count);
}

static int step_address(void *context, const struct acm_event *event)
{
	return sim_resident_step(((struct fabric_backend *)context)->resident, event);
}

static int add_node(struct fabric_backend *backend)
{
	const struct configuration *configuration = backend->setup.configuration;
	struct node_addresses_hooks hooks = {
		.of_port = given_addresses, .step = step_address, .context = backend};
	int error = sim_population_add(backend->population, configuration->line->node,
				       &configuration->options.engine, &backend->setup.hooks,
				       monotonic_now(), &backend->resident);

	if (!error)
		node_addresses_init(&backend->addresses, &backend->setup,
				    sim_resident_engine(backend->resident), &hooks);
	return error;
}

/* The engine's configuration is all nodes', its seed also the fabric's. */
static int populate(struct fabric_backend *backend, char *why, size_t size)
{
	const struct configuration *configuration = backend->setup.configuration;
	const struct acm_engine_config *engine = &configuration->options.engine;
	const char *at = configuration->line->node;
	uint32_t node = SIM_NONE;
	int error = sim_population_create(configuration->topology, backend->fabric,
					  &backend->population);

	if (!error)
		error = add_node(backend);
	if (!error && !configuration->line->no_peers) {
		error = sim_population_add_others(backend->population, engine, monotonic_now(),
						  &node);
		if (error && node != SIM_NONE)
			at = configuration->topology->nodes[node].name;
	}
	if (error)
		snprintf(why, size, "%s cannot be started on the fabric: %s", at, strerror(-error));
	return error;
}

/* ---- the operations ---- */

static void destroy(struct daemon_backend *base)
{
	struct fabric_backend *backend = fabric_of(base);

	node_addresses_free(&backend->addresses);
	sim_population_destroy(backend->population);
	if (backend->fabric)
		sim_fabric_destroy(backend->fabric);
	free(backend);
}

static int step(struct daemon_backend *base, const struct acm_event *event)
{
	return sim_resident_step(fabric_of(base)->resident, event);
}

static int fabric_fd(const struct daemon_backend *base)
{
	return sim_fabric_fd(const_fabric_of(base)->fabric);
}

static uint64_t deadline(const struct daemon_backend *base)
{
	const struct fabric_backend *backend = const_fabric_of(base);
	uint64_t fabric = sim_fabric_deadline(backend->fabric);
	uint64_t population = sim_population_deadline(backend->population);

	return fabric < population ? fabric : population;
}

static int process(struct daemon_backend *base, uint64_t now, char *why, size_t size)
{
	struct fabric_backend *backend = fabric_of(base);
	int error = sim_fabric_process(backend->fabric, now);

	if (error) {
		const char *failure = sim_fabric_failure(backend->fabric);

		snprintf(why, size, "the fabric is gone: %s", failure ? failure : strerror(-error));
		return error;
	}
	error = sim_population_run(backend->population, now);
	if (!error)
		error = node_addresses_follow(&backend->addresses, now);
	if (error)
		snprintf(why, size, "a node cannot go on: %s", strerror(-error));
	else if (!sim_population_unready(backend->population, NULL))
		node_addresses_tell(&backend->addresses);
	return error;
}

static uint32_t unready(const struct daemon_backend *base, const char **node)
{
	const struct fabric_backend *backend = const_fabric_of(base);
	const struct sim_resident *first = NULL;
	uint32_t count = sim_population_unready(backend->population, node ? &first : NULL);

	if (node && first)
		*node = backend->setup.configuration->topology->nodes[sim_resident_node(first)]
				.name;
	return count;
}

static const struct local_addresses *addresses(const struct daemon_backend *base)
{
	return &const_fabric_of(base)->addresses.now;
}

static void describe(const struct daemon_backend *base, char *words, size_t size)
{
	const struct sim_control *ibsim = const_fabric_of(base)->ibsim;

	words[0] = 0;
	if (ibsim)
		snprintf(words, size, " ibsim=%s scratch=%s", sim_ibsim_socket_name(ibsim),
			 sim_ibsim_scratch(ibsim));
}

static const struct daemon_backend_ops operations = {
	.step = step,
	.fd = fabric_fd,
	.deadline = deadline,
	.process = process,
	.unready = unready,
	.addresses = addresses,
	.describe = describe,
	.destroy = destroy,
};

int fabric_backend_create(const struct daemon_backend_setup *setup, struct daemon_backend **backend,
			  char *why, size_t size)
{
	struct fabric_backend *made = calloc(1, sizeof(*made));
	int error;

	if (!made) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	made->base.ops = &operations;
	made->setup = *setup;
	error = start_fabric(made, setup, why, size);
	if (!error)
		error = populate(made, why, size);
	if (error) {
		destroy(&made->base);
		return error;
	}
	*backend = &made->base;
	return 0;
}
