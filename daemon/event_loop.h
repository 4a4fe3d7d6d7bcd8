/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_EVENT_LOOP_H
#define ACMITE_DAEMON_EVENT_LOOP_H

#include <acmite/types.h>
#include <event2/event_struct.h>

/* What wakes the daemon beside its clients: the fabric, one timer, signals. */
struct event_loop_hooks {
	void (*settle)(void *context);  /* the fabric has work, or the time armed has come */
	void (*stop)(void *context);    /* SIGTERM, SIGINT */
	void (*reopen)(void *context);  /* SIGHUP */
	void (*give_up)(void *context); /* the time to be ready is over */
	void *context;
};

struct event_loop {
	struct event_loop_hooks hooks;
	int timer_fd;
	uint64_t armed;
	struct event fabric;
	struct event timer;
	struct event soon;
	struct event stop;
	struct event reopen;
	struct event give_up;
};

/* Of libevent, for one thread; NULL: no memory. event_base_free() frees it. */
struct event_base *event_loop_base(void);

/* Makes event_loop_close() harmless. */
void event_loop_init(struct event_loop *loop);
/*
 * Adds all of it to `base`, and asks to settle at once. `fabric_fd` stays the caller's. Signals
 * come as signals.h says. 0 or negative errno.
 */
int event_loop_open(struct event_loop *loop, struct event_base *base,
		    const struct event_loop_hooks *hooks, int fabric_fd, uint64_t give_up_at);
/* Before its base is freed. */
void event_loop_close(struct event_loop *loop);

/* Settles behind whatever is ready now. */
void event_loop_settle_soon(struct event_loop *loop);
/*
 * Settles at `time` at the latest. An earlier time stays armed: one wake-up too many costs less
 * than a system call with every change.
 */
void event_loop_arm(struct event_loop *loop, uint64_t time);
uint64_t event_loop_armed(const struct event_loop *loop);
/* give_up is not called any more. */
void event_loop_stop_waiting(struct event_loop *loop);

#endif
