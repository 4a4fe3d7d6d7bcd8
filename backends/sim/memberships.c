/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memberships.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct membership {
	struct acm_gid mgid;
	bool joined;
	uint16_t mlid;  /* when it is joined */
	uint64_t asked; /* since when it is asked for, or checked; ACM_NEVER: it is not */
};

struct sim_memberships_of {
	uint32_t count, room;
	struct membership *all;
};

int sim_memberships_init(struct sim_memberships *memberships, uint32_t node_count)
{
	*memberships = (struct sim_memberships){.node_count = node_count};
	memberships->nodes = calloc((size_t)node_count + 1, sizeof(*memberships->nodes));
	return memberships->nodes ? 0 : -ENOMEM;
}

void sim_memberships_free(struct sim_memberships *memberships)
{
	for (uint32_t node = 0; memberships->nodes && node < memberships->node_count; node++)
		free(memberships->nodes[node].all);
	free(memberships->nodes);
	*memberships = (struct sim_memberships){0};
}

static struct membership *find(const struct sim_memberships_of *of, const struct acm_gid *mgid)
{
	for (uint32_t i = 0; i < of->count; i++) {
		if (!memcmp(&of->all[i].mgid, mgid, sizeof(*mgid)))
			return &of->all[i];
	}
	return NULL;
}

/* NULL: no memory. */
static struct membership *enter(struct sim_memberships_of *of, const struct acm_gid *mgid)
{
	struct membership *known = find(of, mgid);
	uint32_t room = 2 * of->room + 2;
	struct membership *larger;

	if (known)
		return known;
	if (of->count == of->room) {
		larger = reallocarray(of->all, room, sizeof(*larger));
		if (!larger)
			return NULL;
		of->all = larger;
		of->room = room;
	}
	of->all[of->count] = (struct membership){.mgid = *mgid, .asked = ACM_NEVER};
	return &of->all[of->count++];
}

static void leave(struct sim_memberships_of *of, const struct acm_gid *mgid)
{
	struct membership *known = find(of, mgid);

	if (known)
		*known = of->all[--of->count];
}

void sim_memberships_trace(struct sim_memberships *memberships, uint32_t node,
			   const struct acm_trace *trace)
{
	struct sim_memberships_of *of = &memberships->nodes[node];
	struct membership *membership;

	if (trace->type == ACM_TRACE_LEFT)
		leave(of, &trace->gid);
	if (trace->type != ACM_TRACE_JOIN && trace->type != ACM_TRACE_JOINED &&
	    trace->type != ACM_TRACE_JOIN_FAILED)
		return;
	membership = enter(of, &trace->gid);
	if (!membership) {
		memberships->incomplete = true;
		return;
	}
	membership->asked = trace->type == ACM_TRACE_JOIN ? trace->time : ACM_NEVER;
	if (trace->type == ACM_TRACE_JOINED) {
		membership->joined = true;
		membership->mlid = trace->lid;
	}
}

void sim_memberships_forget(struct sim_memberships *memberships, uint32_t node)
{
	memberships->nodes[node].count = 0;
}

uint64_t sim_memberships_oldest_join(const struct sim_memberships *memberships, uint32_t node)
{
	const struct sim_memberships_of *of = &memberships->nodes[node];
	uint64_t oldest = ACM_NEVER;

	for (uint32_t i = 0; i < of->count; i++)
		oldest = of->all[i].asked < oldest ? of->all[i].asked : oldest;
	return oldest;
}

bool sim_memberships_hold(const struct sim_memberships *memberships, uint32_t node,
			  const struct sim_subnet *subnet)
{
	const struct sim_memberships_of *of = &memberships->nodes[node];
	struct sim_port_ref ref = {.node = node, .port = 1};
	uint32_t port = sim_subnet_port_index(subnet, ref);

	for (uint32_t i = 0; i < of->count; i++) {
		const struct membership *membership = &of->all[i];
		const struct sim_group *group = sim_subnet_find_group(subnet, &membership->mgid);

		if (!membership->joined)
			continue;
		if (!group || group->record.mlid != membership->mlid ||
		    !sim_group_find_member(group, port))
			return false;
	}
	return !memberships->incomplete;
}

bool sim_memberships_mlid(const struct sim_memberships *memberships, uint32_t node, uint32_t which,
			  uint16_t *mlid)
{
	const struct sim_memberships_of *of = &memberships->nodes[node];

	for (uint32_t i = 0; i < of->count; i++) {
		*mlid = of->all[i].mlid;
		if (of->all[i].joined && !which--)
			return true;
	}
	return false;
}
