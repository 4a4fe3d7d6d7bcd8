/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happens to packets on their way: loss, duplication, delay, reordering, corruption, by link,
 * node, group and class of packet. Each rule has random numbers of its own, so that one changes
 * nothing for others.
 */
#ifndef ACMITE_SIM_PACKET_FAULTS_H
#define ACMITE_SIM_PACKET_FAULTS_H

#include "dataplane.h"
#include "sa_faults.h"
#include "scenario.h"

struct sim_packet_rule;

struct sim_packet_faults {
	uint64_t seed;
	uint32_t count;
	uint32_t room;
	struct sim_packet_rule *rules; /* in the order in which they were added */
	uint64_t applied;
};

/* All zero but the seed is empty. */
void sim_packet_faults_free(struct sim_packet_faults *faults);
/* `plan` must stay until it is removed. 0 or -ENOMEM. */
int sim_packet_faults_add(struct sim_packet_faults *faults, const struct sim_fault_plan *plan);
void sim_packet_faults_remove(struct sim_packet_faults *faults, const struct sim_fault_plan *plan);
/* For sim_fabric_set_meddler(). */
void sim_packet_faults_meddler(struct sim_packet_faults *faults, struct sim_meddler *meddler);
/* What becomes of a MAD to the SA, and of its answer: adds to the verdict. */
void sim_packet_faults_judge(struct sim_packet_faults *faults, const struct sim_sa_query *query,
			     struct sim_sa_verdict *verdict);

#endif
