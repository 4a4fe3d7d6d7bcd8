/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers for whatever a seed decides: one set of dice for each purpose, so that none disturbs
 * another. Whole numbers only: the same on every machine. */
#ifndef ACMITE_SIM_DICE_H
#define ACMITE_SIM_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_dice {
	uint64_t state;
};

/* `purpose`: any number that no other purpose has. */
struct sim_dice sim_dice(uint64_t seed, uint64_t purpose);
/* 0 .. count - 1, of which there is one at least. */
uint64_t sim_dice_below(struct sim_dice *dice, uint64_t count);
/* Once in `count` throws. */
bool sim_dice_one_in(struct sim_dice *dice, uint64_t count);
/* Any of `count` numbers. */
uint64_t sim_dice_pick(struct sim_dice *dice, const uint64_t *numbers, uint32_t count);

#endif
