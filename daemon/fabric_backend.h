/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_FABRIC_BACKEND_H
#define ACMITE_DAEMON_FABRIC_BACKEND_H

#include <acmite/driver.h>
#include "local_addresses.h"
#include "topology.h"

/* The simulated fabric with this daemon's node on it, and the other hosts' that answer. */
struct fabric_backend;

struct fabric_backend_options {
	const char *node;
	const struct acm_engine_config *engine;  /* of all nodes; its seed is also the fabric's */
	const struct local_addresses *addresses; /* of this node */
	struct acm_driver_hooks hooks;           /* of this node */
	bool ibsim;                              /* under ibsim and OpenSM; else by the model */
	bool peers;                              /* the other hosts answer */
	const char *scratch;                     /* as sim_ibsim_options */
	uint32_t ready_timeout_ms;
	int cancel_fd;
	void (*progress)(void *context, const char *text);
	void *progress_context;
};

/*
 * Starts it, and waits until the subnet is up: blocks. Memberships come later, see
 * fabric_backend_unready(). `topology` and what `options` points to must outlive it. 0; or negative
 * errno, -ECANCELED by cancel_fd, with a sentence in `why`.
 */
int fabric_backend_create(const struct sim_topology *topology,
			  const struct fabric_backend_options *options,
			  struct fabric_backend **backend, char *why, size_t size);
/* Ends its programs too. Under a second. NULL is allowed. */
void fabric_backend_destroy(struct fabric_backend *backend);

/* Feeds this node's engine. 0 or negative errno as acm_engine_step(). */
int fabric_backend_step(struct fabric_backend *backend, const struct acm_event *event);
/* Readable when fabric_backend_process() has work. */
int fabric_backend_fd(struct fabric_backend *backend);
/* When it has work at the latest, 0: now. */
uint64_t fabric_backend_deadline(const struct fabric_backend *backend);
/* One round: the fabric, then every node that this concerns. 0, or a sentence on why it is over. */
int fabric_backend_process(struct fabric_backend *backend, uint64_t now, char *why, size_t size);

/*
 * Nodes that do not hold their memberships yet. *node, when not NULL, becomes the name of one where
 * there is any; looking for it takes time.
 */
uint32_t fabric_backend_unready(const struct fabric_backend *backend, const char **node);
/* Where ibsim is; NULL under the builtin control. */
const char *fabric_backend_ibsim(const struct fabric_backend *backend);
const char *fabric_backend_scratch(const struct fabric_backend *backend);

#endif
