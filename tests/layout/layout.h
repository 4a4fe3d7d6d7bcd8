/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a header for the client protocol says, as data: so two headers can be compared in one
 * program. */
#ifndef ACMITE_TESTS_LAYOUT_H
#define ACMITE_TESTS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct layout_entry {
	const char *name;
	uint64_t value;
};

extern const struct layout_entry acmite_layout[];
extern const size_t acmite_layout_count;
extern const struct layout_entry distribution_layout[];
extern const size_t distribution_layout_count;

#endif
