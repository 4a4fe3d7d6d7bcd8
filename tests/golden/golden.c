/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * golden FOLDER NAME      plays a scenario twice and compares its trace, to the byte, with NAME.txt
 * golden --write FOLDER   writes all texts anew
 * golden --complete FOLDER  fails when a scenario has no text, or a text no scenario
 */
#include "scenarios.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a scenario prints. */
struct recording {
	FILE *stream;
	uint64_t begin;
	bool shown;
};

void say(struct cluster *cluster, const char *format, ...)
{
	struct recording *recording = cluster->context;
	va_list arguments;

	fputs("\n# ", recording->stream);
	va_start(arguments, format);
	vfprintf(recording->stream, format, arguments);
	va_end(arguments);
	fputc('\n', recording->stream);
}

void show(struct cluster *cluster)
{
	struct recording *recording = cluster->context;

	recording->begin = cluster->now;
	recording->shown = true;
}

/* Milliseconds since it began, to the nanosecond; the node; the event. */
static void print_trace(struct cluster *cluster, int node, const struct acm_trace *trace)
{
	const struct recording *recording = cluster->context;
	uint64_t time = trace->time - recording->begin;
	char text[512];

	if (!recording->shown)
		return;
	acm_trace_format(trace, text, sizeof(text));
	fprintf(recording->stream, "%9llu.%06llu  node%d  %s\n",
		(unsigned long long)(time / ACM_NSEC_PER_MSEC),
		(unsigned long long)(time % ACM_NSEC_PER_MSEC), node, text);
}

/* The whole text of a scenario, to be freed. */
static char *play(const struct scenario *scenario)
{
	struct cluster cluster = {0};
	struct acm_engine_config config;
	struct recording recording = {0};
	size_t length;
	char *text;

	recording.stream = open_memstream(&text, &length);
	if (!recording.stream)
		abort();
	acm_engine_config_default(&config);
	config.timeout = 100 * ACM_NSEC_PER_MSEC;
	if (scenario->configure)
		scenario->configure(&config);
	if (cluster_init(&cluster, scenario->nodes, &config))
		abort();
	cluster.context = &recording;
	cluster.on_trace = print_trace;
	fprintf(recording.stream, "# %s\n", scenario->title);
	scenario->play(&cluster);
	recording.shown = false;
	cluster_destroy(&cluster);
	fclose(recording.stream);
	return text;
}

static FILE *open_text(const char *folder, const char *name, const char *mode)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
	return fopen(path, mode);
}

static char *read_text(const char *folder, const char *name)
{
	FILE *file = open_text(folder, name, "r");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return text;
}

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

/* Shows the first line that differs. */
static void show_difference(const char *expected, const char *actual)
{
	size_t at = 0, line = 1, start = 0;

	for (; expected[at] && expected[at] == actual[at]; at++) {
		if (expected[at] == '\n') {
			line++;
			start = at + 1;
		}
	}
	printf("line %zu differs:\n  expected: %.*s\n  actual:   %.*s\n", line,
	       (int)line_length(expected + start), expected + start,
	       (int)line_length(actual + start), actual + start);
}

static const struct scenario *find(const char *name)
{
	for (int i = 0; i < scenario_count; i++) {
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
	}
	return NULL;
}

static int compare(const char *folder, const char *name)
{
	const struct scenario *scenario = find(name);
	char *first, *second, *expected;
	int differs = 1;

	if (!scenario) {
		printf("%s: there is no scenario of that name; remove its text\n", name);
		return 1;
	}
	expected = read_text(folder, name);
	first = play(scenario);
	second = play(scenario);
	if (strcmp(first, second) != 0) {
		printf("%s: two runs differ: ", name);
		show_difference(first, second);
	} else if (!expected) {
		printf("%s: there is no %s/%s.txt; write it by golden --write %s\n", name, folder,
		       name, folder);
	} else if (strcmp(expected, first) != 0) {
		printf("%s: ", name);
		show_difference(expected, first);
	} else {
		differs = 0;
	}
	free(first);
	free(second);
	free(expected);
	return differs;
}

static int write_all(const char *folder)
{
	for (int i = 0; i < scenario_count; i++) {
		FILE *file = open_text(folder, scenarios[i].name, "w");
		char *text = play(&scenarios[i]);

		if (!file || fputs(text, file) < 0 || fclose(file)) {
			printf("%s/%s.txt cannot be written\n", folder, scenarios[i].name);
			return 1;
		}
		free(text);
	}
	return 0;
}

static int check_complete(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	int faults = 0;

	for (int i = 0; i < scenario_count; i++) {
		char *text = read_text(folder, scenarios[i].name);

		if (!text) {
			printf("%s has no text\n", scenarios[i].name);
			faults++;
		}
		free(text);
	}
	while (directory && (entry = readdir(directory))) {
		char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".txt") != 0 || !strcmp(entry->d_name, "CMakeLists.txt"))
			continue;
		*dot = '\0';
		if (!find(entry->d_name)) {
			printf("%s.txt has no scenario\n", entry->d_name);
			faults++;
		}
	}
	if (directory)
		closedir(directory);
	return !directory || faults;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--write"))
		return write_all(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--complete"))
		return check_complete(argv[2]);
	if (argc == 3)
		return compare(argv[1], argv[2]);
	fprintf(stderr,
		"usage: golden FOLDER NAME | golden --write FOLDER | golden --complete FOLDER\n");
	return 2;
}
