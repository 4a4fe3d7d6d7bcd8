/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The performance agent of a node: what its ports carried, as counters that are read and set (IBA
 * vol. 1, chapter 16). Those of errors that the fabric does not know stay 0. Pure.
 */
#ifndef ACMITE_SIM_PERFORMANCE_AGENT_H
#define ACMITE_SIM_PERFORMANCE_AGENT_H

#include "subnet.h"

#define SIM_PERFORMANCE_DATA 192 /* bytes of an attribute in such a MAD */

/* What a port has carried. */
struct sim_port_traffic {
	uint64_t sent_packets, sent_bytes;
	uint64_t received_packets, received_bytes;
	uint64_t discards; /* packets that it was to send and could not */
};

struct sim_traffic_source {
	/* Port 0 of a switch carries nothing. NULL: nothing was carried anywhere. */
	void (*read)(void *context, uint32_t node, uint8_t port, struct sim_port_traffic *traffic);
	/* From here read() counts on. NULL when read() is. */
	void (*set)(void *context, uint32_t node, uint8_t port,
		    const struct sim_port_traffic *traffic);
	void *context;
};

/*
 * Reads an attribute of a node into `data`, in wire order, which holds what was asked (the port),
 * and zeros where nothing is to say. Returns a MAD status, 0 when it went well.
 */
uint16_t sim_performance_read(const struct sim_topology *topology, uint32_t node,
			      const struct sim_traffic_source *source, uint16_t attribute,
			      uint8_t data[SIM_PERFORMANCE_DATA]);

/* Sets the counters that `data` selects to what it says, then reads, as above. */
uint16_t sim_performance_set(const struct sim_topology *topology, uint32_t node,
			     const struct sim_traffic_source *source, uint16_t attribute,
			     uint8_t data[SIM_PERFORMANCE_DATA]);

#endif
