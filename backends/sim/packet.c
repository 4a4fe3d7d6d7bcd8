/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "packet.h"

#include <assert.h>
#include <stdlib.h>

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
