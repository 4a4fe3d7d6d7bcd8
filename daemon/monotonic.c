/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "monotonic.h"

#include <acmite/types.h>
#include <time.h>

uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}
