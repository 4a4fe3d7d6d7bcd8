/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of packets in flight, by the time of their arrival; those of one time in the order in
 * which they were put in.
 */
#ifndef ACMITE_SIM_PACKET_QUEUE_H
#define ACMITE_SIM_PACKET_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_packet;

struct sim_arrival {
	uint64_t time; /* ns */
	uint64_t sequence;
	struct sim_packet *packet;
	uint32_t port; /* index of the port where it arrives */
};

/* All zero: empty. */
struct sim_packet_queue {
	struct sim_arrival *heap;
	uint32_t count;
	uint32_t room;
	uint64_t sequence;
};

void sim_packet_queue_free(struct sim_packet_queue *queue);
/* Makes the next `count` pushes possible. 0 or -ENOMEM. */
int sim_packet_queue_reserve(struct sim_packet_queue *queue, uint32_t count);
/* Room must have been reserved. */
void sim_packet_queue_push(struct sim_packet_queue *queue, uint64_t time, struct sim_packet *packet,
			   uint32_t port);
/* Time of the first arrival, ACM_NEVER when there is none. */
uint64_t sim_packet_queue_next(const struct sim_packet_queue *queue);
/* Takes out the first arrival, if its time is at most `now`. */
bool sim_packet_queue_pop(struct sim_packet_queue *queue, uint64_t now,
			  struct sim_arrival *arrival);

#endif
