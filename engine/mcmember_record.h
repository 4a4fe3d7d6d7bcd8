/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The 52 bytes of an MCMemberRecord (IBA vol. 1, 15.2.5.17), as the SA has it. */
#ifndef ACMITE_MCMEMBER_RECORD_H
#define ACMITE_MCMEMBER_RECORD_H

#include <acmite/wire.h>

/* Without the padding to a multiple of 8 that lies between records. */
#define MCMEMBER_RECORD_LENGTH 52

/* Reads every field but selectors and ProxyJoin. Ranges are for the caller to check. */
void acm_mcmember_record_load(struct acm_mcmember *member, const uint8_t *record);
/* Writes all bytes but the last three, which are ProxyJoin and reserved. MTU and rate are exact. */
void acm_mcmember_record_store(const struct acm_mcmember *member, uint8_t *record);

#endif
