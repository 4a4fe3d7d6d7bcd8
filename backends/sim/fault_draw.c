/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fault_draw.h"

#include <acmite/wire.h>
#include <stdlib.h>

#define BIT(name) SIM_FAULT_BIT(SIM_FAULT_##name)
#define MSEC      ACM_NSEC_PER_MSEC

static const uint64_t of_packets =
	BIT(LOSS) | BIT(DUPLICATION) | BIT(DELAY) | BIT(REORDERING) | BIT(CORRUPTION);
static const uint64_t of_sa = BIT(SA_SILENT) | BIT(SA_SLOW) | BIT(SA_BUSY) | BIT(SA_ERROR) |
			      BIT(SA_TWICE) | BIT(JOIN_REFUSED);
static const uint64_t of_one_node = BIT(STOP) | BIT(RESTART) | BIT(PAUSE) | BIT(RELOAD) |
				    BIT(CLAIM) | BIT(DISCLAIM) | BIT(MOVE) | BIT(SM_FAIL_OVER) |
				    BIT(LID_CHANGE) | BIT(RECEIVE_QUEUE_FULL);
static const uint64_t of_links = BIT(LINK_DOWN) | BIT(LINK_FLAPPING);
static const uint64_t of_addresses = BIT(CLAIM) | BIT(DISCLAIM) | BIT(MOVE);
static const uint64_t of_all =
	BIT(GROUPS_LOST) | BIT(MLID_SHARED) | BIT(TREE_DELAY) | BIT(SUBNET_PREFIX);
/* They happen, and are over. */
static const uint64_t at_once = BIT(RESTART) | BIT(RELOAD) | BIT(SM_FAIL_OVER) | BIT(GROUPS_LOST) |
				BIT(MLID_SHARED) | BIT(LID_CHANGE);

const uint64_t sim_faults_drawn = of_packets | of_sa | of_one_node | of_links | of_all;
const uint64_t sim_faults_that_mislead = BIT(CLAIM) | BIT(MOVE) | BIT(LID_CHANGE);

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

static bool draw_place(const struct sim_topology *topology, struct sim_dice *dice,
		       struct sim_fault_plan *plan)
{
	/* Everybody, or one, or a few. */
	static const uint64_t counts[] = {0, 0, 1, 1, 3};
	uint64_t kind = SIM_FAULT_BIT(plan->kind);
	uint32_t nodes = 0;

	if (kind & of_links || (kind & of_packets && sim_dice_one_in(dice, 4)))
		return draw_some(dice, 0, topology->link_count,
				 1 + (uint32_t)sim_dice_below(dice, 2), &plan->links);
	if (kind & of_one_node)
		nodes = 1;
	else if (kind & (of_packets | of_sa))
		nodes = (uint32_t)sim_dice_pick(dice, counts, 5);
	return !nodes ||
	       draw_some(dice, topology->switch_count, topology->host_count, nodes, &plan->nodes);
}

/* Any address that a node holds: one of the fault's own for it to give up, else another's. */
static bool draw_address(const struct sim_topology *topology, struct sim_dice *dice,
			 struct sim_fault_plan *plan)
{
	uint32_t holder =
		topology->switch_count + (uint32_t)sim_dice_below(dice, topology->host_count);
	const struct sim_node *node;

	if (plan->kind == SIM_FAULT_DISCLAIM)
		holder = plan->nodes.nodes[0];
	else if (holder == plan->nodes.nodes[0])
		plan->nodes.nodes[0] =
			holder + 1 < topology->node_count ? holder + 1 : topology->switch_count;
	node = &topology->nodes[holder];
	plan->address = node->addresses[sim_dice_below(dice, node->address_count)];
	if (plan->kind != SIM_FAULT_MOVE)
		return true;
	plan->holders.nodes = malloc(sizeof(*plan->holders.nodes));
	if (!plan->holders.nodes)
		return false;
	plan->holders.nodes[0] = holder;
	plan->holders.count = 1;
	return true;
}

static void draw_classes(struct sim_dice *dice, struct sim_fault_plan *plan)
{
	plan->classes = (uint32_t)(1 + sim_dice_below(dice, 3));
	/* A request that has changed asks for another, or comes from another: who hears it cannot
	 * know that. Nor can who is answered by the SA. */
	if (plan->kind == SIM_FAULT_CORRUPTION)
		plan->classes = SIM_CLASS_ANSWER;
	else if (!plan->links.count && sim_dice_one_in(dice, 4))
		plan->classes = (uint32_t)SIM_CLASS_SA_REQUEST << sim_dice_below(dice, 2);
	else if (sim_dice_one_in(dice, 4))
		plan->groups = SIM_GROUPS_ALL;
}

/* Each kind takes what it has use for. */
static void draw_values(struct sim_dice *dice, struct sim_fault_plan *plan)
{
	static const uint16_t statuses[] = {0x0100, 0x0200, 0x0700, 0x0003};

	plan->rate = 0.05 + 0.05 * (double)sim_dice_below(dice, 10);
	if (sim_dice_one_in(dice, 4))
		plan->packets = 1 + sim_dice_below(dice, 255);
	plan->delay = 1000 + sim_dice_below(dice, 300 * MSEC);
	plan->period = 2 * MSEC + sim_dice_below(dice, 1000 * MSEC);
	plan->down = 0.1 + 0.1 * (double)sim_dice_below(dice, 9);
	plan->refusal = (uint32_t)sim_dice_below(dice, SIM_REFUSED_NO_MLIDS + 1);
	plan->status = statuses[sim_dice_below(dice, 4)];
	if (plan->kind == SIM_FAULT_JOIN_REFUSED)
		plan->status = plan->refusal == SIM_REFUSED_NO_MLIDS ? 0x0100 : 0x0200;
	plan->lids_reassigned = sim_dice_one_in(dice, 2) && plan->kind == SIM_FAULT_SM_FAIL_OVER;
	plan->prefix = UINT64_C(0xfec0000000000000) + sim_dice_below(dice, 1000);
}

bool sim_fault_draw(const struct sim_topology *topology, struct sim_dice *dice, uint64_t kinds,
		    uint64_t longest, struct sim_fault_plan *plan)
{
	*plan = (struct sim_fault_plan){.kind = draw_kind(dice, kinds),
					.duration = 1 + sim_dice_below(dice, longest)};
	draw_values(dice, plan);
	if (!draw_place(topology, dice, plan))
		return false;
	draw_classes(dice, plan);
	if (SIM_FAULT_BIT(plan->kind) & at_once)
		plan->duration = ACM_NEVER;
	return !(SIM_FAULT_BIT(plan->kind) & of_addresses) || draw_address(topology, dice, plan);
}
