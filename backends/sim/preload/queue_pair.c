/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "queue_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"
#include "completion_queue.h"
#include "device.h"
#include "memory_region.h"
#include "queue_pair_states.h"
#include "work_requests.h"

static struct preload_queue_pair *queue_pair_of(struct ibv_qp *verbs)
{
	return (struct preload_queue_pair *)verbs;
}

/* ---- making ---- */

static int check_wishes(const struct ibv_qp_init_attr *wishes)
{
	const struct ibv_qp_cap *cap = &wishes->cap;

	if (wishes->qp_type != IBV_QPT_UD || wishes->srq) {
		preload_complain("only queue pairs for unreliable datagrams (IBV_QPT_UD), without "
				 "a shared receive queue, are there on a simulated node");
		return EOPNOTSUPP;
	}
	if (!wishes->send_cq || !wishes->recv_cq || cap->max_send_wr > PRELOAD_WORK_REQUESTS_MAX ||
	    cap->max_recv_wr > PRELOAD_WORK_REQUESTS_MAX || cap->max_send_sge > PRELOAD_SGE_MAX ||
	    cap->max_recv_sge > PRELOAD_SGE_MAX || cap->max_inline_data > ACM_DATAGRAM_MAX)
		return EINVAL;
	return 0;
}

static int make_receives(struct preload_queue_pair *queue_pair, const struct ibv_qp_cap *cap)
{
	queue_pair->receives = calloc(cap->max_recv_wr + 1, sizeof(struct preload_receive));
	queue_pair->elements =
		calloc((size_t)cap->max_recv_wr * cap->max_recv_sge + 1, sizeof(struct ibv_sge));
	if (!queue_pair->receives || !queue_pair->elements)
		return ENOMEM;
	for (uint32_t i = 0; i < cap->max_recv_wr; i++)
		queue_pair->receives[i].elements =
			&queue_pair->elements[(size_t)i * cap->max_recv_sge];
	return 0;
}

static void free_queue_pair(struct preload_queue_pair *queue_pair)
{
	free(queue_pair->receives);
	free(queue_pair->elements);
	free(queue_pair);
}

static void init_verbs(struct preload_queue_pair *queue_pair, struct ibv_pd *domain,
		       const struct ibv_qp_init_attr *wishes)
{
	queue_pair->verbs.context = domain->context;
	queue_pair->verbs.qp_context = wishes->qp_context;
	queue_pair->verbs.pd = domain;
	queue_pair->verbs.send_cq = wishes->send_cq;
	queue_pair->verbs.recv_cq = wishes->recv_cq;
	queue_pair->verbs.state = IBV_QPS_RESET;
	queue_pair->verbs.qp_type = wishes->qp_type;
	pthread_mutex_init(&queue_pair->verbs.mutex, NULL);
	pthread_cond_init(&queue_pair->verbs.cond, NULL);
	queue_pair->made_with = *wishes;
}

static void add(struct preload_queue_pair *queue_pair)
{
	struct ibv_qp *verbs = &queue_pair->verbs;

	queue_pair->attachment = ((struct preload_context *)verbs->context)->attachment;
	queue_pair->next = queue_pair->attachment->queue_pairs;
	queue_pair->attachment->queue_pairs = queue_pair;
	((struct preload_domain *)verbs->pd)->users++;
	preload_completion_queue(verbs->send_cq)->users++;
	preload_completion_queue(verbs->recv_cq)->users++;
}

PRELOAD_CALL struct ibv_qp *ibv_create_qp(struct ibv_pd *domain, struct ibv_qp_init_attr *wishes)
{
	struct preload_queue_pair *queue_pair;
	int error = check_wishes(wishes);

	if (error) {
		errno = error;
		return NULL;
	}
	queue_pair = calloc(1, sizeof(*queue_pair));
	if (!queue_pair)
		return NULL;
	error = make_receives(queue_pair, &wishes->cap);
	if (error) {
		free_queue_pair(queue_pair);
		errno = error;
		return NULL;
	}
	init_verbs(queue_pair, domain, wishes);
	preload_lock();
	add(queue_pair);
	preload_unlock();
	return &queue_pair->verbs;
}

/* ---- the server's endpoint ---- */

static void close_endpoint(struct preload_queue_pair *queue_pair)
{
	struct sim_attach_close message = {.header.type = SIM_ATTACH_CLOSE,
					   .endpoint = queue_pair->endpoint};

	preload_groups_part(queue_pair);
	if (!queue_pair->open)
		return;
	queue_pair->open = false;
	preload_attachment_send(queue_pair->attachment, &message);
}

static int open_endpoint(struct preload_queue_pair *queue_pair, const struct ibv_qp_attr *wanted)
{
	struct preload_attachment *attachment = queue_pair->attachment;
	const struct acm_port_facts *facts = preload_attachment_port(attachment, wanted->port_num);
	struct sim_attach_open message = {.header.type = SIM_ATTACH_OPEN};
	struct preload_reply reply = {.type = SIM_ATTACH_OPENED};
	int error;

	if (!facts || wanted->pkey_index >= ACM_PORT_PKEYS_MAX ||
	    !(facts->pkeys[wanted->pkey_index] & ~ACM_PKEY_FULL))
		return EINVAL;
	message.endpoint = ++attachment->next_endpoint;
	message.port = wanted->port_num - 1u;
	message.qkey = wanted->qkey;
	message.recv_depth = queue_pair->made_with.cap.max_recv_wr;
	if (!message.recv_depth)
		message.recv_depth = 1;
	message.pkey = facts->pkeys[wanted->pkey_index];
	reply.key = message.endpoint;
	queue_pair->endpoint = message.endpoint;
	error = preload_attachment_ask(attachment, &message, &reply);
	/* One that has not answered may open it yet. */
	queue_pair->open = !error || error == -ETIMEDOUT;
	if (error) {
		close_endpoint(queue_pair);
		return -error;
	}
	queue_pair->verbs.qp_num = reply.qpn;
	error = preload_groups_join(queue_pair);
	if (error)
		close_endpoint(queue_pair);
	return -error;
}

/* ---- changing ---- */

static void reset(struct preload_queue_pair *queue_pair)
{
	close_endpoint(queue_pair);
	preload_completion_queue_purge(queue_pair->verbs.send_cq, queue_pair);
	preload_completion_queue_purge(queue_pair->verbs.recv_cq, queue_pair);
	queue_pair->receive_count = 0;
	queue_pair->sends_held = 0;
	queue_pair->sends_silent = 0;
}

/* The server's endpoint keeps what it was opened with. */
static bool changes_endpoint(const struct preload_queue_pair *queue_pair,
			     const struct ibv_qp_attr *wanted, int mask)
{
	const struct ibv_qp_attr *now = &queue_pair->attributes;

	return (mask & IBV_QP_PKEY_INDEX && wanted->pkey_index != now->pkey_index) ||
	       (mask & IBV_QP_PORT && wanted->port_num != now->port_num) ||
	       (mask & IBV_QP_QKEY && wanted->qkey != now->qkey);
}

static int enter_state(struct preload_queue_pair *queue_pair, enum ibv_qp_state state,
		       const struct ibv_qp_attr *wanted, int mask)
{
	struct ibv_qp_attr *now = &queue_pair->attributes;
	int error;

	if (queue_pair->verbs.state == IBV_QPS_RESET && state == IBV_QPS_INIT) {
		error = open_endpoint(queue_pair, wanted);
		if (error)
			return error;
		now->pkey_index = wanted->pkey_index;
		now->port_num = wanted->port_num;
		now->qkey = wanted->qkey;
	} else if (changes_endpoint(queue_pair, wanted, mask)) {
		preload_complain("the port, P_Key and Q_Key of a queue pair cannot be changed "
				 "after INIT on a simulated node");
		return ENOSYS;
	}
	if (mask & IBV_QP_SQ_PSN)
		now->sq_psn = wanted->sq_psn;
	queue_pair->verbs.state = state;
	if (state == IBV_QPS_RESET)
		reset(queue_pair);
	if (state == IBV_QPS_ERR)
		preload_flush_receives(queue_pair);
	return 0;
}

PRELOAD_CALL int ibv_modify_qp(struct ibv_qp *verbs, struct ibv_qp_attr *wanted, int mask)
{
	struct preload_queue_pair *queue_pair = queue_pair_of(verbs);
	enum ibv_qp_state to;
	int error;

	preload_lock();
	to = mask & IBV_QP_STATE ? wanted->qp_state : verbs->state;
	if (mask & IBV_QP_CUR_STATE && wanted->cur_qp_state != verbs->state)
		error = EINVAL;
	else
		error = preload_state_change_check(verbs->state, to, mask);
	if (!error && queue_pair->attachment->lost && to != IBV_QPS_ERR && to != IBV_QPS_RESET)
		error = ENODEV;
	if (!error)
		error = enter_state(queue_pair, to, wanted, mask);
	preload_unlock();
	return error;
}

PRELOAD_CALL int ibv_query_qp(struct ibv_qp *verbs, struct ibv_qp_attr *attributes, int mask,
			      struct ibv_qp_init_attr *made_with)
{
	struct preload_queue_pair *queue_pair = queue_pair_of(verbs);

	(void)mask; /* says what is needed at least */
	preload_lock();
	*attributes = queue_pair->attributes;
	attributes->qp_state = verbs->state;
	attributes->cur_qp_state = verbs->state;
	attributes->cap = queue_pair->made_with.cap;
	*made_with = queue_pair->made_with;
	preload_unlock();
	return 0;
}

/* ---- ending ---- */

static void remove_queue_pair(struct preload_queue_pair *queue_pair)
{
	struct preload_queue_pair **link = &queue_pair->attachment->queue_pairs;

	while (*link && *link != queue_pair)
		link = &(*link)->next;
	if (*link)
		*link = queue_pair->next;
	reset(queue_pair);
	((struct preload_domain *)queue_pair->verbs.pd)->users--;
	preload_completion_queue(queue_pair->verbs.send_cq)->users--;
	preload_completion_queue(queue_pair->verbs.recv_cq)->users--;
	preload_groups_free(queue_pair);
}

PRELOAD_CALL int ibv_destroy_qp(struct ibv_qp *verbs)
{
	struct preload_queue_pair *queue_pair = queue_pair_of(verbs);
	bool busy;

	preload_lock();
	busy = queue_pair->groups != NULL && !queue_pair->attachment->lost;
	if (!busy)
		remove_queue_pair(queue_pair);
	preload_unlock();
	if (busy)
		return EBUSY;
	pthread_mutex_destroy(&verbs->mutex);
	pthread_cond_destroy(&verbs->cond);
	free_queue_pair(queue_pair);
	return 0;
}

void preload_queue_pairs_close_of(struct preload_context *context)
{
	struct preload_queue_pair **link = &context->attachment->queue_pairs;

	while (*link) {
		struct preload_queue_pair *queue_pair = *link;

		if (queue_pair->verbs.context != &context->verbs) {
			link = &queue_pair->next;
			continue;
		}
		*link = queue_pair->next;
		close_endpoint(queue_pair);
	}
}

void preload_queue_pairs_fail(struct preload_attachment *attachment)
{
	for (struct preload_queue_pair *at = attachment->queue_pairs; at; at = at->next) {
		at->open = false;
		if (at->verbs.state == IBV_QPS_RESET)
			continue;
		at->verbs.state = IBV_QPS_ERR;
		preload_flush_receives(at);
	}
}
