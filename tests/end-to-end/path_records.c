/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Usage: path_records TOPOLOGY.yaml [PAIRS]
 * An engine on every host of a fabric that ibsim and OpenSM run; hosts resolve each other by name:
 * all ordered pairs or, where there are more than are given, so many drawn from a fixed seed. Each
 * path that an engine answers with is compared, field by field, with the one that OpenSM tells
 * saquery for the ports' GIDs, which come from the topology and not from the answer.
 */
#include "saquery.h"

#include <acmite/wire.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fabric.h"
#include "population.h"

#define PATIENCE_NS       (150 * ACM_NSEC_PER_SEC) /* against hanging */
#define SEED              20240617
#define RESOLVES_AT_ONCE  64
#define QUERIES_AT_ONCE   2
#define DIFFERENCES_SHOWN 20
#define DEFAULT_PKEY      0xffff

struct pair {
	uint32_t source; /* node indices */
	uint32_t destination;
	bool answered;
	enum acm_status status;
	struct acm_path path;
};

struct world {
	struct sim_topology *topology;
	struct sim_control *control; /* the fabric's */
	struct sim_fabric *fabric;
	struct sim_population *population;
	struct sim_resident **residents; /* by node index */
	uint64_t give_up_at;
	struct pair *pairs;
	uint32_t pair_count;
	uint32_t in_flight;
	uint32_t answered;
	uint32_t differences;
	struct saquery_place place;
	struct saquery queries[QUERIES_AT_ONCE];
	struct pair *asked[QUERIES_AT_ONCE]; /* the pair of each query */
};

#define die(...)                                                                                   \
	do {                                                                                       \
		fprintf(stderr, "path_records: " __VA_ARGS__);                                     \
		fputc('\n', stderr);                                                               \
		exit(EXIT_FAILURE);                                                                \
	} while (0)

static char scratch[PATH_MAX];

/* At the end, whatever it is. */
static void remove_scratch(void)
{
	if (scratch[0])
		ibsim_scratch_remove(scratch);
}

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ACM_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* ---- the world goes on ---- */

static int wait_ms(const struct world *world, uint64_t now)
{
	uint64_t fabric = sim_fabric_deadline(world->fabric);
	uint64_t next = sim_population_deadline(world->population);

	if (fabric < next)
		next = fabric;
	if (world->give_up_at < next)
		next = world->give_up_at;
	return next <= now ? 0 : (int)((next - now) / ACM_NSEC_PER_MSEC) + 1;
}

/* Waits for something to happen, and lets it. */
static void go_on(struct world *world, const char *waiting_for)
{
	struct pollfd fds[1 + QUERIES_AT_ONCE];
	uint64_t now = monotonic_now();

	if (now >= world->give_up_at)
		die("no end of waiting for %s", waiting_for);
	fds[0] = (struct pollfd){.fd = sim_fabric_fd(world->fabric), .events = POLLIN};
	for (int i = 0; i < QUERIES_AT_ONCE; i++)
		fds[1 + i] = (struct pollfd){
			.fd = world->queries[i].child.pid ? world->queries[i].child.pidfd : -1,
			.events = POLLIN};
	if (poll(fds, 1 + QUERIES_AT_ONCE, wait_ms(world, now)) < 0 && errno != EINTR)
		die("poll: %s", strerror(errno));
	now = monotonic_now();
	if (sim_fabric_process(world->fabric, now))
		die("the fabric is gone: %s", sim_fabric_failure(world->fabric));
	if (sim_population_run(world->population, now))
		die("a node cannot go on");
}

/* ---- the fabric and its nodes ---- */

static void load(struct world *world, const char *path)
{
	struct sim_errors errors;

	if (!sim_topology_load(path, &world->topology, &errors)) {
		sim_errors_free(&errors);
		return;
	}
	die("%s", errors.count ? errors.lines[0] : path);
}

static void start_fabric(struct world *world)
{
	struct sim_ibsim_options options;
	char why[2048];
	int error;

	/* In memory where that can be: libumad2sim makes and removes 40 files for each saquery. */
	error = ibsim_scratch_create("/dev/shm", scratch);
	if (error)
		error = ibsim_scratch_create(NULL, scratch);
	if (error)
		die("there is no scratch folder: %s", strerror(-error));
	sim_ibsim_options_default(&options);
	options.scratch = scratch;
	options.ready_timeout_ms = 60000;
	if (sim_ibsim_control_create(world->topology, &options, &world->control, why, sizeof(why)))
		die("%s (ci/setup installs what is missing)", why);
	error = sim_fabric_create(world->topology, world->control, SEED, &world->fabric);
	if (error)
		die("there is no fabric: %s", strerror(-error));
	if (saquery_find(&world->place, sim_ibsim_socket_name(world->control), scratch, why,
			 sizeof(why)))
		die("%s", why);
}

static void take_reply(void *context, const struct acm_reply *reply)
{
	struct world *world = context;
	struct pair *pair = &world->pairs[reply->id - 1];

	if (pair->answered)
		die("a request was answered twice");
	pair->answered = true;
	pair->status = reply->status;
	pair->path = reply->path;
	world->answered++;
	world->in_flight--;
}

static void add_nodes(struct world *world)
{
	const struct acm_driver_hooks hooks = {.reply = take_reply, .context = world};
	struct acm_engine_config config;
	int error = sim_population_create(world->topology, world->fabric, &world->population);

	acm_engine_config_default(&config);
	config.seed = SEED;
	world->residents = calloc(world->topology->node_count, sizeof(struct sim_resident *));
	if (error || !world->residents)
		die("there is no memory");
	for (uint32_t i = 0; i < world->topology->node_count; i++) {
		const struct sim_node *node = &world->topology->nodes[i];

		if (node->kind != SIM_HOST)
			continue;
		error = sim_population_add(world->population, node->name, &config, &hooks,
					   monotonic_now(), &world->residents[i]);
		if (!error)
			error = sim_resident_add_addresses(world->residents[i], monotonic_now());
		if (error)
			die("%s cannot be started: %s", node->name, strerror(-error));
	}
	while (sim_population_unready(world->population, NULL))
		go_on(world, "the nodes' memberships");
}

/* ---- pairs ---- */

static uint64_t draw(uint64_t *state)
{
	uint64_t value = *state += 0x9e3779b97f4a7c15;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/* Switches come first in a topology's nodes. */
static uint32_t host(const struct world *world, uint64_t number)
{
	return world->topology->switch_count + (uint32_t)(number % world->topology->host_count);
}

static void choose_all(struct world *world)
{
	struct pair *pair = world->pairs;

	for (uint32_t i = 0; i < world->topology->host_count; i++)
		for (uint32_t j = 0; j < world->topology->host_count; j++)
			if (i != j)
				*pair++ = (struct pair){.source = host(world, i),
							.destination = host(world, j)};
}

static void choose_some(struct world *world)
{
	uint64_t state = SEED;

	for (uint32_t i = 0; i < world->pair_count; i++) {
		struct pair *pair = &world->pairs[i];

		pair->source = host(world, draw(&state));
		do
			pair->destination = host(world, draw(&state));
		while (pair->destination == pair->source);
	}
}

static void choose_pairs(struct world *world, uint32_t most)
{
	uint32_t hosts = world->topology->host_count;
	uint32_t all = hosts * (hosts - 1);

	world->pair_count = all < most ? all : most;
	world->pairs = calloc(world->pair_count, sizeof(*world->pairs));
	if (hosts < 2 || !world->pairs)
		die("there are no pairs");
	if (world->pair_count < all)
		choose_some(world);
	else
		choose_all(world);
}

static const char *name_of(const struct world *world, uint32_t node)
{
	return world->topology->nodes[node].name;
}

static void ask(struct world *world, uint32_t index)
{
	const struct pair *pair = &world->pairs[index];
	const char *name = name_of(world, pair->destination);
	struct acm_request request = {
		.id = index + 1, .opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_RESOLVE};
	struct acm_event event = {
		.type = ACM_EVENT_REQUEST, .time = monotonic_now(), .request = &request};

	if (acm_address_canonical(&request.destination, ACM_ADDRESS_NAME, (const uint8_t *)name,
				  strlen(name)) ||
	    sim_resident_step(world->residents[pair->source], &event))
		die("%s cannot be asked for %s", name_of(world, pair->source), name);
	world->in_flight++;
}

static void resolve_all(struct world *world)
{
	uint32_t next = 0;

	while (world->answered < world->pair_count) {
		while (next < world->pair_count && world->in_flight < RESOLVES_AT_ONCE)
			ask(world, next++);
		go_on(world, "answers");
	}
}

/* ---- comparing ---- */

struct difference {
	const char *field;
	unsigned long long ours, theirs;
};

#define FIELDS_MAX 20

/* How many fields differ; which, in `found`. GIDs and LIDs are given by their last 8 bytes. */
static unsigned int compare(const struct acm_path *ours, const struct acm_path *theirs,
			    struct difference found[FIELDS_MAX])
{
	const struct difference all[] = {
		{"service id", ours->service_id, theirs->service_id},
		{"SLID", ours->slid, theirs->slid},
		{"DLID", ours->dlid, theirs->dlid},
		{"flow label", ours->flow_label, theirs->flow_label},
		{"hop limit", ours->hop_limit, theirs->hop_limit},
		{"traffic class", ours->traffic_class, theirs->traffic_class},
		{"reversible", ours->reversible, theirs->reversible},
		{"path count", ours->path_count, theirs->path_count},
		{"P_Key", ours->pkey, theirs->pkey},
		{"QoS class", ours->qos_class, theirs->qos_class},
		{"SL", ours->sl, theirs->sl},
		{"MTU selector", ours->mtu_selector, theirs->mtu_selector},
		{"MTU", ours->mtu, theirs->mtu},
		{"rate selector", ours->rate_selector, theirs->rate_selector},
		{"rate", ours->rate, theirs->rate},
		{"packet life selector", ours->packet_life_selector, theirs->packet_life_selector},
		{"packet life", ours->packet_life, theirs->packet_life},
		{"preference", ours->preference, theirs->preference},
		{"SGID", 0,
		 (unsigned long long)memcmp(&ours->sgid, &theirs->sgid, sizeof(ours->sgid))},
		{"DGID", 0,
		 (unsigned long long)memcmp(&ours->dgid, &theirs->dgid, sizeof(ours->dgid))},
	};
	unsigned int count = 0;

	_Static_assert(sizeof(all) / sizeof(all[0]) == FIELDS_MAX, "room for all fields");
	for (size_t i = 0; i < FIELDS_MAX; i++)
		if (all[i].ours != all[i].theirs)
			found[count++] = all[i];
	return count;
}

static void differs(struct world *world, const struct pair *pair, const char *what)
{
	if (world->differences++ < DIFFERENCES_SHOWN)
		fprintf(stderr, "%s to %s: %s\n", name_of(world, pair->source),
			name_of(world, pair->destination), what);
}

static void check(struct world *world, const struct pair *pair, const struct acm_path *theirs,
		  unsigned int records)
{
	struct difference found[FIELDS_MAX];
	char text[256];
	unsigned int count;

	if (pair->status != ACM_STATUS_OK) {
		differs(world, pair, acm_status_text(pair->status));
		return;
	}
	if (records != 1) {
		snprintf(text, sizeof(text), "saquery shows %u paths, expected: 1", records);
		differs(world, pair, text);
		return;
	}
	count = compare(&pair->path, theirs, found);
	for (unsigned int i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%s is %#llx, OpenSM's %#llx", found[i].field,
			 found[i].ours, found[i].theirs);
		differs(world, pair, text);
	}
}

static struct acm_gid gid_of(const struct world *world, uint32_t node)
{
	uint64_t guid = world->topology->nodes[node].ports[1].guid;
	struct acm_gid gid = {.raw = {0xfe, 0x80}};

	for (int i = 0; i < 8; i++)
		gid.raw[15 - i] = (uint8_t)(guid >> (8 * i));
	return gid;
}

static void start_query(struct world *world, unsigned int number, struct pair *pair)
{
	struct acm_gid sgid = gid_of(world, pair->source);
	struct acm_gid dgid = gid_of(world, pair->destination);
	char netlist_name[SAQUERY_NAME_SIZE];
	int error;

	sim_topology_ibsim_name(world->topology, pair->source, 1, netlist_name);
	error = saquery_start(&world->queries[number], &world->place, number, netlist_name, &sgid,
			      &dgid, DEFAULT_PKEY);
	if (error)
		die("saquery cannot be started: %s", strerror(-error));
	world->asked[number] = pair;
}

/* True when it ended now. */
static bool end_query(struct world *world, unsigned int number)
{
	struct acm_path theirs;
	unsigned int records;

	if (!saquery_ended(&world->queries[number], &theirs, &records))
		return false;
	check(world, world->asked[number], &theirs, records);
	return true;
}

static void compare_all(struct world *world)
{
	uint32_t next = 0, done = 0;

	while (done < world->pair_count) {
		for (unsigned int i = 0; i < QUERIES_AT_ONCE; i++) {
			if (world->queries[i].child.pid)
				done += end_query(world, i);
			if (!world->queries[i].child.pid && next < world->pair_count)
				start_query(world, i, &world->pairs[next++]);
		}
		if (done < world->pair_count)
			go_on(world, "saquery");
	}
}

/* A comparison that notices nothing is worth nothing: each byte of a path counts, but for padding.
 */
static void check_that_all_is_compared(const struct acm_path *path)
{
	struct difference found[FIELDS_MAX];
	unsigned int noticed = 0;

	for (size_t i = 0; i < sizeof(*path); i++) {
		struct acm_path altered;

		memcpy(&altered, path, sizeof(altered));
		((uint8_t *)&altered)[i] ^= 1;
		noticed += compare(path, &altered, found) == 1;
	}
	/* 8 of service id, 2 of 16, 2 LIDs, flow label, P_Key and QoS class, 12 of one byte. */
	if (noticed != 8 + 32 + 4 + 4 + 4 + 12)
		die("of a path's bytes only %u are compared", noticed);
}

int main(int argc, char **argv)
{
	struct world world = {.give_up_at = monotonic_now() + PATIENCE_NS};

	if (argc < 2 || argc > 3)
		die("usage: path_records TOPOLOGY.yaml [PAIRS]");
	atexit(remove_scratch);
	load(&world, argv[1]);
	choose_pairs(&world, argc > 2 ? (uint32_t)atoi(argv[2]) : UINT32_MAX);
	start_fabric(&world);
	add_nodes(&world);
	resolve_all(&world);
	check_that_all_is_compared(&world.pairs[0].path);
	compare_all(&world);
	printf("%u pairs of %s, %u differences to OpenSM\n", world.pair_count, world.topology->name,
	       world.differences);
	sim_population_destroy(world.population);
	sim_fabric_destroy(world.fabric);
	sim_topology_free(world.topology);
	free(world.residents);
	free(world.pairs);
	return world.differences ? EXIT_FAILURE : EXIT_SUCCESS;
}
