/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transactions with the SA: a window per port, retries, and back-off when it is busy. OpenSM
 * answers an overload with silence, never with busy; so a time-out halves the window as a busy
 * answer does.
 */
#include "core.h"
#include "partition.h"

#include <errno.h>

/* A busy SA is left alone for this long, and twice as long after each further busy answer. */
#define BUSY_PAUSE (50 * ACM_NSEC_PER_MSEC)

int acm_sa_exchange_init(struct acm_engine *engine, struct acm_sa_exchange *sa,
			 struct acm_port *port)
{
	sa->port = port;
	return acm_deadlines_register(&engine->deadlines, &sa->timer, ACM_TIMER_SA);
}

static void dequeue(struct acm_sa_exchange *sa)
{
	struct acm_port *port = sa->port;

	*(sa->previous ? &sa->previous->next : &port->queue_first) = sa->next;
	*(sa->next ? &sa->next->previous : &port->queue_last) = sa->previous;
	sa->next = sa->previous = NULL;
}

/* Memberships go to the front: without them nothing can be asked by multicast. */
static void enqueue(struct acm_sa_exchange *sa)
{
	struct acm_port *port = sa->port;
	struct acm_sa_exchange *before = sa->kind == ACM_SA_PATH ? NULL : port->queue_first;

	while (before && before->kind != ACM_SA_PATH)
		before = before->next;
	sa->next = before;
	sa->previous = before ? before->previous : port->queue_last;
	*(sa->previous ? &sa->previous->next : &port->queue_first) = sa;
	*(before ? &before->previous : &port->queue_last) = sa;
	sa->state = ACM_SA_QUEUED;
}

/* The try in flight is over, answered or not. */
static void land(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	acm_slot_table_remove(&engine->slots, sa->cookie);
	sa->cookie = 0;
	sa->port->in_flight--;
	acm_deadlines_disarm(&engine->deadlines, &sa->timer);
}

/* False when there is no memory for it now; its timer tries again. */
static bool transmit(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	struct acm_queued_action *queued;

	if (acm_action_queue_promise(&engine->actions))
		return false;
	sa->cookie = acm_slot_table_add(&engine->slots, sa, ACM_SLOT_SA);
	queued = sa->cookie ? acm_action_queue_push(&engine->actions, ACM_ACTION_SA_SEND) : NULL;
	if (!queued) {
		acm_slot_table_remove(&engine->slots, sa->cookie);
		sa->cookie = 0;
		acm_action_queue_release(&engine->actions);
		return false;
	}
	sa->tid = (uint32_t)acm_random_next(&engine->random);
	queued->action.sa.port = sa->port->facts.port;
	queued->action.sa.pkey_index = acm_partition_sa_index(&sa->port->facts);
	queued->action.sa.cookie = sa->cookie;
	if (sa->kind == ACM_SA_PATH)
		acm_lookup_encode(engine, sa, queued->bytes);
	else
		acm_group_encode(engine, sa, queued->bytes);
	sa->state = ACM_SA_SENT;
	sa->port->in_flight++;
	acm_engine_count(engine, NULL, ACM_COUNTER_SA_SENT);
	if (sa->kind == ACM_SA_PATH)
		acm_lookup_sa_sent(engine, sa);
	return true;
}

static void send(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	if (sa->tries++)
		acm_engine_count(engine, NULL, ACM_COUNTER_RETRIES);
	sa->error = 0;
	if (!transmit(engine, sa)) {
		sa->state = ACM_SA_PAUSED;
		sa->error = -ENOMEM;
	}
	acm_deadlines_arm(&engine->deadlines, &sa->timer,
			  engine->now + acm_engine_try_time(engine, sa->port, sa->tries - 1u));
}

static void pump(struct acm_engine *engine, struct acm_port *port)
{
	struct acm_sa_exchange *sa;

	/* When a port goes down all that waits here is given up at once: nothing is sent meanwhile.
	 */
	while (acm_port_active(port) && (sa = port->queue_first) &&
	       port->in_flight < port->window) {
		dequeue(sa);
		send(engine, sa);
	}
}

static void cancel(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	acm_action_queue_push_promised(&engine->actions, ACM_ACTION_SA_CANCEL)->action.cookie =
		sa->cookie;
	land(engine, sa);
}

/* Takes it out of whatever it is in. */
static void withdraw(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	if (sa->kind == ACM_SA_PATH && sa->state != ACM_SA_IDLE && sa->tries)
		acm_lookup_sa_withdrawn(engine, sa);
	switch ((enum acm_sa_state)sa->state) {
	case ACM_SA_QUEUED:
		dequeue(sa);
		break;
	case ACM_SA_SENT:
		cancel(engine, sa);
		break;
	case ACM_SA_PAUSED:
	case ACM_SA_IDLE:
		break;
	}
	acm_deadlines_disarm(&engine->deadlines, &sa->timer);
	sa->state = ACM_SA_IDLE;
}

void acm_sa_exchange_stop(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	bool room = sa->state == ACM_SA_SENT;

	withdraw(engine, sa);
	if (room)
		pump(engine, sa->port);
}

void acm_sa_exchange_fini(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	acm_sa_exchange_stop(engine, sa);
	acm_deadlines_unregister(&engine->deadlines, &sa->timer);
}

void acm_sa_exchange_begin(struct acm_engine *engine, struct acm_sa_exchange *sa,
			   enum acm_sa_kind kind)
{
	withdraw(engine, sa);
	sa->kind = (uint8_t)kind;
	sa->tries = 0;
	enqueue(sa);
	pump(engine, sa->port);
}

void acm_sa_exchange_withdraw(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	withdraw(engine, sa);
}

void acm_sa_exchange_pump(struct acm_engine *engine, struct acm_port *port)
{
	pump(engine, port);
}

static void done(struct acm_engine *engine, struct acm_sa_exchange *sa, const uint8_t *mad,
		 uint32_t length, uint16_t status)
{
	struct acm_port *port = sa->port; /* the owner may free itself */

	sa->state = ACM_SA_IDLE;
	if (sa->kind == ACM_SA_PATH)
		acm_lookup_sa_done(engine, sa, mad, length, status);
	else
		acm_group_sa_done(engine, sa, mad, length, status);
	pump(engine, port);
}

static void narrow(struct acm_port *port)
{
	port->window = port->window > 1 ? port->window / 2 : 1;
}

static void widen(const struct acm_engine *engine, struct acm_port *port)
{
	if (port->window < engine->config.sa_depth)
		port->window++;
}

void acm_sa_exchange_expired(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	if (sa->state == ACM_SA_SENT) {
		cancel(engine, sa);
		narrow(sa->port);
	}
	if (sa->tries > engine->config.retries) {
		done(engine, sa, NULL, 0, 0);
		return;
	}
	enqueue(sa);
	pump(engine, sa->port);
}

/* Waits before the next try; the one that was refused counts. */
static void pause(struct acm_engine *engine, struct acm_sa_exchange *sa)
{
	uint32_t doublings = sa->tries < 6 ? sa->tries - 1u : 5;

	sa->state = ACM_SA_PAUSED;
	acm_deadlines_arm(&engine->deadlines, &sa->timer,
			  engine->now +
				  acm_random_jitter(&engine->random, BUSY_PAUSE << doublings));
	pump(engine, sa->port);
}

static uint16_t expected_attribute(const struct acm_sa_exchange *sa)
{
	return sa->kind == ACM_SA_PATH ? ACM_SA_ATTRIBUTE_PATH : ACM_SA_ATTRIBUTE_MCMEMBER;
}

/* Bits of the MAD status that are the same for all classes: busy, redirect. */
#define MAD_STATUS_BUSY 0x0001u

void acm_sa_exchange_answered(struct acm_engine *engine, uint64_t cookie, const uint8_t *mad,
			      uint32_t length)
{
	struct acm_sa_exchange *sa = acm_slot_table_find(&engine->slots, cookie, ACM_SLOT_SA);
	struct acm_sa_header header;

	if (!sa) {
		acm_engine_trace_dropped(engine, 0, "SA answer nobody waits for");
		return;
	}
	if (acm_sa_decode_header(mad, length, &header) || (uint32_t)header.tid != sa->tid ||
	    header.attribute != expected_attribute(sa)) {
		acm_engine_trace_dropped(engine, 0, "SA answer does not fit its request");
		return;
	}
	land(engine, sa);
	acm_action_queue_release(&engine->actions);
	if (header.status == MAD_STATUS_BUSY) {
		narrow(sa->port);
		if (sa->tries <= engine->config.retries) {
			pause(engine, sa);
			return;
		}
	} else {
		widen(engine, sa->port);
	}
	done(engine, sa, mad, length, header.status);
}

void acm_sa_exchange_failed(struct acm_engine *engine, uint64_t cookie, int status)
{
	struct acm_sa_exchange *sa = acm_slot_table_find(&engine->slots, cookie, ACM_SLOT_SA);

	if (!sa)
		return;
	/* Whatever it was: the next try is when this one would have timed out. */
	sa->error = status == -ETIMEDOUT ? 0 : status; /* that is silence too */
	acm_action_queue_release(&engine->actions);
	acm_slot_table_remove(&engine->slots, sa->cookie);
	sa->cookie = 0;
	sa->port->in_flight--;
	sa->state = ACM_SA_PAUSED;
	pump(engine, sa->port);
}
