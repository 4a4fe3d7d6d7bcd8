/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What verbs.h calls by a context's tables and a simulated node has not. */
#ifndef PRELOAD_MISSING_OPERATIONS_H
#define PRELOAD_MISSING_OPERATIONS_H

#include <infiniband/verbs.h>

/*
 * Puts in place of each operation that begins something, and that does not go another way when it
 * is missing, one that says so by its name and fails with EOPNOTSUPP, as verbs.h does.
 */
void preload_miss_operations(struct verbs_context *context);

#endif
