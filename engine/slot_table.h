/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers that stand for objects towards the outside (cookies). A number is never given out twice,
 * so a completion that comes late finds nothing instead of somebody else's object.
 */
#ifndef ACMITE_ENGINE_SLOT_TABLE_H
#define ACMITE_ENGINE_SLOT_TABLE_H

#include <acmite/types.h>

struct acm_slot {
	void *object; /* NULL: free */
	uint32_t generation;
	uint32_t next_free; /* place + 1 */
	uint8_t kind;
};

struct acm_slot_table {
	const struct acm_allocator *allocator;
	struct acm_slot *slots;
	uint32_t capacity;
	uint32_t used; /* slots that were ever in use */
	uint32_t free; /* place + 1 of the first free one */
};

void acm_slot_table_init(struct acm_slot_table *table, const struct acm_allocator *allocator);
void acm_slot_table_fini(struct acm_slot_table *table);
/* The number of `object`, or 0: no memory. */
uint64_t acm_slot_table_add(struct acm_slot_table *table, void *object, uint8_t kind);
/* The object of that kind behind a number, NULL when it is gone or was none. */
void *acm_slot_table_find(const struct acm_slot_table *table, uint64_t cookie, uint8_t kind);
/* The object of that kind whose cookie has `low` as its low 32 bits, NULL. */
void *acm_slot_table_at(const struct acm_slot_table *table, uint32_t low, uint8_t kind);
/* 0 is allowed and ignored. */
void acm_slot_table_remove(struct acm_slot_table *table, uint64_t cookie);

#endif
