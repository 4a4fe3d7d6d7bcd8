/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A UD queue pair: an endpoint of the transport. */
#ifndef ACMITE_VERBS_QUEUE_PAIR_H
#define ACMITE_VERBS_QUEUE_PAIR_H

#include "verbs_state.h"

/* Datagrams of one queue pair under way at the same time. */
#define VERBS_SEND_DEPTH 128

struct verbs_queue_pair_options {
	uint32_t endpoint; /* the user's number for it */
	uint8_t port;      /* on the device */
	uint16_t pkey;
	uint16_t pkey_index;
	uint32_t qkey;
	uint32_t recv_depth;
};

struct verbs_queue_pair;

/* Enters itself at the device. 0 or negative errno. */
int verbs_queue_pair_open(struct verbs_device *device,
			  const struct verbs_queue_pair_options *options,
			  struct verbs_queue_pair **queue_pair);
/* Forgets its events too. */
void verbs_queue_pair_close(struct verbs_queue_pair *queue_pair);
/* Of an endpoint, on any device; NULL: there is none. */
struct verbs_queue_pair *verbs_queue_pair_find(const struct verbs_transport *transport,
					       uint32_t endpoint);
uint32_t verbs_queue_pair_number(const struct verbs_queue_pair *queue_pair);
/* The device's next one, NULL: it was the last. */
struct verbs_queue_pair *verbs_queue_pair_next(const struct verbs_queue_pair *queue_pair);

/* As the operations of acm_transport_ops. */
int verbs_queue_pair_send(struct verbs_queue_pair *queue_pair, const struct acm_datagram *datagram,
			  uint64_t cookie);
int verbs_queue_pair_attach(struct verbs_queue_pair *queue_pair, const struct acm_gid *mgid,
			    uint16_t mlid);
int verbs_queue_pair_detach(struct verbs_queue_pair *queue_pair, const struct acm_gid *mgid,
			    uint16_t mlid);

/* A completion event of one of its queues came. */
void verbs_queue_pair_complete(struct verbs_queue_pair *queue_pair, struct ibv_cq *queue);
/* An asynchronous event said that it is broken. */
void verbs_queue_pair_repair(struct verbs_queue_pair *queue_pair);
/* From time to time: one that could not be brought back is tried again. */
void verbs_queue_pair_look(struct verbs_queue_pair *queue_pair);
/* The receive buffer of a datagram is not read any more. */
void verbs_queue_pair_release(struct verbs_queue_pair *queue_pair, uint32_t buffer);

#endif
