/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "partition.h"

#define PARTITION_BITS 0x7fffu

bool acm_partition_equal(uint16_t a, uint16_t b)
{
	return (a & PARTITION_BITS) && (a & PARTITION_BITS) == (b & PARTITION_BITS);
}

uint16_t acm_partition_find(const struct acm_port_facts *facts, uint16_t pkey)
{
	uint16_t found = 0;

	for (uint16_t i = 0; i < facts->pkey_count; i++) {
		if (acm_partition_equal(facts->pkeys[i], pkey) &&
		    (!found || found < facts->pkeys[i]))
			found = facts->pkeys[i];
	}
	return found;
}

uint16_t acm_partition_sa_index(const struct acm_port_facts *facts)
{
	uint16_t wanted = acm_partition_find(facts, ACM_PKEY_DEFAULT);

	for (uint16_t i = 0; wanted && i < facts->pkey_count; i++) {
		if (facts->pkeys[i] == wanted)
			return i;
	}
	return 0;
}

bool acm_partition_represents(const struct acm_port_facts *facts, uint16_t index)
{
	uint16_t pkey = facts->pkeys[index];

	if (!(pkey & PARTITION_BITS) || pkey != acm_partition_find(facts, pkey))
		return false;
	for (uint16_t i = 0; i < index; i++) {
		if (facts->pkeys[i] == pkey)
			return false;
	}
	return true;
}
