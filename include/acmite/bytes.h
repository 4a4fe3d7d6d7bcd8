/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Big-endian integers, as on the wire, in byte strings of any alignment; they must have as many
 * bytes. For codecs, and for what reads or writes single fields of a MAD.
 */
#ifndef ACMITE_BYTES_H
#define ACMITE_BYTES_H

#include <stdint.h>

static inline uint16_t load_be16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t load_be32(const uint8_t *bytes)
{
	return (uint32_t)load_be16(bytes) << 16 | load_be16(bytes + 2);
}

static inline uint64_t load_be64(const uint8_t *bytes)
{
	return (uint64_t)load_be32(bytes) << 32 | load_be32(bytes + 4);
}

static inline void store_be16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static inline void store_be32(uint8_t *bytes, uint32_t value)
{
	store_be16(bytes, (uint16_t)(value >> 16));
	store_be16(bytes + 2, (uint16_t)value);
}

static inline void store_be64(uint8_t *bytes, uint64_t value)
{
	store_be32(bytes, (uint32_t)(value >> 32));
	store_be32(bytes + 4, (uint32_t)value);
}

#endif
