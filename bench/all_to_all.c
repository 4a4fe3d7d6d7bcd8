/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every host asks for the name of every other, one after the other, each beginning with its
 * neighbour, all hosts at the same time: in virtual time, on one processor.
 */
#include "clock.h"
#include "figures.h"
#include "virtual_fabric.h"

#include <stdio.h>
#include <stdlib.h>

#define AIMED_AT 2048u
/*
 * ns between the hosts' first questions. What 2,048 hosts multicast in one nanosecond would be more
 * than their 1,024 receive buffers hold.
 */
#define STAGGER 1000

static void resolve_all(struct virtual_fabric *virtual)
{
	uint32_t count = virtual->host_count, begun = 0;
	uint64_t left = (uint64_t)count * (count - 1), start = virtual->now;

	while (left) {
		uint64_t next = begun < count ? start + (uint64_t)begun * STAGGER : ACM_NEVER;
		uint32_t at;

		if (next <= virtual->now) {
			virtual_fabric_ask(virtual, begun, (begun + 1) % count);
			begun++;
		}
		while ((at = virtual_fabric_answered(virtual)) != SIM_NONE) {
			uint32_t asked = virtual->hosts[at].asked;

			left--;
			if (asked < count - 1)
				virtual_fabric_ask(virtual, at, (at + asked + 1) % count);
		}
		if (left)
			virtual_fabric_step(virtual, next);
	}
}

static void print(const char *what, uint32_t count, double value, const char *unit, const char *aim)
{
	char name[80];

	snprintf(name, sizeof(name), "all to all, %u hosts: %s", count, what);
	figures_print(name, value, unit, count == AIMED_AT ? aim : "");
}

static void measure(uint32_t count)
{
	uint64_t begin = clock_now(CLOCK_MONOTONIC), ready, end;
	double pairs = (double)count * (count - 1);
	struct acm_engine_config config;
	struct virtual_fabric virtual;
	char text[512];

	snprintf(text, sizeof(text),
		 "fabric: all-to-all\n"
		 "generate:\n"
		 "  kind: fat-tree\n"
		 "  radix: 64\n"
		 "  hosts: %u\n"
		 "  addresses: [ \"{name}\" ]\n",
		 count);
	virtual_fabric_init(&virtual, virtual_fabric_topology(text));
	acm_engine_config_default(&config);
	config.trace_mask = 0;
	virtual_fabric_populate(&virtual, &config);
	ready = clock_now(CLOCK_MONOTONIC);
	resolve_all(&virtual);
	end = clock_now(CLOCK_MONOTONIC);
	virtual_fabric_check(!virtual_fabric_failures(&virtual), "a name was not resolved");
	print("wall time", count, (double)(end - begin) / ACM_NSEC_PER_SEC, "s", "<= 60");
	print("of it until all are ready", count, (double)(ready - begin) / ACM_NSEC_PER_SEC, "s",
	      "");
	print("wall time for each name", count, (double)(end - ready) / 1000 / pairs, "us", "");
	print("multicasts for each name", count,
	      (double)virtual_fabric_counter(&virtual, ACM_COUNTER_MULTICASTS) / pairs, "", "");
	print("memory at its peak", count, virtual_fabric_peak_mb(), "MB", "");
	virtual_fabric_fini(&virtual);
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

	if (count < 2 || count > AIMED_AT) {
		fprintf(stderr, "Usage: bench_all_to_all HOSTS, from 2 to %u\n", AIMED_AT);
		return EXIT_FAILURE;
	}
	measure((uint32_t)count);
	return EXIT_SUCCESS;
}
