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
	/* The rest is rare, or wrong. */
	static const bool drops[SIM_DROP_COUNT] = {
		[SIM_DROP_NO_ROUTE] = true, [SIM_DROP_LINK] = true,  [SIM_DROP_LOSS] = true,
		[SIM_DROP_PKEY] = true,     [SIM_DROP_NO_QP] = true, [SIM_DROP_NO_BUFFER] = true,
	};
	static const bool answers[SIM_STATUSES] = {
		[ACM_STATUS_OK] = true,        [ACM_STATUS_NO_MEMORY] = true,
		[ACM_STATUS_NO_DATA] = true,   [ACM_STATUS_NOT_CONNECTED] = true,
		[ACM_STATUS_TIMED_OUT] = true, [ACM_STATUS_SOURCE_ADDRESS] = true,
	};

	if (sighting < SIM_SEEN_DROPS)
		return sighting != ACM_COUNTER_UNATTENDED;
	if (sighting < SIM_SEEN_STATUSES)
		return drops[sighting - SIM_SEEN_DROPS];
	if (sighting < SIM_SEEN_FAULTS)
		return answers[sighting - SIM_SEEN_STATUSES];
	sighting -= SIM_SEEN_FAULTS;
	return sighting == SIM_FAULT_PKEY || (sim_faults_drawn >> sighting & 1);
}
