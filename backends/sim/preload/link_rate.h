/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Width and speed of a link whose rate is known, as libibverbs and libibumad want them. */
#ifndef PRELOAD_LINK_RATE_H
#define PRELOAD_LINK_RATE_H

#include <stdint.h>

struct preload_link_rate {
	uint8_t code;  /* IBA's code of the rate */
	uint8_t width; /* 1: 1x, 2: 4x, 4: 8x, 8: 12x, 16: 2x */
	uint8_t speed; /* 1: SDR, 2: DDR, 4: QDR, 16: FDR, 32: EDR, 64: HDR, 128: NDR */
};

/* The usual link of that rate; for unknown ones 4x SDR. */
const struct preload_link_rate *preload_link_rate(uint8_t code);

#endif
