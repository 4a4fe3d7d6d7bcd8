/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attachments to ibsim, lent to its nodes as they have something to send. ibsim has ten slots,
 * so that hundreds of nodes take turns: an attachment whose node has nothing in flight goes to the
 * next that waits, the least recently used one first.
 */
#ifndef ACMITE_SIM_IBSIM_POOL_H
#define ACMITE_SIM_IBSIM_POOL_H

#include "ibsim_protocol.h"

/* Of ibsim's ten: OpenSM and two more programs find a place beside them. */
#define IBSIM_POOL_ATTACHMENTS 7
/* Requests that ibsim has and has not answered. A thousand without a reader wedge it for good. */
#define IBSIM_POOL_WINDOW 128
/* Requests that wait or are in flight, over all. */
#define IBSIM_POOL_REQUESTS_MAX 65536

struct ibsim_pool;

/*
 * What became of a request: status 0 and the answer with the request's own transaction id, valid
 * during the call; or -EHOSTUNREACH: ibsim could not deliver it or nobody was there to take it;
 * -ETIMEDOUT: no answer came while other nodes waited for the attachment. May send further
 * requests.
 */
typedef void ibsim_answer(void *context, uint64_t cookie, int status, const uint8_t *mad);

/*
 * `nodes` are the netlist's names; the pool's users name a node by its index there. They and
 * `socket_name` must outlive the pool. 0 or negative errno.
 */
int ibsim_pool_create(const char *socket_name, const char (*nodes)[IBSIM_NAME_SIZE], uint32_t count,
		      struct ibsim_pool **pool);
/* Gives the attachments back. No answers come any more. NULL is allowed. */
void ibsim_pool_destroy(struct ibsim_pool *pool);

/*
 * Sends a MAD (ACM_MAD_LENGTH bytes, copied) from a node, as soon as an attachment is free for it.
 * 0, -EAGAIN: IBSIM_POOL_REQUESTS_MAX are waiting, or -ENOMEM.
 */
int ibsim_pool_send(struct ibsim_pool *pool, uint32_t node, const struct ibsim_address *to,
		    const uint8_t *mad, ibsim_answer *answer, void *context, uint64_t cookie);
/* No answer for this cookie of `answer` comes any more. Unknown ones are ignored. */
void ibsim_pool_cancel(struct ibsim_pool *pool, ibsim_answer *answer, uint64_t cookie);
/* Fails what is in flight for `answer`: who was to answer is gone. */
void ibsim_pool_fail(struct ibsim_pool *pool, ibsim_answer *answer, int status);

/* An epoll descriptor, readable when there is work; and when there is some at the latest. */
int ibsim_pool_fd(const struct ibsim_pool *pool);
uint64_t ibsim_pool_deadline(const struct ibsim_pool *pool);
void ibsim_pool_process(struct ibsim_pool *pool, uint64_t now);
/* True, once, after ibsim had no slot left for an attachment. */
bool ibsim_pool_was_refused(struct ibsim_pool *pool);

#endif
