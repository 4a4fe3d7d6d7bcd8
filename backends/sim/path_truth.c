/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "path_truth.h"

#include <acmite/wire.h>
#include <string.h>

#define RULE "a success names a path that is so"

/* Switches on one way. No tables that are right come near it. */
#define HOPS_MAX 64

/* What a way can carry. */
struct capacity {
	uint8_t mtu; /* code */
	uint32_t tenths_gbps;
};

static void narrow(struct capacity *capacity, const struct sim_link *link)
{
	uint32_t tenths_gbps = acm_rate_tenths_gbps(link->rate);

	if (link->mtu < capacity->mtu)
		capacity->mtu = link->mtu;
	if (tenths_gbps < capacity->tenths_gbps)
		capacity->tenths_gbps = tenths_gbps;
}

static const struct sim_port *port_at(const struct sim_invariants *invariants,
				      struct sim_port_ref ref)
{
	return &invariants->topology->nodes[ref.node].ports[ref.port];
}

static bool narrow_by(const struct sim_invariants *invariants, struct sim_port_ref ref,
		      struct capacity *capacity)
{
	const struct sim_port *port = port_at(invariants, ref);

	if (port->peer == SIM_NONE)
		return false;
	narrow(capacity, &invariants->topology->links[port->link]);
	return true;
}

/* The port that a switch sends a LID out of. False: nowhere. */
static bool look_up(const struct sim_tables *tables, const struct sim_topology *topology,
		    uint32_t node, uint16_t dlid, uint8_t *out)
{
	const struct sim_switch_tables *of;

	if (node >= tables->switch_count)
		return false;
	of = &tables->switches[node];
	if (dlid >= of->lft_size)
		return false;
	*out = of->lft[dlid];
	return *out && *out <= topology->nodes[node].port_count;
}

/* Follows the tables from a host's port. False: the LID does not lead to `to`. */
static bool follow(const struct sim_invariants *invariants, struct sim_port_ref from,
		   struct sim_port_ref to, uint16_t dlid, struct capacity *capacity)
{
	const struct sim_tables *tables = invariants->control->ops->tables(invariants->control);
	struct sim_port_ref at = from;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		const struct sim_port *port = port_at(invariants, at);

		if (!narrow_by(invariants, at, capacity))
			return false;
		if (invariants->topology->nodes[port->peer].kind == SIM_HOST)
			return port->peer == to.node && port->peer_port == to.port;
		at.node = port->peer;
		if (!look_up(tables, invariants->topology, at.node, dlid, &at.port))
			return false;
	}
	return false;
}

static bool has_lid(const struct acm_port_facts *facts, uint16_t lid)
{
	return lid >= facts->lid && lid < facts->lid + (1u << facts->lmc);
}

/* What is wrong, NULL: nothing. */
static const char *fault_of_ends(const struct sim_success *success, struct sim_port_ref from,
				 const struct acm_port_facts *source,
				 const struct acm_port_facts *destination)
{
	const struct acm_path *path = success->path;
	uint16_t own = sim_pkey_entry(source, path->pkey);
	uint16_t other = sim_pkey_entry(destination, path->pkey);

	if (from.node != success->node)
		return "its SGID is not one of the asking node";
	if (!has_lid(source, path->slid))
		return "its SLID is not one of the port of its SGID";
	if (!own || !other)
		return "its P_Key is not in both ports' tables";
	if (!((own | other) & ACM_PKEY_FULL) &&
	    memcmp(&path->sgid, &path->dgid, sizeof(path->sgid)))
		return "both ports are limited members of its partition";
	if (success->address && !path->reversible)
		return "it is not reversible";
	return NULL;
}

static const char *fault_of_way(const struct sim_invariants *invariants,
				const struct sim_success *success, struct sim_port_ref from,
				struct sim_port_ref to)
{
	const struct acm_path *path = success->path;
	struct capacity way = {.mtu = UINT8_MAX, .tenths_gbps = UINT32_MAX};
	struct capacity ends = way;
	bool loops = from.node == to.node && from.port == to.port;

	if (!narrow_by(invariants, from, &ends) || !narrow_by(invariants, to, &ends))
		return "one of its ends is not connected";
	if (!loops && !follow(invariants, from, to, path->dlid, &way))
		return "the tables do not lead from its SGID to its DGID";
	if (loops || success->of_group)
		way = ends;
	if (path->mtu > way.mtu)
		return "its MTU is more than the links carry";
	if (acm_rate_tenths_gbps(path->rate) > way.tenths_gbps)
		return "its rate is more than the links carry";
	return NULL;
}

void sim_path_truth_check(const struct sim_invariants *invariants,
			  const struct sim_success *success)
{
	const struct sim_control_ops *ops = invariants->control->ops;
	const struct acm_path *path = success->path;
	struct sim_port_ref from = sim_invariants_port_of(invariants, &path->sgid);
	struct sim_port_ref to = sim_invariants_port_of(invariants, &path->dgid);
	struct acm_port_facts source, destination;
	const char *fault;

	if (from.node == SIM_NONE || ops->port_facts(invariants->control, from, &source))
		fault = "its SGID is no port's";
	else if (to.node == SIM_NONE || ops->port_facts(invariants->control, to, &destination))
		fault = "its DGID is no port's";
	else
		fault = fault_of_ends(success, from, &source, &destination);
	if (!fault)
		fault = fault_of_way(invariants, success, from, to);
	if (fault)
		sim_breach(&invariants->hook, RULE, "a path given to %s to LID %u: %s",
			   invariants->topology->nodes[success->node].name, path->dlid, fault);
}
