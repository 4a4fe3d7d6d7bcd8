/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_FABRIC_BACKEND_H
#define ACMITE_DAEMON_FABRIC_BACKEND_H

#include "backend.h"

/*
 * A simulated fabric in this process, with this daemon's node on it and the other hosts' that
 * answer. Waits until the subnet is up: blocks. As daemon_backend_create().
 */
int fabric_backend_create(const struct daemon_backend_setup *setup, struct daemon_backend **backend,
			  char *why, size_t size);

#endif
