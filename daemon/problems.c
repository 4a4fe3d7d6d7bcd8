/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "problems.h"

#include <stdarg.h>

static void show(FILE *out, const char *file, unsigned int line, const char *severity,
		 const char *format, va_list arguments)
{
	if (line)
		fprintf(out, "%s:%u: %s", file, line, severity);
	else
		fprintf(out, "%s: %s", file, severity);
	vfprintf(out, format, arguments);
	fputc('\n', out);
}

void problems_error(struct problems *problems, const char *file, unsigned int line,
		    const char *format, ...)
{
	va_list arguments;

	if (problems->lenient)
		problems->warnings++;
	else
		problems->errors++;
	va_start(arguments, format);
	show(problems->out, file, line, problems->lenient ? "ignored: " : "", format, arguments);
	va_end(arguments);
}

void problems_warning(struct problems *problems, const char *file, unsigned int line,
		      const char *format, ...)
{
	va_list arguments;

	problems->warnings++;
	va_start(arguments, format);
	show(problems->out, file, line, "warning: ", format, arguments);
	va_end(arguments);
}
