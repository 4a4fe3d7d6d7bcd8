/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_backend.h"
#include "builtin_control.h"
#include "control.h"
#include "fabric.h"
#include "monotonic.h"
#include "population.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fabric_backend {
	const struct sim_topology *topology;
	const struct sim_control *ibsim; /* the control, for its names; NULL: it is another */
	struct sim_fabric *fabric;
	struct sim_population *population;
	struct sim_resident *resident; /* this daemon's node */
};

static int start_ibsim(struct fabric_backend *backend, const struct fabric_backend_options *options,
		       struct sim_control **control, char *why, size_t size)
{
	struct sim_ibsim_options ibsim;
	int error;

	sim_ibsim_options_default(&ibsim);
	ibsim.scratch = options->scratch;
	ibsim.ready_timeout_ms = options->ready_timeout_ms;
	ibsim.cancel_fd = options->cancel_fd;
	ibsim.progress = options->progress;
	ibsim.progress_context = options->progress_context;
	error = sim_ibsim_control_create(backend->topology, &ibsim, control, why, size);
	if (!error)
		backend->ibsim = *control;
	return error;
}

static int start_builtin(struct fabric_backend *backend, struct sim_control **control, char *why,
			 size_t size)
{
	struct sim_builtin_options builtin;

	sim_builtin_options_default(&builtin);
	return sim_builtin_control_create(backend->topology, &builtin, control, why, size);
}

static int start_fabric(struct fabric_backend *backend,
			const struct fabric_backend_options *options, char *why, size_t size)
{
	struct sim_control *control;
	int error = options->ibsim ? start_ibsim(backend, options, &control, why, size)
				   : start_builtin(backend, &control, why, size);

	if (error)
		return error;
	error = sim_fabric_create(backend->topology, control, options->engine->seed,
				  &backend->fabric);
	if (error) {
		control->ops->destroy(control);
		snprintf(why, size, "the fabric cannot be made: %s", strerror(-error));
		return error;
	}
	return 0;
}

static int add_addresses(struct sim_resident *resident, const struct local_addresses *addresses)
{
	int error = 0;

	for (size_t i = 0; i < addresses->count && !error; i++) {
		struct acm_event event = {.type = ACM_EVENT_ADDRESS_ADDED,
					  .time = monotonic_now(),
					  .address = &addresses->list[i]};

		error = sim_resident_step(resident, &event);
	}
	return error;
}

static int populate(struct fabric_backend *backend, const struct fabric_backend_options *options,
		    char *why, size_t size)
{
	const char *at = options->node;
	uint32_t node = SIM_NONE;
	int error = sim_population_create(backend->topology, backend->fabric, &backend->population);

	if (!error)
		error = sim_population_add(backend->population, options->node, options->engine,
					   &options->hooks, monotonic_now(), &backend->resident);
	if (!error)
		error = add_addresses(backend->resident, options->addresses);
	if (!error && options->peers) {
		error = sim_population_add_others(backend->population, options->engine,
						  monotonic_now(), &node);
		if (error && node != SIM_NONE)
			at = backend->topology->nodes[node].name;
	}
	if (error)
		snprintf(why, size, "%s cannot be started on the fabric: %s", at, strerror(-error));
	return error;
}

int fabric_backend_create(const struct sim_topology *topology,
			  const struct fabric_backend_options *options,
			  struct fabric_backend **backend, char *why, size_t size)
{
	struct fabric_backend *made = calloc(1, sizeof(*made));
	int error;

	if (!made) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	made->topology = topology;
	error = start_fabric(made, options, why, size);
	if (!error)
		error = populate(made, options, why, size);
	if (error) {
		fabric_backend_destroy(made);
		return error;
	}
	*backend = made;
	return 0;
}

void fabric_backend_destroy(struct fabric_backend *backend)
{
	if (!backend)
		return;
	sim_population_destroy(backend->population);
	if (backend->fabric)
		sim_fabric_destroy(backend->fabric);
	free(backend);
}

int fabric_backend_step(struct fabric_backend *backend, const struct acm_event *event)
{
	return sim_resident_step(backend->resident, event);
}

int fabric_backend_fd(struct fabric_backend *backend)
{
	return sim_fabric_fd(backend->fabric);
}

uint64_t fabric_backend_deadline(const struct fabric_backend *backend)
{
	uint64_t fabric = sim_fabric_deadline(backend->fabric);
	uint64_t population = sim_population_deadline(backend->population);

	return fabric < population ? fabric : population;
}

int fabric_backend_process(struct fabric_backend *backend, uint64_t now, char *why, size_t size)
{
	int error = sim_fabric_process(backend->fabric, now);

	if (error) {
		const char *failure = sim_fabric_failure(backend->fabric);

		snprintf(why, size, "%s", failure ? failure : strerror(-error));
		return error;
	}
	error = sim_population_run(backend->population, now);
	if (error)
		snprintf(why, size, "a node cannot go on: %s", strerror(-error));
	return error;
}

uint32_t fabric_backend_unready(const struct fabric_backend *backend, const char **node)
{
	const struct sim_resident *first = NULL;
	uint32_t unready = sim_population_unready(backend->population, node ? &first : NULL);

	if (node && first)
		*node = backend->topology->nodes[sim_resident_node(first)].name;
	return unready;
}

const char *fabric_backend_ibsim(const struct fabric_backend *backend)
{
	return backend->ibsim ? sim_ibsim_socket_name(backend->ibsim) : NULL;
}

const char *fabric_backend_scratch(const struct fabric_backend *backend)
{
	return backend->ibsim ? sim_ibsim_scratch(backend->ibsim) : NULL;
}
