/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sa_transactions.h"

#include "topology.h"

#include <errno.h>
#include <stdlib.h>

struct sim_transaction {
	struct sim_transport *owner; /* NULL: the slot is free */
	struct sim_transaction_list *list;
	uint64_t cookie;
	uint32_t generation; /* of the slot: late answers do not hit its next user */
	uint32_t next;       /* in the owner's list, or of the free ones */
	uint32_t previous;
};

void sim_transactions_init(struct sim_transactions *transactions)
{
	*transactions = (struct sim_transactions){.first_free = SIM_NONE};
}

void sim_transactions_free(struct sim_transactions *transactions)
{
	free(transactions->slots);
	sim_transactions_init(transactions);
}

static int grow(struct sim_transactions *transactions)
{
	uint32_t room = transactions->room ? transactions->room * 2 : 64;
	struct sim_transaction *slots = reallocarray(transactions->slots, room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	transactions->slots = slots;
	for (uint32_t i = room; i-- > transactions->room;) {
		slots[i] = (struct sim_transaction){.next = transactions->first_free};
		transactions->first_free = i;
	}
	transactions->room = room;
	return 0;
}

static uint64_t cookie_of_slot(const struct sim_transactions *transactions, uint32_t slot)
{
	return (uint64_t)transactions->slots[slot].generation << 32 | slot;
}

int sim_transactions_add(struct sim_transactions *transactions, struct sim_transport *owner,
			 struct sim_transaction_list *list, uint64_t cookie,
			 uint64_t *fabric_cookie)
{
	struct sim_transaction *added;
	uint32_t slot;

	if (transactions->first_free == SIM_NONE && grow(transactions))
		return -ENOMEM;
	slot = transactions->first_free;
	added = &transactions->slots[slot];
	transactions->first_free = added->next;
	transactions->count++;
	*added = (struct sim_transaction){.owner = owner,
					  .list = list,
					  .cookie = cookie,
					  .generation = added->generation + 1,
					  .next = list->first,
					  .previous = SIM_NONE};
	if (list->first != SIM_NONE)
		transactions->slots[list->first].previous = slot;
	list->first = slot;
	*fabric_cookie = cookie_of_slot(transactions, slot);
	return 0;
}

static void unlink_slot(struct sim_transactions *transactions, struct sim_transaction *taken)
{
	if (taken->previous != SIM_NONE)
		transactions->slots[taken->previous].next = taken->next;
	else
		taken->list->first = taken->next;
	if (taken->next != SIM_NONE)
		transactions->slots[taken->next].previous = taken->previous;
}

bool sim_transactions_take(struct sim_transactions *transactions, uint64_t fabric_cookie,
			   struct sim_transport **owner, uint64_t *cookie)
{
	uint32_t slot = (uint32_t)fabric_cookie;
	struct sim_transaction *taken;

	if (slot >= transactions->room)
		return false;
	taken = &transactions->slots[slot];
	if (!taken->owner || cookie_of_slot(transactions, slot) != fabric_cookie)
		return false;
	*owner = taken->owner;
	*cookie = taken->cookie;
	unlink_slot(transactions, taken);
	taken->owner = NULL;
	taken->next = transactions->first_free;
	transactions->first_free = slot;
	transactions->count--;
	return true;
}

uint64_t sim_transactions_find(const struct sim_transactions *transactions,
			       const struct sim_transaction_list *list, uint64_t cookie)
{
	uint32_t slot = list->first;

	while (slot != SIM_NONE && transactions->slots[slot].cookie != cookie)
		slot = transactions->slots[slot].next;
	return slot == SIM_NONE ? 0 : cookie_of_slot(transactions, slot);
}

uint64_t sim_transactions_first(const struct sim_transactions *transactions,
				const struct sim_transaction_list *list)
{
	return list->first == SIM_NONE ? 0 : cookie_of_slot(transactions, list->first);
}
