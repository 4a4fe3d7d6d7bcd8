/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the fabric needs from whoever manages its subnet: port state, forwarding tables, and SA
 * transactions. Implemented by ibsim with OpenSM (ibsim_control.c).
 *
 * One thread. Nothing here blocks except create functions, which say so.
 */
#ifndef ACMITE_SIM_CONTROL_H
#define ACMITE_SIM_CONTROL_H

#include <acmite/engine.h>
#include <acmite/wire.h>
#include "topology.h"

/* A port of a host: node index in the topology, and number from 1. */
struct sim_port_ref {
	uint32_t node;
	uint8_t port;
};

/* Where a MAD goes that a program sends from a port, not to the SA by sa_send(). */
struct sim_mad_route {
	uint32_t qpn;        /* 0: subnet management; 1: all other classes */
	uint32_t qkey;       /* does not count with QP 0 */
	uint16_t dlid;       /* ACM_LID_PERMISSIVE: by the directed route in the MAD */
	uint16_t pkey_index; /* does not count with QP 0 */
	uint8_t sl;
};

/* The upper half of all GIDs of a subnet, unless its manager is told another one: fe80:: */
#define SIM_PREFIX_DEFAULT UINT64_C(0xfe80000000000000)
/* What becomes of the ports' LIDs when another subnet manager takes over. */
enum sim_lids { SIM_LIDS_KEPT, SIM_LIDS_REASSIGNED };
/* What a port is in a partition. */
enum sim_membership { SIM_MEMBER_NONE, SIM_MEMBER_LIMITED, SIM_MEMBER_FULL };

/* Forwarding state of one switch. */
struct sim_switch_tables {
	uint16_t lid;       /* of the switch itself, 0: unknown */
	uint32_t lft_size;  /* entries */
	uint8_t *lft;       /* out port by DLID, 0xff: drop */
	uint32_t mft_size;  /* entries, by MLID - 0xc000 */
	uint64_t (*mft)[4]; /* mask of 256 ports each, port 0 in bit 0 of [0] */
};

struct sim_tables {
	uint64_t generation; /* grows with every change */
	uint32_t switch_count;
	struct sim_switch_tables
		*switches; /* by node index of the topology (switches come first) */
};

enum sim_control_event_type {
	SIM_CONTROL_SA_ANSWER,  /* .cookie, .mad, .length; to mad_send() too */
	SIM_CONTROL_SA_FAILED,  /* .cookie, .status; of mad_send() too */
	SIM_CONTROL_PORT,       /* .port: its facts changed */
	SIM_CONTROL_REREGISTER, /* .port */
	SIM_CONTROL_TABLES,     /* the tables changed */
	SIM_CONTROL_DIED, /* .text: the subnet's control is gone (ibsim died); nothing more comes */
};

struct sim_control_event {
	enum sim_control_event_type type;
	struct sim_port_ref port;
	uint64_t cookie;
	int status;
	const uint8_t *mad;
	uint32_t length;
	const char *text;
};

/* A port that may be in a group. */
struct sim_group_port {
	struct sim_port_ref port;
	struct acm_gid mgid;
};

/* One that is, as the SA has it. */
struct sim_group_membership {
	struct sim_port_ref port;
	bool unknown; /* the SA did not tell: of the record only the MGID counts */
	struct acm_mcmember record;
};

struct sim_group_memberships {
	uint32_t count;
	const struct sim_group_membership *all;
};

/* What is asked for: memberships not older than `since` (of process()'s time). */
struct sim_membership_query {
	uint64_t since;
	/* Those that are to be looked at too, where a control cannot list what its SA has. */
	uint32_t count;
	const struct sim_group_port *ports;
};

struct sim_control;

struct sim_control_ops {
	/* Port facts as now (acm_port_facts.port is left 0). -ENODEV: no such port. */
	int (*port_facts)(struct sim_control *control, struct sim_port_ref port,
			  struct acm_port_facts *facts);
	/* Valid until the next process(). */
	const struct sim_tables *(*tables)(struct sim_control *control);
	/* As acm_transport_ops.sa_send: 0 or -EAGAIN or negative errno. Cookies are unique. */
	int (*sa_send)(struct sim_control *control, struct sim_port_ref port, uint16_t pkey_index,
		       const uint8_t *mad, uint64_t cookie);
	/* Of either: no event for this cookie comes any more. */
	void (*sa_cancel)(struct sim_control *control, uint64_t cookie);
	/*
	 * One MAD (ACM_MAD_LENGTH bytes, read before return) to any port; otherwise as sa_send(),
	 * its answer too. -ENETDOWN: by LID from a port that is not active. NULL: this control
	 * carries no MADs but the SA's.
	 */
	int (*mad_send)(struct sim_control *control, struct sim_port_ref port,
			const struct sim_mad_route *route, const uint8_t *mad, uint64_t cookie);
	/*
	 * All memberships of groups, in no order, valid until the next call of any operation. 0;
	 * -EAGAIN: they are being asked for, which takes some seconds at most, come again after
	 * process(); -ENOMEM. A control that has to ask its SA knows of those whose joins it
	 * carried, and of what the query names.
	 */
	int (*memberships)(struct sim_control *control, const struct sim_membership_query *query,
			   struct sim_group_memberships *memberships);
	/* The tables may have changed (a join was answered): look soon. */
	void (*refresh)(struct sim_control *control);
	/* Readable when process() has work: an epoll descriptor. */
	int (*fd)(struct sim_control *control);
	/* Absolute CLOCK_MONOTONIC ns when process() wants to be called at the latest. */
	uint64_t (*deadline)(struct sim_control *control);
	/* Reads and writes what can be without blocking. */
	int (*process)(struct sim_control *control, uint64_t now);
	/* 1 and an event, 0: none. What it points to is valid until the next call of any operation.
	 */
	int (*next_event)(struct sim_control *control, struct sim_control_event *event);
	/* Ends children and removes scratch files. Under a second. */
	void (*destroy)(struct sim_control *control);
};

struct sim_control {
	const struct sim_control_ops *ops;
};

struct sim_ibsim_options {
	const char *scratch;       /* parent folder for the scratch folder; NULL: $TMPDIR or /tmp */
	const char *socket_name;   /* IBSIM_SOCKNAME; NULL: one of its own */
	uint32_t ready_timeout_ms; /* for the subnet to come up */
	int cancel_fd;             /* readable: give up starting; -1: none */
	bool keep_scratch;
	/* Called now and then with a sentence on what is being waited for. May be NULL. */
	void (*progress)(void *context, const char *text);
	/* What befalls the running subnet that nobody asked for, in a sentence. May be NULL. */
	void (*notice)(void *context, const char *text);
	void *context; /* of both */
};
void sim_ibsim_options_default(struct sim_ibsim_options *options);

/*
 * Starts ibsim and OpenSM for the topology and waits until the subnet is up. Blocks. 0 and *control
 * the caller's; else negative errno, one sentence in `why` (with the last lines of the log where
 * there is one), and nothing left behind. -ECANCELED by cancel_fd.
 */
int sim_ibsim_control_create(const struct sim_topology *topology,
			     const struct sim_ibsim_options *options, struct sim_control **control,
			     char *why, size_t size);
/* Of an ibsim control: where it is, for programs that are to join it. */
const char *sim_ibsim_socket_name(const struct sim_control *control);
const char *sim_ibsim_scratch(const struct sim_control *control);
/* Process ids of its children, for tests and supervision. */
void sim_ibsim_children(const struct sim_control *control, int *ibsim_pid, int *opensm_pid);

#endif
