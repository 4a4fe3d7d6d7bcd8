/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_random.h"

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "dice.h"
#include "fabric_draw.h"
#include "fault_draw.h"
#include "subnet.h"

#define MSEC ACM_NSEC_PER_MSEC
#define SEC  ACM_NSEC_PER_SEC
/* After all faults and all that nodes may rightly still believe. */
#define FINALLY_WITHIN (120 * SEC)
#define FAULTS_MOST    20
#define REQUESTS_MOST  100
#define PICK(dice, ...)                                                                            \
	sim_dice_pick(dice, (const uint64_t[]){__VA_ARGS__},                                       \
		      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* What each purpose's dice are told apart by. */
enum { OF_SHAPE = 0x5ca1e, OF_FABRIC, OF_OPTIONS, OF_FAULTS, OF_WORKLOAD, OF_KIND };

/* The run in the large. */
struct shape {
	uint64_t within; /* ns in which all happens */
	uint32_t faults;
	uint32_t requests;
	uint64_t kinds; /* SIM_FAULT_BIT() of the faults that may be drawn */
	bool query_sa;  /* some requests do */
	bool by_lid;    /* some requests are; then the subnet keeps its prefix: what is asked for by
			   one LID from two GIDs is two things, and traces do not show which */
	bool some_differ; /* some nodes have options of their own */
	bool some_ibacm;  /* some nodes decide as ibacm */
	bool misled;      /* what a node believes must expire */
	bool pkeys;       /* memberships change */
	bool cold;        /* times count from the start of the nodes */
};

static void draw_shape(struct sim_dice dice, struct shape *shape)
{
	static const uint64_t quiet =
		SIM_FAULT_BIT(SIM_FAULT_STOP) | SIM_FAULT_BIT(SIM_FAULT_RESTART) |
		SIM_FAULT_BIT(SIM_FAULT_PAUSE) | SIM_FAULT_BIT(SIM_FAULT_RELOAD);

	shape->within = (1 + sim_dice_below(&dice, 8)) * SEC;
	shape->faults = (uint32_t)sim_dice_below(&dice, FAULTS_MOST + 1);
	shape->requests = 4 + (uint32_t)sim_dice_below(&dice, REQUESTS_MOST - 3);
	shape->query_sa = sim_dice_one_in(&dice, 4);
	shape->by_lid = sim_dice_one_in(&dice, 2);
	shape->some_differ = sim_dice_one_in(&dice, 2);
	shape->some_ibacm = sim_dice_one_in(&dice, 8);
	shape->misled = sim_dice_one_in(&dice, 4);
	shape->pkeys = sim_dice_one_in(&dice, 4);
	shape->cold = sim_dice_one_in(&dice, 4);
	shape->kinds = sim_faults_drawn;
	if (shape->by_lid)
		shape->kinds &= ~SIM_FAULT_BIT(SIM_FAULT_SUBNET_PREFIX);
	if (!shape->misled)
		shape->kinds &= ~sim_faults_that_mislead;
	/* Now and then only nodes are disturbed, and no other may notice. */
	if (sim_dice_one_in(&dice, 6)) {
		shape->kinds = quiet;
		shape->pkeys = false;
	}
}

/* ---- the fabric ---- */

static int draw_plain_fabric(struct sim_dice dice, struct sim_topology **topology)
{
	struct sim_random_limits limits;

	sim_random_limits_default(&limits);
	limits.switches = (struct sim_range){1, 8};
	limits.hosts = (struct sim_range){2, (uint32_t)PICK(&dice, 4, 8, 16, 32)};
	limits.redundant = (struct sim_range){1, 4};
	return sim_topology_random(sim_dice_below(&dice, UINT64_MAX), &limits, topology);
}

/* Every third is of any kind, with all that there can be. */
static int draw_fabric(struct sim_scenario *scenario, uint64_t seed)
{
	struct sim_dice dice = sim_dice(seed, OF_KIND);
	int error;

	if (sim_dice_one_in(&dice, 3)) {
		scenario->lmc = (uint8_t)PICK(&dice, 0, 0, 1, 2);
		error = sim_fabric_draw(&dice, &scenario->topology);
	} else {
		error = draw_plain_fabric(sim_dice(seed, OF_FABRIC), &scenario->topology);
	}
	if (error)
		return error;
	scenario->configs = calloc(scenario->topology->node_count, sizeof(*scenario->configs));
	return scenario->configs ? 0 : -ENOMEM;
}

/* ---- options ---- */

/* What nodes may differ in and still find each other. */
static void draw_config(struct sim_dice *dice, const struct shape *shape,
			struct acm_engine_config *config)
{
	config->timeout = PICK(dice, 20, 50, 100, 200, 500, 1000) * MSEC;
	config->retries = (uint32_t)sim_dice_below(dice, 5);
	config->negative_life = PICK(dice, 0, 100, 1000, 5000) * MSEC;
	config->address_life = shape->misled ? PICK(dice, SEC, 5 * SEC, 30 * SEC)
					     : PICK(dice, ACM_NEVER, 86400 * SEC, SEC, 30 * SEC);
	config->route_life = shape->misled ? PICK(dice, SEC, 5 * SEC, 30 * SEC)
					   : PICK(dice, ACM_NEVER, ACM_NEVER, 10 * SEC, SEC);
	config->route_protocol = sim_dice_one_in(dice, 3) ? ACM_ROUTE_ACM : ACM_ROUTE_SA;
	config->resolve_depth = (uint32_t)PICK(dice, 1, 4, 64);
	config->sa_depth = (uint32_t)PICK(dice, 1, 4, 64);
	config->recv_depth = (uint32_t)PICK(dice, 8, 64, 1024);
	config->request_limit = (uint32_t)PICK(dice, 4, 65536, 65536, 65536);
	config->memory_budget = PICK(dice, (4 + sim_dice_below(dice, 3)) << 10, 64 << 20, 64 << 20);
	config->join_verify = PICK(dice, 5 * SEC, 20 * SEC, 60 * SEC);
	config->loopback = !sim_dice_one_in(dice, 8);
}

/* All that are to meet in one group agree on these; the slowest link carries it. */
static void draw_group(struct sim_dice *dice, struct acm_engine_config *config)
{
	config->min_mtu = acm_mtu_code((uint32_t)PICK(dice, 256, 1024, 2048, 2048));
	config->min_rate = acm_rate_code((uint32_t)PICK(dice, 100, 200, 400));
}

static int draw_options(struct sim_scenario *scenario, struct sim_dice dice,
			const struct shape *shape)
{
	const struct sim_topology *topology = scenario->topology;

	acm_engine_config_default(&scenario->config);
	draw_config(&dice, shape, &scenario->config);
	draw_group(&dice, &scenario->config);
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++) {
		bool differs = shape->some_differ && sim_dice_one_in(&dice, 3);
		bool ibacm = shape->some_ibacm && sim_dice_one_in(&dice, 3);
		struct acm_engine_config *own;

		if (!differs && !ibacm)
			continue;
		own = malloc(sizeof(*own));
		if (!own)
			return -ENOMEM;
		*own = scenario->config;
		scenario->configs[node] = own;
		if (differs)
			draw_config(&dice, shape, own);
		if (ibacm)
			own->compat = ACM_COMPAT_IBACM;
	}
	return 0;
}

/* ---- steps ---- */

/* A step at `at`, behind those of the same time; its content is for the caller to fill in. There is
 * room: see make_room(). */
static struct sim_step *add_step(struct sim_scenario *scenario, uint64_t at,
				 enum sim_step_kind kind)
{
	uint32_t place = scenario->step_count++;

	while (place && scenario->steps[place - 1].at > at) {
		scenario->steps[place] = scenario->steps[place - 1];
		place--;
	}
	scenario->steps[place] = (struct sim_step){
		.at = at,
		.kind = kind,
		.resolve = {.times = 1, .cancel_after = ACM_NEVER},
		.expect = {.within = ACM_NEVER, .node = SIM_NONE},
		.fault = {.duration = ACM_NEVER},
	};
	return &scenario->steps[place];
}

static bool make_room(struct sim_scenario *scenario, const struct shape *shape)
{
	/* A change of a membership is two steps. */
	scenario->steps = calloc(2 * shape->faults + shape->requests + 3, sizeof(*scenario->steps));
	return scenario->steps != NULL;
}

static uint32_t draw_host(const struct sim_topology *topology, struct sim_dice *dice)
{
	return topology->switch_count + (uint32_t)sim_dice_below(dice, topology->host_count);
}

static bool draw_hosts(const struct sim_topology *topology, struct sim_dice *dice, uint32_t count,
		       struct sim_nodes *nodes)
{
	nodes->nodes = malloc(count * sizeof(*nodes->nodes));
	if (!nodes->nodes)
		return false;
	nodes->count = count;
	for (uint32_t i = 0; i < count; i++)
		nodes->nodes[i] = draw_host(topology, dice);
	return true;
}

static int draw_faults(struct sim_scenario *scenario, struct sim_dice dice,
		       const struct shape *shape)
{
	for (uint32_t i = 0; i < shape->faults; i++) {
		struct sim_step *step = add_step(scenario, sim_dice_below(&dice, shape->within / 2),
						 SIM_STEP_FAULT);

		if (!sim_fault_draw(scenario->topology, &dice, shape->kinds, shape->within / 2,
				    &step->fault))
			return -ENOMEM;
	}
	return 0;
}

static bool add_membership(struct sim_scenario *scenario, uint64_t at, uint32_t node, uint16_t pkey,
			   enum sim_membership membership)
{
	struct sim_step *step = add_step(scenario, at, SIM_STEP_FAULT);

	step->fault.kind = SIM_FAULT_PKEY;
	step->fault.pkey = pkey;
	step->fault.membership = membership;
	step->fault.nodes.nodes = malloc(sizeof(uint32_t));
	if (!step->fault.nodes.nodes)
		return false;
	step->fault.nodes.nodes[0] = node;
	step->fault.nodes.count = 1;
	return true;
}

/* A node's membership in the default partition goes, or becomes limited, and mostly comes back. The
 * subnet manager keeps its own. */
static int draw_membership(struct sim_scenario *scenario, struct sim_dice dice,
			   const struct shape *shape)
{
	uint32_t node = draw_host(scenario->topology, &dice);
	uint64_t at = sim_dice_below(&dice, shape->within / 2);
	enum sim_membership membership =
		sim_dice_one_in(&dice, 2) ? SIM_MEMBER_NONE : SIM_MEMBER_LIMITED;
	bool stays = sim_dice_one_in(&dice, 4);

	if (!shape->pkeys || node == scenario->topology->sm)
		return 0;
	if (!add_membership(scenario, at, node, 0x7fff, membership))
		return -ENOMEM;
	if (!stays && !add_membership(scenario, at + 1 + sim_dice_below(&dice, shape->within / 2),
				      node, 0x7fff, SIM_MEMBER_FULL))
		return -ENOMEM;
	return 0;
}

/* ---- requests ---- */

/* A name and an address that no host of a random fabric has. */
static void draw_unknown(struct sim_dice *dice, struct acm_address *address)
{
	uint8_t digit = (uint8_t)sim_dice_below(dice, 4);

	if (sim_dice_one_in(dice, 2))
		*address = (struct acm_address){ACM_ADDRESS_NAME, 7, "nobody"};
	else
		*address = (struct acm_address){ACM_ADDRESS_IP, 4, {192, 0, 2}};
	address->data[address->length - 1] = (uint8_t)('0' + digit);
}

/* One that all of them have. */
static uint8_t draw_port(const struct sim_topology *topology, struct sim_dice *dice,
			 const struct sim_nodes *nodes)
{
	uint8_t most = UINT8_MAX;

	for (uint32_t i = 0; i < nodes->count; i++) {
		if (topology->nodes[nodes->nodes[i]].port_count < most)
			most = topology->nodes[nodes->nodes[i]].port_count;
	}
	return (uint8_t)(1 + sim_dice_below(dice, most));
}

static bool draw_target(const struct sim_topology *topology, struct sim_dice *dice,
			const struct shape *shape, struct sim_resolve *resolve)
{
	if (sim_dice_one_in(dice, 12)) {
		draw_unknown(dice, &resolve->address);
		return true;
	}
	resolve->by = (enum sim_by)PICK(dice, SIM_BY_NAME, SIM_BY_NAME, SIM_BY_NAME, SIM_BY_IP,
					SIM_BY_IP, SIM_BY_IP6, SIM_BY_GID, SIM_BY_LID);
	if (resolve->by == SIM_BY_LID && !shape->by_lid)
		resolve->by = SIM_BY_GID;
	if (resolve->by >= SIM_BY_GID && topology->partition_count && sim_dice_one_in(dice, 2))
		resolve->pkey =
			topology->partitions[sim_dice_below(dice, topology->partition_count)].pkey;
	if (!draw_hosts(topology, dice, (uint32_t)PICK(dice, 1, 1, 1, 3), &resolve->to))
		return false;
	if (resolve->by >= SIM_BY_GID) {
		resolve->from_port = draw_port(topology, dice, &resolve->on);
		resolve->to_port = draw_port(topology, dice, &resolve->to);
	}
	return true;
}

static void draw_source(const struct sim_topology *topology, struct sim_dice *dice,
			struct sim_resolve *resolve)
{
	bool another = sim_dice_one_in(dice, 8);
	uint32_t of = another ? draw_host(topology, dice) : resolve->on.nodes[0];
	const struct sim_node *node = &topology->nodes[of];

	resolve->has_source = sim_dice_one_in(dice, 6) && node->address_count;
	if (resolve->has_source)
		resolve->source = node->addresses[sim_dice_below(dice, node->address_count)];
}

static int draw_requests(struct sim_scenario *scenario, struct sim_dice dice,
			 const struct shape *shape)
{
	const struct sim_topology *topology = scenario->topology;

	for (uint32_t i = 0; i < shape->requests; i++) {
		struct sim_resolve *resolve =
			&add_step(scenario, sim_dice_below(&dice, shape->within), SIM_STEP_RESOLVE)
				 ->resolve;

		if (!draw_hosts(topology, &dice, (uint32_t)PICK(&dice, 1, 1, 1, 4), &resolve->on) ||
		    !draw_target(topology, &dice, shape, resolve))
			return -ENOMEM;
		draw_source(topology, &dice, resolve);
		resolve->times = (uint32_t)PICK(&dice, 1, 1, 1, 2, 8);
		resolve->no_delay = sim_dice_one_in(&dice, 8);
		resolve->query_sa = shape->query_sa && sim_dice_one_in(&dice, 3);
		if (sim_dice_one_in(&dice, 6))
			resolve->cancel_after = sim_dice_below(&dice, 50 * MSEC);
	}
	return 0;
}

/* ---- all ---- */

static uint32_t own_configs(const struct sim_scenario *scenario, bool ibacm)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < scenario->topology->node_count; i++)
		count += scenario->configs[i] &&
			 (!ibacm || scenario->configs[i]->compat == ACM_COMPAT_IBACM);
	return count;
}

static void write_life(uint64_t life, char *text, size_t size)
{
	if (life == ACM_NEVER)
		snprintf(text, size, "-1");
	else
		snprintf(text, size, "%" PRIu64 "s", life / SEC);
}

/* In the words of scenario files. */
static char *describe(const struct sim_scenario *scenario, const struct shape *shape)
{
	const struct sim_topology *topology = scenario->topology;
	const struct acm_engine_config *config = &scenario->config;
	char address_life[24], route_life[24], *text;
	uint32_t faults = 0;

	for (uint32_t i = 0; i < scenario->step_count; i++)
		faults += scenario->steps[i].kind == SIM_STEP_FAULT;
	write_life(config->address_life, address_life, sizeof(address_life));
	write_life(config->route_life, route_life, sizeof(route_life));
	if (asprintf(&text,
		     "%s of %u switches, %u hosts, %u links, %u partitions, lmc %u; %u faults "
		     "and %u requests in "
		     "%" PRIu64 "s, start %s; timeout %" PRIu64 ", retries %u, negative_timeout "
		     "%" PRIu64 ", addr_timeout %s, route_timeout %s, route_prot %s, resolve_depth "
		     "%u, sa_depth %u, recv_depth %u, request_limit %u, memory_budget %" PRIu64
		     "KiB, min_mtu %u, min_rate %u, join_verify %" PRIu64
		     "s, loopback_prot %s; others on %u hosts, compat ibacm on %u",
		     topology->name, topology->switch_count, topology->host_count,
		     topology->link_count, topology->partition_count, scenario->lmc, faults,
		     shape->requests, shape->within / SEC, scenario->cold ? "cold" : "ready",
		     config->timeout / MSEC, config->retries, config->negative_life / MSEC,
		     address_life, route_life,
		     config->route_protocol == ACM_ROUTE_SA ? "sa" : "acm", config->resolve_depth,
		     config->sa_depth, config->recv_depth, config->request_limit,
		     config->memory_budget >> 10, acm_mtu_bytes(config->min_mtu),
		     acm_rate_tenths_gbps(config->min_rate) / 10, config->join_verify / SEC,
		     config->loopback ? "local" : "none", own_configs(scenario, false),
		     own_configs(scenario, true)) < 0)
		return NULL;
	return text;
}

static int draw_all(struct sim_scenario *scenario)
{
	uint64_t seed = scenario->seed;
	struct shape shape;
	int error;

	draw_shape(sim_dice(seed, OF_SHAPE), &shape);
	error = draw_fabric(scenario, seed);
	if (!error)
		error = draw_options(scenario, sim_dice(seed, OF_OPTIONS), &shape);
	if (!error && !make_room(scenario, &shape))
		error = -ENOMEM;
	if (!error)
		error = draw_faults(scenario, sim_dice(seed, OF_FAULTS), &shape);
	if (!error)
		error = draw_membership(scenario, sim_dice(seed, OF_FAULTS + 0x100), &shape);
	if (!error)
		error = draw_requests(scenario, sim_dice(seed, OF_WORKLOAD), &shape);
	if (error)
		return error;
	scenario->cold = shape.cold;
	scenario->has_finally = true;
	scenario->finally_within = FINALLY_WITHIN;
	scenario->name = describe(scenario, &shape);
	return scenario->name ? 0 : -ENOMEM;
}

int sim_scenario_random(uint64_t seed, struct sim_scenario **scenario)
{
	struct sim_scenario *drawn = calloc(1, sizeof(*drawn));
	int error;

	if (!drawn)
		return -ENOMEM;
	drawn->seed = seed;
	drawn->drawn = true;
	drawn->path = strdup("random");
	error = drawn->path ? draw_all(drawn) : -ENOMEM;
	if (error)
		sim_scenario_free(drawn);
	else
		*scenario = drawn;
	return error;
}
