/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "port_changes.h"

#include <string.h>
#include "async_events.h"

static bool gids_differ(const struct acm_port_facts *a, const struct acm_port_facts *b)
{
	return a->gid_count != b->gid_count || memcmp(a->gids, b->gids, sizeof(a->gids)) != 0;
}

static bool pkeys_differ(const struct acm_port_facts *a, const struct acm_port_facts *b)
{
	return a->pkey_count != b->pkey_count || memcmp(a->pkeys, b->pkeys, sizeof(a->pkeys)) != 0;
}

/* Tables first: whoever takes a port into use when it becomes active finds them right. */
void preload_port_changed(struct preload_attachment *attachment, const struct acm_port_facts *facts,
			  uint32_t index)
{
	struct acm_port_facts before;
	int number = (int)index + 1;

	if (!preload_attachment_port(attachment, index + 1))
		return;
	before = attachment->ports[index];
	attachment->ports[index] = *facts;
	if (before.state == ACM_PORT_ACTIVE && facts->state != ACM_PORT_ACTIVE)
		preload_async_raise(attachment, IBV_EVENT_PORT_ERR, number);
	if (gids_differ(&before, facts))
		preload_async_raise(attachment, IBV_EVENT_GID_CHANGE, number);
	if (pkeys_differ(&before, facts))
		preload_async_raise(attachment, IBV_EVENT_PKEY_CHANGE, number);
	if (before.lid != facts->lid || before.lmc != facts->lmc)
		preload_async_raise(attachment, IBV_EVENT_LID_CHANGE, number);
	if (before.sm_lid != facts->sm_lid || before.sm_sl != facts->sm_sl)
		preload_async_raise(attachment, IBV_EVENT_SM_CHANGE, number);
	if (before.state != ACM_PORT_ACTIVE && facts->state == ACM_PORT_ACTIVE)
		preload_async_raise(attachment, IBV_EVENT_PORT_ACTIVE, number);
}

void preload_port_reregister(struct preload_attachment *attachment, uint32_t index)
{
	if (preload_attachment_port(attachment, index + 1))
		preload_async_raise(attachment, IBV_EVENT_CLIENT_REREGISTER, (int)index + 1);
}
