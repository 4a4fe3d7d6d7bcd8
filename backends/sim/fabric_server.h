/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lets programs of other processes onto a fabric, through a Unix socket; docs/attach.md tells the
 * rules. Runs the fabric too. One thread, nothing blocks. Time is CLOCK_MONOTONIC.
 */
#ifndef ACMITE_SIM_FABRIC_SERVER_H
#define ACMITE_SIM_FABRIC_SERVER_H

#include "fabric.h"
#include <sys/types.h>

struct sim_fabric_server;

struct sim_fabric_server_options {
	const char *path;       /* of the socket */
	mode_t mode;            /* of the socket */
	uint32_t client_limit;  /* programs at a time; more are refused */
	uint64_t greeting_time; /* ns that a connection has to say what it wants */
	/*
	 * Brings about a fault, given as text. 0; or negative errno with one sentence in `why`. May
	 * call all functions of the server but process() and destroy(). NULL: there are none.
	 */
	int (*fault)(void *context, const char *text, char *why, size_t size);
	void *fault_context;
	/* What befalls the server that nobody asked for, in a sentence. May be NULL. */
	void (*notice)(void *context, const char *text);
	void *notice_context;
};
void sim_fabric_server_options_default(struct sim_fabric_server_options *options);

/*
 * `topology`, `fabric` and what `options` points to must outlive it. 0 and *server the caller's; or
 * negative errno with one sentence in `why`.
 */
int sim_fabric_server_create(const struct sim_topology *topology, struct sim_fabric *fabric,
			     const struct sim_fabric_server_options *options,
			     struct sim_fabric_server **server, char *why, size_t size);
/* Ends all attachments, and removes the socket. To be called before sim_fabric_destroy(). */
void sim_fabric_server_destroy(struct sim_fabric_server *server);

/* Readable when process() has work; and when it has some at the latest, 0: now. */
int sim_fabric_server_fd(const struct sim_fabric_server *server);
uint64_t sim_fabric_server_deadline(const struct sim_fabric_server *server);
/* Moves everything that is due. 0, or as sim_fabric_process(). */
int sim_fabric_server_process(struct sim_fabric_server *server, uint64_t now);

/* What happens to the programs on a node. They are ended, and new ones refused until it starts; */
void sim_fabric_server_stop_node(struct sim_fabric_server *server, uint32_t node);
void sim_fabric_server_start_node(struct sim_fabric_server *server, uint32_t node);
/* they are ended; */
void sim_fabric_server_restart_node(struct sim_fabric_server *server, uint32_t node);
/* the fabric does nothing for those that there are, until the node resumes. */
void sim_fabric_server_pause_node(struct sim_fabric_server *server, uint32_t node);
void sim_fabric_server_resume_node(struct sim_fabric_server *server, uint32_t node);

#endif
