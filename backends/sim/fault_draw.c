/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fault_draw.h"

#include <stdlib.h>

#define BIT(name) SIM_FAULT_BIT(SIM_FAULT_##name)

static const uint64_t of_packets =
	BIT(LOSS) | BIT(DUPLICATION) | BIT(DELAY) | BIT(REORDERING) | BIT(CORRUPTION);
static const uint64_t of_sa = BIT(SA_SILENT) | BIT(SA_SLOW) | BIT(SA_BUSY) | BIT(SA_ERROR) |
			      BIT(SA_TWICE) | BIT(JOIN_REFUSED);
static const uint64_t of_one_node =
	BIT(STOP) | BIT(RESTART) | BIT(PAUSE) | BIT(RELOAD) | BIT(CLAIM) | BIT(SM_FAIL_OVER);
static const uint64_t of_links = BIT(LINK_DOWN);
/* They happen, and are over. */
static const uint64_t at_once = BIT(RESTART) | BIT(RELOAD) | BIT(SM_FAIL_OVER) | BIT(GROUPS_LOST);

const uint64_t sim_faults_drawn =
	BIT(STOP) | BIT(RESTART) | BIT(PAUSE) | BIT(RELOAD) | BIT(CLAIM) | BIT(SM_FAIL_OVER) |
	BIT(LINK_DOWN) | BIT(LOSS) | BIT(DUPLICATION) | BIT(DELAY) | BIT(REORDERING) |
	BIT(CORRUPTION) | BIT(SA_SILENT) | BIT(SA_SLOW) | BIT(SA_BUSY) | BIT(SA_ERROR) |
	BIT(SA_TWICE) | BIT(JOIN_REFUSED) | BIT(GROUPS_LOST) | BIT(TREE_DELAY);
const uint64_t sim_faults_that_mislead = BIT(CLAIM);

static enum sim_fault_kind draw_kind(struct sim_dice *dice, uint64_t kinds)
{
	uint64_t place = sim_dice_below(dice, (uint64_t)__builtin_popcountll(kinds));

	while (place--)
		kinds &= kinds - 1;
	return (enum sim_fault_kind)__builtin_ctzll(kinds);
}

static bool draw_some(struct sim_dice *dice, uint32_t first, uint32_t all, uint32_t count,
		      struct sim_nodes *some)
{
	some->nodes = malloc(count * sizeof(*some->nodes));
	if (!some->nodes)
		return false;
	some->count = count;
	for (uint32_t i = 0; i < count; i++)
		some->nodes[i] = first + (uint32_t)sim_dice_below(dice, all);
	return true;
}

/* Everybody, or one, or a few. */
static uint32_t draw_count(struct sim_dice *dice)
{
	static const uint64_t counts[] = {0, 0, 1, 1, 3};

	return (uint32_t)sim_dice_pick(dice, counts, 5);
}

static bool draw_place(const struct sim_topology *topology, struct sim_dice *dice,
		       struct sim_fault_plan *plan)
{
	uint64_t kind = SIM_FAULT_BIT(plan->kind);
	uint32_t count = 0;

	if (kind & of_links || (plan->kind == SIM_FAULT_LOSS && sim_dice_one_in(dice, 2)))
		return draw_some(dice, 0, topology->link_count, 1, &plan->links);
	if (kind & of_one_node)
		count = 1;
	else if (kind & (of_packets | of_sa))
		count = draw_count(dice);
	return !count ||
	       draw_some(dice, topology->switch_count, topology->host_count, count, &plan->nodes);
}

/* What the node gives itself out for: any address that another holds. */
static void draw_claim(const struct sim_topology *topology, struct sim_dice *dice,
		       struct sim_fault_plan *plan)
{
	uint32_t other =
		topology->switch_count + (uint32_t)sim_dice_below(dice, topology->host_count);
	const struct sim_node *node = &topology->nodes[other];

	if (other != plan->nodes.nodes[0] && node->address_count)
		plan->address = node->addresses[sim_dice_below(dice, node->address_count)];
	else
		plan->kind = SIM_FAULT_RELOAD;
}

static void draw_packets(struct sim_dice *dice, struct sim_fault_plan *plan)
{
	plan->classes = (uint32_t)(1 + sim_dice_below(dice, 3));
	plan->rate = 0.05 + 0.05 * (double)sim_dice_below(dice, 10);
	if (sim_dice_one_in(dice, 4))
		plan->packets = 1 + sim_dice_below(dice, 255);
	/* A name in a request that has changed is another's, and who hears it cannot know. */
	if (plan->kind == SIM_FAULT_CORRUPTION)
		plan->classes = SIM_CLASS_ANSWER;
}

bool sim_fault_draw(const struct sim_topology *topology, struct sim_dice *dice, uint64_t kinds,
		    uint64_t longest, struct sim_fault_plan *plan)
{
	*plan = (struct sim_fault_plan){.kind = draw_kind(dice, kinds),
					.duration = 1 + sim_dice_below(dice, longest)};
	draw_packets(dice, plan);
	plan->delay = 1000 + sim_dice_below(dice, 300 * ACM_NSEC_PER_MSEC);
	plan->status = plan->kind == SIM_FAULT_JOIN_REFUSED ? 0x0200 : 0x0700;
	plan->lids_reassigned = sim_dice_one_in(dice, 2);
	if (!draw_place(topology, dice, plan))
		return false;
	if (plan->kind == SIM_FAULT_CLAIM)
		draw_claim(topology, dice, plan);
	if (SIM_FAULT_BIT(plan->kind) & at_once)
		plan->duration = ACM_NEVER;
	return true;
}
