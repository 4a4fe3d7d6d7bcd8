/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_CLI_TOPOLOGY_JSON_H
#define ACMITE_CLI_TOPOLOGY_JSON_H

#include <stdio.h>
#include "topology.h"

/* Writes all that the file says, with the GUIDs and ports that follow from it. 0 or negative errno.
 */
int acmite_topology_write_json(const struct sim_topology *topology, FILE *out);

#endif
