/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A port of a device: what is known of it, and its way to the SA. */
#ifndef ACMITE_VERBS_PORT_H
#define ACMITE_VERBS_PORT_H

#include "verbs_state.h"

/* Of a device that has just been opened: finds out whether it is InfiniBand. 0 or negative errno.
 */
int verbs_port_init(struct verbs_port *port, struct verbs_device *device, uint8_t number);
/*
 * Opens what is not open yet. A port whose SA can be asked is served from then on; why it cannot be
 * is told once.
 */
void verbs_port_open(struct verbs_port *port);
/* From time to time: opens it, or looks whether it has changed without a word. */
void verbs_port_look(struct verbs_port *port);
/* Before its device is closed: what is under way fails, and the user is told that it is gone. */
void verbs_port_close(struct verbs_port *port);
/* Reads the facts again. One that cannot be read counts as down. */
void verbs_port_refresh(struct verbs_port *port);

/* One that is served, NULL: there is none of this number. */
struct verbs_port *verbs_port_find(const struct verbs_transport *transport, uint32_t number);

/* Index of the P_Key in the port's table as it is now, -ENOENT or another negative errno. */
int verbs_port_pkey_index(struct verbs_port *port, uint16_t pkey);

#endif
