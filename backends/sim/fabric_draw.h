/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics that dice decide: of every kind that can be generated, and with more on them. */
#ifndef ACMITE_SIM_FABRIC_DRAW_H
#define ACMITE_SIM_FABRIC_DRAW_H

#include "dice.h"
#include "topology.h"

/*
 * Draws a fabric: two hosts or more that are all connected and have a name, an IPv4 and an IPv6
 * address each. Its name begins with its kind. 0 and *topology the caller's; -ENOMEM.
 */
int sim_fabric_draw(struct sim_dice *dice, struct sim_topology **topology);

#endif
