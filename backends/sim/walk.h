/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a packet ends: follows the switches' tables hop by hop, from a host's port to the hosts'
 * ports that the tables lead to, or to the place where the packet is lost.
 */
#ifndef ACMITE_SIM_WALK_H
#define ACMITE_SIM_WALK_H

#include "wiring.h"

/* Switches on one way. No tables that are right come near it. */
#define SIM_HOPS_MAX 64

/* What became of one copy. */
struct sim_end {
	bool arrived;
	enum sim_drop cause;          /* when it did not */
	uint32_t port;                /* index of the host's port, when it did */
	uint64_t delay;               /* ns on the way */
	struct sim_meddling meddling; /* on the links that it passed */
};

/* A switch that a copy has reached and is to leave. */
struct sim_visit {
	uint32_t node;
	uint8_t ingress;
	uint32_t hops;
	uint64_t delay;
	struct sim_meddling meddling;
};

struct sim_walk {
	struct sim_wiring *wiring;
	const struct sim_tables *tables;
	struct sim_meddler meddler;
	const struct sim_packet *packet; /* the one that is sent; NULL: nobody meddles with it */
	uint32_t from;                   /* node */
	uint32_t count;
	uint32_t room;
	struct sim_end *ends; /* of the last packet */
	uint32_t visit_count;
	uint32_t visit_room;
	struct sim_visit *visits;
};

/* `wiring` must outlive it; `tables` and `packet` are set before each use. */
void sim_walk_init(struct sim_walk *walk, struct sim_wiring *wiring);
void sim_walk_free(struct sim_walk *walk);

/*
 * Send a packet with `length` bytes of payload out of a host's port, and leave in `ends` what
 * became of its copies, in the order of distance and port numbers. A unicast has one; a multicast
 * that no other port is to get has none. 0 or -ENOMEM.
 */
int sim_walk_unicast(struct sim_walk *walk, uint32_t port, uint16_t dlid, uint32_t length);
int sim_walk_multicast(struct sim_walk *walk, uint32_t port, uint16_t mlid, uint32_t length);

#endif
