/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_ports.h"

#include <acmite/bytes.h>
#include <acmite/wire.h>
#include <string.h>

/* ibsim's hosts have P_Key tables of 64 entries, read in blocks of 32. */
#define PKEY_BLOCKS     2u
#define PKEYS_PER_BLOCK 32u

static bool ports_next(void *context, struct ibsim_reading *reading)
{
	(void)context;
	reading->attribute = reading->step == 0 ? IBSIM_PORT_INFO : IBSIM_PKEY_TABLE;
	reading->modifier = reading->step == 0 ? 0 : reading->step - 1;
	return reading->step < 1 + PKEY_BLOCKS;
}

/* Offsets: IBA vol. 1, 14.2.5.6. */
static void store_port_info(struct acm_port_facts *facts, const uint8_t *data,
			    uint8_t subnet_timeout)
{
	memcpy(facts->gids[0].raw, data + 8, 8);
	facts->lid = load_be16(data + 16);
	facts->sm_lid = load_be16(data + 18);
	facts->state = data[32] & 0x0f;
	facts->lmc = data[34] & 0x07;
	facts->mtu = data[36] >> 4;
	facts->sm_sl = data[36] & 0x0f;
	facts->rate = acm_rate_of_link(data[31], data[35] >> 4, data[62] >> 4, 0);
	facts->subnet_timeout = subnet_timeout;
}

static void store_pkeys(struct acm_port_facts *facts, uint32_t block, const uint8_t *data)
{
	uint32_t first = block * PKEYS_PER_BLOCK;

	if (block == 0)
		facts->pkey_count = 0;
	for (uint32_t i = 0; i < PKEYS_PER_BLOCK; i++) {
		facts->pkeys[first + i] = load_be16(data + 2 * i);
		if (facts->pkeys[first + i])
			facts->pkey_count = (uint16_t)(first + i + 1);
	}
}

static void ports_store(void *context, struct ibsim_reading *reading, const uint8_t *data)
{
	struct ibsim_ports *ports = context;
	struct acm_port_facts *facts = &ports->readings[reading->place];

	if (reading->step == 0) {
		/* Copied as bytes, padding too, so that comparing bytes is right. */
		memcpy(facts, &ports->facts[reading->target], sizeof(*facts));
		store_port_info(facts, data, ports->subnet_timeout);
	} else {
		store_pkeys(facts, reading->modifier, data);
	}
}

static void ports_complete(void *context, struct ibsim_reading *reading)
{
	struct ibsim_ports *ports = context;
	struct acm_port_facts *known = &ports->facts[reading->target], before;

	if (memcmp(known, &ports->readings[reading->place], sizeof(*known)) == 0)
		return;
	before = *known;
	memcpy(known, &ports->readings[reading->place], sizeof(*known));
	reading->changed = true;
	ports->changed(ports->context, reading->target, &before);
}

const struct ibsim_pass_ops ibsim_ports_ops = {
	.next = ports_next,
	.store = ports_store,
	.complete = ports_complete,
};
