/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_port.h"

#include "verbs_trouble.h"

#include <acmite/wire.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- facts ---- */

static uint32_t speed_of(const struct ibv_port_attr *attr)
{
#ifdef VERBS_ACTIVE_SPEED_EX /* from XDR on the old member is too narrow, and stays at NDR */
	if (attr->active_speed_ex)
		return attr->active_speed_ex;
#endif
	return attr->active_speed;
}

static uint8_t rate_of(const struct ibv_port_attr *attr)
{
	uint32_t speed = speed_of(attr);

	switch (speed) {
	case 1:
	case 2:
	case 4:
		return acm_rate_of_link(attr->active_width, (uint8_t)speed, 0, 0);
	case 8: /* FDR10: QDR's signals, another coding */
		return acm_rate_of_link(attr->active_width, 4, 0, 0);
	case 16: /* FDR, and on to NDR, are PortInfo's extended speeds 1, 2, 4, 8 */
	case 32:
	case 64:
	case 128:
		return acm_rate_of_link(attr->active_width, 0, (uint8_t)(speed / 16), 0);
	case 256: /* XDR is the first of the second extension */
		return acm_rate_of_link(attr->active_width, 0, 0, 1);
	default:
		return 0;
	}
}

/*
 * An entry without a GUID is empty. One that cannot be read is taken to be as it was, until it can.
 */
static void read_gids(struct verbs_port *port, int length, struct acm_port_facts *facts)
{
	if (length > ACM_PORT_GIDS_MAX)
		length = ACM_PORT_GIDS_MAX;
	for (int i = 0; i < length; i++) {
		union ibv_gid gid;

		if (ibv_query_gid(port->device->context, port->number, i, &gid)) {
			port->incomplete = true;
			memcpy(gid.raw, port->facts.gids[i].raw, sizeof(gid.raw));
		}
		if (!gid.global.interface_id)
			continue;
		memcpy(facts->gids[i].raw, gid.raw, sizeof(gid.raw));
		facts->gid_count = (uint16_t)(i + 1);
	}
}

static void read_pkeys(struct verbs_port *port, int length, struct acm_port_facts *facts)
{
	if (length > ACM_PORT_PKEYS_MAX)
		length = ACM_PORT_PKEYS_MAX;
	for (int i = 0; i < length; i++) {
		__be16 pkey;

		if (ibv_query_pkey(port->device->context, port->number, i, &pkey)) {
			port->incomplete = true;
			pkey = htobe16(port->facts.pkeys[i]);
		}
		facts->pkeys[i] = be16toh(pkey);
		if (facts->pkeys[i] & ~ACM_PKEY_FULL)
			facts->pkey_count = (uint16_t)(i + 1);
	}
}

static uint8_t state_of(const struct ibv_port_attr *attr)
{
	if (attr->state > IBV_PORT_ACTIVE)
		return ACM_PORT_ACTIVE; /* deferred: the link recovers by itself */
	return attr->state < IBV_PORT_DOWN ? ACM_PORT_DOWN : (uint8_t)attr->state;
}

static void set_facts(struct verbs_port *port, const struct ibv_port_attr *attr)
{
	const struct acm_port_facts *old = &port->facts;
	struct acm_port_facts facts = {
		.port = old->port,
		.device_guid = old->device_guid,
		.number = port->number,
		.port_count = (uint8_t)port->device->port_count,
		.state = state_of(attr),
		.lid = attr->lid,
		.lmc = attr->lmc,
		.sm_lid = attr->sm_lid,
		.sm_sl = attr->sm_sl,
		.subnet_timeout = attr->subnet_timeout,
		.mtu = (uint8_t)attr->active_mtu,
		.rate = rate_of(attr),
	};

	strcpy(facts.device, port->device->name);
	read_gids(port, attr->gid_tbl_len, &facts);
	read_pkeys(port, attr->pkey_tbl_len, &facts);
	port->facts = facts;
}

/* With none of them the subnet's manager is not done; on Omni-Path the LID may be a longer one. */
static const char *missing_of(const struct acm_port_facts *facts)
{
	if (facts->state != ACM_PORT_ACTIVE)
		return NULL;
	if (!facts->lid)
		return "a LID of 16 bits";
	if (!facts->sm_lid)
		return "an SM whose LID has 16 bits";
	if (!facts->pkey_count)
		return "a P_Key";
	return facts->gid_count ? NULL : "a GID";
}

static void read_facts(struct verbs_port *port)
{
	struct ibv_port_attr attr;

	port->incomplete = ibv_query_port(port->device->context, port->number, &attr) != 0;
	if (port->incomplete)
		port->facts.state = ACM_PORT_DOWN;
	else
		set_facts(port, &attr);
}

void verbs_port_refresh(struct verbs_port *port)
{
	uint16_t sm_lid = port->facts.sm_lid;

	port->changed = false;
	read_facts(port);
	if (port->facts.sm_lid != sm_lid)
		verbs_sa_renew(&port->sa);
	/* What waits for room here is refused now, and what waits behind it can go. */
	if (port->facts.state != ACM_PORT_ACTIVE)
		verbs_note_progress(port->device->transport);
	verbs_trouble_missing(port, missing_of(&port->facts));
}

/* Events may be lost, and not all hardware tells that the subnet's prefix is another. */
static bool has_changed(const struct verbs_port *port)
{
	const struct acm_port_facts *facts = &port->facts;
	struct ibv_port_attr attr;
	union ibv_gid gid;

	if (port->incomplete)
		return true;
	if (ibv_query_port(port->device->context, port->number, &attr))
		return facts->state != ACM_PORT_DOWN;
	if (state_of(&attr) != facts->state || attr.lid != facts->lid || attr.lmc != facts->lmc ||
	    attr.sm_lid != facts->sm_lid || attr.sm_sl != facts->sm_sl)
		return true;
	return !ibv_query_gid(port->device->context, port->number, 0, &gid) &&
	       gid.global.interface_id && memcmp(gid.raw, facts->gids[0].raw, sizeof(gid.raw)) != 0;
}

int verbs_port_pkey_index(struct verbs_port *port, uint16_t pkey)
{
	struct acm_port_facts facts = {.pkey_count = 0};
	struct ibv_port_attr attr;
	int found = -ENOENT;

	if (!(pkey & ~ACM_PKEY_FULL))
		return -ENOENT; /* what an empty entry holds */
	if (ibv_query_port(port->device->context, port->number, &attr))
		return -EIO;
	read_pkeys(port, attr.pkey_tbl_len, &facts);
	/* Partitions are equal in 15 bits; of both kinds of membership the one asked for. */
	for (int i = 0; i < facts.pkey_count; i++) {
		if (facts.pkeys[i] == pkey)
			return i;
		if (found < 0 && !((facts.pkeys[i] ^ pkey) & ~ACM_PKEY_FULL))
			found = i;
	}
	return found;
}

/* ---- numbers ---- */

struct verbs_port *verbs_port_find(const struct verbs_transport *transport, uint32_t number)
{
	return number < transport->slot_count ? transport->slots[number].port : NULL;
}

/* The lowest free one, so that a device that comes back alone gets its old numbers. */
static int number_port(struct verbs_port *port)
{
	struct verbs_transport *transport = port->device->transport;
	uint32_t number = 0;
	struct verbs_slot *slots;

	while (number < transport->slot_count &&
	       (transport->slots[number].port || transport->slots[number].removed))
		number++;
	if (number == transport->slot_count) {
		slots = reallocarray(transport->slots, number + 1, sizeof(*slots));
		if (!slots)
			return -ENOMEM;
		transport->slots = slots;
		transport->slots[number].removed = false;
		transport->slot_count++;
	}
	transport->slots[number].port = port;
	port->facts.port = number;
	return 0;
}

/* ---- opening and closing ---- */

int verbs_port_init(struct verbs_port *port, struct verbs_device *device, uint8_t number)
{
	struct ibv_port_attr attr;

	*port = (struct verbs_port){.device = device, .number = number};
	if (ibv_query_port(device->context, number, &attr))
		return -EIO;
	/* Old kernels do not say; only what is not InfiniBand says that. */
	port->infiniband = attr.link_layer == IBV_LINK_LAYER_INFINIBAND ||
			   attr.link_layer == IBV_LINK_LAYER_UNSPECIFIED;
	return 0;
}

static void serve(struct verbs_port *port)
{
	if (number_port(port))
		return; /* the next look tries again */
	port->facts.device_guid = be64toh(ibv_get_device_guid(port->device->context->device));
	verbs_port_refresh(port);
	port->served = true;
	port->changed = true;
	verbs_note_ports(port->device->transport);
	if (!port->device->doubtful)
		verbs_say(port->device->transport, "%s port %u: served", port->device->name,
			  port->number);
}

void verbs_port_open(struct verbs_port *port)
{
	struct verbs_transport *transport = port->device->transport;
	int error;

	if (!port->infiniband)
		return;
	if (!verbs_sa_is_open(&port->sa)) {
		error = verbs_sa_open(&port->sa, transport, port->device->name, port->number);
		if (error && error != port->sa_trouble)
			verbs_trouble_sa(transport, port, error);
		if (!error)
			verbs_trouble_sa_over(port);
		port->sa_trouble = error;
		if (error)
			return;
	}
	if (!port->served)
		serve(port);
}

void verbs_port_look(struct verbs_port *port)
{
	verbs_port_open(port);
	if (!port->served || port->changed || !has_changed(port))
		return;
	port->changed = true;
	verbs_note_ports(port->device->transport);
}

void verbs_port_close(struct verbs_port *port)
{
	struct verbs_transport *transport = port->device->transport;

	verbs_sa_close(&port->sa, -ENODEV);
	if (!port->served)
		return;
	port->served = false;
	transport->slots[port->facts.port] = (struct verbs_slot){.removed = true};
	verbs_note_ports(transport);
}
