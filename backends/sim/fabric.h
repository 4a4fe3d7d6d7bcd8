/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric that runs: a topology, its control, and the data plane over the control's tables. Hands
 * out transports (acmite/transport.h) for the nodes that are used.
 *
 * One thread. Time is the caller's (CLOCK_MONOTONIC ns under a real-time control).
 */
#ifndef ACMITE_SIM_FABRIC_H
#define ACMITE_SIM_FABRIC_H

#include <acmite/transport.h>
#include "control.h"
#include "node_agents.h"
#include "topology.h"

struct sim_fabric;

/* Takes over `control` on success. `topology` must outlive the fabric. 0, -ENOMEM, -errno. */
int sim_fabric_create(const struct sim_topology *topology, struct sim_control *control,
		      uint64_t seed, struct sim_fabric **fabric);
/* Transports must be destroyed before. */
void sim_fabric_destroy(struct sim_fabric *fabric);

/*
 * A transport for a host's service, one at a time. -ENOENT: no such node; -ENODEV: it is a switch;
 * -EBUSY: it is taken. The ports of a node are numbered 0 .. n-1 in acm_port_facts.port.
 */
int sim_fabric_attach(struct sim_fabric *fabric, const char *node,
		      struct acm_transport **transport);
/* Another one for a program on the host, beside its service and further programs, or without. */
int sim_fabric_attach_program(struct sim_fabric *fabric, const char *node,
			      struct acm_transport **transport);
/*
 * From a transport of a fabric, a MAD to any port, through its control. As sa_send(), and its
 * answer and sa_cancel() too; -EOPNOTSUPP: the control carries none.
 */
int sim_fabric_send_mad(struct acm_transport *transport, uint32_t port,
			const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie);

/* An epoll descriptor that is readable when sim_fabric_process() has work; deadline likewise. */
int sim_fabric_fd(const struct sim_fabric *fabric);
uint64_t sim_fabric_deadline(const struct sim_fabric *fabric);
/*
 * Moves everything that is due at `now`: control, packets in flight. Transports' wakers fire. 0, or
 * the negative errno that ends the fabric (its control died); sim_fabric_failure() then tells why.
 */
int sim_fabric_process(struct sim_fabric *fabric, uint64_t now);
const char *sim_fabric_failure(const struct sim_fabric *fabric);

enum sim_drop {
	SIM_DROP_NO_ROUTE,  /* no table entry, an unconnected or inactive port */
	SIM_DROP_HOP_LIMIT, /* a loop in the tables */
	SIM_DROP_LINK,      /* link is down */
	SIM_DROP_LOSS,      /* by a fault */
	SIM_DROP_PKEY,
	SIM_DROP_QKEY,
	SIM_DROP_NO_QP,     /* no such queue pair, or none attached at a port it reached */
	SIM_DROP_NO_BUFFER, /* receive queue empty */
	SIM_DROP_MTU,
	SIM_DROP_COUNT,
};
const char *sim_drop_name(enum sim_drop cause);

struct sim_fabric_stats {
	uint64_t sent;       /* datagrams taken by send() ... */
	uint64_t multicasts; /* ... of which went to groups */
	uint64_t copies;     /* copies that tables made: delivered + dropped + in flight */
	uint64_t delivered;
	uint64_t dropped[SIM_DROP_COUNT];
	uint64_t in_flight;
	uint64_t longest; /* ns that a copy was or will be on its way, at most */
	uint64_t sa_sent, sa_answered, sa_failed; /* and MADs of programs */
};
void sim_fabric_stats(const struct sim_fabric *fabric, struct sim_fabric_stats *stats);
/* A struct sim_traffic_source of all nodes' ports; `context` is the fabric. */
void sim_fabric_traffic(void *context, uint32_t node, uint8_t port,
			struct sim_port_traffic *traffic);
void sim_fabric_set_traffic(void *context, uint32_t node, uint8_t port,
			    const struct sim_port_traffic *traffic);

/* What a fault does to one copy of a packet on its way. All zero: nothing. */
struct sim_meddling {
	bool lost;
	bool twice;           /* it arrives once more ... */
	uint64_t delay;       /* ns longer on the way */
	uint64_t twice_delay; /* ... that much longer on the way */
	uint8_t flipped;      /* bits of the payload's byte `offset` that change; 0: none */
	uint16_t offset;      /* below the length */
};

struct sim_packet;
/* Who meddles with packets; all zero: nobody. */
struct sim_meddler {
	/* Called for each copy from node `from` that passes a link, before the tables make more of
	 * it: what is done to it meets them all. */
	void (*on_link)(void *context, const struct sim_packet *packet, uint32_t from,
			uint32_t link, struct sim_meddling *meddling);
	/* Called for each copy that gets to a node. */
	void (*to_node)(void *context, const struct sim_packet *packet, uint32_t from, uint32_t to,
			struct sim_meddling *meddling);
	void *context;
};
/* Copies `meddler`. */
void sim_fabric_set_meddler(struct sim_fabric *fabric, const struct sim_meddler *meddler);

/*
 * Sends from a host's first port what nobody there asked for, up to ACM_DATAGRAM_MAX bytes: to a
 * group that is attached at the port, or to any queue pair of the fabric, as `draw` decides. 0,
 * also when the port is not active or there is nobody; -ENODEV: no host; -ENOMEM.
 */
int sim_fabric_inject(struct sim_fabric *fabric, uint32_t node, uint64_t draw,
		      const uint8_t *payload, uint16_t length);

/* As long as a host is starved all its receive queues are empty. -ENODEV: it is none. */
int sim_fabric_set_starved(struct sim_fabric *fabric, uint32_t node, bool starved);

/*
 * Takes down the link at `port` of `node`, or restores it: packets over it, in both directions, are
 * lost as SIM_DROP_LINK. Its subnet manager learns of that elsewhere (ibsim_control.h). 0, or
 * -ENODEV: no link there.
 */
int sim_fabric_cut_link(struct sim_fabric *fabric, uint32_t node, uint8_t port);
int sim_fabric_mend_link(struct sim_fabric *fabric, uint32_t node, uint8_t port);

#endif
