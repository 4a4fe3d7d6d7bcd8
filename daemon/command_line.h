/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_COMMAND_LINE_H
#define ACMITE_DAEMON_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum command_line_backend {
	COMMAND_LINE_VERBS,    /* this host's hardware */
	COMMAND_LINE_SIM,      /* a simulated fabric in this process */
	COMMAND_LINE_ATTACHED, /* one that another process serves */
};

/* Strings point into argv, or are static. */
struct command_line {
	enum command_line_backend backend;
	bool background; /* -D */
	bool lenient;
	bool check_config; /* read all files, start nothing */
	bool no_peers;
	bool ibsim;               /* the control is ibsim, not the builtin one */
	const char *address_file; /* NULL: none */
	const char *option_file;  /* NULL: none */
	const char *fabric;       /* a topology file, or the socket of a fabric server */
	const char *node;
	const char *socket;  /* NULL: the default */
	const char *scratch; /* NULL: $TMPDIR or /tmp */
	bool has_seed;
	uint64_t seed;
	uint32_t ready_timeout_s;
};

enum command_line_outcome {
	COMMAND_LINE_RUN,
	COMMAND_LINE_SHOWN,     /* help or version; exit 0 */
	COMMAND_LINE_WRONG,     /* told; exit 2 */
	COMMAND_LINE_NOT_BUILT, /* asks for what this build has not, told; exit 1 */
};

enum command_line_outcome command_line_parse(struct command_line *line, int argc, char **argv,
					     FILE *out, FILE *err);

#endif
