/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets: one for all copies of a datagram, counted, from a list of free ones. */
#ifndef ACMITE_SIM_PACKET_H
#define ACMITE_SIM_PACKET_H

#include <acmite/transport.h>

struct sim_packet {
	uint32_t references; /* copies in flight, and copies received that somebody still reads */
	uint32_t in_flight;  /* copies */
	bool altered;        /* a changed copy of another, which takes up no place of the sender */
	uint16_t dlid;
	uint16_t slid;
	uint16_t pkey;
	uint16_t length;
	uint32_t qkey;
	uint32_t qpn; /* 0xffffff for multicast */
	uint32_t source_qpn;
	uint32_t flow_label;
	uint8_t sl;
	uint8_t hop_limit;
	uint8_t traffic_class;
	struct acm_gid sgid;
	struct acm_gid dgid;
	struct sim_packet *next_free;
	uint8_t payload[ACM_DATAGRAM_MAX];
};

/*
 * Whether a datagram can leave a port with this LMC and state: 0, -EMSGSIZE, -ENETDOWN: the port is
 * not active; -EINVAL: a field is out of range, or the LID and the QP number contradict each other.
 */
int sim_datagram_check(const struct acm_datagram *datagram, uint8_t lmc, uint8_t state);

struct sim_packets {
	struct sim_packet *free;
	uint64_t used; /* for the tests: 0 when all is given back */
};

/* One reference, the caller's; else uninitialised. NULL: no memory. */
struct sim_packet *sim_packets_take(struct sim_packets *packets);
/* Gives up a reference; the last one frees the packet. */
void sim_packets_release(struct sim_packets *packets, struct sim_packet *packet);
/* Frees the memory of the free ones. */
void sim_packets_free(struct sim_packets *packets);

#endif
