/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_SERVICE_H
#define ACMITE_DAEMON_SERVICE_H

#include "configuration.h"

/*
 * Serves until SIGTERM or SIGINT. `background` is background_start()'s descriptor, -1: in the
 * foreground, where READY on standard output tells when it serves. The exit status: 0 after it
 * served and was told to stop; 1 when it could not, with a sentence on standard error and in the
 * log.
 */
int service_run(const struct configuration *configuration, int background);

#endif
