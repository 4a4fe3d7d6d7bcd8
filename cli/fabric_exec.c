/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_exec.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "arguments.h"
#include "attach_environment.h"
#include "attach_welcome.h"
#include "commands.h"

#define COMMAND "fabric exec"
#define LIBRARY "libacmite-preload.so"

/* As a shell has them. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127

static const char usage[] =
	"Usage: acmite fabric exec --fabric PATH --node NAME [--] COMMAND [ARGUMENT...]\n"
	"\n"
	"Runs a program that was built for InfiniBand hardware on a node of a simulated fabric:\n"
	"ibstat, ibv_devinfo, saquery, ibacm, and others of the kind.\n"
	"\n"
	"  -f, --fabric PATH  the socket of acmite fabric serve\n"
	"  -n, --node NAME    the node that the program runs on\n"
	"      --timeout S    how long it waits for the fabric server, now and in the program's\n"
	"                     calls, in seconds (default 10)\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit: the command's; 1 there is no such fabric or node, 2 the command line is wrong,\n"
	"126 the command cannot be run, 127 there is none.\n"
	"docs/fabric-exec.md tells what works and what does not.\n";

struct arguments {
	const char *fabric;
	const char *node;
	uint32_t timeout_ms;
	bool help;
	char **command;
};

static int parse(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"fabric", required_argument, NULL, 'f'},
		{"node", required_argument, NULL, 'n'},
		{"timeout", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	char why[256];
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "+:f:n:h", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			arguments->fabric = optarg;
			break;
		case 'n':
			arguments->node = optarg;
			break;
		case 't':
			if (!argument_timeout(optarg, &arguments->timeout_ms, why, sizeof(why)))
				return usage_error(COMMAND, why);
			break;
		case 'h':
			arguments->help = true;
			return EXIT_OK;
		default:
			argument_fault(option, argv, why, sizeof(why));
			return usage_error(COMMAND, why);
		}
	}
	arguments->command = argv + optind;
	if (!arguments->fabric || !*arguments->fabric)
		return usage_error(COMMAND, "--fabric is missing: the socket of a served fabric");
	if (!arguments->node || !*arguments->node)
		return usage_error(COMMAND, "--node is missing: a node of the fabric");
	if (!arguments->command[0])
		return usage_error(COMMAND, "the command to run is missing");
	return EXIT_OK;
}

/* Where the library is beside this program, in a build tree and when installed. */
static const char *const places[] = {
	"../backends/sim/preload/" LIBRARY,
	ACMITE_PRELOAD_PLACE "/" LIBRARY,
};

/* NULL with a sentence in `why`. To be freed. */
static char *find_library(char *why, size_t size)
{
	char self[PATH_MAX], path[PATH_MAX + 256];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0) {
		snprintf(why, size, "/proc/self/exe cannot be read: %s", strerror(errno));
		return NULL;
	}
	self[length] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, places[i]);
		if (!access(path, R_OK))
			return realpath(path, NULL);
	}
	snprintf(why, size,
		 LIBRARY " is not at %s; it is built where rdma-core's development files are",
		 path);
	return NULL;
}

/* In front of what is loaded before programs already. */
static int set_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;
	int error;

	if (!others || !*others)
		return setenv("LD_PRELOAD", library, 1) ? -ENOMEM : 0;
	if (asprintf(&all, "%s:%s", library, others) < 0)
		return -ENOMEM;
	error = setenv("LD_PRELOAD", all, 1) ? -ENOMEM : 0;
	free(all);
	return error;
}

/* The program may be run in another folder. */
static int set_environment(const struct arguments *arguments, const char *library)
{
	char *socket = realpath(arguments->fabric, NULL);
	char timeout[16];
	int error = 0;

	if (!socket)
		return -errno;
	snprintf(timeout, sizeof(timeout), "%u", arguments->timeout_ms);
	if (setenv(SIM_ATTACH_SOCKET_VARIABLE, socket, 1) ||
	    setenv(SIM_ATTACH_NODE_VARIABLE, arguments->node, 1) ||
	    setenv(SIM_ATTACH_TIMEOUT_VARIABLE, timeout, 1))
		error = -ENOMEM;
	free(socket);
	return error ? error : set_preload(library);
}

/* 0: a server is there and knows the node. */
static int check_server(const struct arguments *arguments, char *why, size_t size)
{
	struct sim_attach_welcome welcome;
	int fd = sim_attach_welcome(arguments->fabric, SIM_ATTACH_PROGRAM, arguments->node,
				    (int)arguments->timeout_ms, &welcome, why, size);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int run(const struct arguments *arguments)
{
	char why[PATH_MAX + 512];
	char *library;
	int error = check_server(arguments, why, sizeof(why));

	if (error)
		return command_failed(COMMAND, why);
	library = find_library(why, sizeof(why));
	if (!library)
		return command_failed(COMMAND, why);
	error = set_environment(arguments, library);
	free(library);
	if (error)
		return command_failed(COMMAND, strerror(-error));
	execvp(arguments->command[0], arguments->command);
	error = errno;
	snprintf(why, sizeof(why), "%s cannot be run: %s", arguments->command[0], strerror(error));
	command_failed(COMMAND, why);
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

int acmite_fabric_exec(int argc, char **argv)
{
	struct arguments arguments = {.timeout_ms = SIM_ATTACH_PATIENCE_MS};
	int status = parse(argc, argv, &arguments);

	if (status != EXIT_OK)
		return status;
	if (arguments.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	return run(&arguments);
}
