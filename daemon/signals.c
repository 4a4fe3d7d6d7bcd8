/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A signal handler has no argument of ours, so these are the process's. */
static volatile int stop_fd = -1;
static volatile int reopen_fd = -1;

static void handle(int number)
{
	static const uint64_t one = 1;
	int kept = errno;
	ssize_t written = 0;

	if (number == SIGTERM || number == SIGINT)
		written = write(stop_fd, &one, sizeof(one));
	else if (number == SIGHUP)
		written = write(reopen_fd, &one, sizeof(one));
	(void)written; /* a full counter is as readable as this would have made it */
	errno = kept;
}

int signals_open(void)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	int error;

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	reopen_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0 || reopen_fd < 0) {
		error = -errno;
		signals_close();
		return error;
	}
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	return 0;
}

void signals_close(void)
{
	if (stop_fd >= 0)
		close(stop_fd);
	if (reopen_fd >= 0)
		close(reopen_fd);
	stop_fd = -1;
	reopen_fd = -1;
}

int signals_stop_fd(void)
{
	return stop_fd;
}

int signals_reopen_fd(void)
{
	return reopen_fd;
}
