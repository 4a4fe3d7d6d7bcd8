/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_tables.h"

#include <acmite/bytes.h>
#include <acmite/wire.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LFT_BLOCK 64u
#define MFT_BLOCK 32u
#define MFT_GROUP 16u /* ports in one read */
#define DROP      0xff

int ibsim_tables_init(struct ibsim_tables *tables, const struct sim_topology *topology)
{
	uint32_t count = topology->switch_count;

	*tables = (struct ibsim_tables){.topology = topology, .mlid_top = ACM_LID_MULTICAST};
	tables->tables.switch_count = count;
	tables->tables.switches = calloc(count + 1, sizeof(struct sim_switch_tables));
	tables->lft_capacity = calloc(count + 1, sizeof(uint32_t));
	tables->lft_top = calloc(count + 1, sizeof(uint16_t));
	if (!tables->tables.switches || !tables->lft_capacity || !tables->lft_top)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct sim_switch_tables *s = &tables->tables.switches[i];

		s->mft = calloc(IBSIM_MFT_SIZE, sizeof(*s->mft));
		if (!s->mft)
			return -ENOMEM;
		s->mft_size = IBSIM_MFT_SIZE;
	}
	return 0;
}

void ibsim_tables_free(struct ibsim_tables *tables)
{
	for (uint32_t i = 0; i < tables->tables.switch_count && tables->tables.switches; i++) {
		free(tables->tables.switches[i].lft);
		free(tables->tables.switches[i].mft);
	}
	free(tables->tables.switches);
	free(tables->lft_capacity);
	free(tables->lft_top);
}

void ibsim_tables_note_answer(struct ibsim_tables *tables, const uint8_t *mad)
{
	struct acm_sa_header header;
	struct acm_mcmember member;

	if (acm_sa_decode_header(mad, ACM_MAD_LENGTH, &header) == 0 && header.status == 0 &&
	    header.attribute == ACM_SA_ATTRIBUTE_MCMEMBER &&
	    acm_sa_decode_mcmember(mad, ACM_MAD_LENGTH, &member) == 0 &&
	    member.mlid > tables->mlid_top && member.mlid < ACM_LID_MULTICAST + IBSIM_MFT_SIZE)
		tables->mlid_top = member.mlid;
}

/* ---- unicast: the switch's LID, the table's top, its blocks ---- */

static bool unicast_next(void *context, struct ibsim_reading *reading)
{
	const struct ibsim_tables *tables = context;

	reading->modifier = 0;
	if (reading->step == 0) {
		reading->attribute = IBSIM_PORT_INFO;
	} else if (reading->step == 1) {
		reading->attribute = IBSIM_SWITCH_INFO;
	} else {
		reading->attribute = IBSIM_LINEAR_TABLE;
		reading->modifier = reading->step - 2;
		return reading->modifier <= tables->lft_top[reading->target] / LFT_BLOCK;
	}
	return true;
}

static void grow_lft(struct ibsim_tables *tables, uint32_t index, uint32_t capacity)
{
	struct sim_switch_tables *s = &tables->tables.switches[index];
	uint8_t *lft;

	if (capacity <= tables->lft_capacity[index])
		return;
	lft = realloc(s->lft, capacity);
	if (!lft)
		return; /* what does not fit is not stored: those LIDs are dropped */
	memset(lft + tables->lft_capacity[index], DROP, capacity - tables->lft_capacity[index]);
	s->lft = lft;
	tables->lft_capacity[index] = capacity;
}

static void store_top(struct ibsim_tables *tables, struct ibsim_reading *reading, uint16_t top)
{
	struct sim_switch_tables *s = &tables->tables.switches[reading->target];
	uint32_t size = (uint32_t)top + 1;

	tables->lft_top[reading->target] = top;
	grow_lft(tables, reading->target, (top / LFT_BLOCK + 1) * LFT_BLOCK);
	if (size > tables->lft_capacity[reading->target])
		size = tables->lft_capacity[reading->target];
	if (size == s->lft_size)
		return;
	s->lft_size = size;
	reading->changed = true;
}

static void store_lft(struct ibsim_tables *tables, struct ibsim_reading *reading,
		      const uint8_t *data)
{
	struct sim_switch_tables *s = &tables->tables.switches[reading->target];
	uint32_t first = reading->modifier * LFT_BLOCK;

	if (first + LFT_BLOCK > tables->lft_capacity[reading->target] ||
	    memcmp(s->lft + first, data, LFT_BLOCK) == 0)
		return;
	memcpy(s->lft + first, data, LFT_BLOCK);
	reading->changed = true;
}

static void unicast_store(void *context, struct ibsim_reading *reading, const uint8_t *data)
{
	struct ibsim_tables *tables = context;
	struct sim_switch_tables *s = &tables->tables.switches[reading->target];

	if (reading->step == 0) {
		uint16_t lid = load_be16(data + 16);

		reading->changed |= lid != s->lid;
		s->lid = lid;
	} else if (reading->step == 1) {
		store_top(tables, reading, load_be16(data + 6));
	} else {
		store_lft(tables, reading, data);
	}
}

const struct ibsim_pass_ops ibsim_unicast_ops = {
	.next = unicast_next,
	.store = unicast_store,
};

/* ---- multicast: block by block, in each all groups of ports ---- */

static uint32_t group_count(const struct ibsim_tables *tables, uint32_t index)
{
	return tables->topology->nodes[index].port_count / MFT_GROUP + 1;
}

/* Reads on while MLIDs are known to be in use, or the last block had any. */
static bool multicast_next(void *context, struct ibsim_reading *reading)
{
	const struct ibsim_tables *tables = context;
	uint32_t groups = group_count(tables, reading->target);
	uint32_t block = reading->step / groups, group = reading->step % groups;

	reading->attribute = IBSIM_MULTICAST_TABLE;
	reading->modifier = group << 28 | block;
	if (group > 0)
		return true;
	if (block * MFT_BLOCK >= IBSIM_MFT_SIZE)
		return false;
	if (block * MFT_BLOCK > (uint32_t)tables->mlid_top - ACM_LID_MULTICAST && !reading->found)
		return false;
	reading->found = false;
	return true;
}

static void multicast_store(void *context, struct ibsim_reading *reading, const uint8_t *data)
{
	struct ibsim_tables *tables = context;
	struct sim_switch_tables *s = &tables->tables.switches[reading->target];
	uint32_t first = (reading->modifier & 0x1ff) * MFT_BLOCK;
	uint32_t group = reading->modifier >> 28;
	unsigned int shift = group % 4 * MFT_GROUP;

	for (uint32_t i = 0; i < MFT_BLOCK; i++) {
		uint64_t *mask = &s->mft[first + i][group / 4];
		uint64_t ports = load_be16(data + 2 * i);

		reading->found |= ports != 0;
		if ((*mask >> shift & 0xffff) == ports)
			continue;
		*mask = (*mask & ~(UINT64_C(0xffff) << shift)) | ports << shift;
		reading->changed = true;
	}
}

const struct ibsim_pass_ops ibsim_multicast_ops = {
	.next = multicast_next,
	.store = multicast_store,
};
