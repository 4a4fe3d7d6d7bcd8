/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups, their members and MLIDs. */
#include "subnet_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MFT_BLOCK 32
#define JOIN_FULL 0x9 /* full member, or send-only full member */

int subnet_groups_init(struct sim_subnet *subnet)
{
	subnet->mlid_groups = calloc(subnet->options.mlid_count + 1, sizeof(uint16_t));
	subnet->mlid_stale = calloc(subnet->options.mlid_count + MFT_BLOCK, sizeof(bool));
	if (!subnet->mlid_groups || !subnet->mlid_stale)
		return -ENOMEM;
	return subnet_groups_restart(subnet);
}

static void free_group(struct sim_group *group)
{
	free(group->members);
	free(group);
}

void subnet_groups_free(struct sim_subnet *subnet)
{
	for (uint32_t i = 0; i < subnet->group_count; i++)
		free_group(subnet->groups[i]);
	free(subnet->groups);
	free(subnet->mlid_groups);
	free(subnet->mlid_stale);
}

/* A tree is to be planted anew, `now` being when that was found out. */
static void make_stale(struct sim_subnet *subnet, uint16_t mlid, uint64_t now)
{
	subnet->mlid_stale[mlid - ACM_LID_MULTICAST] = true;
	if (subnet->trees_at == ACM_NEVER)
		subnet->trees_at = now + subnet->options.tree_delay;
}

/* ---- which there are ---- */

uint32_t sim_subnet_group_count(const struct sim_subnet *subnet)
{
	return subnet->group_count;
}

struct sim_group *sim_subnet_group(const struct sim_subnet *subnet, uint32_t place)
{
	return subnet->groups[place];
}

/* Place of the first group that is not before the MGID. */
static uint32_t find_place(const struct sim_subnet *subnet, const struct acm_gid *mgid)
{
	uint32_t low = 0, high = subnet->group_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (memcmp(&subnet->groups[middle]->record.mgid, mgid, sizeof(*mgid)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sim_group *sim_subnet_find_group(const struct sim_subnet *subnet, const struct acm_gid *mgid)
{
	uint32_t place = find_place(subnet, mgid);

	if (place == subnet->group_count ||
	    memcmp(&subnet->groups[place]->record.mgid, mgid, sizeof(*mgid)) != 0)
		return NULL;
	return subnet->groups[place];
}

/* Tables that hold an MLID; blocks of them at a time. */
static int grow_tables(struct sim_subnet *subnet, uint32_t entry)
{
	uint32_t wanted = (entry / MFT_BLOCK + 1) * MFT_BLOCK;

	for (uint32_t i = 0; i < subnet->topology->switch_count; i++) {
		struct sim_switch_tables *tables = &subnet->tables.switches[i];
		uint64_t(*grown)[4];

		if (tables->mft_size >= wanted)
			continue;
		grown = reallocarray(tables->mft, wanted, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + tables->mft_size, 0, (wanted - tables->mft_size) * sizeof(*grown));
		tables->mft = grown;
		tables->mft_size = wanted;
	}
	return 0;
}

static int make_room(struct sim_subnet *subnet)
{
	uint32_t room = subnet->group_room ? subnet->group_room * 2 : 16;
	struct sim_group **groups;

	if (subnet->group_count < subnet->group_room)
		return 0;
	groups = reallocarray(subnet->groups, room, sizeof(struct sim_group *));
	if (!groups)
		return -ENOMEM;
	subnet->groups = groups;
	subnet->group_room = room;
	return 0;
}

int sim_subnet_add_group(struct sim_subnet *subnet, const struct acm_mcmember *record,
			 struct sim_group **group)
{
	uint32_t place = find_place(subnet, &record->mgid), entry = 0;
	struct sim_group *made;
	int error;

	if (record->mlid >= ACM_LID_MULTICAST &&
	    record->mlid < ACM_LID_MULTICAST + subnet->options.mlid_count &&
	    !subnet->mlid_groups[record->mlid - ACM_LID_MULTICAST])
		entry = record->mlid - ACM_LID_MULTICAST;
	while (entry < subnet->options.mlid_count && subnet->mlid_groups[entry])
		entry++;
	if (entry == subnet->options.mlid_count)
		return -ENOSPC;
	error = grow_tables(subnet, entry);
	if (!error)
		error = make_room(subnet);
	made = error ? NULL : calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->record = *record;
	made->record.mlid = (uint16_t)(ACM_LID_MULTICAST + entry);
	made->record.port_gid = (struct acm_gid){{0}};
	made->record.join_state = 0;
	memmove(subnet->groups + place + 1, subnet->groups + place,
		(subnet->group_count - place) * sizeof(struct sim_group *));
	subnet->groups[place] = made;
	subnet->group_count++;
	subnet->mlid_groups[entry]++;
	*group = made;
	return 0;
}

void sim_subnet_make_mgid(struct sim_subnet *subnet, uint8_t scope, struct acm_gid *mgid)
{
	do {
		uint32_t number = subnet->made_mgids++;

		*mgid = (struct acm_gid){{0xff, (uint8_t)(0x10 | scope), 0xa0, 0x1b, 0xfe, 0x80}};
		for (int i = 0; i < 4; i++)
			mgid->raw[10 + i] = (uint8_t)(number >> 8 * i);
	} while (sim_subnet_find_group(subnet, mgid));
}

static void remove_group(struct sim_subnet *subnet, struct sim_group *group)
{
	uint32_t place = find_place(subnet, &group->record.mgid);

	subnet->mlid_groups[group->record.mlid - ACM_LID_MULTICAST]--;
	subnet->group_count--;
	memmove(subnet->groups + place, subnet->groups + place + 1,
		(subnet->group_count - place) * sizeof(struct sim_group *));
	free_group(group);
}

/* What OpenSM makes for the partition that everybody is in: IPv4's broadcasts. */
int subnet_groups_restart(struct sim_subnet *subnet)
{
	static const struct acm_mcmember broadcast = {
		.mgid = {{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff, 0xff}},
		.qkey = 0x0b1b,
		.mtu = 4,
		.rate = 3,
		.pkey = ACM_PKEY_DEFAULT,
		.scope = 2,
	};
	struct acm_mcmember record = broadcast;
	struct sim_group *group;
	int error;

	while (subnet->group_count)
		remove_group(subnet, subnet->groups[subnet->group_count - 1]);
	record.packet_life = subnet->options.subnet_timeout;
	error = sim_subnet_add_group(subnet, &record, &group);
	if (!error)
		group->configured = true;
	return error;
}

/* ---- members ---- */

static uint32_t member_place(const struct sim_subnet *subnet, const struct sim_group *group,
			     uint32_t port)
{
	uint64_t wanted = subnet_guid_order(subnet->ports[port].guid);
	uint32_t low = 0, high = group->member_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		uint32_t at = group->members[middle].port;

		if (subnet_guid_order(subnet->ports[at].guid) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct sim_group_member *sim_group_find_member(const struct sim_group *group, uint32_t port)
{
	for (uint32_t i = 0; i < group->member_count; i++)
		if (group->members[i].port == port)
			return &group->members[i];
	return NULL;
}

static int add_member(struct sim_group *group, uint32_t place,
		      const struct sim_group_member *member)
{
	uint32_t room = group->room ? group->room * 2 : 8;
	struct sim_group_member *members = group->members;

	if (group->member_count == group->room) {
		members = reallocarray(members, room, sizeof(*members));
		if (!members)
			return -ENOMEM;
		group->members = members;
		group->room = room;
	}
	memmove(members + place + 1, members + place,
		(group->member_count - place) * sizeof(*members));
	members[place] = *member;
	group->member_count++;
	return 0;
}

int sim_subnet_join(struct sim_subnet *subnet, struct sim_group *group, uint32_t port, bool proxy,
		    uint8_t join_state, uint64_t now)
{
	uint32_t place = member_place(subnet, group, port);
	int error;

	if (place < group->member_count && group->members[place].port == port) {
		group->members[place].join_state |= join_state;
		return 0;
	}
	error = add_member(
		group, place,
		&(struct sim_group_member){.port = port, .join_state = join_state, .proxy = proxy});
	if (!error)
		make_stale(subnet, group->record.mlid, now);
	return error;
}

static bool has_full_members(const struct sim_group *group)
{
	for (uint32_t i = 0; i < group->member_count; i++)
		if (group->members[i].join_state & JOIN_FULL)
			return true;
	return false;
}

static void remove_member(struct sim_subnet *subnet, struct sim_group *group, uint32_t place,
			  uint64_t now)
{
	group->member_count--;
	memmove(group->members + place, group->members + place + 1,
		(group->member_count - place) * sizeof(*group->members));
	make_stale(subnet, group->record.mlid, now);
}

/* Without full members it goes, and with it whoever else was in it. */
static void end_if_empty(struct sim_subnet *subnet, struct sim_group *group, uint64_t now)
{
	if (has_full_members(group))
		return;
	make_stale(subnet, group->record.mlid, now);
	group->member_count = 0;
	if (!group->configured)
		remove_group(subnet, group);
}

void sim_subnet_leave(struct sim_subnet *subnet, struct sim_group *group, uint32_t port,
		      uint8_t join_state, uint64_t now)
{
	uint32_t place = member_place(subnet, group, port);
	struct sim_group_member *member = &group->members[place];

	if (place == group->member_count || member->port != port)
		return;
	member->join_state &= (uint8_t)~join_state;
	if (!member->join_state)
		remove_member(subnet, group, place, now);
	end_if_empty(subnet, group, now);
}

void subnet_groups_prune(struct sim_subnet *subnet)
{
	for (uint32_t g = subnet->group_count; g-- > 0;) {
		struct sim_group *group = subnet->groups[g];
		uint32_t before = group->member_count;

		for (uint32_t i = before; i-- > 0;)
			if (!subnet->ports[group->members[i].port].known)
				remove_member(subnet, group, i, 0);
		if (group->member_count < before)
			end_if_empty(subnet, group, 0);
	}
}

/* ---- faults ---- */

int sim_subnet_drop_group(struct sim_subnet *subnet, const struct acm_gid *mgid, uint64_t now)
{
	struct sim_group *group = sim_subnet_find_group(subnet, mgid);

	if (!group)
		return -ENOENT;
	make_stale(subnet, group->record.mlid, now);
	remove_group(subnet, group);
	return 0;
}

int sim_subnet_share_mlid(struct sim_subnet *subnet, const struct acm_gid *first,
			  const struct acm_gid *second, uint64_t now)
{
	struct sim_group *from = sim_subnet_find_group(subnet, first);
	struct sim_group *to = sim_subnet_find_group(subnet, second);

	if (!from || !to)
		return -ENOENT;
	make_stale(subnet, to->record.mlid, now);
	subnet->mlid_groups[to->record.mlid - ACM_LID_MULTICAST]--;
	to->record.mlid = from->record.mlid;
	subnet->mlid_groups[to->record.mlid - ACM_LID_MULTICAST]++;
	make_stale(subnet, to->record.mlid, now);
	return 0;
}
