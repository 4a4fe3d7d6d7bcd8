/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "address_handle.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"
#include "device.h"
#include "memory_region.h"

/* 0 or errno. */
static int check(struct ibv_context *verbs, const struct ibv_ah_attr *address)
{
	const struct acm_port_facts *facts = preload_attachment_port(
		((struct preload_context *)verbs)->attachment, address->port_num);

	if (!facts || address->sl > 15)
		return EINVAL;
	if (!address->is_global) /* a group is known by its MGID only */
		return address->dlid >= ACM_LID_MULTICAST ? EINVAL : 0;
	if (address->grh.sgid_index >= ACM_PORT_GIDS_MAX)
		return EINVAL;
	/* As in the kernel, for an entry that is empty. */
	return memcmp(&facts->gids[address->grh.sgid_index], &(struct acm_gid){0},
		      sizeof(struct acm_gid))
		       ? 0
		       : ENODATA;
}

PRELOAD_CALL struct ibv_ah *ibv_create_ah(struct ibv_pd *domain, struct ibv_ah_attr *address)
{
	struct preload_address_handle *handle;
	int error;

	preload_lock();
	error = check(domain->context, address);
	preload_unlock();
	if (error) {
		errno = error;
		return NULL;
	}
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	handle->verbs.context = domain->context;
	handle->verbs.pd = domain;
	handle->address = *address;
	preload_lock();
	((struct preload_domain *)domain)->users++;
	preload_unlock();
	return &handle->verbs;
}

PRELOAD_CALL int ibv_destroy_ah(struct ibv_ah *verbs)
{
	preload_lock();
	((struct preload_domain *)verbs->pd)->users--;
	preload_unlock();
	free(verbs);
	return 0;
}

/* -1: none of the port's. */
static int gid_index(struct ibv_context *verbs, uint8_t number, const union ibv_gid *gid)
{
	union ibv_gid own;

	for (int index = 0; !ibv_query_gid(verbs, number, index, &own); index++) {
		if (!memcmp(&own, gid, sizeof(own)))
			return index;
	}
	return -1;
}

/* The way back to the sender of a datagram. */
PRELOAD_CALL int ibv_init_ah_from_wc(struct ibv_context *verbs, uint8_t number, struct ibv_wc *wc,
				     struct ibv_grh *grh, struct ibv_ah_attr *address)
{
	uint32_t words;
	int index;

	*address = (struct ibv_ah_attr){
		.dlid = wc->slid,
		.sl = wc->sl,
		.src_path_bits = wc->dlid_path_bits,
		.port_num = number,
	};
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	/* Among a port's GIDs there is none of a group. */
	index = gid_index(verbs, number, &grh->dgid);
	if (index < 0) {
		errno = EINVAL;
		return -1;
	}
	words = be32toh(grh->version_tclass_flow);
	address->is_global = 1;
	address->grh = (struct ibv_global_route){
		.dgid = grh->sgid,
		.flow_label = words & 0xfffff,
		.sgid_index = (uint8_t)index,
		.hop_limit = grh->hop_limit,
		.traffic_class = (uint8_t)(words >> 20),
	};
	return 0;
}

PRELOAD_CALL struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *domain, struct ibv_wc *wc,
						  struct ibv_grh *grh, uint8_t number)
{
	struct ibv_ah_attr address;

	if (ibv_init_ah_from_wc(domain->context, number, wc, grh, &address))
		return NULL;
	return ibv_create_ah(domain, &address);
}
