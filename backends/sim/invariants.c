/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "invariants.h"
#include "path_truth.h"

#include <acmite/bytes.h>
#include <acmite/trace.h>
#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- who is who ---- */

struct owned {
	uint64_t guid;
	struct sim_port_ref port;
};

static int compare_owned(const void *left, const void *right)
{
	const struct owned *a = left, *b = right;

	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

int sim_invariants_init(struct sim_invariants *invariants, const struct sim_topology *topology,
			struct sim_control *control, const struct sim_breach_hook *hook)
{
	struct owned *owned;
	uint32_t count = 0;

	*invariants =
		(struct sim_invariants){.topology = topology, .control = control, .hook = *hook};
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++)
		count += topology->nodes[node].port_count;
	owned = calloc(count + 1, sizeof(*owned));
	invariants->guids = calloc(count + 1, sizeof(*invariants->guids));
	invariants->owners = calloc(count + 1, sizeof(*invariants->owners));
	if (!owned || !invariants->guids || !invariants->owners) {
		free(owned);
		return -ENOMEM;
	}
	count = 0;
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++) {
		for (uint32_t port = 1; port <= topology->nodes[node].port_count; port++)
			owned[count++] = (struct owned){topology->nodes[node].ports[port].guid,
							{.node = node, .port = (uint8_t)port}};
	}
	qsort(owned, count, sizeof(*owned), compare_owned);
	for (uint32_t i = 0; i < count; i++) {
		invariants->guids[i] = owned[i].guid;
		invariants->owners[i] = owned[i].port;
	}
	invariants->guid_count = count;
	free(owned);
	return 0;
}

void sim_invariants_free(struct sim_invariants *invariants)
{
	free(invariants->guids);
	free(invariants->owners);
	free(invariants->moves);
	memset(invariants, 0, sizeof(*invariants));
}

static uint64_t guid_of(const struct acm_gid *gid)
{
	return load_be64(gid->raw + 8);
}

struct sim_port_ref sim_invariants_port_of(const struct sim_invariants *invariants,
					   const struct acm_gid *gid)
{
	uint64_t guid = guid_of(gid);
	uint32_t first = 0, count = invariants->guid_count;

	while (count) {
		uint32_t half = count / 2;

		if (invariants->guids[first + half] < guid) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first < invariants->guid_count && invariants->guids[first] == guid
		       ? invariants->owners[first]
		       : (struct sim_port_ref){.node = SIM_NONE};
}

uint32_t sim_invariants_node_of(const struct sim_invariants *invariants, const struct acm_gid *gid)
{
	return sim_invariants_port_of(invariants, gid).node;
}

uint16_t sim_pkey_entry(const struct acm_port_facts *facts, uint16_t pkey)
{
	if (!pkey)
		pkey = ACM_PKEY_DEFAULT;
	for (uint16_t i = 0; i < facts->pkey_count; i++) {
		if (!((facts->pkeys[i] ^ pkey) & ~ACM_PKEY_FULL))
			return facts->pkeys[i];
	}
	return 0;
}

bool sim_invariants_leads(const struct sim_invariants *invariants, const struct acm_path *path)
{
	struct sim_port_ref port = sim_invariants_port_of(invariants, &path->dgid);
	struct acm_port_facts facts;

	if (port.node == SIM_NONE ||
	    invariants->control->ops->port_facts(invariants->control, port, &facts))
		return false;
	return path->dlid >= facts.lid && path->dlid < facts.lid + (1u << facts.lmc);
}

/* ---- addresses that move ---- */

static struct sim_move *find_move(const struct sim_invariants *invariants, uint32_t node,
				  const struct acm_address *address)
{
	for (uint32_t i = invariants->move_count; i-- > 0;) {
		if (invariants->moves[i].node == node &&
		    acm_address_equal(&invariants->moves[i].address, address))
			return &invariants->moves[i];
	}
	return NULL;
}

static bool add_move(struct sim_invariants *invariants, struct sim_move move)
{
	if (invariants->move_count == invariants->move_room) {
		uint32_t room = invariants->move_room * 2 + 8;
		struct sim_move *moves = realloc(invariants->moves, room * sizeof(*moves));

		if (!moves)
			return false;
		invariants->moves = moves;
		invariants->move_room = room;
	}
	invariants->moves[invariants->move_count++] = move;
	return true;
}

bool sim_invariants_address_came(struct sim_invariants *invariants, uint32_t node,
				 const struct acm_address *address, uint64_t now)
{
	struct sim_move *move = find_move(invariants, node, address);

	if (move) {
		move->left = ACM_NEVER;
		return true;
	}
	return add_move(invariants, (struct sim_move){node, *address, now, ACM_NEVER});
}

bool sim_invariants_address_left(struct sim_invariants *invariants, uint32_t node,
				 const struct acm_address *address, uint64_t now)
{
	struct sim_move *move = find_move(invariants, node, address);

	if (move) {
		move->left = now;
		return true;
	}
	return add_move(invariants, (struct sim_move){node, *address, 0, now});
}

static bool is_of_topology(const struct sim_invariants *invariants, uint32_t node,
			   const struct acm_address *address)
{
	const struct sim_node *of = &invariants->topology->nodes[node];

	for (uint32_t i = 0; i < of->address_count; i++) {
		if (acm_address_equal(&of->addresses[i], address))
			return true;
	}
	return false;
}

void sim_invariants_addresses_reset(struct sim_invariants *invariants, uint32_t node, uint64_t now)
{
	for (uint32_t i = 0; i < invariants->move_count; i++) {
		struct sim_move *move = &invariants->moves[i];

		if (move->node != node)
			continue;
		if (is_of_topology(invariants, node, &move->address))
			move->left = ACM_NEVER;
		else if (move->left == ACM_NEVER)
			move->left = now;
	}
}

bool sim_invariants_holds(const struct sim_invariants *invariants, uint32_t node,
			  const struct acm_address *address, uint64_t life, uint64_t now)
{
	const struct sim_move *move = find_move(invariants, node, address);

	if (move)
		return move->left == ACM_NEVER || life == ACM_NEVER || now - move->left <= life;
	return is_of_topology(invariants, node, address);
}

static void check_holder(const struct sim_invariants *invariants, const struct sim_success *success,
			 uint32_t holder, uint64_t now)
{
	char text[ACM_ADDRESS_MAX + 1];

	if (!success->address ||
	    sim_invariants_holds(invariants, holder, success->address, success->life, now))
		return;
	acm_address_format(success->address, text, sizeof(text));
	sim_breach(&invariants->hook, "a success names a port that holds the address",
		   "the path for %s leads to %s, which does not hold it", text,
		   invariants->topology->nodes[holder].name);
}

void sim_invariants_success(const struct sim_invariants *invariants,
			    const struct sim_success *success, uint64_t now)
{
	const struct acm_path *path = success->path;
	uint32_t holder = sim_invariants_node_of(invariants, &path->dgid);
	char gid[46];

	acm_gid_format(&path->dgid, gid, sizeof(gid));
	if (holder != SIM_NONE)
		check_holder(invariants, success, holder, now);
	else if (success->address || success->routes_hold) /* a LID may be a switch's by now */
		sim_breach(&invariants->hook, "a success names a port that is there",
			   "the path for %s leads to %s, which no host's port has",
			   invariants->topology->nodes[success->node].name, gid);
	if (success->pkey && ((path->pkey ^ success->pkey) & ~ACM_PKEY_FULL))
		sim_breach(&invariants->hook, "a success is of the partition that was asked for",
			   "a path has P_Key 0x%04x, 0x%04x was asked for", path->pkey,
			   success->pkey);
	if (holder == SIM_NONE || !success->routes_hold)
		return;
	if (!sim_invariants_leads(invariants, path))
		sim_breach(&invariants->hook, "a success names the port's LID",
			   "a path leads to LID %u, which is not one of %s", path->dlid,
			   invariants->topology->nodes[holder].name);
	else
		sim_path_truth_check(invariants, success);
}

/* ---- counting ---- */

void sim_invariants_engine(const struct sim_invariants *invariants, uint32_t node,
			   const struct acm_engine_stats *stats, uint64_t budget)
{
	const char *name = invariants->topology->nodes[node].name;
	uint64_t ended =
		stats->counters[ACM_COUNTER_ANSWERS] + stats->counters[ACM_COUNTER_CANCELLED];
	if (stats->counters[ACM_COUNTER_REQUESTS] != ended + stats->waiting)
		sim_breach(&invariants->hook, "requests = answers + cancelled + waiting",
			   "%s: %" PRIu64 " requests, %" PRIu64 " answers and cancelled, %" PRIu64
			   " waiting",
			   name, stats->counters[ACM_COUNTER_REQUESTS], ended, stats->waiting);
	/* What a request waits for is not evicted. */
	if (stats->memory > budget && !stats->waiting)
		sim_breach(&invariants->hook, "memory stays within the budget",
			   "%s uses %" PRIu64 " bytes of %" PRIu64, name, stats->memory, budget);
}

void sim_invariants_leaked(const struct sim_invariants *invariants, uint64_t bytes)
{
	if (bytes)
		sim_breach(&invariants->hook, "no memory is lost", "%" PRIu64 " bytes are", bytes);
}

void sim_invariants_fabric(const struct sim_invariants *invariants,
			   const struct sim_fabric_stats *stats)
{
	uint64_t dropped = 0;

	for (int cause = 0; cause < SIM_DROP_COUNT; cause++)
		dropped += stats->dropped[cause];
	if (stats->copies != stats->delivered + dropped + stats->in_flight)
		sim_breach(&invariants->hook, "packets = delivered + dropped + in flight",
			   "%" PRIu64 " copies, %" PRIu64 " delivered, %" PRIu64
			   " dropped, %" PRIu64 " in flight",
			   stats->copies, stats->delivered, dropped, stats->in_flight);
}
