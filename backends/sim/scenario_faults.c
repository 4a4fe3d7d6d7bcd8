/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_reader.h"

#include <acmite/bytes.h>
#include <acmite/wire.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "subnet.h"

enum {
	KIND,
	NODE,
	FOR,
	LINK,
	PACKET,
	RATE,
	PACKETS,
	DELAY,
	STATUS,
	LIDS,
	PKEY,
	MEMBERSHIP,
	ADDRESS,
	PERIOD,
	DOWN,
	GROUP,
	REASON,
	PREFIX,
	KEYS
};
static const char *const keys[KEYS] = {
	"kind", "node", "for",        "link",    "packet", "rate", "packets", "delay",  "status",
	"lids", "pkey", "membership", "address", "period", "down", "group",   "reason", "prefix"};

/* What a kind of fault is called, and which keys it must and may have beside `kind`. */
#define BIT(key) (1u << (key))
#define PACKET_KEYS                                                                                \
	(BIT(NODE) | BIT(LINK) | BIT(GROUP) | BIT(FOR) | BIT(PACKET) | BIT(RATE) | BIT(PACKETS))
/* A fabric that does nothing but go up and down never ends. */
#define PERIOD_LEAST ACM_NSEC_PER_USEC
/* MAD status of the SA (IBA vol. 1, 15.4.2). */
#define NO_RESOURCES    0x0100
#define REQUEST_INVALID 0x0200

static const struct fault_shape {
	const char *name;
	uint32_t needs;
	uint32_t takes;
} shapes[SIM_FAULT_KINDS] = {
	[SIM_FAULT_STOP] = {"stop", BIT(NODE), BIT(FOR)},
	[SIM_FAULT_START] = {"start", BIT(NODE), 0},
	[SIM_FAULT_RESTART] = {"restart", BIT(NODE), 0},
	[SIM_FAULT_PAUSE] = {"pause", BIT(NODE), BIT(FOR)},
	[SIM_FAULT_RESUME] = {"resume", BIT(NODE), 0},
	[SIM_FAULT_RELOAD] = {"reload", BIT(NODE), 0},
	[SIM_FAULT_CLAIM] = {"claim", BIT(NODE) | BIT(ADDRESS), BIT(FOR)},
	[SIM_FAULT_DISCLAIM] = {"disclaim", BIT(NODE) | BIT(ADDRESS), BIT(FOR)},
	[SIM_FAULT_MOVE] = {"move", BIT(NODE) | BIT(ADDRESS), BIT(FOR)},
	[SIM_FAULT_LINK_DOWN] = {"link_down", BIT(LINK), BIT(FOR)},
	[SIM_FAULT_LINK_UP] = {"link_up", BIT(LINK), 0},
	[SIM_FAULT_LINK_FLAPPING] = {"link_flapping", BIT(LINK) | BIT(PERIOD),
				     BIT(DOWN) | BIT(FOR)},
	[SIM_FAULT_LOSS] = {"loss", 0, PACKET_KEYS},
	[SIM_FAULT_DUPLICATION] = {"duplication", 0, PACKET_KEYS | BIT(DELAY)},
	[SIM_FAULT_DELAY] = {"delay", BIT(DELAY), PACKET_KEYS},
	[SIM_FAULT_REORDERING] = {"reordering", BIT(DELAY), PACKET_KEYS},
	[SIM_FAULT_CORRUPTION] = {"corruption", 0, PACKET_KEYS},
	[SIM_FAULT_HOSTILE_SA] = {"hostile_sa", 0, BIT(NODE) | BIT(FOR) | BIT(RATE) | BIT(PACKETS)},
	[SIM_FAULT_SA_SILENT] = {"sa_silent", 0, BIT(NODE) | BIT(FOR)},
	[SIM_FAULT_SA_SLOW] = {"sa_slow", BIT(DELAY), BIT(NODE) | BIT(FOR)},
	[SIM_FAULT_SA_BUSY] = {"sa_busy", 0, BIT(NODE) | BIT(FOR)},
	[SIM_FAULT_SA_ERROR] = {"sa_error", 0, BIT(NODE) | BIT(FOR) | BIT(STATUS)},
	[SIM_FAULT_SA_TWICE] = {"sa_twice", 0, BIT(NODE) | BIT(FOR)},
	[SIM_FAULT_JOIN_REFUSED] = {"join_refused", 0,
				    BIT(NODE) | BIT(FOR) | BIT(STATUS) | BIT(REASON)},
	[SIM_FAULT_SM_FAIL_OVER] = {"sm_fail_over", BIT(NODE), BIT(LIDS)},
	[SIM_FAULT_GROUPS_LOST] = {"groups_lost", 0, 0},
	[SIM_FAULT_MLID_SHARED] = {"mlid_shared", 0, 0},
	[SIM_FAULT_TREE_DELAY] = {"tree_delay", BIT(DELAY), BIT(FOR)},
	[SIM_FAULT_PKEY] = {"pkey", BIT(NODE) | BIT(PKEY) | BIT(MEMBERSHIP), 0},
	[SIM_FAULT_HOSTILE_DATAGRAMS] = {"hostile_datagrams", BIT(NODE), BIT(PERIOD) | BIT(FOR)},
	[SIM_FAULT_LID_CHANGE] = {"lid_change", BIT(NODE), 0},
	[SIM_FAULT_SUBNET_PREFIX] = {"subnet_prefix", BIT(PREFIX), BIT(FOR)},
	[SIM_FAULT_RECEIVE_QUEUE_FULL] = {"receive_queue_full", BIT(NODE), BIT(FOR)},
};

const char *sim_fault_kind_name(enum sim_fault_kind kind)
{
	return shapes[kind].name;
}

/* Unknown kinds are one fault, with all that there are. */
static bool read_kind(struct scenario_reader *reader, const yaml_node_t *node,
		      enum sim_fault_kind *kind)
{
	const char *text = sim_document_text(&reader->document, node, "kind");
	char list[512];
	size_t length = 0;

	if (!text)
		return false;
	for (int i = 0; i < SIM_FAULT_KINDS; i++) {
		if (!strcmp(shapes[i].name, text)) {
			*kind = (enum sim_fault_kind)i;
			return true;
		}
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   i ? ", " : "", shapes[i].name);
	}
	sim_fault_add(reader->faults, sim_document_place(node),
		      "there is no fault of kind '%s', expected one of: %s", text, list);
	return false;
}

static bool check_keys(struct scenario_reader *reader, const yaml_node_t *map,
		       yaml_node_t *const *values, enum sim_fault_kind kind)
{
	const struct fault_shape *shape = &shapes[kind];
	uint32_t allowed = shape->needs | shape->takes | BIT(KIND);
	bool good = true;

	for (int key = 0; key < KEYS; key++) {
		if (values[key] && !(allowed & BIT(key))) {
			sim_fault_add(reader->faults, sim_document_place(values[key]),
				      "a fault of kind %s has no '%s'", shape->name, keys[key]);
			good = false;
		} else if (!values[key] && (shape->needs & BIT(key))) {
			sim_fault_add(reader->faults, sim_document_place(map),
				      "the fault of kind %s has no '%s', one was expected",
				      shape->name, keys[key]);
			good = false;
		}
	}
	return good;
}

/* "packets: [0, 2]": these of those concerned, from 0. */
static void read_packets(struct scenario_reader *reader, const yaml_node_t *list, uint64_t *packets)
{
	size_t count = sim_document_items(&reader->document, list, "packets");

	for (size_t i = 0; i < count; i++) {
		yaml_node_t *item = sim_document_item(&reader->document, list, i);
		uint64_t number = 0;

		if (sim_document_number(&reader->document, item, "a packet's number", 0, 63,
					&number))
			*packets |= UINT64_C(1) << number;
	}
}

/* "all", "10/2048" for ACM groups of 10 Gb/s and 2048 bytes, or an MGID. */
static void read_group(struct scenario_reader *reader, const yaml_node_t *node,
		       struct sim_fault_plan *fault)
{
	const char *text = node ? sim_document_text(&reader->document, node, "group") : NULL;
	unsigned int rate = 0, mtu = 0;
	char rest;

	if (!text)
		return;
	if (!strcmp(text, "all")) {
		fault->groups = SIM_GROUPS_ALL;
		return;
	}
	if (inet_pton(AF_INET6, text, fault->mgid.raw) == 1 && fault->mgid.raw[0] == 0xff) {
		fault->groups = SIM_GROUPS_MGID;
		return;
	}
	fault->groups = SIM_GROUPS_QUALITY;
	if (sscanf(text, "%u/%u%c", &rate, &mtu, &rest) == 2 && rate < 10000) {
		fault->group_rate = acm_rate_code(rate == 2 ? 25 : rate * 10);
		fault->group_mtu = acm_mtu_code(mtu);
	}
	if (!fault->group_rate || !fault->group_mtu)
		sim_fault_add(reader->faults, sim_document_place(node),
			      "group is '%s', one was expected: all, the rate in Gb/s and the MTU "
			      "in bytes of ACM groups, as 10/2048, or an MGID",
			      text);
}

static void check_sa_class(struct scenario_reader *reader, yaml_node_t *const *values,
			   const struct sim_fault_plan *fault)
{
	if (!(fault->classes & (SIM_CLASS_SA_REQUEST | SIM_CLASS_SA_ANSWER)))
		return;
	if (values[LINK] || values[GROUP])
		sim_fault_add(reader->faults, sim_document_place(values[PACKET]),
			      "MADs of the SA are told apart by node only, 'link' and 'group' were "
			      "not expected beside them");
	if (fault->kind == SIM_FAULT_CORRUPTION && fault->classes == SIM_CLASS_SA_REQUEST)
		sim_fault_add(reader->faults, sim_document_place(values[PACKET]),
			      "only answers of the SA are corrupted, sa_answer was expected");
}

static void read_packet_fault(struct scenario_reader *reader, yaml_node_t *const *values,
			      struct sim_fault_plan *fault)
{
	static const struct sim_word classes[] = {
		{"any", SIM_CLASS_REQUEST | SIM_CLASS_ANSWER},
		{"request", SIM_CLASS_REQUEST},
		{"answer", SIM_CLASS_ANSWER},
		{"sa", SIM_CLASS_SA_REQUEST | SIM_CLASS_SA_ANSWER},
		{"sa_request", SIM_CLASS_SA_REQUEST},
		{"sa_answer", SIM_CLASS_SA_ANSWER},
		{NULL, 0}};

	sim_document_word(&reader->document, values[PACKET], "packet", classes, &fault->classes);
	check_sa_class(reader, values, fault);
	read_group(reader, values[GROUP], fault);
	scenario_read_share(reader, values[RATE], "rate", &fault->rate);
	read_packets(reader, values[PACKETS], &fault->packets);
	if (values[RATE] && values[PACKETS])
		sim_fault_add(
			reader->faults, sim_document_place(values[PACKETS]),
			"'packets' and 'rate' contradict each other, one of them was expected");
}

static void read_refusal(struct scenario_reader *reader, yaml_node_t *const *values,
			 struct sim_fault_plan *fault)
{
	static const struct sim_word reasons[] = {{"rate", SIM_REFUSED_RATE},
						  {"mtu", SIM_REFUSED_MTU},
						  {"pkey", SIM_REFUSED_PKEY},
						  {"no_mlids", SIM_REFUSED_NO_MLIDS},
						  {NULL, 0}};

	sim_document_word(&reader->document, values[REASON], "reason", reasons, &fault->refusal);
	if (fault->refusal == SIM_REFUSED_NO_MLIDS)
		fault->status = NO_RESOURCES;
	if (values[REASON] && values[STATUS])
		sim_fault_add(reader->faults, sim_document_place(values[STATUS]),
			      "the status follows from the reason, one of them was expected");
}

/* Whoever holds it by the topology loses it. */
static void find_holders(struct scenario_reader *reader, yaml_node_t *const *values,
			 struct sim_fault_plan *fault)
{
	const struct sim_topology *topology = reader->topology;
	struct sim_nodes *holders = &fault->holders;

	holders->nodes = calloc(topology->node_count, sizeof(*holders->nodes));
	if (!holders->nodes)
		reader->faults->no_memory = true;
	for (uint32_t i = 0; holders->nodes && i < topology->node_count; i++) {
		const struct sim_node *node = &topology->nodes[i];

		for (uint32_t j = 0; j < node->address_count; j++) {
			if (acm_address_equal(&node->addresses[j], &fault->address)) {
				holders->nodes[holders->count++] = i;
				break;
			}
		}
	}
	if (!holders->count)
		sim_fault_add(reader->faults, sim_document_place(values[ADDRESS]),
			      "no node of %s holds this address, one that moves from its node was "
			      "expected",
			      reader->topology_name);
	if (fault->nodes.count > 1)
		sim_fault_add(reader->faults, sim_document_place(values[NODE]),
			      "an address moves to one node, these are %u", fault->nodes.count);
}

/* "fec0:0:0:1::": the upper half of a GID whose lower half is zero. */
static void read_prefix(struct scenario_reader *reader, const yaml_node_t *node, uint64_t *prefix)
{
	const char *text = node ? sim_document_text(&reader->document, node, "prefix") : NULL;
	struct acm_gid gid;

	if (!text)
		return;
	if (inet_pton(AF_INET6, text, gid.raw) == 1) {
		*prefix = load_be64(gid.raw);
		if (*prefix && !load_be64(gid.raw + 8) && gid.raw[0] != 0xff)
			return;
	}
	sim_fault_add(reader->faults, sim_document_place(node),
		      "prefix is '%s', the upper half of GIDs was expected, such as fec0::", text);
}

static void read_subnet_fault(struct scenario_reader *reader, yaml_node_t *const *values,
			      struct sim_fault_plan *fault)
{
	static const struct sim_word lids[] = {{"kept", 0}, {"reassigned", 1}, {NULL, 0}};
	static const struct sim_word memberships[] = {{"none", SIM_MEMBER_NONE},
						      {"limited", SIM_MEMBER_LIMITED},
						      {"full", SIM_MEMBER_FULL},
						      {NULL, 0}};
	uint32_t reassigned = 0;
	uint64_t number = 0;

	sim_document_word(&reader->document, values[LIDS], "lids", lids, &reassigned);
	fault->lids_reassigned = reassigned != 0;
	sim_document_word(&reader->document, values[MEMBERSHIP], "membership", memberships,
			  &fault->membership);
	if (sim_document_number(&reader->document, values[PKEY], "pkey", 1, 0x7fff, &number))
		fault->pkey = (uint16_t)number;
	number = fault->status;
	if (sim_document_number(&reader->document, values[STATUS], "status", 1, 0xffff, &number))
		fault->status = (uint16_t)number;
}

void scenario_read_fault(struct scenario_reader *reader, yaml_node_t *map,
			 struct sim_fault_plan *fault)
{
	yaml_node_t *values[KEYS];

	*fault = (struct sim_fault_plan){.duration = ACM_NEVER,
					 .classes = SIM_CLASS_REQUEST | SIM_CLASS_ANSWER,
					 .rate = 1,
					 .period = ACM_NSEC_PER_MSEC,
					 .down = 0.5};

	if (!sim_document_fields(&reader->document, map, "a fault", keys, KEYS, values))
		return;
	if (!values[KIND]) {
		sim_fault_add(reader->faults, sim_document_place(map),
			      "the fault has no 'kind', one was expected");
		return;
	}
	if (!read_kind(reader, values[KIND], &fault->kind) ||
	    !check_keys(reader, map, values, fault->kind))
		return;
	scenario_read_hosts(reader, values[NODE], "node", &fault->nodes);
	scenario_read_links(reader, values[LINK], &fault->links);
	scenario_read_duration(reader, values[FOR], "for", &fault->duration);
	scenario_read_duration(reader, values[DELAY], "delay", &fault->delay);
	scenario_read_duration(reader, values[PERIOD], "period", &fault->period);
	scenario_read_share(reader, values[DOWN], "down", &fault->down);
	if (values[PERIOD] && fault->period < PERIOD_LEAST)
		sim_fault_add(reader->faults, sim_document_place(values[PERIOD]),
			      "a period of at least 1us was expected");
	fault->status = fault->kind == SIM_FAULT_JOIN_REFUSED ? REQUEST_INVALID : 0x0700;
	read_packet_fault(reader, values, fault);
	if (fault->kind == SIM_FAULT_HOSTILE_SA)
		fault->classes = SIM_CLASS_SA_ANSWER;
	read_subnet_fault(reader, values, fault);
	read_refusal(reader, values, fault);
	read_prefix(reader, values[PREFIX], &fault->prefix);
	if (values[ADDRESS] &&
	    scenario_read_address(reader, values[ADDRESS], "address", &fault->address) &&
	    fault->kind == SIM_FAULT_MOVE)
		find_holders(reader, values, fault);
	if (fault->kind == SIM_FAULT_SM_FAIL_OVER && fault->nodes.count > 1)
		sim_fault_add(reader->faults, sim_document_place(values[NODE]),
			      "one host takes over as subnet manager, these are %u",
			      fault->nodes.count);
}

void sim_fault_plan_free(struct sim_fault_plan *plan)
{
	free(plan->nodes.nodes);
	free(plan->links.nodes);
	free(plan->holders.nodes);
	plan->nodes = plan->links = plan->holders = (struct sim_nodes){0};
}
