/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "inbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "attachment.h"

static struct preload_inbox *inboxes;

int preload_inbox_init(struct preload_inbox *inbox)
{
	*inbox = (struct preload_inbox){.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
	if (inbox->fd < 0)
		return -errno;
	inbox->last = &inbox->first;
	inbox->next = inboxes;
	inboxes = inbox;
	return 0;
}

/* ---- counting ---- */

/* What another thread has put there is counted a moment later, when that has given up the lock. */
static void count_up(struct preload_inbox *inbox)
{
	inbox->changes++;
	preload_tell(inbox->fd, inbox->sleepers ? &inbox->changes : NULL);
}

static void count_down(struct preload_inbox *inbox)
{
	struct pollfd polled = {.fd = inbox->fd, .events = POLLIN};
	uint64_t one;

	preload_tell_now();
	while (read(inbox->fd, &one, sizeof(one)) < 0 && (errno == EAGAIN || errno == EINTR))
		poll(&polled, 1, -1);
}

/* Nothing is counted any more that might come to another descriptor of this number. */
void preload_inbox_close(struct preload_inbox *inbox)
{
	struct preload_inbox **link = &inboxes;

	while (*link != inbox)
		link = &(*link)->next;
	*link = inbox->next;
	if (inbox->ended)
		count_down(inbox);
	close(inbox->fd);
	inbox->fd = -1;
}

/* ---- items ---- */

void preload_inbox_put(struct preload_inbox *inbox, struct preload_item *item)
{
	item->next = NULL;
	*inbox->last = item;
	inbox->last = &item->next;
	count_up(inbox);
}

static void unlink_item(struct preload_inbox *inbox, struct preload_item **link)
{
	struct preload_item *item = *link;

	*link = item->next;
	if (!*link)
		inbox->last = link;
	item->next = NULL;
	count_down(inbox);
}

void preload_inbox_drop(struct preload_inbox *inbox, struct preload_item *item)
{
	struct preload_item **link = &inbox->first;

	while (*link && *link != item)
		link = &(*link)->next;
	if (*link)
		unlink_item(inbox, link);
}

struct preload_item *preload_inbox_take(struct preload_inbox *inbox)
{
	struct preload_item *item = inbox->first;

	if (item)
		unlink_item(inbox, &inbox->first);
	else
		errno = inbox->ended ? inbox->ended : EAGAIN;
	return item;
}

/* ---- waiting ---- */

/*
 * Until something has changed. Of the calls that wait, this is one that signals interrupt or not
 * as their handlers have it; poll() would always be interrupted. It can be cancelled, as read().
 */
static int sleep_without_lock(struct preload_inbox *inbox, uint32_t seen)
{
	int type, error = 0;

	inbox->sleepers++; /* and so for ever, if it is cancelled */
	preload_unlock();
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	if (syscall(SYS_futex, &inbox->changes, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0))
		error = errno == EINTR ? EINTR : 0;
	pthread_setcanceltype(type, NULL);
	preload_lock();
	inbox->sleepers--;
	return error;
}

struct preload_item *preload_inbox_wait(struct preload_inbox *inbox)
{
	struct preload_item *item;

	while (!(item = preload_inbox_take(inbox)) && !inbox->ended &&
	       !(fcntl(inbox->fd, F_GETFL) & O_NONBLOCK)) {
		int error = sleep_without_lock(inbox, inbox->changes);

		if (error) {
			errno = error;
			return NULL;
		}
	}
	return item;
}

/* ---- ends ---- */

void preload_inbox_end(struct preload_inbox *inbox, int error)
{
	if (inbox->ended)
		return;
	inbox->ended = error;
	count_up(inbox);
}

static void renew(struct preload_inbox *inbox)
{
	int flags = fcntl(inbox->fd, F_GETFL), fd;
	unsigned int count = inbox->ended != 0;

	if (flags < 0)
		return; /* the program has closed it */
	for (const struct preload_item *item = inbox->first; item; item = item->next)
		count++;
	close(inbox->fd); /* first, as there may be no more descriptors */
	fd = eventfd(count, EFD_CLOEXEC | EFD_SEMAPHORE | (flags & O_NONBLOCK));
	assert(fd >= 0);
	if (fd == inbox->fd)
		return;
	dup3(fd, inbox->fd, O_CLOEXEC);
	close(fd);
}

void preload_inboxes_leave_to_parent(void)
{
	for (struct preload_inbox *at = inboxes; at; at = at->next)
		renew(at);
}
