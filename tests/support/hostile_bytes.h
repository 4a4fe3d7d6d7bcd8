/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes for tests of decoders: golden messages written in hex, copies that end where the allocation
 * ends (so the address sanitizer sees one byte too many), and mutations drawn from a seed.
 */
#ifndef ACMITE_TESTS_HOSTILE_BYTES_H
#define ACMITE_TESTS_HOSTILE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* For the caller to free. */
static inline uint8_t *exact_copy(const uint8_t *bytes, size_t length)
{
	/* An allocation of no bytes, from the sanitizer too, may be neither read nor written. */
	uint8_t *copy = malloc(length);

	if (copy == NULL && length > 0)
		abort();
	if (length > 0)
		memcpy(copy, bytes, length);
	return copy;
}

static inline uint8_t hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *found = strchr(digits, c);

	if (c == '\0' || found == NULL)
		abort();
	return (uint8_t)(found - digits);
}

/*
 * Reads hex digits; blanks are skipped, and "*N." repeats the byte before it so that it stands
 * there N times. Returns the number of bytes.
 */
static inline size_t from_hex(const char *hex, uint8_t *bytes, size_t size)
{
	size_t length = 0;

	while (*hex != '\0') {
		if (*hex == ' ') {
			hex++;
			continue;
		}
		if (*hex == '*') {
			char *end;
			size_t count = strtoul(hex + 1, &end, 10);

			if (length == 0 || count == 0 || length + count - 1 > size || *end != '.')
				abort();
			memset(bytes + length, bytes[length - 1], count - 1);
			length += count - 1;
			hex = end + 1;
			continue;
		}
		if (length == size)
			abort();
		bytes[length++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
		hex += 2;
	}
	return length;
}

struct mutator {
	uint64_t state; /* not 0 */
};

static inline uint64_t mutator_next(struct mutator *mutator)
{
	mutator->state ^= mutator->state << 13;
	mutator->state ^= mutator->state >> 7;
	mutator->state ^= mutator->state << 17;
	return mutator->state;
}

/*
 * Changes 1 to 4 bytes, favouring the edges of ranges and the first 32 bytes, where headers are.
 * Returns the new length, which is `length` or (once in four) less.
 */
static inline size_t mutate(struct mutator *mutator, uint8_t *bytes, size_t length)
{
	static const uint8_t edges[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x40, 0x41};
	unsigned int changes = 1 + (unsigned int)(mutator_next(mutator) % 4);

	for (unsigned int i = 0; i < changes && length > 0; i++) {
		uint64_t draw = mutator_next(mutator);
		size_t range = (draw & 1) != 0 && length > 32 ? 32 : length;
		uint8_t *byte = bytes + (draw >> 8) % range;

		*byte = (draw & 2) != 0 ? edges[(draw >> 40) % sizeof(edges)]
					: (uint8_t)(draw >> 48);
	}
	if (mutator_next(mutator) % 4 == 0)
		length = mutator_next(mutator) % (length + 1);
	return length;
}

#endif
