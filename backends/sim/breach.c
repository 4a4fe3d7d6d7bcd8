/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "breach.h"

#include <stdarg.h>
#include <stdio.h>

void sim_breach(const struct sim_breach_hook *hook, const char *rule, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	hook->told(hook->context, rule, text);
}
