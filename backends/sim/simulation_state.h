/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the simulation share. */
#ifndef ACMITE_SIM_SIMULATION_STATE_H
#define ACMITE_SIM_SIMULATION_STATE_H

#include "builtin_control.h"
#include "disturbances.h"
#include "fabric_faults.h"
#include "hindrances.h"
#include "inquiries.h"
#include "invariants.h"
#include "memberships.h"
#include "population.h"
#include "request_ledger.h"
#include "simulation.h"

struct simulation;

/* Of each host; the context of its hooks. */
struct sim_host {
	struct simulation *simulation;
	uint32_t node;
	uint64_t bound;               /* ns in which it answers each request */
	struct sim_patience patience; /* of its tries */
	bool was_paused;
	uint64_t resumed; /* the last time */
};

#define SIM_STEP_NONE UINT32_MAX
/* In which the fabric becomes ready, or another subnet manager takes over: else a rule is broken.
 */
#define SIM_READY_MOST (120 * ACM_NSEC_PER_SEC)

/* What all nodes are to find in the end. */
struct sim_target {
	uint32_t node; /* that holds the address */
	struct acm_address address;
};

/* A step that has begun. */
struct sim_progress {
	bool done;
	bool skipped;
	uint32_t outstanding;
	uint32_t wrong;
	uint64_t begun;
	uint64_t sa_queries;
	uint64_t multicasts;
	uint64_t statuses[16];
	uint64_t late_most; /* ns by which an answer was late, as it is allowed to be */
	char first_wrong[SIM_CAME_SIZE - 64];
};

enum sim_due_kind { SIM_DUE_STEP, SIM_DUE_UNDO, SIM_DUE_CANCEL, SIM_DUE_FAULT, SIM_DUE_DRAWN };

struct sim_due {
	uint64_t time;
	uint64_t sequence;
	enum sim_due_kind kind;
	uint32_t index; /* step or request */
	const struct sim_fault_plan *plan;
};

struct sim_source_search {
	uint32_t node;
	uint64_t cookie;
	uint8_t type;
};

/* To a node that is paused. */
struct sim_deferred {
	uint32_t node;
	struct acm_request request;
};

struct simulation {
	const struct sim_scenario *scenario;
	const struct sim_run_options *options;
	struct sim_guards guards; /* those of the options, or the usual ones */
	const struct sim_topology *topology;
	struct sim_run_result *result;
	struct sim_control *control; /* the fabric's, behind the SA's faults */
	struct sim_fabric *fabric;
	struct sim_population *population;
	struct sim_host *hosts; /* by node */
	struct sim_invariants invariants;
	int error;
	uint64_t now;
	uint64_t start;
	uint64_t origin; /* time zero of the steps */
	bool begun;
	uint64_t tables_seen, settles_at; /* under ibsim, before it has begun */
	bool *connected;                  /* by node, under ibsim, while it is asked who is well */
	uint64_t longest_way;             /* ns that a packet was on its way, at most */
	uint64_t allowance;  /* ns that answers may be late: processes share a machine */
	uint64_t managed_by; /* when a subnet manager must have taken over; 0: there is one */
	/* What is to come: a binary heap would do no better for so few. Sorted, the next one last.
	 */
	struct sim_due *due;
	uint32_t due_count, due_room;
	uint64_t due_sequence;
	struct sim_ledger ledger;
	struct sim_inquiries inquiries;
	struct sim_disturbances disturbances;
	struct sim_hindrances hindrances;
	struct sim_memberships memberships;
	bool was_ready;                /* all were at one time, and the switches knew of them */
	struct sim_progress *progress; /* by step */
	struct sim_source_search *searches;
	uint32_t search_count, search_room;
	struct sim_deferred *deferred;
	uint32_t deferred_count, deferred_room;
	/* faults */
	struct sim_fabric_faults fabric_faults;
	struct sim_fault_plan *drawn; /* random faults */
	uint32_t drawn_count;
	uint64_t workload_key;
	const char
		*skips; /* why expectations are skipped from now on, static; NULL: they are not */
	/* finally */
	bool in_finally, finally_done;
	uint64_t finally_end;
	uint64_t next_round;
	struct sim_target *targets;
	uint32_t target_count;
	uint64_t *pairs; /* still to hold: asking node << 32 | target */
	uint32_t pair_count, pair_next, pair_total;
	uint32_t pairs_open;
	uint32_t failed_count; /* at the front of pairs: those that failed in this round */
	char finally_wrong[SIM_CAME_SIZE];
};

/* Nanoseconds since time zero. */
static inline uint64_t simulation_time(const struct simulation *simulation)
{
	return simulation->now - (simulation->begun ? simulation->origin : simulation->start);
}

/* Grows an array of `size` bytes each so that one more fits. False: no memory, which ends the run.
 */
bool simulation_grow(struct simulation *simulation, void *array, uint32_t count, uint32_t *room,
		     size_t size);
void simulation_schedule(struct simulation *simulation, struct sim_due due);
struct sim_outcome *simulation_outcome(struct simulation *simulation, enum sim_verdict verdict);
/* A rule is broken: once is enough for each rule and run. */
void simulation_broken(struct simulation *simulation, const char *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const char *simulation_node_name(const struct simulation *simulation, uint32_t node);

/* simulation_control.c */
/* Makes the control, and the fabric on it, whose control is one around ours: it brings about the
 * faults of the SA. 0, or negative errno with a sentence in `why`. */
int simulation_make_fabric(struct simulation *simulation, char *why, size_t size);
/* False while a subnet manager is on its way. When none comes, that breaks a rule, and it is true.
 */
bool simulation_is_managed(struct simulation *simulation);

/* simulation_requests.c */
/* The first address of `type`, 0: of any. NULL: it has none. */
const struct acm_address *simulation_address_of(const struct sim_node *node, uint8_t type);
void simulation_begin_resolve(struct simulation *simulation, uint32_t step);
/* Asks `node` for `target` by its first address. False: it cannot be asked. */
bool simulation_ask_pair(struct simulation *simulation, uint32_t node, uint32_t target);
/* Asks `node` for one of the targets of finally. False as above. */
bool simulation_ask_target(struct simulation *simulation, uint32_t node, uint32_t target);
void simulation_cancel(struct simulation *simulation, uint32_t request);
/* The node reads again what came meanwhile. */
void simulation_deliver_deferred(struct simulation *simulation, uint32_t node);
/* Nobody waits for what this node was asked. */
void simulation_excuse(struct simulation *simulation, uint32_t node);
void simulation_reply(void *context, const struct acm_reply *reply);
void simulation_trace(void *context, const struct acm_trace *trace);

/* simulation_bounds.c */
/* ns that a node may have remembered who held an address when it began to ask. As ibacm it also
 * believes a route that is left when nobody answers for the address. */
uint64_t simulation_memory_of(const struct simulation *simulation, const struct sim_asked *asked);
void simulation_set_guards(struct simulation *simulation);
/* Tells, and returns true, when the run is beyond one of them. */
bool simulation_is_beyond(struct simulation *simulation, const struct sim_fabric_stats *stats);
void simulation_set_bounds(struct simulation *simulation);

/* simulation_health.c */
/* Whether the switches know of all members. */
bool simulation_is_settled(struct simulation *simulation);
/* A fault of the fabric has begun or ended: the manager is yet to see it. */
void simulation_unsettle(struct simulation *simulation);
/* Looks after the nodes to which something has happened. */
void simulation_heal(struct simulation *simulation);

/* simulation_ways.c */
void simulation_watch_ways(struct simulation *simulation);

/* simulation_verdicts.c */
void simulation_judge_answer(struct simulation *simulation, const struct sim_asked *asked,
			     const struct acm_reply *reply);
void simulation_finish_step(struct simulation *simulation, uint32_t step);
void simulation_check_step(struct simulation *simulation, uint32_t step);

/* simulation_faults.c */
void simulation_fault_step(struct simulation *simulation, uint32_t step);
/* One that was drawn; one that cannot be brought about is told as skipped. */
void simulation_drawn_fault(struct simulation *simulation, const struct sim_fault_plan *plan);
void simulation_undo(struct simulation *simulation, const struct sim_fault_plan *plan);
int simulation_add_host(struct simulation *simulation, uint32_t node);

/* simulation_draw.c */
/* Schedules random faults, and requests to meet them. */
void simulation_draw_faults(struct simulation *simulation);
void simulation_ask_drawn(struct simulation *simulation, uint32_t drawn);

/* simulation_searches.c */
void simulation_find_source(void *context, uint64_t cookie, const struct acm_address *destination);
void simulation_answer_searches(struct simulation *simulation);

/* simulation_sightings.c */
void simulation_note_sightings(struct simulation *simulation);

/* simulation_finally.c */
/* Marks all nodes that links which are up join with the subnet manager. False: no memory. */
bool simulation_mark_connected(const struct simulation *simulation, bool *connected);
void simulation_begin_finally(struct simulation *simulation);
void simulation_run_finally(struct simulation *simulation);
void simulation_pair_answered(struct simulation *simulation, const struct sim_asked *asked,
			      const struct acm_reply *reply);

#endif
