/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "clock.h"

#include <acmite/types.h>

uint64_t clock_now(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}
