/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rule 4: a node has one SA query and one multicast under way for a destination at most. Looks at
 * the nodes' trace events alone. An inquiry is under way from its first try until the trace says
 * how it ended; of a multicast also until its last try's time is over. A further try continues it,
 * and must leave the one before the time that the options give it.
 */
#ifndef ACMITE_SIM_INQUIRIES_H
#define ACMITE_SIM_INQUIRIES_H

#include <acmite/trace.h>
#include "breach.h"
#include "topology.h"

struct sim_inquiry;

/* What the options give a try until the next one, at least. */
struct sim_patience {
	uint64_t first;  /* ns */
	uint32_t growth; /* each later try has that many times as long as the one before: 1 or 2 */
};

struct sim_inquiries {
	const struct sim_topology *topology;
	struct sim_breach_hook hook;
	struct sim_inquiry *all; /* those under way, and places that are free, in lists */
	uint32_t room;
	uint32_t free;   /* place + 1 of the first free one, 0: none */
	uint32_t *first; /* by node: place + 1 of the latest that is under way, 0: none */
	uint32_t *count; /* by node */
};

/* 0 or -ENOMEM; freed in any case. `topology` must outlive it. */
int sim_inquiries_init(struct sim_inquiries *inquiries, const struct sim_topology *topology,
		       const struct sim_breach_hook *hook);
void sim_inquiries_free(struct sim_inquiries *inquiries);

/* Takes a trace event of a node. False: no memory, and one less is watched. */
bool sim_inquiries_trace(struct sim_inquiries *inquiries, uint32_t node,
			 const struct acm_trace *trace, const struct sim_patience *patience);
/* A node's engine is gone, and its inquiries. */
void sim_inquiries_forget(struct sim_inquiries *inquiries, uint32_t node);

uint32_t sim_inquiries_count(const struct sim_inquiries *inquiries, uint32_t node);
/* When the oldest of a node that is under way began, for an address or (NULL) for whatever;
 * ACM_NEVER. */
uint64_t sim_inquiries_oldest(const struct sim_inquiries *inquiries, uint32_t node,
			      const struct acm_address *address);

#endif
