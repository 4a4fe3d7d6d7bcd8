/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program attached to a fabric server, as the server sees it: one connection, and the transport
 * on which it does what the program asks for. Whatever a program sends or leaves unread, memory for
 * it is bounded, and nobody else waits for it.
 */
#ifndef ACMITE_SIM_FABRIC_CLIENT_H
#define ACMITE_SIM_FABRIC_CLIENT_H

#include "attach_channel.h"
#include "fabric.h"
#include "fabric_show.h"

/* What one program may hold at a time. */
#define SIM_CLIENT_ENDPOINTS 256
#define SIM_CLIENT_BUFFERS   65536 /* receive buffers of all its endpoints */
#define SIM_CLIENT_GROUPS    4096  /* queue pairs attached to groups */

struct sim_fabric_client;

/* What the clients of one server share. */
struct sim_fabric_host {
	struct sim_fabric *fabric;
	const struct sim_topology *topology;
	const bool *stopped; /* by node: as if switched off */
	/* A client turned from idle to having something to do. Only notes the fact. */
	void (*wake)(void *context, struct sim_fabric_client *client);
	/* Has those leave a node whose programs are gone already. False: there are none. */
	bool (*reap)(void *context, uint32_t node);
	void *context; /* of both */
	/* A fault's text. 0, or negative errno with one sentence in `why`. */
	int (*fault)(void *context, const char *text, char *why, size_t size);
	void *fault_context;
};

struct sim_client_endpoint {
	uint32_t endpoint;
	uint32_t buffers;
	uint32_t groups;
};

enum sim_client_mad_state { SIM_CLIENT_MAD_FREE, SIM_CLIENT_MAD_WAITING, SIM_CLIENT_MAD_SENT };

/* Under way; its place is its cookie on the transport. */
struct sim_client_mad {
	enum sim_client_mad_state state;
	uint64_t order; /* of those that wait for the control to have room */
	struct sim_attach_mad request;
};

struct sim_client_output;

struct sim_fabric_client {
	const struct sim_fabric_host *host;
	int fd;
	int error;                       /* not 0: it is over */
	bool greeted;                    /* HELLO was answered */
	bool started;                    /* wants port events */
	uint64_t since;                  /* when it connected */
	struct acm_transport *transport; /* NULL: an observer, or not greeted yet */
	uint32_t node;
	struct sim_client_output *output; /* what its socket did not take yet, first come first */
	struct sim_client_output **output_end;
	struct sim_attach_send *held; /* refused for now: nothing is read before it is taken */
	bool holding;                 /* `held` counts */
	bool readable;                /* the socket may have something to be read */
	bool paused;                  /* as a program that is not scheduled */
	bool refused;                 /* the control had no room for a MAD: waits to hear of some */
	struct sim_client_mad *mads;  /* SIM_ATTACH_MADS, or NULL */
	uint32_t waiting;             /* MADs */
	uint64_t next_order;
	uint32_t endpoint_count, buffers, groups;
	struct sim_client_endpoint endpoints[SIM_CLIENT_ENDPOINTS];
	bool showing;
	bool awaiting; /* what is to be shown: it is being found out */
	struct sim_show_cursor show;
	/* The server's: */
	bool ready;
	uint32_t interest;
	struct sim_fabric_client *next, *previous, *next_ready;
};

/* Takes over the connection. NULL: no memory. */
struct sim_fabric_client *sim_fabric_client_create(const struct sim_fabric_host *host, int fd,
						   uint64_t now);
/* Ends it, with everything that it had on the fabric. */
void sim_fabric_client_destroy(struct sim_fabric_client *client);
/* Gives up all that it has on the fabric: its program is gone. */
void sim_fabric_client_leave(struct sim_fabric_client *client);
/*
 * Moves some messages in either direction. True: there is more to move now. When `error` is set
 * afterwards, it is to be destroyed.
 */
bool sim_fabric_client_run(struct sim_fabric_client *client);
/* Whether it is to be read from, and whether it has something to be written. */
bool sim_fabric_client_reads(const struct sim_fabric_client *client);
bool sim_fabric_client_writes(const struct sim_fabric_client *client);
/* Tells it why it is not served any more, and ends it. */
__attribute__((format(printf, 3, 4))) void
sim_fabric_client_refuse(struct sim_fabric_client *client, int status, const char *format, ...);

/* ---- between its files ---- */

/* Sends a message, or keeps a copy of it until the socket has room. */
void sim_client_put(struct sim_fabric_client *client, const void *message);
void sim_client_put_status(struct sim_fabric_client *client, enum sim_attach_type type,
			   uint64_t cookie, int status);

/* fabric_client_requests.c: what a program asks for. */
void sim_client_handle(struct sim_fabric_client *client, const union sim_attach_message *message);
/* What was refused for now, anew. */
void sim_client_retry(struct sim_fabric_client *client);

/* fabric_client_mads.c: its SA requests and other MADs. */
void sim_client_send_mad(struct sim_fabric_client *client, const struct sim_attach_mad *request);
void sim_client_cancel_mad(struct sim_fabric_client *client, uint64_t cookie);
void sim_client_retry_mads(struct sim_fabric_client *client);
void sim_client_mad_answered(struct sim_fabric_client *client, const struct acm_event *event);
void sim_client_mad_failed(struct sim_fabric_client *client, const struct acm_event *event);

#endif
