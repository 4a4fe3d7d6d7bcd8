/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

double figures_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void figures_print(const char *name, double value, const char *unit, const char *aim)
{
	/* Four digits are more than the noise leaves. */
	printf("%s\t%.*f\t%s\t%s\n", name, value < 10 ? 3 : value < 1000 ? 1 : 0, value, unit, aim);
	fflush(stdout);
}
