/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "address_text.h"
#include "arguments.h"
#include "commands.h"
#include "enquiry.h"
#include "table.h"

#include <acmite/engine.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_MAX 255

static const char help[] =
	"Usage: acmite counters [OPTION...]\n"
	"Shows what the service has done since it was started.\n"
	"\n"
	"      --endpoint N    of one endpoint; 'acmite endpoints' numbers them\n"
	"      --source ADDR   of the endpoint that has this name or IP address\n"
	"      --all           of the service and of every endpoint\n"
	"  -S, --socket WHERE  the service's Unix socket, or HOST[:PORT] for TCP\n"
	"                      (default: /run/ibacm-unix.sock)\n"
	"      --timeout S     give up when no answer comes for S seconds (default 30)\n"
	"      --json          an array of objects\n"
	"      --help\n";

enum { ENDPOINT = 256, SOURCE, ALL, TIMEOUT, JSON, HELP };

static const struct option long_options[] = {
	{"endpoint", required_argument, NULL, ENDPOINT},
	{"source", required_argument, NULL, SOURCE},
	{"all", no_argument, NULL, ALL},
	{"socket", required_argument, NULL, 'S'},
	{"timeout", required_argument, NULL, TIMEOUT},
	{"json", no_argument, NULL, JSON},
	{"help", no_argument, NULL, HELP},
	{NULL, 0, NULL, 0},
};

struct options {
	struct enquiry enquiry;
	uint32_t endpoint; /* 0: not given */
	const char *source;
	struct acm_address address;
	bool all;
	bool json;
	bool help;
};

/* Counters of one endpoint or of the service. */
struct scope {
	char name[ACM_ADDRESS_MAX + 1];
	uint32_t endpoint; /* 0: not known by number */
	uint8_t count;
	uint64_t counters[ACM_COUNTER_COUNT];
};

/* ---- options ---- */

static bool take(struct options *options, int option, char *why, size_t size)
{
	switch (option) {
	case ENDPOINT:
		if (argument_number(optarg, 1, INDEX_MAX, &options->endpoint))
			return true;
		snprintf(why, size, "'%s' is no endpoint; give a number from 1 to %d", optarg,
			 INDEX_MAX);
		return false;
	case SOURCE:
		options->source = optarg;
		return !address_text_parse(optarg, ADDRESS_FORMAT_ANY, &options->address, why,
					   size);
	case TIMEOUT:
		return argument_timeout(optarg, &options->enquiry.timeout_ms, why, size);
	case 'S':
		options->enquiry.socket = optarg;
		return true;
	}
	options->all |= option == ALL;
	options->json |= option == JSON;
	options->help |= option == HELP;
	return true;
}

static bool read_options(int argc, char **argv, struct options *options, char *why, size_t size)
{
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":S:", long_options, NULL)) != -1) {
		if (option == ':' || option == '?') {
			argument_fault(option, argv, why, size);
			return false;
		}
		if (!take(options, option, why, size))
			return false;
	}
	if (optind < argc) {
		snprintf(why, size, "the argument '%s' is one too many", argv[optind]);
		return false;
	}
	if ((options->endpoint != 0) + (options->source != NULL) + options->all <= 1)
		return true;
	snprintf(why, size, "--endpoint, --source and --all exclude each other; give one of them");
	return false;
}

/* ---- asking ---- */

static bool ask(struct options *options, const struct acm_request *request, struct scope *scope,
		enum acm_status *status)
{
	struct acm_reply reply;

	if (!enquiry_ask(&options->enquiry, request, &reply))
		return false;
	*status = reply.status;
	scope->count =
		reply.counter_count < ACM_COUNTER_COUNT ? reply.counter_count : ACM_COUNTER_COUNT;
	memcpy(scope->counters, reply.counters, scope->count * sizeof(*scope->counters));
	return true;
}

static bool ask_index(struct options *options, uint32_t index, struct scope *scope,
		      enum acm_status *status)
{
	const struct acm_request request = {
		.kind = ACM_REQUEST_COUNTERS,
		.index = (uint8_t)index,
	};

	scope->endpoint = index;
	if (index)
		snprintf(scope->name, sizeof(scope->name), "endpoint %u", index);
	else
		snprintf(scope->name, sizeof(scope->name), "service");
	return ask(options, &request, scope, status);
}

static bool ask_source(struct options *options, struct scope *scope, enum acm_status *status)
{
	const struct acm_request request = {
		.kind = ACM_REQUEST_COUNTERS,
		.has_source = true,
		.source = options->address,
	};

	snprintf(scope->name, sizeof(scope->name), "%s", options->source);
	return ask(options, &request, scope, status);
}

static int refuse(const struct options *options, enum acm_status status)
{
	char why[300];

	if (options->source)
		snprintf(why, sizeof(why),
			 "no endpoint has the address '%s' (%s); 'acmite endpoints' lists them",
			 options->source, acm_status_text(status));
	else if (options->endpoint)
		snprintf(why, sizeof(why),
			 "there is no endpoint %u (%s); 'acmite endpoints' lists them",
			 options->endpoint, acm_status_text(status));
	else
		snprintf(why, sizeof(why), "the service tells no counters: %s",
			 acm_status_text(status));
	return command_failed("counters", why);
}

/* Fills in `scopes`, which has room for all there can be. */
static int collect(struct options *options, struct scope *scopes, uint32_t *count)
{
	enum acm_status status = ACM_STATUS_OK;
	bool answered = options->source
				? ask_source(options, &scopes[0], &status)
				: ask_index(options, options->endpoint, &scopes[0], &status);

	if (!answered)
		return EXIT_FAILED;
	if (status != ACM_STATUS_OK)
		return refuse(options, status);
	*count = 1;
	while (options->all && *count <= INDEX_MAX) {
		if (!ask_index(options, *count, &scopes[*count], &status))
			return EXIT_FAILED;
		if (status != ACM_STATUS_OK)
			break; /* past the last endpoint */
		++*count;
	}
	return EXIT_OK;
}

/* ---- showing ---- */

/* A row for each counter, a column for each scope. */
static bool add_rows(struct libscols_table *table, const struct scope *scopes, uint32_t count,
		     const char **texts, char (*numbers)[24])
{
	for (uint32_t counter = 0; counter < ACM_COUNTER_COUNT; counter++) {
		bool told = false;

		texts[0] = acm_counter_name((enum acm_counter)counter);
		for (uint32_t i = 0; i < count; i++) {
			texts[i + 1] = "";
			if (counter >= scopes[i].count)
				continue;
			told = true;
			snprintf(numbers[i], sizeof(*numbers), "%" PRIu64,
				 scopes[i].counters[counter]);
			texts[i + 1] = numbers[i];
		}
		if (told && !table_add(table, texts))
			return false;
	}
	return true;
}

static bool show_table(const struct scope *scopes, uint32_t count)
{
	struct table_column *columns = calloc(count + 1, sizeof(*columns));
	const char **texts = calloc(count + 1, sizeof(*texts));
	char(*numbers)[24] = calloc(count, sizeof(*numbers));
	struct libscols_table *table = NULL;
	bool good = columns && texts && numbers;

	if (good) {
		columns[0].title = "COUNTER";
		for (uint32_t i = 0; i < count; i++)
			columns[i + 1] = (struct table_column){scopes[i].name, true};
		table = table_create(columns, count + 1);
	}
	good = table && add_rows(table, scopes, count, texts, numbers);
	if (table)
		good = table_finish(table) && good;
	free(columns);
	free(texts);
	free(numbers);
	return good;
}

static json_t *counters_object(const struct scope *scope)
{
	json_t *object = json_object();

	for (uint32_t i = 0; object && i < scope->count; i++) {
		const char *name = acm_counter_name((enum acm_counter)i);

		/* JSON has no unsigned 64 bits; counters do not get that far. */
		if (!json_object_set_new(object, name,
					 json_integer((json_int_t)scope->counters[i])))
			continue;
		json_decref(object);
		object = NULL;
	}
	return object;
}

static bool show_json(const struct scope *scopes, uint32_t count)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < count; i++) {
		json_t *object = json_object();
		int error = json_object_set_new(object, "scope", json_text(scopes[i].name));

		if (scopes[i].endpoint)
			error |= json_object_set_new(object, "endpoint",
						     json_integer(scopes[i].endpoint));
		error |= json_object_set_new(object, "counters", counters_object(&scopes[i]));
		if (!(json_array_append_new(array, object) | error))
			continue;
		json_decref(array);
		return false;
	}
	return json_finish(array);
}

static int show(struct options *options)
{
	struct scope *scopes = calloc(INDEX_MAX + 1, sizeof(*scopes));
	uint32_t count = 0;
	int status;

	if (!scopes)
		return command_failed("counters", "there is no memory");
	status = enquiry_open(&options->enquiry);
	if (status == EXIT_OK)
		status = collect(options, scopes, &count);
	enquiry_close(&options->enquiry);
	if (status == EXIT_OK &&
	    !(options->json ? show_json(scopes, count) : show_table(scopes, count)))
		status = command_failed("counters", "there is no memory for the output");
	free(scopes);
	return status;
}

int acmite_counters_main(int argc, char **argv)
{
	struct options options = {
		.enquiry = {.command = "counters", .timeout_ms = TIMEOUT_DEFAULT_MS},
	};
	char why[300];

	if (!read_options(argc, argv, &options, why, sizeof(why)))
		return usage_error("counters", why);
	if (!options.help)
		return show(&options);
	fputs(help, stdout);
	return EXIT_OK;
}
