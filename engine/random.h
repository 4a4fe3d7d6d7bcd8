/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's pseudo-random numbers and keyed hash. Same seed, same numbers, everywhere. */
#ifndef ACMITE_ENGINE_RANDOM_H
#define ACMITE_ENGINE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct acm_random {
	uint64_t state;
};

void acm_random_seed(struct acm_random *random, uint64_t seed);
/* 64 evenly distributed bits. */
uint64_t acm_random_next(struct acm_random *random);
/* `value` changed by up to an eighth of it either way. */
uint64_t acm_random_jitter(struct acm_random *random, uint64_t value);

struct acm_hash_key {
	uint64_t k0, k1;
};

/* SipHash-1-3 of `length` bytes, continued from `salt`: peers choose what is hashed. */
uint64_t acm_hash(const struct acm_hash_key *key, uint64_t salt, const uint8_t *data,
		  size_t length);

#endif
