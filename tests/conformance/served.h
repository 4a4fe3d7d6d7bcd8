/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric of two hosts behind a fabric server in a thread of its own, in real time. */
#ifndef ACMITE_TEST_SERVED_H
#define ACMITE_TEST_SERVED_H

#include "fabric.h"

#include <pthread.h>

/* Transactions that a control takes at once: few, so that the suite meets the end of them. */
#define SERVED_SA_WINDOW 50

struct served {
	struct sim_topology *topology; /* node1 and node2 */
	char folder[64];
	char path[80]; /* of the server's socket */
	struct sim_fabric *fabric;
	struct sim_fabric_server *server;
	int stop_fd;
	pthread_t thread;
	int error; /* of the thread */
};

/* What goes wrong fails the test. Not running yet. */
struct served *served_create(void);
/* Takes over the control. */
void served_run(struct served *served, struct sim_control *control);
void served_destroy(struct served *served);

/* Controls for it, of its topology. */
struct sim_control *served_builtin_control(struct served *served);
struct sim_control *served_fake_control(struct served *served);
struct sim_control *served_ibsim_control(struct served *served);

/* A transport that is attached to the server, and ready. */
struct acm_transport *served_attach(struct served *served, const char *node);

/* Until one of these descriptors is readable, or a moment has passed. True: that goes on. */
bool served_wait(const int fds[2]);

#endif
