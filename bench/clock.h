/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_BENCH_CLOCK_H
#define ACMITE_BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of any clock: CLOCK_MONOTONIC, a process's, this thread's. */
uint64_t clock_now(clockid_t clock);

#endif
