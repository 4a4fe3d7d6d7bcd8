/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_NOTIFY_H
#define ACMITE_DAEMON_NOTIFY_H

/*
 * Tells the service manager `state` ("READY=1", "STOPPING=1", ...) over the datagram socket that
 * NOTIFY_SOCKET names (sd_notify(3) describes the protocol). 1: told, 0: nobody asked, or negative
 * errno.
 */
int notify_manager(const char *state);

#endif
