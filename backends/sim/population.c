/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "population.h"

#include <acmite/trace.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sim_resident {
	struct sim_population *population;
	uint32_t node;
	struct acm_transport *transport;
	struct acm_engine *engine;
	struct acm_driver *driver;
	bool ready;
	bool woken;
	bool paused; /* not run, and not in the list of the woken */
	struct sim_resident *next_woken;
	uint64_t deadline;
	uint32_t place;     /* in the heap */
	uint64_t allocated; /* bytes of its engine and driver */
};

struct sim_population {
	const struct sim_topology *topology;
	struct sim_fabric *fabric;
	struct sim_resident **residents; /* by node index, NULL: not there */
	/* Woken ones in the order of waking. */
	struct sim_resident *woken;
	struct sim_resident **woken_end;
	/* A binary heap by deadline and, as ties are not left open, node. */
	struct sim_resident **heap;
	uint32_t count;
	uint32_t unready;
	uint64_t leaked;
	uint64_t most; /* runs at a time, 0: no limit */
	void (*watch)(void *context, struct sim_resident *resident);
	void *watch_context;
};

static void *allocate(void *context, size_t size)
{
	struct sim_resident *resident = context;
	void *memory = malloc(size);

	if (memory)
		resident->allocated += size;
	return memory;
}

static void release(void *context, void *memory, size_t size)
{
	struct sim_resident *resident = context;

	if (memory)
		resident->allocated -= size;
	free(memory);
}

/* ---- deadlines ---- */

static bool is_before(const struct sim_resident *a, const struct sim_resident *b)
{
	return a->deadline != b->deadline ? a->deadline < b->deadline : a->node < b->node;
}

static void put(struct sim_population *population, uint32_t place, struct sim_resident *resident)
{
	population->heap[place] = resident;
	resident->place = place;
}

static void rise(struct sim_population *population, struct sim_resident *resident)
{
	uint32_t place = resident->place;

	while (place) {
		uint32_t parent = (place - 1) / 2;

		if (!is_before(resident, population->heap[parent]))
			break;
		put(population, place, population->heap[parent]);
		place = parent;
	}
	put(population, place, resident);
}

static void sink(struct sim_population *population, struct sim_resident *resident)
{
	uint32_t place = resident->place;

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= population->count)
			break;
		if (child + 1 < population->count &&
		    is_before(population->heap[child + 1], population->heap[child]))
			child++;
		if (!is_before(population->heap[child], resident))
			break;
		put(population, place, population->heap[child]);
		place = child;
	}
	put(population, place, resident);
}

static void update_deadline(struct sim_resident *resident)
{
	uint64_t deadline = resident->paused ? ACM_NEVER : acm_driver_deadline(resident->driver);

	if (deadline == resident->deadline)
		return;
	resident->deadline = deadline;
	rise(resident->population, resident);
	sink(resident->population, resident);
}

/* ---- residents ---- */

static void enlist(struct sim_resident *resident)
{
	struct sim_population *population = resident->population;

	resident->next_woken = NULL;
	*population->woken_end = resident;
	population->woken_end = &resident->next_woken;
}

static void delist(struct sim_resident *resident)
{
	struct sim_population *population = resident->population;
	struct sim_resident **at = &population->woken;

	while (*at && *at != resident)
		at = &(*at)->next_woken;
	if (!*at)
		return;
	*at = resident->next_woken;
	if (!*at)
		population->woken_end = at;
}

static void wake(void *context)
{
	struct sim_resident *resident = context;

	if (resident->woken)
		return;
	resident->woken = true;
	if (!resident->paused)
		enlist(resident);
}

static bool is_connected(const struct sim_node *node)
{
	for (uint32_t port = 1; port <= node->port_count; port++) {
		if (node->ports[port].peer != SIM_NONE)
			return true;
	}
	return false;
}

static void update_ready(struct sim_resident *resident)
{
	struct acm_engine_stats stats;
	bool ready;

	if (!is_connected(&resident->population->topology->nodes[resident->node]))
		return;
	acm_engine_stats(resident->engine, &stats);
	ready = stats.endpoints && stats.endpoints_ready == stats.endpoints;
	if (ready == resident->ready)
		return;
	resident->ready = ready;
	if (ready)
		resident->population->unready--;
	else
		resident->population->unready++;
}

/* splitmix64's finalizer: neighbouring nodes get unrelated seeds. */
static uint64_t resident_seed(uint64_t seed, uint32_t node)
{
	uint64_t mixed = seed + (node + 1) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}

static void ignore_reply(void *context, const struct acm_reply *reply)
{
	(void)context;
	(void)reply;
}

static void resident_destroy(struct sim_resident *resident)
{
	if (!resident)
		return;
	acm_driver_destroy(resident->driver);
	acm_engine_destroy(resident->engine);
	if (resident->transport)
		resident->transport->ops->destroy(resident->transport);
	resident->population->leaked += resident->allocated;
	free(resident);
}

static int resident_create(struct sim_population *population, uint32_t node,
			   const struct acm_engine_config *config,
			   const struct acm_driver_hooks *hooks, struct sim_resident **resident)
{
	static const struct acm_driver_hooks no_hooks = {.reply = ignore_reply};
	struct acm_engine_config own = *config;
	struct sim_resident *made = calloc(1, sizeof(*made));
	struct acm_allocator allocator = {.alloc = allocate, .free = release, .context = made};
	int error;

	if (!made)
		return -ENOMEM;
	made->population = population;
	made->node = node;
	made->deadline = ACM_NEVER;
	own.seed = resident_seed(config->seed, node);
	if (!hooks)
		own.trace_mask = 0;
	error = sim_fabric_attach(population->fabric, population->topology->nodes[node].name,
				  &made->transport);
	if (!error)
		error = acm_engine_create(&own, &allocator, &made->engine);
	if (!error)
		error = acm_driver_create(made->engine, made->transport, hooks ? hooks : &no_hooks,
					  &allocator, &made->driver);
	if (error) {
		resident_destroy(made);
		return error;
	}
	*resident = made;
	return 0;
}

int sim_population_add(struct sim_population *population, const char *node,
		       const struct acm_engine_config *config, const struct acm_driver_hooks *hooks,
		       uint64_t now, struct sim_resident **resident)
{
	uint32_t index = sim_topology_find(population->topology, node);
	struct sim_resident *made;
	int error;

	if (index == SIM_NONE)
		return -ENOENT;
	if (population->residents[index])
		return -EBUSY;
	error = resident_create(population, index, config, hooks, &made);
	if (error)
		return error;
	made->transport->ops->set_wake(made->transport, wake, made);
	error = acm_driver_start(made->driver, now);
	if (error) {
		resident_destroy(made);
		return error;
	}
	population->residents[index] = made;
	put(population, population->count++, made);
	rise(population, made);
	if (is_connected(&population->topology->nodes[index]))
		population->unready++;
	wake(made);
	if (resident)
		*resident = made;
	return 0;
}

int sim_population_add_others(struct sim_population *population,
			      const struct acm_engine_config *config, uint64_t now, uint32_t *node)
{
	const struct sim_topology *topology = population->topology;

	for (uint32_t index = 0; index < topology->node_count; index++) {
		struct sim_resident *resident;
		int error;

		if (topology->nodes[index].kind != SIM_HOST || population->residents[index])
			continue;
		error = sim_population_add(population, topology->nodes[index].name, config, NULL,
					   now, &resident);
		if (!error)
			error = sim_resident_add_addresses(resident, now);
		if (error) {
			*node = index;
			return error;
		}
	}
	return 0;
}

int sim_resident_step(struct sim_resident *resident, const struct acm_event *event)
{
	int error = acm_driver_step(resident->driver, event);

	update_deadline(resident);
	update_ready(resident);
	return error;
}

int sim_resident_add_addresses(struct sim_resident *resident, uint64_t now)
{
	const struct sim_node *node = &resident->population->topology->nodes[resident->node];

	for (uint32_t i = 0; i < node->address_count; i++) {
		struct acm_local_address local = {.port = 0, .address = node->addresses[i]};
		struct acm_event event = {
			.type = ACM_EVENT_ADDRESS_ADDED, .time = now, .address = &local};
		char text[ACM_ADDRESS_MAX + 1];
		size_t length = acm_address_format(&local.address, text, sizeof(text));
		int error;

		memcpy(local.text, text,
		       length < sizeof(local.text) ? length : sizeof(local.text) - 1);
		error = sim_resident_step(resident, &event);
		if (error)
			return error;
	}
	return 0;
}

void sim_population_remove(struct sim_resident *resident)
{
	struct sim_population *population = resident->population;
	uint32_t place = resident->place;

	delist(resident);
	if (!resident->ready && is_connected(&population->topology->nodes[resident->node]))
		population->unready--;
	population->residents[resident->node] = NULL;
	if (place != --population->count) {
		struct sim_resident *moved = population->heap[population->count];

		put(population, place, moved);
		rise(population, moved);
		sink(population, moved);
	}
	resident_destroy(resident);
}

void sim_resident_pause(struct sim_resident *resident)
{
	resident->paused = true;
	delist(resident);
	update_deadline(resident);
}

void sim_resident_resume(struct sim_resident *resident)
{
	if (!resident->paused)
		return;
	resident->paused = false;
	if (resident->woken)
		enlist(resident);
	update_deadline(resident);
}

bool sim_resident_is_paused(const struct sim_resident *resident)
{
	return resident->paused;
}

const struct acm_engine *sim_resident_engine(const struct sim_resident *resident)
{
	return resident->engine;
}

uint32_t sim_resident_node(const struct sim_resident *resident)
{
	return resident->node;
}

/* ---- the population ---- */

static int run_resident(struct sim_resident *resident, uint64_t now)
{
	struct sim_population *population = resident->population;
	int error = acm_driver_run(resident->driver, now);

	update_deadline(resident);
	update_ready(resident);
	if (population->watch)
		population->watch(population->watch_context, resident);
	return error;
}

void sim_population_limit(struct sim_population *population, uint64_t most)
{
	population->most = most;
}

int sim_population_run(struct sim_population *population, uint64_t now)
{
	uint64_t runs = 0;
	int error = 0;

	while (!error && population->count) {
		struct sim_resident *resident = population->woken;

		if (resident) {
			population->woken = resident->next_woken;
			if (!population->woken)
				population->woken_end = &population->woken;
			resident->woken =
				false; /* before it runs: what comes meanwhile wakes it again */
		} else {
			resident = population->heap[0];
			if (resident->deadline > now)
				break;
		}
		error = run_resident(resident, now);
		if (!error && ++runs == population->most)
			error = -ELOOP;
	}
	return error;
}

uint64_t sim_population_deadline(const struct sim_population *population)
{
	if (population->woken)
		return 0;
	return population->count ? population->heap[0]->deadline : ACM_NEVER;
}

uint32_t sim_population_unready(const struct sim_population *population,
				const struct sim_resident **first)
{
	if (!first)
		return population->unready;
	for (uint32_t node = 0; population->unready && node < population->topology->node_count;
	     node++) {
		const struct sim_resident *resident = population->residents[node];

		if (resident && !resident->ready &&
		    is_connected(&population->topology->nodes[node])) {
			*first = resident;
			break;
		}
	}
	return population->unready;
}

int sim_population_create(const struct sim_topology *topology, struct sim_fabric *fabric,
			  struct sim_population **population)
{
	struct sim_population *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->topology = topology;
	made->fabric = fabric;
	made->woken_end = &made->woken;
	made->residents = calloc(topology->node_count + 1, sizeof(struct sim_resident *));
	made->heap = calloc(topology->node_count + 1, sizeof(struct sim_resident *));
	if (!made->residents || !made->heap) {
		sim_population_destroy(made);
		return -ENOMEM;
	}
	*population = made;
	return 0;
}

struct sim_resident *sim_population_resident(const struct sim_population *population, uint32_t node)
{
	return population->residents[node];
}

void sim_population_watch(struct sim_population *population,
			  void (*watch)(void *context, struct sim_resident *resident),
			  void *context)
{
	population->watch = watch;
	population->watch_context = context;
}

uint64_t sim_population_leaked(const struct sim_population *population)
{
	return population->leaked;
}

void sim_population_destroy(struct sim_population *population)
{
	if (!population)
		return;
	for (uint32_t node = 0; population->residents && node < population->topology->node_count;
	     node++)
		resident_destroy(population->residents[node]);
	free(population->residents);
	free(population->heap);
	free(population);
}
