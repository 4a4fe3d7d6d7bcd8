/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue pairs of a fabric, by number, and by the groups attached at a port. */
#ifndef ACMITE_SIM_QUEUE_PAIR_H
#define ACMITE_SIM_QUEUE_PAIR_H

#include <acmite/engine.h>

/* Datagrams of one queue pair that are on their way at the same time. */
#define SIM_SEND_DEPTH 256

/*
 * The index of a port's P_Key table that stands for a partition: equal in 15 bits; where both kinds
 * of membership are there, the one asked for. -ENOENT: there is none.
 */
int sim_queue_pair_pkey_index(const struct acm_port_facts *facts, uint16_t pkey);

/* What a queue pair is made of. */
struct sim_queue_pair_options {
	uint32_t port;       /* index in the wiring */
	uint32_t recv_depth; /* buffers */
	uint32_t qkey;
	uint16_t pkey_index;
	const struct acm_port_facts *facts; /* the port as it is now; must outlive the queue pair */
	void *owner;                        /* for the data plane's hooks */
	uint32_t endpoint;                  /* the owner's number for it */
};

struct sim_queue_pair {
	uint32_t number; /* 24 bits */
	struct sim_queue_pair_options options;
	uint32_t held;               /* receive buffers in use */
	uint32_t sending;            /* datagrams on their way, at most SIM_SEND_DEPTH */
	bool blocked;                /* a send was refused */
	struct sim_queue_pair *next; /* in the bucket */
};

/* Of a queue pair to a group, at its port. */
struct sim_attachment {
	struct acm_gid mgid;
	uint16_t mlid;
	struct sim_queue_pair *queue_pair;
	struct sim_attachment *next;
};

struct sim_queue_pairs {
	uint32_t count;
	uint32_t bucket_mask;
	struct sim_queue_pair **buckets;
	struct sim_attachment **attachments; /* by port index */
	uint32_t next_number;
	uint32_t step;
};

/* `port_count` indices. Numbers come from the seed. 0 or -ENOMEM. */
int sim_queue_pairs_init(struct sim_queue_pairs *pairs, uint32_t port_count, uint64_t seed);
/* All must be closed. */
void sim_queue_pairs_free(struct sim_queue_pairs *pairs);

/* NULL: no memory. Its number is no other's that is open or, before 16 million are used up, was. */
struct sim_queue_pair *sim_queue_pairs_open(struct sim_queue_pairs *pairs,
					    const struct sim_queue_pair_options *options);
/* With its attachments. */
void sim_queue_pairs_close(struct sim_queue_pairs *pairs, struct sim_queue_pair *queue_pair);
/* NULL: none. */
struct sim_queue_pair *sim_queue_pairs_find(const struct sim_queue_pairs *pairs, uint32_t number);

/* One of all, decided by the number. NULL: there is none. */
struct sim_queue_pair *sim_queue_pairs_pick(const struct sim_queue_pairs *pairs, uint64_t draw);

/* 0; -EEXIST: attached to that MGID already, by whatever MLID; -ENOMEM. */
int sim_queue_pairs_attach(struct sim_queue_pairs *pairs, struct sim_queue_pair *queue_pair,
			   const struct acm_gid *mgid, uint16_t mlid);
/* 0 or -ENOENT. */
int sim_queue_pairs_detach(struct sim_queue_pairs *pairs, struct sim_queue_pair *queue_pair,
			   const struct acm_gid *mgid, uint16_t mlid);
/* The next attachment to the group in a port's list, in the order of attaching. NULL: no more. */
const struct sim_attachment *sim_attachment_match(const struct sim_attachment *attachment,
						  const struct acm_gid *mgid);

#endif
