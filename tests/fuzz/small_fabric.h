/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric that what comes from hosts is tried on: made once, and kept. */
#ifndef ACMITE_FUZZ_SMALL_FABRIC_H
#define ACMITE_FUZZ_SMALL_FABRIC_H

#include <stdlib.h>
#include <string.h>

#include "topology.h"

static inline const struct sim_topology *small_fabric(void)
{
	static const char text[] =
		"fabric: small\n"
		"switches: [ { name: \"s[1-2]\", ports: 8 } ]\n"
		"hosts:\n"
		"  - { name: \"n[1-4]\", addresses: [ \"{name}\", \"10.0.0.{n}\" ] }\n"
		"  - { name: d, ports: 2 }\n"
		"links:\n"
		"  - \"n[1-4] -> s[1-2]\"\n"
		"  - { join: \"s1 -- s2\", speed: fdr, count: 2 }\n"
		"  - \"d -- s1\"\n"
		"  - \"d -- s2\"\n"
		"partitions: [ { name: own, pkey: 0x0010, full: n1, limited: n2 } ]\n";
	static struct sim_topology *topology;
	struct sim_errors errors;

	if (!topology && sim_topology_parse("small", text, strlen(text), &topology, &errors))
		abort();
	return topology;
}

#endif
