/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What nodes were asked, and rule 1: each request gets exactly one answer, within the bound that
 * its node's options imply. None after it was cancelled; none from another node.
 */
#ifndef ACMITE_SIM_REQUEST_LEDGER_H
#define ACMITE_SIM_REQUEST_LEDGER_H

#include "breach.h"
#include "topology.h"

/* A request to a node. */
struct sim_asked {
	uint32_t step; /* of the scenario, or none of them: its owner's business */
	uint32_t node;
	uint32_t target;                   /* node, SIM_NONE: an address */
	uint16_t pkey;                     /* of by GID or LID: partition; 0: the default one */
	uint32_t sought;                   /* of finally: index of its targets; SIM_NONE */
	const struct acm_address *address; /* NULL: it is asked for by GID or LID */
	uint64_t time;
	uint64_t joined;   /* since when its node was asking for it already; or `time` */
	uint64_t due;      /* when it must be answered at the latest */
	uint64_t overruns; /* of receive queues in the fabric, when it was asked */
	uint32_t ahead;    /* what the node was busy with: requests and inquiries */
	bool by_sa;        /* the SA is to be asked whatever is known */
	bool answered;     /* or cancelled */
	bool excused;      /* its node was stopped or paused: no answer is due */
};

struct sim_ledger {
	const struct sim_topology *topology;
	struct sim_breach_hook hook;
	struct sim_asked *asked; /* a request's id is its place, from 1 */
	uint32_t count, room;
	uint32_t oldest;   /* all before it are answered or excused */
	uint32_t open;     /* neither answered nor excused */
	uint32_t *open_of; /* by node */
};

/* 0 or -ENOMEM; freed in any case. `topology` must outlive it. */
int sim_ledger_init(struct sim_ledger *ledger, const struct sim_topology *topology,
		    const struct sim_breach_hook *hook);
void sim_ledger_free(struct sim_ledger *ledger);

/* Its id; 0: no memory. Pointers to others are no longer valid. */
uint32_t sim_ledger_enter(struct sim_ledger *ledger, const struct sim_asked *asked);
/* By id. */
struct sim_asked *sim_ledger_at(const struct sim_ledger *ledger, uint64_t id);
/* The first of a node's from *id on that is not answered, and *id its successor's; NULL: none. */
struct sim_asked *sim_ledger_next(const struct sim_ledger *ledger, uint32_t node, uint32_t *id);

/* It waits for what its node has been asking since `since`. No node asks longer than it may take to
 * answer: what it would have begun before that is not believed. */
void sim_ledger_join(struct sim_ledger *ledger, uint32_t node, uint64_t id, uint64_t since);
/* A node answers. NULL: it breaks the rule, and was told. */
struct sim_asked *sim_ledger_answer(struct sim_ledger *ledger, uint32_t node, uint64_t id,
				    uint64_t now);
/* Its client is gone: an answer from now on is one too many. */
void sim_ledger_cancel(struct sim_ledger *ledger, struct sim_asked *asked);
/* No answer is due for now, ... */
void sim_ledger_excuse(struct sim_ledger *ledger, struct sim_asked *asked);
/* ... and again one is. */
void sim_ledger_expect(struct sim_ledger *ledger, struct sim_asked *asked, uint64_t due);

/* When the oldest is due, ACM_NEVER; and tells when that is past. Each is told once. */
uint64_t sim_ledger_deadline(struct sim_ledger *ledger);
void sim_ledger_check(struct sim_ledger *ledger, uint64_t now);

#endif
