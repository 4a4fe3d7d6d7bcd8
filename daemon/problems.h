/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_PROBLEMS_H
#define ACMITE_DAEMON_PROBLEMS_H

#include <stdbool.h>
#include <stdio.h>

/* What is wrong in files that people write: one line each, all that a file has at once. */
struct problems {
	FILE *out;
	bool lenient; /* a fault is shown but does not count: what it is in is left out */
	unsigned int errors;
	unsigned int warnings;
};

/* "file:line: ..."; line 0 is left out. */
__attribute__((format(printf, 4, 5))) void problems_error(struct problems *problems,
							  const char *file, unsigned int line,
							  const char *format, ...);
__attribute__((format(printf, 4, 5))) void problems_warning(struct problems *problems,
							    const char *file, unsigned int line,
							    const char *format, ...);

#endif
