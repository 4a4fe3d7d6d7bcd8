/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run can see: each counter above zero, each cause of a dropped packet, each status of an
 * answer, each kind of fault. A sweep that never sees some of it does not test what it is for.
 */
#ifndef ACMITE_SIM_SIGHTINGS_H
#define ACMITE_SIM_SIGHTINGS_H

#include "fabric.h"
#include "scenario.h"

#define SIM_STATUSES 16 /* enum acm_status */

enum {
	SIM_SEEN_COUNTERS,
	SIM_SEEN_DROPS = SIM_SEEN_COUNTERS + ACM_COUNTER_COUNT,
	SIM_SEEN_STATUSES = SIM_SEEN_DROPS + SIM_DROP_COUNT,
	SIM_SEEN_FAULTS = SIM_SEEN_STATUSES + SIM_STATUSES,
	SIM_SIGHTINGS = SIM_SEEN_FAULTS + SIM_FAULT_KINDS,
};

/* "evicted", "dropped for no_buffer", "answer 'timed out'", "fault sa_busy". */
void sim_sighting_name(uint32_t sighting, char *text, size_t size);
/* Whether random runs see it, some of a few hundred. */
bool sim_sighting_is_random(uint32_t sighting);

#endif
