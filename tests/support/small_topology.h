/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Small fabrics for tests. What is wrong with one fails the test. Free with sim_topology_free(). */
#ifndef ACMITE_TEST_SMALL_TOPOLOGY_H
#define ACMITE_TEST_SMALL_TOPOLOGY_H

#include "topology.h"

/* node1 ... nodeN on switch1, by links of 200 ns, 100 Gb/s and an MTU of 2048. */
struct sim_topology *small_topology_star(uint32_t hosts);
/* left1 ... left3 on switch1, right1 ... right3 on switch2, and two links between the switches. */
struct sim_topology *small_topology_two_switches(void);
/* A file's text. */
struct sim_topology *small_topology_parse(const char *text);

#endif
