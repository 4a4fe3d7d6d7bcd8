/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes that answer on a fabric: an engine and a driver on each, run when something happened to
 * them and when their time has come. The work for one round grows with the nodes concerned, not
 * with all.
 */
#ifndef ACMITE_SIM_POPULATION_H
#define ACMITE_SIM_POPULATION_H

#include <acmite/driver.h>
#include "fabric.h"
#include "topology.h"

struct sim_population;
struct sim_resident;

/* `topology` and `fabric` must outlive it. 0 or -ENOMEM. */
int sim_population_create(const struct sim_topology *topology, struct sim_fabric *fabric,
			  struct sim_population **population);
/* With all residents. To be called before sim_fabric_destroy(). NULL is allowed. */
void sim_population_destroy(struct sim_population *population);

/*
 * Adds a host and starts it. `config` is copied; the resident's own seed is made from its seed and
 * the node. `hooks` NULL: nobody asks it anything. 0 and *resident, which the population owns
 * (NULL: not wanted); or negative errno as sim_fabric_attach(), acm_engine_create() or
 * acm_driver_start().
 */
int sim_population_add(struct sim_population *population, const char *node,
		       const struct acm_engine_config *config, const struct acm_driver_hooks *hooks,
		       uint64_t now, struct sim_resident **resident);
/*
 * Adds every host that is not there yet, with the addresses that the topology gives it. 0, or the
 * first error, with *node the index of the host that it concerns; those before it stay.
 */
int sim_population_add_others(struct sim_population *population,
			      const struct acm_engine_config *config, uint64_t now, uint32_t *node);

/* Ends a resident as a process that is killed: without a word to anybody. Its node may be added
 * again. */
void sim_population_remove(struct sim_resident *resident);
/* NULL: the node has none. */
struct sim_resident *sim_population_resident(const struct sim_population *population,
					     uint32_t node);
/* `watch` is called after each run of a resident; it must not change the population. NULL: nobody.
 */
void sim_population_watch(struct sim_population *population,
			  void (*watch)(void *context, struct sim_resident *resident),
			  void *context);
/* Bytes that engines and drivers had not given back when their residents ended: always 0. */
uint64_t sim_population_leaked(const struct sim_population *population);

/* A process that is stopped: what comes for it waits, its time does not. */
void sim_resident_pause(struct sim_resident *resident);
void sim_resident_resume(struct sim_resident *resident);
bool sim_resident_is_paused(const struct sim_resident *resident);
/* Feeds a resident one event, its time set. As acm_engine_step(). */
int sim_resident_step(struct sim_resident *resident, const struct acm_event *event);
/* Gives it all addresses that the topology has for it. As acm_engine_step(). */
int sim_resident_add_addresses(struct sim_resident *resident, uint64_t now);
const struct acm_engine *sim_resident_engine(const struct sim_resident *resident);
/* The node's index in the topology. */
uint32_t sim_resident_node(const struct sim_resident *resident);

/* Most runs of residents in one sim_population_run(), which ends with -ELOOP beyond that. Without
 * it there is no limit. */
void sim_population_limit(struct sim_population *population, uint64_t most);
/* Runs whoever was woken or is due, until nobody is. 0, or a driver's negative errno. */
int sim_population_run(struct sim_population *population, uint64_t now);
/* When to call sim_population_run() at the latest: 0 when a resident is woken already, or
 * ACM_NEVER. */
uint64_t sim_population_deadline(const struct sim_population *population);

/*
 * Residents whose memberships do not all hold yet. A host without a connected port waits for
 * nothing. *first, when not NULL, becomes one of them where there is any; looking for it takes
 * time.
 */
uint32_t sim_population_unready(const struct sim_population *population,
				const struct sim_resident **first);

#endif
