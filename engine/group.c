/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include <acmite/bytes.h>
#include <acmite/wire.h>

/* Transient, site-local; 0x4001 tells ACM's groups from IPoIB's. */
#define MGID_SIGNATURE 0xff154001u

void acm_group_mgid(struct acm_gid *mgid, uint16_t pkey, uint8_t rate, uint8_t mtu)
{
	*mgid = (struct acm_gid){0};
	store_be32(mgid->raw, MGID_SIGNATURE);
	store_be16(mgid->raw + 4, (uint16_t)(pkey | ACM_PKEY_FULL));
	/* raw[6] is the traffic class, always 0. */
	mgid->raw[7] = rate;
	mgid->raw[8] = mtu;
}

bool acm_group_parse(const struct acm_gid *mgid, uint16_t pkey, uint8_t *rate, uint8_t *mtu)
{
	struct acm_gid expected;

	acm_group_mgid(&expected, pkey, mgid->raw[7], mgid->raw[8]);
	if (memcmp(&expected, mgid, sizeof(expected)) != 0)
		return false;
	if (acm_rate_tenths_gbps(mgid->raw[7]) == 0 || acm_mtu_bytes(mgid->raw[8]) == 0)
		return false;
	*rate = mgid->raw[7];
	*mtu = mgid->raw[8];
	return true;
}
