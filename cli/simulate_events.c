/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "simulate_events.h"

#include <string.h>

#define LINES     24u
#define LINE_SIZE 512u

/* The last lines that were written to it, until one tells of a rule that is broken. */
struct tail {
	char lines[LINES][LINE_SIZE];
	uint32_t count; /* that there were so far */
	bool closed;
};

/* The stream is line-buffered: each call has one line, or what of it fits the stream's buffer. */
static ssize_t take_line(void *cookie, const char *text, size_t length)
{
	struct tail *tail = cookie;
	char *line = tail->lines[tail->count % LINES];

	if (tail->closed)
		return (ssize_t)length;
	snprintf(line, LINE_SIZE, "%.*s", (int)length, text);
	tail->count++;
	tail->closed = strstr(line, " rule broken: ") != NULL;
	return (ssize_t)length;
}

static void print(FILE *out, const struct tail *tail)
{
	uint32_t first = tail->count > LINES ? tail->count - LINES : 0;

	fprintf(out, "the last events (ns, node, what):\n");
	for (uint32_t i = first; i < tail->count; i++)
		fprintf(out, "  %.*s\n", (int)strcspn(tail->lines[i % LINES], "\n"),
			tail->lines[i % LINES]);
}

void simulate_print_events(FILE *out, const struct sim_scenario *scenario, uint64_t seed)
{
	static const cookie_io_functions_t functions = {.write = take_line};
	struct tail tail = {.count = 0};
	struct sim_run_options options = {.seed = seed, .cancel_fd = -1};
	struct sim_run_result result;
	char why[512] = "out of memory", buffer[1024];
	int error = -1;

	options.trace = fopencookie(&tail, "w", functions);
	if (options.trace) {
		setvbuf(options.trace, buffer, _IOLBF, sizeof(buffer));
		error = sim_simulation_run(scenario, &options, &result, why, sizeof(why));
		fclose(options.trace);
	}
	if (error) {
		fprintf(out, "the last events cannot be told: %s\n", why);
		return;
	}
	sim_run_result_free(&result);
	print(out, &tail);
}
