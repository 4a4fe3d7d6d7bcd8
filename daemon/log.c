/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "log.h"
#include "monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_LENGTH 1024

struct log {
	int fd;
	bool own; /* not stdout or stderr */
	int level;
	struct log_limit limits[ACM_TRACE_TYPE_COUNT];
	char path[];
};

/* The least level that shows a kind; all others are operation. */
static const uint8_t level_of_kind[ACM_TRACE_TYPE_COUNT] = {
	[ACM_TRACE_REQUEST] = LOG_OPERATION,      [ACM_TRACE_REPLY] = LOG_OPERATION,
	[ACM_TRACE_CANCELLED] = LOG_OPERATION,    [ACM_TRACE_COALESCED] = LOG_OPERATION,
	[ACM_TRACE_MULTICAST] = LOG_OPERATION,    [ACM_TRACE_HEARD] = LOG_OPERATION,
	[ACM_TRACE_ANSWERED] = LOG_OPERATION,     [ACM_TRACE_LEARNED] = LOG_OPERATION,
	[ACM_TRACE_ADDRESS] = LOG_OPERATION,      [ACM_TRACE_SA_QUERY] = LOG_OPERATION,
	[ACM_TRACE_ROUTE] = LOG_OPERATION,        [ACM_TRACE_SA_STATUS] = LOG_VERBOSE,
	[ACM_TRACE_SA_WITHDRAWN] = LOG_OPERATION, [ACM_TRACE_FAILED] = LOG_VERBOSE,
	[ACM_TRACE_PORT] = LOG_VERBOSE,           [ACM_TRACE_ENDPOINT] = LOG_VERBOSE,
	[ACM_TRACE_JOIN] = LOG_OPERATION,         [ACM_TRACE_JOINED] = LOG_VERBOSE,
	[ACM_TRACE_JOIN_FAILED] = LOG_BASIC,      [ACM_TRACE_GROUP_RECORD] = LOG_BASIC,
	[ACM_TRACE_LEFT] = LOG_VERBOSE,           [ACM_TRACE_EXPIRED] = LOG_OPERATION,
	[ACM_TRACE_EVICTED] = LOG_OPERATION,      [ACM_TRACE_DROPPED] = LOG_VERBOSE,
	[ACM_TRACE_ADDRESS_ADDED] = LOG_VERBOSE,  [ACM_TRACE_ADDRESS_REMOVED] = LOG_VERBOSE,
	[ACM_TRACE_CLAIMED] = LOG_BASIC,
};

static int open_target(const char *path)
{
	int fd;

	if (!strcmp(path, "stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "stderr"))
		return STDERR_FILENO;
	/* Non-blocking, so that a FIFO without a reader does not stop the daemon. */
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0640);
	return fd < 0 ? -errno : fd;
}

int log_open(const char *path, int level, struct log **log, char *why, size_t size)
{
	size_t length = strlen(path) + 1;
	struct log *made;
	int fd;

	made = calloc(1, sizeof(*made) + length);
	fd = made ? open_target(path) : -ENOMEM;
	if (fd < 0) {
		snprintf(why, size,
			 "cannot write the log file %s: %s; choose another with the option"
			 " log_file",
			 path, strerror(-fd));
		free(made);
		return fd;
	}
	made->fd = fd;
	made->own = fd > STDERR_FILENO;
	made->level = level;
	memcpy(made->path, path, length);
	for (size_t i = 0; i < ACM_TRACE_TYPE_COUNT; i++) {
		made->limits[i].window_ns = ACM_NSEC_PER_SEC;
		made->limits[i].burst = 20;
	}
	*log = made;
	return 0;
}

void log_close(struct log *log)
{
	if (!log)
		return;
	if (log->own)
		close(log->fd);
	free(log);
}

void log_reopen(struct log *log)
{
	int fd;

	if (!log->own)
		return;
	fd = open_target(log->path);
	if (fd < 0) {
		log_line(log, LOG_BASIC,
			 "cannot open the log file %s anew: %s; lines go on to the one that was"
			 " open",
			 log->path, strerror(-fd));
		return;
	}
	close(log->fd);
	log->fd = fd;
	log_line(log, LOG_BASIC, "log opened");
}

static size_t put_time(char *text, size_t size)
{
	struct timespec now;
	struct tm parts;
	size_t length;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
	length += (size_t)snprintf(text + length, size - length, ".%03ldZ ", now.tv_nsec / 1000000);
	return length;
}

/* One write for one line: with O_APPEND lines of several writers do not mix. */
static void write_line(struct log *log, char *text, size_t length)
{
	ssize_t written;

	text[length++] = '\n';
	written = write(log->fd, text, length);
	(void)written; /* a full disk stops the log, not the service */
}

static size_t clamp(int length, size_t room)
{
	if (length < 0)
		return 0;
	return (size_t)length < room ? (size_t)length : room - 1;
}

static void write_format(struct log *log, const char *format, va_list arguments)
{
	char text[LINE_MAX_LENGTH + 1];
	size_t length = put_time(text, LINE_MAX_LENGTH);

	length += clamp(vsnprintf(text + length, LINE_MAX_LENGTH - length, format, arguments),
			LINE_MAX_LENGTH - length);
	write_line(log, text, length);
}

static bool pass(struct log *log, struct log_limit *limit)
{
	uint64_t now = monotonic_now();
	uint64_t held_back = limit->held_back;

	if (limit->begun && now - limit->begun < limit->window_ns) {
		if (limit->written < limit->burst) {
			limit->written++;
			return true;
		}
		limit->held_back++;
		return false;
	}
	limit->begun = now;
	limit->written = 1;
	limit->held_back = 0;
	if (held_back)
		log_line(log, LOG_BASIC, "held back %llu lines like the next",
			 (unsigned long long)held_back);
	return true;
}

void log_line(struct log *log, enum log_level level, const char *format, ...)
{
	va_list arguments;

	if (!log || (int)level > log->level)
		return;
	va_start(arguments, format);
	write_format(log, format, arguments);
	va_end(arguments);
}

void log_line_limited(struct log *log, enum log_level level, struct log_limit *limit,
		      const char *format, ...)
{
	va_list arguments;

	if (!log || (int)level > log->level || !pass(log, limit))
		return;
	va_start(arguments, format);
	write_format(log, format, arguments);
	va_end(arguments);
}

uint64_t log_trace_mask(int level)
{
	uint64_t mask = 0;

	for (unsigned int kind = 0; kind < ACM_TRACE_TYPE_COUNT; kind++) {
		if (level_of_kind[kind] <= level)
			mask |= UINT64_C(1) << kind;
	}
	return mask;
}

void log_trace(struct log *log, const struct acm_trace *trace)
{
	char text[LINE_MAX_LENGTH + 1];
	uint8_t kind_level;
	size_t length;

	if (!log)
		return;
	kind_level = level_of_kind[trace->type];
	if (kind_level > log->level)
		return;
	/* Whoever asks for every step gets every step. */
	if (kind_level < LOG_OPERATION && log->level < LOG_OPERATION &&
	    !pass(log, &log->limits[trace->type]))
		return;
	length = put_time(text, LINE_MAX_LENGTH);
	length += acm_trace_format(trace, text + length, LINE_MAX_LENGTH - length);
	write_line(log, text, length);
}
