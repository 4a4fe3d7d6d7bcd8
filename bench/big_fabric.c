/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * As many hosts as the LIDs of one subnet allow: loads the fabric, routes it, has an engine on each
 * host join its groups, and resolves random pairs.
 */
#include "clock.h"
#include "figures.h"
#include "virtual_fabric.h"

#include <stdio.h>
#include <stdlib.h>

#define PAIRS 1000
/* Each host learns of everyone that it hears ask, and all hear all: without a bound, GB of it. */
#define BUDGET (64 << 10)

/*
 * Whole pods, near the limit, with a LID for each host and each switch: 44 pods of 1,024 hosts,
 * with 3,840 switches, of the 49,151 LIDs that there are.
 */
static const char largest[] = "fabric: largest\n"
			      "generate:\n"
			      "  kind: fat-tree\n"
			      "  levels: 3\n"
			      "  radix: 64\n"
			      "  hosts: 45056\n"
			      "  addresses: [ \"{name}\" ]\n";

static double seconds_since(uint64_t *time)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	double seconds = (double)(now - *time) / ACM_NSEC_PER_SEC;

	*time = now;
	return seconds;
}

/* Below `limit`; the same in every run. */
static uint32_t draw(uint64_t *state, uint32_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 32) * limit >> 32);
}

static void resolve_pairs(struct virtual_fabric *virtual)
{
	uint64_t state = 1;

	for (int i = 0; i < PAIRS; i++) {
		uint32_t from = draw(&state, virtual->host_count);
		uint32_t to = draw(&state, virtual->host_count);

		virtual_fabric_ask(virtual, from, to);
		while (virtual_fabric_answered(virtual) == SIM_NONE)
			virtual_fabric_step(virtual, ACM_NEVER);
	}
	virtual_fabric_check(!virtual_fabric_failures(virtual), "a name was not resolved");
}

static void print(const char *what, uint32_t hosts, double value, const char *unit, const char *aim)
{
	char name[80];

	snprintf(name, sizeof(name), "largest subnet, %u hosts: %s", hosts, what);
	figures_print(name, value, unit, aim);
}

int main(void)
{
	uint64_t begin = clock_now(CLOCK_MONOTONIC), time = begin;
	struct acm_engine_config config;
	struct virtual_fabric virtual;
	struct sim_topology *topology = virtual_fabric_topology(largest);
	uint32_t hosts = topology->host_count;

	print("loading", hosts, seconds_since(&time), "s", "");
	virtual_fabric_init(&virtual, topology);
	print("routing", hosts, seconds_since(&time), "s", "");
	acm_engine_config_default(&config);
	config.trace_mask = 0;
	config.memory_budget = BUDGET;
	virtual_fabric_populate(&virtual, &config);
	print("an engine on each, all in the group", hosts, seconds_since(&time), "s", "");
	resolve_pairs(&virtual);
	print("1,000 random pairs", hosts, seconds_since(&time), "s", "");
	print("all of this", hosts, seconds_since(&begin), "s", "<= 120");
	print("memory at its peak", hosts, virtual_fabric_peak_mb(), "MB", "<= 8192");
	virtual_fabric_fini(&virtual);
	return EXIT_SUCCESS;
}
