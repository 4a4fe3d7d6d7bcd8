/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <acmite/driver.h>

#include "memory.h"

#include <errno.h>

/* Sends of one queue that wait for the transport to have room; more are dropped, as by a full link.
 */
#define BACKLOG_MAX 256

/* A queue is an endpoint's datagrams, or a port's SA requests. */
struct blocked {
	struct blocked *next;
	struct acm_action action;
	uint8_t bytes[ACM_MAD_LENGTH];
};

struct acm_driver {
	struct acm_engine *engine;
	struct acm_transport *transport;
	struct acm_driver_hooks hooks;
	struct acm_allocator allocator;
	uint64_t now;
	struct blocked *backlog; /* all queues', oldest first */
	/* What failed at once, told to the engine when its actions are drained. */
	struct acm_event *failures;
	uint32_t failure_count;
	uint32_t failure_capacity;
};

int acm_driver_create(struct acm_engine *engine, struct acm_transport *transport,
		      const struct acm_driver_hooks *hooks, const struct acm_allocator *allocator,
		      struct acm_driver **result)
{
	struct acm_driver *driver = acm_memory_new(allocator, sizeof(*driver));

	if (!driver)
		return -ENOMEM;
	driver->engine = engine;
	driver->transport = transport;
	driver->hooks = *hooks;
	driver->allocator = *allocator;
	*result = driver;
	return 0;
}

static void drop(struct acm_driver *driver, struct blocked **at)
{
	struct blocked *dropped = *at;

	*at = dropped->next;
	acm_memory_free(&driver->allocator, dropped, sizeof(*dropped));
}

void acm_driver_destroy(struct acm_driver *driver)
{
	struct acm_allocator allocator;

	if (!driver)
		return;
	allocator = driver->allocator;
	while (driver->backlog)
		drop(driver, &driver->backlog);
	acm_memory_free(&allocator, driver->failures,
			driver->failure_capacity * sizeof(*driver->failures));
	acm_memory_free(&allocator, driver, sizeof(*driver));
}

/* A completion that the engine has to see. Without memory its own timers stand in for it. */
static void note_failure(struct acm_driver *driver, const struct acm_event *event)
{
	if (driver->failure_count == driver->failure_capacity) {
		uint32_t capacity = driver->failure_capacity ? driver->failure_capacity * 2 : 8;
		void *larger = acm_memory_grow(&driver->allocator, driver->failures,
					       driver->failure_capacity * sizeof(*driver->failures),
					       capacity * sizeof(*driver->failures));

		if (!larger)
			return;
		driver->failures = larger;
		driver->failure_capacity = capacity;
	}
	driver->failures[driver->failure_count++] = *event;
}

static int transmit(struct acm_driver *driver, const struct acm_action *action)
{
	struct acm_transport *transport = driver->transport;

	if (action->type == ACM_ACTION_SEND)
		return transport->ops->send(transport, &action->send.datagram, action->send.cookie);
	return transport->ops->sa_send(transport, action->sa.port, action->sa.pkey_index,
				       action->sa.mad, action->sa.cookie);
}

static void report(struct acm_driver *driver, const struct acm_action *action, int status)
{
	bool datagram = action->type == ACM_ACTION_SEND;
	struct acm_event event = {.type = datagram ? ACM_EVENT_SEND_FAILED : ACM_EVENT_SA_FAILED};

	event.failed.cookie = datagram ? action->send.cookie : action->sa.cookie;
	event.failed.status = status;
	note_failure(driver, &event);
}

static bool is_same_queue(const struct acm_action *a, const struct acm_action *b)
{
	if (a->type != b->type)
		return false;
	return a->type == ACM_ACTION_SEND ? a->send.datagram.endpoint == b->send.datagram.endpoint
					  : a->sa.port == b->sa.port;
}

/* How many of the queue of `action` wait before `end`, NULL: in all. */
static uint32_t count_before(const struct acm_driver *driver, const struct acm_action *action,
			     const struct blocked *end)
{
	uint32_t count = 0;

	for (const struct blocked *at = driver->backlog; at != end; at = at->next)
		count += is_same_queue(&at->action, action);
	return count;
}

/* What there is no room for is lost: the engine's timers repeat it. */
static void keep(struct acm_driver *driver, const struct acm_action *action)
{
	struct blocked **link = &driver->backlog, *blocked;

	if (count_before(driver, action, NULL) == BACKLOG_MAX)
		return;
	blocked = acm_memory_new(&driver->allocator, sizeof(*blocked));
	if (!blocked)
		return;
	blocked->action = *action;
	if (action->type == ACM_ACTION_SEND) {
		memcpy(blocked->bytes, action->send.datagram.payload, action->send.datagram.length);
		blocked->action.send.datagram.payload = blocked->bytes;
	} else {
		memcpy(blocked->bytes, action->sa.mad, ACM_MAD_LENGTH);
		blocked->action.sa.mad = blocked->bytes;
	}
	while (*link)
		link = &(*link)->next;
	*link = blocked;
}

static void send(struct acm_driver *driver, const struct acm_action *action)
{
	int status = count_before(driver, action, NULL) ? -EAGAIN : transmit(driver, action);

	if (status == -EAGAIN)
		keep(driver, action);
	else if (status)
		report(driver, action, status);
}

/* One queue that stays full holds up none of the others. */
static void flush(struct acm_driver *driver)
{
	struct blocked **link = &driver->backlog;

	while (*link) {
		struct blocked *blocked = *link;
		int status = count_before(driver, &blocked->action, blocked)
				     ? -EAGAIN
				     : transmit(driver, &blocked->action);

		if (status == -EAGAIN) {
			link = &blocked->next;
			continue;
		}
		if (status)
			report(driver, &blocked->action, status);
		drop(driver, link);
	}
}

/* A cancelled transaction that still waits in the backlog must not go out. */
static void cancel(struct acm_driver *driver, uint64_t cookie)
{
	struct blocked **link = &driver->backlog;

	while (*link) {
		const struct acm_action *action = &(*link)->action;

		if (action->type == ACM_ACTION_SA_SEND && action->sa.cookie == cookie)
			drop(driver, link);
		else
			link = &(*link)->next;
	}
	driver->transport->ops->sa_cancel(driver->transport, cookie);
}

static void open_endpoint(struct acm_driver *driver, const struct acm_action *action)
{
	struct acm_transport *transport = driver->transport;
	int status = transport->ops->open_endpoint(transport, action->open.endpoint,
						   action->open.port, action->open.pkey,
						   action->open.qkey, action->open.recv_depth);
	struct acm_event event = {.type = ACM_EVENT_ENDPOINT_OPENED};

	if (!status)
		return;
	event.opened.endpoint = action->open.endpoint;
	event.opened.status = status;
	note_failure(driver, &event);
}

static void attach(struct acm_driver *driver, const struct acm_action *action)
{
	struct acm_transport *transport = driver->transport;
	int status = transport->ops->attach(transport, action->group.endpoint, &action->group.mgid,
					    action->group.mlid, action->group.cookie);
	struct acm_event event = {.type = ACM_EVENT_ATTACHED};

	if (!status)
		return;
	event.attached.cookie = action->group.cookie;
	event.attached.status = status;
	note_failure(driver, &event);
}

static void find_source(struct acm_driver *driver, const struct acm_action *action)
{
	struct acm_event event = {.type = ACM_EVENT_SOURCE_FOUND};

	if (driver->hooks.find_source) {
		driver->hooks.find_source(driver->hooks.context, action->find.cookie,
					  &action->find.destination);
		return;
	}
	event.source.cookie = action->find.cookie;
	event.source.status = -ENOSYS;
	note_failure(driver, &event);
}

static void execute(struct acm_driver *driver, const struct acm_action *action)
{
	struct acm_transport *transport = driver->transport;

	switch (action->type) {
	case ACM_ACTION_OPEN_ENDPOINT:
		open_endpoint(driver, action);
		break;
	case ACM_ACTION_CLOSE_ENDPOINT:
		transport->ops->close_endpoint(transport, action->endpoint);
		break;
	case ACM_ACTION_ATTACH:
		attach(driver, action);
		break;
	case ACM_ACTION_DETACH:
		/* Of one that is gone already there is nothing to do. */
		(void)transport->ops->detach(transport, action->group.endpoint, &action->group.mgid,
					     action->group.mlid);
		break;
	case ACM_ACTION_SEND:
	case ACM_ACTION_SA_SEND:
		send(driver, action);
		break;
	case ACM_ACTION_SA_CANCEL:
		cancel(driver, action->cookie);
		break;
	case ACM_ACTION_FIND_SOURCE:
		find_source(driver, action);
		break;
	case ACM_ACTION_REPLY:
		driver->hooks.reply(driver->hooks.context, action->reply);
		break;
	case ACM_ACTION_TRACE:
		if (driver->hooks.trace)
			driver->hooks.trace(driver->hooks.context, action->trace);
		break;
	}
}

static int step(struct acm_driver *driver, const struct acm_event *event)
{
	struct acm_action action;
	int error = acm_engine_step(driver->engine, event);

	while (!error && acm_engine_next_action(driver->engine, &action))
		execute(driver, &action);
	return error;
}

static int tell_failures(struct acm_driver *driver)
{
	int error = 0;

	for (uint32_t i = 0; i < driver->failure_count && !error; i++) {
		struct acm_event event = driver->failures[i]; /* the array may move below */

		event.time = driver->now;
		error = step(driver, &event);
	}
	driver->failure_count = 0;
	return error;
}

int acm_driver_step(struct acm_driver *driver, const struct acm_event *event)
{
	int error;

	driver->now = event->time;
	error = step(driver, event);
	return error ? error : tell_failures(driver);
}

int acm_driver_start(struct acm_driver *driver, uint64_t now)
{
	driver->now = now;
	return driver->transport->ops->start(driver->transport);
}

static int drain(struct acm_driver *driver)
{
	struct acm_event event;
	int error = 0;

	while (!error && driver->transport->ops->next_event(driver->transport, &event)) {
		if (event.type == ACM_EVENT_WRITABLE) {
			flush(driver);
			error = tell_failures(driver);
			continue;
		}
		event.time = driver->now;
		error = acm_driver_step(driver, &event);
	}
	return error;
}

int acm_driver_run(struct acm_driver *driver, uint64_t now)
{
	struct acm_event deadline = {.type = ACM_EVENT_DEADLINE, .time = now};
	int error;

	driver->now = now;
	error = drain(driver);
	/* What the deadline sets off may be done at once, and what that sets off be due. */
	while (!error && acm_engine_deadline(driver->engine) <= now) {
		error = acm_driver_step(driver, &deadline);
		if (!error)
			error = drain(driver);
	}
	return error;
}

uint64_t acm_driver_deadline(const struct acm_driver *driver)
{
	return acm_engine_deadline(driver->engine);
}
