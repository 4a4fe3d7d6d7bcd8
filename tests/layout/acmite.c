/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <infiniband/acm.h>

/* The header must stand alone: the distribution's would have brought this one along. */
#ifdef INFINIBAND_VERBS_H
#error "this is not acmite's infiniband/acm.h; the include directories are in the wrong order"
#endif

#define TABLE       acmite_layout
#define TABLE_COUNT acmite_layout_count
#include "table.h"
