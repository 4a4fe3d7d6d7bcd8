/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of the verbs transport share. */
#ifndef ACMITE_VERBS_STATE_H
#define ACMITE_VERBS_STATE_H

#include "verbs_events.h"
#include "verbs_handles.h"
#include "verbs_sa.h"
#include "verbs_slab.h"
#include "verbs_transport.h"
#include "verbs_watch.h"

struct verbs_device;

/* Told once, until an answer has come in between. */
enum verbs_loss { VERBS_LOSS_NONE, VERBS_LOSS_TOLD, VERBS_LOSS_OVER };

/* A trouble that comes back again and again, as it was told. All zero: none. */
struct verbs_trouble {
	uint16_t pkey;
	int error;
};

struct verbs_port {
	struct verbs_device *device;
	uint8_t number;               /* on the device, from 1 */
	bool infiniband;              /* else it is left out */
	bool served;                  /* it has a number, and the user is told of it */
	bool changed;                 /* to be read anew, and told */
	bool reregister;              /* to be told */
	bool incomplete;              /* something of it could not be read: to be read again */
	int sa_trouble;               /* why the SA cannot be asked, as it was told; 0: it can */
	enum verbs_loss loss;         /* of the SA, as it was told */
	const char *missing;          /* what an active port lacks, as it was told; NULL: nothing */
	struct verbs_trouble opening; /* of queue pairs, as it was told */
	struct verbs_trouble joining; /* of groups */
	struct acm_port_facts facts;  /* .port is its number in the transport when served */
	struct verbs_sa sa;
};

/* A number of the transport's for a port. Free when all is zero. */
struct verbs_slot {
	struct verbs_port *port;
	bool removed; /* to be told before the number is used anew */
};

struct verbs_device {
	struct verbs_transport *transport;
	struct verbs_device *next;
	char name[ACM_ADDRESS_MAX];
	int index;     /* the kernel's number for it, -1: unknown; one that came back has another */
	bool listed;   /* the last look found it */
	bool failed;   /* it is to be closed */
	bool doubtful; /* it has failed, and not been well from one look to the next since */
	bool looked_at;  /* since it was opened */
	bool without_ib; /* none of its ports is InfiniBand: it stays closed */
	int trouble;     /* why it cannot be opened, as it was told; 0: nothing */
	/* When it is open: */
	struct ibv_context *context; /* NULL: it is not */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct verbs_watch asynchronous;
	struct verbs_watch completions;
	uint32_t most_requests; /* of one queue */
	uint32_t most_completions;
	struct verbs_slab slab;
	struct verbs_handles *handles;
	struct verbs_queue_pair *queue_pairs;
	uint32_t port_count;
	struct verbs_port *ports;
};

struct verbs_transport {
	struct acm_transport base;
	struct verbs_options options;
	int epoll;
	int note_fd; /* an eventfd in the set, for what no device tells of */
	struct verbs_watch note_watch;
	bool noted; /* it is readable */
	bool started;
	bool pulling; /* inside next_event() */
	struct verbs_events events;
	/* What the user still reads: */
	void *pulled; /* an SA answer, allocated; NULL: none */
	uint8_t payload[ACM_DATAGRAM_MAX];
	struct acm_port_facts pulled_facts;
	bool refused;       /* some send or SA request was, with -EAGAIN */
	bool writable;      /* to be told */
	bool ports_pending; /* something is to be told of some port */
	bool ailing;        /* some device or SA agent has failed, and is to be closed */
	int trouble;        /* why no device is seen, as it was told; 0: nothing */
	uint32_t slot_count;
	struct verbs_slot *slots;
	struct verbs_device *devices;
};

static inline struct verbs_transport *verbs_transport_of(struct acm_transport *transport)
{
	return (struct verbs_transport *)transport;
}

/* Queues an event; takes over its memory, which is freed when there is no room. 0 or -ENOMEM. */
int verbs_push(struct verbs_transport *transport, const struct verbs_event *event);
/* Something is to be told of a port. */
void verbs_note_ports(struct verbs_transport *transport);
/* A device or an SA agent is marked as failed: it is closed before anything else is pulled. */
void verbs_note_failure(struct verbs_transport *transport);
/* Something ended that a refused send or request may have waited for. */
void verbs_note_progress(struct verbs_transport *transport);
/* Tells people. */
__attribute__((format(printf, 2, 3))) void verbs_say(const struct verbs_transport *transport,
						     const char *format, ...);

#endif
