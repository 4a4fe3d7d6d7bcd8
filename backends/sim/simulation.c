/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "simulation_state.h"
#include "real_time.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the parts share ---- */

bool simulation_grow(struct simulation *simulation, void *array, uint32_t count, uint32_t *room,
		     size_t size)
{
	uint32_t more = *room * 2 + 16;
	void *larger, *old;

	if (count < *room)
		return true;
	memcpy(&old, array, sizeof(old));
	larger = realloc(old, more * size);
	if (!larger) {
		simulation->error = -ENOMEM;
		return false;
	}
	memcpy(array, &larger, sizeof(larger));
	*room = more;
	return true;
}

const char *simulation_node_name(const struct simulation *simulation, uint32_t node)
{
	return node == SIM_NONE ? "no node" : simulation->topology->nodes[node].name;
}

/* Sorted, the next one last; those of one time in the order in which they were scheduled. */
void simulation_schedule(struct simulation *simulation, struct sim_due due)
{
	uint32_t place = simulation->due_count;

	if (!simulation_grow(simulation, &simulation->due, place, &simulation->due_room,
			     sizeof(due)))
		return;
	due.sequence = simulation->due_sequence++;
	while (place && simulation->due[place - 1].time <= due.time) {
		simulation->due[place] = simulation->due[place - 1];
		place--;
	}
	simulation->due[place] = due;
	simulation->due_count++;
}

struct sim_outcome *simulation_outcome(struct simulation *simulation, enum sim_verdict verdict)
{
	struct sim_run_result *result = simulation->result;
	struct sim_outcome *outcomes =
		realloc(result->outcomes, (result->outcome_count + 1) * sizeof(*result->outcomes));

	if (!outcomes) {
		simulation->error = -ENOMEM;
		return NULL;
	}
	result->outcomes = outcomes;
	outcomes[result->outcome_count] =
		(struct sim_outcome){.at = simulation_time(simulation), .verdict = verdict};
	return &outcomes[result->outcome_count++];
}

void simulation_broken(struct simulation *simulation, const char *rule, const char *format, ...)
{
	struct sim_outcome *outcome;
	va_list arguments;

	for (uint32_t i = simulation->scenario->step_count; i < simulation->result->outcome_count;
	     i++) {
		if (!strncmp(simulation->result->outcomes[i].what + 6, rule, strlen(rule)))
			return;
	}
	outcome = simulation_outcome(simulation, SIM_FAILED);
	if (!outcome)
		return;
	snprintf(outcome->what, sizeof(outcome->what), "rule: %s", rule);
	va_start(arguments, format);
	vsnprintf(outcome->came, sizeof(outcome->came), format, arguments);
	va_end(arguments);
	if (simulation->options->trace)
		fprintf(simulation->options->trace, "%" PRIu64 " rule broken: %s: %s\n",
			simulation->now - simulation->start, rule, outcome->came);
}

static void tell_broken(void *context, const char *rule, const char *text)
{
	simulation_broken(context, rule, "%s", text);
}

static void watch_resident(void *context, struct sim_resident *resident)
{
	struct simulation *simulation = context;
	uint32_t node = sim_resident_node(resident);
	const struct acm_engine_config *config = sim_scenario_config(simulation->scenario, node);
	struct acm_engine_stats stats;

	acm_engine_stats(sim_resident_engine(resident), &stats);
	sim_invariants_engine(&simulation->invariants, node, &stats,
			      config->compat == ACM_COMPAT_IBACM ? UINT64_MAX
								 : config->memory_budget);
}

/* ---- clocks ---- */

/* Lets time pass until `until` at the latest. */
static void pass_time(struct simulation *simulation, uint64_t until)
{
	struct pollfd fds[2] = {{.fd = simulation->options->cancel_fd, .events = POLLIN}};
	uint64_t wait;
	int timeout = 0;

	if (simulation->options->control == SIM_UNDER_BUILTIN) {
		if (until > simulation->now)
			simulation->now = until;
	} else {
		uint64_t now = sim_real_time();

		wait = until > now ? (until - now + ACM_NSEC_PER_MSEC - 1) / ACM_NSEC_PER_MSEC : 0;
		timeout = wait > 1000 ? 1000 : (int)wait;
		fds[1] = (struct pollfd){.fd = sim_fabric_fd(simulation->fabric), .events = POLLIN};
	}
	/* In virtual time a look at the descriptor now and then is enough. */
	if (timeout || fds[1].fd > 0 || (simulation->result->events & 1023) == 0) {
		poll(fds, simulation->options->control == SIM_UNDER_IBSIM ? 2 : 1, timeout);
		if (fds[0].revents)
			simulation->error = -ECANCELED;
	}
	if (simulation->options->control == SIM_UNDER_IBSIM)
		simulation->now = sim_real_time();
}

/* ---- the course of it ---- */

static void begin_step(struct simulation *simulation, uint32_t step)
{
	switch (simulation->scenario->steps[step].kind) {
	case SIM_STEP_RESOLVE:
		simulation_begin_resolve(simulation, step);
		break;
	case SIM_STEP_FAULT:
		simulation_fault_step(simulation, step);
		break;
	case SIM_STEP_CHECK:
		simulation_check_step(simulation, step);
		break;
	}
}

static void do_due(struct simulation *simulation)
{
	while (!simulation->error && simulation->due_count &&
	       simulation->due[simulation->due_count - 1].time <= simulation->now) {
		struct sim_due due = simulation->due[--simulation->due_count];

		switch (due.kind) {
		case SIM_DUE_STEP:
			begin_step(simulation, due.index);
			break;
		case SIM_DUE_UNDO:
			simulation_undo(simulation, due.plan);
			break;
		case SIM_DUE_CANCEL:
			simulation_cancel(simulation, due.index);
			break;
		case SIM_DUE_FAULT:
			simulation_drawn_fault(simulation, due.plan);
			break;
		case SIM_DUE_DRAWN:
			simulation_ask_drawn(simulation, due.index);
			break;
		}
	}
}

/* All that happens at this time, in the fabric and on its nodes. */
static void settle(struct simulation *simulation)
{
	uint64_t turns = 0;

	do {
		simulation->error =
			sim_fabric_faults_process(&simulation->fabric_faults, simulation->now);
		if (!simulation->error)
			simulation->error = sim_fabric_process(simulation->fabric, simulation->now);
		if (!simulation->error)
			simulation->error =
				sim_population_run(simulation->population, simulation->now);
		if (!simulation->error)
			simulation_answer_searches(simulation);
		if (!simulation->error && ++turns > simulation->guards.turns)
			simulation->error = -ELOOP;
	} while (!simulation->error &&
		 (simulation->search_count ||
		  sim_population_deadline(simulation->population) <= simulation->now ||
		  (simulation->options->control == SIM_UNDER_BUILTIN &&
		   sim_fabric_deadline(simulation->fabric) <= simulation->now)));
	if (simulation->error == -ELOOP)
		simulation_broken(simulation, "time goes on",
				  "more than %" PRIu64 " turns at one time",
				  simulation->guards.turns);
}

/* What must hold after each event. */
static void watch_all(struct simulation *simulation, const struct sim_fabric_stats *stats)
{
	sim_invariants_fabric(&simulation->invariants, stats);
	sim_ledger_check(&simulation->ledger, simulation->now);
	simulation_heal(simulation);
}

static void begin(struct simulation *simulation)
{
	const struct sim_scenario *scenario = simulation->scenario;

	simulation->begun = true;
	simulation->origin = simulation->now;
	for (uint32_t i = 0; i < scenario->step_count; i++)
		simulation_schedule(simulation, (struct sim_due){.time = simulation->now +
									 scenario->steps[i].at,
								 .kind = SIM_DUE_STEP,
								 .index = i});
	if (scenario->random_faults)
		simulation_draw_faults(simulation);
}

static void check_ready(struct simulation *simulation)
{
	const struct sim_resident *first = NULL;
	uint32_t unready = sim_population_unready(simulation->population, NULL);

	if (!unready && simulation_is_settled(simulation)) {
		begin(simulation);
		return;
	}
	if (simulation->now - simulation->start < simulation->guards.ready)
		return;
	sim_population_unready(simulation->population, &first);
	simulation_broken(simulation, "the fabric becomes ready",
			  "%u nodes have no membership after %" PRIu64 " ms, %s among them",
			  unready, simulation->guards.ready / ACM_NSEC_PER_MSEC,
			  first ? simulation_node_name(simulation, sim_resident_node(first)) : "");
	simulation->error = -ETIME;
}

/* True when all is over. */
static bool go_on(struct simulation *simulation)
{
	if (!simulation->begun)
		check_ready(simulation);
	if (!simulation->begun || simulation->error)
		return false;
	if (simulation->due_count || (simulation->ledger.open && !simulation->in_finally))
		return false;
	if (!simulation->in_finally && !simulation->scenario->has_finally)
		return true;
	/* A manager that is on its way is part of the fault that brought it. */
	if (!simulation->in_finally && !simulation_is_managed(simulation))
		return false;
	if (!simulation->in_finally)
		simulation_begin_finally(simulation);
	if (!simulation->error && !simulation->finally_done)
		simulation_run_finally(simulation);
	return simulation->finally_done;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_time(struct simulation *simulation)
{
	uint64_t next = earliest(sim_fabric_deadline(simulation->fabric),
				 sim_population_deadline(simulation->population));

	next = earliest(next, sim_fabric_faults_deadline(&simulation->fabric_faults));
	next = earliest(next, sim_ledger_deadline(&simulation->ledger));
	if (simulation->due_count)
		next = earliest(next, simulation->due[simulation->due_count - 1].time);
	if (!simulation->begun) {
		next = earliest(next, simulation->start + simulation->guards.ready);
		if (simulation->settles_at > simulation->now)
			next = earliest(next, simulation->settles_at);
	}
	if (simulation->managed_by)
		next = earliest(next, simulation->managed_by);
	if (simulation->in_finally) {
		next = earliest(next, simulation->finally_end);
		if (simulation->next_round > simulation->now)
			next = earliest(next, simulation->next_round);
		else if (!simulation->pairs_open)
			next = simulation->now;
	}
	return next;
}

static void run(struct simulation *simulation)
{
	if (simulation->scenario->cold) { /* before anything happens */
		sim_disturbances_begin_all(&simulation->disturbances);
		begin(simulation);
	}
	while (!simulation->error) {
		struct sim_fabric_stats stats;
		uint64_t next;

		do_due(simulation);
		if (!simulation->error)
			settle(simulation);
		if (simulation->error)
			break;
		sim_fabric_stats(simulation->fabric, &stats);
		simulation->longest_way = stats.longest;
		watch_all(simulation, &stats);
		if (simulation_is_beyond(simulation, &stats) || go_on(simulation))
			break;
		next = next_time(simulation);
		if (next == ACM_NEVER) {
			simulation_broken(simulation, "the run comes to its end",
					  "nothing is left to happen");
			break;
		}
		simulation->result->events++;
		pass_time(simulation, next);
	}
}

/* ---- making and ending ---- */

static int add_hosts(struct simulation *simulation)
{
	const struct sim_topology *topology = simulation->topology;

	for (uint32_t node = topology->switch_count; node < topology->node_count; node++) {
		int error;

		simulation->hosts[node] = (struct sim_host){.simulation = simulation, .node = node};
		error = simulation_add_host(simulation, node);
		if (error)
			return error;
	}
	return 0;
}

static int watch_rules(struct simulation *simulation)
{
	const struct sim_topology *topology = simulation->topology;
	const struct sim_breach_hook hook = {.told = tell_broken, .context = simulation};
	int error =
		sim_invariants_init(&simulation->invariants, topology, simulation->control, &hook);

	simulation_watch_ways(simulation);
	if (!error)
		error = sim_ledger_init(&simulation->ledger, topology, &hook);
	if (!error)
		error = sim_inquiries_init(&simulation->inquiries, topology, &hook);
	if (!error)
		error = sim_disturbances_init(&simulation->disturbances, topology, &hook);
	if (!error)
		error = sim_memberships_init(&simulation->memberships, topology->node_count);
	return error;
}

static int set_up(struct simulation *simulation, char *why, size_t size)
{
	const struct sim_topology *topology = simulation->topology;
	int error;

	simulation_set_guards(simulation);
	snprintf(why, size, "out of memory");
	simulation->hosts = calloc(topology->node_count, sizeof(*simulation->hosts));
	simulation->progress =
		calloc(simulation->scenario->step_count + 1, sizeof(*simulation->progress));
	if (!simulation->hosts || !simulation->progress)
		return -ENOMEM;
	error = sim_fabric_faults_init(&simulation->fabric_faults, topology,
				       simulation->options->seed);
	if (error)
		return error;
	error = simulation_make_fabric(simulation, why, size);
	if (error)
		return error;
	error = watch_rules(simulation);
	if (!error)
		error = sim_population_create(topology, simulation->fabric,
					      &simulation->population);
	if (error)
		return error;
	sim_population_watch(simulation->population, watch_resident, simulation);
	sim_population_limit(simulation->population, simulation->guards.turns);
	if (simulation->options->control == SIM_UNDER_IBSIM)
		simulation->now = sim_real_time();
	simulation->start = simulation->now;
	error = add_hosts(simulation);
	simulation_set_bounds(simulation);
	return error;
}

/* Takes the counters, ends all nodes and looks for what they left behind. */
static void end_nodes(struct simulation *simulation)
{
	const struct sim_topology *topology = simulation->topology;

	for (uint32_t node = topology->switch_count; node < topology->node_count; node++) {
		struct sim_resident *resident =
			sim_population_resident(simulation->population, node);
		struct acm_engine_stats engine;

		if (!resident)
			continue;
		acm_engine_stats(sim_resident_engine(resident), &engine);
		for (int i = 0; i < ACM_COUNTER_COUNT; i++)
			simulation->result->counters[i] += engine.counters[i];
		sim_population_remove(resident);
	}
	sim_invariants_leaked(&simulation->invariants,
			      sim_population_leaked(simulation->population));
	simulation_note_sightings(simulation);
	simulation->result->fabric_time = simulation->now - simulation->start;
}

static void tear_down(struct simulation *simulation)
{
	if (simulation->population)
		sim_population_destroy(simulation->population);
	if (simulation->fabric)
		sim_fabric_destroy(simulation->fabric);
	sim_fabric_faults_free(&simulation->fabric_faults);
	sim_invariants_free(&simulation->invariants);
	sim_inquiries_free(&simulation->inquiries);
	sim_disturbances_free(&simulation->disturbances);
	sim_hindrances_free(&simulation->hindrances);
	sim_memberships_free(&simulation->memberships);
	sim_ledger_free(&simulation->ledger);
	for (uint32_t i = 0; i < simulation->drawn_count; i++)
		sim_fault_plan_free(&simulation->drawn[i]);
	free(simulation->drawn);
	free(simulation->due);
	free(simulation->searches);
	free(simulation->deferred);
	free(simulation->targets);
	free(simulation->pairs);
	free(simulation->progress);
	free(simulation->hosts);
}

static void conclude(struct simulation *simulation)
{
	struct sim_run_result *result = simulation->result;

	for (uint32_t i = 0; i < simulation->scenario->step_count; i++) {
		struct sim_outcome *outcome = &result->outcomes[i];

		if (simulation->progress[i].done)
			continue;
		outcome->verdict = SIM_FAILED;
		outcome->at = simulation->scenario->steps[i].at;
		snprintf(outcome->what, sizeof(outcome->what), "step %u", i + 1);
		snprintf(outcome->came, sizeof(outcome->came), "%u answers are missing",
			 simulation->progress[i].outstanding);
	}
	for (uint32_t i = 0; i < result->outcome_count; i++) {
		result->held += result->outcomes[i].verdict == SIM_HELD;
		result->failed += result->outcomes[i].verdict == SIM_FAILED;
		result->skipped += result->outcomes[i].verdict == SIM_SKIPPED;
	}
}

static int make_outcomes(const struct sim_scenario *scenario, struct sim_run_result *result)
{
	result->outcomes = calloc(scenario->step_count + 1, sizeof(*result->outcomes));
	if (!result->outcomes)
		return -ENOMEM;
	result->outcome_count = scenario->step_count;
	for (uint32_t i = 0; i < scenario->step_count; i++)
		result->outcomes[i].line = scenario->steps[i].place.line;
	return 0;
}

int sim_simulation_run(const struct sim_scenario *scenario, const struct sim_run_options *options,
		       struct sim_run_result *result, char *why, size_t size)
{
	struct simulation simulation = {.scenario = scenario,
					.options = options,
					.topology = scenario->topology,
					.result = result};
	int error;

	memset(result, 0, sizeof(*result));
	result->trace_hash = UINT64_C(0xcbf29ce484222325);
	error = make_outcomes(scenario, result);
	if (!error)
		error = set_up(&simulation, why, size);
	if (!error) {
		run(&simulation);
		error = simulation.error;
		if (error == -ELOOP || error == -ETIME)
			error = 0; /* a rule that was broken */
		if (sim_fabric_failure(simulation.fabric))
			snprintf(why, size, "%s", sim_fabric_failure(simulation.fabric));
		else
			snprintf(why, size, "%s", strerror(-error));
		end_nodes(&simulation);
	}
	if (!error)
		conclude(&simulation);
	tear_down(&simulation);
	if (error)
		sim_run_result_free(result);
	return error;
}

void sim_run_result_free(struct sim_run_result *result)
{
	free(result->outcomes);
	memset(result, 0, sizeof(*result));
}
