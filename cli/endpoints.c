/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "arguments.h"
#include "commands.h"
#include "enquiry.h"
#include "table.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_MAX 255

static const char help[] =
	"Usage: acmite endpoints [OPTION...]\n"
	"Shows each endpoint of the service (a port in a partition) and its addresses.\n"
	"\n"
	"  -S, --socket WHERE  the service's Unix socket, or HOST[:PORT] for TCP\n"
	"                      (default: /run/ibacm-unix.sock)\n"
	"      --timeout S     give up when no answer comes for S seconds (default 30)\n"
	"      --json          an array of objects\n"
	"      --help\n";

enum { TIMEOUT = 256, JSON, HELP };

static const struct option long_options[] = {
	{"socket", required_argument, NULL, 'S'},
	{"timeout", required_argument, NULL, TIMEOUT},
	{"json", no_argument, NULL, JSON},
	{"help", no_argument, NULL, HELP},
	{NULL, 0, NULL, 0},
};

struct options {
	struct enquiry enquiry;
	bool json;
	bool help;
};

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
		if (option == 'S')
			options->enquiry.socket = optarg;
		options->json |= option == JSON;
		options->help |= option == HELP;
		if (option == TIMEOUT &&
		    !argument_timeout(optarg, &options->enquiry.timeout_ms, why, size))
			return false;
	}
	if (optind < argc)
		snprintf(why, size, "the argument '%s' is one too many", argv[optind]);
	return optind == argc;
}

/* ---- a table ---- */

enum { ENDPOINT, DEVICE, PORT, PKEY, PROVIDER, ADDRESS, COLUMN_COUNT };

static const struct table_column columns[COLUMN_COUNT] = {
	[ENDPOINT] = {"ENDPOINT", true},  [DEVICE] = {"DEVICE GUID", false},
	[PORT] = {"PORT", true},          [PKEY] = {"P_KEY", false},
	[PROVIDER] = {"PROVIDER", false}, [ADDRESS] = {"ADDRESS", false},
};

/* An endpoint's text fields need no NUL where they are full. */
static void copy_text(char text[ACM_ADDRESS_MAX + 1], const char *field)
{
	snprintf(text, ACM_ADDRESS_MAX + 1, "%.*s", ACM_ADDRESS_MAX, field);
}

/* A line for each address, what is the same left out in the further ones. */
static bool add_lines(struct libscols_table *table, uint32_t index, const struct acm_reply *reply)
{
	char number[16], device[20], port[16], pkey[16];
	char provider[ACM_ADDRESS_MAX + 1], address[ACM_ADDRESS_MAX + 1] = "";
	const char *texts[COLUMN_COUNT] = {number, device, port, pkey, provider, address};
	uint16_t i = 0;

	snprintf(number, sizeof(number), "%u", index);
	snprintf(device, sizeof(device), "0x%016" PRIx64, reply->endpoint.device_guid);
	snprintf(port, sizeof(port), "%u", reply->endpoint.port);
	snprintf(pkey, sizeof(pkey), "0x%04x", reply->endpoint.pkey);
	copy_text(provider, reply->endpoint.provider);
	do {
		if (i < reply->endpoint.address_count)
			copy_text(address, reply->endpoint.addresses[i]);
		if (!table_add(table, texts))
			return false;
		for (size_t j = 0; j < ADDRESS; j++)
			texts[j] = "";
	} while (++i < reply->endpoint.address_count);
	return true;
}

/* ---- JSON ---- */

static json_t *address_array(const struct acm_reply *reply)
{
	json_t *array = json_array();
	char address[ACM_ADDRESS_MAX + 1];

	for (uint16_t i = 0; array && i < reply->endpoint.address_count; i++) {
		copy_text(address, reply->endpoint.addresses[i]);
		if (!json_array_append_new(array, json_text(address)))
			continue;
		json_decref(array);
		array = NULL;
	}
	return array;
}

static bool add_object(json_t *array, uint32_t index, const struct acm_reply *reply)
{
	json_t *object = json_object();
	char provider[ACM_ADDRESS_MAX + 1];
	int error;

	copy_text(provider, reply->endpoint.provider);
	error = json_object_set_new(object, "endpoint", json_integer(index)) |
		json_object_set_new(object, "device_guid",
				    json_sprintf("0x%016" PRIx64, reply->endpoint.device_guid)) |
		json_object_set_new(object, "port", json_integer(reply->endpoint.port)) |
		json_object_set_new(object, "port_count",
				    json_integer(reply->endpoint.port_count)) |
		json_object_set_new(object, "pkey", json_sprintf("0x%04x", reply->endpoint.pkey)) |
		json_object_set_new(object, "provider", json_text(provider)) |
		json_object_set_new(object, "addresses", address_array(reply));
	return !(json_array_append_new(array, object) | error);
}

/* ---- all of it ---- */

/* Where endpoints go: one of the two is there. */
struct output {
	struct libscols_table *table;
	json_t *array;
};

static bool add(struct output *output, uint32_t index, const struct acm_reply *reply)
{
	if (output->array)
		return add_object(output->array, index, reply);
	return add_lines(output->table, index, reply);
}

static int enumerate(struct enquiry *enquiry, struct output *output)
{
	struct acm_request request = {.kind = ACM_REQUEST_ENDPOINT};
	struct acm_reply reply;

	for (uint32_t i = 1; i <= INDEX_MAX; i++) {
		request.index = (uint8_t)i;
		if (!enquiry_ask(enquiry, &request, &reply))
			return EXIT_FAILED;
		if (reply.status == ACM_STATUS_INVALID)
			return EXIT_OK; /* past the last one */
		if (reply.status != ACM_STATUS_OK)
			return command_failed("endpoints", acm_status_text(reply.status));
		if (!add(output, i, &reply))
			return command_failed("endpoints", "there is no memory for the output");
	}
	return EXIT_OK;
}

static int show(struct options *options)
{
	struct output output = {0};
	int status;
	bool shown;

	if (options->json)
		output.array = json_array();
	else
		output.table = table_create(columns, COLUMN_COUNT);
	if (!output.array && !output.table)
		return command_failed("endpoints", "there is no memory for the output");
	status = enquiry_open(&options->enquiry);
	if (status == EXIT_OK)
		status = enumerate(&options->enquiry, &output);
	enquiry_close(&options->enquiry);
	if (status != EXIT_OK) {
		json_decref(output.array);
		if (output.table)
			table_drop(output.table);
		return status;
	}
	shown = output.array ? json_finish(output.array) : table_finish(output.table);
	return shown ? EXIT_OK : command_failed("endpoints", "there is no memory for the output");
}

int acmite_endpoints_main(int argc, char **argv)
{
	struct options options = {
		.enquiry = {.command = "endpoints", .timeout_ms = TIMEOUT_DEFAULT_MS},
	};
	char why[300];

	if (!read_options(argc, argv, &options, why, sizeof(why)))
		return usage_error("endpoints", why);
	if (!options.help)
		return show(&options);
	fputs(help, stdout);
	return EXIT_OK;
}
