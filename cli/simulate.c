/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* acmite simulate: runs scenarios on simulated fabrics. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "arguments.h"
#include "scenario_random.h"
#include "simulate_events.h"
#include "simulate_report.h"
#include "simulate_sweep.h"
#include "table.h"

static const char usage[] =
	"Usage: acmite simulate [OPTION...] FILE...\n"
	"       acmite simulate [OPTION...] --random {--seed N | --seeds A..B}\n"
	"Runs scenarios on simulated fabrics, and says of every step whether it holds.\n"
	"\n"
	"  -c, --control NAME   builtin: a model, in virtual time (the default);\n"
	"                       ibsim: OpenSM on ibsim, in real time\n"
	"  -r, --random         no file: the seed decides fabric, options, requests and faults\n"
	"  -s, --seed N         instead of the scenarios' own\n"
	"  -S, --seeds A..B     all seeds from A to B, with a summary\n"
	"  -J, --jobs N         processes for these (1)\n"
	"  -t, --trace FILE     every trace event of the run, to a file or - for standard output\n"
	"      --junit FILE     the verdicts as JUnit's XML\n"
	"      --no-skips       a step that is skipped is a failure\n"
	"  -j, --json           the report as JSON\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit: 0 all holds, 1 something does not, 2 a file or the command line is wrong.\n"
	"The files are described in docs/scenarios.md.\n";

struct arguments {
	const char *control; /* as given, NULL: not */
	bool ibsim;
	bool random;
	bool has_seed;
	uint64_t seed;
	bool sweeps;
	uint64_t first, last;
	bool has_jobs;
	uint32_t jobs;
	const char *trace;
	const char *junit;
	bool no_skips;
	bool json;
	bool help;
};

/* ---- the command line ---- */

static bool read_seed(const char *text, size_t length, uint64_t *seed)
{
	char digits[24];

	if (!length || length > 20 || strspn(text, "0123456789") < length)
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	errno = 0;
	*seed = strtoull(digits, NULL, 10);
	return !errno;
}

static int read_seeds(const char *text, struct arguments *arguments)
{
	const char *dots = strstr(text, "..");

	if (!dots || !read_seed(text, (size_t)(dots - text), &arguments->first) ||
	    !read_seed(dots + 2, strlen(dots + 2), &arguments->last))
		return usage_error("simulate", "--seeds takes a range such as 1..1000");
	if (arguments->last < arguments->first)
		return usage_error(
			"simulate",
			"the range of --seeds is empty: its end is before its beginning");
	if (arguments->last - arguments->first >= 1000000000)
		return usage_error("simulate", "--seeds takes a billion seeds at most");
	arguments->sweeps = true;
	return EXIT_OK;
}

static int read_option(int option, struct arguments *arguments)
{
	switch (option) {
	case 'c':
		arguments->control = optarg;
		arguments->ibsim = !strcmp(optarg, "ibsim");
		if (!arguments->ibsim && strcmp(optarg, "builtin"))
			return usage_error("simulate", "--control is builtin or ibsim");
		return EXIT_OK;
	case 'r':
		arguments->random = true;
		return EXIT_OK;
	case 's':
		arguments->has_seed = read_seed(optarg, strlen(optarg), &arguments->seed);
		return arguments->has_seed ? EXIT_OK
					   : usage_error("simulate", "--seed takes a number");
	case 'S':
		return read_seeds(optarg, arguments);
	case 'J':
		arguments->has_jobs = true;
		if (!argument_number(optarg, 1, 1024, &arguments->jobs))
			return usage_error("simulate", "--jobs takes a number from 1 to 1024");
		return EXIT_OK;
	case 't':
		arguments->trace = optarg;
		return EXIT_OK;
	case 'x':
		arguments->junit = optarg;
		return EXIT_OK;
	case 'n':
		arguments->no_skips = true;
		return EXIT_OK;
	case 'j':
		arguments->json = true;
		return EXIT_OK;
	default:
		arguments->help = true;
		return EXIT_OK;
	}
}

static int check_random(const struct arguments *arguments, int file_count)
{
	if (file_count)
		return usage_error("simulate", "--random needs no file: the seed decides all");
	if (arguments->ibsim)
		return usage_error(
			"simulate",
			"--random needs virtual time, which --control ibsim does not have");
	if (!arguments->has_seed && !arguments->sweeps)
		return usage_error("simulate", "--random needs --seed N or --seeds A..B");
	return EXIT_OK;
}

static int check_arguments(const struct arguments *arguments, int file_count)
{
	if (arguments->random && check_random(arguments, file_count) != EXIT_OK)
		return EXIT_USAGE;
	if (!arguments->random && file_count < 1)
		return usage_error("simulate", "a scenario's file is missing");
	if (arguments->sweeps && arguments->has_seed)
		return usage_error("simulate", "--seed and --seeds exclude each other");
	if (arguments->has_jobs && !arguments->sweeps)
		return usage_error("simulate", "--jobs is for --seeds");
	if (arguments->sweeps && arguments->ibsim)
		return usage_error(
			"simulate",
			"--seeds is not for --control ibsim: time is real there, so a seed names "
			"no run; give --seed N for one run, or sweep without --control ibsim");
	if (arguments->sweeps && arguments->no_skips)
		return usage_error("simulate", "--no-skips is for one run, not for --seeds");
	if (arguments->sweeps && (arguments->trace || arguments->json))
		return usage_error("simulate",
				   "--trace and --json are for one run, not for --seeds");
	if (arguments->trace && file_count > 1)
		return usage_error("simulate", "--trace is for one scenario");
	if (arguments->junit && !strcmp(arguments->junit, "-"))
		return usage_error("simulate",
				   "--junit takes a file; standard output has the report");
	if (arguments->trace && arguments->json && !strcmp(arguments->trace, "-"))
		return usage_error("simulate",
				   "standard output cannot take both --trace - and --json");
	return EXIT_OK;
}

static int read_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {{"control", required_argument, NULL, 'c'},
						{"random", no_argument, NULL, 'r'},
						{"seed", required_argument, NULL, 's'},
						{"seeds", required_argument, NULL, 'S'},
						{"jobs", required_argument, NULL, 'J'},
						{"trace", required_argument, NULL, 't'},
						{"junit", required_argument, NULL, 'x'},
						{"no-skips", no_argument, NULL, 'n'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	char why[256];
	int option;

	*arguments = (struct arguments){.jobs = 1};
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":c:rs:S:J:t:jh", options, NULL)) >= 0) {
		int status;

		if (option == ':' || option == '?') {
			argument_fault(option, argv, why, sizeof(why));
			return usage_error("simulate", why);
		}
		status = read_option(option, arguments);
		if (status != EXIT_OK)
			return status;
	}
	return arguments->help ? EXIT_OK : check_arguments(arguments, argc - optind);
}

/* ---- scenarios ---- */

static void free_scenarios(struct sim_scenario **scenarios, int count)
{
	for (int i = 0; i < count; i++)
		sim_scenario_free(scenarios[i]);
	free(scenarios);
}

/* All of them, or all that is wrong with them. */
static int load_all(char *const *paths, int count, struct sim_scenario **scenarios)
{
	int status = EXIT_OK;

	for (int i = 0; i < count; i++) {
		struct sim_errors errors;
		int error = sim_scenario_load(paths[i], &scenarios[i], &errors);

		if (error == -ENOMEM)
			return command_failed("simulate", "out of memory");
		for (uint32_t j = 0; j < errors.count; j++)
			fprintf(stderr, "%s\n", errors.lines[j]);
		sim_errors_free(&errors);
		if (error)
			status = EXIT_USAGE;
	}
	return status;
}

/* ---- runs ---- */

/* Where one run after the other goes. */
struct output {
	FILE *trace;
	FILE *junit;
	json_t *json;
	int cancel_fd;
};

static int report(const struct arguments *arguments, const struct sim_scenario *scenario,
		  uint64_t seed, const struct sim_run_result *result, struct output *output)
{
	bool good = true;

	if (output->junit)
		simulate_junit_steps(output->junit, scenario, result);
	if (arguments->json)
		good = !json_array_append_new(output->json, simulate_json(scenario, seed, result));
	else if (output->trace != stdout)
		good = simulate_print(scenario, result);
	if (!good)
		return command_failed("simulate", "out of memory");
	fflush(stdout);
	if (arguments->no_skips && result->skipped)
		fprintf(stderr,
			"acmite simulate: %s: %u skipped, which --no-skips does not allow; run it "
			"under the built-in control\n",
			scenario->path, result->skipped);
	if (!result->failed)
		return arguments->no_skips && result->skipped ? EXIT_FAILED : EXIT_OK;
	if (arguments->json || output->trace == stdout)
		simulate_print_failures(stderr, scenario, result);
	if (scenario->drawn && output->trace != stdout)
		simulate_print_events(stderr, scenario, seed);
	simulate_print_repeat(stderr, scenario, seed, arguments->ibsim ? "ibsim" : NULL);
	return EXIT_FAILED;
}

static int run_one(const struct arguments *arguments, const struct sim_scenario *scenario,
		   struct output *output)
{
	struct sim_run_options options = {
		.seed = arguments->has_seed ? arguments->seed : scenario->seed,
		.control = arguments->ibsim ? SIM_UNDER_IBSIM : SIM_UNDER_BUILTIN,
		.trace = output->trace,
		.cancel_fd = output->cancel_fd};
	struct sim_run_result result;
	char why[1024] = "";
	int error, status;

	if (scenario->drawn) {
		simulate_print_drawn(arguments->json || output->trace == stdout ? stderr : stdout,
				     scenario);
		fflush(stdout);
	}
	error = sim_simulation_run(scenario, &options, &result, why, sizeof(why));
	if (error == -ECANCELED) {
		fprintf(stderr, "acmite simulate: interrupted in %s\n", scenario->path);
		return -1;
	}
	if (error) {
		fprintf(stderr, "acmite simulate: %s: %s\n", scenario->path, why);
		return EXIT_FAILED;
	}
	status = report(arguments, scenario, options.seed, &result, output);
	sim_run_result_free(&result);
	return status;
}

static int run_all(const struct arguments *arguments, struct sim_scenario **scenarios, int count,
		   struct output *output)
{
	int status = EXIT_OK;

	for (int i = 0; i < count; i++) {
		int one = run_one(arguments, scenarios[i], output);

		if (one < 0)
			return EXIT_FAILED;
		if (one != EXIT_OK)
			status = one;
	}
	return status;
}

static FILE *open_output(const char *path)
{
	FILE *file = !strcmp(path, "-") ? stdout : fopen(path, "we");

	if (!file)
		fprintf(stderr, "acmite simulate: %s cannot be written: %s\n", path,
			strerror(errno));
	return file;
}

static int close_output(FILE *file, const char *path)
{
	bool bad = file && ferror(file);

	if (file && file != stdout)
		bad |= fclose(file) != 0;
	if (!bad)
		return EXIT_OK;
	fprintf(stderr, "acmite simulate: %s could not be written\n", path);
	return EXIT_FAILED;
}

/* Interrupts are read, so that a run can be ended in order. */
static int watch_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int simulate(const struct arguments *arguments, struct sim_scenario **scenarios, int count)
{
	struct output output = {.cancel_fd = watch_signals()};
	int status = EXIT_OK, closed;

	if (arguments->trace && !(output.trace = open_output(arguments->trace)))
		return EXIT_FAILED;
	if (arguments->junit && !(output.junit = open_output(arguments->junit))) {
		close_output(output.trace, arguments->trace);
		return EXIT_FAILED;
	}
	if (output.junit)
		simulate_junit_open(output.junit);
	if (arguments->json)
		output.json = json_array();
	if (arguments->sweeps) {
		struct simulate_sweep sweep = {.scenarios = scenarios,
					       .scenario_count = (uint32_t)count,
					       .random = arguments->random,
					       .first = arguments->first,
					       .last = arguments->last,
					       .jobs = arguments->jobs,
					       .cancel_fd = output.cancel_fd,
					       .junit = output.junit};

		status = simulate_sweep_run(&sweep);
	} else {
		status = run_all(arguments, scenarios, count, &output);
	}
	if (arguments->json && !json_finish(output.json))
		status = command_failed("simulate", "out of memory");
	if (output.junit)
		simulate_junit_close(output.junit);
	closed = close_output(output.trace, arguments->trace);
	if (closed == EXIT_OK)
		closed = close_output(output.junit, arguments->junit);
	close(output.cancel_fd);
	return status == EXIT_OK ? closed : status;
}

int acmite_simulate_main(int argc, char **argv)
{
	struct arguments arguments;
	struct sim_scenario **scenarios;
	int status = read_arguments(argc, argv, &arguments);
	int count;

	if (status != EXIT_OK)
		return status;
	if (arguments.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	count = arguments.random ? !arguments.sweeps : argc - optind;
	scenarios = calloc((size_t)count + 1, sizeof(struct sim_scenario *));
	if (!scenarios)
		return command_failed("simulate", "out of memory");
	if (!arguments.random)
		status = load_all(argv + optind, count, scenarios);
	else if (count && sim_scenario_random(arguments.seed, &scenarios[0]))
		status = command_failed("simulate", "out of memory");
	if (status == EXIT_OK)
		status = simulate(&arguments, scenarios, count);
	free_scenarios(scenarios, count);
	return status;
}
