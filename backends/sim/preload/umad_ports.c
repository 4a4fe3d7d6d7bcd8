/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "umad_ports.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <acmite/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"

/* IBA vol. 1, 14.2.5.6: client reregistration, extended speeds, system image GUID. */
#define CAPABILITIES ((1u << 25) | (1u << 14) | (1u << 11))

#define PHYSICAL_POLLING 2
#define PHYSICAL_LINK_UP 5

PRELOAD_CALL int umad_init(void)
{
	return 0;
}

PRELOAD_CALL int umad_done(void)
{
	return 0;
}

/* ---- names ---- */

static bool is_device(const struct preload_attachment *attachment, const char *name)
{
	return !name || !strcmp(name, attachment->device.name);
}

int preload_umad_choose(const struct preload_attachment *attachment, const char *name, int number)
{
	if (!is_device(attachment, name))
		return -ENODEV;
	if (number > 0)
		return preload_attachment_port(attachment, (uint32_t)number) ? number : -ENODEV;
	for (uint32_t i = 0; i < attachment->welcome.port_count; i++) {
		if (attachment->ports[i].state == ACM_PORT_ACTIVE)
			return (int)i + 1;
	}
	for (uint32_t i = 0; i < attachment->welcome.port_count; i++) {
		if (attachment->ports[i].state != ACM_PORT_DOWN)
			return (int)i + 1;
	}
	return 1;
}

static void copy_name(char to[UMAD_CA_NAME_LEN], const struct preload_attachment *attachment)
{
	snprintf(to, UMAD_CA_NAME_LEN, "%.*s", UMAD_CA_NAME_LEN - 1, attachment->device.name);
}

PRELOAD_CALL int umad_get_cas_names(char names[][UMAD_CA_NAME_LEN], int most)
{
	struct preload_attachment *attachment;

	preload_lock();
	attachment = preload_attachment_get();
	if (attachment && most > 0)
		copy_name(names[0], attachment);
	preload_unlock();
	return attachment && most > 0 ? 1 : 0;
}

PRELOAD_CALL struct umad_device_node *umad_get_ca_device_list(void)
{
	struct umad_device_node *node = calloc(1, sizeof(*node));
	struct preload_attachment *attachment;

	if (!node)
		return NULL;
	preload_lock();
	attachment = preload_attachment_get();
	preload_unlock();
	if (attachment)
		node->ca_name = strdup(attachment->device.name);
	if (node->ca_name)
		return node;
	free(node);
	return NULL;
}

PRELOAD_CALL void umad_free_ca_device_list(struct umad_device_node *head)
{
	while (head) {
		struct umad_device_node *next = head->next;

		free((char *)(uintptr_t)head->ca_name);
		free(head);
		head = next;
	}
}

/* ---- ports ---- */

static int fill_port(umad_port_t *port, const struct preload_attachment *attachment, int number)
{
	const struct acm_port_facts *facts = preload_attachment_port(attachment, (uint32_t)number);

	memset(port, 0, sizeof(*port));
	port->pkeys = calloc(ACM_PORT_PKEYS_MAX, sizeof(*port->pkeys));
	if (!port->pkeys)
		return -ENOMEM;
	copy_name(port->ca_name, attachment);
	port->portnum = number;
	port->base_lid = facts->lid;
	port->lmc = facts->lmc;
	port->sm_lid = facts->sm_lid;
	port->sm_sl = facts->sm_sl;
	port->state = facts->state;
	port->phys_state = facts->state == ACM_PORT_DOWN ? PHYSICAL_POLLING : PHYSICAL_LINK_UP;
	port->rate = acm_rate_tenths_gbps(facts->rate) / 10;
	port->capmask = htobe32(CAPABILITIES);
	memcpy(&port->gid_prefix, facts->gids[0].raw, sizeof(port->gid_prefix));
	memcpy(&port->port_guid, facts->gids[0].raw + 8, sizeof(port->port_guid));
	port->pkeys_size = ACM_PORT_PKEYS_MAX;
	memcpy(port->pkeys, facts->pkeys, sizeof(facts->pkeys));
	snprintf(port->link_layer, sizeof(port->link_layer), "InfiniBand");
	return 0;
}

static int get_port(const char *name, int number, umad_port_t *port)
{
	const struct preload_attachment *attachment = preload_attachment_get();

	if (!attachment)
		return -ENODEV;
	number = preload_umad_choose(attachment, name, number);
	return number < 0 ? number : fill_port(port, attachment, number);
}

PRELOAD_CALL int umad_get_port(const char *name, int number, umad_port_t *port)
{
	int error;

	preload_lock();
	error = get_port(name, number, port);
	preload_unlock();
	return preload_result(error);
}

PRELOAD_CALL int umad_release_port(umad_port_t *port)
{
	free(port->pkeys);
	port->pkeys = NULL;
	port->pkeys_size = 0;
	return 0;
}

/* ---- the device ---- */

PRELOAD_CALL int umad_release_ca(umad_ca_t *ca)
{
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		if (!ca->ports[i])
			continue;
		umad_release_port(ca->ports[i]);
		free(ca->ports[i]);
		ca->ports[i] = NULL;
	}
	return 0;
}

static int fill_ports(umad_ca_t *ca, const struct preload_attachment *attachment)
{
	for (int number = 1; number <= ca->numports; number++) {
		ca->ports[number] = calloc(1, sizeof(umad_port_t));
		if (!ca->ports[number])
			return -ENOMEM;
		if (fill_port(ca->ports[number], attachment, number))
			return -ENOMEM;
	}
	return 0;
}

static int get_ca(const char *name, umad_ca_t *ca)
{
	const struct preload_attachment *attachment = preload_attachment_get();
	int error;

	if (!attachment || !is_device(attachment, name))
		return -ENODEV;
	memset(ca, 0, sizeof(*ca));
	copy_name(ca->ca_name, attachment);
	ca->node_type = 1; /* a channel adapter */
	ca->numports = (int)attachment->welcome.port_count;
	snprintf(ca->fw_ver, sizeof(ca->fw_ver), "simulated");
	snprintf(ca->ca_type, sizeof(ca->ca_type), "acmite");
	snprintf(ca->hw_ver, sizeof(ca->hw_ver), "0");
	ca->node_guid = htobe64(attachment->welcome.node_guid);
	ca->system_guid = htobe64(attachment->welcome.system_guid);
	error = fill_ports(ca, attachment);
	if (error)
		umad_release_ca(ca);
	return error;
}

PRELOAD_CALL int umad_get_ca(const char *name, umad_ca_t *ca)
{
	int error;

	preload_lock();
	error = get_ca(name, ca);
	preload_unlock();
	return preload_result(error);
}

/* By port number; there is no port 0. */
PRELOAD_CALL int umad_get_ca_portguids(const char *name, __be64 *guids, int most)
{
	umad_ca_t ca;
	int count, error = umad_get_ca(name, &ca);

	if (error)
		return error;
	count = guids ? ca.numports + 1 : 0;
	if (count > most && guids)
		count = -ENOMEM;
	for (int i = 0; i < count; i++)
		guids[i] = ca.ports[i] ? ca.ports[i]->port_guid : 0;
	umad_release_ca(&ca);
	return preload_result(count);
}
