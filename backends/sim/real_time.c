/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "real_time.h"

#include <acmite/types.h>
#include <limits.h>
#include <time.h>

uint64_t sim_real_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

int sim_real_time_left_ms(uint64_t until)
{
	uint64_t now = sim_real_time(), left;

	if (until <= now)
		return 0;
	left = (until - now - 1) / ACM_NSEC_PER_MSEC + 1;
	return left < INT_MAX ? (int)left : INT_MAX;
}
