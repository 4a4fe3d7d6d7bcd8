/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void preload_complain(const char *format, ...)
{
	char line[1024];
	int length = snprintf(line, sizeof(line), "acmite-preload: "), more;
	va_list arguments;

	va_start(arguments, format);
	more = vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, arguments);
	va_end(arguments);
	length += more < 0 ? 0 : more;
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	/* One write, so that lines of several threads stay whole. */
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return;
}

int preload_result(int result)
{
	if (result < 0)
		errno = -result;
	return result;
}
