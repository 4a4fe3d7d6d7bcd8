/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which source a node would use to reach a destination. */
#include "simulation_state.h"

void simulation_find_source(void *context, uint64_t cookie, const struct acm_address *destination)
{
	struct sim_host *host = context;
	struct simulation *simulation = host->simulation;

	if (simulation_grow(simulation, &simulation->searches, simulation->search_count,
			    &simulation->search_room, sizeof(*simulation->searches)))
		simulation->searches[simulation->search_count++] =
			(struct sim_source_search){host->node, cookie, destination->type};
}

void simulation_answer_searches(struct simulation *simulation)
{
	for (uint32_t i = 0; i < simulation->search_count && !simulation->error; i++) {
		struct sim_source_search search = simulation->searches[i];
		struct sim_resident *resident =
			sim_population_resident(simulation->population, search.node);
		const struct acm_address *source = simulation_address_of(
			&simulation->topology->nodes[search.node], search.type);
		struct acm_event event = {.type = ACM_EVENT_SOURCE_FOUND, .time = simulation->now};

		if (!resident)
			continue;
		event.source.cookie = search.cookie;
		event.source.status = source ? 0 : -1;
		if (source)
			event.source.address = *source;
		simulation->error = sim_resident_step(resident, &event);
	}
	simulation->search_count = 0;
}
