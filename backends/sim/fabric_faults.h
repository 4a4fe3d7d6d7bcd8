/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Brings about what a fault does to a fabric: its links, packets, subnet manager and SA. Nodes, and
 * what runs on them, are not its business: see sim_fault_is_of_nodes(). Under any clock; nothing
 * here waits.
 */
#ifndef ACMITE_SIM_FABRIC_FAULTS_H
#define ACMITE_SIM_FABRIC_FAULTS_H

#include "fabric.h"
#include "packet_faults.h"
#include "sa_faults.h"
#include "scenario.h"

enum sim_control_kind { SIM_UNDER_BUILTIN, SIM_UNDER_IBSIM };

struct sim_recurring;

struct sim_fabric_faults {
	const struct sim_topology *topology;
	struct sim_control *control;
	enum sim_control_kind control_kind;
	struct sim_fabric *fabric;
	struct sim_packet_faults packets;
	const struct sim_fault_plan **sa; /* faults of the SA in force */
	uint32_t sa_count, sa_room;
	struct sim_recurring *recurring; /* what happens again and again */
	uint32_t recurring_count, recurring_room;
	uint64_t seed;
	bool *link_down; /* by link: cut by a fault, now */
	uint32_t sm;     /* node of the subnet manager */
};

/* Faults that are drawn are so from the seed. 0 or -ENOMEM; then there is nothing to free. */
int sim_fabric_faults_init(struct sim_fabric_faults *faults, const struct sim_topology *topology,
			   uint64_t seed);
/* The fabric must be destroyed before, or never be used again. All zero is allowed. */
void sim_fabric_faults_free(struct sim_fabric_faults *faults);

/* A sim_sa_judge for sim_sa_faults_create(); `context` is the faults. Usable from _init() on. */
void sim_fabric_faults_judge(void *context, const struct sim_sa_query *query,
			     struct sim_sa_verdict *verdict);
/*
 * What the others act on, to be told before the first of them: `control` is the one that was made
 * by sim_builtin_control_create() or sim_ibsim_control_create(), not one around it.
 */
void sim_fabric_faults_use(struct sim_fabric_faults *faults, struct sim_control *control,
			   enum sim_control_kind kind, struct sim_fabric *fabric);

/* Whether a kind concerns nodes alone, so that there is nothing for sim_fabric_faults_apply(). */
bool sim_fault_is_of_nodes(enum sim_fault_kind kind);
/* What ibsim's console, OpenSM's process and this project's data plane can bring about. */
bool sim_fault_is_possible(const struct sim_fault_plan *plan, enum sim_control_kind kind);

/*
 * Begins a fault of the fabric at `now`. `plan` must stay until it is undone, or the faults are
 * freed; its duration is the caller's business. 0; or, with a sentence in `why`: -EINVAL: it is of
 * nodes; -ENOTSUP: not under this control; -ENOENT: the fabric has nothing that it could be done
 * to; or another negative errno.
 */
int sim_fabric_faults_apply(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan,
			    uint64_t now, char *why, size_t size);
/* Ends it. What cannot be taken back (groups that were lost) stays as it is. As above. */
int sim_fabric_faults_undo(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan,
			   char *why, size_t size);

/* False while a subnet manager takes over: the fault that made it do so has not ended. */
bool sim_fabric_faults_managed(const struct sim_fabric_faults *faults);

/* When sim_fabric_faults_process() is to be called at the latest; ACM_NEVER. */
uint64_t sim_fabric_faults_deadline(const struct sim_fabric_faults *faults);
/* Does what faults in force do at `now`. 0 or negative errno. */
int sim_fabric_faults_process(struct sim_fabric_faults *faults, uint64_t now);

#endif
