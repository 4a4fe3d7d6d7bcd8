/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "group_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct sim_group_entries *entries, uint32_t more)
{
	struct sim_group_entry *larger =
		reallocarray(entries->all, (size_t)entries->count + more + 1, sizeof(*larger));

	if (!larger)
		return false;
	entries->all = larger;
	return true;
}

/* ---- queue pairs ---- */

static uint32_t count_attachments(const struct sim_fabric_core *core)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < core->plane.wiring.port_count; i++)
		for (const struct sim_attachment *at = core->plane.pairs.attachments[i]; at;
		     at = at->next)
			count++;
	return count;
}

static void add_port(const struct sim_fabric_core *core, struct sim_port_ref port,
		     struct sim_group_entries *entries)
{
	uint32_t index = sim_wiring_index(&core->plane.wiring, port.node, port.port);

	for (const struct sim_attachment *at = core->plane.pairs.attachments[index]; at;
	     at = at->next)
		entries->all[entries->count++] =
			(struct sim_group_entry){.port = port,
						 .standing = SIM_GROUP_NOT_JOINED,
						 .record = {.mgid = at->mgid, .mlid = at->mlid},
						 .queue_pairs = 1};
}

static int add_attachments(const struct sim_fabric_core *core, struct sim_group_entries *entries)
{
	const struct sim_topology *topology = core->topology;

	if (!make_room(entries, count_attachments(core)))
		return -ENOMEM;
	for (uint32_t node = 0; node < topology->node_count; node++) {
		if (topology->nodes[node].kind != SIM_HOST)
			continue;
		for (uint32_t port = 1; port <= topology->nodes[node].port_count; port++)
			add_port(core, (struct sim_port_ref){.node = node, .port = (uint8_t)port},
				 entries);
	}
	return 0;
}

/* ---- the SA ---- */

static int add_members(const struct sim_group_memberships *memberships,
		       struct sim_group_entries *entries)
{
	if (!make_room(entries, memberships->count))
		return -ENOMEM;
	for (uint32_t i = 0; i < memberships->count; i++) {
		const struct sim_group_membership *from = &memberships->all[i];

		entries->all[entries->count++] = (struct sim_group_entry){
			.port = from->port,
			.standing = from->unknown ? SIM_GROUP_UNTOLD : SIM_GROUP_JOINED,
			.record = from->record};
	}
	return 0;
}

/* A control that must ask for them is told where queue pairs are attached: there it will look. */
static int ask(const struct sim_fabric_core *core, uint64_t since,
	       const struct sim_group_entries *attached, struct sim_group_memberships *memberships)
{
	struct sim_membership_query query = {.since = since, .count = attached->count};
	struct sim_group_port *ports =
		calloc((size_t)attached->count + 1, sizeof(struct sim_group_port));
	int error;

	if (!ports)
		return -ENOMEM;
	for (uint32_t i = 0; i < attached->count; i++)
		ports[i] = (struct sim_group_port){.port = attached->all[i].port,
						   .mgid = attached->all[i].record.mgid};
	query.ports = ports;
	error = core->control->ops->memberships(core->control, &query, memberships);
	free(ports);
	return error;
}

/* ---- together ---- */

static int compare_places(const struct sim_group_entry *a, const struct sim_group_entry *b)
{
	int order = memcmp(&a->record.mgid, &b->record.mgid, sizeof(a->record.mgid));

	if (order)
		return order;
	if (a->port.node != b->port.node)
		return a->port.node < b->port.node ? -1 : 1;
	return (int)a->port.port - b->port.port;
}

/* What the SA has before what is attached, whose MLID may be another. */
static int compare(const void *left, const void *right)
{
	const struct sim_group_entry *a = left, *b = right;
	int order = compare_places(a, b);

	if (order)
		return order;
	if (a->queue_pairs != b->queue_pairs)
		return a->queue_pairs < b->queue_pairs ? -1 : 1;
	return (int)a->record.mlid - b->record.mlid;
}

static void merge(struct sim_group_entries *entries)
{
	uint32_t kept = 0;

	qsort(entries->all, entries->count, sizeof(*entries->all), compare);
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct sim_group_entry *next = &entries->all[i];
		struct sim_group_entry *last = kept ? &entries->all[kept - 1] : NULL;

		if (!last || compare_places(last, next)) {
			entries->all[kept++] = *next;
			continue;
		}
		last->queue_pairs += next->queue_pairs;
		if (last->standing == SIM_GROUP_UNTOLD)
			last->record.mlid = next->record.mlid;
	}
	entries->count = kept;
}

int sim_group_members_collect(const struct sim_fabric_core *core, uint64_t since,
			      struct sim_group_entries *entries)
{
	struct sim_group_memberships memberships;
	int error;

	*entries = (struct sim_group_entries){0};
	error = add_attachments(core, entries);
	if (!error)
		error = ask(core, since, entries, &memberships);
	if (!error)
		error = add_members(&memberships, entries);
	if (!error) {
		merge(entries);
		return 0;
	}
	free(entries->all);
	*entries = (struct sim_group_entries){0};
	return error;
}
