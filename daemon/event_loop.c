/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "event_loop.h"
#include "monotonic.h"
#include "signals.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct event_base *event_loop_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config)
		return NULL;
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK |
					      EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST |
					      EVENT_BASE_FLAG_NO_CACHE_TIME);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

void event_loop_init(struct event_loop *loop)
{
	memset(loop, 0, sizeof(*loop));
	loop->timer_fd = -1;
	loop->armed = ACM_NEVER;
}

/* An event counter or a timer: 8 bytes that say only that it was. */
static void clear(int fd)
{
	uint64_t count;
	ssize_t length = read(fd, &count, sizeof(count));

	(void)length;
}

static void fabric_ready(evutil_socket_t fd, short what, void *argument)
{
	struct event_loop *loop = argument;

	(void)fd;
	(void)what;
	loop->hooks.settle(loop->hooks.context);
}

static void timer_ready(evutil_socket_t fd, short what, void *argument)
{
	struct event_loop *loop = argument;

	(void)what;
	clear(fd);
	loop->armed = ACM_NEVER;
	loop->hooks.settle(loop->hooks.context);
}

static void stop_ready(evutil_socket_t fd, short what, void *argument)
{
	struct event_loop *loop = argument;

	(void)fd;
	(void)what;
	loop->hooks.stop(loop->hooks.context);
}

static void reopen_ready(evutil_socket_t fd, short what, void *argument)
{
	struct event_loop *loop = argument;

	(void)what;
	clear(fd);
	loop->hooks.reopen(loop->hooks.context);
}

static void give_up_ready(evutil_socket_t fd, short what, void *argument)
{
	struct event_loop *loop = argument;

	(void)fd;
	(void)what;
	loop->hooks.give_up(loop->hooks.context);
}

static int add(struct event *event, struct event_base *base, int fd, event_callback_fn callback,
	       struct event_loop *loop)
{
	if (event_assign(event, base, fd, EV_READ | EV_PERSIST, callback, loop) ||
	    event_add(event, NULL))
		return -ENOMEM;
	return 0;
}

static int add_all(struct event_loop *loop, struct event_base *base, int fabric_fd,
		   uint64_t give_up_at)
{
	uint64_t now = monotonic_now();
	uint64_t left = give_up_at > now ? give_up_at - now : 0;
	struct timeval wait = {.tv_sec = (time_t)(left / ACM_NSEC_PER_SEC),
			       .tv_usec = (suseconds_t)(left % ACM_NSEC_PER_SEC / 1000)};

	if (add(&loop->fabric, base, fabric_fd, fabric_ready, loop) ||
	    add(&loop->timer, base, loop->timer_fd, timer_ready, loop) ||
	    add(&loop->stop, base, signals_stop_fd(), stop_ready, loop) ||
	    add(&loop->reopen, base, signals_reopen_fd(), reopen_ready, loop) ||
	    event_assign(&loop->soon, base, -1, 0, fabric_ready, loop) ||
	    event_assign(&loop->give_up, base, -1, 0, give_up_ready, loop) ||
	    event_add(&loop->give_up, &wait))
		return -ENOMEM;
	return 0;
}

int event_loop_open(struct event_loop *loop, struct event_base *base,
		    const struct event_loop_hooks *hooks, int fabric_fd, uint64_t give_up_at)
{
	int error;

	loop->hooks = *hooks;
	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->timer_fd < 0)
		return -errno;
	error = add_all(loop, base, fabric_fd, give_up_at);
	if (error) {
		event_loop_close(loop);
		return error;
	}
	event_loop_settle_soon(loop);
	return 0;
}

void event_loop_close(struct event_loop *loop)
{
	struct event *const events[] = {&loop->fabric, &loop->timer,  &loop->soon,
					&loop->stop,   &loop->reopen, &loop->give_up};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (event_initialized(events[i]))
			event_del(events[i]);
	}
	if (loop->timer_fd >= 0)
		close(loop->timer_fd);
	event_loop_init(loop);
}

void event_loop_settle_soon(struct event_loop *loop)
{
	event_active(&loop->soon, EV_TIMEOUT, 0);
}

void event_loop_arm(struct event_loop *loop, uint64_t time)
{
	struct itimerspec when = {.it_value = {.tv_sec = (time_t)(time / ACM_NSEC_PER_SEC),
					       .tv_nsec = (long)(time % ACM_NSEC_PER_SEC)}};

	if (time >= loop->armed)
		return;
	loop->armed = time;
	timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

uint64_t event_loop_armed(const struct event_loop *loop)
{
	return loop->armed;
}

void event_loop_stop_waiting(struct event_loop *loop)
{
	event_del(&loop->give_up);
}
