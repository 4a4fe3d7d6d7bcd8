/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct sim_faults *faults)
{
	uint32_t room = faults->room ? faults->room * 2 : 8;
	struct sim_fault *list;

	if (faults->count < faults->room)
		return true;
	list = realloc(faults->list, room * sizeof(*list));
	if (!list)
		return false;
	faults->list = list;
	faults->room = room;
	return true;
}

void sim_fault_add(struct sim_faults *faults, struct sim_place place, const char *format, ...)
{
	struct sim_fault *fault;
	va_list arguments;

	if (!make_room(faults)) {
		faults->no_memory = true;
		return;
	}
	fault = &faults->list[faults->count];
	va_start(arguments, format);
	if (vasprintf(&fault->text, format, arguments) < 0) {
		faults->no_memory = true;
	} else {
		fault->place = place;
		fault->sequence = faults->count++;
	}
	va_end(arguments);
}

static int compare_faults(const void *left, const void *right)
{
	const struct sim_fault *a = left, *b = right;

	if (a->place.line != b->place.line)
		return a->place.line < b->place.line ? -1 : 1;
	if (a->place.column != b->place.column)
		return a->place.column < b->place.column ? -1 : 1;
	return a->sequence < b->sequence ? -1 : 1;
}

static char *fault_line(const struct sim_fault *fault, const char *path)
{
	char *line;
	int ret;

	if (fault->place.line)
		ret = asprintf(&line, "%s:%u:%u: %s", path, fault->place.line, fault->place.column,
			       fault->text);
	else
		ret = asprintf(&line, "%s: %s", path, fault->text);
	return ret < 0 ? NULL : line;
}

static int write_lines(const struct sim_faults *faults, const char *path, struct sim_errors *errors)
{
	errors->lines = calloc(faults->count, sizeof(*errors->lines));
	if (!errors->lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < faults->count; i++) {
		char *line = fault_line(&faults->list[i], path);

		if (!line) {
			sim_errors_free(errors);
			return -ENOMEM;
		}
		errors->lines[errors->count++] = line;
	}
	return -EINVAL;
}

int sim_faults_report(struct sim_faults *faults, const char *path, struct sim_errors *errors)
{
	int ret = 0;

	memset(errors, 0, sizeof(*errors));
	if (faults->no_memory) {
		ret = -ENOMEM;
	} else if (faults->count) {
		qsort(faults->list, faults->count, sizeof(*faults->list), compare_faults);
		ret = write_lines(faults, path, errors);
	}
	for (uint32_t i = 0; i < faults->count; i++)
		free(faults->list[i].text);
	free(faults->list);
	memset(faults, 0, sizeof(*faults));
	return ret;
}

void sim_errors_free(struct sim_errors *errors)
{
	for (uint32_t i = 0; i < errors->count; i++)
		free(errors->lines[i]);
	free(errors->lines);
	memset(errors, 0, sizeof(*errors));
}
