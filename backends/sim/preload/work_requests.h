/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs post to queue pairs, and how it completes. */
#ifndef PRELOAD_WORK_REQUESTS_H
#define PRELOAD_WORK_REQUESTS_H

#include "queue_pair.h"

/* In struct ibv_context_ops. */
int preload_post_send(struct ibv_qp *verbs, struct ibv_send_wr *request, struct ibv_send_wr **bad);
int preload_post_receive(struct ibv_qp *verbs, struct ibv_recv_wr *request,
			 struct ibv_recv_wr **bad);

/* Completes all posted receives as flushed. The lock is held. */
void preload_flush_receives(struct preload_queue_pair *queue_pair);

#endif
