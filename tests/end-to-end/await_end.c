/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Usage: await_end SIGNAL MILLISECONDS PID...
 * Sends the signal's number (0: none) to the first process and waits until all are gone, children
 * of others too. Prints how many milliseconds that took. Exit 1: some were not gone in time; they
 * are named.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 16

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A process that is gone already has no descriptor, which poll() passes over. */
static void open_processes(char **pids, int count, struct pollfd *processes)
{
	for (int i = 0; i < count; i++) {
		processes[i].fd = (int)syscall(SYS_pidfd_open, atoi(pids[i]), 0);
		processes[i].events = POLLIN;
		if (processes[i].fd < 0 && errno != ESRCH) {
			perror("await_end: pidfd_open");
			exit(2);
		}
	}
}

static int count_left(struct pollfd *processes, int count)
{
	int left = 0;

	for (int i = 0; i < count; i++) {
		if (processes[i].fd >= 0 && processes[i].revents) {
			close(processes[i].fd);
			processes[i].fd = -1;
		}
		left += processes[i].fd >= 0;
	}
	return left;
}

int main(int argc, char **argv)
{
	struct pollfd processes[PROCESSES_MAX] = {0};
	int count = argc - 3, left;
	int64_t begun = now_ms(), end;

	if (count < 1 || count > PROCESSES_MAX) {
		fprintf(stderr, "usage: await_end SIGNAL MILLISECONDS PID...\n");
		return 2;
	}
	open_processes(argv + 3, count, processes);
	if (atoi(argv[1]) && kill(atoi(argv[3]), atoi(argv[1]))) {
		fprintf(stderr, "await_end: %s cannot be signalled: %s\n", argv[3],
			strerror(errno));
		return 2;
	}
	end = begun + atoi(argv[2]);
	while ((left = count_left(processes, count)) && now_ms() < end)
		poll(processes, (nfds_t)count, (int)(end - now_ms()));
	for (int i = 0; i < count; i++)
		if (processes[i].fd >= 0)
			fprintf(stderr, "await_end: process %s is not gone\n", argv[3 + i]);
	printf("%ld\n", (long)(now_ms() - begun));
	return left ? EXIT_FAILURE : EXIT_SUCCESS;
}
