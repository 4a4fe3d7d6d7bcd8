/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hostlist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRACKETS_MAX 8
#define DIGITS_MAX   15

struct range {
	uint64_t low;
	uint64_t high;
	int width;
};

/* A bracket and where the count through its values stands. */
struct bracket {
	size_t first; /* of its ranges */
	size_t last;
	size_t current;
	uint64_t value;
};

/* Text before the bracket of the same number; the one after the last bracket is the tail. */
struct literal {
	const char *text;
	size_t length;
};

struct expansion {
	const char *text;
	size_t length;
	size_t at;
	struct hostlist_fault *fault;

	/* The name expression that is being read. */
	struct literal literals[BRACKETS_MAX + 1];
	struct bracket brackets[BRACKETS_MAX];
	uint32_t bracket_count;
	struct range *ranges;
	size_t range_count;
	size_t range_room;
	uint64_t combinations;

	/* What came out so far. */
	char *out;
	size_t out_length;
	size_t out_room;
	uint32_t count;
};

__attribute__((format(printf, 3, 4))) static int fail(struct expansion *e, size_t offset,
						      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(e->fault->text, sizeof(e->fault->text), format, arguments);
	va_end(arguments);
	e->fault->offset = offset;
	return -EINVAL;
}

static char peek(const struct expansion *e)
{
	return e->at < e->length ? e->text[e->at] : '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_blanks(struct expansion *e)
{
	while (e->at < e->length && is_blank(e->text[e->at]))
		e->at++;
}

/* Digits at the cursor. */
static int read_number(struct expansion *e, uint64_t *value, size_t *digits)
{
	size_t start = e->at;

	*value = 0;
	while (is_digit(peek(e))) {
		if (e->at - start == DIGITS_MAX)
			return fail(e, start, "a number has more than %d digits", DIGITS_MAX);
		*value = *value * 10 + (uint64_t)(e->text[e->at++] - '0');
	}
	*digits = e->at - start;
	if (!*digits)
		return fail(e, e->at, "a number was expected in the brackets, as in node[01-32]");
	return 0;
}

static int read_range(struct expansion *e, struct range *range)
{
	size_t start = e->at;
	size_t low_digits, high_digits;
	int ret;

	ret = read_number(e, &range->low, &low_digits);
	if (ret)
		return ret;
	range->width = e->text[start] == '0' ? (int)low_digits : 1;
	range->high = range->low;
	if (peek(e) != '-')
		return 0;
	e->at++;
	ret = read_number(e, &range->high, &high_digits);
	if (ret)
		return ret;
	if (range->high < range->low)
		return fail(e, start,
			    "the range runs backwards from %" PRIu64 " to %" PRIu64
			    ", the lower end was expected first",
			    range->low, range->high);
	if (e->text[e->at - high_digits] == '0' && high_digits != low_digits)
		return fail(e, start,
			    "the ends of the range have different widths, "
			    "the same number of digits was expected");
	return 0;
}

static int add_range(struct expansion *e, const struct range *range)
{
	if (e->range_count == e->range_room) {
		size_t room = e->range_room ? e->range_room * 2 : 16;
		struct range *ranges = realloc(e->ranges, room * sizeof(*ranges));

		if (!ranges)
			return -ENOMEM;
		e->ranges = ranges;
		e->range_room = room;
	}
	e->ranges[e->range_count++] = *range;
	return 0;
}

/* From the opening bracket to the closing one. */
static int read_bracket(struct expansion *e)
{
	size_t open = e->at++;
	struct bracket *bracket;
	uint64_t values = 0;
	int ret;

	if (e->bracket_count == BRACKETS_MAX)
		return fail(e, open, "there are more than %d brackets in one name", BRACKETS_MAX);
	bracket = &e->brackets[e->bracket_count];
	bracket->first = e->range_count;
	for (;;) {
		struct range range;

		if (e->at == e->length)
			return fail(e, open, "the bracket is not closed, ']' was expected");
		ret = read_range(e, &range);
		if (!ret)
			ret = add_range(e, &range);
		if (ret)
			return ret;
		values += range.high - range.low + 1;
		if (values > HOSTLIST_NAMES_MAX)
			return fail(e, open, "the range has more than %u names",
				    HOSTLIST_NAMES_MAX);
		if (peek(e) == ']')
			break;
		if (e->at == e->length)
			return fail(e, open, "the bracket is not closed, ']' was expected");
		if (peek(e) != ',')
			return fail(e, e->at,
				    "digits, '-', ',' or ']' were expected in the brackets");
		e->at++;
	}
	e->at++;
	bracket->last = e->range_count;
	e->bracket_count++;
	/* Both factors are at most HOSTLIST_NAMES_MAX here: no overflow. */
	e->combinations *= values;
	if (e->combinations > HOSTLIST_NAMES_MAX)
		return fail(e, open, "the ranges combine to more than %u names",
			    HOSTLIST_NAMES_MAX);
	return 0;
}

static bool ends_literal(const struct expansion *e)
{
	char c = peek(e);

	return e->at == e->length || c == '[' || c == ']' || c == ',' || is_blank(c);
}

/* One name with its brackets, up to a comma or the end. */
static int read_name(struct expansion *e)
{
	size_t start = e->at;
	int ret;

	e->bracket_count = 0;
	e->range_count = 0;
	e->combinations = 1;
	for (;;) {
		struct literal *literal = &e->literals[e->bracket_count];

		literal->text = e->text + e->at;
		while (!ends_literal(e)) {
			unsigned char c = (unsigned char)e->text[e->at];

			if (c < 0x20 || c == 0x7f)
				return fail(e, e->at, "a control character is in the name");
			e->at++;
		}
		literal->length = (size_t)(e->text + e->at - literal->text);
		if (peek(e) != '[')
			break;
		ret = read_bracket(e);
		if (ret)
			return ret;
	}
	if (peek(e) == ']')
		return fail(e, e->at, "']' is without its '['");
	if (e->at == start)
		return fail(e, start, "a name was expected");
	return 0;
}

static int grow_out(struct expansion *e, size_t more)
{
	size_t room = e->out_room ? e->out_room : 256;
	char *out;

	if (e->out_length + more <= e->out_room)
		return 0;
	while (room < e->out_length + more)
		room *= 2;
	out = realloc(e->out, room);
	if (!out)
		return -ENOMEM;
	e->out = out;
	e->out_room = room;
	return 0;
}

/* The name that the brackets' present values make. */
static int write_name(struct expansion *e, size_t offset)
{
	char name[HOSTLIST_NAME_LENGTH_MAX + 1];
	size_t length = 0;
	int ret;

	for (uint32_t i = 0; i <= e->bracket_count; i++) {
		const struct literal *literal = &e->literals[i];

		if (literal->length > HOSTLIST_NAME_LENGTH_MAX - length)
			return fail(e, offset, "a name has more than %u bytes",
				    HOSTLIST_NAME_LENGTH_MAX);
		memcpy(name + length, literal->text, literal->length);
		length += literal->length;
		if (i == e->bracket_count)
			break;
		length += (size_t)snprintf(name + length, sizeof(name) - length, "%0*" PRIu64,
					   e->ranges[e->brackets[i].current].width,
					   e->brackets[i].value);
		if (length > HOSTLIST_NAME_LENGTH_MAX)
			return fail(e, offset, "a name has more than %u bytes",
				    HOSTLIST_NAME_LENGTH_MAX);
	}
	name[length] = '\0';
	ret = grow_out(e, length + 1);
	if (ret)
		return ret;
	memcpy(e->out + e->out_length, name, length + 1);
	e->out_length += length + 1;
	e->count++;
	return 0;
}

static void rewind_bracket(struct expansion *e, struct bracket *bracket)
{
	bracket->current = bracket->first;
	bracket->value = e->ranges[bracket->first].low;
}

/* The next combination; false after the last. */
static bool step(struct expansion *e)
{
	for (uint32_t i = e->bracket_count; i-- > 0;) {
		struct bracket *bracket = &e->brackets[i];

		if (bracket->value < e->ranges[bracket->current].high) {
			bracket->value++;
			return true;
		}
		if (bracket->current + 1 < bracket->last) {
			bracket->current++;
			bracket->value = e->ranges[bracket->current].low;
			return true;
		}
		rewind_bracket(e, bracket);
	}
	return false;
}

static int write_names(struct expansion *e, size_t offset)
{
	int ret;

	if (e->count + e->combinations > HOSTLIST_NAMES_MAX)
		return fail(e, offset, "the list has more than %u names", HOSTLIST_NAMES_MAX);
	for (uint32_t i = 0; i < e->bracket_count; i++)
		rewind_bracket(e, &e->brackets[i]);
	do {
		ret = write_name(e, offset);
	} while (!ret && step(e));
	return ret;
}

static int expand(struct expansion *e)
{
	for (;;) {
		size_t start;
		int ret;

		skip_blanks(e);
		start = e->at;
		ret = read_name(e);
		if (!ret)
			ret = write_names(e, start);
		if (ret)
			return ret;
		skip_blanks(e);
		if (e->at == e->length)
			return 0;
		if (peek(e) != ',')
			return fail(e, e->at, "a comma was expected between two names");
		e->at++;
	}
}

static int hand_over(struct expansion *e, struct hostlist *list)
{
	char *name = e->out;

	list->names = calloc(e->count, sizeof(*list->names));
	if (!list->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->count; i++) {
		list->names[i] = name;
		name += strlen(name) + 1;
	}
	list->count = e->count;
	list->text = e->out;
	e->out = NULL;
	return 0;
}

int hostlist_expand(const char *text, size_t length, struct hostlist *list,
		    struct hostlist_fault *fault)
{
	struct expansion e = {.text = text, .length = length, .fault = fault};
	int ret = expand(&e);

	memset(list, 0, sizeof(*list));
	if (!ret)
		ret = hand_over(&e, list);
	free(e.ranges);
	free(e.out);
	return ret;
}

void hostlist_free(struct hostlist *list)
{
	free(list->names);
	free(list->text);
	memset(list, 0, sizeof(*list));
}
