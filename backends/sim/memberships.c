/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memberships.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct membership {
	struct acm_gid mgid;
	uint16_t mlid;
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

static bool enter(struct sim_memberships_of *of, const struct acm_gid *mgid, uint16_t mlid)
{
	struct membership *known = find(of, mgid);
	uint32_t room = 2 * of->room + 2;
	struct membership *larger;

	if (known) {
		known->mlid = mlid;
		return true;
	}
	if (of->count == of->room) {
		larger = reallocarray(of->all, room, sizeof(*larger));
		if (!larger)
			return false;
		of->all = larger;
		of->room = room;
	}
	of->all[of->count++] = (struct membership){*mgid, mlid};
	return true;
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

	if (trace->type == ACM_TRACE_JOINED && !enter(of, &trace->gid, trace->lid))
		memberships->incomplete = true;
	else if (trace->type == ACM_TRACE_LEFT)
		leave(of, &trace->gid);
}

void sim_memberships_forget(struct sim_memberships *memberships, uint32_t node)
{
	memberships->nodes[node].count = 0;
}

bool sim_memberships_hold(const struct sim_memberships *memberships, uint32_t node,
			  const struct sim_subnet *subnet)
{
	const struct sim_memberships_of *of = &memberships->nodes[node];
	struct sim_port_ref ref = {.node = node, .port = 1};
	uint32_t port = sim_subnet_port_index(subnet, ref);

	for (uint32_t i = 0; i < of->count; i++) {
		const struct sim_group *group = sim_subnet_find_group(subnet, &of->all[i].mgid);

		if (!group || group->record.mlid != of->all[i].mlid ||
		    !sim_group_find_member(group, port))
			return false;
	}
	return !memberships->incomplete;
}
