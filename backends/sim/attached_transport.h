/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport (acmite/transport.h) over a connection to a fabric server: a node of a fabric that
 * runs in another process. Its descriptor says when there is something; nothing blocks but
 * sim_attached_await().
 *
 * It outlives its server. When that is gone, the ports are removed, what was under way fails, and
 * endpoints are dead until they are closed; after sim_attached_connect() the ports that the server
 * has then come anew.
 */
#ifndef ACMITE_SIM_ATTACHED_TRANSPORT_H
#define ACMITE_SIM_ATTACHED_TRANSPORT_H

#include "attach_protocol.h"

enum sim_attached_state {
	SIM_ATTACHED_GONE,     /* there is no connection, sim_attached_failure() tells why */
	SIM_ATTACHED_GREETING, /* there is one, and the server has not told all of the node yet */
	SIM_ATTACHED_READY,
};

/* As `role` (not an observer) on a node; not connected yet. 0, or negative errno. */
int sim_attached_create(const char *path, enum sim_attach_role role, const char *node,
			struct acm_transport **transport);
/*
 * Begins a connection when there is none: SIM_ATTACHED_GREETING, or GONE if it cannot even begin.
 */
void sim_attached_connect(struct acm_transport *transport);
/* Waits until it is no longer greeting, `timeout_ms` are over, or `cancel_fd` (-1: none) is
 * readable. What it is then. */
enum sim_attached_state sim_attached_await(struct acm_transport *transport, int timeout_ms,
					   int cancel_fd);

enum sim_attached_state sim_attached_state(const struct acm_transport *transport);
/* One sentence on why it is gone, and the negative errno; valid until it is connected anew. */
const char *sim_attached_failure(const struct acm_transport *transport, int *error);
/*
 * What the server says of the node, NULL unless it is ready; valid until the next event.
 * `*addresses` (NULL: not wanted) has welcome->address_count.
 */
const struct sim_attach_welcome *sim_attached_welcome(const struct acm_transport *transport,
						      const struct acm_address **addresses);

#endif
