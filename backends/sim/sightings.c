/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sightings.h"

#include <acmite/wire.h>
#include <stdio.h>
#include "fault_draw.h"

void sim_sighting_name(uint32_t sighting, char *text, size_t size)
{
	if (sighting < SIM_SEEN_DROPS)
		snprintf(text, size, "%s", acm_counter_name((enum acm_counter)sighting));
	else if (sighting < SIM_SEEN_STATUSES)
		snprintf(text, size, "dropped for %s",
			 sim_drop_name((enum sim_drop)(sighting - SIM_SEEN_DROPS)));
	else if (sighting < SIM_SEEN_FAULTS)
		snprintf(text, size, "answer '%s'",
			 acm_status_text((enum acm_status)(sighting - SIM_SEEN_STATUSES)));
	else
		snprintf(text, size, "fault %s",
			 sim_fault_kind_name((enum sim_fault_kind)(sighting - SIM_SEEN_FAULTS)));
}

bool sim_sighting_is_random(uint32_t sighting)
{
	static const bool seen[SIM_SEEN_FAULTS] = {0};

	if (sighting < SIM_SEEN_FAULTS)
		return seen[sighting];
	sighting -= SIM_SEEN_FAULTS;
	return sighting == SIM_FAULT_PKEY || (sim_faults_drawn >> sighting & 1);
}
