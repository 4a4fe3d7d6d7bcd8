/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A topology that was taken is written out as a file, which is taken too and is as large. */
#ifndef ACMITE_FUZZ_REREAD_H
#define ACMITE_FUZZ_REREAD_H

#include <stdio.h>
#include <stdlib.h>

#include "topology.h"

static inline void reread(const struct sim_topology *topology)
{
	struct sim_topology *again;
	struct sim_errors errors;
	size_t length;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (!out || sim_topology_write_yaml(topology, out) || fclose(out))
		abort();
	if (sim_topology_parse("again", text, length, &again, &errors)) {
		fprintf(stderr, "%s\n%s", errors.count ? errors.lines[0] : "", text);
		abort();
	}
	if (again->node_count != topology->node_count ||
	    again->link_count != topology->link_count ||
	    again->partition_count != topology->partition_count || again->sm != topology->sm)
		abort();
	sim_topology_free(again);
	free(text);
}

#endif
