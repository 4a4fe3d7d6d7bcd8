/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy.h"

struct acm_policy acm_policy_of(struct acm_engine_config *config)
{
	if (config->compat == ACM_COMPAT_NONE)
		return (struct acm_policy){0};
	config->resolve_depth = 1;
	config->sa_depth = 1;
	config->negative_life = 0;
	config->memory_budget = UINT64_MAX; /* nothing ever leaves */
	return (struct acm_policy){
		.window_until_answered = true,
		.asks_on = true,
		.even_tries = true,
		.unbounded = true,
		/* Where routes come from the groups there is nothing to ask for. */
		.path_before_answer = config->route_protocol == ACM_ROUTE_SA,
		.refusals_final = true,
		.bare_answers = true,
	};
}
