/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The data plane: datagrams from queue pair to queue pairs over the tables of a subnet, with their
 * time on the way, and what is lost counted by its cause. No I/O, no clock: time is an argument.
 *
 * Tables and links count at the moment of sending, ports and queue pairs at the moment of arrival.
 */
#ifndef ACMITE_SIM_DATAPLANE_H
#define ACMITE_SIM_DATAPLANE_H

#include "packet.h"
#include "packet_queue.h"
#include "queue_pair.h"
#include "walk.h"

/* What a receiver must know of a host's port, whether anybody uses it or not. */
struct sim_port_state {
	uint16_t lid;
	uint8_t lmc;
	uint8_t state; /* enum acm_port_state */
	bool starved;  /* a fault: its receive queues have no buffers */
};

struct sim_dataplane_hooks {
	/*
	 * A copy for a queue pair, with a reference of its own to the packet, which the owner gives
	 * back to `packets`; and counts in queue_pair->held until the buffer is free. False: there
	 * is no memory, nothing was taken.
	 */
	bool (*receive)(struct sim_queue_pair *queue_pair, struct sim_packet *packet);
	/* A queue pair whose send was refused has room again. */
	void (*writable)(struct sim_queue_pair *queue_pair);
};

struct sim_dataplane {
	struct sim_wiring wiring;
	struct sim_walk walk;
	struct sim_port_state *ports; /* by port index */
	struct sim_queue_pairs pairs;
	struct sim_packets packets;
	struct sim_packet_queue queue;
	struct sim_dataplane_hooks hooks;
	struct sim_fabric_stats stats; /* all but the SA's */
};

/* 0 or -ENOMEM. */
int sim_dataplane_init(struct sim_dataplane *plane, const struct sim_topology *topology,
		       uint64_t seed, const struct sim_dataplane_hooks *hooks);
/* All queue pairs must be closed. */
void sim_dataplane_free(struct sim_dataplane *plane);

/* Must stay until the next call. NULL: nothing is routed. */
void sim_dataplane_set_tables(struct sim_dataplane *plane, const struct sim_tables *tables);

/*
 * 0, -EAGAIN (hooks.writable follows), -EMSGSIZE, -ENETDOWN: the port is not active; -EINVAL: a
 * field is out of range, or the LID and the QP number contradict each other; -ENOMEM.
 */
int sim_dataplane_send(struct sim_dataplane *plane, struct sim_queue_pair *from,
		       const struct acm_datagram *datagram, uint64_t now);
/* As sim_fabric_inject(), from a port that is active. 0 or -ENOMEM. */
int sim_dataplane_inject(struct sim_dataplane *plane, uint32_t port,
			 const struct acm_port_facts *facts, uint64_t draw, const uint8_t *payload,
			 uint16_t length, uint64_t now);
/* When the next copy arrives; ACM_NEVER. */
uint64_t sim_dataplane_next(const struct sim_dataplane *plane);
/* Has one copy that is due arrive. False: none is. */
bool sim_dataplane_arrive(struct sim_dataplane *plane, uint64_t now);

#endif
