/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_faults.h"

#include <acmite/sa.h>
#include <acmite/wire.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "builtin_control.h"
#include "hostile_mads.h"
#include "ibsim_control.h"
#include "wiring.h"

#define MAD_STATUS_BUSY       0x0001
#define MAD_STATUS_NO_RECORDS 0x0300
/* Bytes of a MAD with a member record (IBA vol. 1, 15.2.5.17). */
#define MAD_GROUP_MTU  94
#define MAD_GROUP_PKEY 96
#define MAD_GROUP_RATE 98
#define TWICE_GAP      (20 * ACM_NSEC_PER_USEC)

/* Links that go up and down, nodes that send what they ought not to. */
struct sim_recurring {
	const struct sim_fault_plan *plan;
	uint64_t next; /* when something happens */
	bool down;     /* the links are */
	uint64_t drawn;
};

int sim_fabric_faults_init(struct sim_fabric_faults *faults, const struct sim_topology *topology,
			   uint64_t seed)
{
	*faults = (struct sim_fabric_faults){
		.topology = topology,
		.sm = topology->sm,
		.seed = seed,
		.packets = {.seed = sim_mix(seed ^ UINT64_C(0x9ac4e7))},
		.link_down = calloc((size_t)topology->link_count + 1, sizeof(bool))};
	return faults->link_down ? 0 : -ENOMEM;
}

void sim_fabric_faults_free(struct sim_fabric_faults *faults)
{
	sim_packet_faults_free(&faults->packets);
	free(faults->sa);
	free(faults->recurring);
	free(faults->link_down);
	*faults = (struct sim_fabric_faults){0};
}

void sim_fabric_faults_use(struct sim_fabric_faults *faults, struct sim_control *control,
			   enum sim_control_kind kind, struct sim_fabric *fabric)
{
	struct sim_meddler meddler;

	faults->control = control;
	faults->control_kind = kind;
	faults->fabric = fabric;
	sim_packet_faults_meddler(&faults->packets, &meddler);
	sim_fabric_set_meddler(fabric, &meddler);
}

/* ---- links ---- */

static int set_link(struct sim_fabric_faults *faults, uint32_t index, bool up)
{
	const struct sim_link *link = &faults->topology->links[index];
	bool ibsim = faults->control_kind == SIM_UNDER_IBSIM;
	uint32_t node = link->node[0];
	uint8_t port = link->port[0];
	int error;

	if (up)
		error = sim_fabric_mend_link(faults->fabric, node, port);
	else
		error = sim_fabric_cut_link(faults->fabric, node, port);
	if (error)
		return error;
	faults->link_down[index] = !up;
	if (ibsim)
		return up ? sim_ibsim_relink(faults->control, node, port)
			  : sim_ibsim_unlink(faults->control, node, port);
	return up ? sim_builtin_mend_link(faults->control, node, port)
		  : sim_builtin_cut_link(faults->control, node, port);
}

static int set_links(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan, bool up)
{
	int error = 0;

	for (uint32_t i = 0; i < plan->links.count && !error; i++)
		error = set_link(faults, plan->links.nodes[i], up);
	return error;
}

/* ---- what happens again and again ---- */

static uint64_t time_down(const struct sim_fault_plan *plan)
{
	return (uint64_t)((double)plan->period * plan->down);
}

/* Each node sends one hostile datagram. */
static int send_hostile(struct sim_fabric_faults *faults, struct sim_recurring *recurring)
{
	const struct sim_nodes *nodes = &recurring->plan->nodes;
	uint8_t payload[ACM_DATAGRAM_MAX];
	int error = 0;

	for (uint32_t i = 0; i < nodes->count && !error; i++) {
		uint64_t draw = sim_mix(faults->seed ^ sim_mix(++recurring->drawn));
		uint16_t length = sim_hostile_datagram(draw, payload);

		error = sim_fabric_inject(faults->fabric, nodes->nodes[i], sim_mix(draw), payload,
					  length);
	}
	return error;
}

/* Times count from now, not from when it was due: a real clock that is late must not make a link
 * go up and down at one time. */
static int recur(struct sim_fabric_faults *faults, struct sim_recurring *recurring, uint64_t now)
{
	const struct sim_fault_plan *plan = recurring->plan;

	if (plan->kind == SIM_FAULT_HOSTILE_DATAGRAMS) {
		recurring->next = now + plan->period;
		return send_hostile(faults, recurring);
	}
	recurring->down = !recurring->down;
	recurring->next =
		now + (recurring->down ? time_down(plan) : plan->period - time_down(plan));
	return set_links(faults, plan, !recurring->down);
}

static int begin_recurring(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan,
			   uint64_t now)
{
	uint32_t room = 2 * faults->recurring_room + 4;
	struct sim_recurring *larger;

	if (faults->recurring_count == faults->recurring_room) {
		larger = reallocarray(faults->recurring, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		faults->recurring = larger;
		faults->recurring_room = room;
	}
	larger = &faults->recurring[faults->recurring_count++];
	*larger = (struct sim_recurring){.plan = plan};
	return recur(faults, larger, now);
}

static void end_recurring(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < faults->recurring_count; i++) {
		if (faults->recurring[i].plan != plan)
			faults->recurring[kept++] = faults->recurring[i];
	}
	faults->recurring_count = kept;
}

uint64_t sim_fabric_faults_deadline(const struct sim_fabric_faults *faults)
{
	uint64_t deadline = ACM_NEVER;

	for (uint32_t i = 0; i < faults->recurring_count; i++) {
		if (faults->recurring[i].next < deadline)
			deadline = faults->recurring[i].next;
	}
	return deadline;
}

int sim_fabric_faults_process(struct sim_fabric_faults *faults, uint64_t now)
{
	int error = 0;

	for (uint32_t i = 0; i < faults->recurring_count && !error; i++) {
		if (faults->recurring[i].next <= now)
			error = recur(faults, &faults->recurring[i], now);
	}
	return error;
}

/* ---- nodes that have no buffers ---- */

static int set_starved(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan,
		       bool starved)
{
	int error = 0;

	for (uint32_t i = 0; i < plan->nodes.count && !error; i++)
		error = sim_fabric_set_starved(faults->fabric, plan->nodes.nodes[i], starved);
	return error;
}

/* ---- the SA ---- */

static bool is_from(const struct sim_fault_plan *plan, uint32_t node)
{
	for (uint32_t i = 0; i < plan->nodes.count; i++) {
		if (plan->nodes.nodes[i] == node)
			return true;
	}
	return !plan->nodes.count;
}

static bool is_about_group(const struct sim_sa_query *query, uint8_t method)
{
	struct acm_sa_request request;

	return !acm_sa_decode_request(query->mad, ACM_MAD_LENGTH, &request) &&
	       request.attribute == ACM_SA_ATTRIBUTE_MCMEMBER && request.method == method;
}

static void refuse(struct sim_sa_verdict *verdict, uint16_t status)
{
	verdict->fate = SIM_SA_REFUSED;
	verdict->status = status;
}

/* Another value that is one too. */
static void other_mtu(uint64_t draw, uint8_t *mad, uint32_t *length, uint32_t room)
{
	(void)draw;
	(void)room;
	if (*length > MAD_GROUP_MTU)
		mad[MAD_GROUP_MTU] ^= 1; /* 2048 and 4096 bytes */
}

static void other_rate(uint64_t draw, uint8_t *mad, uint32_t *length, uint32_t room)
{
	(void)draw;
	(void)room;
	if (*length > MAD_GROUP_RATE)
		mad[MAD_GROUP_RATE] ^= 1; /* 10 and 2.5 Gb/s, ... */
}

static void other_pkey(uint64_t draw, uint8_t *mad, uint32_t *length, uint32_t room)
{
	(void)draw;
	(void)room;
	if (*length > MAD_GROUP_PKEY + 1)
		mad[MAD_GROUP_PKEY + 1] ^= 1;
}

/* The join is refused, and the record of the group, when asked for, tells why. */
static void judge_join(const struct sim_fault_plan *plan, const struct sim_sa_query *query,
		       struct sim_sa_verdict *verdict)
{
	if (is_about_group(query, ACM_SA_METHOD_SET))
		refuse(verdict, plan->status);
	else if (!is_about_group(query, ACM_SA_METHOD_GET))
		return;
	else if (plan->refusal == SIM_REFUSED_NO_MLIDS)
		refuse(verdict, MAD_STATUS_NO_RECORDS);
	else if (plan->refusal == SIM_REFUSED_MTU)
		verdict->alter = other_mtu;
	else if (plan->refusal == SIM_REFUSED_RATE)
		verdict->alter = other_rate;
	else if (plan->refusal == SIM_REFUSED_PKEY)
		verdict->alter = other_pkey;
}

void sim_fabric_faults_judge(void *context, const struct sim_sa_query *query,
			     struct sim_sa_verdict *verdict)
{
	struct sim_fabric_faults *faults = context;

	sim_packet_faults_judge(&faults->packets, query, verdict);
	if (verdict->fate == SIM_SA_LOST)
		return;
	for (uint32_t i = 0; i < faults->sa_count; i++) {
		const struct sim_fault_plan *plan = faults->sa[i];

		if (!is_from(plan, query->port.node))
			continue;
		if (plan->kind == SIM_FAULT_SA_SILENT) {
			verdict->fate = SIM_SA_LOST;
			return;
		}
		if (plan->kind == SIM_FAULT_SA_SLOW) {
			verdict->delay += plan->delay;
		} else if (plan->kind == SIM_FAULT_SA_BUSY) {
			refuse(verdict, MAD_STATUS_BUSY);
		} else if (plan->kind == SIM_FAULT_SA_TWICE) {
			verdict->twice = true;
			verdict->twice_gap = TWICE_GAP;
		} else if (plan->kind == SIM_FAULT_JOIN_REFUSED) {
			judge_join(plan, query, verdict);
		} else if (!is_about_group(query, ACM_SA_METHOD_SET)) {
			refuse(verdict, plan->status);
		}
	}
}

static int add_sa_fault(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan)
{
	uint32_t room = 2 * faults->sa_room + 4;
	const struct sim_fault_plan **larger;

	if (faults->sa_count == faults->sa_room) {
		larger = reallocarray(faults->sa, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		faults->sa = larger;
		faults->sa_room = room;
	}
	faults->sa[faults->sa_count++] = plan;
	return 0;
}

static void remove_sa_fault(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < faults->sa_count; i++) {
		if (faults->sa[i] != plan)
			faults->sa[kept++] = faults->sa[i];
	}
	faults->sa_count = kept;
}

/* ---- the subnet ---- */

static int lose_groups(struct sim_fabric_faults *faults)
{
	const struct sim_subnet *subnet;
	uint8_t rate, mtu;
	int error = 0;

	if (faults->control_kind == SIM_UNDER_IBSIM)
		return sim_ibsim_lose_groups(faults->control);
	subnet = sim_builtin_subnet(faults->control);
	for (uint32_t i = sim_subnet_group_count(subnet); i-- > 0 && !error;) {
		struct acm_mcmember record = sim_subnet_group(subnet, i)->record;

		if (acm_group_parse(&record.mgid, record.pkey, &rate, &mtu))
			error = sim_builtin_drop_group(faults->control, &record.mgid);
	}
	return error;
}

/* The first two ACM groups, of those that there are, become one for the switches. */
static int share_mlid(struct sim_fabric_faults *faults, char *why, size_t size)
{
	const struct sim_subnet *subnet = sim_builtin_subnet(faults->control);
	struct acm_gid first = {0};
	bool have_first = false;
	uint8_t rate, mtu;

	for (uint32_t i = 0; i < sim_subnet_group_count(subnet); i++) {
		struct acm_mcmember record = sim_subnet_group(subnet, i)->record;

		if (!acm_group_parse(&record.mgid, record.pkey, &rate, &mtu))
			continue;
		if (have_first)
			return sim_builtin_share_mlid(faults->control, &first, &record.mgid);
		first = record.mgid;
		have_first = true;
	}
	snprintf(why, size, "there are no two ACM groups that could share an MLID");
	return -ENOENT;
}

static int set_memberships(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan)
{
	int error = 0;

	for (uint32_t i = 0; i < plan->nodes.count && !error; i++) {
		struct sim_port_ref port = {.node = plan->nodes.nodes[i], .port = 1};
		enum sim_membership membership = (enum sim_membership)plan->membership;

		if (faults->control_kind == SIM_UNDER_IBSIM)
			error = sim_ibsim_set_membership(faults->control, port.node, plan->pkey,
							 membership);
		else
			error = sim_builtin_set_membership(faults->control, port, plan->pkey,
							   membership);
	}
	return error;
}

static int change_lids(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan,
		       char *why, size_t size)
{
	int error = 0;

	for (uint32_t i = 0; i < plan->nodes.count && !error; i++) {
		struct sim_port_ref port = {.node = plan->nodes.nodes[i], .port = 1};

		if (faults->control_kind == SIM_UNDER_IBSIM)
			error = sim_ibsim_change_lid(faults->control, port.node);
		else
			error = sim_builtin_change_lid(faults->control, port);
	}
	if (error != -ENOSPC)
		return error;
	snprintf(why, size, "the subnet manager has no LID left that it could give instead");
	return -ENOENT;
}

static int change_prefix(struct sim_fabric_faults *faults, uint64_t prefix)
{
	if (faults->control_kind == SIM_UNDER_IBSIM)
		return sim_ibsim_change_prefix(faults->control, prefix);
	sim_builtin_change_prefix(faults->control, prefix);
	return 0;
}

bool sim_fabric_faults_managed(const struct sim_fabric_faults *faults)
{
	if (faults->control_kind == SIM_UNDER_IBSIM)
		return sim_ibsim_is_managed(faults->control);
	return sim_subnet_is_managed(sim_builtin_subnet(faults->control));
}

static int fail_over(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan)
{
	enum sim_lids lids = plan->lids_reassigned ? SIM_LIDS_REASSIGNED : SIM_LIDS_KEPT;

	faults->sm = plan->nodes.nodes[0];
	if (faults->control_kind == SIM_UNDER_IBSIM)
		return sim_ibsim_fail_over(faults->control, faults->sm, lids);
	return sim_builtin_fail_over(faults->control, faults->sm, lids);
}

/* ---- all ---- */

bool sim_fault_is_of_nodes(enum sim_fault_kind kind)
{
	return kind <= SIM_FAULT_MOVE;
}

bool sim_fault_is_possible(const struct sim_fault_plan *plan, enum sim_control_kind kind)
{
	switch (plan->kind) {
	case SIM_FAULT_MLID_SHARED:
	case SIM_FAULT_TREE_DELAY:
		return kind == SIM_UNDER_BUILTIN;
	default:
		return true;
	}
}

static int begin(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan, uint64_t now,
		 char *why, size_t size)
{
	switch (plan->kind) {
	case SIM_FAULT_LINK_DOWN:
	case SIM_FAULT_LINK_UP:
		return set_links(faults, plan, plan->kind == SIM_FAULT_LINK_UP);
	case SIM_FAULT_LINK_FLAPPING:
	case SIM_FAULT_HOSTILE_DATAGRAMS:
		return begin_recurring(faults, plan, now);
	case SIM_FAULT_LOSS:
	case SIM_FAULT_DUPLICATION:
	case SIM_FAULT_DELAY:
	case SIM_FAULT_REORDERING:
	case SIM_FAULT_CORRUPTION:
	case SIM_FAULT_HOSTILE_SA:
		return sim_packet_faults_add(&faults->packets, plan);
	case SIM_FAULT_SA_SILENT:
	case SIM_FAULT_SA_SLOW:
	case SIM_FAULT_SA_BUSY:
	case SIM_FAULT_SA_ERROR:
	case SIM_FAULT_SA_TWICE:
	case SIM_FAULT_JOIN_REFUSED:
		return add_sa_fault(faults, plan);
	case SIM_FAULT_SM_FAIL_OVER:
		return fail_over(faults, plan);
	case SIM_FAULT_GROUPS_LOST:
		return lose_groups(faults);
	case SIM_FAULT_MLID_SHARED:
		return share_mlid(faults, why, size);
	case SIM_FAULT_TREE_DELAY:
		sim_builtin_set_tree_delay(faults->control, plan->delay);
		return 0;
	case SIM_FAULT_PKEY:
		return set_memberships(faults, plan);
	case SIM_FAULT_LID_CHANGE:
		return change_lids(faults, plan, why, size);
	case SIM_FAULT_SUBNET_PREFIX:
		return change_prefix(faults, plan->prefix);
	case SIM_FAULT_RECEIVE_QUEUE_FULL:
		return set_starved(faults, plan, true);
	default:
		return -EINVAL;
	}
}

static int finish(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan)
{
	struct sim_subnet_options defaults;

	switch (plan->kind) {
	case SIM_FAULT_LINK_DOWN:
		return set_links(faults, plan, true);
	case SIM_FAULT_LINK_FLAPPING:
		end_recurring(faults, plan);
		return set_links(faults, plan, true);
	case SIM_FAULT_HOSTILE_DATAGRAMS:
		end_recurring(faults, plan);
		return 0;
	case SIM_FAULT_LOSS:
	case SIM_FAULT_DUPLICATION:
	case SIM_FAULT_DELAY:
	case SIM_FAULT_REORDERING:
	case SIM_FAULT_CORRUPTION:
	case SIM_FAULT_HOSTILE_SA:
		sim_packet_faults_remove(&faults->packets, plan);
		return 0;
	case SIM_FAULT_SA_SILENT:
	case SIM_FAULT_SA_SLOW:
	case SIM_FAULT_SA_BUSY:
	case SIM_FAULT_SA_ERROR:
	case SIM_FAULT_SA_TWICE:
	case SIM_FAULT_JOIN_REFUSED:
		remove_sa_fault(faults, plan);
		return 0;
	case SIM_FAULT_TREE_DELAY:
		sim_subnet_options_default(&defaults);
		sim_builtin_set_tree_delay(faults->control, defaults.tree_delay);
		return 0;
	case SIM_FAULT_SUBNET_PREFIX:
		return change_prefix(faults, SIM_PREFIX_DEFAULT);
	case SIM_FAULT_RECEIVE_QUEUE_FULL:
		return set_starved(faults, plan, false);
	default:
		return 0;
	}
}

static int explain(int error, const struct sim_fault_plan *plan, char *why, size_t size)
{
	if (error && size && !why[0])
		snprintf(why, size, "the fault %s cannot be brought about: %s",
			 sim_fault_kind_name(plan->kind), strerror(-error));
	return error;
}

int sim_fabric_faults_apply(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan,
			    uint64_t now, char *why, size_t size)
{
	if (size)
		why[0] = '\0';
	if (sim_fault_is_of_nodes(plan->kind)) {
		snprintf(why, size, "the fault %s concerns what runs on nodes, not the fabric",
			 sim_fault_kind_name(plan->kind));
		return -EINVAL;
	}
	if (!sim_fault_is_possible(plan, faults->control_kind)) {
		snprintf(why, size, "the fault %s cannot be brought about under ibsim",
			 sim_fault_kind_name(plan->kind));
		return -ENOTSUP;
	}
	return explain(begin(faults, plan, now, why, size), plan, why, size);
}

int sim_fabric_faults_undo(struct sim_fabric_faults *faults, const struct sim_fault_plan *plan,
			   char *why, size_t size)
{
	if (size)
		why[0] = '\0';
	return explain(finish(faults, plan), plan, why, size);
}
