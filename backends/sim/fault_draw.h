/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults that dice decide. */
#ifndef ACMITE_SIM_FAULT_DRAW_H
#define ACMITE_SIM_FAULT_DRAW_H

#include "dice.h"
#include "scenario.h"

#define SIM_FAULT_BIT(kind) (UINT64_C(1) << (kind))

/*
 * Kinds that can be drawn: those that end by themselves or by `duration`, so that all nodes find
 * each other again. The others among enum sim_fault_kind are the ends of these, or need a fabric of
 * their own.
 */
extern const uint64_t sim_faults_drawn;
/* Of these, the ones after which nodes rightly believe what is not so until it expires. */
extern const uint64_t sim_faults_that_mislead;

/*
 * Draws a fault of one of `kinds` (SIM_FAULT_BIT() each, among sim_faults_drawn) that is over
 * `longest` ns after it begins, on a fabric of two hosts or more that all have addresses. False: no
 * memory. The plan is the caller's, for sim_fault_plan_free(), in
 * either case.
 */
bool sim_fault_draw(const struct sim_topology *topology, struct sim_dice *dice, uint64_t kinds,
		    uint64_t longest, struct sim_fault_plan *plan);

#endif
