/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What came of resolving, and how it is shown. */
#ifndef RESOLVE_RESULT_H
#define RESOLVE_RESULT_H

#include "resolve_arguments.h"

#include <acmite/wire.h>

struct resolve_result {
	bool answered;          /* in every repetition; the rest but `times` counts only then */
	enum acm_status status; /* of the last repetition, or the first that failed */
	struct acm_path path;
	struct acm_address source; /* that the service picked; ACM_ADDRESS_NONE: not told */
	uint32_t times;            /* answers */
	uint64_t sent;             /* ns, when the last question was asked */
	uint64_t first;            /* ns from question to answer */
	uint64_t best;
	uint64_t rest; /* sum of all after the first */
};

bool resolve_result_ok(const struct resolve_result *result);

/* One for each destination, on standard output. False: no memory for it. */
bool resolve_results_show(const struct resolve_arguments *arguments,
			  const struct resolve_result *results);

#endif
