/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "inbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "attachment.h"

int preload_inbox_init(struct preload_inbox *inbox)
{
	*inbox = (struct preload_inbox){.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
	inbox->last = &inbox->first;
	return inbox->fd < 0 ? -errno : 0;
}

void preload_inbox_close(struct preload_inbox *inbox)
{
	close(inbox->fd);
	inbox->fd = -1;
}

/* The descriptor's count is that of the items, and one more when woken. */
static void count_up(struct preload_inbox *inbox)
{
	uint64_t one = 1;
	ssize_t written = write(inbox->fd, &one, sizeof(one));

	assert(written == sizeof(one));
}

static void count_down(struct preload_inbox *inbox)
{
	uint64_t one;
	ssize_t taken = read(inbox->fd, &one, sizeof(one));

	assert(taken == sizeof(one));
}

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

/* NULL with errno: nothing is there now. */
static struct preload_item *take_now(struct preload_inbox *inbox)
{
	struct preload_item *item = inbox->first;

	if (item) {
		unlink_item(inbox, &inbox->first);
		return item;
	}
	if (inbox->woken) {
		inbox->woken = false;
		count_down(inbox);
	}
	errno = inbox->ended ? inbox->ended : EAGAIN;
	return NULL;
}

struct preload_item *preload_inbox_take(struct preload_inbox *inbox, int timeout_ms)
{
	struct preload_item *item = take_now(inbox);

	while (!item && !inbox->ended && timeout_ms) {
		struct pollfd polled = {.fd = inbox->fd, .events = POLLIN};
		int ready, error;

		preload_unlock();
		ready = poll(&polled, 1, timeout_ms);
		error = ready ? errno : ETIMEDOUT;
		preload_lock();
		if (ready <= 0) {
			errno = error;
			return NULL;
		}
		item = take_now(inbox);
	}
	return item;
}

int preload_inbox_patience(const struct preload_inbox *inbox)
{
	return fcntl(inbox->fd, F_GETFL) & O_NONBLOCK ? 0 : -1;
}

void preload_inbox_end(struct preload_inbox *inbox, int error)
{
	inbox->ended = error;
}

void preload_inbox_wake(struct preload_inbox *inbox)
{
	if (inbox->woken)
		return;
	inbox->woken = true;
	count_up(inbox);
}
