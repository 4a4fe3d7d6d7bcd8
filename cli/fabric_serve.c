/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_serve.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "arguments.h"
#include "commands.h"
#include "real_time.h"
#include "served_fabric.h"

#define COMMAND "fabric serve"
/* Nearer than this is waited for by looking again: a sleep would be later. */
#define NEAR_NS (30 * ACM_NSEC_PER_USEC)
/* Then signals get their turn. */
#define ROUNDS_AT_ONCE 64
#define WHY_SIZE       2048

static const char usage[] =
	"Usage: acmite fabric serve --socket PATH [--control builtin|ibsim] [OPTION...] FILE\n"
	"\n"
	"Runs the fabric of a topology file in real time, for programs that attach to it: acmited\n"
	"with --backend sim --fabric PATH, and what acmite fabric exec starts. READY on standard\n"
	"output tells when its subnet is up. SIGINT and SIGTERM end it.\n"
	"\n"
	"  -S, --socket PATH   the Unix socket to be served\n"
	"  -c, --control NAME  builtin (the default), a model that needs nothing else; ibsim, "
	"with\n"
	"                      OpenSM\n"
	"  -m, --mode MODE     the socket's mode, octal (default 600)\n"
	"      --scratch DIR   ibsim: where the scratch folder is made (default: $TMPDIR or /tmp)\n"
	"      --seed NUMBER   random choices repeat with it (default: another one each time)\n"
	"  -v, --verbose       say on standard error what is waited for\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit: 0 told to stop, 1 the fabric cannot be run, 2 the file or the command line is "
	"wrong.\n"
	"docs/attach.md tells how programs attach; acmite fabric show and fault look at it and\n"
	"harm it.\n";

struct arguments {
	const char *file;
	const char *socket;
	const char *scratch;
	const char *control;
	const char *mode_text;
	const char *seed_text;
	mode_t mode;
	uint64_t seed;
	bool verbose;
	bool help;
};

enum { SCRATCH = 256, SEED };

/* ---- arguments ---- */

static void take(struct arguments *arguments, int option)
{
	switch (option) {
	case 'S':
		arguments->socket = optarg;
		break;
	case 'c':
		arguments->control = optarg;
		break;
	case 'm':
		arguments->mode_text = optarg;
		break;
	case SCRATCH:
		arguments->scratch = optarg;
		break;
	case SEED:
		arguments->seed_text = optarg;
		break;
	case 'v':
		arguments->verbose = true;
		break;
	case 'h':
		arguments->help = true;
		break;
	}
}

static bool read_number(const char *text, int base, uint64_t most, uint64_t *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, base);
	return !errno && !*end && *number <= most;
}

static int check(struct arguments *arguments, char **files, char *why, size_t size)
{
	uint64_t mode = 0600;

	why[0] = 0;
	if (arguments->help)
		return 0;
	if (strcmp(arguments->control, "builtin") && strcmp(arguments->control, "ibsim"))
		snprintf(why, size, "there is no control %s; expected builtin or ibsim",
			 arguments->control);
	else if (!arguments->socket || !*arguments->socket)
		snprintf(why, size, "--socket PATH is missing");
	else if (!files[0] || files[1])
		snprintf(why, size, "one topology FILE is expected");
	else if (arguments->mode_text && !read_number(arguments->mode_text, 8, 0777, &mode))
		snprintf(why, size, "--mode %s: expected octal digits, as 600",
			 arguments->mode_text);
	else if (arguments->seed_text &&
		 !read_number(arguments->seed_text, 0, UINT64_MAX, &arguments->seed))
		snprintf(why, size, "--seed %s is no number of 64 bits", arguments->seed_text);
	else if (!arguments->seed_text &&
		 getrandom(&arguments->seed, sizeof(arguments->seed), 0) != sizeof(arguments->seed))
		snprintf(why, size, "the system gives no random numbers; use --seed");
	arguments->file = files[0];
	arguments->mode = (mode_t)mode;
	return why[0] ? EXIT_USAGE : 0;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"socket", required_argument, NULL, 'S'},
		{"control", required_argument, NULL, 'c'},
		{"mode", required_argument, NULL, 'm'},
		{"scratch", required_argument, NULL, SCRATCH},
		{"seed", required_argument, NULL, SEED},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	char why[256];
	int option;

	*arguments = (struct arguments){.control = "builtin"};
	optind = 0;
	while ((option = getopt_long(argc, argv, ":S:c:m:vh", options, NULL)) != -1) {
		if (option == '?' || option == ':') {
			argument_fault(option, argv, why, sizeof(why));
			return usage_error(COMMAND, why);
		}
		take(arguments, option);
	}
	if (check(arguments, argv + optind, why, sizeof(why)))
		return usage_error(COMMAND, why);
	return 0;
}

/* ---- running ---- */

/* Until there is work or a signal, which is looked for now and then. True: a signal. */
static bool wait_for_work(const struct sim_served_fabric *served, int signal_fd, uint32_t round)
{
	struct pollfd fds[] = {{.fd = sim_served_fd(served), .events = POLLIN},
			       {.fd = signal_fd, .events = POLLIN}};
	uint64_t deadline = sim_served_deadline(served), now = sim_real_time();
	uint64_t left = deadline > now ? deadline - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(left / ACM_NSEC_PER_SEC),
				   .tv_nsec = (long)(left % ACM_NSEC_PER_SEC)};

	if (left <= NEAR_NS) {
		if (round % ROUNDS_AT_ONCE)
			return false;
		timeout.tv_sec = timeout.tv_nsec = 0;
	}
	return ppoll(fds, 2, deadline == ACM_NEVER ? NULL : &timeout, NULL) > 0 && fds[1].revents;
}

static int run(struct sim_served_fabric *served, int signal_fd)
{
	char why[WHY_SIZE];
	uint32_t round = 0;

	do {
		if (sim_served_process(served, sim_real_time(), why, sizeof(why)))
			return command_failed(COMMAND, why);
	} while (!wait_for_work(served, signal_fd, ++round));
	return EXIT_OK;
}

static void tell(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "acmite fabric serve: %s\n", text);
}

static int serve(const struct arguments *arguments, const struct sim_topology *topology,
		 int signal_fd)
{
	struct sim_served_options options;
	struct sim_served_fabric *served;
	char why[WHY_SIZE];
	int ret;

	sim_served_options_default(&options);
	options.seed = arguments->seed;
	options.server.path = arguments->socket;
	options.server.mode = arguments->mode;
	if (!strcmp(arguments->control, "ibsim"))
		options.control = SIM_UNDER_IBSIM;
	options.ibsim.scratch = arguments->scratch;
	options.ibsim.cancel_fd = signal_fd;
	options.ibsim.progress = arguments->verbose ? tell : NULL;
	options.ibsim.notice = tell;
	options.server.notice = tell;
	ret = sim_served_create(topology, &options, &served, why, sizeof(why));
	if (ret == -ECANCELED)
		return command_failed(COMMAND, "told to stop while starting");
	if (ret)
		return command_failed(COMMAND, why);
	printf("READY fabric=%s control=%s socket=%s\n", topology->name, arguments->control,
	       arguments->socket);
	if (fflush(stdout))
		ret = command_failed(COMMAND, "READY cannot be written to standard output");
	else
		ret = run(served, signal_fd);
	sim_served_destroy(served);
	return ret;
}

/* ---- all ---- */

static struct sim_topology *load(const struct arguments *arguments)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors = {0};
	char why[512];
	int error = sim_topology_load(arguments->file, &topology, &errors);

	for (uint32_t i = 0; i < errors.count; i++)
		fprintf(stderr, "%s\n", errors.lines[i]);
	if (error == -ENOMEM)
		fprintf(stderr, "acmite fabric serve: %s: %s\n", arguments->file, strerror(ENOMEM));
	sim_errors_free(&errors);
	if (!error && !strcmp(arguments->control, "ibsim") &&
	    sim_topology_fits_ibsim(topology, why, sizeof(why))) {
		fprintf(stderr, "%s: %s\n", arguments->file, why);
		sim_topology_free(topology);
		return NULL;
	}
	return error ? NULL : topology;
}

/* Each program takes a descriptor. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* A signal that ends it, as a descriptor. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Nobody reads what it says: an error as others, after which it cleans up. */
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int acmite_fabric_serve(int argc, char **argv)
{
	struct arguments arguments;
	struct sim_topology *topology;
	int ret = parse(argc, argv, &arguments), signal_fd;

	if (ret)
		return ret;
	if (arguments.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	signal_fd = open_signals();
	if (signal_fd < 0)
		return command_failed(COMMAND, "signals cannot be taken");
	topology = load(&arguments);
	ret = EXIT_USAGE;
	if (topology) {
		raise_descriptor_limit();
		ret = serve(&arguments, topology, signal_fd);
	}
	sim_topology_free(topology);
	close(signal_fd);
	return ret;
}
