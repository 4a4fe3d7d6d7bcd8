/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "arguments.h"
#include "commands.h"
#include "enquiry.h"
#include "resolve_arguments.h"
#include "resolve_result.h"

#include <acmite/bytes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Most questions under way: below what a service takes from all its clients together. */
#define WINDOW 1024

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* ---- questions ---- */

static void constrain(struct acm_gid *gid, uint16_t *lid, const struct acm_address *address)
{
	if (address->type == ACM_ADDRESS_GID)
		memcpy(gid->raw, address->data, sizeof(gid->raw));
	if (address->type == ACM_ADDRESS_LID)
		*lid = load_be16(address->data);
}

static void make_request(const struct resolve_arguments *arguments,
			 const struct acm_address *destination, struct acm_request *request)
{
	*request = (struct acm_request){
		.query_sa = arguments->query_sa,
		.no_delay = arguments->cached_only,
	};
	if (is_path_address(destination)) {
		request->kind = ACM_REQUEST_PATH;
		constrain(&request->path.dgid, &request->path.dlid, destination);
		constrain(&request->path.sgid, &request->path.slid, &arguments->source);
		return;
	}
	request->kind = ACM_REQUEST_RESOLVE;
	request->destination = *destination;
	request->has_source = arguments->source.type != ACM_ADDRESS_NONE;
	request->source = arguments->source;
}

static bool ask(struct enquiry *enquiry, const struct resolve_arguments *arguments,
		struct resolve_result *results, uint32_t index)
{
	struct acm_request request;

	make_request(arguments, &arguments->destinations[index].address, &request);
	results[index].sent = monotonic_ns();
	if (!acm_client_send(enquiry->client, &request, index))
		return true;
	command_failed(enquiry->command, acm_client_error(enquiry->client));
	return false;
}

/* ---- answers ---- */

static void note_latency(struct resolve_result *result)
{
	uint64_t latency = monotonic_ns() - result->sent;

	if (!result->times++) {
		result->first = latency;
		result->best = latency;
		return;
	}
	result->rest += latency;
	if (latency < result->best)
		result->best = latency;
}

static void note_answer(struct resolve_result *result, const struct acm_reply *reply)
{
	bool failed_before = result->answered && result->status != ACM_STATUS_OK;

	note_latency(result);
	result->answered = true;
	if (failed_before)
		return;
	result->status = reply->status;
	result->path = reply->path;
	result->source = reply->has_source ? reply->source : (struct acm_address){0};
}

static bool take_answer(struct enquiry *enquiry, struct resolve_result *results)
{
	struct acm_reply reply;
	uint64_t index;

	if (acm_client_receive(enquiry->client, enquiry->timeout_ms, &index, &reply)) {
		command_failed(enquiry->command, acm_client_error(enquiry->client));
		return false;
	}
	note_answer(&results[index], &reply);
	return true;
}

/* ---- all of it ---- */

/* Asks for every destination once. */
static bool run_round(struct enquiry *enquiry, const struct resolve_arguments *arguments,
		      struct resolve_result *results)
{
	for (uint32_t i = 0; i < arguments->destination_count; i++) {
		if (acm_client_pending(enquiry->client) >= WINDOW && !take_answer(enquiry, results))
			return false;
		if (!ask(enquiry, arguments, results, i))
			return false;
	}
	while (acm_client_pending(enquiry->client))
		if (!take_answer(enquiry, results))
			return false;
	return true;
}

static uint32_t count_failed(const struct resolve_arguments *arguments,
			     struct resolve_result *results)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < arguments->destination_count; i++) {
		if (results[i].times < arguments->repetitions)
			results[i].answered = false;
		failed += !resolve_result_ok(&results[i]);
	}
	return failed;
}

static int report(const struct resolve_arguments *arguments, struct resolve_result *results)
{
	uint32_t failed = count_failed(arguments, results);

	if (!resolve_results_show(arguments, results))
		return command_failed("resolve", "there is no memory for the output");
	if (!failed)
		return EXIT_OK;
	fprintf(stderr, "acmite resolve: %u of %u destinations not resolved\n", failed,
		arguments->destination_count);
	return EXIT_FAILED;
}

static int resolve(const struct resolve_arguments *arguments)
{
	struct enquiry enquiry = {
		.command = "resolve",
		.socket = arguments->socket,
		.timeout_ms = arguments->timeout_ms,
	};
	struct resolve_result *results = calloc(arguments->destination_count, sizeof(*results));
	int status;
	bool going = true;

	if (!results)
		return command_failed("resolve", "there is no memory for so many destinations");
	status = enquiry_open(&enquiry);
	if (status == EXIT_OK) {
		for (uint32_t i = 0; going && i < arguments->repetitions; i++)
			going = run_round(&enquiry, arguments, results);
		status = report(arguments, results);
	}
	enquiry_close(&enquiry);
	free(results);
	return status;
}

int acmite_resolve_main(int argc, char **argv)
{
	struct resolve_arguments arguments;
	char why[400];
	int error = resolve_arguments_parse(argc, argv, &arguments, why, sizeof(why));
	int status = EXIT_OK;

	if (error)
		status = error == -EINVAL ? usage_error("resolve", why)
					  : command_failed("resolve", why);
	else if (arguments.help)
		fputs(resolve_help, stdout);
	else
		status = resolve(&arguments);
	resolve_arguments_free(&arguments);
	return status;
}
