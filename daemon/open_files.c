/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "open_files.h"

#include <sys/resource.h>

/* Log, sockets, event loop, ibsim's attachments. */
#define KEPT_BACK 128

uint32_t open_files_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > UINT32_MAX)
		return UINT32_MAX;
	if (limit.rlim_cur > 2 * KEPT_BACK)
		return (uint32_t)limit.rlim_cur - KEPT_BACK;
	return limit.rlim_cur > 2 ? (uint32_t)limit.rlim_cur / 2 : 1;
}
