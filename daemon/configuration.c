/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "configuration.h"
#include "log.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define DEFAULT_LOCK_FILE "/run/ibacm.pid"
#define DEFAULT_LOG_FILE  "/var/log/ibacm.log"

static void check_node(const struct configuration *configuration, struct problems *problems)
{
	const struct command_line *line = configuration->line;
	uint32_t index = sim_topology_find(configuration->topology, line->node);

	if (index == SIM_NONE)
		problems_error(problems, line->fabric, 0,
			       "there is no node %s; --node names one of its hosts", line->node);
	else if (configuration->topology->nodes[index].kind != SIM_HOST)
		problems_error(problems, line->fabric, 0,
			       "%s is a switch; --node names one of the hosts", line->node);
}

/* The fabric, and whether this node is one of it. -ENOMEM; other faults are told. */
static int read_fabric(struct configuration *configuration, struct problems *problems)
{
	const char *path = configuration->line->fabric;
	struct sim_errors errors = {.count = 0};
	char why[512];
	int error;

	if (access(path, F_OK)) {
		problems_error(problems, path, 0,
			       "%s; a topology file or the socket of acmite fabric serve was"
			       " expected",
			       strerror(errno));
		return -EINVAL;
	}
	error = sim_topology_load(path, &configuration->topology, &errors);

	for (uint32_t i = 0; i < errors.count; i++)
		fprintf(problems->out, "%s\n", errors.lines[i]);
	problems->errors += errors.count;
	sim_errors_free(&errors);
	if (error) {
		/* The faults were told; lack of memory has no line. */
		if (error == -ENOMEM)
			problems_error(problems, path, 0, "%s", strerror(ENOMEM));
		return error;
	}
	if (sim_topology_fits_ibsim(configuration->topology, why, sizeof(why)))
		problems_error(problems, path, 0, "%s", why);
	check_node(configuration, problems);
	return 0;
}

static enum address_file_ips ips_of(const struct configuration *configuration)
{
	return configuration->options.ips_in_address_file ? ADDRESS_FILE_TAKE_IPS
							  : ADDRESS_FILE_SKIP_IPS;
}

/* With a socket of one's own come companions of one's own, so that daemons run side by side. */
static void choose_files(struct configuration *configuration, struct problems *problems)
{
	const struct command_line *line = configuration->line;
	const struct options *options = &configuration->options;

	if (options->lock_file[0])
		strcpy(configuration->lock_file, options->lock_file);
	else if (line->socket)
		snprintf(configuration->lock_file, sizeof(configuration->lock_file), "%s.pid",
			 line->socket);
	else
		strcpy(configuration->lock_file, DEFAULT_LOCK_FILE);
	configuration->log_file = options->log_file;
	if (!options->log_file[0])
		configuration->log_file = line->background ? DEFAULT_LOG_FILE : "stderr";
	else if (line->background &&
		 (!strcmp(options->log_file, "stdout") || !strcmp(options->log_file, "stderr")))
		problems_error(
			problems, line->option_file, 0,
			"log_file %s is seen by nobody in the background; name a file or use -P",
			options->log_file);
}

static int choose_seed(struct configuration *configuration)
{
	uint64_t *seed = &configuration->options.engine.seed;

	if (configuration->line->has_seed)
		*seed = configuration->line->seed;
	else if (getrandom(seed, sizeof(*seed), 0) != sizeof(*seed))
		return -EIO;
	return 0;
}

/* Which ports and P_Keys there are is seen later; lines for others are told then. */
static int read_address_file(struct configuration *configuration, struct problems *problems)
{
	const char *path = configuration->line->address_file;

	if (!path)
		return 0;
	return address_file_load(&configuration->address_file, path, ips_of(configuration),
				 problems);
}

int configuration_read(struct configuration *configuration, const struct command_line *line,
		       FILE *err)
{
	struct problems problems = {.out = err, .lenient = line->lenient};
	struct problems strict = {.out = err};
	int error = 0;

	memset(configuration, 0, sizeof(*configuration));
	configuration->line = line;
	options_default(&configuration->options);
	if (line->option_file)
		options_load(&configuration->options, line->option_file, &problems);
	choose_files(configuration, &strict);
	configuration->options.engine.trace_mask = log_trace_mask(configuration->options.log_level);
	if (choose_seed(configuration))
		problems_error(&strict, "acmited", 0,
			       "the system gives no random numbers; use --seed");
	if (line->backend == COMMAND_LINE_SIM)
		error = read_fabric(configuration, &strict);
	if (error != -ENOMEM)
		error = read_address_file(configuration, &problems);
	if (error == -ENOMEM)
		return 1;
	return problems.errors || strict.errors ? 2 : 0;
}

void configuration_free(struct configuration *configuration)
{
	address_file_free(&configuration->address_file);
	if (configuration->topology)
		sim_topology_free(configuration->topology);
}
