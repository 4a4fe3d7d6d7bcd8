/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>

void sim_walk_init(struct sim_walk *walk, struct sim_wiring *wiring)
{
	*walk = (struct sim_walk){.wiring = wiring};
}

void sim_walk_free(struct sim_walk *walk)
{
	free(walk->ends);
	free(walk->visits);
	*walk = (struct sim_walk){0};
}

/* Doubles an array that is full. False: no memory, and it is as before. */
static bool make_room(void **array, uint32_t count, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? *room * 2 : 64;
	void *grown;

	if (count < *room)
		return true;
	grown = reallocarray(*array, wanted, size);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

static int add_end(struct sim_walk *walk, const struct sim_end *end)
{
	void *ends = walk->ends;

	if (!make_room(&ends, walk->count, &walk->room, sizeof(*end)))
		return -ENOMEM;
	walk->ends = ends;
	walk->ends[walk->count++] = *end;
	return 0;
}

static int add_drop(struct sim_walk *walk, enum sim_drop cause)
{
	return add_end(walk, &(struct sim_end){.cause = cause});
}

/* Takes a copy over a link. False: end->cause tells why it got no further. */
static bool pass(const struct sim_walk *walk, struct sim_exit *way, uint32_t length,
		 struct sim_end *end)
{
	const struct sim_meddler *meddler = &walk->meddler;

	if (!sim_exit_pass(way, length, &end->delay, &end->cause))
		return false;
	if (walk->packet && meddler->on_link)
		meddler->on_link(meddler->context, walk->packet, walk->from, way->link,
				 &end->meddling);
	if (!end->meddling.lost)
		return true;
	end->cause = SIM_DROP_LOSS;
	return false;
}

static bool is_host(const struct sim_walk *walk, uint32_t node)
{
	return walk->wiring->topology->nodes[node].kind == SIM_HOST;
}

static const struct sim_switch_tables *tables_of(const struct sim_walk *walk, uint32_t node)
{
	if (!walk->tables || node >= walk->tables->switch_count)
		return NULL;
	return &walk->tables->switches[node];
}

/* ---- unicast ---- */

/* The port that a switch sends a LID out of; 0: it is the switch's own. False: nowhere. */
static bool look_up(const struct sim_walk *walk, uint32_t node, uint16_t dlid, uint8_t *port)
{
	const struct sim_switch_tables *tables = tables_of(walk, node);

	if (!tables || dlid >= tables->lft_size)
		return false;
	*port = tables->lft[dlid];
	return *port <= walk->wiring->topology->nodes[node].port_count;
}

/* Takes a packet out of a port and through all switches behind it. */
static bool follow(const struct sim_walk *walk, uint32_t port, uint16_t dlid, uint32_t length,
		   struct sim_end *end)
{
	struct sim_exit *way = &walk->wiring->exits[port];

	for (uint32_t hops = 0; pass(walk, way, length, end); hops++) {
		uint8_t out;

		end->port = way->index;
		if (is_host(walk, way->node))
			return true;
		end->cause = SIM_DROP_HOP_LIMIT;
		if (hops == SIM_HOPS_MAX)
			return false;
		end->cause = SIM_DROP_NO_ROUTE;
		if (!look_up(walk, way->node, dlid, &out))
			return false;
		end->cause = SIM_DROP_NO_QP;
		if (out == 0)
			return false;
		way = &walk->wiring->exits[walk->wiring->first[way->node] + out];
	}
	return false;
}

int sim_walk_unicast(struct sim_walk *walk, uint32_t port, uint16_t dlid, uint32_t length)
{
	struct sim_end end = {0};

	walk->count = 0;
	walk->from = walk->wiring->exits[port].owner;
	end.arrived = follow(walk, port, dlid, length, &end);
	return add_end(walk, &end);
}

/* ---- multicast ---- */

/* Sends a copy out of a port; at a host it ends, at a switch it has further to go. */
static int send_copy(struct sim_walk *walk, uint32_t port, uint32_t hops,
		     const struct sim_end *before, uint32_t length)
{
	struct sim_exit *way = &walk->wiring->exits[port];
	struct sim_end end = *before;
	void *visits = walk->visits;

	if (!pass(walk, way, length, &end))
		return add_end(walk, &end);
	end.port = way->index;
	end.arrived = is_host(walk, way->node);
	if (end.arrived)
		return add_end(walk, &end);
	if (!make_room(&visits, walk->visit_count, &walk->visit_room, sizeof(*walk->visits)))
		return -ENOMEM;
	walk->visits = visits;
	walk->visits[walk->visit_count++] = (struct sim_visit){.node = way->node,
							       .ingress = way->port,
							       .hops = hops,
							       .delay = end.delay,
							       .meddling = end.meddling};
	return 0;
}

/* Out of all ports of a part of the mask. */
static int send_copies(struct sim_walk *walk, const struct sim_visit *visit, uint64_t mask,
		       uint32_t base, uint32_t length)
{
	const struct sim_wiring *wiring = walk->wiring;
	const struct sim_end before = {.delay = visit->delay, .meddling = visit->meddling};
	int error = 0;

	for (; mask && !error; mask &= mask - 1) {
		uint32_t port = base + (uint32_t)__builtin_ctzll(mask);

		if (port > wiring->topology->nodes[visit->node].port_count)
			error = add_drop(walk, SIM_DROP_NO_ROUTE);
		else if (port == 0) /* the switch itself is a member */
			error = add_drop(walk, SIM_DROP_NO_QP);
		else
			error = send_copy(walk, wiring->first[visit->node] + port, visit->hops + 1,
					  &before, length);
	}
	return error;
}

static int leave(struct sim_walk *walk, const struct sim_visit *visit, uint16_t mlid,
		 uint32_t length)
{
	const struct sim_switch_tables *tables = tables_of(walk, visit->node);
	uint32_t entry = (uint32_t)mlid - ACM_LID_MULTICAST;
	uint64_t mask[4], any = 0;
	int error = 0;

	if (!tables || entry >= tables->mft_size)
		return add_drop(walk, SIM_DROP_NO_ROUTE);
	for (int i = 0; i < 4; i++)
		any |= mask[i] = tables->mft[entry][i];
	/* A sender that is the only member has its own port in the first mask: nothing is lost. */
	if (!any)
		return add_drop(walk, SIM_DROP_NO_ROUTE);
	mask[visit->ingress / 64] &= ~(UINT64_C(1) << visit->ingress % 64);
	if (visit->hops > 1 && !(mask[0] | mask[1] | mask[2] | mask[3]))
		return add_drop(walk, SIM_DROP_NO_ROUTE);
	for (uint32_t i = 0; i < 4 && !error; i++)
		error = send_copies(walk, visit, mask[i], 64 * i, length);
	return error;
}

int sim_walk_multicast(struct sim_walk *walk, uint32_t port, uint16_t mlid, uint32_t length)
{
	/* Each switch once in a tree. Copies that multiply in a loop must not do so for ever. */
	uint32_t most = 2 * walk->wiring->topology->switch_count + SIM_HOPS_MAX;
	const struct sim_end start = {0};
	int error;

	walk->count = walk->visit_count = 0;
	walk->from = walk->wiring->exits[port].owner;
	error = send_copy(walk, port, 1, &start, length);
	for (uint32_t i = 0; i < walk->visit_count && !error; i++) {
		struct sim_visit visit = walk->visits[i]; /* the array may move */

		if (visit.hops > SIM_HOPS_MAX || i >= most)
			error = add_drop(walk, SIM_DROP_HOP_LIMIT);
		else
			error = leave(walk, &visit, mlid, length);
	}
	return error;
}
