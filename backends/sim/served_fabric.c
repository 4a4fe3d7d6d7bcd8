/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "served_fabric.h"

#include "builtin_control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Faults in force: they are kept, and whoever asks for more is told to end some. */
#define FAULTS_MAX 1024

struct served_fault {
	struct sim_fault_plan plan;
	uint64_t end; /* ACM_NEVER: it stays */
};

struct sim_served_fabric {
	const struct sim_topology *topology;
	struct sim_control *control; /* the innermost */
	struct sim_fabric *fabric;
	struct sim_fabric_faults faults;
	struct sim_fabric_server *server;
	uint64_t now;
	uint32_t fault_count;
	struct served_fault *in_force[FAULTS_MAX];
};

void sim_served_options_default(struct sim_served_options *options)
{
	*options = (struct sim_served_options){.control = SIM_UNDER_BUILTIN};
	sim_ibsim_options_default(&options->ibsim);
	sim_fabric_server_options_default(&options->server);
}

/* ---- faults ---- */

static void set_node(struct sim_served_fabric *served, enum sim_fault_kind kind, uint32_t node)
{
	switch (kind) {
	case SIM_FAULT_STOP:
		sim_fabric_server_stop_node(served->server, node);
		break;
	case SIM_FAULT_START:
		sim_fabric_server_start_node(served->server, node);
		break;
	case SIM_FAULT_RESTART:
		sim_fabric_server_restart_node(served->server, node);
		break;
	case SIM_FAULT_PAUSE:
		sim_fabric_server_pause_node(served->server, node);
		break;
	case SIM_FAULT_RESUME:
		sim_fabric_server_resume_node(served->server, node);
		break;
	default:
		break;
	}
}

static void set_nodes(struct sim_served_fabric *served, const struct sim_nodes *nodes,
		      enum sim_fault_kind kind)
{
	for (uint32_t i = 0; i < nodes->count; i++)
		set_node(served, kind, nodes->nodes[i]);
}

static int begin(struct sim_served_fabric *served, const struct sim_fault_plan *plan, char *why,
		 size_t size)
{
	if (!sim_fault_is_of_nodes(plan->kind))
		return sim_fabric_faults_apply(&served->faults, plan, served->now, why, size);
	if (plan->kind > SIM_FAULT_RESUME) {
		snprintf(why, size,
			 "%s concerns a service, which does not run in this fabric's server; do it"
			 " to the service itself",
			 sim_fault_kind_name(plan->kind));
		return -EOPNOTSUPP;
	}
	set_nodes(served, &plan->nodes, plan->kind);
	return 0;
}

static void end(struct sim_served_fabric *served, uint32_t place)
{
	struct served_fault *fault = served->in_force[place];

	served->in_force[place] = served->in_force[--served->fault_count];
	if (fault->plan.kind == SIM_FAULT_STOP)
		set_nodes(served, &fault->plan.nodes, SIM_FAULT_START);
	else if (fault->plan.kind == SIM_FAULT_PAUSE)
		set_nodes(served, &fault->plan.nodes, SIM_FAULT_RESUME);
	else if (!sim_fault_is_of_nodes(fault->plan.kind))
		sim_fabric_faults_undo(&served->faults, &fault->plan, NULL, 0);
	sim_fault_plan_free(&fault->plan);
	free(fault);
}

/* All that is wrong, as one sentence. */
static void join_errors(const struct sim_errors *errors, char *why, size_t size)
{
	size_t length = 0;

	why[0] = 0;
	for (uint32_t i = 0; i < errors->count && length < size; i++)
		length += (size_t)snprintf(why + length, size - length, "%s%s", i ? "; " : "",
					   errors->lines[i]);
}

static int read_plan(const struct sim_served_fabric *served, const char *text,
		     struct sim_fault_plan *plan, char *why, size_t size)
{
	struct sim_errors errors = {0};
	int error = sim_fault_plan_parse(served->topology, text, strlen(text), plan, &errors);

	if (error == -EINVAL)
		join_errors(&errors, why, size);
	else if (error)
		snprintf(why, size, "the fault cannot be read: %s", strerror(-error));
	sim_errors_free(&errors);
	return error;
}

static int add_fault(struct sim_served_fabric *served, const char *text, char *why, size_t size)
{
	struct served_fault *fault = calloc(1, sizeof(*fault));
	int error;

	if (!fault) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	error = read_plan(served, text, &fault->plan, why, size);
	if (!error)
		error = begin(served, &fault->plan, why, size);
	if (error) {
		sim_fault_plan_free(&fault->plan);
		free(fault);
		return error;
	}
	fault->end = ACM_NEVER;
	if (fault->plan.duration != ACM_NEVER)
		fault->end = served->now + fault->plan.duration;
	served->in_force[served->fault_count++] = fault;
	return 0;
}

static int take_fault(void *context, const char *text, char *why, size_t size)
{
	struct sim_served_fabric *served = context;

	if (!strcmp(text, "none")) {
		while (served->fault_count)
			end(served, served->fault_count - 1);
		return 0;
	}
	if (served->fault_count < FAULTS_MAX)
		return add_fault(served, text, why, size);
	snprintf(why, size, "%d faults are in force; the fault none ends them", FAULTS_MAX);
	return -ENOSPC;
}

/* ---- running ---- */

int sim_served_fd(const struct sim_served_fabric *served)
{
	return sim_fabric_server_fd(served->server);
}

uint64_t sim_served_deadline(const struct sim_served_fabric *served)
{
	uint64_t deadline = sim_fabric_server_deadline(served->server);
	uint64_t faults = sim_fabric_faults_deadline(&served->faults);

	if (faults < deadline)
		deadline = faults;
	for (uint32_t i = 0; i < served->fault_count; i++) {
		if (served->in_force[i]->end < deadline)
			deadline = served->in_force[i]->end;
	}
	return deadline;
}

int sim_served_process(struct sim_served_fabric *served, uint64_t now, char *why, size_t size)
{
	const char *failure;
	int error;

	served->now = now;
	for (uint32_t i = served->fault_count; i > 0; i--) {
		if (served->in_force[i - 1]->end <= now)
			end(served, i - 1);
	}
	error = sim_fabric_faults_process(&served->faults, now);
	if (!error)
		error = sim_fabric_server_process(served->server, now);
	if (!error)
		return 0;
	failure = sim_fabric_failure(served->fabric);
	snprintf(why, size, "%s", failure ? failure : strerror(-error));
	return error;
}

/* ---- making and ending ---- */

static int make_control(struct sim_served_fabric *served, const struct sim_served_options *options,
			char *why, size_t size)
{
	struct sim_builtin_options builtin;

	if (options->control == SIM_UNDER_IBSIM)
		return sim_ibsim_control_create(served->topology, &options->ibsim, &served->control,
						why, size);
	sim_builtin_options_default(&builtin);
	return sim_builtin_control_create(served->topology, &builtin, &served->control, why, size);
}

static int make_fabric(struct sim_served_fabric *served, const struct sim_served_options *options,
		       char *why, size_t size)
{
	struct sim_control *judged;
	int error = make_control(served, options, why, size);

	if (error)
		return error;
	judged = served->control;
	error = sim_sa_faults_create(served->control, sim_fabric_faults_judge, &served->faults,
				     &judged);
	if (!error)
		error = sim_fabric_create(served->topology, judged, options->seed, &served->fabric);
	if (error) {
		judged->ops->destroy(judged);
		snprintf(why, size, "the fabric cannot be made: %s", strerror(-error));
		return error;
	}
	sim_fabric_faults_use(&served->faults, served->control, options->control, served->fabric);
	if (options->control == SIM_UNDER_BUILTIN)
		sim_builtin_set_traffic(served->control,
					&(struct sim_traffic_source){.read = sim_fabric_traffic,
								     .set = sim_fabric_set_traffic,
								     .context = served->fabric});
	return 0;
}

int sim_served_create(const struct sim_topology *topology, const struct sim_served_options *options,
		      struct sim_served_fabric **served, char *why, size_t size)
{
	struct sim_fabric_server_options server = options->server;
	struct sim_served_fabric *made = calloc(1, sizeof(*made));
	int error = made ? sim_fabric_faults_init(&made->faults, topology, options->seed) : -ENOMEM;

	if (error) {
		free(made);
		snprintf(why, size, "the fabric cannot be made: %s", strerror(-error));
		return error;
	}
	made->topology = topology;
	server.fault = take_fault;
	server.fault_context = made;
	error = make_fabric(made, options, why, size);
	if (!error)
		error = sim_fabric_server_create(topology, made->fabric, &server, &made->server,
						 why, size);
	if (error) {
		sim_served_destroy(made);
		return error;
	}
	*served = made;
	return 0;
}

void sim_served_destroy(struct sim_served_fabric *served)
{
	if (!served)
		return;
	if (served->server)
		sim_fabric_server_destroy(served->server);
	if (served->fabric)
		sim_fabric_destroy(served->fabric);
	sim_fabric_faults_free(&served->faults);
	for (uint32_t i = 0; i < served->fault_count; i++) {
		sim_fault_plan_free(&served->in_force[i]->plan);
		free(served->in_force[i]);
	}
	free(served);
}
