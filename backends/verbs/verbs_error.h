/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What libibverbs returns, as this project has it. */
#ifndef ACMITE_VERBS_ERROR_H
#define ACMITE_VERBS_ERROR_H

#include <errno.h>

/* The library returns an errno or, in places, -1 and sets it. 0 or negative errno. */
static inline int verbs_error(int result)
{
	if (!result)
		return 0;
	return result < 0 ? -errno : -result;
}

#endif
