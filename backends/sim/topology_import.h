/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fabrics that other programs describe: the output of ibnetdiscover, which is what a site has of
 * its own fabric, and the netlists of ibsim, which look much the same.
 */
#ifndef ACMITE_SIM_TOPOLOGY_IMPORT_H
#define ACMITE_SIM_TOPOLOGY_IMPORT_H

#include "topology.h"

/*
 * As sim_topology_load(). What such a text does not tell is as in a topology file that does not:
 * MTU, latency, partitions; the addresses of a host are its name. Names that no topology file takes
 * are altered, and made different where several nodes have one.
 */
int sim_topology_import(const char *path, struct sim_topology **topology,
			struct sim_errors *errors);
/* The same from memory; `path` is only for the messages, and names the fabric. */
int sim_topology_import_text(const char *path, const char *text, size_t length,
			     struct sim_topology **topology, struct sim_errors *errors);

#endif
