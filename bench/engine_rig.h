/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One engine that has resolved so many destinations as it would on a fabric: by multicast and its
 * answer, by a path query and its answer. The fabric is what answers its actions here.
 */
#ifndef ACMITE_BENCH_ENGINE_RIG_H
#define ACMITE_BENCH_ENGINE_RIG_H

#include <acmite/engine.h>

/* "node" and as many digits. */
#define ENGINE_RIG_NAME_LENGTH 10

struct engine_rig {
	struct acm_engine *engine;
	uint64_t now;
	uint64_t requests;
	uint64_t answered; /* with success */
	/* What the engine waits for, 0: nothing. */
	uint64_t sa_cookie;
	uint8_t sa_mad[ACM_MAD_LENGTH];
	uint32_t endpoint; /* to be opened */
	uint64_t attach_cookie;
	uint8_t message[ACM_DATAGRAM_MAX]; /* multicast */
	bool asked;
};

/* With a port, a name of its own, and its groups joined. Ends the program where that fails. */
void engine_rig_init(struct engine_rig *rig, uint64_t trace_mask,
		     const struct acm_allocator *allocator);
void engine_rig_fini(struct engine_rig *rig);
/* Resolves destinations 0 to count - 1. Ends the program where that fails. */
void engine_rig_populate(struct engine_rig *rig, uint32_t count);

/* A request by the name of a destination, from the node's own name. */
void engine_rig_request(struct acm_request *request, uint32_t destination);
/* The same request for another destination. */
void engine_rig_rename(struct acm_request *request, uint32_t destination);

#endif
