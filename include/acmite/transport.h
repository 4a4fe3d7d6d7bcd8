/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one interface between deciding and doing: what a fabric, real or simulated, does for one
 * node.
 *
 * A transport belongs to one thread. It never calls back into its user except for `wake`, and never
 * blocks. Errors are negative errno values. What happens is told by events that the user pulls with
 * next_event(); they are the engine's own (acmite/engine.h), so the driver hands them on unchanged.
 *
 * Back-pressure: send() and sa_send() return -EAGAIN when they cannot take more now; nothing was
 * taken, and an ACM_EVENT_WRITABLE follows when a further try is worth it.
 */
#ifndef ACMITE_TRANSPORT_H
#define ACMITE_TRANSPORT_H

#include <acmite/types.h>

struct acm_event;

/* Payload of one ACM datagram; the transport's receive buffers hold as much behind the GRH. */
#define ACM_DATAGRAM_MAX 256
/* One MAD. */
#define ACM_MAD_LENGTH 256

/* What a transport can do. Bits of acm_transport_caps.flags. */
#define ACM_TRANSPORT_SELF_DELIVERY                                                                \
	(1u << 0)                           /* own multicasts come back to an attached endpoint    \
					     */
#define ACM_TRANSPORT_RMPP        (1u << 1) /* SA answers may be longer than one MAD */
#define ACM_TRANSPORT_ASYNC_PORTS (1u << 2) /* port changes are told without being asked for */

struct acm_transport_caps {
	uint32_t flags;
	int fd; /* readable when next_event() may have something; -1: only `wake` tells */
	uint32_t sa_window; /* most SA transactions in flight that make sense, at least 1 */
};

/* A datagram to send. Everything it points to is read before send() returns. */
struct acm_datagram {
	uint32_t endpoint; /* the id given to open_endpoint() */
	uint16_t dlid;
	uint8_t sl;
	uint8_t path_bits;   /* added to the port's base LID as the source */
	uint8_t static_rate; /* rate code, 0: the port's own */
	uint32_t qpn;        /* 0xffffff for multicast */
	uint32_t qkey;
	struct acm_gid dgid; /* the GRH, always sent */
	uint32_t flow_label;
	uint8_t hop_limit;
	uint8_t traffic_class;
	const uint8_t *payload;
	uint16_t length; /* at most ACM_DATAGRAM_MAX */
};

struct acm_transport;

struct acm_transport_ops {
	void (*capabilities)(const struct acm_transport *transport,
			     struct acm_transport_caps *caps);
	/*
	 * `wake(context)` is called when next_event() turns from empty to not empty, but
	 * for what `fd` tells of. It must only note the fact. One waker at a time; NULL for none.
	 */
	void (*set_wake)(struct acm_transport *transport, void (*wake)(void *context),
			 void *context);
	/* Begins: one ACM_EVENT_PORT_CHANGED per InfiniBand port follows. Call once. */
	int (*start)(struct acm_transport *transport);
	/*
	 * A UD queue pair for `pkey` on `port`. ACM_EVENT_ENDPOINT_OPENED tells its QP number or
	 * the error. -EEXIST: the id is in use. -ENODEV: no such port. The index of the P_Key is
	 * looked up in the port's table now; -ENOENT when it is not there. `recv_depth` buffers are
	 * kept posted.
	 */
	int (*open_endpoint)(struct acm_transport *transport, uint32_t endpoint, uint32_t port,
			     uint16_t pkey, uint32_t qkey, uint32_t recv_depth);
	/* Closes it with all its attachments. No event for it comes afterwards. */
	void (*close_endpoint)(struct acm_transport *transport, uint32_t endpoint);
	/* 0, -EAGAIN, or why it cannot be sent. Later failures come as ACM_EVENT_SEND_FAILED. */
	int (*send)(struct acm_transport *transport, const struct acm_datagram *datagram,
		    uint64_t cookie);
	/*
	 * One SA request (a whole MAD of ACM_MAD_LENGTH bytes, read before return) from `port` to
	 * its SM, in the partition of table index `pkey_index`. The transport times nothing out:
	 * either ACM_EVENT_SA_ANSWER or ACM_EVENT_SA_FAILED with `cookie` comes, or the user
	 * cancels. The transaction id's low 32 bits are the sender's and come back; others may be
	 * rewritten.
	 */
	int (*sa_send)(struct acm_transport *transport, uint32_t port, uint16_t pkey_index,
		       const uint8_t *mad, uint64_t cookie);
	/* Forgets a transaction: no event with this cookie comes afterwards. Unknown ones are
	 * ignored. */
	void (*sa_cancel)(struct acm_transport *transport, uint64_t cookie);
	/* Receives datagrams to the group; ACM_EVENT_ATTACHED tells. `mlid` host order. */
	int (*attach)(struct acm_transport *transport, uint32_t endpoint,
		      const struct acm_gid *mgid, uint16_t mlid, uint64_t cookie);
	int (*detach)(struct acm_transport *transport, uint32_t endpoint,
		      const struct acm_gid *mgid, uint16_t mlid);
	/*
	 * 1 and the next event, 0 when there is none. The event's time is not set. What it points
	 * to stays valid until the next call of any operation of this transport.
	 */
	int (*next_event)(struct acm_transport *transport, struct acm_event *event);
	void (*destroy)(struct acm_transport *transport);
};

/* Implementations put this first in their own object. */
struct acm_transport {
	const struct acm_transport_ops *ops;
};

#endif
