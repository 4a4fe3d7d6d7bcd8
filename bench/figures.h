/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the programs here tell bench/run what they measured. */
#ifndef ACMITE_BENCH_FIGURES_H
#define ACMITE_BENCH_FIGURES_H

#include <stddef.h>

/* Sorts `values`; the mean of the two in the middle of an even number. `count` at least 1. */
double figures_median(double *values, size_t count);
/*
 * One line on standard output: name, value, unit, aim, separated by tabs. `aim` is "", or ">= N" or
 * "<= N".
 */
void figures_print(const char *name, double value, const char *unit, const char *aim);

#endif
