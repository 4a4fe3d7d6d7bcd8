/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "wiring.h"

#include <acmite/wire.h>
#include <errno.h>
#include <stdlib.h>

/* LRH, GRH, BTH and DETH before the payload, both CRCs behind it (IBA vol. 1, chapter 6). */
#define OVERHEAD 74u

uint64_t sim_mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

static void wire_port(struct sim_wiring *wiring, uint32_t node, uint32_t port)
{
	const struct sim_topology *topology = wiring->topology;
	const struct sim_port *from = &topology->nodes[node].ports[port];
	struct sim_exit *way = &wiring->exits[wiring->first[node] + port];
	const struct sim_link *link;
	uint32_t tenths_gbps;

	way->owner = node;
	way->node = from->peer;
	if (from->peer == SIM_NONE)
		return;
	link = &topology->links[from->link];
	way->port = from->peer_port;
	way->index = wiring->first[from->peer] + from->peer_port;
	way->link = from->link;
	way->mtu = acm_mtu_bytes(link->mtu);
	way->latency = link->latency;
	tenths_gbps = acm_rate_tenths_gbps(link->rate);
	if (tenths_gbps)
		way->byte_time = 80000 / tenths_gbps;
}

int sim_wiring_init(struct sim_wiring *wiring, const struct sim_topology *topology)
{
	uint32_t count = 0;

	*wiring = (struct sim_wiring){.topology = topology};
	wiring->first = calloc((size_t)topology->node_count + 1, sizeof(*wiring->first));
	if (!wiring->first)
		return -ENOMEM;
	for (uint32_t node = 0; node < topology->node_count; node++) {
		wiring->first[node] = count;
		count += topology->nodes[node].port_count + 1u;
	}
	wiring->port_count = count;
	wiring->exits = calloc((size_t)count + 1, sizeof(*wiring->exits));
	if (!wiring->exits) {
		sim_wiring_free(wiring);
		return -ENOMEM;
	}
	for (uint32_t node = 0; node < topology->node_count; node++) {
		wiring->exits[wiring->first[node]] =
			(struct sim_exit){.owner = node, .node = SIM_NONE};
		for (uint32_t port = 1; port <= topology->nodes[node].port_count; port++)
			wire_port(wiring, node, port);
	}
	return 0;
}

void sim_wiring_free(struct sim_wiring *wiring)
{
	free(wiring->first);
	free(wiring->exits);
	*wiring = (struct sim_wiring){0};
}

uint32_t sim_wiring_index(const struct sim_wiring *wiring, uint32_t node, uint32_t port)
{
	if (node >= wiring->topology->node_count || port < 1 ||
	    port > wiring->topology->nodes[node].port_count)
		return SIM_NONE;
	return wiring->first[node] + port;
}

/* NULL: no such port, or nothing connected. */
static struct sim_exit *find_exit(struct sim_wiring *wiring, uint32_t node, uint8_t port)
{
	uint32_t index = sim_wiring_index(wiring, node, port);

	if (index == SIM_NONE || wiring->exits[index].node == SIM_NONE)
		return NULL;
	return &wiring->exits[index];
}

static int set_down(struct sim_wiring *wiring, uint32_t node, uint8_t port, bool down)
{
	struct sim_exit *way = find_exit(wiring, node, port);

	if (!way)
		return -ENODEV;
	way->down = down;
	wiring->exits[way->index].down = down;
	return 0;
}

int sim_wiring_cut(struct sim_wiring *wiring, uint32_t node, uint8_t port)
{
	return set_down(wiring, node, port, true);
}

int sim_wiring_mend(struct sim_wiring *wiring, uint32_t node, uint8_t port)
{
	return set_down(wiring, node, port, false);
}

bool sim_exit_pass(struct sim_exit *way, uint32_t length, uint64_t *delay, enum sim_drop *cause)
{
	if (way->node == SIM_NONE)
		*cause = SIM_DROP_NO_ROUTE;
	else if (way->down)
		*cause = SIM_DROP_LINK;
	else if (length > way->mtu)
		*cause = SIM_DROP_MTU;
	else {
		*delay += way->latency + (length + OVERHEAD) * way->byte_time / 1000;
		way->carried_packets++;
		way->carried_bytes += length + OVERHEAD;
		return true;
	}
	way->discards++;
	return false;
}
