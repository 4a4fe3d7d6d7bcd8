/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "packet_faults.h"

#include <acmite/wire.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "hostile_mads.h"

/* The method of an ACM MAD, and the bit of it that marks an answer. */
#define METHOD_OFFSET 3
#define METHOD_ANSWER 0x80

struct sim_packet_rule {
	const struct sim_fault_plan *plan;
	uint64_t key;
	uint64_t seen; /* packets that it concerned */
	uint64_t drawn;
};

void sim_packet_faults_free(struct sim_packet_faults *faults)
{
	free(faults->rules);
	faults->rules = NULL;
	faults->count = faults->room = 0;
}

int sim_packet_faults_add(struct sim_packet_faults *faults, const struct sim_fault_plan *plan)
{
	if (faults->count == faults->room) {
		uint32_t room = faults->room ? faults->room * 2 : 8;
		struct sim_packet_rule *rules = realloc(faults->rules, room * sizeof(*rules));

		if (!rules)
			return -ENOMEM;
		faults->rules = rules;
		faults->room = room;
	}
	faults->rules[faults->count++] = (struct sim_packet_rule){
		.plan = plan, .key = sim_mix(faults->seed ^ sim_mix(++faults->applied))};
	return 0;
}

void sim_packet_faults_remove(struct sim_packet_faults *faults, const struct sim_fault_plan *plan)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < faults->count; i++) {
		if (faults->rules[i].plan != plan)
			faults->rules[kept++] = faults->rules[i];
	}
	faults->count = kept;
}

static uint64_t draw(struct sim_packet_rule *rule)
{
	return sim_mix(rule->key + rule->drawn++ * UINT64_C(0x9e3779b97f4a7c15));
}

/* ---- which packets ---- */

static bool holds(const struct sim_nodes *nodes, uint32_t node)
{
	for (uint32_t i = 0; i < nodes->count; i++) {
		if (nodes->nodes[i] == node)
			return true;
	}
	return false;
}

static bool is_of_class(const struct sim_fault_plan *plan, const struct sim_packet *packet)
{
	bool answer = packet->length > METHOD_OFFSET &&
		      (packet->payload[METHOD_OFFSET] & METHOD_ANSWER) != 0;

	return (plan->classes & (answer ? SIM_CLASS_ANSWER : SIM_CLASS_REQUEST)) != 0;
}

static bool is_of_group(const struct sim_fault_plan *plan, const struct sim_packet *packet)
{
	uint8_t rate, mtu;

	if (plan->groups == SIM_GROUPS_NONE)
		return true;
	if (packet->dlid < ACM_LID_MULTICAST)
		return false;
	if (plan->groups == SIM_GROUPS_MGID)
		return !memcmp(&plan->mgid, &packet->dgid, sizeof(packet->dgid));
	return plan->groups == SIM_GROUPS_ALL ||
	       (acm_group_parse(&packet->dgid, packet->pkey, &rate, &mtu) &&
		rate == plan->group_rate && mtu == plan->group_mtu);
}

/* ---- what is done to them ---- */

static bool strikes(struct sim_packet_rule *rule)
{
	uint64_t number = rule->seen++;

	if (rule->plan->packets)
		return number < 64 && (rule->plan->packets >> number & 1);
	return (double)(draw(rule) >> 11) * 0x1p-53 < rule->plan->rate;
}

static void apply(struct sim_packet_rule *rule, const struct sim_packet *packet,
		  struct sim_meddling *meddling)
{
	const struct sim_fault_plan *plan = rule->plan;

	if (plan->kind == SIM_FAULT_LOSS) {
		meddling->lost = true;
	} else if (plan->kind == SIM_FAULT_DUPLICATION) {
		meddling->twice = true;
		meddling->twice_delay = plan->delay;
	} else if (plan->kind == SIM_FAULT_DELAY) {
		meddling->delay += plan->delay;
	} else if (plan->kind == SIM_FAULT_REORDERING) {
		meddling->delay += draw(rule) % (plan->delay + 1);
	} else if (packet->length) {
		meddling->offset = (uint16_t)(draw(rule) % packet->length);
		meddling->flipped = (uint8_t)(1u << draw(rule) % 8);
	}
}

static void meddle(struct sim_packet_rule *rule, const struct sim_packet *packet,
		   struct sim_meddling *meddling)
{
	if (is_of_class(rule->plan, packet) && is_of_group(rule->plan, packet) && strikes(rule))
		apply(rule, packet, meddling);
}

static void on_link(void *context, const struct sim_packet *packet, uint32_t from, uint32_t link,
		    struct sim_meddling *meddling)
{
	struct sim_packet_faults *faults = context;

	for (uint32_t i = 0; i < faults->count; i++) {
		const struct sim_fault_plan *plan = faults->rules[i].plan;

		if (holds(&plan->links, link) && (!plan->nodes.count || holds(&plan->nodes, from)))
			meddle(&faults->rules[i], packet, meddling);
	}
}

static void to_node(void *context, const struct sim_packet *packet, uint32_t from, uint32_t to,
		    struct sim_meddling *meddling)
{
	struct sim_packet_faults *faults = context;

	for (uint32_t i = 0; i < faults->count; i++) {
		const struct sim_fault_plan *plan = faults->rules[i].plan;

		if (!plan->links.count &&
		    (!plan->nodes.count || holds(&plan->nodes, from) || holds(&plan->nodes, to)))
			meddle(&faults->rules[i], packet, meddling);
	}
}

void sim_packet_faults_meddler(struct sim_packet_faults *faults, struct sim_meddler *meddler)
{
	*meddler = (struct sim_meddler){.on_link = on_link, .to_node = to_node, .context = faults};
}

/* ---- MADs to the SA, and their answers ---- */

static void flip_bit(uint64_t drawn, uint8_t *mad, uint32_t *length, uint32_t room)
{
	(void)room;
	if (*length)
		mad[drawn % *length] ^= (uint8_t)(1u << (drawn >> 32) % 8);
}

static void judge(struct sim_packet_rule *rule, struct sim_sa_verdict *verdict)
{
	const struct sim_fault_plan *plan = rule->plan;
	bool both = (plan->classes & SIM_CLASS_SA_REQUEST) && (plan->classes & SIM_CLASS_SA_ANSWER);
	bool of_request = both ? draw(rule) & 1 : (plan->classes & SIM_CLASS_SA_REQUEST) != 0;

	if (plan->kind == SIM_FAULT_LOSS && of_request) {
		verdict->fate = SIM_SA_LOST;
	} else if (plan->kind == SIM_FAULT_LOSS) {
		verdict->lost_answer = true;
	} else if (plan->kind == SIM_FAULT_DUPLICATION) {
		verdict->twice = true;
		verdict->twice_gap = plan->delay;
	} else if (plan->kind == SIM_FAULT_DELAY) {
		verdict->delay += plan->delay;
	} else if (plan->kind == SIM_FAULT_REORDERING) {
		verdict->delay += draw(rule) % (plan->delay + 1);
	} else {
		verdict->alter =
			plan->kind == SIM_FAULT_HOSTILE_SA ? sim_hostile_sa_answer : flip_bit;
		verdict->alter_draw = draw(rule);
	}
}

void sim_packet_faults_judge(struct sim_packet_faults *faults, const struct sim_sa_query *query,
			     struct sim_sa_verdict *verdict)
{
	for (uint32_t i = 0; i < faults->count; i++) {
		struct sim_packet_rule *rule = &faults->rules[i];
		const struct sim_fault_plan *plan = rule->plan;

		if ((plan->classes & (SIM_CLASS_SA_REQUEST | SIM_CLASS_SA_ANSWER)) &&
		    (!plan->nodes.count || holds(&plan->nodes, query->port.node)) && strikes(rule))
			judge(rule, verdict);
	}
}
