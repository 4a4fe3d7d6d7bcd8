/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multicast_window.h"

#include <assert.h>

/* So that 512 nodes that begin in one moment just fill receive queues of 1,024. */
#define FIRST_SIZE 2

/* Others' requests that fill this part of a receive queue while one is under way are a crowd. */
#define CROWD_SHARE 8

void acm_multicast_window_init(struct acm_multicast_window *window, uint32_t most, uint32_t depth)
{
	*window = (struct acm_multicast_window){
		.most = most, .crowd = depth > CROWD_SHARE ? depth / CROWD_SHARE : 1};
	acm_multicast_window_rest(window, 0);
}

void acm_multicast_window_rest(struct acm_multicast_window *window, uint64_t now)
{
	assert(!window->taken);
	window->size = window->most < FIRST_SIZE ? window->most : FIRST_SIZE;
	window->threshold = window->most;
	window->credit = 0;
	window->heard = 0;
	window->crowded = false;
	window->flight = now;
}

void acm_multicast_window_hear(struct acm_multicast_window *window)
{
	window->heard++;
}

bool acm_multicast_window_enter(struct acm_multicast_window *window)
{
	if (window->taken >= window->size)
		return false;
	window->taken++;
	return true;
}

void acm_multicast_window_leave(struct acm_multicast_window *window)
{
	assert(window->taken > window->spent);
	window->taken--;
}

static void widen(struct acm_multicast_window *window)
{
	if (window->size == window->most)
		return;
	if (window->size < window->threshold) {
		window->size++;
	} else if (++window->credit >= window->size) {
		window->size++;
		window->credit = 0;
	}
}

static void narrow(struct acm_multicast_window *window)
{
	window->size = window->size > 1 ? window->size / 2 : 1;
	window->threshold = window->size;
	window->credit = 0;
}

/* True when what was sent at `sent` is the first of its flight that comes to its end. */
static bool next_flight(struct acm_multicast_window *window, uint64_t sent, uint64_t now)
{
	if (sent < window->flight)
		return false;
	window->flight = now;
	window->crowded = window->heard >= window->crowd;
	window->heard = 0;
	return true;
}

void acm_multicast_window_answered(struct acm_multicast_window *window, uint64_t sent, uint64_t now)
{
	acm_multicast_window_leave(window);
	next_flight(window, sent, now);
	widen(window);
}

void acm_multicast_window_missed(struct acm_multicast_window *window, uint64_t sent, uint64_t now)
{
	bool first = next_flight(window, sent, now);

	acm_multicast_window_leave(window);
	if (!window->crowded)
		widen(window);
	else if (first)
		narrow(window);
}

void acm_multicast_window_spend(struct acm_multicast_window *window)
{
	assert(window->taken > window->spent);
	window->spent++;
}

void acm_multicast_window_recover(struct acm_multicast_window *window)
{
	window->taken -= window->spent;
	window->spent = 0;
}
