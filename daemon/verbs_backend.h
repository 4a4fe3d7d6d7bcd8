/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* This host's InfiniBand ports, as they come and go. */
#ifndef ACMITE_DAEMON_VERBS_BACKEND_H
#define ACMITE_DAEMON_VERBS_BACKEND_H

#include "backend.h"

/* As daemon_backend_create(). Does not block; that there is no device is no error. */
int verbs_backend_create(const struct daemon_backend_setup *setup, struct daemon_backend **backend,
			 char *why, size_t size);

#endif
