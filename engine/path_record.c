/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "path_record.h"

#include <acmite/bytes.h>
#include <string.h>

#define REVERSIBLE 0x80u

static uint8_t with_selector(uint8_t selector, uint8_t value)
{
	return (uint8_t)((selector & 0x3u) << 6 | (value & 0x3fu));
}

void acm_path_record_load(struct acm_path *path, const uint8_t *record)
{
	uint32_t flow_hop = load_be32(record + 44);
	uint16_t qos_sl = load_be16(record + 52);

	path->service_id = load_be64(record);
	memcpy(path->dgid.raw, record + 8, sizeof(path->dgid.raw));
	memcpy(path->sgid.raw, record + 24, sizeof(path->sgid.raw));
	path->dlid = load_be16(record + 40);
	path->slid = load_be16(record + 42);
	path->flow_label = flow_hop >> 8 & 0xfffffu;
	path->hop_limit = (uint8_t)flow_hop;
	path->traffic_class = record[48];
	path->reversible = (record[49] & REVERSIBLE) != 0;
	path->path_count = record[49] & 0x7fu;
	path->pkey = load_be16(record + 50);
	path->qos_class = qos_sl >> 4;
	path->sl = qos_sl & 0xfu;
	path->mtu = record[54] & 0x3fu;
	path->mtu_selector = record[54] >> 6;
	path->rate = record[55] & 0x3fu;
	path->rate_selector = record[55] >> 6;
	path->packet_life = record[56] & 0x3fu;
	path->packet_life_selector = record[56] >> 6;
	path->preference = record[57];
}

void acm_path_record_store(const struct acm_path *path, uint8_t *record)
{
	store_be64(record, path->service_id);
	memcpy(record + 8, path->dgid.raw, sizeof(path->dgid.raw));
	memcpy(record + 24, path->sgid.raw, sizeof(path->sgid.raw));
	store_be16(record + 40, path->dlid);
	store_be16(record + 42, path->slid);
	store_be32(record + 44, (path->flow_label & 0xfffffu) << 8 | path->hop_limit);
	record[48] = path->traffic_class;
	record[49] = (uint8_t)((path->reversible ? REVERSIBLE : 0) | (path->path_count & 0x7fu));
	store_be16(record + 50, path->pkey);
	store_be16(record + 52, (uint16_t)((uint32_t)path->qos_class << 4 | (path->sl & 0xfu)));
	record[54] = with_selector(path->mtu_selector, path->mtu);
	record[55] = with_selector(path->rate_selector, path->rate);
	record[56] = with_selector(path->packet_life_selector, path->packet_life);
	record[57] = path->preference;
	memset(record + 58, 0, PATH_RECORD_LENGTH - 58);
}

bool acm_gid_is_zero(const struct acm_gid *gid)
{
	static const struct acm_gid zero;

	return memcmp(gid, &zero, sizeof(zero)) == 0;
}
