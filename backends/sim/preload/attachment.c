/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attachment.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "async_events.h"
#include "attach_environment.h"
#include "call.h"
#include "completion_channel.h"
#include "device.h"
#include "port_changes.h"
#include "queue_pair.h"
#include "real_time.h"
#include "umad_agents.h"
#include "umad_transactions.h"

#define TOLD_MAX 8

struct listener {
	int counter;
	_Atomic uint32_t *futex; /* or NULL */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int cancel_state;
static struct preload_attachment *current;
/* Whom to tell when the lock is free. */
static struct listener told[TOLD_MAX];
static size_t told_count;

/* How long the server may keep a call of the program waiting. */
static int patience_ms(void)
{
	const char *text = getenv(SIM_ATTACH_TIMEOUT_VARIABLE);
	long given = text ? strtol(text, NULL, 10) : 0;

	return given > 0 && given <= INT_MAX ? (int)given : SIM_ATTACH_PATIENCE_MS;
}

/* ---- the lock ---- */

static void make_condition(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void end_inboxes(struct preload_attachment *attachment)
{
	preload_async_end_all(attachment, EIO);
	preload_channels_end_all(attachment, EIO);
	preload_umad_end_all(attachment, ENODEV);
}

/* A child has neither the thread nor a right to the connection. */
static void leave_to_parent(void)
{
	struct preload_attachment *attachment = current;

	pthread_mutex_init(&lock, NULL);
	make_condition();
	preload_inboxes_leave_to_parent();
	if (attachment && !attachment->lost) {
		attachment->lost = true;
		close(attachment->socket);
		close(attachment->timer);
		end_inboxes(attachment);
	}
	pthread_setcancelstate(cancel_state, NULL);
}

static void prepare_process(void)
{
	make_condition();
	pthread_atfork(preload_lock, preload_unlock, leave_to_parent);
}

void preload_lock(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	cancel_state = state;
}

/*
 * Who has closed its descriptor hears nothing. Of what has been told the memory may be gone, which
 * a futex whose memory is not looked at does not mind.
 */
static void tell(const struct listener *listeners, size_t count)
{
	uint64_t one = 1;

	for (size_t i = 0; i < count; i++) {
		ssize_t written = write(listeners[i].counter, &one, sizeof(one));

		(void)written;
		if (listeners[i].futex)
			syscall(SYS_futex, listeners[i].futex, FUTEX_WAKE_PRIVATE, INT_MAX, NULL,
				NULL, 0);
	}
}

void preload_tell_now(void)
{
	tell(told, told_count);
	told_count = 0;
}

void preload_unlock(void)
{
	struct listener listeners[TOLD_MAX];
	int state = cancel_state;
	size_t count = told_count;

	memcpy(listeners, told, sizeof(told[0]) * count);
	told_count = 0;
	pthread_mutex_unlock(&lock);
	tell(listeners, count);
	pthread_setcancelstate(state, NULL);
}

void preload_tell(int counter, _Atomic uint32_t *futex)
{
	if (told_count == TOLD_MAX)
		preload_tell_now();
	told[told_count++] = (struct listener){.counter = counter, .futex = futex};
}

void preload_wait_for_change(void)
{
	pthread_once(&once, prepare_process);
	preload_tell_now();
	pthread_cond_wait(&changed, &lock);
}

void preload_changed(void)
{
	pthread_cond_broadcast(&changed);
}

/* ---- losing the server ---- */

static void lose(struct preload_attachment *attachment)
{
	if (attachment->lost)
		return;
	attachment->lost = true;
	shutdown(attachment->socket, SHUT_RDWR); /* the thread closes it */
	preload_complain(
		"the fabric server has gone away, or a fault has ended what runs on this node; "
		"the device is lost");
	preload_queue_pairs_fail(attachment);
	preload_async_raise(attachment, IBV_EVENT_DEVICE_FATAL, 0);
	end_inboxes(attachment);
	preload_changed();
}

/* ---- what the server says ---- */

static void answer(struct preload_attachment *attachment, uint64_t key, int status, uint32_t qpn)
{
	struct preload_reply *reply = attachment->replies;

	while (reply && (reply->type != attachment->received.header.type || reply->key != key))
		reply = reply->next;
	if (!reply)
		return;
	reply->done = true;
	reply->status = status;
	reply->qpn = qpn;
	preload_changed();
}

static void dispatch(struct preload_attachment *attachment)
{
	const union sim_attach_message *message = &attachment->received;

	switch (message->header.type) {
	case SIM_ATTACH_PORT:
		preload_port_changed(attachment, &message->port.facts, message->port.port);
		break;
	case SIM_ATTACH_REREGISTER:
		preload_port_reregister(attachment, message->port.port);
		break;
	case SIM_ATTACH_OPENED:
		answer(attachment, message->opened.endpoint, message->opened.status,
		       message->opened.qpn);
		break;
	case SIM_ATTACH_JOINED_QP:
		answer(attachment, message->status.cookie, message->status.status, 0);
		break;
	case SIM_ATTACH_DATAGRAM:
		preload_queue_pairs_receive(attachment, &message->datagram);
		break;
	case SIM_ATTACH_ANSWER:
		preload_transactions_answer(attachment, &message->answer);
		break;
	default:
		/* Datagrams and MADs that fail are as silent as on hardware: MADs time out. */
		break;
	}
}

void preload_attachment_hear(struct preload_attachment *attachment)
{
	int received = sim_channel_receive(attachment->socket, &attachment->received);

	if (received > 0)
		dispatch(attachment);
	else if (received < 0)
		lose(attachment);
	if (sim_real_time() < attachment->armed)
		return;
	attachment->armed = ACM_NEVER;
	preload_transactions_expire(attachment);
}

static void *serve(void *argument)
{
	struct preload_attachment *attachment = argument;
	struct pollfd polled[] = {
		{.fd = attachment->socket, .events = POLLIN},
		{.fd = attachment->timer, .events = POLLIN},
	};

	preload_lock();
	while (!attachment->lost) {
		preload_unlock();
		poll(polled, 2, -1);
		preload_lock();
		if (polled[1].revents) {
			uint64_t expirations;
			ssize_t taken = read(attachment->timer, &expirations, sizeof(expirations));

			assert(taken == sizeof(expirations) || errno == EAGAIN);
		}
		preload_attachment_hear(attachment);
	}
	close(attachment->socket);
	close(attachment->timer);
	preload_unlock();
	return NULL;
}

/* ---- making one ---- */

int preload_attachment_read_ports(struct preload_attachment *attachment)
{
	struct sim_attach_header start = {.type = SIM_ATTACH_START};
	uint32_t known = 0;
	int error;

	if (!attachment->welcome.port_count || attachment->welcome.port_count > PRELOAD_PORTS_MAX)
		return -EPROTO;
	error = sim_channel_send(attachment->socket, &start);
	while (error >= 0 && known < attachment->welcome.port_count) {
		error = sim_attach_await(attachment->socket, &attachment->received,
					 attachment->patience_ms);
		if (error < 0 || attachment->received.header.type != SIM_ATTACH_PORT)
			continue;
		if (!preload_attachment_port(attachment, attachment->received.port.port + 1))
			return -EPROTO;
		attachment->ports[attachment->received.port.port] = attachment->received.port.facts;
		known++;
	}
	return error < 0 ? error : 0;
}

static int start_thread(struct preload_attachment *attachment)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	/* Signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, serve, attachment);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static int begin(struct preload_attachment *attachment)
{
	int error = preload_attachment_read_ports(attachment);

	if (error)
		return error;
	attachment->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (attachment->timer < 0)
		return -errno;
	preload_device_init(attachment);
	error = start_thread(attachment);
	if (error)
		close(attachment->timer);
	return error;
}

static int attach(struct preload_attachment *attachment)
{
	const char *path = getenv(SIM_ATTACH_SOCKET_VARIABLE),
		   *node = getenv(SIM_ATTACH_NODE_VARIABLE);
	char why[SIM_ATTACH_TEXT + 128];
	int error;

	if (!path || !node) {
		preload_complain("%s is not set; start the program with acmite fabric exec",
				 path ? SIM_ATTACH_NODE_VARIABLE : SIM_ATTACH_SOCKET_VARIABLE);
		return -ENODEV;
	}
	attachment->patience_ms = patience_ms();
	attachment->socket =
		sim_attach_welcome(path, SIM_ATTACH_PROGRAM, node, attachment->patience_ms,
				   &attachment->welcome, why, sizeof(why));
	if (attachment->socket < 0) {
		preload_complain("%s", why);
		return attachment->socket;
	}
	error = begin(attachment);
	if (error) {
		preload_complain("the ports of node '%s' cannot be had: %s", node,
				 strerror(-error));
		close(attachment->socket);
	}
	return error;
}

/* The thread may not have heard of it yet. */
static bool is_alive(struct preload_attachment *attachment)
{
	struct pollfd polled = {.fd = attachment->socket};

	if (!attachment->lost && poll(&polled, 1, 0) > 0)
		lose(attachment); /* only a hang-up is told unasked */
	return !attachment->lost;
}

struct preload_attachment *preload_attachment_get(void)
{
	struct preload_attachment *attachment;
	int error;

	if (current && is_alive(current))
		return current;
	pthread_once(&once, prepare_process);
	attachment = calloc(1, sizeof(*attachment));
	if (!attachment)
		return NULL;
	attachment->next_cookie = 1;
	attachment->armed = ACM_NEVER;
	attachment->before = current;
	error = attach(attachment);
	if (error) {
		free(attachment);
		errno = -error;
		return NULL;
	}
	current = attachment;
	return attachment;
}

const struct acm_port_facts *preload_attachment_port(const struct preload_attachment *attachment,
						     uint32_t number)
{
	if (!number || number > attachment->welcome.port_count)
		return NULL;
	return &attachment->ports[number - 1];
}

/* ---- talking to the server ---- */

/* Told once, until the server takes something again. */
static int stall(struct preload_attachment *attachment)
{
	if (!attachment->stalled)
		preload_complain(
			"the fabric server has taken nothing for %g s; what the program sends"
			" is lost meanwhile",
			attachment->patience_ms / 1000.0);
	attachment->stalled = true;
	return -ETIMEDOUT;
}

int preload_attachment_send(struct preload_attachment *attachment, const void *message)
{
	struct pollfd polled = {.fd = attachment->socket, .events = POLLOUT};
	uint64_t until = sim_real_time() + (uint64_t)attachment->patience_ms * ACM_NSEC_PER_MSEC;

	while (!attachment->lost) {
		int error = sim_channel_send(attachment->socket, message), left;

		if (!error) {
			attachment->stalled = false;
			return 0;
		}
		if (error != -EAGAIN) {
			lose(attachment);
			break;
		}
		left = sim_real_time_left_ms(until);
		if (attachment->stalled || !left)
			return stall(attachment);
		/* The thread reads meanwhile, so that the server can go on. */
		preload_unlock();
		poll(&polled, 1, left);
		preload_lock();
	}
	return -ENODEV;
}

static void forget(struct preload_attachment *attachment, const struct preload_reply *reply)
{
	struct preload_reply **link = &attachment->replies;

	while (*link != reply)
		link = &(*link)->next;
	*link = reply->next;
}

int preload_attachment_ask(struct preload_attachment *attachment, const void *message,
			   struct preload_reply *reply)
{
	uint64_t time = sim_real_time() + (uint64_t)attachment->patience_ms * ACM_NSEC_PER_MSEC;
	struct timespec until = {.tv_sec = (time_t)(time / ACM_NSEC_PER_SEC),
				 .tv_nsec = (long)(time % ACM_NSEC_PER_SEC)};
	int error;

	reply->done = false;
	reply->next = attachment->replies;
	attachment->replies = reply;
	error = preload_attachment_send(attachment, message);
	preload_tell_now();
	while (!error && !reply->done && !attachment->lost)
		error = -pthread_cond_timedwait(&changed, &lock, &until);
	forget(attachment, reply);
	if (reply->done)
		return reply->status;
	if (error == -ETIMEDOUT)
		preload_complain("the fabric server has not answered for %g s",
				 attachment->patience_ms / 1000.0);
	return error ? error : -ENODEV;
}

void preload_attachment_arm(struct preload_attachment *attachment, uint64_t time)
{
	struct itimerspec when = {.it_value = {.tv_sec = (time_t)(time / ACM_NSEC_PER_SEC),
					       .tv_nsec = (long)(time % ACM_NSEC_PER_SEC)}};

	if (time >= attachment->armed)
		return;
	attachment->armed = time;
	timerfd_settime(attachment->timer, TFD_TIMER_ABSTIME, &when, NULL);
}
