/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs as nobody ought to send them: malformed, truncated, forged. Each is decided by one number.
 * None is such that a receiver could not tell: what a node says about itself is to be believed.
 */
#ifndef ACMITE_SIM_HOSTILE_MADS_H
#define ACMITE_SIM_HOSTILE_MADS_H

#include <acmite/transport.h>

/* Writes one datagram to an ACM service; its length, up to ACM_DATAGRAM_MAX, also 0. */
uint16_t sim_hostile_datagram(uint64_t draw, uint8_t payload[ACM_DATAGRAM_MAX]);

/* Spoils an answer of the SA; as struct sim_sa_verdict.alter. */
void sim_hostile_sa_answer(uint64_t draw, uint8_t *mad, uint32_t *length, uint32_t room);

#endif
