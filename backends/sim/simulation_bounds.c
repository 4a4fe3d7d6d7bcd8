/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the nodes' options imply: how long an answer may take, and a try waits for the next. */
#include "simulation_state.h"

/* All tries for an address, or for a route. */
static uint64_t phase_time(const struct acm_engine_config *config,
			   const struct acm_port_facts *facts)
{
	return (config->retries + 1) *
	       (config->timeout + (UINT64_C(4096) << (facts->subnet_timeout & 31)));
}

/* As docs/design.md has it: 1, 2, 4, ... shares of it, an eighth shorter by jitter at most. */
static struct sim_patience patience_of(const struct acm_engine_config *config, uint64_t phase)
{
	uint64_t shares = (UINT64_C(1) << (config->retries + 1)) - 1;

	if (config->compat == ACM_COMPAT_IBACM)
		return (struct sim_patience){phase / (config->retries + 1), 1};
	return (struct sim_patience){phase / shares / 8 * 7, 2};
}

/* Two phases of all tries, and the search for a source. */
void simulation_set_bounds(struct simulation *simulation)
{
	const struct sim_topology *topology = simulation->topology;
	struct acm_port_facts facts;
	uint32_t addresses = topology->host_count;

	for (uint32_t node = topology->switch_count; node < topology->node_count; node++)
		addresses += topology->nodes[node].address_count;
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++) {
		const struct acm_engine_config *config =
			sim_scenario_config(simulation->scenario, node);
		struct sim_port_ref port = {.node = node, .port = 1};
		struct sim_host *host = &simulation->hosts[node];

		if (simulation->control->ops->port_facts(simulation->control, port, &facts))
			continue;
		host->bound =
			2 * phase_time(config, &facts) + ACM_NSEC_PER_SEC + simulation->allowance;
		host->patience = patience_of(config, phase_time(config, &facts));
		/* There a request may have to wait for all that are asked for. */
		if (config->compat == ACM_COMPAT_IBACM)
			host->bound *= addresses;
	}
}
