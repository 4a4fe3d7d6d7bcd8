/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SA transactions in flight. Each transport has cookies of its own, the control wants them unique
 * over the fabric: this is the table between the two.
 */
#ifndef ACMITE_SIM_SA_TRANSACTIONS_H
#define ACMITE_SIM_SA_TRANSACTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct sim_transport;
struct sim_transaction;

struct sim_transactions {
	struct sim_transaction *slots;
	uint32_t room;
	uint32_t count; /* in flight */
	uint32_t first_free;
};

/* Of one transport: a list of slots. SIM_NONE: none. */
struct sim_transaction_list {
	uint32_t first;
};

/* An empty table. */
void sim_transactions_init(struct sim_transactions *transactions);
void sim_transactions_free(struct sim_transactions *transactions);

/* 0 and the fabric's cookie, never 0; or -ENOMEM. */
int sim_transactions_add(struct sim_transactions *transactions, struct sim_transport *owner,
			 struct sim_transaction_list *list, uint64_t cookie,
			 uint64_t *fabric_cookie);
/* Ends a transaction by the fabric's cookie. False: it is not in flight. */
bool sim_transactions_take(struct sim_transactions *transactions, uint64_t fabric_cookie,
			   struct sim_transport **owner, uint64_t *cookie);
/* The fabric's cookie of a transaction in the list, 0: none. */
uint64_t sim_transactions_find(const struct sim_transactions *transactions,
			       const struct sim_transaction_list *list, uint64_t cookie);
/* That of the first in the list, 0: it is empty. */
uint64_t sim_transactions_first(const struct sim_transactions *transactions,
				const struct sim_transaction_list *list);

#endif
