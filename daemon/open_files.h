/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_OPEN_FILES_H
#define ACMITE_DAEMON_OPEN_FILES_H

#include <stdint.h>

/*
 * Raises the limit of open files to what the system allows this process. Returns how many clients
 * that is enough for, at least 1, with what the daemon itself needs kept back.
 */
uint32_t open_files_raise(void);

#endif
