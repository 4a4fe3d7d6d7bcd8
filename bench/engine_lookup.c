/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Look-ups of cached destinations inside the engine, one thread, names drawn at random. By the
 * thread's CPU time: what else runs on the machine does not count, but its use of the caches does.
 */
#include "clock.h"
#include "engine_rig.h"
#include "figures.h"
#include "log.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS  15
#define LOOKUPS 200000

static const uint32_t sizes[] = {1000, 100000};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

enum variant {
	BARE,   /* no trace is wanted */
	DAEMON, /* the trace that acmited's log wants by default */
	CODED,  /* the same, with the request's decoding and the answer's encoding */
	VARIANTS,
};

static const char *const variant_names[VARIANTS] = {
	[BARE] = "engine",
	[DAEMON] = "engine, acmited's default trace",
	[CODED] = "the same with decoding and encoding",
};

static void *allocate(void *context, size_t size)
{
	(void)context;
	return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static uint32_t draw(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static const struct acm_reply *look_up(struct acm_engine *engine, const struct acm_event *event)
{
	const struct acm_reply *reply = NULL;
	struct acm_action action;
	int error = acm_engine_step(engine, event);

	assert(!error);
	while (acm_engine_next_action(engine, &action)) {
		if (action.type == ACM_ACTION_REPLY)
			reply = action.reply;
	}
	assert(reply && reply->status == ACM_STATUS_OK);
	return reply;
}

static double rate_plain(struct engine_rig *rig, uint32_t size, uint32_t *state)
{
	struct acm_request request;
	struct acm_event event = {.type = ACM_EVENT_REQUEST, .time = rig->now, .request = &request};
	uint64_t begin;

	engine_rig_request(&request, 0);
	begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < LOOKUPS; i++) {
		engine_rig_rename(&request, draw(state) % size);
		look_up(rig->engine, &event);
	}
	return LOOKUPS / ((double)(clock_now(CLOCK_THREAD_CPUTIME_ID) - begin) / 1e9);
}

static double rate_coded(struct engine_rig *rig, uint32_t size, uint32_t *state)
{
	struct acm_request request;
	struct acm_event event = {.type = ACM_EVENT_REQUEST, .time = rig->now, .request = &request};
	uint8_t frame[ACM_CLIENT_REQUEST_MAX];
	uint8_t answer[ACM_CLIENT_REPLY_MAX];
	uint8_t *digits;
	uint64_t begin;
	int length;

	engine_rig_request(&request, 0);
	length = acm_client_encode_request(&request, frame, sizeof(frame));
	/* The digits of the destination's name, in the last record. */
	digits = frame + length - ACM_ADDRESS_MAX + 4;
	begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < LOOKUPS; i++) {
		uint32_t destination = draw(state) % size;

		for (int at = 5; at >= 0; at--, destination /= 10)
			digits[at] = (uint8_t)('0' + destination % 10);
		acm_client_decode_request(frame, (size_t)acm_client_frame(frame, (size_t)length),
					  &request);
		acm_client_encode_reply(look_up(rig->engine, &event), answer, sizeof(answer));
	}
	return LOOKUPS / ((double)(clock_now(CLOCK_THREAD_CPUTIME_ID) - begin) / 1e9);
}

int main(void)
{
	static double rates[SIZES][VARIANTS][ROUNDS];
	const struct acm_allocator allocator = {.alloc = allocate, .free = release};
	struct engine_rig rigs[SIZES][2];
	uint32_t state = 1;

	for (size_t i = 0; i < SIZES; i++) {
		for (size_t traced = 0; traced < 2; traced++) {
			engine_rig_init(&rigs[i][traced], traced ? log_trace_mask(LOG_BASIC) : 0,
					&allocator);
			engine_rig_populate(&rigs[i][traced], sizes[i]);
		}
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < SIZES; i++) {
			rates[i][BARE][round] = rate_plain(&rigs[i][0], sizes[i], &state);
			rates[i][DAEMON][round] = rate_plain(&rigs[i][1], sizes[i], &state);
			rates[i][CODED][round] = rate_coded(&rigs[i][1], sizes[i], &state);
		}
	}
	for (size_t i = 0; i < SIZES; i++) {
		for (size_t variant = 0; variant < VARIANTS; variant++) {
			char name[120];

			snprintf(name, sizeof(name), "look-ups, %u destinations: %s", sizes[i],
				 variant_names[variant]);
			figures_print(name, figures_median(rates[i][variant], ROUNDS) / 1e6,
				      "million/s", variant == CODED ? "" : ">= 5");
		}
		engine_rig_fini(&rigs[i][0]);
		engine_rig_fini(&rigs[i][1]);
	}
	return EXIT_SUCCESS;
}
