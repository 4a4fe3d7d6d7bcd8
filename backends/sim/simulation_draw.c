/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults and requests that are drawn from the seed, besides the steps of a scenario's file. */
#include "simulation_state.h"

#include <errno.h>
#include <stdlib.h>
#include "fault_draw.h"

/* Of a client that goes away before all tries are over. */
#define DRAWN_PATIENCE (20 * ACM_NSEC_PER_MSEC)

#define DICE_OF_FAULTS 0xfa017

/* The author of the file decides how long nodes remember, and what groups there are: nothing that
 * needs to know. */
static uint64_t kinds(void)
{
	return sim_faults_drawn & ~sim_faults_that_mislead & ~SIM_FAULT_BIT(SIM_FAULT_DISCLAIM) &
	       ~SIM_FAULT_BIT(SIM_FAULT_MLID_SHARED);
}

void simulation_draw_faults(struct simulation *simulation)
{
	uint32_t count = simulation->scenario->random_faults;
	struct sim_dice dice = sim_dice(simulation->options->seed, DICE_OF_FAULTS);
	uint64_t within = simulation->scenario->random_within;

	simulation->drawn = calloc(count + 1, sizeof(*simulation->drawn));
	if (!simulation->drawn) {
		simulation->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < count && !simulation->error; i++) {
		simulation->drawn_count++;
		if (!sim_fault_draw(simulation->topology, &dice, kinds(), within / 2,
				    &simulation->drawn[i]))
			simulation->error = -ENOMEM;
		simulation_schedule(simulation,
				    (struct sim_due){.time = simulation->now +
							     sim_dice_below(&dice, within / 2),
						     .kind = SIM_DUE_FAULT,
						     .plan = &simulation->drawn[i]});
	}
	/* Somebody must ask meanwhile. */
	for (uint32_t i = 0; i < 4 * count && !simulation->error; i++)
		simulation_schedule(
			simulation,
			(struct sim_due){.time = simulation->now + sim_dice_below(&dice, within),
					 .kind = SIM_DUE_DRAWN,
					 .index = (uint32_t)sim_dice_below(&dice, UINT32_MAX)});
}

void simulation_ask_drawn(struct simulation *simulation, uint32_t drawn)
{
	const struct sim_topology *topology = simulation->topology;
	uint32_t from = drawn % topology->host_count;
	uint32_t to = drawn / topology->host_count % topology->host_count;
	uint32_t request = simulation->ledger.count;

	if (simulation_ask_pair(simulation, topology->switch_count + from,
				topology->switch_count + to) &&
	    (drawn >> 24) % 4 == 0) /* a client that does not wait */
		simulation_schedule(simulation,
				    (struct sim_due){.time = simulation->now + DRAWN_PATIENCE,
						     .kind = SIM_DUE_CANCEL,
						     .index = request});
}
