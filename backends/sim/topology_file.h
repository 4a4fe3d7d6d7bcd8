/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that describe fabrics, as a whole in memory. */
#ifndef ACMITE_SIM_TOPOLOGY_FILE_H
#define ACMITE_SIM_TOPOLOGY_FILE_H

#include "topology.h"

/*
 * Reads a file, which may be a pipe. 0 and *text the caller's, to be freed; -EINVAL: it cannot be
 * read, which is the one fault in `errors`, with `what` as that which was expected; -ENOMEM.
 */
int sim_topology_file_read(const char *path, const char *what, char **text, size_t *length,
			   struct sim_errors *errors);

#endif
