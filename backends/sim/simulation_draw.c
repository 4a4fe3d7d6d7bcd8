/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults and requests that are drawn from the seed. */
#include "simulation_state.h"

#include <errno.h>
#include <stdlib.h>
#include "wiring.h"

/* Of a client that goes away before all tries are over. */
#define DRAWN_PATIENCE (20 * ACM_NSEC_PER_MSEC)

static uint64_t draw(uint64_t *state, uint64_t below)
{
	return sim_mix(*state += UINT64_C(0x9e3779b97f4a7c15)) % below;
}

static void draw_fault(struct simulation *simulation, uint64_t *state, struct sim_fault_plan *plan)
{
	static const enum sim_fault_kind kinds[] = {
		SIM_FAULT_STOP,         SIM_FAULT_PAUSE,        SIM_FAULT_LINK_DOWN,
		SIM_FAULT_LOSS,         SIM_FAULT_DUPLICATION,  SIM_FAULT_DELAY,
		SIM_FAULT_REORDERING,   SIM_FAULT_SA_SILENT,    SIM_FAULT_SA_SLOW,
		SIM_FAULT_SA_BUSY,      SIM_FAULT_SA_ERROR,     SIM_FAULT_SA_TWICE,
		SIM_FAULT_JOIN_REFUSED, SIM_FAULT_SM_FAIL_OVER, SIM_FAULT_GROUPS_LOST,
		SIM_FAULT_RESTART,      SIM_FAULT_RELOAD,       SIM_FAULT_TREE_DELAY};
	const struct sim_topology *topology = simulation->topology;
	uint64_t within = simulation->scenario->random_within;

	plan->kind = kinds[draw(state, sizeof(kinds) / sizeof(kinds[0]))];
	plan->classes = SIM_CLASS_REQUEST | SIM_CLASS_ANSWER;
	plan->rate = 0.05 + 0.05 * (double)draw(state, 10);
	plan->delay = 1000 + draw(state, 300 * ACM_NSEC_PER_MSEC);
	plan->status = plan->kind == SIM_FAULT_JOIN_REFUSED ? 0x0200 : 0x0700;
	plan->lids_reassigned = draw(state, 2);
	plan->duration = 1 + draw(state, within / 2);
	if (plan->kind <= SIM_FAULT_RELOAD || plan->kind == SIM_FAULT_SM_FAIL_OVER)
		plan->nodes.count = 1;
	else if (plan->kind == SIM_FAULT_LINK_DOWN)
		plan->links.count = 1;
	if (plan->kind == SIM_FAULT_SM_FAIL_OVER || plan->kind == SIM_FAULT_GROUPS_LOST ||
	    plan->kind == SIM_FAULT_RESTART || plan->kind == SIM_FAULT_RELOAD)
		plan->duration = ACM_NEVER;
	plan->nodes.nodes = malloc(sizeof(*plan->nodes.nodes));
	plan->links.nodes = malloc(sizeof(*plan->links.nodes));
	if (!plan->nodes.nodes || !plan->links.nodes) {
		simulation->error = -ENOMEM;
		return;
	}
	plan->nodes.nodes[0] = topology->switch_count + (uint32_t)draw(state, topology->host_count);
	plan->links.nodes[0] = (uint32_t)draw(state, topology->link_count);
}

void simulation_draw_faults(struct simulation *simulation)
{
	uint32_t count = simulation->scenario->random_faults;
	uint64_t state = sim_mix(simulation->options->seed ^ UINT64_C(0xfa017));
	uint64_t within = simulation->scenario->random_within;

	simulation->drawn = calloc(count + 1, sizeof(*simulation->drawn));
	if (!simulation->drawn) {
		simulation->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < count && !simulation->error; i++) {
		simulation->drawn_count++;
		draw_fault(simulation, &state, &simulation->drawn[i]);
		simulation_schedule(simulation, (struct sim_due){.time = simulation->now +
									 draw(&state, within / 2),
								 .kind = SIM_DUE_FAULT,
								 .plan = &simulation->drawn[i]});
	}
	/* Somebody must ask meanwhile. */
	for (uint32_t i = 0; i < 4 * count && !simulation->error; i++)
		simulation_schedule(simulation,
				    (struct sim_due){.time = simulation->now + draw(&state, within),
						     .kind = SIM_DUE_DRAWN,
						     .index = (uint32_t)draw(&state, UINT32_MAX)});
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
