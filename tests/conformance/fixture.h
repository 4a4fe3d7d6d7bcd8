/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An implementation of the transport interface under test: two nodes of one fabric, nobody else. */
#ifndef ACMITE_TEST_FIXTURE_H
#define ACMITE_TEST_FIXTURE_H

#include <acmite/transport.h>

/* Both nodes have one active port in the default partition, as full members, and a working SA. */
struct fixture {
	const char *name;
	/* Brings the fabric up, once for all tests. What goes wrong fails the test. */
	void *(*set_up)(void);
	void (*tear_down)(void *fabric);
	/* Transports of both nodes, not started yet; the test destroys them. */
	void (*attach)(void *fabric, struct acm_transport *nodes[2]);
	/* Lets time pass until something may have happened. False: nothing will any more. */
	bool (*wait)(void *fabric);
};

extern const struct fixture fake_fixture;    /* simulated fabric, fake control, virtual time */
extern const struct fixture builtin_fixture; /* simulated fabric, builtin control, virtual time */
extern const struct fixture ibsim_fixture;   /* simulated fabric on ibsim and OpenSM, real time */
/* The same two, of a fabric server in another thread, real time. */
extern const struct fixture attached_fake_fixture;
extern const struct fixture attached_builtin_fixture;
#ifdef ACMITE_VERBS
/* The verbs transport as the first or the second node, on the preload library; real time. */
extern const struct fixture verbs_first_fixture;
extern const struct fixture verbs_second_fixture;
extern const struct fixture verbs_ibsim_fixture;
#endif

#endif
