/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_ATTACHED_BACKEND_H
#define ACMITE_DAEMON_ATTACHED_BACKEND_H

#include "backend.h"

/*
 * A node of a fabric that another process serves. Waits for that to welcome it: blocks. When its
 * server goes, it goes on without ports, and looks for a new one. As daemon_backend_create().
 */
int attached_backend_create(const struct daemon_backend_setup *setup,
			    struct daemon_backend **backend, char *why, size_t size);

#endif
