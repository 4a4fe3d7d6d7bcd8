/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <infiniband/acm.h>

#ifndef INFINIBAND_VERBS_H
#error "this is not the distribution's infiniband/acm.h; the include directories are in the wrong order"
#endif

#define TABLE       distribution_layout
#define TABLE_COUNT distribution_layout_count
#include "table.h"
