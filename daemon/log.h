/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_LOG_H
#define ACMITE_DAEMON_LOG_H

#include <acmite/trace.h>

#define LOG_LEVEL_MAX 2

/* Levels, as in the option file. */
enum log_level {
	LOG_BASIC,     /* what failed, and what the daemon was told to do */
	LOG_VERBOSE,   /* and what changes: ports, memberships, destinations that fail */
	LOG_OPERATION, /* and every step of every request */
};

/*
 * Lets through a burst of lines a window; of the rest only the number is told, with the first line
 * that is let through again.
 */
struct log_limit {
	uint64_t window_ns;
	unsigned int burst;
	uint64_t begun;
	unsigned int written;
	uint64_t held_back;
};

struct log;

/*
 * Opens `path` for appending, or "stdout" or "stderr". Made 0640; not through a symbolic link. 0
 * and *log the caller's, or negative errno with a sentence in `why`.
 */
int log_open(const char *path, int level, struct log **log, char *why, size_t size);
void log_close(struct log *log);
/*
 * Opens the file anew, after it was renamed. On failure the old one is kept. Its
 * lines say what happened.
 */
void log_reopen(struct log *log);

/* One line with the time before it. NULL as log: nothing. */
__attribute__((format(printf, 3, 4))) void log_line(struct log *log, enum log_level level,
						    const char *format, ...);
__attribute__((format(printf, 4, 5))) void log_line_limited(struct log *log, enum log_level level,
							    struct log_limit *limit,
							    const char *format, ...);
/* Bits of the trace kinds that a level shows, for acm_engine_config.trace_mask. */
uint64_t log_trace_mask(int level);
/* A trace event, when the level shows its kind; kinds of the two lower levels are limited each. */
void log_trace(struct log *log, const struct acm_trace *trace);

#endif
