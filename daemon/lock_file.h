/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_LOCK_FILE_H
#define ACMITE_DAEMON_LOCK_FILE_H

#include <stddef.h>

/* A file with this process's id that only one process at a time can hold. */
struct lock_file {
	int fd; /* -1: not held */
	const char *path;
};

/*
 * Takes it. `path` must outlive it. 0, or negative errno with a sentence in `why`; -EBUSY when
 * another process holds it.
 */
int lock_file_take(struct lock_file *lock, const char *path, char *why, size_t size);
/* Removes the file. Nothing happens when it is not held. */
void lock_file_release(struct lock_file *lock);

#endif
