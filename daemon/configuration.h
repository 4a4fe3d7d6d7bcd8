/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_CONFIGURATION_H
#define ACMITE_DAEMON_CONFIGURATION_H

#include "address_file.h"
#include "command_line.h"
#include "options.h"
#include "topology.h"

/* All that the daemon was told, read and found right before anything is started. */
struct configuration {
	const struct command_line *line;
	struct options options;
	char lock_file[PATH_MAX + 8];
	const char *log_file;
	struct address_file address_file; /* empty without one */
	struct sim_topology *topology;    /* NULL: hardware, or it is another process's */
};

/*
 * Reads every file that the command line names. All faults at once go to `err`. 0, or the exit
 * status: 2 for faults in files, 1 without memory. `line` must outlive it.
 */
int configuration_read(struct configuration *configuration, const struct command_line *line,
		       FILE *err);
void configuration_free(struct configuration *configuration);

#endif
