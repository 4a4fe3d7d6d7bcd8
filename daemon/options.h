/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_OPTIONS_H
#define ACMITE_DAEMON_OPTIONS_H

#include <acmite/engine.h>
#include <limits.h>
#include <sys/types.h>
#include "problems.h"

enum server_mode {
	SERVER_UNIX, /* the Unix socket only */
	SERVER_LOOP, /* and TCP on the loopback addresses */
	SERVER_OPEN, /* and TCP on every address */
};

/* What the option file sets. */
struct options {
	struct acm_engine_config engine;
	char log_file[PATH_MAX];  /* "": not set */
	char lock_file[PATH_MAX]; /* "": not set */
	int log_level;
	enum server_mode server_mode;
	uint16_t server_port; /* 0: any that is free */
	mode_t socket_mode;
	bool acme_plus_kernel_only;
	bool ips_in_address_file;
};

void options_default(struct options *options);

/*
 * Reads an option file (`name value` lines, # comments; names without case) over what `options`
 * holds. A line with a fault changes nothing and is told; see problems.h. 0, or negative errno when
 * the file cannot be read, which is told too.
 */
int options_load(struct options *options, const char *path, struct problems *problems);
/* The same from an open stream; `path` is only for the messages. */
int options_read(struct options *options, const char *path, FILE *in, struct problems *problems);

#endif
