/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "random.h"

#include <string.h>

void acm_random_seed(struct acm_random *random, uint64_t seed)
{
	random->state = seed;
}

/* SplitMix64 (Steele, Lea, Flood 2014): one word of state, every seed is good. */
uint64_t acm_random_next(struct acm_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t acm_random_jitter(struct acm_random *random, uint64_t value)
{
	uint64_t spread = value / 4;

	if (!spread)
		return value;
	return value - spread / 2 + acm_random_next(random) % (spread + 1);
}

static inline uint64_t rotate(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static inline void sip_absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

/* Words are read as little-endian by shifts, so the value is the same on every machine. */
static inline uint64_t load_word(const uint8_t *data, size_t length)
{
	uint64_t word = 0;

	if (length == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		memcpy(&word, data, 8);
		return word;
	}
	for (size_t i = 0; i < length; i++)
		word |= (uint64_t)data[i] << (8 * i);
	return word;
}

uint64_t acm_hash(const struct acm_hash_key *key, uint64_t salt, const uint8_t *data, size_t length)
{
	uint64_t v[4] = {
		key->k0 ^ UINT64_C(0x736f6d6570736575), key->k1 ^ UINT64_C(0x646f72616e646f6d),
		key->k0 ^ UINT64_C(0x6c7967656e657261), key->k1 ^ UINT64_C(0x7465646279746573)};
	size_t rest = length;

	sip_absorb(v, salt);
	for (; rest >= 8; rest -= 8, data += 8)
		sip_absorb(v, load_word(data, 8));
	sip_absorb(v, load_word(data, rest) | (uint64_t)(length + 8) << 56);
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
