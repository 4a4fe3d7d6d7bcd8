/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "packet.h"

#include <acmite/engine.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define QPN_MULTICAST 0xffffffu

struct sim_packet *sim_packets_take(struct sim_packets *packets)
{
	struct sim_packet *packet = packets->free;

	if (packet)
		packets->free = packet->next_free;
	else
		packet = malloc(sizeof(*packet));
	if (!packet)
		return NULL;
	packet->references = 1;
	packet->in_flight = 0;
	packet->altered = false;
	packets->used++;
	return packet;
}

void sim_packets_release(struct sim_packets *packets, struct sim_packet *packet)
{
	assert(packet->references);
	if (--packet->references)
		return;
	packet->next_free = packets->free;
	packets->free = packet;
	packets->used--;
}

void sim_packets_free(struct sim_packets *packets)
{
	while (packets->free) {
		struct sim_packet *packet = packets->free;

		packets->free = packet->next_free;
		free(packet);
	}
}

int sim_datagram_check(const struct acm_datagram *datagram, uint8_t lmc, uint8_t state)
{
	bool to_all = datagram->qpn == QPN_MULTICAST;

	if (datagram->length > ACM_DATAGRAM_MAX)
		return -EMSGSIZE;
	if (datagram->dlid == 0 || datagram->dlid == ACM_LID_PERMISSIVE ||
	    datagram->qpn > QPN_MULTICAST || datagram->path_bits >> lmc)
		return -EINVAL;
	if ((datagram->dlid >= ACM_LID_MULTICAST) != to_all ||
	    (to_all && datagram->dgid.raw[0] != 0xff))
		return -EINVAL;
	if (state != ACM_PORT_ACTIVE)
		return -ENETDOWN;
	return 0;
}
