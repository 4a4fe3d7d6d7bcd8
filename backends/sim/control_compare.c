/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control_compare.h"

#include "sa_inquiry.h"
#include "wiring.h"

#include <acmite/wire.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IBSIM_MTU  4 /* code of 2048 */
#define PAIR_LIMIT 2000
#define SMALL      100 /* hosts up to which all pairs are compared */
#define HOPS_MAX   64

void sim_compare_options_default(struct sim_compare_options *options)
{
	*options = (struct sim_compare_options){.pair_limit = PAIR_LIMIT,
						.seed = 1,
						.mtu_limit = IBSIM_MTU,
						.timeout = 60 * ACM_NSEC_PER_SEC};
}

struct pair {
	struct sim_port_ref from, to;
};

/* What one control has of a pair. */
struct finding {
	uint16_t status; /* of the SA's answer */
	bool decoded;
	struct acm_path path;
	bool arrives;  /* the DLID leads to the port */
	uint32_t hops; /* switches on the way */
};

struct comparison {
	const struct sim_topology *topology;
	const char *const *names;
	const struct sim_compare_options *options;
	struct sim_compare_result *result;
	uint32_t port_count;
	struct sim_port_ref *ports; /* of hosts, that are connected */
	uint32_t pair_count;
	struct pair *pairs;
	struct sim_inquiry *inquiries;
	struct finding *findings[2];
	bool pair_differs;
};

/* ---- which pairs ---- */

static int list_ports(struct comparison *comparison)
{
	const struct sim_topology *topology = comparison->topology;
	uint32_t most = 0;

	for (uint32_t node = topology->switch_count; node < topology->node_count; node++)
		most += topology->nodes[node].port_count;
	comparison->ports = calloc((size_t)most + 1, sizeof(*comparison->ports));
	if (!comparison->ports)
		return -ENOMEM;
	for (uint32_t node = topology->switch_count; node < topology->node_count; node++)
		for (uint32_t port = 1; port <= topology->nodes[node].port_count; port++)
			if (topology->nodes[node].ports[port].peer != SIM_NONE)
				comparison->ports[comparison->port_count++] =
					(struct sim_port_ref){.node = node, .port = (uint8_t)port};
	return 0;
}

static int list_pairs(struct comparison *comparison)
{
	uint64_t all = (uint64_t)comparison->port_count * comparison->port_count, state = 0;
	uint32_t limit = comparison->options->pair_limit;
	bool sample = limit && comparison->topology->host_count > SMALL && all > limit;

	comparison->result->pairs_there_are = all;
	comparison->pair_count = sample ? limit : (uint32_t)all;
	comparison->pairs = calloc((size_t)comparison->pair_count + 1, sizeof(struct pair));
	if (!comparison->pairs)
		return -ENOMEM;
	for (uint32_t i = 0; i < comparison->pair_count; i++) {
		uint64_t which = i;

		if (sample)
			which = sim_mix(comparison->options->seed ^ sim_mix(++state)) % all;
		comparison->pairs[i].from = comparison->ports[which / comparison->port_count];
		comparison->pairs[i].to = comparison->ports[which % comparison->port_count];
	}
	return 0;
}

/* ---- what each control has ---- */

static int ask(struct comparison *comparison, struct sim_control *control)
{
	struct acm_port_facts from, to;

	for (uint32_t i = 0; i < comparison->pair_count; i++) {
		const struct pair *pair = &comparison->pairs[i];
		struct acm_path path = {.path_count = 1};
		int error = control->ops->port_facts(control, pair->from, &from);

		if (!error)
			error = control->ops->port_facts(control, pair->to, &to);
		if (error)
			return error;
		path.sgid = from.gids[0];
		path.dgid = to.gids[0];
		comparison->inquiries[i].port = pair->from;
		acm_sa_encode_path_get(&path, i + UINT64_C(1), comparison->inquiries[i].mad);
	}
	return sim_inquire(control, comparison->inquiries, comparison->pair_count,
			   comparison->options->timeout);
}

static bool is_port(struct sim_port_ref port, uint32_t node, uint32_t number)
{
	return port.node == node && port.port == number;
}

/* Follows the tables as a packet does. */
static void follow(const struct sim_topology *topology, const struct sim_tables *tables,
		   const struct pair *pair, struct finding *finding)
{
	const struct sim_port *at = &topology->nodes[pair->from.node].ports[pair->from.port];

	finding->arrives = is_port(pair->to, pair->from.node, pair->from.port);
	while (!finding->arrives && finding->hops < HOPS_MAX && at->peer != SIM_NONE) {
		const struct sim_switch_tables *next = &tables->switches[at->peer];
		uint8_t out;

		if (topology->nodes[at->peer].kind == SIM_HOST) {
			finding->arrives = is_port(pair->to, at->peer, at->peer_port);
			return;
		}
		finding->hops++;
		out = finding->path.dlid < next->lft_size ? next->lft[finding->path.dlid] : 0xff;
		if (out == 0 || out > topology->nodes[at->peer].port_count)
			return;
		at = &topology->nodes[at->peer].ports[out];
	}
}

static int find(struct comparison *comparison, struct sim_control *control,
		struct finding *findings)
{
	const struct sim_tables *tables;
	int error = ask(comparison, control);

	if (error)
		return error;
	tables = control->ops->tables(control);
	for (uint32_t i = 0; i < comparison->pair_count; i++) {
		const uint8_t *answer = comparison->inquiries[i].answer;
		struct finding *finding = &findings[i];
		struct acm_sa_header header;

		if (acm_sa_decode_header(answer, ACM_MAD_LENGTH, &header))
			return -EPROTO;
		finding->status = header.status;
		finding->decoded = !header.status &&
				   !acm_sa_decode_path(answer, ACM_MAD_LENGTH, &finding->path);
		if (finding->decoded)
			follow(comparison->topology, tables, &comparison->pairs[i], finding);
	}
	return 0;
}

/* ---- what differs ---- */

__attribute__((format(printf, 3, 4))) static void
differ(struct comparison *comparison, const struct pair *pair, const char *format, ...)
{
	const struct sim_node *nodes = comparison->topology->nodes;
	char text[512];
	int length = snprintf(text, sizeof(text), "%s/%u to %s/%u: ", nodes[pair->from.node].name,
			      pair->from.port, nodes[pair->to.node].name, pair->to.port);
	va_list arguments;

	comparison->pair_differs = true;
	if (length < 0 || (size_t)length >= sizeof(text) || !comparison->options->differ)
		return;
	va_start(arguments, format);
	vsnprintf(text + length, sizeof(text) - (size_t)length, format, arguments);
	va_end(arguments);
	comparison->options->differ(comparison->options->context, text);
}

static void compare_number(struct comparison *comparison, const struct pair *pair, const char *what,
			   uint32_t first, uint32_t second)
{
	if (first != second)
		differ(comparison, pair, "%s %" PRIu32 " with %s, %" PRIu32 " with %s", what, first,
		       comparison->names[0], second, comparison->names[1]);
}

static void compare_rate(struct comparison *comparison, const struct pair *pair, uint8_t first,
			 uint8_t second)
{
	uint32_t tenths[2] = {acm_rate_tenths_gbps(first), acm_rate_tenths_gbps(second)};

	if (first != second)
		differ(comparison, pair,
		       "rate %" PRIu32 ".%" PRIu32 " Gb/s with %s, %" PRIu32 ".%" PRIu32
		       " Gb/s with %s",
		       tenths[0] / 10, tenths[0] % 10, comparison->names[0], tenths[1] / 10,
		       tenths[1] % 10, comparison->names[1]);
}

/* Under the limit, the second control cannot tell one MTU from another. */
static void compare_mtu(struct comparison *comparison, const struct pair *pair, uint8_t first,
			uint8_t second)
{
	uint8_t limit = comparison->options->mtu_limit;

	if (limit && first < limit)
		return;
	if (limit && first > limit)
		first = limit;
	compare_number(comparison, pair, "MTU", acm_mtu_bytes(first), acm_mtu_bytes(second));
}

static void compare_records(struct comparison *comparison, const struct pair *pair,
			    const struct finding *first, const struct finding *second)
{
	const struct acm_path *a = &first->path, *b = &second->path;

	compare_mtu(comparison, pair, a->mtu, b->mtu);
	compare_rate(comparison, pair, a->rate, b->rate);
	compare_number(comparison, pair, "SL", a->sl, b->sl);
	if (a->pkey != b->pkey)
		differ(comparison, pair, "P_Key 0x%04x with %s, 0x%04x with %s", a->pkey,
		       comparison->names[0], b->pkey, comparison->names[1]);
	compare_number(comparison, pair, "reversible", a->reversible, b->reversible);
	compare_number(comparison, pair, "number of paths", a->path_count, b->path_count);
	compare_number(comparison, pair, "packet lifetime", a->packet_life, b->packet_life);
	compare_number(comparison, pair, "hop limit", a->hop_limit, b->hop_limit);
	compare_number(comparison, pair, "traffic class", a->traffic_class, b->traffic_class);
	compare_number(comparison, pair, "flow label", a->flow_label, b->flow_label);
	compare_number(comparison, pair, "DLID's owner reached", first->arrives, second->arrives);
	compare_number(comparison, pair, "hops", first->hops, second->hops);
}

static void compare_pair(struct comparison *comparison, uint32_t i)
{
	const struct pair *pair = &comparison->pairs[i];
	const struct finding *first = &comparison->findings[0][i];
	const struct finding *second = &comparison->findings[1][i];

	comparison->pair_differs = false;
	if (first->status != second->status)
		differ(comparison, pair, "status 0x%04x with %s, 0x%04x with %s", first->status,
		       comparison->names[0], second->status, comparison->names[1]);
	else if (first->decoded != second->decoded)
		differ(comparison, pair, "%s's path record is malformed",
		       comparison->names[first->decoded]);
	else if (first->decoded)
		compare_records(comparison, pair, first, second);
	comparison->result->differing += comparison->pair_differs;
	comparison->result->pairs++;
}

static int compare_lids(struct comparison *comparison, struct sim_control *const controls[2])
{
	struct acm_port_facts facts[2];

	for (uint32_t i = 0; i < comparison->port_count; i++) {
		for (int c = 0; c < 2; c++) {
			int error = controls[c]->ops->port_facts(controls[c], comparison->ports[i],
								 &facts[c]);

			if (error)
				return error;
		}
		comparison->result->lids_differing += facts[0].lid != facts[1].lid;
	}
	return 0;
}

/* ---- all of it ---- */

static int make_room(struct comparison *comparison)
{
	size_t count = (size_t)comparison->pair_count + 1;

	comparison->inquiries = calloc(count, sizeof(struct sim_inquiry));
	for (int c = 0; c < 2; c++)
		comparison->findings[c] = calloc(count, sizeof(struct finding));
	return comparison->inquiries && comparison->findings[0] && comparison->findings[1]
		       ? 0
		       : -ENOMEM;
}

static int compare(struct comparison *comparison, struct sim_control *const controls[2])
{
	int error = list_ports(comparison);

	if (!error)
		error = list_pairs(comparison);
	if (!error)
		error = make_room(comparison);
	for (int c = 0; c < 2 && !error; c++)
		error = find(comparison, controls[c], comparison->findings[c]);
	for (uint32_t i = 0; i < comparison->pair_count && !error; i++)
		compare_pair(comparison, i);
	return error ? error : compare_lids(comparison, controls);
}

int sim_compare_controls(const struct sim_topology *topology, struct sim_control *const controls[2],
			 const char *const names[2], const struct sim_compare_options *options,
			 struct sim_compare_result *result)
{
	struct comparison comparison = {
		.topology = topology, .names = names, .options = options, .result = result};
	int error;

	*result = (struct sim_compare_result){0};
	error = compare(&comparison, controls);
	free(comparison.ports);
	free(comparison.pairs);
	free(comparison.inquiries);
	free(comparison.findings[0]);
	free(comparison.findings[1]);
	return error;
}
