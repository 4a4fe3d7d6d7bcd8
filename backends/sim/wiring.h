/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology's ports as the data plane wants them: one array, in which each port knows what is at
 * the other end of its link and what a packet meets on the way there.
 */
#ifndef ACMITE_SIM_WIRING_H
#define ACMITE_SIM_WIRING_H

#include "fabric.h"

/* The way out of a port. Both directions of a link are told apart: each is its sending port's. */
struct sim_exit {
	uint32_t owner; /* node that the port belongs to */
	uint32_t node;  /* at the other end, SIM_NONE: not connected */
	uint32_t index; /* of the port at the other end */
	uint32_t link;  /* index in the topology */
	uint8_t port;   /* its number */
	bool down;
	uint32_t mtu;             /* bytes */
	uint64_t latency;         /* ns */
	uint64_t byte_time;       /* ps */
	uint64_t carried_packets; /* to the other end */
	uint64_t carried_bytes;   /* headers included */
	uint64_t discards;        /* packets that did not get there */
};

struct sim_wiring {
	const struct sim_topology *topology;
	uint32_t port_count;
	uint32_t *first;        /* by node: the index of its port 0 */
	struct sim_exit *exits; /* by port index */
};

/* 0 or -ENOMEM. `topology` must outlive it. */
int sim_wiring_init(struct sim_wiring *wiring, const struct sim_topology *topology);
void sim_wiring_free(struct sim_wiring *wiring);

/* Index of a port of a node, from 1; SIM_NONE: there is none. */
uint32_t sim_wiring_index(const struct sim_wiring *wiring, uint32_t node, uint32_t port);

/* Both directions. -ENODEV: no such port, or nothing connected. */
int sim_wiring_cut(struct sim_wiring *wiring, uint32_t node, uint8_t port);
int sim_wiring_mend(struct sim_wiring *wiring, uint32_t node, uint8_t port);

/*
 * Sends a packet with `length` bytes of payload out of a port. True: it gets to the other end, and
 * its time on the way is added to *delay. False: *cause tells why not. Counts the packet.
 */
bool sim_exit_pass(struct sim_exit *way, uint32_t length, uint64_t *delay, enum sim_drop *cause);

/* The finaliser of splitmix64: every bit of the result depends on every bit of the argument. */
uint64_t sim_mix(uint64_t value);

#endif
