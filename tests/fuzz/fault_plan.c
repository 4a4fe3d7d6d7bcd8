/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One fault, as the command line and attached programs give it. */
#include "scenario.h"

#include "small_fabric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_fault_plan plan;
	struct sim_errors errors;

	if (sim_fault_plan_parse(small_fabric(), (const char *)data, size, &plan, &errors))
		sim_errors_free(&errors);
	else
		sim_fault_plan_free(&plan);
	return 0;
}
