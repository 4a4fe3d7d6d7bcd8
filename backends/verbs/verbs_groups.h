/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The multicast groups that a queue pair is attached to: it cannot be destroyed before it has left.
 */
#ifndef ACMITE_VERBS_GROUPS_H
#define ACMITE_VERBS_GROUPS_H

#include <acmite/types.h>
#include <infiniband/verbs.h>

struct verbs_group;

/* All zero: none. */
struct verbs_groups {
	struct verbs_group *first;
};

/* 0 or negative errno. Attached twice is attached once. */
int verbs_groups_attach(struct verbs_groups *groups, struct ibv_qp *pair,
			const struct acm_gid *mgid, uint16_t mlid);
/* -ENOENT: it is not attached. */
int verbs_groups_detach(struct verbs_groups *groups, struct ibv_qp *pair,
			const struct acm_gid *mgid, uint16_t mlid);
/* Leaves all of them at the hardware, and knows them still. */
void verbs_groups_suspend(const struct verbs_groups *groups, struct ibv_qp *pair);
/* Attaches again to all that are known. 0, or the first negative errno. */
int verbs_groups_resume(const struct verbs_groups *groups, struct ibv_qp *pair);
/* Forgets all; after verbs_groups_suspend(). */
void verbs_groups_free(struct verbs_groups *groups);

#endif
