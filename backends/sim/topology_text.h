/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The small languages inside a topology file's values: patterns, addresses, durations, names. */
#ifndef ACMITE_SIM_TOPOLOGY_TEXT_H
#define ACMITE_SIM_TOPOLOGY_TEXT_H

#include "topology.h"

#define SIM_NODE_NAME_MAX 63

/*
 * Fills in a pattern: {name}, {n}, and {n} with operations from left to right, as in {n-1/256%256}.
 * 0; -EINVAL: `why` says what is wrong; -ENAMETOOLONG: it does not fit in `size` bytes.
 */
int sim_pattern_fill(const char *pattern, const char *name, uint64_t n, char *text, size_t size,
		     char *why, size_t why_size);

/*
 * An address as people write it: digits and dots are IPv4, anything with a colon is IPv6, the rest
 * is a name. -EINVAL: `why` says what was expected.
 */
int sim_address_parse(const char *text, struct acm_address *address, char *why, size_t why_size);

/* "200ns", "1.5us", "2ms", "1s" to nanoseconds; at most 10 s. False: not one. */
bool sim_duration_parse(const char *text, uint64_t *ns);

/* True for 1 to 63 letters, digits, '.', '_' and '-', the first a letter or digit. */
bool sim_node_name_is_valid(const char *name);

#endif
