/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport interface (acmite/transport.h) on hardware: every InfiniBand port that libibverbs
 * shows, datagrams by UD queue pairs, the SA by libibumad. No threads: one descriptor tells that
 * there is something to do.
 *
 * Besides acm_transport_ops it has what only hardware needs. Devices come and go, and permissions
 * are given later, without anybody saying so; the transport has no clock, so its user has it look
 * from time to time.
 */
#ifndef ACMITE_VERBS_TRANSPORT_H
#define ACMITE_VERBS_TRANSPORT_H

#include <acmite/engine.h>

struct verbs_options {
	/*
	 * One sentence for people: a port that is served, one that is left out and why, what is
	 * wrong and how it is put right. Each is told once, and again when it has changed. NULL:
	 * nobody wants to know.
	 */
	void (*notice)(void *context, const char *text);
	void *context;
	/*
	 * How long the user waits for an answer of the SA at most: so many tries, each of this time
	 * and the port's subnet time-out. The kernel forgets a request then, and its answer is
	 * lost; what it has not forgotten counts against the few that it lets out at the same time.
	 * 0: a minute in all.
	 */
	uint32_t sa_timeout_ms;
	uint32_t sa_tries;
};

/* Opens no device yet: start() does. 0 or negative errno. */
int verbs_transport_create(const struct verbs_options *options, struct acm_transport **transport);

/*
 * Looks for devices that came or went, and tries again what could not be opened. After start(),
 * every few seconds. That there is no device is no error: then nothing is served.
 */
void verbs_transport_rescan(struct acm_transport *transport);

#endif
