/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* False when the file was removed or replaced between open and lock: then the lock means nothing.
 */
static bool still_there(int fd, const char *path)
{
	struct stat held;
	struct stat named;

	return !fstat(fd, &held) && !lstat(path, &named) && held.st_dev == named.st_dev &&
	       held.st_ino == named.st_ino;
}

static int explain_holder(int fd, const char *path, char *why, size_t size)
{
	char text[32];
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	snprintf(why, size,
		 "%s is in use: process %s holds it; stop that one, or give this one another"
		 " --socket or lock_file",
		 path, text[0] ? text : "(unknown)");
	return -EBUSY;
}

static int write_pid(int fd)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	/* A longer id of an earlier process must not shine through. */
	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)length, 0) != length)
		return errno ? -errno : -EIO;
	return 0;
}

int lock_file_take(struct lock_file *lock, const char *path, char *why, size_t size)
{
	/* Open file description locks: they conflict with the POSIX locks that ibacm takes. */
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int error;
	int fd;

	lock->fd = -1;
	lock->path = path;
	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0) {
			error = -errno;
			break;
		}
		if (fcntl(fd, F_OFD_SETLK, &range)) {
			error = errno == EAGAIN || errno == EACCES
					? explain_holder(fd, path, why, size)
					: -errno;
			close(fd);
			if (error == -EBUSY)
				return error;
			break;
		}
		if (still_there(fd, path)) {
			error = write_pid(fd);
			if (!error) {
				lock->fd = fd;
				return 0;
			}
			unlink(path);
			close(fd);
			break;
		}
		close(fd);
	}
	snprintf(why, size,
		 "cannot write the lock file %s: %s; choose another with --socket or the"
		 " option lock_file",
		 path, strerror(-error));
	return error;
}

void lock_file_release(struct lock_file *lock)
{
	if (lock->fd < 0)
		return;
	unlink(lock->path);
	close(lock->fd);
	lock->fd = -1;
}
