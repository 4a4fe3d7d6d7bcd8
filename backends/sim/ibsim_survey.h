/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the subnet's state by SMPs: a pass reads some attributes of many targets, again and
 * again: at short intervals while changes are likely, at long ones else. Targets are reached by
 * directed routes from the SM's host; one that cannot be reached so is read through an attachment
 * of its own.
 */
#ifndef ACMITE_SIM_IBSIM_SURVEY_H
#define ACMITE_SIM_IBSIM_SURVEY_H

#include "ibsim_pool.h"

#define IBSIM_READINGS 12 /* targets that are read at a time */

struct ibsim_target {
	uint32_t node;  /* in the pool */
	bool reachable; /* `path` leads there from the SM's host */
	uint8_t hops;
	uint8_t path[IBSIM_HOPS_MAX + 1];
};

struct ibsim_pass;

/* One target being read. */
struct ibsim_reading {
	struct ibsim_pass *pass;
	uint32_t target;
	uint32_t place; /* 0 .. IBSIM_READINGS - 1, for what is kept meanwhile */
	uint32_t step;  /* attributes read so far */
	bool active;
	bool nearby;  /* through an attachment of its own */
	bool found;   /* free for the pass's use; false at the beginning */
	bool changed; /* set when something differs from what was known */
	enum ibsim_attribute attribute;
	uint32_t modifier;
};

struct ibsim_pass_ops {
	/* What to read next of the target, by `step`: false when all is read. */
	bool (*next)(void *context, struct ibsim_reading *reading);
	/* Takes the 64 bytes of the attribute. */
	void (*store)(void *context, struct ibsim_reading *reading, const uint8_t *data);
	/* All is read. May set `changed`. May be NULL. */
	void (*complete)(void *context, struct ibsim_reading *reading);
};

struct ibsim_pass {
	const struct ibsim_pass_ops *ops;
	void *context;
	struct ibsim_pool *pool;
	uint32_t sm_node;
	const struct ibsim_target *targets;
	uint32_t count;
	uint32_t next_target;
	uint32_t active;
	bool running;
	bool hinted;      /* since it began */
	bool changed;     /* something, since it began */
	bool seen_change; /* and since ibsim_pass_take_change() */
	uint64_t rounds;  /* finished so far */
	uint64_t now, started, due, interval;
	struct ibsim_reading readings[IBSIM_READINGS];
};

void ibsim_pass_init(struct ibsim_pass *pass, const struct ibsim_pass_ops *ops, void *context,
		     struct ibsim_pool *pool, uint32_t sm_node, const struct ibsim_target *targets,
		     uint32_t count);
/* Changes are likely: look now, and more often for a while. */
void ibsim_pass_hint(struct ibsim_pass *pass);
void ibsim_pass_process(struct ibsim_pass *pass, uint64_t now);
/* ACM_NEVER while it waits for answers. */
uint64_t ibsim_pass_deadline(const struct ibsim_pass *pass);
/* True once after a change. */
bool ibsim_pass_take_change(struct ibsim_pass *pass);

#endif
