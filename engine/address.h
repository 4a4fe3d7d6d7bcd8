/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses in the 64-byte fields of the client protocol and of ACM MADs. */
#ifndef ACMITE_ADDRESS_H
#define ACMITE_ADDRESS_H

#include <acmite/types.h>

/*
 * Reads a field of ACM_ADDRESS_MAX bytes, of which the first `length` count, as an address of wire
 * type `type`. Bytes behind the address are ignored. -EINVAL as acm_address_canonical(), also when
 * `length` is too short for the type.
 */
int acm_address_load(struct acm_address *address, unsigned int type, const uint8_t *field,
		     size_t length);
/* Writes all ACM_ADDRESS_MAX bytes. */
void acm_address_store(const struct acm_address *address, uint8_t *field);

#endif
