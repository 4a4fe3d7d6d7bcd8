/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scenario files without their first line: the fabric is always the same one. */
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

static const char topology[] = "topology: ../two-tier.yaml\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = sizeof(topology) - 1;
	char *text = malloc(length + size);
	struct sim_scenario *scenario;
	struct sim_errors errors;

	if (!text)
		abort();
	memcpy(text, topology, length);
	if (size)
		memcpy(text + length, data, size);
	if (sim_scenario_parse(SOURCE_DIR "/topologies/scenarios/s.yaml", text, length + size,
			       &scenario, &errors))
		sim_errors_free(&errors);
	else
		sim_scenario_free(scenario);
	free(text);
	return 0;
}
