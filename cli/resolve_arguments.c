/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve_arguments.h"

#include "arguments.h"
#include "hostlist.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPETITIONS_MAX 1000000

const char resolve_help[] =
	"Usage: acmite resolve [OPTION...] -d DEST...\n"
	"Resolves destinations to path records, all of them at once.\n"
	"\n"
	"  -d, --destination DEST  a name, IPv4 or IPv6 address, GID or LID; may be given several\n"
	"                          times; ranges stand for many: 'node[02-32]', '10.0.0.[1-9]'\n"
	"  -s, --source SRC        from this address of this node, instead of the one that the\n"
	"                          service picks\n"
	"  -f, --format n|i|g|l    take DEST and SRC for names, IP addresses, GIDs or LIDs "
	"instead\n"
	"                          of telling them apart: digits or 0x... are LIDs; fe80:: with a\n"
	"                          port GUID behind it is a GID, any other IPv6 address is IP\n"
	"  -c, --cached            only what the service has in its cache\n"
	"  -q, --query-sa          ask the SA even for what is in the cache\n"
	"  -C, --count N           N times one after the other; latencies are of the first, the\n"
	"                          best, and the mean of all after the first\n"
	"  -S, --socket WHERE      the service's Unix socket, or HOST[:PORT] for TCP\n"
	"                          (default: /run/ibacm-unix.sock)\n"
	"      --timeout S         give up when no answer comes for S seconds (default 30)\n"
	"      --json              an array of objects with all fields\n"
	"      --help\n"
	"\n"
	"Exit status: 0 all are resolved, 1 some are not, 2 wrong usage.\n";

enum { TIMEOUT = 256, JSON, HELP };

static const struct option long_options[] = {
	{"destination", required_argument, NULL, 'd'},
	{"source", required_argument, NULL, 's'},
	{"format", required_argument, NULL, 'f'},
	{"cached", no_argument, NULL, 'c'},
	{"query-sa", no_argument, NULL, 'q'},
	{"count", required_argument, NULL, 'C'},
	{"socket", required_argument, NULL, 'S'},
	{"timeout", required_argument, NULL, TIMEOUT},
	{"json", no_argument, NULL, JSON},
	{"help", no_argument, NULL, HELP},
	{NULL, 0, NULL, 0},
};

/* What can be read only when all options are known. */
struct words {
	const char *source;
	enum address_format format;
	uint32_t count;
	char **destinations; /* room for all of argv */
};

bool is_path_address(const struct acm_address *address)
{
	return address->type == ACM_ADDRESS_GID || address->type == ACM_ADDRESS_LID;
}

/* ---- options ---- */

static int take_format(struct words *words, char *why, size_t size)
{
	if (address_format_parse(optarg, &words->format))
		return 0;
	snprintf(why, size,
		 "there is no format '%s'; give n for names, i for IP addresses, g for "
		 "GIDs or l for LIDs",
		 optarg);
	return -EINVAL;
}

static int take_count(struct resolve_arguments *arguments, char *why, size_t size)
{
	if (argument_number(optarg, 1, REPETITIONS_MAX, &arguments->repetitions))
		return 0;
	snprintf(why, size, "'%s' is no number of times; give one from 1 to %d", optarg,
		 REPETITIONS_MAX);
	return -EINVAL;
}

static int take_timeout(struct resolve_arguments *arguments, char *why, size_t size)
{
	return argument_timeout(optarg, &arguments->timeout_ms, why, size) ? 0 : -EINVAL;
}

static int take(struct resolve_arguments *arguments, struct words *words, int option, char *why,
		size_t size)
{
	switch (option) {
	case 'd':
		words->destinations[words->count++] = optarg;
		return 0;
	case 's':
		words->source = optarg;
		return 0;
	case 'f':
		return take_format(words, why, size);
	case 'c':
		arguments->cached_only = true;
		return 0;
	case 'q':
		arguments->query_sa = true;
		return 0;
	case 'C':
		return take_count(arguments, why, size);
	case 'S':
		arguments->socket = optarg;
		return 0;
	case TIMEOUT:
		return take_timeout(arguments, why, size);
	case JSON:
		arguments->json = true;
		return 0;
	default:
		arguments->help = true;
		return 0;
	}
}

static int read_options(int argc, char **argv, struct resolve_arguments *arguments,
			struct words *words, char *why, size_t size)
{
	int option;

	optind = 0; /* starts anew, also after another command line */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":d:s:f:cqC:S:", long_options, NULL)) != -1) {
		int error;

		if (option == ':' || option == '?') {
			argument_fault(option, argv, why, size);
			return -EINVAL;
		}
		error = take(arguments, words, option, why, size);
		if (error)
			return error;
	}
	while (optind < argc)
		words->destinations[words->count++] = argv[optind++];
	return 0;
}

/* ---- destinations ---- */

static int fail_memory(char *why, size_t size)
{
	snprintf(why, size, "there is no memory for so many destinations; ask for fewer at once");
	return -ENOMEM;
}

static int check_source(const struct acm_address *source, const struct destination *destination,
			char *why, size_t size)
{
	bool by_path = is_path_address(&destination->address);

	if (source->type == ACM_ADDRESS_NONE || is_path_address(source) == by_path)
		return 0;
	snprintf(why, size, "'%s' needs a source that is a %s; give one with -s, or none",
		 destination->text, by_path ? "LID or GID" : "name or IP address");
	return -EINVAL;
}

static int add_destination(struct resolve_arguments *arguments, const char *text,
			   enum address_format format, char *why, size_t size)
{
	struct destination *destination = &arguments->destinations[arguments->destination_count];
	int error = address_text_parse(text, format, &destination->address, why, size);

	if (error)
		return error;
	destination->text = strdup(text);
	if (!destination->text)
		return fail_memory(why, size);
	arguments->destination_count++;
	return check_source(&arguments->source, destination, why, size);
}

static bool reserve(struct resolve_arguments *arguments, uint32_t more)
{
	size_t count = (size_t)arguments->destination_count + more;
	void *destinations =
		realloc(arguments->destinations, count * sizeof(*arguments->destinations));

	if (!destinations)
		return false;
	arguments->destinations = destinations;
	return true;
}

static int add_range(struct resolve_arguments *arguments, const char *text,
		     enum address_format format, char *why, size_t size)
{
	struct hostlist list = {0};
	struct hostlist_fault fault;
	int error = hostlist_expand(text, strlen(text), &list, &fault);

	if (error == -EINVAL)
		snprintf(why, size, "in '%s', at character %zu: %s", text, fault.offset + 1,
			 fault.text);
	else if (error || !reserve(arguments, list.count))
		error = fail_memory(why, size);
	for (uint32_t i = 0; !error && i < list.count; i++)
		error = add_destination(arguments, list.names[i], format, why, size);
	hostlist_free(&list);
	return error;
}

static int add_word(struct resolve_arguments *arguments, const char *text,
		    enum address_format format, char *why, size_t size)
{
	if (strpbrk(text, "[],"))
		return add_range(arguments, text, format, why, size);
	if (!reserve(arguments, 1))
		return fail_memory(why, size);
	return add_destination(arguments, text, format, why, size);
}

static int read_addresses(struct resolve_arguments *arguments, const struct words *words, char *why,
			  size_t size)
{
	int error = 0;

	if (!words->count) {
		snprintf(why, size, "a destination is missing; give it with -d");
		return -EINVAL;
	}
	if (words->source)
		error = address_text_parse(words->source, words->format, &arguments->source, why,
					   size);
	for (uint32_t i = 0; !error && i < words->count; i++)
		error = add_word(arguments, words->destinations[i], words->format, why, size);
	return error;
}

int resolve_arguments_parse(int argc, char **argv, struct resolve_arguments *arguments, char *why,
			    size_t size)
{
	struct words words = {.destinations = calloc((size_t)argc, sizeof(char *))};
	int error;

	*arguments = (struct resolve_arguments){
		.timeout_ms = TIMEOUT_DEFAULT_MS,
		.repetitions = 1,
	};
	if (!words.destinations)
		return fail_memory(why, size);
	error = read_options(argc, argv, arguments, &words, why, size);
	if (!error && arguments->cached_only && arguments->query_sa) {
		snprintf(why, size, "-c and -q exclude each other; give one of them");
		error = -EINVAL;
	}
	if (!error && !arguments->help)
		error = read_addresses(arguments, &words, why, size);
	free(words.destinations);
	return error;
}

void resolve_arguments_free(struct resolve_arguments *arguments)
{
	for (uint32_t i = 0; i < arguments->destination_count; i++)
		free(arguments->destinations[i].text);
	free(arguments->destinations);
}
