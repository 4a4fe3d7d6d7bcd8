/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric itself, without engines: one queue pair on every host, all in one multicast group.
 * What it takes to ask the SA and to reach a node is what a resolution cannot be faster than. Ends
 * the program when anything fails.
 */
#ifndef ACMITE_BENCH_BARE_FABRIC_H
#define ACMITE_BENCH_BARE_FABRIC_H

#include "fabric.h"
#include "topology.h"

/* A fabric on an ibsim of its own. Blocks until its subnet is up. */
struct sim_fabric *bare_fabric_start(const struct sim_topology *topology);
/* Sleeps until the fabric has work or `deadline` is there. */
void bare_fabric_wait(struct sim_fabric *fabric, uint64_t deadline);

struct bare_fabric;

/* With every host that has an address; blocks until all are reached by the group. */
struct bare_fabric *bare_fabric_create(const struct sim_topology *topology);
void bare_fabric_destroy(struct bare_fabric *bare);
/* Moves what is due; packets that came are dropped. */
void bare_fabric_idle(struct bare_fabric *bare);

/* ns, from `from` to `to`, node indices: a path record from the SA. */
uint64_t bare_fabric_ask_sa(struct bare_fabric *bare, uint32_t from, uint32_t to);
/* A multicast there, and a unicast back. */
uint64_t bare_fabric_ask_group(struct bare_fabric *bare, uint32_t from, uint32_t to);

#endif
