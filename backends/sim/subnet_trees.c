/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The multicast tables, by OpenSM's rule: the root is the switch whose most distant member is
 * nearest, the first of several; from there, the first port on a shortest way to each member's
 * switch.
 */
#include "subnet_state.h"

#include <string.h>

static void set_port(struct sim_subnet *subnet, uint32_t node, uint32_t entry, uint32_t port)
{
	subnet->tables.switches[node].mft[entry][port / 64] |= UINT64_C(1) << port % 64;
}

/* The switch that a member is at; SIM_NONE. */
static uint32_t switch_of(const struct sim_subnet *subnet, uint32_t port)
{
	const struct subnet_port *member = &subnet->ports[port];
	uint32_t peer = subnet->topology->nodes[member->node].ports[member->number].peer;

	if (!member->known || peer == SIM_NONE ||
	    subnet->topology->nodes[peer].kind != SIM_SWITCH ||
	    !subnet->ports[subnet->first[peer]].known)
		return SIM_NONE;
	return peer;
}

/* Calls for each switch with members once. */
static void for_each_switch(struct sim_subnet *subnet, uint32_t entry, uint32_t root,
			    void (*visit)(struct sim_subnet *subnet, uint32_t entry, uint32_t root,
					  uint32_t target))
{
	for (uint32_t g = 0; g < subnet->group_count; g++) {
		const struct sim_group *group = subnet->groups[g];

		for (uint32_t i = 0;
		     group->record.mlid == ACM_LID_MULTICAST + entry && i < group->member_count;
		     i++) {
			uint32_t target = switch_of(subnet, group->members[i].port);

			if (target == SIM_NONE ||
			    (subnet->tables.switches[target].mft[entry][0] & 1))
				continue;
			subnet->tables.switches[target].mft[entry][0] |= 1;
			visit(subnet, entry, root, target);
		}
	}
	/* Port 0's bit was only the mark. */
	for (uint32_t node = 0; node < subnet->topology->switch_count; node++)
		subnet->tables.switches[node].mft[entry][0] &= ~UINT64_C(1);
}

static void note_distance(struct sim_subnet *subnet, uint32_t entry, uint32_t root, uint32_t target)
{
	struct subnet_routing *routing = &subnet->routing;

	(void)entry;
	(void)root;
	subnet_hops_towards(subnet, target);
	for (uint32_t node = 0; node < subnet->topology->switch_count; node++)
		if (routing->hops[node] > routing->farthest[node])
			routing->farthest[node] = routing->hops[node];
}

static uint32_t find_root(struct sim_subnet *subnet, uint32_t entry)
{
	const uint8_t *farthest = subnet->routing.farthest;
	uint32_t root = SIM_NONE;

	memset(subnet->routing.farthest, 0, subnet->topology->switch_count);
	for_each_switch(subnet, entry, SIM_NONE, note_distance);
	for (uint32_t i = 0; i < subnet->topology->switch_count; i++) {
		uint32_t node = subnet->guid_switches[i];

		if (subnet->ports[subnet->first[node]].known &&
		    (root == SIM_NONE || farthest[node] < farthest[root]))
			root = node;
	}
	return root;
}

static const struct subnet_end *first_end(const struct sim_subnet *subnet, uint32_t node)
{
	const struct subnet_routing *routing = &subnet->routing;

	for (uint32_t e = routing->first_end[node]; e < routing->first_end[node + 1]; e++)
		if (subnet_end_leads(subnet, node, e))
			return &routing->ends[e];
	return NULL;
}

static void grow_branch(struct sim_subnet *subnet, uint32_t entry, uint32_t root, uint32_t target)
{
	uint32_t node = root;

	subnet_hops_towards(subnet, target);
	while (node != target) {
		const struct subnet_end *end = first_end(subnet, node);

		if (!end)
			return;
		set_port(subnet, node, entry, end->port);
		set_port(subnet, end->far, entry, end->far_port);
		node = end->far;
	}
}

static void set_members(struct sim_subnet *subnet, uint32_t entry)
{
	for (uint32_t g = 0; g < subnet->group_count; g++) {
		const struct sim_group *group = subnet->groups[g];

		if (group->record.mlid != ACM_LID_MULTICAST + entry)
			continue;
		for (uint32_t i = 0; i < group->member_count; i++) {
			const struct subnet_port *member = &subnet->ports[group->members[i].port];
			uint32_t node = switch_of(subnet, group->members[i].port);

			if (node != SIM_NONE)
				set_port(subnet, node, entry,
					 subnet->topology->nodes[member->node]
						 .ports[member->number]
						 .peer_port);
		}
	}
}

/* OpenSM programs no tree for one port alone, in however many groups of the MLID it is. */
static bool has_two_members(const struct sim_subnet *subnet, uint32_t entry)
{
	uint32_t first = SIM_NONE;

	for (uint32_t g = 0; g < subnet->group_count; g++) {
		const struct sim_group *group = subnet->groups[g];

		if (group->record.mlid != ACM_LID_MULTICAST + entry)
			continue;
		for (uint32_t i = 0; i < group->member_count; i++) {
			if (first != SIM_NONE && group->members[i].port != first)
				return true;
			first = group->members[i].port;
		}
	}
	return false;
}

static void plant(struct sim_subnet *subnet, uint32_t entry)
{
	uint32_t root;

	for (uint32_t node = 0; node < subnet->topology->switch_count; node++)
		if (subnet->ports[subnet->first[node]].known)
			memset(subnet->tables.switches[node].mft[entry], 0,
			       sizeof(subnet->tables.switches[node].mft[entry]));
	if (!has_two_members(subnet, entry))
		return;
	root = find_root(subnet, entry);
	if (root != SIM_NONE)
		for_each_switch(subnet, entry, root, grow_branch);
	set_members(subnet, entry);
}

void subnet_plant_trees(struct sim_subnet *subnet)
{
	uint32_t size = subnet->topology->switch_count ? subnet->tables.switches[0].mft_size : 0;

	for (uint32_t entry = 0; entry < size; entry++) {
		if (!subnet->mlid_stale[entry])
			continue;
		subnet->mlid_stale[entry] = false;
		plant(subnet, entry);
		subnet->tables_changed = true;
	}
}
