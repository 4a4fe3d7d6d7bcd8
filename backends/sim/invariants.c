/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "invariants.h"

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void broken(struct sim_invariants *invariants, const char *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void broken(struct sim_invariants *invariants, const char *rule, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	invariants->broken(invariants->context, rule, text);
}

/* ---- who is who ---- */

struct owned {
	uint64_t guid;
	uint32_t node;
};

static int compare_owned(const void *left, const void *right)
{
	const struct owned *a = left, *b = right;

	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

int sim_invariants_init(struct sim_invariants *invariants, const struct sim_topology *topology)
{
	struct owned *owned;
	uint32_t count = 0;

	invariants->topology = topology;
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
			owned[count++] =
				(struct owned){topology->nodes[node].ports[port].guid, node};
	}
	qsort(owned, count, sizeof(*owned), compare_owned);
	for (uint32_t i = 0; i < count; i++) {
		invariants->guids[i] = owned[i].guid;
		invariants->owners[i] = owned[i].node;
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
	free(invariants->inquiries);
	memset(invariants, 0, sizeof(*invariants));
}

static uint64_t guid_of(const struct acm_gid *gid)
{
	uint64_t guid = 0;

	for (int i = 8; i < 16; i++)
		guid = guid << 8 | gid->raw[i];
	return guid;
}

uint32_t sim_invariants_node_of(const struct sim_invariants *invariants, const struct acm_gid *gid)
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
		       : SIM_NONE;
}

bool sim_invariants_leads(const struct sim_invariants *invariants, const struct acm_path *path)
{
	uint32_t node = sim_invariants_node_of(invariants, &path->dgid);
	struct acm_port_facts facts;

	for (uint32_t port = 1;
	     node != SIM_NONE && port <= invariants->topology->nodes[node].port_count; port++) {
		struct sim_port_ref ref = {.node = node, .port = (uint8_t)port};

		if (invariants->topology->nodes[node].ports[port].guid != guid_of(&path->dgid) ||
		    invariants->control->ops->port_facts(invariants->control, ref, &facts))
			continue;
		return path->dlid >= facts.lid && path->dlid < facts.lid + (1u << facts.lmc);
	}
	return false;
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

	if (move && move->left != ACM_NEVER) {
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

void sim_invariants_success(struct sim_invariants *invariants, const struct acm_path *path,
			    const struct acm_address *address, uint64_t life, uint64_t now)
{
	uint32_t node = sim_invariants_node_of(invariants, &path->dgid);
	char gid[46], text[65] = "";

	acm_gid_format(&path->dgid, gid, sizeof(gid));
	if (address)
		acm_address_format(address, text, sizeof(text));
	/* Who asked by a LID that was given to a switch since gets that. */
	if (node == SIM_NONE && !address && invariants->lids_changed)
		return;
	if (node == SIM_NONE)
		broken(invariants, "a success names a port that is there",
		       "the path for %s leads to %s, which no host's port has", text, gid);
	else if (address && !sim_invariants_holds(invariants, node, address, life, now))
		broken(invariants, "a success names a port that holds the address",
		       "the path for %s leads to %s, which does not hold it", text,
		       invariants->topology->nodes[node].name);
	else if (!invariants->lids_changed && !sim_invariants_leads(invariants, path))
		broken(invariants, "a success names the port's LID",
		       "the path for %s leads to LID %u, which is not one of %s", text, path->dlid,
		       invariants->topology->nodes[node].name);
}

/* ---- inquiries ---- */

static bool is_of(const struct sim_inquiry *inquiry, uint32_t node, const struct acm_trace *trace)
{
	/* Whoever is heard is where it is heard: what was asked for it before is void. */
	const struct acm_address *address =
		trace->type == ACM_TRACE_LEARNED ? &trace->source : &trace->destination;

	return inquiry->node == node && acm_address_equal(&inquiry->address, address);
}

static void end_inquiries(struct sim_invariants *invariants, uint32_t node,
			  const struct acm_trace *trace)
{
	uint32_t i = 0;

	while (i < invariants->inquiry_count) {
		struct sim_inquiry *inquiry = &invariants->inquiries[i];

		if (trace ? is_of(inquiry, node, trace) : inquiry->node == node)
			*inquiry = invariants->inquiries[--invariants->inquiry_count];
		else
			i++;
	}
}

void sim_invariants_forget(struct sim_invariants *invariants, uint32_t node)
{
	end_inquiries(invariants, node, NULL);
}

static void begin_inquiry(struct sim_invariants *invariants, uint32_t node, uint8_t of_sa,
			  const struct acm_trace *trace)
{
	char text[65];

	if (trace->value > 1 || invariants->several_ways ||
	    trace->destination.type > ACM_ADDRESS_IP6)
		return; /* a retry: the try before it has timed out; or not an address */
	for (uint32_t i = 0; i < invariants->inquiry_count; i++) {
		if (!is_of(&invariants->inquiries[i], node, trace) ||
		    invariants->inquiries[i].of_sa != of_sa)
			continue;
		acm_address_format(&trace->destination, text, sizeof(text));
		broken(invariants, "one inquiry in flight for a destination",
		       "%s has two %s under way for %s", invariants->topology->nodes[node].name,
		       of_sa ? "SA queries" : "multicasts", text);
		return;
	}
	if (invariants->inquiry_count == invariants->inquiry_room) {
		uint32_t room = invariants->inquiry_room * 2 + 64;
		struct sim_inquiry *inquiries =
			realloc(invariants->inquiries, room * sizeof(*inquiries));

		if (!inquiries)
			return; /* one less is watched */
		invariants->inquiries = inquiries;
		invariants->inquiry_room = room;
	}
	invariants->inquiries[invariants->inquiry_count++] =
		(struct sim_inquiry){node, of_sa, trace->destination};
}

void sim_invariants_trace(struct sim_invariants *invariants, uint32_t node,
			  const struct acm_trace *trace)
{
	switch (trace->type) {
	case ACM_TRACE_SA_QUERY:
		begin_inquiry(invariants, node, 1, trace);
		break;
	case ACM_TRACE_MULTICAST:
		begin_inquiry(invariants, node, 0, trace);
		break;
	case ACM_TRACE_ADDRESS:
	case ACM_TRACE_LEARNED:
	case ACM_TRACE_ROUTE:
	case ACM_TRACE_SA_STATUS:
	case ACM_TRACE_FAILED:
		end_inquiries(invariants, node, trace);
		break;
	case ACM_TRACE_PORT:
	case ACM_TRACE_ENDPOINT:
	case ACM_TRACE_JOIN:
	case ACM_TRACE_JOINED:
		end_inquiries(invariants, node, NULL); /* all is asked anew */
		break;
	default:
		break;
	}
}

/* ---- counting ---- */

void sim_invariants_resident(struct sim_invariants *invariants, const struct sim_resident *resident,
			     uint64_t budget)
{
	const char *name = invariants->topology->nodes[sim_resident_node(resident)].name;
	struct acm_engine_stats stats;
	uint64_t ended;

	acm_engine_stats(sim_resident_engine(resident), &stats);
	ended = stats.counters[ACM_COUNTER_ANSWERS] + stats.counters[ACM_COUNTER_CANCELLED];
	if (stats.counters[ACM_COUNTER_REQUESTS] != ended + stats.waiting)
		broken(invariants, "requests = answers + cancelled + waiting",
		       "%s: %" PRIu64 " requests, %" PRIu64 " answers and cancelled, %" PRIu64
		       " waiting",
		       name, stats.counters[ACM_COUNTER_REQUESTS], ended, stats.waiting);
	/* What a request waits for is not evicted. */
	if (stats.memory > budget && !stats.waiting)
		broken(invariants, "memory stays within the budget",
		       "%s uses %" PRIu64 " bytes of %" PRIu64, name, stats.memory, budget);
}

void sim_invariants_fabric(struct sim_invariants *invariants)
{
	struct sim_fabric_stats stats;
	uint64_t dropped = 0;

	sim_fabric_stats(invariants->fabric, &stats);
	for (int cause = 0; cause < SIM_DROP_COUNT; cause++)
		dropped += stats.dropped[cause];
	if (stats.copies != stats.delivered + dropped + stats.in_flight)
		broken(invariants, "packets = delivered + dropped + in flight",
		       "%" PRIu64 " copies, %" PRIu64 " delivered, %" PRIu64 " dropped, %" PRIu64
		       " in flight",
		       stats.copies, stats.delivered, dropped, stats.in_flight);
}
