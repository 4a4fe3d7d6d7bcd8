/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Children that cannot outlive this process, the scratch folder they work in, and where their
 * programs are.
 */
#ifndef ACMITE_SIM_IBSIM_PROCESS_H
#define ACMITE_SIM_IBSIM_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ibsim_child {
	pid_t pid;    /* 0: none */
	int pidfd;    /* readable when it has ended; -1: none */
	int input_fd; /* writes to its standard input; -1: none */
};

struct ibsim_command {
	const char *program;            /* path */
	const char *const *argv;        /* NULL-terminated */
	const char *const *environment; /* "NAME=value" on top of this process's, NULL-terminated */
	const char *directory;
	const char *output; /* file that standard output and error are appended to */
	bool input;         /* give it a pipe as standard input, else /dev/null */
};

/*
 * Starts a program in a process group of its own. The kernel kills it when the calling thread ends,
 * however that comes about. LD_PRELOAD is not inherited. 0, or negative errno: also that of exec.
 */
int ibsim_child_start(const struct ibsim_command *command, struct ibsim_child *child);
/* Kills the whole group and reaps the child. Nothing happens when there is none. */
void ibsim_child_kill(struct ibsim_child *child);
/* Reaps it when it has ended: true, and it is gone. */
bool ibsim_child_ended(struct ibsim_child *child);

/*
 * Path of a program: what the variable `override` of the environment names, else the first in $PATH
 * or the system's sbin folders, which a user's PATH often lacks. 0 or -ENOENT.
 */
int ibsim_find_program(const char *name, const char *override, char path[PATH_MAX]);
/* The same for libumad2sim.so, which no search path leads to; the variable is ACMITE_UMAD2SIM. */
int ibsim_find_umad2sim(char path[PATH_MAX]);

/* Makes a folder of its own under `parent` (NULL: $TMPDIR or /tmp), an absolute path. */
int ibsim_scratch_create(const char *parent, char path[PATH_MAX]);
/* Removes it with all that is in it. */
void ibsim_scratch_remove(const char *path);

/* Appends the last `lines` lines of a file to the text in `text`; nothing when there is none. */
void ibsim_log_tail(const char *path, unsigned int lines, char *text, size_t size);

#endif
