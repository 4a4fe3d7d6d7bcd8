/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many multicast requests of an endpoint may be under way at once. Every member of the group
 * hears each of them, so many nodes that ask in one moment overrun each other's receive queues. The
 * window begins small and opens with each answer. A request that nobody answers in time was lost in
 * such a crowd, and halves the window, when many others were heard meanwhile; in a quiet group its
 * destination is dead, and must not hold up those behind it. A pure state; who uses it keeps the
 * time.
 */
#ifndef ACMITE_ENGINE_MULTICAST_WINDOW_H
#define ACMITE_ENGINE_MULTICAST_WINDOW_H

#include <acmite/types.h>

struct acm_multicast_window {
	uint32_t size;
	uint32_t most;
	uint32_t threshold; /* up to here each answer opens it by one, above each windowful */
	uint32_t credit;    /* that it was opened by, above the threshold */
	uint32_t taken;     /* places */
	uint32_t spent;     /* of those, by requests whose answer is not needed any more */
	uint32_t crowd;     /* as many requests of others while one is under way are a crowd */
	uint32_t heard;     /* requests of others, in this flight */
	bool crowded;       /* the flight before */
	uint64_t flight;    /* when it began: an answer to what was sent later begins the next */
};

/* At most `most` places, at least 1. Receive queues take `depth` datagrams. */
void acm_multicast_window_init(struct acm_multicast_window *window, uint32_t most, uint32_t depth);
/* Nothing is under way and nothing waits: what was learned of the load is out of date. */
void acm_multicast_window_rest(struct acm_multicast_window *window, uint64_t now);
/* Another node's request came. */
void acm_multicast_window_hear(struct acm_multicast_window *window);
/* Takes a place. False: none is free. */
bool acm_multicast_window_enter(struct acm_multicast_window *window);
/* Gives a place back, for a reason that says nothing about the load. */
void acm_multicast_window_leave(struct acm_multicast_window *window);
/* Gives it back since the answer is there to what was sent at `sent`. */
void acm_multicast_window_answered(struct acm_multicast_window *window, uint64_t sent,
				   uint64_t now);
/* Gives it back since no answer came in time. */
void acm_multicast_window_missed(struct acm_multicast_window *window, uint64_t sent, uint64_t now);
/*
 * The place stays taken, though nobody waits for the answer any more: the request is on its way to
 * all nevertheless. Those places are given back by acm_multicast_window_recover().
 */
void acm_multicast_window_spend(struct acm_multicast_window *window);
void acm_multicast_window_recover(struct acm_multicast_window *window);

#endif
