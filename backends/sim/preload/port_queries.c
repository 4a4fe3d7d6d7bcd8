/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libibverbs' questions about ports. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include "call.h"
#include "device.h"
#include "link_rate.h"

#undef ibv_query_port

/* The size of struct ibv_port_attr before port_cap_flags2: callers may have no more. */
#define PORT_ATTRIBUTES_SIZE offsetof(struct ibv_port_attr, port_cap_flags2)

#define MAX_MESSAGE (1u << 30)

/* IBA vol. 1, 14.2.5.6: client reregistration, extended speeds, system image GUID. */
#define CAPABILITIES ((1u << 25) | (1u << 14) | (1u << 11))

/* Not in the public header; what ibv_devinfo calls. 0: InfiniBand. */
PRELOAD_CALL int ibv_query_gid_type(struct ibv_context *verbs, uint8_t number, unsigned int index,
				    int *type);

static const struct acm_port_facts *port_of(struct ibv_context *verbs, uint32_t number)
{
	return preload_attachment_port(((struct preload_context *)verbs)->attachment, number);
}

static void fill(struct ibv_port_attr *attributes, const struct acm_port_facts *facts)
{
	const struct preload_link_rate *rate = preload_link_rate(facts->rate);

	attributes->state = (enum ibv_port_state)facts->state;
	attributes->max_mtu = IBV_MTU_4096;
	attributes->active_mtu = (enum ibv_mtu)facts->mtu;
	attributes->gid_tbl_len = ACM_PORT_GIDS_MAX;
	attributes->port_cap_flags = CAPABILITIES;
	attributes->max_msg_sz = MAX_MESSAGE;
	attributes->pkey_tbl_len = ACM_PORT_PKEYS_MAX;
	attributes->lid = facts->lid;
	attributes->sm_lid = facts->sm_lid;
	attributes->lmc = facts->lmc;
	attributes->max_vl_num = 1;
	attributes->sm_sl = facts->sm_sl;
	attributes->subnet_timeout = facts->subnet_timeout;
	attributes->active_width = rate->width;
	attributes->active_speed = rate->speed;
	attributes->phys_state = facts->state == ACM_PORT_DOWN ? 2 : 5; /* polling, link up */
	attributes->link_layer = IBV_LINK_LAYER_INFINIBAND;
}

PRELOAD_CALL int ibv_query_port(struct ibv_context *verbs, uint8_t number,
				struct _compat_ibv_port_attr *attributes)
{
	struct ibv_port_attr filled = {0};
	const struct acm_port_facts *facts;

	preload_lock();
	facts = port_of(verbs, number);
	if (facts)
		fill(&filled, facts);
	preload_unlock();
	if (!facts)
		return EINVAL;
	memcpy(attributes, &filled, PORT_ATTRIBUTES_SIZE);
	return 0;
}

/* ---- tables ---- */

PRELOAD_CALL int ibv_query_gid(struct ibv_context *verbs, uint8_t number, int index,
			       union ibv_gid *gid)
{
	const struct acm_port_facts *facts = port_of(verbs, number);

	if (!facts || index < 0 || index >= ACM_PORT_GIDS_MAX) {
		errno = EINVAL;
		return -1;
	}
	preload_lock();
	memcpy(gid->raw, facts->gids[index].raw, sizeof(gid->raw));
	preload_unlock();
	return 0;
}

static bool gid_is_there(const union ibv_gid *gid)
{
	return gid->global.interface_id != 0;
}

PRELOAD_CALL int ibv_query_gid_type(struct ibv_context *verbs, uint8_t number, unsigned int index,
				    int *type)
{
	union ibv_gid gid;

	*type = 0;
	return ibv_query_gid(verbs, number, (int)index, &gid);
}

PRELOAD_CALL int _ibv_query_gid_ex(struct ibv_context *verbs, uint32_t number, uint32_t index,
				   struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	struct ibv_gid_entry found = {
		.gid_index = index, .port_num = number, .gid_type = IBV_GID_TYPE_IB};

	if (flags || size < sizeof(found) || number > UINT8_MAX || index > INT32_MAX ||
	    ibv_query_gid(verbs, (uint8_t)number, (int)index, &found.gid))
		return EINVAL;
	if (!gid_is_there(&found.gid))
		return ENODATA;
	memcpy(entry, &found, sizeof(found));
	return 0;
}

PRELOAD_CALL ssize_t _ibv_query_gid_table(struct ibv_context *verbs, struct ibv_gid_entry *entries,
					  size_t most, uint32_t flags, size_t size)
{
	uint32_t ports = ((struct preload_context *)verbs)->attachment->welcome.port_count;
	struct ibv_gid_entry found;
	size_t count = 0;

	if (flags || size != sizeof(found))
		return -EINVAL;
	for (uint32_t number = 1; number <= ports; number++) {
		for (uint32_t index = 0; index < ACM_PORT_GIDS_MAX; index++) {
			if (_ibv_query_gid_ex(verbs, number, index, &found, 0, sizeof(found)))
				continue;
			if (count == most)
				return -EINVAL;
			entries[count++] = found;
		}
	}
	return (ssize_t)count;
}

PRELOAD_CALL int ibv_query_pkey(struct ibv_context *verbs, uint8_t number, int index, __be16 *pkey)
{
	const struct acm_port_facts *facts = port_of(verbs, number);

	if (!facts || index < 0 || index >= ACM_PORT_PKEYS_MAX) {
		errno = EINVAL;
		return -1;
	}
	preload_lock();
	*pkey = htobe16(facts->pkeys[index]);
	preload_unlock();
	return 0;
}

PRELOAD_CALL int ibv_get_pkey_index(struct ibv_context *verbs, uint8_t number, __be16 pkey)
{
	__be16 found;

	for (int index = 0; !ibv_query_pkey(verbs, number, index, &found); index++) {
		if (found == pkey)
			return index;
	}
	errno = ENOENT;
	return -1;
}
