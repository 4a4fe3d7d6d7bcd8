/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulated transport's own object: what its files share. */
#ifndef ACMITE_SIM_TRANSPORT_STATE_H
#define ACMITE_SIM_TRANSPORT_STATE_H

#include "sim_transport.h"

struct sim_transport {
	struct acm_transport base;
	struct sim_fabric_core *core;
	uint32_t node;
	struct sim_transport *next; /* of the node's */
	uint32_t port_count;
	struct acm_port_facts *facts; /* by the transport's port number */
	bool started;
	void (*wake)(void *context);
	void *wake_context;
	uint32_t endpoint_count;
	uint32_t endpoint_room;
	struct sim_queue_pair **endpoints;
	struct sim_transport_events events;
	bool writable_queued;           /* one such event is enough */
	struct sim_queued_event pulled; /* what the user still reads */
	struct acm_port_facts pulled_facts;
	struct sim_transaction_list transactions;
	bool sa_refused;
	struct sim_transport *next_refused;
};

/* Takes over what the event holds, and wakes the user. 0 or -ENOMEM. */
int sim_transport_push(struct sim_transport *transport, const struct sim_queued_event *queued);
/* The user is to be told what the port is now. 0 or -ENOMEM. */
int sim_transport_push_port(struct sim_transport *transport, uint32_t port);

/* ---- sim_tenants.c ---- */

void sim_tenants_enter(struct sim_transport *transport, enum sim_tenancy tenancy);
void sim_tenants_leave(struct sim_transport *transport);

#endif
