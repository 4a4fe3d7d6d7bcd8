/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_reader.h"

#include <acmite/wire.h>
#include <stdlib.h>
#include <string.h>
#include "fabric.h"

static const struct sim_word statuses[] = {
	{"success", ACM_STATUS_OK},
	{"no_memory", ACM_STATUS_NO_MEMORY},
	{"invalid", ACM_STATUS_INVALID},
	{"no_data", ACM_STATUS_NO_DATA},
	{"not_connected", ACM_STATUS_NOT_CONNECTED},
	{"timed_out", ACM_STATUS_TIMED_OUT},
	{"source_address", ACM_STATUS_SOURCE_ADDRESS},
	{"source_type", ACM_STATUS_SOURCE_TYPE},
	{"destination_address", ACM_STATUS_DESTINATION_ADDRESS},
	{"destination_type", ACM_STATUS_DESTINATION_TYPE},
	{NULL, 0},
};

/* ---- resolve ---- */

enum {
	ON,
	TO,
	BY,
	TO_ADDRESS,
	FROM,
	QUERY_SA,
	NO_DELAY,
	TIMES,
	CANCEL_AFTER,
	OF_PKEY,
	FROM_PORT,
	TO_PORT,
	RESOLVE_KEYS
};

static void read_ports(struct scenario_reader *reader, yaml_node_t *node, const char *what,
		       const struct sim_nodes *of, uint8_t *port)
{
	uint64_t number = 0;

	if (!sim_document_number(&reader->document, node, what, 1, UINT8_MAX, &number))
		return;
	*port = (uint8_t)number;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct sim_node *host = &reader->topology->nodes[of->nodes[i]];

		if (number <= host->port_count)
			continue;
		sim_fault_add(reader->faults, sim_document_place(node),
			      "'%s' has no port %u, 1 to %u were expected", host->name,
			      (unsigned)number, host->port_count);
		return;
	}
}

/* What only a path record says. */
static void read_path(struct scenario_reader *reader, yaml_node_t *const *values,
		      struct sim_resolve *resolve)
{
	uint64_t pkey = 0;

	for (int key = OF_PKEY; key <= TO_PORT; key++) {
		if (values[key] && resolve->by < SIM_BY_GID)
			sim_fault_add(
				reader->faults, sim_document_place(values[key]),
				"'pkey', 'from_port' and 'to_port' are about paths, they were "
				"expected beside 'by: gid' or 'by: lid' only");
	}
	sim_document_number(&reader->document, values[OF_PKEY], "pkey", 1, 0x7fff, &pkey);
	resolve->pkey = (uint16_t)pkey;
	read_ports(reader, values[FROM_PORT], "from_port", &resolve->on, &resolve->from_port);
	read_ports(reader, values[TO_PORT], "to_port", &resolve->to, &resolve->to_port);
}

static void read_resolve(struct scenario_reader *reader, yaml_node_t *map,
			 struct sim_resolve *resolve)
{
	static const char *const keys[RESOLVE_KEYS] = {
		"on",       "to",    "by",           "address", "from",      "query_sa",
		"no_delay", "times", "cancel_after", "pkey",    "from_port", "to_port"};
	static const struct sim_word forms[] = {{"name", SIM_BY_NAME}, {"ip", SIM_BY_IP},
						{"ip6", SIM_BY_IP6},   {"gid", SIM_BY_GID},
						{"lid", SIM_BY_LID},   {NULL, 0}};
	yaml_node_t *values[RESOLVE_KEYS];
	uint32_t by = SIM_BY_NAME;
	uint64_t times = 1;

	if (!sim_document_fields(&reader->document, map, "resolve", keys, RESOLVE_KEYS, values))
		return;
	if (!values[ON])
		sim_fault_add(reader->faults, sim_document_place(map),
			      "the resolve has no 'on', the nodes that ask were expected");
	if (!values[TO] == !values[TO_ADDRESS])
		sim_fault_add(reader->faults, sim_document_place(map),
			      "the resolve was expected to have either 'to', nodes, or 'address', "
			      "one that any node or none may hold");
	if (values[BY] && values[TO_ADDRESS])
		sim_fault_add(reader->faults, sim_document_place(values[BY]),
			      "'by' is about nodes in 'to', it was not expected beside 'address'");
	scenario_read_hosts(reader, values[ON], "on", &resolve->on);
	scenario_read_hosts(reader, values[TO], "to", &resolve->to);
	sim_document_word(&reader->document, values[BY], "by", forms, &by);
	resolve->by = (enum sim_by)by;
	read_path(reader, values, resolve);
	if (values[TO_ADDRESS])
		scenario_read_address(reader, values[TO_ADDRESS], "address", &resolve->address);
	if (values[FROM])
		resolve->has_source =
			scenario_read_address(reader, values[FROM], "from", &resolve->source);
	scenario_read_yes_no(reader, values[QUERY_SA], "query_sa", &resolve->query_sa);
	scenario_read_yes_no(reader, values[NO_DELAY], "no_delay", &resolve->no_delay);
	sim_document_number(&reader->document, values[TIMES], "times", 1, 10000, &times);
	resolve->times = (uint32_t)times;
	scenario_read_duration(reader, values[CANCEL_AFTER], "cancel_after",
			       &resolve->cancel_after);
}

/* An address that 'by' names and a node does not have is found here, not in the run. */
static void check_targets(struct scenario_reader *reader, yaml_node_t *map,
			  const struct sim_resolve *resolve)
{
	static const uint8_t types[] = {[SIM_BY_NAME] = ACM_ADDRESS_NAME,
					[SIM_BY_IP] = ACM_ADDRESS_IP,
					[SIM_BY_IP6] = ACM_ADDRESS_IP6};

	for (uint32_t i = 0; i < resolve->to.count && resolve->by <= SIM_BY_IP6; i++) {
		const struct sim_node *node = &reader->topology->nodes[resolve->to.nodes[i]];
		uint32_t have = 0;

		for (uint32_t j = 0; j < node->address_count; j++)
			have += node->addresses[j].type == types[resolve->by];
		if (have)
			continue;
		sim_fault_add(reader->faults, sim_document_place(map),
			      "'%s' has no %s in %s, one was expected to ask for", node->name,
			      resolve->by == SIM_BY_NAME ? "name"
			      : resolve->by == SIM_BY_IP ? "IPv4 address"
							 : "IPv6 address",
			      reader->topology_name);
		return;
	}
}

/* ---- expect ---- */

enum {
	STATUS,
	WITHIN,
	AFTER,
	SA_QUERIES,
	MULTICASTS,
	CACHED,
	MTU,
	RATE,
	SL,
	PKEY,
	NODE,
	EXPECT_KEYS
};

static void read_status(struct scenario_reader *reader, const yaml_node_t *node, uint32_t *bits)
{
	uint32_t status = 0;

	if (sim_document_word(&reader->document, node, "status", statuses, &status))
		*bits |= 1u << status;
}

static void read_statuses(struct scenario_reader *reader, yaml_node_t *node, uint32_t *bits)
{
	if (node && node->type == YAML_SEQUENCE_NODE) {
		for (size_t i = 0; i < sim_document_items(&reader->document, node, "status"); i++)
			read_status(reader, sim_document_item(&reader->document, node, i), bits);
	} else if (node) {
		read_status(reader, node, bits);
	}
}

static void read_path_fields(struct scenario_reader *reader, yaml_node_t *const *values,
			     struct sim_expectation *expect)
{
	struct sim_document *document = &reader->document;
	uint64_t mtu = 0, rate = 0, sl = 0, pkey = 0;
	struct sim_nodes nodes = {0};

	sim_document_number(document, values[MTU], "mtu", 256, 4096, &mtu);
	expect->mtu = (uint32_t)mtu;
	if (sim_document_number(document, values[RATE], "rate", 1, 100000, &rate) && rate) {
		expect->rate = acm_rate_code((uint32_t)rate * 10);
		if (!expect->rate)
			sim_fault_add(reader->faults, sim_document_place(values[RATE]),
				      "rate is no rate of InfiniBand, Gb/s were expected: 10, 40, "
				      "100, 200, ...");
	}
	expect->has_sl = values[SL] && sim_document_number(document, values[SL], "sl", 0, 15, &sl);
	expect->sl = (uint8_t)sl;
	sim_document_number(document, values[PKEY], "pkey", 1, 0xffff, &pkey);
	expect->pkey = (uint16_t)pkey;
	scenario_read_hosts(reader, values[NODE], "node", &nodes);
	if (nodes.count == 1)
		expect->node = nodes.nodes[0];
	else if (nodes.count)
		sim_fault_add(reader->faults, sim_document_place(values[NODE]),
			      "a path leads to one node, these are %u", nodes.count);
	free(nodes.nodes);
}

static void check_contradictions(struct scenario_reader *reader, const yaml_node_t *map,
				 yaml_node_t *const *values, const struct sim_expectation *expect)
{
	bool of_path = values[MTU] || values[RATE] || values[SL] || values[PKEY] || values[NODE];

	if (of_path && expect->statuses != 1u << ACM_STATUS_OK)
		sim_fault_add(
			reader->faults, sim_document_place(map),
			"these expectations contradict each other: only 'status: success' has "
			"a path with mtu, rate, sl, pkey and node");
	if (expect->after > expect->within)
		sim_fault_add(reader->faults, sim_document_place(values[AFTER]),
			      "'after' is later than 'within', an answer can never come so");
	if (expect->cached.given && expect->cached.least &&
	    (expect->sa_queries.least || expect->multicasts.least))
		sim_fault_add(reader->faults, sim_document_place(values[CACHED]),
			      "'cached: yes' contradicts the queries that are expected: what is "
			      "cached needs none");
}

static void read_expect(struct scenario_reader *reader, yaml_node_t *map,
			struct sim_expectation *expect)
{
	static const char *const keys[EXPECT_KEYS] = {"status",     "within", "after", "sa_queries",
						      "multicasts", "cached", "mtu",   "rate",
						      "sl",         "pkey",   "node"};
	yaml_node_t *values[EXPECT_KEYS];
	uint32_t before = reader->faults->count;
	bool cached = false;

	if (!sim_document_fields(&reader->document, map, "expect", keys, EXPECT_KEYS, values))
		return;
	read_statuses(reader, values[STATUS], &expect->statuses);
	scenario_read_duration(reader, values[WITHIN], "within", &expect->within);
	scenario_read_duration(reader, values[AFTER], "after", &expect->after);
	scenario_read_bounds(reader, values[SA_QUERIES], "sa_queries", &expect->sa_queries);
	scenario_read_bounds(reader, values[MULTICASTS], "multicasts", &expect->multicasts);
	scenario_read_yes_no(reader, values[CACHED], "cached", &cached);
	if (values[CACHED])
		expect->cached =
			(struct sim_bounds){.given = true, .least = cached, .most = cached};
	read_path_fields(reader, values, expect);
	if (reader->faults->count == before)
		check_contradictions(reader, map, values, expect);
}

/* ---- check ---- */

static void find_drop(struct scenario_reader *reader, const yaml_node_t *node,
		      struct sim_check *check)
{
	const char *text = sim_document_text(&reader->document, node, "drop");

	check->of_drop = true;
	for (uint32_t i = 0; text && i < SIM_DROP_COUNT; i++) {
		if (!strcmp(sim_drop_name((enum sim_drop)i), text)) {
			check->counter = i;
			return;
		}
	}
	if (text)
		sim_fault_add(reader->faults, sim_document_place(node),
			      "the fabric drops nothing for '%s', one of its causes was expected: "
			      "no_route, hop_limit, link, loss, pkey, qkey, no_qp, no_buffer, mtu",
			      text);
}

static void find_counter(struct scenario_reader *reader, const yaml_node_t *node,
			 struct sim_check *check)
{
	const char *text = sim_document_text(&reader->document, node, "counter");

	for (uint32_t i = 0; text && i < ACM_COUNTER_COUNT; i++) {
		if (!strcmp(acm_counter_name((enum acm_counter)i), text)) {
			check->counter = i;
			return;
		}
	}
	if (text)
		sim_fault_add(
			reader->faults, sim_document_place(node),
			"there is no counter '%s', one of 'acmite counters' was expected, such "
			"as evicted, expired, retries or learned",
			text);
}

static void read_check(struct scenario_reader *reader, yaml_node_t *map, struct sim_check *check)
{
	enum { CHECK_ON, COUNTER, DROP, IS, CHECK_KEYS };
	static const char *const keys[CHECK_KEYS] = {"on", "counter", "drop", "is"};
	yaml_node_t *values[CHECK_KEYS];

	if (!sim_document_fields(&reader->document, map, "check", keys, CHECK_KEYS, values))
		return;
	if (!values[COUNTER] == !values[DROP] || !values[IS] ||
	    !values[COUNTER] != !values[CHECK_ON]) {
		sim_fault_add(
			reader->faults, sim_document_place(map),
			"a check was expected to have 'on' and 'counter', or 'drop'; and 'is', "
			"the count");
		return;
	}
	scenario_read_hosts(reader, values[CHECK_ON], "on", &check->on);
	if (values[COUNTER])
		find_counter(reader, values[COUNTER], check);
	else
		find_drop(reader, values[DROP], check);
	scenario_read_bounds(reader, values[IS], "is", &check->bounds);
}

/* ---- steps ---- */

enum { AT, RESOLVE, FAULT, CHECK, EXPECT, STEP_KEYS };

static void read_action(struct scenario_reader *reader, yaml_node_t *map,
			yaml_node_t *const *values, struct sim_step *step)
{
	if (!values[RESOLVE] + !values[FAULT] + !values[CHECK] != 2) {
		sim_fault_add(reader->faults, sim_document_place(map),
			      "a step was expected to have exactly one of: resolve, fault, check");
		return;
	}
	if (values[EXPECT] && !values[RESOLVE])
		sim_fault_add(reader->faults, sim_document_place(values[EXPECT]),
			      "'expect' is about the answers to a resolve, this step has none");
	if (values[RESOLVE]) {
		step->kind = SIM_STEP_RESOLVE;
		read_resolve(reader, values[RESOLVE], &step->resolve);
		check_targets(reader, values[RESOLVE], &step->resolve);
		if (values[EXPECT])
			read_expect(reader, values[EXPECT], &step->expect);
	} else if (values[FAULT]) {
		step->kind = SIM_STEP_FAULT;
		scenario_read_fault(reader, values[FAULT], &step->fault);
	} else {
		step->kind = SIM_STEP_CHECK;
		read_check(reader, values[CHECK], &step->check);
	}
}

static void read_step(struct scenario_reader *reader, yaml_node_t *map, uint64_t previous,
		      struct sim_step *step)
{
	static const char *const keys[STEP_KEYS] = {"at", "resolve", "fault", "check", "expect"};
	yaml_node_t *values[STEP_KEYS];

	*step = (struct sim_step){
		.place = sim_document_place(map),
		.at = previous,
		.resolve = {.times = 1, .cancel_after = ACM_NEVER},
		.expect = {.within = ACM_NEVER, .node = SIM_NONE},
	};
	if (!sim_document_fields(&reader->document, map, "a step", keys, STEP_KEYS, values))
		return;
	scenario_read_duration(reader, values[AT], "at", &step->at);
	if (step->at < previous) {
		sim_fault_add(reader->faults, sim_document_place(values[AT]),
			      "this step comes before the one above it, times that do not go back "
			      "were expected");
		step->at = previous;
	}
	read_action(reader, map, values, step);
}

void scenario_read_steps(struct scenario_reader *reader, yaml_node_t *steps)
{
	struct sim_scenario *scenario = reader->scenario;
	size_t count = sim_document_items(&reader->document, steps, "steps");

	scenario->steps = calloc(count + 1, sizeof(*scenario->steps));
	if (!scenario->steps) {
		reader->faults->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		read_step(reader, sim_document_item(&reader->document, steps, i),
			  i ? scenario->steps[i - 1].at : 0, &scenario->steps[i]);
		scenario->step_count++;
	}
}
