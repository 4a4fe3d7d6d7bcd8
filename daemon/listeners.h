/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_LISTENERS_H
#define ACMITE_DAEMON_LISTENERS_H

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>
#include "options.h"

#define LISTENERS_MAX 3

/* The sockets that clients connect to, and the files by which clients find them. */
struct listeners {
	int fds[LISTENERS_MAX];
	size_t count;
	char socket[PATH_MAX];
	dev_t device; /* which file at `socket` is ours */
	ino_t inode;
	uint16_t port; /* TCP, 0: none */
	char port_file[PATH_MAX + 8];
	char socket_link[PATH_MAX]; /* "": none */
	char port_link[PATH_MAX];
};

/*
 * Binds and listens; nothing is accepted. `path` NULL: the paths that installed clients look for.
 * A socket that nobody serves any more is replaced. 0, or negative errno with a sentence in `why`
 * and nothing left behind; -EADDRINUSE when another program serves one of them.
 */
int listeners_open(struct listeners *listeners, const char *path, const struct options *options,
		   char *why, size_t size);
/* Closes them and removes their files. */
void listeners_close(struct listeners *listeners);

#endif
