/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock of what runs in real time: servers, controls that are other programs, and who waits. */
#ifndef ACMITE_SIM_REAL_TIME_H
#define ACMITE_SIM_REAL_TIME_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t sim_real_time(void);

/* Milliseconds from now to `until`, rounded up, for poll(): from 0 to INT_MAX. */
int sim_real_time_left_ms(uint64_t until);

#endif
