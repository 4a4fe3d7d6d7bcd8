# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Destinations are told apart by all but the last byte of their addresses.
set(engine_source destination_cache.c)
set(healthy_1 [[(uint64_t)key->endpoint << 8 | key->type,
				  key->data, key->length)]])
set(faulty_1 [[(uint64_t)key->endpoint << 8 | key->type,
				  key->data, key->length - 1u)]])
set(healthy_2 [[!memcmp(destination->key, key->data, key->length)]])
set(faulty_2 [[!memcmp(destination->key, key->data, key->length - 1u)]])
