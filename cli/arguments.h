/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands' arguments have in common. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMEOUT_DEFAULT_MS 30000

/* Seconds, decimals allowed, from 0.001 to 86,400. False: not that, with a sentence in `why`. */
bool argument_timeout(const char *text, uint32_t *timeout_ms, char *why, size_t size);
/* A decimal number without sign or blanks. False: not one, or not from `least` to `most`. */
bool argument_number(const char *text, uint32_t least, uint32_t most, uint32_t *number);
/*
 * Why getopt_long(), its short options led by ':', returned ':' or '?': one sentence in `why`. Call
 * it before getopt_long() is called again.
 */
void argument_fault(int result, char *const *argv, char *why, size_t size);

/* "acmite COMMAND: WHY" to standard error; EXIT_USAGE. */
int usage_error(const char *command, const char *why);
/* The same; EXIT_FAILED. */
int command_failed(const char *command, const char *why);

#endif
