/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Topology files: what is taken can be written out in every form, and a small one be brought up. */
#include "reread.h"
#include "subnet.h"

/* What is larger takes seconds with sanitizers, and shows nothing else. */
#define WRITTEN_NODES_MAX 2000
#define SWEPT_NODES_MAX   64

static void export_all(const struct sim_topology *topology)
{
	FILE *out = fopen("/dev/null", "w");
	char why[512];

	if (!out)
		abort();
	if (!sim_topology_fits_ibsim(topology, why, sizeof(why)))
		sim_topology_write_ibsim(topology, out);
	sim_topology_write_partitions(topology, out);
	sim_topology_write_dot(topology, out);
	fclose(out);
}

static void bring_up(const struct sim_topology *topology)
{
	struct sim_subnet_options options;
	struct sim_subnet *subnet;
	char why[512];

	sim_subnet_options_default(&options);
	if (!sim_subnet_create(topology, &options, &subnet, why, sizeof(why)))
		sim_subnet_destroy(subnet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_topology *topology;
	struct sim_errors errors;

	if (sim_topology_parse("t.yaml", (const char *)data, size, &topology, &errors)) {
		sim_errors_free(&errors);
		return 0;
	}
	if (topology->node_count <= WRITTEN_NODES_MAX) {
		reread(topology);
		export_all(topology);
	}
	if (topology->node_count <= SWEPT_NODES_MAX)
		bring_up(topology);
	sim_topology_free(topology);
	return 0;
}
