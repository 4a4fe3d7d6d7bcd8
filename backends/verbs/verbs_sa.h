/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One port's way to the SA: an agent of libibumad and its transactions. */
#ifndef ACMITE_VERBS_SA_H
#define ACMITE_VERBS_SA_H

#include <acmite/transport.h>
#include "verbs_watch.h"

struct verbs_transport;

/* Most transactions of a port that are under way. */
#define VERBS_SA_WINDOW 64

struct verbs_transaction {
	bool used;
	uint64_t cookie;
	uint64_t tid; /* as the user gave it */
};

struct verbs_sa {
	struct verbs_transport *transport; /* NULL: closed */
	struct verbs_watch watch;
	int fd;
	int agent;
	int failure;       /* why it is to be closed, a negative errno; 0: it is not */
	uint8_t *received; /* grows with the longest answer */
	uint32_t room;     /* bytes of MAD in it */
	uint32_t count;
	bool answered; /* something has come since it was opened */
	uint32_t held; /* requests that the kernel may still have */
	struct verbs_transaction transactions[VERBS_SA_WINDOW];
};

/* Where the SA of a port is. */
struct verbs_sa_place {
	uint16_t lid;
	uint8_t sl;
	uint8_t subnet_timeout; /* 4.096 us * 2^n */
};

/*
 * All zero before: closed. 0 or negative errno; -EOPNOTSUPP: the kernel has no ib_umad, -ENXIO:
 * that does not have the port.
 */
int verbs_sa_open(struct verbs_sa *sa, struct verbs_transport *transport, const char *device,
		  uint8_t port);
/* All that is under way fails with `status`, a negative errno. Closed ones are left alone. */
void verbs_sa_close(struct verbs_sa *sa, int status);
/*
 * What was asked so far went to an SA that is gone: the kernel is to forget it now, for what it
 * waits for keeps others from going out. What is under way fails with -ECANCELED.
 */
void verbs_sa_renew(struct verbs_sa *sa);
bool verbs_sa_is_open(const struct verbs_sa *sa);

/* As acm_transport_ops.sa_send(). */
int verbs_sa_send(struct verbs_sa *sa, const struct verbs_sa_place *place, uint16_t pkey_index,
		  const uint8_t *mad, uint64_t cookie);
/* Whether there was such a transaction under way. */
bool verbs_sa_cancel(struct verbs_sa *sa, uint64_t cookie);

#endif
