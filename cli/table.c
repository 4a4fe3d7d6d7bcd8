/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table.h"

#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wants_color(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

struct libscols_table *table_create(const struct table_column *columns, size_t count)
{
	struct libscols_table *table = scols_new_table();

	for (size_t i = 0; table && i < count; i++) {
		if (scols_table_new_column(table, columns[i].title, 0,
					   columns[i].right ? SCOLS_FL_RIGHT : 0))
			continue;
		scols_unref_table(table);
		table = NULL;
	}
	if (table)
		scols_table_enable_colors(table, wants_color());
	return table;
}

static struct libscols_line *last_line(struct libscols_table *table)
{
	return scols_table_get_line(table, scols_table_get_nlines(table) - 1);
}

bool table_add(struct libscols_table *table, const char *const *texts)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	size_t count = scols_table_get_ncols(table);

	for (size_t i = 0; line && i < count; i++)
		if (scols_line_set_data(line, i, texts[i]))
			return false;
	return line != NULL;
}

void table_color(struct libscols_table *table, size_t column, const char *color)
{
	/* Without memory for it the text alone tells. */
	scols_cell_set_color(scols_line_get_cell(last_line(table), column), color);
}

void table_drop(struct libscols_table *table)
{
	scols_unref_table(table);
}

bool table_finish(struct libscols_table *table)
{
	int error = scols_print_table(table);

	scols_unref_table(table);
	return !error;
}

json_t *json_text(const char *text)
{
	json_t *json = json_string(text);
	char *copy;

	if (json)
		return json;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if (*c & 0x80)
			*c = '?';
	json = json_string(copy);
	free(copy);
	return json;
}

bool json_finish(json_t *json)
{
	int error = json ? json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : -1;

	json_decref(json);
	if (!error)
		putchar('\n');
	else if (ferror(stdout))
		error = 0; /* which main() tells */
	return !error;
}
