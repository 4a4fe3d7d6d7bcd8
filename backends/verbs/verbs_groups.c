/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_groups.h"

#include "verbs_error.h"

#include <stdlib.h>
#include <string.h>

struct verbs_group {
	struct verbs_group *next;
	union ibv_gid mgid;
	uint16_t mlid;
};

static struct verbs_group **find(struct verbs_groups *groups, const struct acm_gid *mgid,
				 uint16_t mlid)
{
	struct verbs_group **at = &groups->first;

	while (*at &&
	       ((*at)->mlid != mlid || memcmp((*at)->mgid.raw, mgid->raw, sizeof(mgid->raw)) != 0))
		at = &(*at)->next;
	return at;
}

int verbs_groups_attach(struct verbs_groups *groups, struct ibv_qp *pair,
			const struct acm_gid *mgid, uint16_t mlid)
{
	struct verbs_group **at = find(groups, mgid, mlid), *group;
	int error;

	if (*at)
		return 0;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	memcpy(group->mgid.raw, mgid->raw, sizeof(mgid->raw));
	group->mlid = mlid;
	error = verbs_error(ibv_attach_mcast(pair, &group->mgid, mlid));
	if (error)
		free(group);
	else
		*at = group;
	return error;
}

int verbs_groups_detach(struct verbs_groups *groups, struct ibv_qp *pair,
			const struct acm_gid *mgid, uint16_t mlid)
{
	struct verbs_group **at = find(groups, mgid, mlid), *group = *at;
	int error;

	if (!group)
		return -ENOENT;
	error = verbs_error(ibv_detach_mcast(pair, &group->mgid, mlid));
	if (error)
		return error;
	*at = group->next;
	free(group);
	return 0;
}

void verbs_groups_suspend(const struct verbs_groups *groups, struct ibv_qp *pair)
{
	for (struct verbs_group *at = groups->first; at; at = at->next)
		ibv_detach_mcast(pair, &at->mgid, at->mlid);
}

int verbs_groups_resume(const struct verbs_groups *groups, struct ibv_qp *pair)
{
	int error = 0;

	for (struct verbs_group *at = groups->first; at && !error; at = at->next)
		error = verbs_error(ibv_attach_mcast(pair, &at->mgid, at->mlid));
	return error;
}

void verbs_groups_free(struct verbs_groups *groups)
{
	while (groups->first) {
		struct verbs_group *group = groups->first;

		groups->first = group->next;
		free(group);
	}
}
