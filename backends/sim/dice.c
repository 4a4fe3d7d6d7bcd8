/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dice.h"

#include "wiring.h"

struct sim_dice sim_dice(uint64_t seed, uint64_t purpose)
{
	return (struct sim_dice){sim_mix(seed ^ sim_mix(purpose))};
}

uint64_t sim_dice_below(struct sim_dice *dice, uint64_t count)
{
	dice->state += UINT64_C(0x9e3779b97f4a7c15);
	return sim_mix(dice->state) % count;
}

bool sim_dice_one_in(struct sim_dice *dice, uint64_t count)
{
	return !sim_dice_below(dice, count);
}

uint64_t sim_dice_pick(struct sim_dice *dice, const uint64_t *numbers, uint32_t count)
{
	return numbers[sim_dice_below(dice, count)];
}
