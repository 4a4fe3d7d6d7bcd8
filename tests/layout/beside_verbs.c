/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acmite's header with the distribution's others, in the order that acm.h documents and, as far as
 * verbs.h goes, in the other: it is enough that this compiles.
 */
#ifdef ACM_FIRST
#include <infiniband/acm.h>
#include <infiniband/verbs.h>
#include <infiniband/sa.h>
#else
#include <infiniband/verbs.h>
#include <infiniband/sa.h>
#include <infiniband/acm.h>
#endif

_Static_assert(sizeof(struct ibv_path_record) == ACM_MAX_ADDRESS, "a path fills an info field");
_Static_assert(sizeof(((struct ibv_path_record *)0)->dgid) == sizeof(union ibv_gid),
	       "a GID is a GID");
