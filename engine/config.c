/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <acmite/engine.h>

#include <errno.h>
#include <string.h>

void acm_engine_config_default(struct acm_engine_config *config)
{
	memset(config, 0,
	       sizeof(*config)); /* the padding too: configurations are compared as a whole */
	config->seed = 1;
	config->address_life = 1440 * 60 * ACM_NSEC_PER_SEC;
	config->route_life = ACM_NEVER;
	config->negative_life = 10 * ACM_NSEC_PER_SEC;
	config->timeout = 2000 * ACM_NSEC_PER_MSEC;
	config->retries = 2;
	config->resolve_depth = 64;
	config->sa_depth = 64;
	config->recv_depth = 1024;
	config->min_mtu = acm_mtu_code(2048);
	config->min_rate = acm_rate_code(100);
	config->route_protocol = ACM_ROUTE_SA;
	config->loopback = true;
	config->memory_budget = 64 << 20;
	config->request_limit = 65536;
	config->join_backoff_min = 100 * ACM_NSEC_PER_MSEC;
	config->join_backoff_max = 30 * ACM_NSEC_PER_SEC;
	config->join_verify = 300 * ACM_NSEC_PER_SEC;
	config->trace_mask = UINT64_MAX;
	memcpy(config->provider, "acmite", sizeof("acmite"));
}

static bool between(uint64_t value, uint64_t least, uint64_t most)
{
	return value >= least && value <= most;
}

int acm_engine_config_check(const struct acm_engine_config *config, const char **field)
{
	const struct {
		bool good;
		const char *field;
	} rules[] = {
		{config->timeout >= ACM_NSEC_PER_MSEC && config->timeout <= 3600 * ACM_NSEC_PER_SEC,
		 "timeout"},
		{config->retries <= 16, "retries"},
		{between(config->resolve_depth, 1, 1024), "resolve_depth"},
		{between(config->sa_depth, 1, 64), "sa_depth"},
		{between(config->recv_depth, 1, 1 << 20), "recv_depth"},
		{acm_mtu_bytes(config->min_mtu) != 0, "min_mtu"},
		{acm_rate_tenths_gbps(config->min_rate) != 0, "min_rate"},
		{between(config->route_protocol, ACM_ROUTE_SA, ACM_ROUTE_ACM), "route_protocol"},
		{between(config->compat, ACM_COMPAT_NONE, ACM_COMPAT_IBACM), "compat"},
		{config->memory_budget >= 4096, "memory_budget"},
		{config->request_limit >= 1, "request_limit"},
		{config->join_backoff_min >= ACM_NSEC_PER_MSEC, "join_backoff_min"},
		{between(config->join_backoff_max, config->join_backoff_min, ACM_NEVER / 4),
		 "join_backoff_max"},
		{memchr(config->provider, 0, sizeof(config->provider)) != NULL, "provider"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!rules[i].good) {
			*field = rules[i].field;
			return -EINVAL;
		}
	}
	return 0;
}
