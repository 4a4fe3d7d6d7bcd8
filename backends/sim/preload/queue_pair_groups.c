/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "queue_pair_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"
#include "queue_pair.h"

static struct preload_group **find_group(struct preload_queue_pair *queue_pair,
					 const union ibv_gid *mgid, uint16_t mlid)
{
	struct preload_group **link = &queue_pair->groups;

	while (*link && ((*link)->mlid != mlid || memcmp(&(*link)->mgid, mgid, sizeof(*mgid)) != 0))
		link = &(*link)->next;
	return link;
}

static bool is_joined(const struct preload_queue_pair *queue_pair, const union ibv_gid *mgid)
{
	for (const struct preload_group *at = queue_pair->groups; at; at = at->next) {
		if (at->joined && !memcmp(&at->mgid, mgid, sizeof(*mgid)))
			return true;
	}
	return false;
}

/* ---- the server ---- */

static struct sim_attach_qp_group group_message(const struct preload_queue_pair *queue_pair,
						const union ibv_gid *mgid, uint16_t mlid)
{
	struct sim_attach_qp_group message = {.endpoint = queue_pair->endpoint, .mlid = mlid};

	memcpy(message.mgid.raw, mgid->raw, sizeof(message.mgid.raw));
	return message;
}

/* Gives up the lock while it waits. */
static int ask_to_join(struct preload_queue_pair *queue_pair, const union ibv_gid *mgid,
		       uint16_t mlid)
{
	struct preload_attachment *attachment = queue_pair->attachment;
	struct sim_attach_qp_group message = group_message(queue_pair, mgid, mlid);
	struct preload_reply reply = {.type = SIM_ATTACH_JOINED_QP};
	int error;

	message.header.type = SIM_ATTACH_JOIN_QP;
	message.cookie = attachment->next_cookie++;
	reply.key = message.cookie;
	error = preload_attachment_ask(attachment, &message, &reply);
	if (error == -ETIMEDOUT) { /* it may do so yet */
		message.header.type = SIM_ATTACH_PART_QP;
		preload_attachment_send(attachment, &message);
	}
	return error == -EEXIST ? 0 : error; /* another thread was faster */
}

static struct preload_group *next_to_join(struct preload_queue_pair *queue_pair)
{
	struct preload_group *at = queue_pair->groups;

	while (at && is_joined(queue_pair, &at->mgid))
		at = at->next;
	return at;
}

int preload_groups_join(struct preload_queue_pair *queue_pair)
{
	struct preload_group *group;
	int error = 0;

	while (!error && (group = next_to_join(queue_pair))) {
		union ibv_gid mgid = group->mgid;
		uint16_t mlid = group->mlid;

		error = ask_to_join(queue_pair, &mgid, mlid);
		group = *find_group(queue_pair, &mgid, mlid);
		if (!error && group)
			group->joined = true;
	}
	return error;
}

void preload_groups_part(struct preload_queue_pair *queue_pair)
{
	for (struct preload_group *at = queue_pair->groups; at; at = at->next)
		at->joined = false;
}

void preload_groups_free(struct preload_queue_pair *queue_pair)
{
	while (queue_pair->groups) {
		struct preload_group *group = queue_pair->groups;

		queue_pair->groups = group->next;
		free(group);
	}
}

/* ---- calls ---- */

static int add(struct preload_queue_pair *queue_pair, const union ibv_gid *mgid, uint16_t mlid)
{
	struct preload_group *group = calloc(1, sizeof(*group));

	if (!group)
		return ENOMEM;
	group->mgid = *mgid;
	group->mlid = mlid;
	group->next = queue_pair->groups;
	queue_pair->groups = group;
	return 0;
}

static void take_out(struct preload_group **link)
{
	struct preload_group *group = *link;

	*link = group->next;
	free(group);
}

static int attach(struct preload_queue_pair *queue_pair, const union ibv_gid *mgid, uint16_t mlid)
{
	struct preload_group **link;
	int error = 0;

	if (queue_pair->attachment->lost)
		return ENODEV;
	if (mgid->raw[0] != 0xff || mlid < ACM_LID_MULTICAST || mlid == ACM_LID_PERMISSIVE)
		return EINVAL;
	/* To attach twice is no mistake; another thread may be at it. */
	if (!*find_group(queue_pair, mgid, mlid))
		error = add(queue_pair, mgid, mlid);
	if (error || !queue_pair->open)
		return error;
	error = preload_groups_join(queue_pair);
	link = find_group(queue_pair, mgid, mlid);
	if (error && *link)
		take_out(link);
	return -error;
}

static int detach(struct preload_queue_pair *queue_pair, const union ibv_gid *mgid, uint16_t mlid)
{
	struct preload_group **link = find_group(queue_pair, mgid, mlid);
	struct sim_attach_qp_group message = group_message(queue_pair, mgid, mlid);
	bool joined;
	int error;

	if (!*link)
		return EINVAL;
	joined = (*link)->joined;
	take_out(link);
	if (!joined || !queue_pair->open)
		return 0;
	message.header.type = SIM_ATTACH_PART_QP;
	error = preload_attachment_send(queue_pair->attachment, &message);
	/* The MGID may be attached under another MLID still. */
	if (!error)
		error = preload_groups_join(queue_pair);
	return -error;
}

PRELOAD_CALL int ibv_attach_mcast(struct ibv_qp *verbs, const union ibv_gid *mgid, uint16_t mlid)
{
	int error;

	preload_lock();
	error = attach((struct preload_queue_pair *)verbs, mgid, mlid);
	preload_unlock();
	return error;
}

PRELOAD_CALL int ibv_detach_mcast(struct ibv_qp *verbs, const union ibv_gid *mgid, uint16_t mlid)
{
	int error;

	preload_lock();
	error = detach((struct preload_queue_pair *)verbs, mgid, mlid);
	preload_unlock();
	return error;
}
