/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A start-up storm: where nothing is cached yet every node asks for every other in one moment, and
 * one of them is dead; then the same where one node asks alone. Each with engines as they are and
 * with engines that decide as ibacm does, on the same fabric in virtual time: packets and the SA
 * take time, processors do not.
 */
#include "builtin_control.h"
#include "clock.h"
#include "fabric.h"
#include "figures.h"
#include "population.h"
#include "sa_faults.h"

#include <acmite/driver.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_DEFAULT 256
#define NODES_MIN     3
#define NODES_MAX     648
#define PATIENCE      (600 * ACM_NSEC_PER_SEC) /* of virtual time, for the memberships */
/* As OpenSM on ibsim was measured: a path record alone takes 130 us, many at once 30 us each. */
#define SA_SERVICE (30 * ACM_NSEC_PER_USEC)
#define SA_LATENCY (100 * ACM_NSEC_PER_USEC)

struct storm {
	struct sim_topology *topology;
	struct sim_control *control; /* behind the one that judges requests */
	struct sim_fabric *fabric;
	struct sim_population *population;
	uint32_t dead; /* node index */
	uint64_t now;
	uint64_t sa_free; /* when the SA is done with what it has */
	uint64_t begun;
	uint64_t expected; /* answers */
	uint64_t found, failed;
	uint64_t last_found, last_answer;
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_storm: %s\n", what);
	exit(EXIT_FAILURE);
}

/* The SA serves one request after the other. */
static void serve(void *context, const struct sim_sa_query *query, struct sim_sa_verdict *verdict)
{
	struct storm *storm = context;

	if (storm->sa_free < query->time)
		storm->sa_free = query->time;
	storm->sa_free += SA_SERVICE;
	verdict->delay = storm->sa_free - query->time;
}

static void take_reply(void *context, const struct acm_reply *reply)
{
	struct storm *storm = context;

	storm->last_answer = storm->now;
	if (reply->status == ACM_STATUS_OK) {
		storm->found++;
		storm->last_found = storm->now;
	} else {
		storm->failed++;
	}
}

/* ---- the fabric ---- */

static struct sim_topology *fat_tree(uint32_t nodes)
{
	struct sim_topology *topology;
	struct sim_errors errors = {0};
	char text[256];
	int length = snprintf(text, sizeof(text),
			      "fabric: storm\n"
			      "generate: { kind: fat-tree, radix: 36, levels: 2, hosts: %u,\n"
			      "            addresses: [ \"{name}\" ] }\n",
			      nodes);

	check(!sim_topology_parse("storm", text, (size_t)length, &topology, &errors),
	      errors.count ? errors.lines[0] : "no memory");
	return topology;
}

static void make_fabric(struct storm *storm, uint32_t nodes)
{
	struct sim_builtin_options options;
	struct sim_control *judged;
	char why[256];

	storm->topology = fat_tree(nodes);
	storm->dead = storm->topology->switch_count + nodes / 2;
	sim_builtin_options_default(&options);
	options.sa_latency = SA_LATENCY;
	options.sa_window = UINT32_MAX;
	check(!sim_builtin_control_create(storm->topology, &options, &storm->control, why,
					  sizeof(why)),
	      why);
	check(!sim_sa_faults_create(storm->control, serve, storm, &judged) &&
		      !sim_fabric_create(storm->topology, judged, 1, &storm->fabric) &&
		      !sim_population_create(storm->topology, storm->fabric, &storm->population),
	      "the fabric cannot be made");
}

/* Whoever has a daemon; the dead one has none, though its port is up. */
static void start_nodes(struct storm *storm, enum acm_compat compat)
{
	const struct acm_driver_hooks hooks = {.reply = take_reply, .context = storm};
	struct acm_engine_config config;

	acm_engine_config_default(&config);
	config.trace_mask = 0;
	config.compat = compat;
	for (uint32_t i = storm->topology->switch_count; i < storm->topology->node_count; i++) {
		struct sim_resident *resident;

		if (i == storm->dead)
			continue;
		check(!sim_population_add(storm->population, storm->topology->nodes[i].name,
					  &config, &hooks, storm->now, &resident) &&
			      !sim_resident_add_addresses(resident, storm->now),
		      "a node cannot be started");
	}
}

static void destroy(struct storm *storm)
{
	sim_population_destroy(storm->population);
	sim_fabric_destroy(storm->fabric);
	sim_topology_free(storm->topology);
}

/* ---- time ---- */

static uint64_t next_time(const struct storm *storm)
{
	uint64_t fabric = sim_fabric_deadline(storm->fabric);
	uint64_t population = sim_population_deadline(storm->population);

	return fabric < population ? fabric : population;
}

/* All that happens now; then time goes on to what comes next. */
static void go_on(struct storm *storm)
{
	uint64_t next;

	do {
		check(!sim_fabric_process(storm->fabric, storm->now) &&
			      !sim_population_run(storm->population, storm->now),
		      "the fabric is gone");
		next = next_time(storm);
	} while (next <= storm->now);
	check(next != ACM_NEVER || storm->found + storm->failed == storm->expected,
	      "requests are not answered");
	if (next != ACM_NEVER)
		storm->now = next;
}

static void wait_for_memberships(struct storm *storm)
{
	const struct sim_subnet *subnet = sim_builtin_subnet(storm->control);

	while (sim_population_unready(storm->population, NULL) ||
	       sim_subnet_deadline(subnet) != ACM_NEVER) {
		check(storm->now < PATIENCE, "the nodes' memberships do not come");
		go_on(storm);
	}
}

/* ---- the storm ---- */

static void ask_for_all(struct storm *storm, struct sim_resident *resident)
{
	const struct sim_topology *topology = storm->topology;
	struct acm_request request = {.kind = ACM_REQUEST_RESOLVE, .opcode = ACM_OPCODE_RESOLVE};
	const struct acm_event event = {
		.type = ACM_EVENT_REQUEST, .time = storm->now, .request = &request};

	for (uint32_t to = topology->switch_count; to < topology->node_count; to++) {
		if (to == sim_resident_node(resident))
			continue;
		request.id = to;
		request.destination = topology->nodes[to].addresses[0];
		storm->expected++;
		check(!sim_resident_step(resident, &event), "an engine refuses a request");
	}
}

static void break_loose(struct storm *storm, uint32_t askers)
{
	storm->begun = storm->now;
	for (uint32_t i = 0; i < askers; i++) {
		struct sim_resident *resident = sim_population_resident(
			storm->population, storm->topology->switch_count + i);

		if (resident)
			ask_for_all(storm, resident);
	}
	while (storm->found + storm->failed < storm->expected)
		go_on(storm);
}

static uint64_t count(const struct storm *storm, enum acm_counter counter)
{
	uint64_t sum = 0;

	for (uint32_t i = storm->topology->switch_count; i < storm->topology->node_count; i++) {
		struct sim_resident *resident = sim_population_resident(storm->population, i);
		struct acm_engine_stats stats;

		if (!resident)
			continue;
		acm_engine_stats(sim_resident_engine(resident), &stats);
		sum += stats.counters[counter];
	}
	return sum;
}

struct outcome {
	double last_found;  /* s after the first request */
	double last_answer; /* s, those for the dead node included */
	double sa_queries;
	double multicasts;
	double overrun; /* copies lost at full receive queues */
	double wall;    /* s */
};

static struct outcome run(uint32_t nodes, uint32_t askers, enum acm_compat compat)
{
	uint64_t wall = clock_now(CLOCK_MONOTONIC);
	struct storm storm = {0};
	struct sim_fabric_stats before, after;
	struct outcome outcome;

	make_fabric(&storm, nodes);
	start_nodes(&storm, compat);
	wait_for_memberships(&storm);
	sim_fabric_stats(storm.fabric, &before);
	break_loose(&storm, askers);
	check(storm.failed == (askers < nodes ? askers : nodes - 1),
	      "a node that lives is not found");
	sim_fabric_stats(storm.fabric, &after);
	outcome.last_found = (double)(storm.last_found - storm.begun) / ACM_NSEC_PER_SEC;
	outcome.last_answer = (double)(storm.last_answer - storm.begun) / ACM_NSEC_PER_SEC;
	outcome.sa_queries = (double)count(&storm, ACM_COUNTER_ROUTE_QUERY);
	outcome.multicasts = (double)count(&storm, ACM_COUNTER_MULTICASTS);
	outcome.overrun =
		(double)(after.dropped[SIM_DROP_NO_BUFFER] - before.dropped[SIM_DROP_NO_BUFFER]);
	destroy(&storm);
	outcome.wall = (double)(clock_now(CLOCK_MONOTONIC) - wall) / ACM_NSEC_PER_SEC;
	return outcome;
}

static void print(const char *load, const char *figure, const char *unit, double ours,
		  double theirs)
{
	char name[128];

	snprintf(name, sizeof(name), "%s, %s: acmite", load, figure);
	figures_print(name, ours, unit, "");
	snprintf(name, sizeof(name), "%s, %s: as ibacm", load, figure);
	figures_print(name, theirs, unit, "");
}

static void measure(uint32_t nodes, uint32_t askers, const char *load)
{
	const struct outcome ours = run(nodes, askers, ACM_COMPAT_NONE);
	const struct outcome theirs = run(nodes, askers, ACM_COMPAT_IBACM);

	print(load, "last found", "s", ours.last_found, theirs.last_found);
	print(load, "last answer", "s", ours.last_answer, theirs.last_answer);
	print(load, "SA queries", "", ours.sa_queries, theirs.sa_queries);
	print(load, "multicasts", "", ours.multicasts, theirs.multicasts);
	print(load, "copies overrun", "", ours.overrun, theirs.overrun);
	print(load, "real time", "s", ours.wall, theirs.wall);
}

int main(int argc, char **argv)
{
	long nodes = argc > 1 ? strtol(argv[1], NULL, 10) : NODES_DEFAULT;
	char load[64];

	if (argc > 2 || nodes < NODES_MIN || nodes > NODES_MAX) {
		fprintf(stderr, "usage: bench_storm [NODES], from %d to %d\n", NODES_MIN,
			NODES_MAX);
		return 2;
	}
	snprintf(load, sizeof(load), "%ld nodes, one dead, all ask", nodes);
	measure((uint32_t)nodes, (uint32_t)nodes, load);
	snprintf(load, sizeof(load), "%ld nodes, one dead, one asks", nodes);
	measure((uint32_t)nodes, 1, load);
	return EXIT_SUCCESS;
}
