/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The requests that a pool has under way, found by the transaction id that they carry through
 * ibsim. An object is used again when its answer has come; its sequence number tells the uses
 * apart.
 */
#ifndef ACMITE_SIM_IBSIM_REQUESTS_H
#define ACMITE_SIM_IBSIM_REQUESTS_H

#include "ibsim_pool.h"

enum ibsim_request_state { IBSIM_REQUEST_FREE, IBSIM_REQUEST_WAITING, IBSIM_REQUEST_SENT };

struct ibsim_request {
	enum ibsim_request_state state;
	uint32_t index;
	uint32_t sequence; /* changes with each use */
	uint32_t node;
	uint32_t attachment; /* while its answer is waited for there */
	struct ibsim_address to;
	ibsim_answer *answer; /* NULL: cancelled, but ibsim still has it */
	void *context;
	uint64_t cookie;
	uint64_t tid; /* the sender's */
	uint64_t sent;
	struct ibsim_request *previous, *next; /* in the one list that it is in */
	uint8_t mad[ACM_MAD_LENGTH];
};

struct ibsim_request_list {
	struct ibsim_request *first, *last;
};

void ibsim_request_list_append(struct ibsim_request_list *list, struct ibsim_request *request);
void ibsim_request_list_remove(struct ibsim_request_list *list, struct ibsim_request *request);

struct ibsim_requests {
	struct ibsim_request **all; /* by index */
	uint32_t count, limit;
	struct ibsim_request_list unused;
};

/* A free one, in no list, its sequence number new. -EAGAIN: IBSIM_POOL_REQUESTS_MAX are in use;
 * -ENOMEM. */
int ibsim_requests_take(struct ibsim_requests *requests, struct ibsim_request **request);
/* It must be in no list. */
void ibsim_requests_give_back(struct ibsim_requests *requests, struct ibsim_request *request);
/* The id for the wire: 48 bits, as ibsim overwrites the rest. */
uint64_t ibsim_request_wire_tid(const struct ibsim_request *request);
/* The request that was sent with this id, NULL when it was answered or is none of these. */
struct ibsim_request *ibsim_requests_find_sent(const struct ibsim_requests *requests, uint64_t tid);
void ibsim_requests_free(struct ibsim_requests *requests);

#endif
