/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet's control for tests: all ports active, shortest paths, one tree for each group that was
 * joined, and an SA that answers at once, unless told otherwise.
 */
#ifndef ACMITE_TEST_FAKE_CONTROL_H
#define ACMITE_TEST_FAKE_CONTROL_H

#include "control.h"

#include <acmite/transport.h>
#include <acmite/wire.h>

#define FAKE_GROUPS_MAX  16
#define FAKE_MEMBERS_MAX 64     /* of a group */
#define FAKE_QKEY        0x0b1b /* of groups that fake_control_join() makes */
#define FAKE_QUEUE_MAX   4096
/* LIDs of one port; its tables lead all of them to it, whatever its LMC. */
#define FAKE_LIDS_EACH 8

struct fake_group {
	struct acm_mcmember record; /* what the first join asked for, and the MLID */
	uint32_t member_count;
	struct sim_port_ref members[FAKE_MEMBERS_MAX];
};

struct fake_event {
	struct sim_control_event event;
	uint8_t mad[ACM_MAD_LENGTH];
};

struct fake_control {
	struct sim_control base;
	const struct sim_topology *topology;
	struct sim_tables tables;
	uint32_t *first_port; /* by node, in `facts` */
	uint32_t port_count;
	struct acm_port_facts *facts;
	uint32_t group_count;
	struct fake_group groups[FAKE_GROUPS_MAX];
	struct fake_event *queue; /* of FAKE_QUEUE_MAX */
	struct fake_event pulled;
	struct sim_group_membership memberships[FAKE_GROUPS_MAX * FAKE_MEMBERS_MAX]; /* told */
	uint32_t first, count;

	/* For tests to set: */
	uint32_t sa_window;   /* more answers than that are not kept: sa_send() gives -EAGAIN */
	uint32_t event_limit; /* answers and events given out from now on; those after it wait */
	int sa_failure;       /* not 0: SA requests and MADs end with that status */
	bool members_pending; /* memberships() gives -EAGAIN */
	bool members_unknown; /* it knows of none whether it is one */
	/* And to read: */
	uint32_t refresh_count;
	uint32_t cancel_count;
	uint32_t members_asked;       /* places that were asked about last */
	struct sim_port_ref mad_port; /* of the last MAD that was not the SA's */
	struct sim_mad_route mad_route;
};

/* The fabric that takes it over destroys it. Lack of memory fails the test. */
struct fake_control *fake_control_create(const struct sim_topology *topology);

/* A port's facts, to be changed and then told with fake_control_tell(). */
struct acm_port_facts *fake_control_port(struct fake_control *control, uint32_t node, uint8_t port);
/* Queues SIM_CONTROL_PORT or SIM_CONTROL_REREGISTER, or, without port, another event. */
void fake_control_tell(struct fake_control *control, enum sim_control_event_type type,
		       uint32_t node, uint8_t port);
/* Makes a host's port a member, without an SA request; a group that is not there is made. Its MLID.
 */
uint16_t fake_control_join(struct fake_control *control, uint32_t node, uint8_t port,
			   const struct acm_gid *mgid);

#endif
