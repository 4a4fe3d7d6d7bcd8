/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "packet_faults.h"

#include <errno.h>
#include <stdlib.h>

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

static bool concerns(const struct sim_fault_plan *plan, const struct sim_packet *packet,
		     uint32_t from, uint32_t to)
{
	bool answer = packet->length > METHOD_OFFSET &&
		      (packet->payload[METHOD_OFFSET] & METHOD_ANSWER) != 0;

	if (!(plan->classes & (answer ? SIM_CLASS_ANSWER : SIM_CLASS_REQUEST)))
		return false;
	if (!plan->nodes.count)
		return true;
	for (uint32_t i = 0; i < plan->nodes.count; i++) {
		if (plan->nodes.nodes[i] == from || plan->nodes.nodes[i] == to)
			return true;
	}
	return false;
}

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

void sim_packet_faults_meddle(void *context, const struct sim_packet *packet, uint32_t from,
			      uint32_t to, struct sim_meddling *meddling)
{
	struct sim_packet_faults *faults = context;

	for (uint32_t i = 0; i < faults->count; i++) {
		struct sim_packet_rule *rule = &faults->rules[i];

		if (concerns(rule->plan, packet, from, to) && strikes(rule))
			apply(rule, packet, meddling);
	}
}
