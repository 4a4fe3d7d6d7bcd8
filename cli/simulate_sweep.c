/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "simulate_sweep.h"

#include "arguments.h"
#include "commands.h"
#include "scenario_random.h"
#include "simulate_events.h"
#include "simulate_report.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* One seed in so many is run twice, and must be the same both times. */
#define TWICE_EVERY 16
/* So many random runs see all that random runs can see. */
#define RANDOM_ENOUGH 200

/* A run's beginning or end, as a worker tells it. Less than PIPE_BUF, so that no two are mixed. */
struct report {
	uint32_t worker;
	bool begins;
	uint32_t scenario;
	uint64_t seed;
	uint32_t held, failed, skipped;
	uint64_t requests;
	bool seen[SIM_SIGHTINGS];
	char failure[SIM_WHAT_SIZE + SIM_CAME_SIZE + 32];
};

struct worker {
	pid_t pid;     /* 0: it has ended */
	uint64_t next; /* place from which it goes on */
	bool running;
	uint32_t scenario;
	uint64_t seed;
};

struct state {
	const struct simulate_sweep *sweep;
	struct worker *workers;
	int pipe[2];
	uint64_t total, done, failed;
	bool has_failure;
	bool died; /* the run of the lowest seed that fails took its process with it */
	uint64_t first_failing;
	uint32_t failing_scenario;
	char failure[sizeof(((struct report *)0)->failure)];
	uint64_t requests;
	uint64_t seen[SIM_SIGHTINGS]; /* runs in which it was */
	bool interrupted;
};

/* ---- a worker ---- */

/* A rule that is broken says more than the steps that miss their answers for it. */
static void take_failure(const struct sim_scenario *scenario, const struct sim_run_result *result,
			 struct report *report)
{
	const struct sim_outcome *worst = NULL;
	bool of_rule = false;
	char line[24] = "";

	for (uint32_t i = 0; i < result->outcome_count; i++) {
		if (result->outcomes[i].verdict != SIM_FAILED ||
		    (worst && (of_rule || i < scenario->step_count)))
			continue;
		worst = &result->outcomes[i];
		of_rule = i >= scenario->step_count;
	}
	if (!worst)
		return;
	if (worst->line)
		snprintf(line, sizeof(line), "line %u: ", worst->line);
	snprintf(report->failure, sizeof(report->failure), "%s%s: %s", line, worst->what,
		 worst->came);
}

static void run_scenario(const struct sim_scenario *scenario, const struct sim_run_options *options,
			 struct report *report, uint64_t *hash)
{
	struct sim_run_result result;
	char why[512];

	if (sim_simulation_run(scenario, options, &result, why, sizeof(why))) {
		report->failed = 1;
		snprintf(report->failure, sizeof(report->failure), "%.480s", why);
		return;
	}
	report->held = result.held;
	report->failed = result.failed;
	report->skipped = result.skipped;
	report->requests = result.requests;
	memcpy(report->seen, result.seen, sizeof(report->seen));
	take_failure(scenario, &result, report);
	*hash = result.trace_hash;
	sim_run_result_free(&result);
}

/* A random scenario is drawn for each run: that is to be the same each time, too. */
static void run_once(const struct simulate_sweep *sweep, const struct sim_run_options *options,
		     struct report *report, uint64_t *hash)
{
	struct sim_scenario *drawn;

	if (!sweep->random) {
		run_scenario(sweep->scenarios[report->scenario], options, report, hash);
	} else if (!sim_scenario_random(report->seed, &drawn)) {
		run_scenario(drawn, options, report, hash);
		sim_scenario_free(drawn);
	} else {
		report->failed = 1;
		snprintf(report->failure, sizeof(report->failure), "out of memory");
	}
}

static void run_seed(const struct state *state, uint64_t place, struct report *report)
{
	const struct simulate_sweep *sweep = state->sweep;
	struct sim_run_options options = {.seed = report->seed, .cancel_fd = -1};
	uint64_t first = 0, second = 0;

	options.hash = place % TWICE_EVERY == 0;
	run_once(sweep, &options, report, &first);
	if (!options.hash || report->failed)
		return;
	run_once(sweep, &options, report, &second);
	if (first == second || report->failed)
		return;
	report->failed = 1;
	snprintf(report->failure, sizeof(report->failure),
		 "two runs of this seed have different traces; compare them with --trace");
}

static uint32_t scenarios_of(const struct simulate_sweep *sweep)
{
	return sweep->random ? 1 : sweep->scenario_count;
}

/* Every jobs-th place from `place` on. */
static void work(const struct state *state, uint32_t worker, uint64_t place)
{
	const struct simulate_sweep *sweep = state->sweep;

	for (; place < state->total; place += sweep->jobs) {
		struct report report = {.worker = worker,
					.begins = true,
					.scenario = (uint32_t)(place % scenarios_of(sweep)),
					.seed = sweep->first + place / scenarios_of(sweep)};

		if (write(state->pipe[1], &report, sizeof(report)) != sizeof(report))
			return;
		report.begins = false;
		run_seed(state, place, &report);
		if (write(state->pipe[1], &report, sizeof(report)) != sizeof(report))
			return;
	}
}

static bool start_worker(struct state *state, uint32_t worker)
{
	sigset_t signals;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return false;
	if (pid) {
		state->workers[worker].pid = pid;
		return true;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	close(state->pipe[0]);
	work(state, worker, state->workers[worker].next);
	_exit(0);
}

/* ---- the parent ---- */

static void note_failure(struct state *state, uint32_t scenario, uint64_t seed, bool died,
			 const char *text)
{
	state->failed++;
	if (state->has_failure && seed >= state->first_failing)
		return;
	state->has_failure = true;
	state->first_failing = seed;
	state->failing_scenario = scenario;
	state->died = died;
	snprintf(state->failure, sizeof(state->failure), "%s", text);
}

static void write_case(const struct state *state, uint32_t scenario, uint64_t seed,
		       const char *failure)
{
	char name[32];

	if (!state->sweep->junit)
		return;
	snprintf(name, sizeof(name), "seed %" PRIu64, seed);
	simulate_junit_case(state->sweep->junit,
			    state->sweep->random ? "random"
						 : state->sweep->scenarios[scenario]->path,
			    name, failure, NULL);
}

static void take_report(struct state *state, const struct report *report)
{
	struct worker *worker = &state->workers[report->worker];

	worker->running = report->begins;
	worker->scenario = report->scenario;
	worker->seed = report->seed;
	if (report->begins)
		return;
	worker->next += state->sweep->jobs;
	state->done++;
	state->requests += report->requests;
	for (int i = 0; i < SIM_SIGHTINGS; i++)
		state->seen[i] += report->seen[i];
	write_case(state, report->scenario, report->seed, report->failed ? report->failure : NULL);
	if (report->failed)
		note_failure(state, report->scenario, report->seed, false, report->failure);
}

static void show_progress(const struct state *state, const char *end)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " runs, %" PRIu64 " fail%s",
			state->done, state->total, state->failed, end);
}

static void drain(struct state *state)
{
	struct report report;
	struct pollfd readable = {.fd = state->pipe[0], .events = POLLIN};

	while (poll(&readable, 1, 0) > 0 &&
	       read(state->pipe[0], &report, sizeof(report)) == sizeof(report))
		take_report(state, &report);
}

/* A worker that died in a run fails that seed; another goes on behind it. */
static void reap(struct state *state)
{
	for (uint32_t i = 0; i < state->sweep->jobs; i++) {
		struct worker *worker = &state->workers[i];
		char text[64];
		int status;

		if (!worker->pid || waitpid(worker->pid, &status, WNOHANG) != worker->pid)
			continue;
		worker->pid = 0;
		drain(state); /* what it told before it ended */
		if (!worker->running || state->interrupted)
			continue;
		snprintf(text, sizeof(text), "the process died in this run (%s %d)",
			 WIFSIGNALED(status) ? "signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		write_case(state, worker->scenario, worker->seed, text);
		note_failure(state, worker->scenario, worker->seed, true, text);
		worker->running = false;
		worker->next += state->sweep->jobs;
		state->done++;
		if (worker->next < state->total && !start_worker(state, i))
			perror("acmite simulate: no process can be started");
	}
}

static bool any_works(const struct state *state)
{
	for (uint32_t i = 0; i < state->sweep->jobs; i++) {
		if (state->workers[i].pid)
			return true;
	}
	return false;
}

static void stop_workers(struct state *state)
{
	state->interrupted = true;
	for (uint32_t i = 0; i < state->sweep->jobs; i++) {
		if (!state->workers[i].pid)
			continue;
		kill(state->workers[i].pid, SIGKILL);
		waitpid(state->workers[i].pid, NULL, 0);
		state->workers[i].pid = 0;
	}
}

static void supervise(struct state *state)
{
	struct pollfd fds[2] = {{.fd = state->pipe[0], .events = POLLIN},
				{.fd = state->sweep->cancel_fd, .events = POLLIN}};

	while (any_works(state)) {
		poll(fds, 2, 100);
		if (fds[1].revents)
			stop_workers(state);
		drain(state);
		reap(state);
		show_progress(state, "");
	}
	drain(state);
	show_progress(state, "\n");
}

static void print_seen(const struct state *state)
{
	const char *separator = "runs in which was seen: ";
	char name[64];

	for (uint32_t i = 0; i < SIM_SIGHTINGS; i++) {
		if (!state->seen[i])
			continue;
		sim_sighting_name(i, name, sizeof(name));
		printf("%s%s %" PRIu64, separator, name, state->seen[i]);
		separator = ", ";
	}
	printf("\n");
}

/* The failing run of the lowest seed, as its own command would tell it. */
static void explain(const struct state *state)
{
	const struct simulate_sweep *sweep = state->sweep;
	struct sim_scenario *drawn;

	printf("%s\n", state->failure);
	if (!sweep->random) {
		simulate_print_repeat(stdout, sweep->scenarios[state->failing_scenario],
				      state->first_failing, NULL);
		return;
	}
	if (sim_scenario_random(state->first_failing, &drawn))
		return;
	simulate_print_drawn(stdout, drawn);
	if (!state->died)
		simulate_print_events(stdout, drawn, state->first_failing);
	simulate_print_repeat(stdout, drawn, state->first_failing, NULL);
	sim_scenario_free(drawn);
}

static void summarise(const struct state *state)
{
	printf("%" PRIu64 " of %" PRIu64 " runs%s, %" PRIu64 " fail; %" PRIu64 " requests\n",
	       state->done, state->total, state->interrupted ? " (interrupted)" : "", state->failed,
	       state->requests);
	print_seen(state);
	if (state->has_failure)
		explain(state);
}

static bool is_wanted(const struct state *state, uint32_t sighting)
{
	const struct simulate_sweep *sweep = state->sweep;

	if (sweep->random)
		return state->total >= RANDOM_ENOUGH && sim_sighting_is_random(sighting);
	for (uint32_t i = 0; i < sweep->scenario_count; i++) {
		if (sighting < ACM_COUNTER_COUNT &&
		    (sweep->scenarios[i]->sometimes >> sighting & 1))
			return true;
	}
	return false;
}

/* What must be seen, and was in no run: what the sweep was to look for did not happen. */
static bool lacks(const struct state *state)
{
	bool missing = false;
	char name[64];

	for (uint32_t i = 0; i < SIM_SIGHTINGS && !state->interrupted; i++) {
		if (state->seen[i] || !is_wanted(state, i))
			continue;
		sim_sighting_name(i, name, sizeof(name));
		printf("no run has seen any %s, which %s sometimes: more seeds, or an engine that "
		       "does it, are needed\n",
		       name, state->sweep->random ? "random runs see" : "the scenario expects");
		missing = true;
	}
	return missing;
}

int simulate_sweep_run(const struct simulate_sweep *sweep)
{
	struct state state = {.sweep = sweep};
	bool missing;

	state.total = (sweep->last - sweep->first + 1) * scenarios_of(sweep);
	state.workers = calloc(sweep->jobs, sizeof(*state.workers));
	if (!state.workers || pipe(state.pipe))
		return command_failed("simulate", strerror(errno));
	for (uint32_t i = 0; i < sweep->jobs; i++) {
		state.workers[i].next = i;
		if (i < state.total && !start_worker(&state, i)) {
			stop_workers(&state);
			return command_failed("simulate", "no process can be started");
		}
	}
	supervise(&state);
	summarise(&state);
	missing = lacks(&state);
	close(state.pipe[0]);
	close(state.pipe[1]);
	free(state.workers);
	return state.failed || state.interrupted || missing ? EXIT_FAILED : EXIT_OK;
}
