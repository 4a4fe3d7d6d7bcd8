/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Host-endian integers in byte strings of any alignment, where the client protocol wants that;
 * those in network order are in acmite/bytes.h.
 */
#ifndef ACMITE_HOST_BYTES_H
#define ACMITE_HOST_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t load_host16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t load_host32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t load_host64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline void store_host16(uint8_t *bytes, uint16_t value)
{
	memcpy(bytes, &value, sizeof(value));
}

static inline void store_host32(uint8_t *bytes, uint32_t value)
{
	memcpy(bytes, &value, sizeof(value));
}

static inline void store_host64(uint8_t *bytes, uint64_t value)
{
	memcpy(bytes, &value, sizeof(value));
}

#endif
