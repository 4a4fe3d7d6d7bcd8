/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "background.h"
#include "command_line.h"
#include "configuration.h"
#include "service.h"

#include <stdlib.h>
#include <string.h>

static int run(const struct configuration *configuration)
{
	int background = -1;

	if (configuration->line->background) {
		background = background_start();
		if (background < 0) {
			fprintf(stderr,
				"acmited: cannot go to the background: %s; -P stays in the "
				"foreground\n",
				strerror(-background));
			return EXIT_FAILURE;
		}
	}
	return service_run(configuration, background);
}

static int read_and_run(const struct command_line *line)
{
	struct configuration configuration;
	int status = configuration_read(&configuration, line, stderr);

	if (!status && !line->check_config)
		status = run(&configuration);
	configuration_free(&configuration);
	return status;
}

int main(int argc, char **argv)
{
	struct command_line line;

	switch (command_line_parse(&line, argc, argv, stdout, stderr)) {
	case COMMAND_LINE_RUN:
		return read_and_run(&line);
	case COMMAND_LINE_SHOWN:
		return EXIT_SUCCESS;
	case COMMAND_LINE_NOT_BUILT:
		return EXIT_FAILURE;
	case COMMAND_LINE_WRONG:
		break;
	}
	return 2;
}
