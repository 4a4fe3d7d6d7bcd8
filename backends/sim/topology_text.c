/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_text.h"

#include <acmite/wire.h>
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DURATION_MAX (10 * ACM_NSEC_PER_SEC)

/* One operation on *n. 0, or -EINVAL and why. */
static int apply(char operation, uint64_t operand, uint64_t *n, char *why, size_t why_size)
{
	if ((operation == '/' || operation == '%') && !operand) {
		snprintf(why, why_size, "division by zero");
		return -EINVAL;
	}
	if (operation == '-' && operand > *n) {
		snprintf(why, why_size, "%" PRIu64 " - %" PRIu64 " is below zero", *n, operand);
		return -EINVAL;
	}
	if (operation == '/')
		*n /= operand;
	else if (operation == '%')
		*n %= operand;
	else if (operation == '-')
		*n -= operand;
	else
		*n += operand;
	return 0;
}

/* What stands between braces after the 'n'. */
static int evaluate(const char *expression, size_t length, uint64_t *n, char *why, size_t why_size)
{
	const char *at = expression, *end = expression + length;

	while (at < end) {
		char operation = *at++;
		uint64_t operand = 0;
		const char *digits = at;

		for (; at < end && *at >= '0' && *at <= '9' && at - digits < 10; at++)
			operand = operand * 10 + (uint64_t)(*at - '0');
		if (!strchr("+-/%", operation) || at == digits) {
			snprintf(why, why_size,
				 "'{n%.*s}' is not {n} followed by +, -, / or %% and "
				 "numbers of at most 10 digits",
				 (int)length, expression);
			return -EINVAL;
		}
		if (apply(operation, operand, n, why, why_size))
			return -EINVAL;
	}
	return 0;
}

/* Writes what one pair of braces stands for into `value`. */
static int fill_braces(const char *inside, size_t length, const char *name, uint64_t n, char *value,
		       size_t size, char *why, size_t why_size)
{
	if (length == 4 && !memcmp(inside, "name", 4)) {
		snprintf(value, size, "%s", name);
		return 0;
	}
	if (!length || *inside != 'n') {
		snprintf(why, why_size, "'{%.*s}' is unknown, {name} or {n} was expected",
			 (int)length, inside);
		return -EINVAL;
	}
	if (evaluate(inside + 1, length - 1, &n, why, why_size))
		return -EINVAL;
	snprintf(value, size, "%" PRIu64, n);
	return 0;
}

int sim_pattern_fill(const char *pattern, const char *name, uint64_t n, char *text, size_t size,
		     char *why, size_t why_size)
{
	size_t length = 0;

	while (*pattern) {
		char value[SIM_NODE_NAME_MAX + 1] = {*pattern};
		size_t value_length;

		if (*pattern == '}') {
			snprintf(why, why_size, "'}' is without its '{'");
			return -EINVAL;
		}
		if (*pattern == '{') {
			const char *close = strchr(pattern, '}');

			if (!close) {
				snprintf(why, why_size, "'{' is without its '}'");
				return -EINVAL;
			}
			if (fill_braces(pattern + 1, (size_t)(close - pattern - 1), name, n, value,
					sizeof(value), why, why_size))
				return -EINVAL;
			pattern = close;
		}
		pattern++;
		value_length = strlen(value);
		if (length + value_length >= size)
			return -ENAMETOOLONG;
		memcpy(text + length, value, value_length);
		length += value_length;
	}
	text[length] = '\0';
	return 0;
}

int sim_address_parse(const char *text, struct acm_address *address, char *why, size_t why_size)
{
	uint8_t raw[16];

	if (strchr(text, ':')) {
		if (inet_pton(AF_INET6, text, raw) == 1)
			return acm_address_canonical(address, ACM_ADDRESS_IP6, raw, 16);
		snprintf(why, why_size, "'%s' is no IPv6 address", text);
		return -EINVAL;
	}
	if (!text[strspn(text, "0123456789.")]) {
		if (inet_pton(AF_INET, text, raw) == 1)
			return acm_address_canonical(address, ACM_ADDRESS_IP, raw, 4);
		snprintf(why, why_size,
			 "'%s' is no IPv4 address, four numbers from 0 to 255 were "
			 "expected ({n/256} and {n%%256} split a large n)",
			 text);
		return -EINVAL;
	}
	if (strlen(text) <= ACM_ADDRESS_MAX &&
	    !acm_address_canonical(address, ACM_ADDRESS_NAME, (const uint8_t *)text, strlen(text)))
		return 0;
	snprintf(why, why_size, "'%s' is no name of 1 to %d printable bytes", text,
		 ACM_ADDRESS_MAX);
	return -EINVAL;
}

static uint64_t unit_of_duration(const char *unit)
{
	if (!strcmp(unit, "ns"))
		return 1;
	if (!strcmp(unit, "us"))
		return ACM_NSEC_PER_USEC;
	if (!strcmp(unit, "ms"))
		return ACM_NSEC_PER_MSEC;
	if (!strcmp(unit, "s"))
		return ACM_NSEC_PER_SEC;
	return 0;
}

bool sim_duration_parse(const char *text, uint64_t *ns)
{
	size_t whole = strspn(text, "0123456789");
	uint64_t value = 0, unit, scale;
	const char *fraction = "";
	size_t digits = 0;

	if (!whole || whole > 12)
		return false;
	if (text[whole] == '.') {
		fraction = text + whole + 1;
		digits = strspn(fraction, "0123456789");
		if (!digits)
			return false;
	}
	unit = unit_of_duration(digits ? fraction + digits : text + whole);
	if (!unit)
		return false;
	value = strtoull(text, NULL, 10);
	if (value > DURATION_MAX / unit)
		return false;
	value *= unit;
	scale = unit / 10;
	for (size_t i = 0; i < digits; i++, scale /= 10)
		value += (uint64_t)(fraction[i] - '0') * scale;
	if (value > DURATION_MAX)
		return false;
	*ns = value;
	return true;
}

bool sim_node_name_is_valid(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const char others[] = "._-";
	size_t length = strlen(name);

	if (!length || length > SIM_NODE_NAME_MAX || !strchr(letters, *name))
		return false;
	for (; *name; name++) {
		if (!strchr(letters, *name) && !strchr(others, *name))
			return false;
	}
	return true;
}
