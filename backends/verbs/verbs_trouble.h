/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is wrong with devices and permissions, as sentences with the remedy. */
#ifndef ACMITE_VERBS_TROUBLE_H
#define ACMITE_VERBS_TROUBLE_H

#include "verbs_state.h"

/* In all of them `error` is a negative errno. */

/* Why no devices can be seen at all; -ENODEV: there are none. */
void verbs_trouble_list(const struct verbs_transport *transport, int error);
/* Why a device cannot be opened. */
void verbs_trouble_device(const struct verbs_transport *transport, const char *device, int error);
/* Why a port's SA cannot be asked. */
void verbs_trouble_sa(const struct verbs_transport *transport, const struct verbs_port *port,
		      int error);
/* It cannot be asked any more, for the failure that its agent has noted; and it can again. */
void verbs_trouble_sa_lost(struct verbs_port *port);
void verbs_trouble_sa_over(struct verbs_port *port);
/*
 * How opening a queue pair for a P_Key went, or attaching it to a group: 0 when it went well. A
 * failure is told once, until the same goes well or fails otherwise.
 */
void verbs_trouble_opening(struct verbs_port *port, uint16_t pkey, int error);
void verbs_trouble_joining(struct verbs_port *port, uint16_t pkey, int error);
/* Why a datagram cannot be sent. Told each time. */
void verbs_trouble_sending(const struct verbs_port *port, uint16_t pkey, int error);
/* What an active port lacks, so that nothing can be resolved through it; NULL: nothing. */
void verbs_trouble_missing(struct verbs_port *port, const char *what);

#endif
