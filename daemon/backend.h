/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a daemon serves: the ports of one node, with the engine that answers for them. Each kind of
 * backend (a fabric in this process, an attachment to a served one, hardware) puts struct
 * daemon_backend first in its own object.
 *
 * One thread. Nothing blocks but the create functions, which say so.
 */
#ifndef ACMITE_DAEMON_BACKEND_H
#define ACMITE_DAEMON_BACKEND_H

#include <acmite/driver.h>
#include "configuration.h"
#include "local_addresses.h"

struct daemon_backend;

struct daemon_backend_ops {
	/* Feeds the engine one event, its time set. 0 or negative errno as acm_engine_step(). */
	int (*step)(struct daemon_backend *backend, const struct acm_event *event);
	/* Readable when process() has work; the same one for as long as the backend is there. */
	int (*fd)(const struct daemon_backend *backend);
	/* When it has work at the latest, CLOCK_MONOTONIC ns; 0: now; ACM_NEVER. */
	uint64_t (*deadline)(const struct daemon_backend *backend);
	/*
	 * Moves everything that is due. 0; or negative errno with a sentence in `why`: the daemon
	 * cannot go on. What may come back (a port, a device, a fabric server) is no such error.
	 */
	int (*process)(struct daemon_backend *backend, uint64_t now, char *why, size_t size);
	/*
	 * How many nodes are not ready to serve. *what, when not NULL, becomes the name of one of
	 * them where there is any; looking for it may take time.
	 */
	uint32_t (*unready)(const struct daemon_backend *backend, const char **what);
	/* The addresses that the node has now: sources of its requests. Valid until process(). */
	const struct local_addresses *(*addresses)(const struct daemon_backend *backend);
	/* What the READY line says of it: words, each with a blank before it, or "". */
	void (*describe)(const struct daemon_backend *backend, char *words, size_t size);
	/* Under a second. */
	void (*destroy)(struct daemon_backend *backend);
};

struct daemon_backend {
	const struct daemon_backend_ops *ops;
};

/* What every kind is made from. */
struct daemon_backend_setup {
	const struct configuration *configuration; /* must outlive the backend */
	struct acm_driver_hooks hooks;             /* of this node's engine */
	int cancel_fd;                             /* readable: give up starting; -1: none */
	/* Sentences: on what is waited for, and on what people should know. Not NULL. */
	void (*progress)(void *context, const char *text);
	void (*notice)(void *context, const char *text);
	void *context;
};

/*
 * Makes the one that the configuration asks for. May block, at most for the time that the command
 * line gives to be ready. 0 and *backend the caller's; or negative errno, -ECANCELED by cancel_fd,
 * with a sentence in `why`.
 */
int daemon_backend_create(const struct daemon_backend_setup *setup, struct daemon_backend **backend,
			  char *why, size_t size);

#endif
