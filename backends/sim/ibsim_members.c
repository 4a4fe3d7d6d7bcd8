/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_members.h"

#include "ibsim_subnet.h"

#include <acmite/bytes.h>
#include <acmite/sa.h>
#include <acmite/transport.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Requests under way: others find room beside them. */
#define WINDOW 64
/* An SA that is silent for so long tells nothing. */
#define PATIENCE (3 * ACM_NSEC_PER_SEC)

/* In the MAD. The key is the one that OpenSM has unless configured: it tells members who know it.
 */
#define AT_SM_KEY         36
#define AT_COMPONENT_MASK 48
#define AT_PORT_GID       72
#define SM_KEY            1
#define DELETE_RESPONSE   0x95

enum finding { NOT_ASKED, WAITING, NO_MEMBER, MEMBER, UNKNOWN };

struct ibsim_known_member {
	struct acm_gid mgid;
	uint32_t port;
	enum finding finding;
	struct acm_mcmember record; /* of a MEMBER */
};

void ibsim_members_free(struct ibsim_members *members)
{
	free(members->known);
	free(members->list);
	*members = (struct ibsim_members){0};
}

/* ---- who is known ---- */

static struct ibsim_known_member *find(const struct ibsim_members *members, uint32_t port,
				       const struct acm_gid *mgid)
{
	for (uint32_t i = 0; i < members->count; i++) {
		struct ibsim_known_member *known = &members->known[i];

		if (known->port == port && !memcmp(&known->mgid, mgid, sizeof(*mgid)))
			return known;
	}
	return NULL;
}

static int note(struct ibsim_members *members, uint32_t port, const struct acm_gid *mgid)
{
	uint32_t room = members->room ? 2 * members->room : 64;
	struct ibsim_known_member *larger;

	if (find(members, port, mgid))
		return 0;
	if (members->count == members->room) {
		larger = reallocarray(members->known, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		members->known = larger;
		members->room = room;
	}
	members->known[members->count++] = (struct ibsim_known_member){.mgid = *mgid, .port = port};
	return 0;
}

static void forget(struct ibsim_members *members, uint32_t port, const struct acm_gid *mgid)
{
	struct ibsim_known_member *known = find(members, port, mgid);

	if (known && !members->asking) /* or it is found out right now */
		*known = members->known[--members->count];
}

static uint32_t port_of_gid(const struct ibsim_subnet *subnet, const struct acm_gid *gid)
{
	for (uint32_t i = 0; i < subnet->port_count; i++) {
		if (!memcmp(subnet->ports.facts[i].gids[0].raw + 8, gid->raw + 8, 8))
			return i;
	}
	return SIM_NONE;
}

void ibsim_members_note_answer(struct ibsim_subnet *subnet, const uint8_t *mad)
{
	struct acm_sa_header header;
	struct acm_mcmember member;
	uint32_t port;

	if (acm_sa_decode_header(mad, ACM_MAD_LENGTH, &header) || header.status ||
	    header.attribute != ACM_SA_ATTRIBUTE_MCMEMBER ||
	    acm_sa_decode_mcmember(mad, ACM_MAD_LENGTH, &member))
		return;
	port = port_of_gid(subnet, &member.port_gid);
	if (port == SIM_NONE)
		return;
	if (header.method == DELETE_RESPONSE && !member.join_state)
		forget(&subnet->members, port, &member.mgid);
	else if (note(&subnet->members, port, &member.mgid))
		subnet->events.failed = true;
}

/* ---- asking ---- */

static bool make_list_room(struct ibsim_members *members)
{
	struct sim_group_membership *larger;

	if (members->count <= members->list_room)
		return true;
	larger = reallocarray(members->list, members->count, sizeof(*larger));
	if (!larger)
		return false;
	members->list = larger;
	members->list_room = members->count;
	return true;
}

/* All have been asked, or nobody will answer any more. */
static void finish(struct ibsim_subnet *subnet)
{
	struct ibsim_members *members = &subnet->members;
	uint32_t kept = 0;

	members->asking = false;
	if (!make_list_room(members)) {
		subnet->events.failed = true;
		return;
	}
	members->complete = true;
	members->told = (struct sim_group_memberships){.all = members->list};
	for (uint32_t i = 0; i < members->count; i++) {
		const struct ibsim_known_member *known = &members->known[i];

		if (known->finding == NO_MEMBER)
			continue;
		members->list[members->told.count] =
			(struct sim_group_membership){.port = subnet->refs[known->port],
						      .unknown = known->finding != MEMBER,
						      .record = known->record};
		members->list[members->told.count++].record.mgid = known->mgid;
		members->known[kept++] = *known;
	}
	members->count = members->lost ? 0 : kept;
	members->lost = false;
}

static enum finding judge(const uint8_t *mad, struct acm_mcmember *record)
{
	struct acm_sa_header header;

	if (acm_sa_decode_header(mad, ACM_MAD_LENGTH, &header))
		return UNKNOWN;
	if (header.status == ACM_SA_NO_RECORDS << 8)
		return NO_MEMBER;
	return header.status || acm_sa_decode_mcmember(mad, ACM_MAD_LENGTH, record) ? UNKNOWN
										    : MEMBER;
}

static void answered(void *context, uint64_t cookie, int status, const uint8_t *mad)
{
	struct ibsim_subnet *subnet = context;
	struct ibsim_known_member *known = &subnet->members.known[cookie];

	known->finding = status ? UNKNOWN : judge(mad, &known->record);
	subnet->members.waiting--;
}

/*
 * Whoever asks must be in the group's partition, so that a port asks for itself. One that is down
 * is asked for by the SM's.
 */
static int ask_one(struct ibsim_subnet *subnet, uint32_t place)
{
	const struct ibsim_known_member *known = &subnet->members.known[place];
	const struct acm_port_facts *facts = &subnet->ports.facts[known->port];
	struct sim_port_ref sm = {.node = subnet->sm, .port = 1};
	uint32_t from =
		facts->state == ACM_PORT_ACTIVE ? known->port : ibsim_port_index(subnet, sm);
	uint8_t mad[ACM_MAD_LENGTH];

	acm_sa_encode_group_get(&known->mgid, place, mad);
	store_be64(mad + AT_SM_KEY, SM_KEY);
	store_be64(mad + AT_COMPONENT_MASK, ACM_SA_MC_MGID | ACM_SA_MC_PORT_GID);
	memcpy(mad + AT_PORT_GID, facts->gids[0].raw, sizeof(facts->gids[0].raw));
	return ibsim_send_to_sa(subnet, from, mad, answered, place);
}

static void ask_more(struct ibsim_subnet *subnet)
{
	struct ibsim_members *members = &subnet->members;

	while (members->asked < members->count && members->waiting < WINDOW) {
		uint32_t place = members->asked;
		int error;

		members->known[place].finding = WAITING;
		members->waiting++; /* it may be answered before this returns */
		members->asked++;
		error = ask_one(subnet, place);
		if (!error)
			continue;
		members->waiting--;
		members->known[place].finding = UNKNOWN;
		if (error == -EAGAIN) { /* no room: when some have been answered */
			members->asked--;
			return;
		}
	}
}

static void give_up(struct ibsim_subnet *subnet)
{
	struct ibsim_members *members = &subnet->members;

	for (uint32_t i = 0; i < members->asked; i++)
		if (members->known[i].finding == WAITING)
			ibsim_pool_cancel(subnet->pool, answered, i);
	members->waiting = 0;
	members->asked = members->count;
}

void ibsim_members_process(struct ibsim_subnet *subnet, uint64_t now)
{
	struct ibsim_members *members = &subnet->members;

	members->now = now;
	if (!members->asking)
		return;
	if (now >= members->begun + PATIENCE)
		give_up(subnet);
	ask_more(subnet);
	if (members->asked == members->count && !members->waiting)
		finish(subnet);
}

uint64_t ibsim_members_deadline(const struct ibsim_members *members)
{
	return members->asking ? members->begun + PATIENCE : ACM_NEVER;
}

static int begin(struct ibsim_subnet *subnet, const struct sim_membership_query *query)
{
	struct ibsim_members *members = &subnet->members;

	for (uint32_t i = 0; i < query->count; i++) {
		uint32_t port = ibsim_port_index(subnet, query->ports[i].port);

		if (port != SIM_NONE && note(members, port, &query->ports[i].mgid))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < members->count; i++)
		members->known[i].finding = NOT_ASKED;
	members->asking = true;
	members->complete = false;
	members->begun = members->now;
	members->asked = members->waiting = 0;
	return 0;
}

int ibsim_members_ask(struct ibsim_subnet *subnet, const struct sim_membership_query *query,
		      struct sim_group_memberships *memberships)
{
	struct ibsim_members *members = &subnet->members;
	int error;

	if (!members->asking && !(members->complete && members->begun >= query->since)) {
		error = begin(subnet, query);
		if (error)
			return error;
		ibsim_members_process(subnet, members->now);
	}
	if (members->asking)
		return -EAGAIN;
	*memberships = members->told;
	return 0;
}

void ibsim_members_lose(struct ibsim_subnet *subnet)
{
	struct ibsim_members *members = &subnet->members;

	ibsim_pool_fail(subnet->pool, answered, -EHOSTUNREACH);
	members->lost = members->asking;
	if (!members->asking)
		members->count = 0;
}
