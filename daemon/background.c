/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void wait_for(pid_t child, int fd)
{
	char ready;
	ssize_t length;
	int status;

	do
		length = read(fd, &ready, 1);
	while (length < 0 && errno == EINTR);
	if (length == 1)
		_exit(EXIT_SUCCESS);
	if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(EXIT_FAILURE);
}

int background_start(void)
{
	int ends[2];
	int error;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0) {
		error = -errno;
		close(ends[0]);
		close(ends[1]);
		return error;
	}
	if (child) {
		close(ends[1]);
		wait_for(child, ends[0]);
	}
	close(ends[0]);
	setsid();
	return ends[1];
}

void background_ready(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t written;

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	written = write(fd, "R", 1);
	(void)written; /* a parent that is gone waits for nothing */
	close(fd);
}
