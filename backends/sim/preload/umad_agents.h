/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opened ports of libibumad and the agents registered at them. A port is known by the descriptor
 * of its inbox.
 */
#ifndef PRELOAD_UMAD_AGENTS_H
#define PRELOAD_UMAD_AGENTS_H

#include <infiniband/umad.h>
#include "attachment.h"
#include "inbox.h"

struct preload_transaction;

struct preload_agent {
	bool used;
	uint8_t management_class;
	uint8_t class_version;
	uint32_t oui;        /* of vendors' classes of the second range */
	uint64_t methods[2]; /* that it would serve, a bit each */
	uint32_t tid_high;   /* of all its transaction ids */
};

struct preload_umad_port {
	struct preload_attachment *attachment;
	uint32_t index; /* from 0 */
	struct preload_inbox inbox;
	struct preload_agent agents[UMAD_CA_MAX_AGENTS];
	struct preload_transaction *transactions;
	struct preload_umad_port *next;
};

/* What waits in an inbox. */
struct preload_received_mad {
	struct preload_item item;
	uint32_t length; /* of the MAD */
	struct ib_user_mad *umad;
};

/* All want the lock. */

/* As umad_open_port(). */
int preload_umad_open(struct preload_attachment *attachment, const char *name, int number);
/* NULL: `fd` is none. */
struct preload_umad_port *preload_umad_port(int fd);
/* The first of all attachments' opened ports; NULL. */
struct preload_umad_port *preload_umad_ports(void);
/* Whoever comes when all are read gets `error`, a positive errno. */
void preload_umad_end_all(struct preload_attachment *attachment, int error);

#endif
