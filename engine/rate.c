/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Codes of MTUs and rates (IBA vol. 1, PathRecord). The rate codes were given out as speeds came
 * up, so their order says nothing.
 */
#include <acmite/wire.h>

#define MTU_CODE_LEAST 1
#define MTU_CODE_MOST  5

#define SPEED_EXT_COUNT 4 /* FDR, EDR, HDR, NDR: one bit each */

/* Tenths of Gb/s by rate code. 2400 (12x XDR) has no code. */
static const uint16_t tenths_by_code[] = {
	[2] = 25,    [3] = 100,   [4] = 300,   [5] = 50,    [6] = 200,    [7] = 400,
	[8] = 600,   [9] = 800,   [10] = 1200, [11] = 140,  [12] = 560,   [13] = 1120,
	[14] = 1680, [15] = 250,  [16] = 1000, [17] = 2000, [18] = 3000,  [19] = 280,
	[20] = 500,  [21] = 4000, [22] = 6000, [23] = 8000, [24] = 12000, [25] = 16000,
};

#define RATE_CODE_COUNT (sizeof(tenths_by_code) / sizeof(tenths_by_code[0]))

uint8_t acm_mtu_code(uint32_t bytes)
{
	for (uint8_t code = MTU_CODE_LEAST; code <= MTU_CODE_MOST; code++) {
		if (bytes == UINT32_C(128) << code)
			return code;
	}
	return 0;
}

uint32_t acm_mtu_bytes(uint8_t code)
{
	if (code < MTU_CODE_LEAST || code > MTU_CODE_MOST)
		return 0;
	return UINT32_C(128) << code;
}

uint8_t acm_rate_code(uint32_t tenths_gbps)
{
	if (tenths_gbps == 0)
		return 0;
	for (uint8_t code = 0; code < RATE_CODE_COUNT; code++) {
		if (tenths_by_code[code] == tenths_gbps)
			return code;
	}
	return 0;
}

uint32_t acm_rate_tenths_gbps(uint8_t code)
{
	return code < RATE_CODE_COUNT ? tenths_by_code[code] : 0;
}

int acm_rate_compare(uint8_t a, uint8_t b)
{
	uint32_t tenths_a = acm_rate_tenths_gbps(a);
	uint32_t tenths_b = acm_rate_tenths_gbps(b);

	return (tenths_a > tenths_b) - (tenths_a < tenths_b);
}

static uint32_t lanes_of_width(uint8_t width_active)
{
	switch (width_active) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

/* Tenths of Gb/s of one lane, by the customary numbers (FDR counts as 14). */
static uint32_t tenths_of_lane(uint8_t speed_active, uint8_t speed_ext_active,
			       uint8_t speed_ext2_active)
{
	static const uint16_t extended[SPEED_EXT_COUNT] = {140, 250, 500, 1000};

	if (speed_ext2_active != 0)
		return speed_ext2_active == 1 ? 2000 : 0;
	for (unsigned int bit = 0; bit < SPEED_EXT_COUNT; bit++) {
		if (speed_ext_active == 1u << bit)
			return extended[bit];
	}
	if (speed_ext_active != 0)
		return 0;
	switch (speed_active) {
	case 1:
		return 25;
	case 2:
		return 50;
	case 4:
		return 100;
	default:
		return 0;
	}
}

uint8_t acm_rate_of_link(uint8_t width_active, uint8_t speed_active, uint8_t speed_ext_active,
			 uint8_t speed_ext2_active)
{
	return acm_rate_code(lanes_of_width(width_active) *
			     tenths_of_lane(speed_active, speed_ext_active, speed_ext2_active));
}
