/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LIDs as OpenSM gives them: the manager's port first, then all in the order of their GUIDs. Ports
 * with several LIDs begin at a multiple of their number; what lies before it is not used any more.
 */
#include "subnet_state.h"

#include <errno.h>

uint64_t subnet_lids_needed(const struct sim_topology *topology, uint8_t lmc)
{
	uint64_t hosts = 0, each = UINT64_C(1) << lmc, gaps = 0;

	for (uint32_t i = topology->switch_count; i < topology->node_count; i++)
		hosts += topology->nodes[i].port_count;
	/* Each switch may stand before a host that must be aligned. */
	if (lmc > 0)
		gaps = (each - 1) * (topology->switch_count + 1);
	return topology->switch_count + hosts * each + gaps;
}

static uint32_t count_of(const struct sim_subnet *subnet, const struct subnet_port *port)
{
	return port->number == 0 ? 1 : 1u << subnet->options.lmc;
}

static bool is_free(const struct sim_subnet *subnet, uint32_t lid, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (subnet->by_lid[lid + i] != SIM_NONE)
			return false;
	return true;
}

/* From *next on, which moves behind it; 0: there is none. */
static uint32_t find_free(const struct sim_subnet *subnet, uint32_t count, uint32_t *next)
{
	for (uint32_t lid = (*next + count - 1) / count * count; lid + count <= subnet->lid_count;
	     lid += count) {
		if (!is_free(subnet, lid, count))
			continue;
		*next = lid + count;
		return lid;
	}
	return 0;
}

static void assign(struct sim_subnet *subnet, uint32_t port, uint32_t *next)
{
	struct subnet_port *to = &subnet->ports[port];
	uint32_t count = count_of(subnet, to), lid;

	if (!to->known || to->lid)
		return;
	lid = find_free(subnet, count, next);
	to->lid = (uint16_t)lid;
	to->lmc = to->number == 0 ? 0 : subnet->options.lmc;
	for (uint32_t i = 0; lid && i < count; i++)
		subnet->by_lid[lid + i] = port;
	subnet_port_changed(subnet, port);
}

static void release(struct sim_subnet *subnet, uint32_t lid, uint32_t count)
{
	for (uint32_t i = 0; lid && i < count; i++)
		subnet->by_lid[lid + i] = SIM_NONE;
}

/* Takes the new LID before it gives up the old one, so that they differ. */
static void renumber(struct sim_subnet *subnet, uint32_t port)
{
	struct subnet_port *at = &subnet->ports[port];
	uint32_t next = 1, old = at->lid;

	if (!at->renumber || !at->known)
		return;
	at->renumber = false;
	at->lid = 0;
	assign(subnet, port, &next);
	if (at->lid)
		release(subnet, old, count_of(subnet, at));
	else
		at->lid = (uint16_t)old;
	subnet->rebalance = true; /* its ways are chosen anew */
}

void subnet_assign_lids(struct sim_subnet *subnet)
{
	uint32_t next = 1, used = subnet->lid_count;

	for (uint32_t i = 0; i < subnet->end_port_count; i++)
		renumber(subnet, subnet->end_ports[i]);
	assign(subnet, subnet->first[subnet->sm] + 1, &next);
	for (uint32_t i = 0; i < subnet->end_port_count; i++)
		assign(subnet, subnet->end_ports[i], &next);
	while (used > 1 && subnet->by_lid[used - 1] == SIM_NONE)
		used--;
	for (uint32_t i = 0; i < subnet->topology->switch_count; i++) {
		struct sim_switch_tables *tables = &subnet->tables.switches[i];

		tables->lid = subnet->ports[subnet->first[i]].lid;
		if (tables->lft_size < used)
			tables->lft_size = used;
	}
}

void subnet_set_prefix(struct sim_subnet *subnet)
{
	if (subnet->prefix == subnet->next_prefix)
		return;
	subnet->prefix = subnet->next_prefix;
	for (uint32_t i = 0; i < subnet->end_port_count; i++)
		subnet_port_changed(subnet, subnet->end_ports[i]);
}

/* ---- changes ---- */

int sim_subnet_change_lid(struct sim_subnet *subnet, struct sim_port_ref port, uint64_t now)
{
	uint32_t index = sim_subnet_port_index(subnet, port), next = 1;

	if (index == SIM_NONE)
		return -ENODEV;
	if (!find_free(subnet, count_of(subnet, &subnet->ports[index]), &next))
		return -ENOSPC;
	subnet->ports[index].renumber = true;
	subnet_note_change(subnet, now);
	return 0;
}

void sim_subnet_change_prefix(struct sim_subnet *subnet, uint64_t prefix, uint64_t now)
{
	subnet->next_prefix = prefix;
	subnet_note_change(subnet, now);
}

uint64_t sim_subnet_prefix(const struct sim_subnet *subnet)
{
	return subnet->prefix;
}
