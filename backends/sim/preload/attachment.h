/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * This process's attachment to its node: made when first needed, served by a thread of its own, and
 * replaced by a new one when the server was lost or the process forked. Attachments are never
 * freed, since programs keep pointers to their device.
 *
 * One lock guards everything in this library. Whoever holds it is not cancelled.
 */
#ifndef PRELOAD_ATTACHMENT_H
#define PRELOAD_ATTACHMENT_H

#include <infiniband/verbs.h>
#include "attach_welcome.h"

/* On one device; libibumad knows no more. */
#define PRELOAD_PORTS_MAX 9

struct preload_channel;
struct preload_context;
struct preload_queue_pair;
struct preload_reply;

struct preload_attachment {
	struct ibv_device device;
	struct sim_attach_welcome welcome;
	struct acm_port_facts ports[PRELOAD_PORTS_MAX];
	int socket;
	int timer; /* a timerfd: MADs have timed out; armed for no later than the first does */
	uint64_t armed;
	int patience_ms;
	bool stalled; /* the server has taken nothing for that long */
	bool lost;
	uint64_t next_cookie;
	uint32_t next_endpoint;
	struct preload_context *contexts;
	struct preload_channel *channels;
	struct preload_queue_pair *queue_pairs;
	struct preload_reply *replies;
	union sim_attach_message received;
	struct preload_attachment *before; /* that which it replaced */
};

/* An answer that a thread waits for. */
struct preload_reply {
	uint32_t type; /* SIM_ATTACH_OPENED or SIM_ATTACH_JOINED_QP */
	uint64_t key;  /* the endpoint, or the cookie */
	bool done;
	int status; /* 0 or negative errno */
	uint32_t qpn;
	struct preload_reply *next;
};

void preload_lock(void);
void preload_unlock(void);
/*
 * Adds one to an event counter, and wakes those who wait for the futex, if there is one, when the
 * lock has been given up: they run at once, and would otherwise only wait for the lock. Wants the
 * lock.
 */
void preload_tell(int counter, _Atomic uint32_t *futex);
/* Does so for all that wait for it. Wants the lock. */
void preload_tell_now(void);

/* All that follows wants the lock. */

/* NULL with errno, and the reason on standard error. */
struct preload_attachment *preload_attachment_get(void);
/* Of device port `number`, from 1. NULL: there is none. */
const struct acm_port_facts *preload_attachment_port(const struct preload_attachment *attachment,
						     uint32_t number);

/*
 * 0 or negative errno. Gives up the lock while the server cannot take more; after `patience_ms`
 * it is -ETIMEDOUT, and then at once until it takes something again, so that programs which send
 * without waiting are not held up by each datagram.
 */
int preload_attachment_send(struct preload_attachment *attachment, const void *message);
/* Sends, and waits for the reply that is described in `reply`. Its status, or negative errno. */
int preload_attachment_ask(struct preload_attachment *attachment, const void *message,
			   struct preload_reply *reply);
/* The ports as they are, asked from the server. 0 or negative errno. */
int preload_attachment_read_ports(struct preload_attachment *attachment);
/*
 * One message, if one has come, and what time has brought. The connection's end, and what is no
 * message, lose the server: all that the program has opened fails from then on.
 */
void preload_attachment_hear(struct preload_attachment *attachment);
/* Has the thread look at its deadlines at that time, or before. */
void preload_attachment_arm(struct preload_attachment *attachment, uint64_t time);
/* Waits until something has changed that others have told by preload_changed(). */
void preload_wait_for_change(void);
void preload_changed(void);

#endif
