/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_MONOTONIC_H
#define ACMITE_DAEMON_MONOTONIC_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds: the one clock that the daemon passes to engines and fabric. */
uint64_t monotonic_now(void);

#endif
