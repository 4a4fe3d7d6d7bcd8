/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "virtual_fabric.h"

#include "builtin_control.h"

#include <acmite/driver.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void virtual_fabric_check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench: %s\n", what);
	exit(EXIT_FAILURE);
}

static void check(bool good, const char *what)
{
	virtual_fabric_check(good, what);
}

/* ---- making and ending ---- */

struct sim_topology *virtual_fabric_topology(const char *text)
{
	struct sim_topology *topology = NULL;
	struct sim_errors errors = {0};
	int error = sim_topology_parse("bench", text, strlen(text), &topology, &errors);

	check(!error, errors.count ? errors.lines[0] : "no memory");
	return topology;
}

void virtual_fabric_init(struct virtual_fabric *virtual, struct sim_topology *topology)
{
	struct sim_builtin_options options;
	char why[1024];

	*virtual = (struct virtual_fabric){.topology = topology,
					   .host_count = topology->host_count};
	sim_builtin_options_default(&options);
	/* A driver whose request is refused takes memory for a backlog, which is not what is
	 * measured. */
	options.sa_window = 64 * virtual->host_count;
	check(!sim_builtin_control_create(topology, &options, &virtual->control, why, sizeof(why)),
	      why);
	check(!sim_fabric_create(topology, virtual->control, 1, &virtual->fabric) &&
		      !sim_population_create(topology, virtual->fabric, &virtual->population),
	      "the fabric cannot be made");
	virtual->hosts = calloc(virtual->host_count, sizeof(*virtual->hosts));
	virtual->answered = calloc(virtual->host_count, sizeof(uint32_t));
	check(virtual->hosts && virtual->answered, "no memory");
}

void virtual_fabric_fini(struct virtual_fabric *virtual)
{
	sim_population_destroy(virtual->population);
	sim_fabric_destroy(virtual->fabric);
	sim_topology_free(virtual->topology);
	free(virtual->hosts);
	free(virtual->answered);
}

static void take_reply(void *context, const struct acm_reply *reply)
{
	struct virtual_host *host = context;
	struct virtual_fabric *of = host->of;

	check(!host->answered, "a question was answered twice");
	host->answered = true;
	host->failed += reply->status != ACM_STATUS_OK;
	of->answered[of->answered_count++] = (uint32_t)(host - of->hosts);
}

static void add_host(struct virtual_fabric *virtual, uint32_t at,
		     const struct acm_engine_config *config)
{
	uint32_t node = virtual->topology->switch_count + at;
	struct virtual_host *host = &virtual->hosts[at];
	const struct acm_driver_hooks hooks = {.reply = take_reply, .context = host};

	host->of = virtual;
	check(!sim_population_add(virtual->population, virtual->topology->nodes[node].name, config,
				  &hooks, virtual->now, &host->resident) &&
		      !sim_resident_add_addresses(host->resident, virtual->now),
	      "a host cannot be started");
}

static bool is_ready(const struct virtual_fabric *virtual)
{
	return !sim_population_unready(virtual->population, NULL) &&
	       sim_subnet_deadline(sim_builtin_subnet(virtual->control)) == ACM_NEVER;
}

void virtual_fabric_populate(struct virtual_fabric *virtual, const struct acm_engine_config *config)
{
	for (uint32_t at = 0; at < virtual->host_count; at++)
		add_host(virtual, at, config);
	while (!is_ready(virtual)) {
		check(virtual->now < 60 * ACM_NSEC_PER_SEC, "the hosts' memberships do not come");
		virtual_fabric_step(virtual, ACM_NEVER);
	}
}

/* ---- running ---- */

static uint64_t next_time(const struct virtual_fabric *virtual)
{
	uint64_t fabric = sim_fabric_deadline(virtual->fabric);
	uint64_t population = sim_population_deadline(virtual->population);

	return fabric < population ? fabric : population;
}

void virtual_fabric_step(struct virtual_fabric *virtual, uint64_t most)
{
	uint64_t next;

	do {
		check(!sim_fabric_process(virtual->fabric, virtual->now) &&
			      !sim_population_run(virtual->population, virtual->now),
		      "the fabric cannot go on");
		next = next_time(virtual);
	} while (next <= virtual->now);
	/* Answers may be here already: whoever has one asks on at the time at which it came. */
	if (virtual->answered_count)
		return;
	if (most < next)
		next = most;
	check(next != ACM_NEVER, "nothing is left to happen");
	virtual->now = next;
}

void virtual_fabric_ask(struct virtual_fabric *virtual, uint32_t from, uint32_t to)
{
	struct virtual_host *host = &virtual->hosts[from];
	const struct sim_node *target = &virtual->topology
						 ->nodes[virtual->topology->switch_count + to];
	struct acm_request request = {.id = ++host->asked,
				      .kind = ACM_REQUEST_RESOLVE,
				      .opcode = ACM_OPCODE_RESOLVE,
				      .destination = target->addresses[0]};
	struct acm_event event = {
		.type = ACM_EVENT_REQUEST, .time = virtual->now, .request = &request};

	check(!sim_resident_step(host->resident, &event), "an engine refuses a request");
}

uint32_t virtual_fabric_answered(struct virtual_fabric *virtual)
{
	uint32_t at;

	if (!virtual->answered_count)
		return SIM_NONE;
	at = virtual->answered[--virtual->answered_count];
	virtual->hosts[at].answered = false;
	return at;
}

/* ---- counting ---- */

uint64_t virtual_fabric_counter(const struct virtual_fabric *virtual, enum acm_counter counter)
{
	uint64_t sum = 0;

	for (uint32_t at = 0; at < virtual->host_count; at++) {
		struct acm_engine_stats stats;

		acm_engine_stats(sim_resident_engine(virtual->hosts[at].resident), &stats);
		sum += stats.counters[counter];
	}
	return sum;
}

uint64_t virtual_fabric_failures(const struct virtual_fabric *virtual)
{
	uint64_t sum = 0;

	for (uint32_t at = 0; at < virtual->host_count; at++)
		sum += virtual->hosts[at].failed;
	return sum;
}

double virtual_fabric_peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}
