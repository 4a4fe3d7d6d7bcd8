/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The driver: executes an engine's actions on a transport, and turns what the transport reports
 * into the engine's events. No I/O of its own, no clock: its user passes the time.
 */
#ifndef ACMITE_DRIVER_H
#define ACMITE_DRIVER_H

#include <acmite/engine.h>
#include <acmite/transport.h>

/*
 * Where actions go that are not the transport's. What they are given is valid during the call only.
 * A hook must not call the driver: it queues what it wants to do. `find_source` and `trace` may be
 * NULL; without the first every search for a source fails.
 */
struct acm_driver_hooks {
	void (*reply)(void *context, const struct acm_reply *reply);
	void (*trace)(void *context, const struct acm_trace *trace);
	/* To be answered, later, by acm_driver_step() with ACM_EVENT_SOURCE_FOUND and `cookie`. */
	void (*find_source)(void *context, uint64_t cookie, const struct acm_address *destination);
	void *context;
};

struct acm_driver;

/* Owns neither engine nor transport; both must outlive it. 0, -ENOMEM. */
int acm_driver_create(struct acm_engine *engine, struct acm_transport *transport,
		      const struct acm_driver_hooks *hooks, const struct acm_allocator *allocator,
		      struct acm_driver **driver);
void acm_driver_destroy(struct acm_driver *driver);

/* Starts the transport; port events follow. 0 or the transport's negative errno. */
int acm_driver_start(struct acm_driver *driver, uint64_t now);
/* Feeds one event, its time set, and executes what follows. As acm_engine_step(). */
int acm_driver_step(struct acm_driver *driver, const struct acm_event *event);
/*
 * Takes all that the transport has, and the deadline where it has come, until there is nothing left
 * to do at `now`. 0 or a negative errno as acm_engine_step().
 */
int acm_driver_run(struct acm_driver *driver, uint64_t now);
/* When to call acm_driver_run() at the latest; ACM_NEVER. */
uint64_t acm_driver_deadline(const struct acm_driver *driver);

#endif
