/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_sa.h"

#include "verbs_state.h"

#include <acmite/bytes.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLASS_SA         3
#define CLASS_VERSION_SA 2
#define QP_GSI           1
#define QKEY_GSI         0x80010000
#define AT_TID           8
#define HEADER_LENGTH    24

/*
 * The kernel forgets a request after some time, and an answer to it is lost: with 0 it would not
 * even wait for one. It has no way to take a request back, and newer ones let out only so many
 * of an agent's at the same time (16, where nobody has changed it): those that were given up
 * must not stay much longer than anybody waits for their answers.
 */
#define KERNEL_TIMEOUT_MS 60000

/* An answer that is longer is no answer: 48,000 path records fit. */
#define ANSWER_MAX (3u << 20)

/* ---- transactions ---- */

/* By the low 32 bits: the kernel puts its own number for the agent into the others. */
static struct verbs_transaction *find_tid(struct verbs_sa *sa, uint64_t tid)
{
	for (int i = 0; i < VERBS_SA_WINDOW; i++) {
		if (sa->transactions[i].used && (uint32_t)sa->transactions[i].tid == (uint32_t)tid)
			return &sa->transactions[i];
	}
	return NULL;
}

static void begin(struct verbs_sa *sa, uint64_t tid, uint64_t cookie)
{
	struct verbs_transaction *free_one = sa->transactions;

	while (free_one->used)
		free_one++;
	*free_one = (struct verbs_transaction){.used = true, .tid = tid, .cookie = cookie};
	sa->count++;
}

static void end(struct verbs_sa *sa, struct verbs_transaction *transaction)
{
	transaction->used = false;
	sa->count--;
	verbs_note_progress(sa->transport);
}

static void fail(struct verbs_sa *sa, struct verbs_transaction *transaction, int status)
{
	struct verbs_event event = {.event.type = ACM_EVENT_SA_FAILED};

	event.event.failed.cookie = transaction->cookie;
	event.event.failed.status = status;
	end(sa, transaction);
	verbs_push(sa->transport, &event); /* without memory the user's own timer stands in */
}

static void answer(struct verbs_sa *sa, struct verbs_transaction *transaction, uint8_t *mad,
		   uint32_t length)
{
	struct verbs_event event = {.event.type = ACM_EVENT_SA_ANSWER, .memory = malloc(length)};

	if (!event.memory) {
		fail(sa, transaction, -ENOMEM);
		return;
	}
	store_be64(mad + AT_TID, transaction->tid);
	memcpy(event.memory, mad, length);
	event.event.sa.cookie = transaction->cookie;
	event.event.sa.mad = event.memory;
	event.event.sa.length = length;
	end(sa, transaction);
	verbs_push(sa->transport, &event);
}

/* To be closed, and opened again by a later look. */
static void break_off(struct verbs_sa *sa, int error)
{
	sa->failure = error;
	verbs_note_failure(sa->transport);
}

/* ---- receiving ---- */

static int grow(struct verbs_sa *sa, uint32_t length)
{
	uint8_t *larger;

	if (length <= sa->room || length > ANSWER_MAX)
		return -EMSGSIZE;
	larger = realloc(sa->received, umad_size() + length);
	if (!larger)
		return -ENOMEM;
	sa->received = larger;
	sa->room = length;
	return 0;
}

static void take(struct verbs_sa *sa, uint32_t length)
{
	uint8_t *mad = umad_get_mad(sa->received);
	struct verbs_transaction *transaction;
	int status;

	if (length < HEADER_LENGTH)
		return;
	transaction = find_tid(sa, load_be64(mad + AT_TID));
	if (!transaction)
		return; /* cancelled, or nobody asked */
	status = umad_status(sa->received);
	if (status) /* our own request, which the kernel gives up */
		fail(sa, transaction, -status);
	else
		answer(sa, transaction, mad, length);
}

/* One answer: with more to read the descriptor stays readable. */
static void receive(struct verbs_watch *watch)
{
	struct verbs_sa *sa = (struct verbs_sa *)((char *)watch - offsetof(struct verbs_sa, watch));
	int length = (int)sa->room;
	int agent = umad_recv(sa->fd, sa->received, &length, 0);
	int error = errno;

	if (agent >= 0) {
		sa->held -= sa->held > 0;
		sa->answered = true;
		take(sa, (uint32_t)length);
	} else if (error == ENOSPC) {
		/* It stays in the kernel until it is read whole, before all others. */
		error = length < 0 ? -EIO : grow(sa, (uint32_t)length);
		if (error)
			break_off(sa, error);
	} else if (verbs_watch_has_ended(watch, error)) {
		break_off(sa, error ? -error : -EIO);
	}
}

/* ---- opening and closing ---- */

static int open_agent(struct verbs_sa *sa, const char *device, uint8_t port)
{
	int fd;

	errno = 0;
	fd = umad_open_port(device, port);
	if (fd < 0) {
		/* The library says less than the system did. */
		if (fd == -EOPNOTSUPP)
			return fd;
		if (fd == -EINVAL)
			return -ENXIO;
		return errno ? -errno : fd;
	}
	sa->fd = fd;
	sa->agent = umad_register(fd, CLASS_SA, CLASS_VERSION_SA, 1, NULL);
	if (sa->agent < 0) {
		int error = errno ? -errno : sa->agent;

		umad_close_port(fd);
		return error;
	}
	return 0;
}

static void fail_all(struct verbs_sa *sa, int status)
{
	for (int i = 0; i < VERBS_SA_WINDOW; i++) {
		if (sa->transactions[i].used)
			fail(sa, &sa->transactions[i], status);
	}
}

void verbs_sa_renew(struct verbs_sa *sa)
{
	int agent;

	if (!sa->transport || !sa->held)
		return;
	agent = umad_register(sa->fd, CLASS_SA, CLASS_VERSION_SA, 1, NULL);
	if (agent < 0)
		return; /* then it takes the time that it takes */
	umad_unregister(sa->fd, sa->agent);
	sa->agent = agent;
	sa->held = 0;
	fail_all(sa, -ECANCELED);
}

int verbs_sa_open(struct verbs_sa *sa, struct verbs_transport *transport, const char *device,
		  uint8_t port)
{
	struct verbs_sa made = {.room = ACM_MAD_LENGTH};
	int error = open_agent(&made, device, port);

	if (error)
		return error;
	*sa = made;
	sa->received = malloc(umad_size() + sa->room);
	error = sa->received ? verbs_watch_add(&sa->watch, transport->epoll, umad_get_fd(sa->fd),
					       receive)
			     : -ENOMEM;
	if (error) {
		free(sa->received);
		umad_unregister(sa->fd, sa->agent);
		umad_close_port(sa->fd);
		return error;
	}
	sa->transport = transport;
	return 0;
}

void verbs_sa_close(struct verbs_sa *sa, int status)
{
	if (!sa->transport)
		return;
	fail_all(sa, status);
	verbs_watch_remove(sa->transport->epoll, umad_get_fd(sa->fd));
	umad_unregister(sa->fd, sa->agent);
	umad_close_port(sa->fd);
	free(sa->received);
	*sa = (struct verbs_sa){0};
}

bool verbs_sa_is_open(const struct verbs_sa *sa)
{
	return sa->transport != NULL;
}

/* ---- sending ---- */

static int kernel_timeout(const struct verbs_sa *sa, const struct verbs_sa_place *place)
{
	const struct verbs_options *options = &sa->transport->options;
	uint8_t exponent = place->subnet_timeout < 32 ? place->subnet_timeout : 31;
	uint64_t subnet_ms = (UINT64_C(4096) << exponent) / 1000000;
	uint64_t whole = (options->sa_timeout_ms + subnet_ms + 1) * options->sa_tries;

	if (!options->sa_timeout_ms || !options->sa_tries)
		return KERNEL_TIMEOUT_MS;
	return whole < INT_MAX ? (int)whole : INT_MAX;
}

static int transmit(const struct verbs_sa *sa, const struct verbs_sa_place *place,
		    uint16_t pkey_index, const uint8_t *mad)
{
	uint64_t aligned[(sizeof(struct ib_user_mad) + ACM_MAD_LENGTH) / sizeof(uint64_t) + 1];
	int error;

	memset(aligned, 0, sizeof(aligned));
	umad_set_addr(aligned, place->lid, QP_GSI, place->sl, (int)QKEY_GSI);
	umad_set_pkey(aligned, pkey_index);
	memcpy(umad_get_mad(aligned), mad, ACM_MAD_LENGTH);
	error = umad_send(sa->fd, sa->agent, aligned, ACM_MAD_LENGTH, kernel_timeout(sa, place), 0);
	if (error >= 0)
		return 0;
	return errno ? -errno : error;
}

int verbs_sa_send(struct verbs_sa *sa, const struct verbs_sa_place *place, uint16_t pkey_index,
		  const uint8_t *mad, uint64_t cookie)
{
	uint64_t tid = load_be64(mad + AT_TID);
	int error;

	if (!sa->transport || sa->failure)
		return -ENODEV;
	if (!place->lid)
		return -ENETDOWN; /* no SM has been there yet */
	if (find_tid(sa, tid))
		return -EEXIST;
	error = sa->count == VERBS_SA_WINDOW ? -EAGAIN : transmit(sa, place, pkey_index, mad);
	/* An agent whose device has gone says so here, where reading may just find nothing. */
	if (error == -EIO || error == -ENODEV || error == -EBADF)
		break_off(sa, error);
	/* The kernel is short of something: what is under way will give it back, if anything is. */
	if (error == -EAGAIN && !sa->count)
		error = -ENOBUFS;
	if (error == -EAGAIN)
		sa->transport->refused = true;
	if (!error) {
		begin(sa, tid, cookie);
		sa->held++;
	}
	return error;
}

bool verbs_sa_cancel(struct verbs_sa *sa, uint64_t cookie)
{
	for (int i = 0; i < VERBS_SA_WINDOW; i++) {
		struct verbs_transaction *transaction = &sa->transactions[i];

		if (transaction->used && transaction->cookie == cookie) {
			end(sa, transaction);
			return true;
		}
	}
	return false;
}
