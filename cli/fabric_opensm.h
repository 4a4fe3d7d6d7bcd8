/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_CLI_FABRIC_OPENSM_H
#define ACMITE_CLI_FABRIC_OPENSM_H

#include "topology.h"

/*
 * Holds this project's model of a subnet against OpenSM on ibsim, and prints what differs to
 * standard output. An exit status: EXIT_OK when nothing does.
 */
int acmite_fabric_against_opensm(const char *path, const struct sim_topology *topology);

#endif
