/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics as ibnetdiscover and ibsim describe them. */
#include "topology_import.h"

#include "reread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_topology *topology;
	struct sim_errors errors;

	if (sim_topology_import_text("site.txt", (const char *)data, size, &topology, &errors)) {
		sim_errors_free(&errors);
		return 0;
	}
	reread(topology);
	sim_topology_free(topology);
	return 0;
}
