/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long it takes to resolve a name that is not cached, on a simulated fabric whose SA is OpenSM,
 * against what the fabric itself takes for it: one packet to the group with its answer, and one
 * path record. Two fabrics of the same kind in one process, in turns; on one there are engines on
 * all hosts, on the other nobody.
 */
#include "bare_fabric.h"
#include "clock.h"
#include "figures.h"
#include "population.h"

#include <acmite/driver.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 100
#define PATIENCE   (60 * ACM_NSEC_PER_SEC)

struct inhabited {
	struct sim_fabric *fabric;
	struct sim_population *population;
	struct sim_resident *asker;
	bool answered;
	enum acm_status status;
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_cold_latency: %s\n", what);
	exit(EXIT_FAILURE);
}

static void take_reply(void *context, const struct acm_reply *reply)
{
	struct inhabited *inhabited = context;

	inhabited->answered = true;
	inhabited->status = reply->status;
}

static void process(struct inhabited *inhabited)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);

	check(!sim_fabric_process(inhabited->fabric, now) &&
		      !sim_population_run(inhabited->population, now),
	      "the fabric is gone");
}

static void wait_and_process(struct inhabited *inhabited)
{
	uint64_t fabric = sim_fabric_deadline(inhabited->fabric);
	uint64_t population = sim_population_deadline(inhabited->population);

	bare_fabric_wait(inhabited->fabric, fabric < population ? fabric : population);
	process(inhabited);
}

static void inhabit(struct inhabited *inhabited, const struct sim_topology *topology,
		    const char *node)
{
	const struct acm_driver_hooks hooks = {.reply = take_reply, .context = inhabited};
	uint64_t begin = clock_now(CLOCK_MONOTONIC);
	struct acm_engine_config config;
	uint32_t at;

	inhabited->fabric = bare_fabric_start(topology);
	acm_engine_config_default(&config);
	config.trace_mask = 0;
	check(!sim_population_create(topology, inhabited->fabric, &inhabited->population) &&
		      !sim_population_add(inhabited->population, node, &config, &hooks, begin,
					  &inhabited->asker) &&
		      !sim_resident_add_addresses(inhabited->asker, begin) &&
		      !sim_population_add_others(inhabited->population, &config, begin, &at),
	      "the hosts cannot be started");
	while (sim_population_unready(inhabited->population, NULL)) {
		check(clock_now(CLOCK_MONOTONIC) - begin < PATIENCE,
		      "the hosts' memberships do not come");
		wait_and_process(inhabited);
	}
}

/* False: it was not answered with success, as before all of the group's tables are set. */
static bool resolve(struct inhabited *inhabited, const struct sim_node *node, uint64_t *latency)
{
	struct acm_request request = {.id = 1,
				      .kind = ACM_REQUEST_RESOLVE,
				      .opcode = ACM_OPCODE_RESOLVE,
				      .destination = node->addresses[0]};
	struct acm_event reload = {.type = ACM_EVENT_RELOAD, .time = clock_now(CLOCK_MONOTONIC)};
	struct acm_event event = {.type = ACM_EVENT_REQUEST, .request = &request};
	uint64_t begin;

	check(!sim_resident_step(inhabited->asker, &reload), "the engine refuses a reload");
	process(inhabited);
	inhabited->answered = false;
	begin = clock_now(CLOCK_MONOTONIC);
	event.time = begin;
	check(!sim_resident_step(inhabited->asker, &event), "the engine refuses a request");
	while (!inhabited->answered)
		wait_and_process(inhabited);
	*latency = clock_now(CLOCK_MONOTONIC) - begin;
	return inhabited->status == ACM_STATUS_OK;
}

static void measure(const struct sim_topology *topology, size_t rounds)
{
	size_t count = 0;
	size_t size = rounds * topology->host_count;
	double *values[4];
	uint32_t from = topology->switch_count;
	struct inhabited inhabited = {0};
	struct bare_fabric *bare;
	uint64_t cold;

	for (size_t i = 0; i < 4; i++)
		check((values[i] = calloc(size, sizeof(double))), "no memory");
	while (!topology->nodes[from].address_count)
		from++;
	bare = bare_fabric_create(topology);
	inhabit(&inhabited, topology, topology->nodes[from].name);
	for (size_t round = 0; round < rounds + 1; round++) {
		for (uint32_t to = from + 1; to < topology->node_count; to++) {
			double packet, sa;

			if (!topology->nodes[to].address_count)
				continue;
			check(resolve(&inhabited, &topology->nodes[to], &cold),
			      "a host cannot be resolved");
			process(&inhabited);
			bare_fabric_idle(bare);
			packet = (double)bare_fabric_ask_group(bare, from, to);
			bare_fabric_idle(bare);
			sa = (double)bare_fabric_ask_sa(bare, from, to);
			if (!round)
				continue; /* warms up, and waits for the last tables */
			values[0][count] = (double)cold / (packet + sa);
			values[1][count] = (double)cold / 1000;
			values[2][count] = packet / 1000;
			values[3][count++] = sa / 1000;
		}
	}
	figures_print("cold: of the bare round trips' sum", figures_median(values[0], count), "",
		      "");
	figures_print("cold: resolution of a name", figures_median(values[1], count), "us", "");
	figures_print("cold: bare packet and answer", figures_median(values[2], count), "us", "");
	figures_print("cold: bare path record", figures_median(values[3], count), "us", "");
	sim_population_destroy(inhabited.population);
	sim_fabric_destroy(inhabited.fabric);
	bare_fabric_destroy(bare);
	for (size_t i = 0; i < 4; i++)
		free(values[i]);
}

int main(int argc, char **argv)
{
	struct sim_topology *topology;
	struct sim_errors errors = {0};
	size_t rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "Usage: bench_cold_latency TOPOLOGY ROUNDS\n");
		return EXIT_FAILURE;
	}
	if (sim_topology_load(argv[1], &topology, &errors)) {
		fprintf(stderr, "bench_cold_latency: %s\n",
			errors.count ? errors.lines[0] : "no memory");
		return EXIT_FAILURE;
	}
	measure(topology, rounds);
	sim_topology_free(topology);
	return EXIT_SUCCESS;
}
