/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the nodes' options imply: how long an answer may take, and a try waits for the next. */
#include "simulation_state.h"

#include <inttypes.h>

#define TURNS_MOST       UINT64_C(10000000)
#define EVENTS_MOST      UINT64_C(200000000)
#define FABRIC_TIME_MOST (UINT64_C(100) * 24 * 3600 * ACM_NSEC_PER_SEC)
#define QUEUE_MOST       UINT64_C(50000000)

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

uint64_t simulation_memory_of(const struct simulation *simulation, const struct sim_asked *asked)
{
	const struct sim_host *host = &simulation->hosts[asked->node];
	const struct acm_engine_config *config =
		sim_scenario_config(simulation->scenario, asked->node);
	uint64_t life = config->address_life;

	if (config->compat == ACM_COMPAT_IBACM && config->route_life > config->address_life)
		life = config->route_life;
	/* What came while it was paused it has read since, however old it was, and held for true.
	 */
	if (host->was_paused && (life == ACM_NEVER || asked->joined <= host->resumed ||
				 asked->joined - host->resumed <= life))
		return ACM_NEVER;
	/* What a packet tells was so when it was sent. */
	return life == ACM_NEVER ? life : life + simulation->longest_way;
}

static uint64_t guard(uint64_t given, uint64_t usual)
{
	return given ? given : usual;
}

void simulation_set_guards(struct simulation *simulation)
{
	const struct sim_guards *given = &simulation->options->guards;

	simulation->guards = (struct sim_guards){
		.ready = guard(given->ready, SIM_READY_MOST),
		.turns = guard(given->turns, TURNS_MOST),
		.events = guard(given->events, EVENTS_MOST),
		.fabric_time = guard(given->fabric_time, FABRIC_TIME_MOST),
		.queue = guard(given->queue, QUEUE_MOST),
	};
}

bool simulation_is_beyond(struct simulation *simulation, const struct sim_fabric_stats *stats)
{
	const struct sim_guards *guards = &simulation->guards;

	if (simulation->result->events > guards->events)
		simulation_broken(simulation, "a run has so many events at most",
				  "more than %" PRIu64, guards->events);
	else if (simulation->now - simulation->start > guards->fabric_time)
		simulation_broken(simulation, "a run lasts so long at most",
				  "longer than %" PRIu64 " ms",
				  guards->fabric_time / ACM_NSEC_PER_MSEC);
	else if (stats->in_flight > guards->queue)
		simulation_broken(simulation, "so many packets are under way at most",
				  "%" PRIu64 ", more than %" PRIu64, stats->in_flight,
				  guards->queue);
	else
		return false;
	return true;
}
