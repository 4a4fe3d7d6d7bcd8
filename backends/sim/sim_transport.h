/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport (acmite/transport.h) that a fabric gives to one of its hosts, as the fabric sees
 * it, and the part of the fabric that transports work on.
 */
#ifndef ACMITE_SIM_TRANSPORT_H
#define ACMITE_SIM_TRANSPORT_H

#include "dataplane.h"
#include "sa_transactions.h"
#include "transport_events.h"

struct sim_transport;

/* Who uses a node. */
struct sim_tenants {
	struct sim_transport *first; /* of all, in no order */
	struct sim_transport *owner; /* the node's service; NULL: none */
};

/* What transports of one fabric share. */
struct sim_fabric_core {
	const struct sim_topology *topology;
	struct sim_control *control;
	struct sim_dataplane plane; /* its stats are the fabric's */
	struct sim_transactions transactions;
	struct sim_tenants *tenants;      /* by node */
	uint64_t now;                     /* what process() saw last */
	struct sim_transport *sa_refused; /* those whose sa_send() gave -EAGAIN */
};

struct sim_fabric;
const struct sim_fabric_core *sim_fabric_core(const struct sim_fabric *fabric);
uint32_t sim_tenants_count(const struct sim_tenants *tenants);

enum sim_tenancy { SIM_TENANCY_OWNER, SIM_TENANCY_PROGRAM };

/*
 * For a host. It enters itself in core->tenants, and leaves when destroyed. 0; -EBUSY: there is an
 * owner; -ENOMEM.
 */
int sim_transport_create(struct sim_fabric_core *core, uint32_t node, enum sim_tenancy tenancy,
			 struct acm_transport **transport);

/* The data plane's hooks: the queue pairs' owners are transports. */
extern const struct sim_dataplane_hooks sim_transport_hooks;

/* What the control tells. 0 or -ENOMEM. */
int sim_transport_sa_answered(struct sim_transport *transport, uint64_t cookie, const uint8_t *mad,
			      uint32_t length);
int sim_transport_sa_failed(struct sim_transport *transport, uint64_t cookie, int status);
/* The same, to all tenants of the port's node. */
int sim_transport_port_changed(struct sim_fabric_core *core, struct sim_port_ref port,
			       const struct acm_port_facts *facts);
int sim_transport_reregister(struct sim_fabric_core *core, struct sim_port_ref port);
/* Tells all whose SA request was refused that it is worth trying again. */
int sim_transport_sa_writable(struct sim_fabric_core *core);

#endif
