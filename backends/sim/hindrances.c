/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hindrances.h"

#include <errno.h>
#include <stdlib.h>

void sim_hindrances_init(struct sim_hindrances *hindrances, const struct sim_ways *ways)
{
	*hindrances = (struct sim_hindrances){.ways = *ways};
}

void sim_hindrances_free(struct sim_hindrances *hindrances)
{
	free(hindrances->all);
	*hindrances = (struct sim_hindrances){0};
}

bool sim_fault_hinders(const struct sim_fault_plan *plan)
{
	return plan->links.count && !plan->nodes.count &&
	       (plan->kind == SIM_FAULT_LOSS || plan->kind == SIM_FAULT_DELAY ||
		plan->kind == SIM_FAULT_REORDERING || plan->kind == SIM_FAULT_CORRUPTION);
}

int sim_hindrances_begin(struct sim_hindrances *hindrances, const struct sim_fault_plan *plan,
			 uint64_t now)
{
	uint32_t room = 2 * hindrances->room + 4;
	struct sim_hindrance *larger;

	if (hindrances->count == hindrances->room) {
		larger = reallocarray(hindrances->all, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		hindrances->all = larger;
		hindrances->room = room;
	}
	hindrances->all[hindrances->count++] = (struct sim_hindrance){
		plan, now, ACM_NEVER, hindrances->ways.generation(hindrances->ways.context)};
	return 0;
}

void sim_hindrances_end(struct sim_hindrances *hindrances, const struct sim_fault_plan *plan,
			uint64_t now)
{
	for (uint32_t i = 0; i < hindrances->count; i++) {
		struct sim_hindrance *hindrance = &hindrances->all[i];

		if (hindrance->plan == plan && hindrance->ended == ACM_NEVER)
			hindrance->ended = now;
	}
}

bool sim_hindrances_met(const struct sim_hindrances *hindrances, const struct sim_wait *wait)
{
	const struct sim_ways *ways = &hindrances->ways;

	for (uint32_t i = 0; i < hindrances->count; i++) {
		const struct sim_hindrance *hindrance = &hindrances->all[i];

		if (hindrance->began <= wait->answered && hindrance->ended >= wait->joined &&
		    (hindrance->generation != ways->generation(ways->context) ||
		     ways->pass(ways->context, wait, &hindrance->plan->links)))
			return true;
	}
	return false;
}
