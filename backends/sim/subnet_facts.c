/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What can be asked about a subnet. */
#include "subnet_state.h"

#include <acmite/bytes.h>
#include <errno.h>
#include <string.h>

#define HOPS_MAX 64

const struct sim_tables *sim_subnet_tables(const struct sim_subnet *subnet)
{
	return &subnet->tables;
}

uint32_t sim_subnet_port_of_lid(const struct sim_subnet *subnet, uint16_t lid)
{
	uint32_t port = lid < subnet->lid_count ? subnet->by_lid[lid] : SIM_NONE;

	return port != SIM_NONE && subnet->ports[port].known ? port : SIM_NONE;
}

uint32_t sim_subnet_port_of_guid(const struct sim_subnet *subnet, uint64_t guid)
{
	uint64_t wanted = subnet_guid_order(guid);
	uint32_t low = 0, high = subnet->end_port_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (subnet_guid_order(subnet->ports[subnet->end_ports[middle]].guid) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == subnet->end_port_count || subnet->ports[subnet->end_ports[low]].guid != guid ||
	    !subnet->ports[subnet->end_ports[low]].known)
		return SIM_NONE;
	return subnet->end_ports[low];
}

uint32_t sim_subnet_port_index(const struct sim_subnet *subnet, struct sim_port_ref port)
{
	const struct sim_topology *topology = subnet->topology;

	if (port.node >= topology->node_count || topology->nodes[port.node].kind != SIM_HOST ||
	    port.port < 1 || port.port > topology->nodes[port.node].port_count)
		return SIM_NONE;
	return subnet->first[port.node] + port.port;
}

struct sim_port_ref sim_subnet_port_ref(const struct sim_subnet *subnet, uint32_t port)
{
	return (struct sim_port_ref){.node = subnet->ports[port].node,
				     .port = subnet->ports[port].number};
}

static void set_gid(struct acm_gid *gid, uint64_t prefix, uint64_t guid)
{
	store_be64(gid->raw, prefix);
	store_be64(gid->raw + 8, guid);
}

int sim_subnet_port_facts(const struct sim_subnet *subnet, struct sim_port_ref port,
			  struct acm_port_facts *facts)
{
	uint32_t index = sim_subnet_port_index(subnet, port);
	const struct subnet_port *own;
	const struct sim_node *node;
	uint32_t link;

	if (index == SIM_NONE)
		return -ENODEV;
	own = &subnet->ports[index];
	node = &subnet->topology->nodes[port.node];
	link = node->ports[port.port].link;
	*facts = (struct acm_port_facts){.device_guid = node->guid,
					 .number = port.port,
					 .port_count = node->port_count,
					 .state = own->state,
					 .lid = own->lid,
					 .lmc = own->lmc,
					 .sm_lid = own->sm_lid,
					 .subnet_timeout = subnet->options.subnet_timeout,
					 .gid_count = 1,
					 .pkey_count = own->pkey_count};
	memcpy(facts->device, node->device, sizeof(facts->device));
	set_gid(&facts->gids[0], subnet->prefix, own->guid);
	if (own->pkey_count)
		memcpy(facts->pkeys, own->pkeys, own->pkey_count * sizeof(*own->pkeys));
	if (link == SIM_NONE)
		return 0;
	facts->mtu = subnet->topology->links[link].mtu;
	facts->rate = subnet->topology->links[link].rate;
	return 0;
}

/* ---- ways ---- */

/* From a port over its link and on by the tables. */
static bool leads_to(const struct sim_subnet *subnet, uint32_t from, uint16_t dlid, uint32_t to)
{
	const struct sim_node *nodes = subnet->topology->nodes;
	const struct sim_port *at =
		&nodes[subnet->ports[from].node].ports[subnet->ports[from].number];

	for (int hops = 0; hops <= HOPS_MAX; hops++) {
		const struct sim_switch_tables *tables;
		uint8_t out;

		if (at->peer == SIM_NONE || !subnet_link_is_up(subnet, at->link))
			return false;
		if (nodes[at->peer].kind == SIM_HOST)
			return subnet->first[at->peer] + at->peer_port == to;
		tables = &subnet->tables.switches[at->peer];
		out = dlid < tables->lft_size ? tables->lft[dlid] : SUBNET_NO_PATH;
		if (out == 0 || out > nodes[at->peer].port_count)
			return false;
		at = &nodes[at->peer].ports[out];
	}
	return false;
}

bool sim_subnet_reaches_manager(const struct sim_subnet *subnet, struct sim_port_ref port)
{
	uint32_t from = sim_subnet_port_index(subnet, port), to = subnet->first[subnet->sm] + 1;
	const struct subnet_port *own;

	if (from == SIM_NONE)
		return false;
	own = &subnet->ports[from];
	if (own->state != ACM_PORT_ACTIVE || own->sm_lid != subnet->ports[to].lid)
		return false;
	return from == to ||
	       (leads_to(subnet, from, own->sm_lid, to) && leads_to(subnet, to, own->lid, from));
}
