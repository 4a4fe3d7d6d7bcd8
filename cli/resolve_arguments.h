/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arguments of acmite resolve. */
#ifndef RESOLVE_ARGUMENTS_H
#define RESOLVE_ARGUMENTS_H

#include "address_text.h"

struct destination {
	char *text; /* as typed, ranges expanded */
	struct acm_address address;
};

struct resolve_arguments {
	bool help;
	bool json;
	bool cached_only;
	bool query_sa;
	const char *socket; /* NULL: the default */
	uint32_t timeout_ms;
	uint32_t repetitions;
	struct acm_address source; /* type ACM_ADDRESS_NONE: none */
	uint32_t destination_count;
	struct destination *destinations;
};

extern const char resolve_help[];

/*
 * Reads the command line; argv[0] is the command's name. 0, -EINVAL and one sentence in `why`, or
 * -ENOMEM with one too. `arguments` is to be given to resolve_arguments_free() in any case.
 */
int resolve_arguments_parse(int argc, char **argv, struct resolve_arguments *arguments, char *why,
			    size_t size);
void resolve_arguments_free(struct resolve_arguments *arguments);

/* By LID or GID: asked for with a path record instead of addresses. */
bool is_path_address(const struct acm_address *address);

#endif
