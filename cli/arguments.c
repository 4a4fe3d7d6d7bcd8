/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "arguments.h"

#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_seconds(const char *text, double *seconds)
{
	if (!*text || text[strspn(text, "0123456789.")] || strlen(text) > 16 ||
	    strchr(text, '.') != strrchr(text, '.'))
		return false;
	/* The numeric locale is left at "C", so the decimal sign is a point. */
	*seconds = strtod(text, NULL);
	return *seconds >= 0.001 && *seconds <= 86400;
}

bool argument_timeout(const char *text, uint32_t *timeout_ms, char *why, size_t size)
{
	double seconds;

	if (!read_seconds(text, &seconds)) {
		snprintf(why, size, "'%s' is no time-out; give seconds from 0.001 to 86400", text);
		return false;
	}
	*timeout_ms = (uint32_t)(seconds * 1000 + 0.5);
	return true;
}

bool argument_number(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
	unsigned long value;

	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 10)
		return false;
	value = strtoul(text, NULL, 10);
	if (value < least || value > most)
		return false;
	*number = (uint32_t)value;
	return true;
}

void argument_fault(int result, char *const *argv, char *why, size_t size)
{
	const char *word = argv[optind - 1];

	if (result == ':')
		snprintf(why, size, "the option '%s' needs a value", word);
	else if (!strncmp(word, "--", 2) && strchr(word, '=') && optopt)
		snprintf(why, size, "the option '%.*s' takes no value",
			 (int)(strchr(word, '=') - word), word);
	else if (optopt && optopt < 128)
		snprintf(why, size, "there is no option '-%c'", optopt);
	else
		snprintf(why, size, "there is no option '%s'", word);
}

int usage_error(const char *command, const char *why)
{
	fprintf(stderr, "acmite %s: %s; see 'acmite help %s'\n", command, why, command);
	return EXIT_USAGE;
}

int command_failed(const char *command, const char *why)
{
	fprintf(stderr, "acmite %s: %s\n", command, why);
	return EXIT_FAILED;
}
