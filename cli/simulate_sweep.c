/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "simulate_sweep.h"

#include "arguments.h"
#include "commands.h"
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

/* A run's beginning or end, as a worker tells it. Less than PIPE_BUF, so that no two are mixed. */
struct report {
	uint32_t worker;
	bool begins;
	uint32_t scenario;
	uint64_t seed;
	uint32_t held, failed, skipped;
	uint64_t requests;
	uint64_t lost;
	uint64_t counters[ACM_COUNTER_COUNT];
	char failure[SIM_WHAT_SIZE + SIM_CAME_SIZE + 16];
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
	uint64_t first_failing;
	uint32_t failing_scenario;
	char failure[sizeof(((struct report *)0)->failure)];
	uint64_t requests, lost;
	uint64_t seen[ACM_COUNTER_COUNT]; /* runs in which a counter was not zero */
	bool interrupted;
};

/* ---- a worker ---- */

static void take_failure(const struct sim_run_result *result, struct report *report)
{
	for (uint32_t i = 0; i < result->outcome_count; i++) {
		if (result->outcomes[i].verdict != SIM_FAILED)
			continue;
		snprintf(report->failure, sizeof(report->failure), "line %u: %s: %s",
			 result->outcomes[i].line, result->outcomes[i].what,
			 result->outcomes[i].came);
		return;
	}
}

static void run_once(const struct sim_scenario *scenario, const struct sim_run_options *options,
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
	report->lost = result.lost;
	memcpy(report->counters, result.counters, sizeof(report->counters));
	take_failure(&result, report);
	*hash = result.trace_hash;
	sim_run_result_free(&result);
}

static void run_seed(const struct state *state, uint64_t place, struct report *report)
{
	const struct sim_scenario *scenario = state->sweep->scenarios[report->scenario];
	struct sim_run_options options = {.seed = report->seed, .cancel_fd = -1};
	uint64_t first = 0, second = 0;

	options.hash = place % TWICE_EVERY == 0;
	run_once(scenario, &options, report, &first);
	if (!options.hash || report->failed)
		return;
	run_once(scenario, &options, report, &second);
	if (first == second || report->failed)
		return;
	report->failed = 1;
	snprintf(report->failure, sizeof(report->failure),
		 "two runs of this seed have different traces; compare them with --trace");
}

/* Every jobs-th place from `place` on. */
static void work(const struct state *state, uint32_t worker, uint64_t place)
{
	const struct simulate_sweep *sweep = state->sweep;

	for (; place < state->total; place += sweep->jobs) {
		struct report report = {.worker = worker,
					.begins = true,
					.scenario = (uint32_t)(place % sweep->scenario_count),
					.seed = sweep->first + place / sweep->scenario_count};

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

static void note_failure(struct state *state, uint32_t scenario, uint64_t seed, const char *text)
{
	state->failed++;
	if (state->has_failure && seed >= state->first_failing)
		return;
	state->has_failure = true;
	state->first_failing = seed;
	state->failing_scenario = scenario;
	snprintf(state->failure, sizeof(state->failure), "%s", text);
}

static void write_case(const struct state *state, uint32_t scenario, uint64_t seed,
		       const char *failure)
{
	char name[32];

	if (!state->sweep->junit)
		return;
	snprintf(name, sizeof(name), "seed %" PRIu64, seed);
	simulate_junit_case(state->sweep->junit, state->sweep->scenarios[scenario]->path, name,
			    failure, NULL);
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
	state->lost += report->lost != 0;
	for (int i = 0; i < ACM_COUNTER_COUNT; i++)
		state->seen[i] += report->counters[i] != 0;
	write_case(state, report->scenario, report->seed, report->failed ? report->failure : NULL);
	if (report->failed)
		note_failure(state, report->scenario, report->seed, report->failure);
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
		note_failure(state, worker->scenario, worker->seed, text);
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

static void summarise(const struct state *state)
{
	printf("%" PRIu64 " of %" PRIu64 " runs%s, %" PRIu64 " fail; %" PRIu64 " requests\n",
	       state->done, state->total, state->interrupted ? " (interrupted)" : "", state->failed,
	       state->requests);
	printf("runs in which was seen: packets lost %" PRIu64, state->lost);
	for (int i = ACM_COUNTER_REQUESTS + 2; i < ACM_COUNTER_COUNT; i++)
		printf(", %s %" PRIu64, acm_counter_name((enum acm_counter)i), state->seen[i]);
	printf("\n");
	if (!state->has_failure)
		return;
	printf("%s\n", state->failure);
	simulate_print_repeat(stdout, state->sweep->scenarios[state->failing_scenario],
			      state->first_failing, NULL);
}

/* Counters that must be seen, and were in no run: what the sweep was to look for did not happen. */
static bool lacks(const struct state *state)
{
	uint64_t wanted = 0;
	bool missing = false;

	for (uint32_t i = 0; i < state->sweep->scenario_count; i++)
		wanted |= state->sweep->scenarios[i]->sometimes;
	for (int i = 0; i < ACM_COUNTER_COUNT; i++) {
		if (!(wanted >> i & 1) || state->seen[i] || state->interrupted)
			continue;
		printf("no run has seen any %s, which the scenario expects sometimes: more seeds, "
		       "or an engine that does it, are needed\n",
		       acm_counter_name((enum acm_counter)i));
		missing = true;
	}
	return missing;
}

int simulate_sweep_run(const struct simulate_sweep *sweep)
{
	struct state state = {.sweep = sweep};
	bool missing;

	state.total = (sweep->last - sweep->first + 1) * sweep->scenario_count;
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
