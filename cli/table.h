/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables and JSON on standard output. */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct libscols_table;

struct table_column {
	const char *title;
	bool right; /* numbers */
};

/* NULL: no memory. */
struct libscols_table *table_create(const struct table_column *columns, size_t count);
/* Appends a row of as many texts as there are columns. False: no memory. */
bool table_add(struct libscols_table *table, const char *const *texts);
/* Colours a cell of the last row, where the output is a terminal. */
void table_color(struct libscols_table *table, size_t column, const char *color);
/* Frees it unprinted. */
void table_drop(struct libscols_table *table);
/* Prints and frees it. False: no memory. */
bool table_finish(struct libscols_table *table);

/* Texts that may hold anything: what JSON cannot hold becomes '?'. */
json_t *json_text(const char *text);
/* Prints with a newline, and releases it. False: no memory, `json` being NULL included. */
bool json_finish(json_t *json);

#endif
