/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "packet_queue.h"

#include <acmite/types.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

void sim_packet_queue_free(struct sim_packet_queue *queue)
{
	free(queue->heap);
	*queue = (struct sim_packet_queue){0};
}

int sim_packet_queue_reserve(struct sim_packet_queue *queue, uint32_t count)
{
	uint64_t wanted = (uint64_t)queue->count + count, room = queue->room ? queue->room : 64;
	struct sim_arrival *heap;

	if (wanted <= queue->room)
		return 0;
	while (room < wanted)
		room *= 2;
	if (room > UINT32_MAX)
		return -ENOMEM;
	heap = reallocarray(queue->heap, room, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	queue->heap = heap;
	queue->room = (uint32_t)room;
	return 0;
}

static bool is_before(const struct sim_arrival *a, const struct sim_arrival *b)
{
	return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

void sim_packet_queue_push(struct sim_packet_queue *queue, uint64_t time, struct sim_packet *packet,
			   uint32_t port)
{
	struct sim_arrival arrival = {
		.time = time, .sequence = queue->sequence++, .packet = packet, .port = port};
	uint32_t place = queue->count;

	assert(queue->count < queue->room);
	queue->count++;
	while (place) {
		uint32_t parent = (place - 1) / 2;

		if (!is_before(&arrival, &queue->heap[parent]))
			break;
		queue->heap[place] = queue->heap[parent];
		place = parent;
	}
	queue->heap[place] = arrival;
}

uint64_t sim_packet_queue_next(const struct sim_packet_queue *queue)
{
	return queue->count ? queue->heap[0].time : ACM_NEVER;
}

/* Moves the last one to the top, and down to where it belongs. */
static void close_gap(struct sim_packet_queue *queue)
{
	const struct sim_arrival last = queue->heap[--queue->count];
	uint32_t place = 0;

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= queue->count)
			break;
		if (child + 1 < queue->count &&
		    is_before(&queue->heap[child + 1], &queue->heap[child]))
			child++;
		if (!is_before(&queue->heap[child], &last))
			break;
		queue->heap[place] = queue->heap[child];
		place = child;
	}
	queue->heap[place] = last;
}

bool sim_packet_queue_pop(struct sim_packet_queue *queue, uint64_t now, struct sim_arrival *arrival)
{
	if (!queue->count || queue->heap[0].time > now)
		return false;
	*arrival = queue->heap[0];
	close_gap(queue);
	return true;
}
