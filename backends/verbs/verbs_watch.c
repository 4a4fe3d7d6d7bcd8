/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

int verbs_watch_add(struct verbs_watch *watch, int epoll, int fd,
		    void (*ready)(struct verbs_watch *watch))
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = watch}};
	int flags = fcntl(fd, F_GETFL);

	watch->ready = ready;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return -errno;
	return 0;
}

bool verbs_watch_has_ended(const struct verbs_watch *watch, int error)
{
	if (error == EINTR)
		return false;
	return (error != EAGAIN && error != EWOULDBLOCK) || (watch->events & (EPOLLERR | EPOLLHUP));
}

void verbs_watch_remove(int epoll, int fd)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}
