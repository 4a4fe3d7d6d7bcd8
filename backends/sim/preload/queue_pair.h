/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queue pairs for datagrams. A queue pair is the server's endpoint from INIT on: then it gets its
 * number.
 */
#ifndef PRELOAD_QUEUE_PAIR_H
#define PRELOAD_QUEUE_PAIR_H

#include <infiniband/verbs.h>
#include "attachment.h"
#include "queue_pair_groups.h"

#define PRELOAD_WORK_REQUESTS_MAX 16384

/* A posted receive; its elements are the queue pair's. */
struct preload_receive {
	uint64_t wr_id;
	int element_count;
	struct ibv_sge *elements; /* room for cap.max_recv_sge */
};

struct preload_queue_pair {
	struct ibv_qp verbs;
	struct preload_attachment *attachment;
	struct ibv_qp_init_attr made_with;
	struct ibv_qp_attr attributes; /* as set by ibv_modify_qp() */
	uint32_t endpoint;
	bool open; /* at the server */
	struct preload_group *groups;
	struct preload_receive *receives; /* a ring of cap.max_recv_wr */
	struct ibv_sge *elements;
	uint32_t first_receive;
	uint32_t receive_count;
	uint32_t sends_held;   /* of cap.max_send_wr, until their completion has been seen */
	uint32_t sends_silent; /* of those, which the next completion stands for too */
	struct preload_queue_pair *next;
};

/* All want the lock. */

/* A datagram for one of them. */
void preload_queue_pairs_receive(struct preload_attachment *attachment,
				 const struct sim_attach_datagram *datagram);
/* The server is lost: all go to the error state. */
void preload_queue_pairs_fail(struct preload_attachment *attachment);
/* The device was closed before its queue pairs were destroyed: nothing arrives at them any more. */
void preload_queue_pairs_close_of(struct preload_context *context);

#endif
