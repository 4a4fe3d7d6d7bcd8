/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fault that people write by itself, without a scenario around it. */
#include "scenario_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

/*
 * Braces may be left out where commas do what lines do otherwise: in one line, and in several of
 * which the first ends with one.
 */
static bool lacks_braces(const char *text, size_t length)
{
	const char *first = text, *end = text + length, *line;

	while (first < end && strchr(BLANKS, *first))
		first++;
	while (end > first && strchr(BLANKS, end[-1]))
		end--;
	if (first < end && *first == '{')
		return false;
	line = memchr(first, '\n', (size_t)(end - first));
	if (!line)
		return true;
	while (line > first && strchr(BLANKS, line[-1]))
		line--;
	return line > first && line[-1] == ',';
}

/* Places in "{TEXT\n}" become those in TEXT. */
static void leave_braces_out(struct sim_faults *faults, const char *text, size_t length)
{
	struct sim_place end = sim_place_of_offset(text, length, length);

	for (uint32_t i = 0; i < faults->count; i++) {
		struct sim_place *place = &faults->list[i].place;

		if (place->line == 1 && place->column > 1)
			place->column--;
		if (place->line > end.line ||
		    (place->line == end.line && place->column > end.column))
			*place = end;
	}
}

static void read_document(struct scenario_reader *reader, const char *text, size_t length,
			  struct sim_fault_plan *plan)
{
	if (!sim_document_open(&reader->document, text, length, reader->faults))
		return;
	scenario_read_fault(reader, sim_document_root(&reader->document), plan);
	sim_document_close(&reader->document);
}

static void read_with_braces(struct scenario_reader *reader, const char *text, size_t length,
			     struct sim_fault_plan *plan)
{
	char *whole = malloc(length + 3);

	if (!whole) {
		reader->faults->no_memory = true;
		return;
	}
	whole[0] = '{';
	memcpy(whole + 1, text, length);
	memcpy(whole + 1 + length, "\n}", 2); /* a comment may be last */
	read_document(reader, whole, length + 3, plan);
	leave_braces_out(reader->faults, text, length);
	free(whole);
}

int sim_fault_plan_parse(const struct sim_topology *topology, const char *text, size_t length,
			 struct sim_fault_plan *plan, struct sim_errors *errors)
{
	struct sim_faults faults = {0};
	struct scenario_reader reader = {
		.faults = &faults, .topology = topology, .topology_name = topology->name};
	int error;

	memset(errors, 0, sizeof(*errors));
	memset(plan, 0, sizeof(*plan));
	if (lacks_braces(text, length))
		read_with_braces(&reader, text, length, plan);
	else
		read_document(&reader, text, length, plan);
	error = sim_faults_report(&faults, "fault", errors);
	if (error)
		sim_fault_plan_free(plan);
	return error;
}
