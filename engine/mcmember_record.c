/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mcmember_record.h"

#include <acmite/bytes.h>
#include <string.h>

#define SELECTOR_EXACTLY 2

void acm_mcmember_record_store(const struct acm_mcmember *member, uint8_t *record)
{
	memcpy(record, member->mgid.raw, sizeof(member->mgid.raw));
	memcpy(record + 16, member->port_gid.raw, sizeof(member->port_gid.raw));
	store_be32(record + 32, member->qkey);
	store_be16(record + 36, member->mlid);
	record[38] = (uint8_t)(SELECTOR_EXACTLY << 6 | (member->mtu & 0x3fu));
	record[39] = member->traffic_class;
	store_be16(record + 40, member->pkey);
	record[42] = (uint8_t)(SELECTOR_EXACTLY << 6 | (member->rate & 0x3fu));
	record[43] = member->packet_life & 0x3fu;
	store_be32(record + 44, (uint32_t)(member->sl & 0xfu) << 28 |
					(member->flow_label & 0xfffffu) << 8 | member->hop_limit);
	record[48] = (uint8_t)((member->scope & 0xfu) << 4 | (member->join_state & 0xfu));
}

void acm_mcmember_record_load(struct acm_mcmember *member, const uint8_t *record)
{
	uint32_t sl_flow_hop = load_be32(record + 44);

	memcpy(member->mgid.raw, record, sizeof(member->mgid.raw));
	memcpy(member->port_gid.raw, record + 16, sizeof(member->port_gid.raw));
	member->qkey = load_be32(record + 32);
	member->mlid = load_be16(record + 36);
	member->mtu = record[38] & 0x3fu;
	member->traffic_class = record[39];
	member->pkey = load_be16(record + 40);
	member->rate = record[42] & 0x3fu;
	member->packet_life = record[43] & 0x3fu;
	member->sl = (uint8_t)(sl_flow_hop >> 28);
	member->flow_label = sl_flow_hop >> 8 & 0xfffffu;
	member->hop_limit = (uint8_t)sl_flow_hop;
	member->scope = record[48] >> 4;
	member->join_state = record[48] & 0xfu;
}
