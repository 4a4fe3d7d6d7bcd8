/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "slot_table.h"
#include "memory.h"

#include <assert.h>

void acm_slot_table_init(struct acm_slot_table *table, const struct acm_allocator *allocator)
{
	memset(table, 0, sizeof(*table));
	table->allocator = allocator;
}

void acm_slot_table_fini(struct acm_slot_table *table)
{
	acm_memory_free(table->allocator, table->slots, table->capacity * sizeof(*table->slots));
	table->slots = NULL;
}

static uint64_t cookie_of(const struct acm_slot_table *table, uint32_t place)
{
	return (uint64_t)table->slots[place].generation << 32 | (place + 1);
}

uint64_t acm_slot_table_add(struct acm_slot_table *table, void *object, uint8_t kind)
{
	uint32_t place;

	assert(object);
	if (table->free) {
		place = table->free - 1;
		table->free = table->slots[place].next_free;
	} else {
		if (table->used == table->capacity) {
			uint32_t capacity = table->capacity ? table->capacity * 2 : 8;
			void *slots = acm_memory_grow(table->allocator, table->slots,
						      table->capacity * sizeof(*table->slots),
						      capacity * sizeof(*table->slots));

			if (!slots)
				return 0;
			table->slots = slots;
			table->capacity = capacity;
		}
		place = table->used++;
	}
	table->slots[place].object = object;
	table->slots[place].kind = kind;
	table->slots[place].generation++;
	return cookie_of(table, place);
}

void *acm_slot_table_find(const struct acm_slot_table *table, uint64_t cookie, uint8_t kind)
{
	uint32_t place = (uint32_t)cookie - 1;

	if (place >= table->used || cookie != cookie_of(table, place) ||
	    table->slots[place].kind != kind)
		return NULL;
	return table->slots[place].object;
}

void acm_slot_table_remove(struct acm_slot_table *table, uint64_t cookie)
{
	uint32_t place = (uint32_t)cookie - 1;

	if (!cookie)
		return;
	assert(place < table->used && cookie == cookie_of(table, place) &&
	       table->slots[place].object);
	table->slots[place].object = NULL;
	table->slots[place].next_free = table->free;
	table->free = place + 1;
}

void *acm_slot_table_at(const struct acm_slot_table *table, uint32_t low, uint8_t kind)
{
	uint32_t place = low - 1;

	if (place >= table->used || table->slots[place].kind != kind)
		return NULL;
	return table->slots[place].object;
}
