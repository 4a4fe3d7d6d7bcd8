/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The attached transport's own object: what its files share. */
#ifndef ACMITE_SIM_ATTACHED_STATE_H
#define ACMITE_SIM_ATTACHED_STATE_H

#include "attach_channel.h"
#include "attached_transport.h"

struct attached_port {
	bool known;            /* the server has told of it, and not gone since */
	bool told;             /* the user has been told of it */
	bool changed, removed; /* the user is to be told so */
	struct acm_port_facts facts;
};

/* Of an endpoint to a group. */
struct attached_group {
	struct acm_gid mgid;
	uint16_t mlid;
	uint64_t cookie; /* the user's */
	uint64_t number; /* as the server is told */
	struct attached_group *next;
};

struct attached_endpoint {
	uint32_t endpoint; /* the user's number */
	uint32_t number;   /* as the server is told: never used twice */
	uint32_t port;
	bool dead; /* the server it was on is gone */
	struct attached_group *groups;
	struct attached_endpoint *next;
};

struct attached_transaction {
	uint64_t cookie; /* the user's */
	uint64_t number; /* as the server is told */
};

struct attached_output;

struct attached_transport {
	struct acm_transport base;
	char *path;
	char *node;
	enum sim_attach_role role;
	enum sim_attached_state state;
	int error;
	char failure[SIM_ATTACH_TEXT + 128];
	int epoll_fd;
	int local_fd; /* an event counter: readable when events wait that did not come by socket */
	int fd;       /* -1: not connected */
	uint32_t interest;
	void (*wake)(void *context);
	void *wake_context;
	bool started;

	bool greeted;
	struct sim_attach_welcome welcome;
	struct acm_address *addresses;
	uint32_t address_count; /* of those, received */
	uint32_t port_count, known_count;
	struct attached_port
		*ports; /* at least as many as the welcome says; they never get fewer */

	uint64_t last_number; /* of endpoints, groups and transactions */
	struct attached_endpoint *endpoints;
	uint32_t transaction_count;
	struct attached_transaction transactions[SIM_ATTACH_MADS];
	uint32_t failed_count; /* transactions that ended with the server */
	struct attached_transaction failed[SIM_ATTACH_MADS];
	bool blocked;  /* a send was refused: the socket is full */
	bool crowded;  /* one was refused: SIM_ATTACH_MADS are under way */
	bool writable; /* the user is to be told */

	struct attached_output *output; /* what the socket did not take, and must not be lost */
	struct attached_output **output_end;
	uint8_t *answer; /* as far as it has come */
	uint32_t answer_length, answer_total;
	union sim_attach_message message; /* the last one received */
};

/* ---- attached_session.c: the connection ---- */

/* Sends or keeps. A connection that breaks is ended. */
void attached_put(struct attached_transport *transport, const void *message);
/* Sends now, or -EAGAIN: `blocked` is set. Another error ends the connection. */
int attached_try(struct attached_transport *transport, const void *message);
/* Ends the connection, for this reason. */
__attribute__((format(printf, 3, 4))) void attached_end(struct attached_transport *transport,
							int error, const char *format, ...);
/* Events have come to wait that did not come by the socket. */
void attached_note_local(struct attached_transport *transport);
/*
 * 1 and a message in transport->message; 0: none. What says what node there is, with which ports,
 * has been taken already. The connection may be over afterwards.
 */
int attached_receive(struct attached_transport *transport);
/* Waits for the socket to be writable where something waits for that, and for no more. */
void attached_update_interest(struct attached_transport *transport);
void attached_close(struct attached_transport *transport);

/* ---- attached_events.c: what the user is told ---- */

int attached_next_event(struct attached_transport *transport, struct acm_event *event);
void attached_forget_group(struct attached_endpoint *endpoint, struct attached_group *group);

#endif
