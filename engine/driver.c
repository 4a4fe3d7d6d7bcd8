/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <acmite/driver.h>

#include "memory.h"

#include <errno.h>

/* Sends that a transport had no room for wait here; more are dropped, as a full link would do. */
#define BACKLOG_MAX 256
/* A join or two of a node that starts. */
#define BACKLOG_FIRST 4

struct blocked {
	struct acm_action action;
	uint8_t bytes[ACM_MAD_LENGTH];
};

struct acm_driver {
	struct acm_engine *engine;
	struct acm_transport *transport;
	struct acm_driver_hooks hooks;
	struct acm_allocator allocator;
	uint64_t now;
	/* A ring, a power of two; there only while something waits. */
	struct blocked *backlog;
	uint32_t backlog_capacity;
	uint32_t backlog_first;
	uint32_t backlog_count;
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

void acm_driver_destroy(struct acm_driver *driver)
{
	struct acm_allocator allocator;

	if (!driver)
		return;
	allocator = driver->allocator;
	acm_memory_free(&allocator, driver->backlog,
			driver->backlog_capacity * sizeof(*driver->backlog));
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

/* The blocked send at a place behind the first. */
static struct blocked *blocked_at(const struct acm_driver *driver, uint32_t place)
{
	return &driver->backlog[(driver->backlog_first + place) & (driver->backlog_capacity - 1)];
}

static bool make_room(struct acm_driver *driver)
{
	uint32_t capacity = driver->backlog_capacity ? driver->backlog_capacity * 2 : BACKLOG_FIRST;
	struct blocked *larger;

	if (driver->backlog_count < driver->backlog_capacity)
		return true;
	if (capacity > BACKLOG_MAX)
		return false;
	larger = acm_memory_new(&driver->allocator, capacity * sizeof(*larger));
	if (!larger)
		return false;
	for (uint32_t i = 0; i < driver->backlog_count; i++)
		larger[i] = *blocked_at(driver, i);
	acm_memory_free(&driver->allocator, driver->backlog,
			driver->backlog_capacity * sizeof(*driver->backlog));
	driver->backlog = larger;
	driver->backlog_capacity = capacity;
	driver->backlog_first = 0;
	return true;
}

/* A link is seldom full: between such times a driver takes no memory for it. */
static void free_if_empty(struct acm_driver *driver)
{
	if (driver->backlog_count)
		return;
	acm_memory_free(&driver->allocator, driver->backlog,
			driver->backlog_capacity * sizeof(*driver->backlog));
	driver->backlog = NULL;
	driver->backlog_capacity = driver->backlog_first = 0;
}

static void keep(struct acm_driver *driver, const struct acm_action *action)
{
	struct blocked *blocked;

	if (!make_room(driver))
		return; /* lost; the engine's timers repeat it */
	blocked = blocked_at(driver, driver->backlog_count++);
	blocked->action = *action;
	if (action->type == ACM_ACTION_SEND)
		memcpy(blocked->bytes, action->send.datagram.payload, action->send.datagram.length);
	else
		memcpy(blocked->bytes, action->sa.mad, ACM_MAD_LENGTH);
}

static void report(struct acm_driver *driver, const struct acm_action *action, int status)
{
	bool datagram = action->type == ACM_ACTION_SEND;
	struct acm_event event = {.type = datagram ? ACM_EVENT_SEND_FAILED : ACM_EVENT_SA_FAILED};

	event.failed.cookie = datagram ? action->send.cookie : action->sa.cookie;
	event.failed.status = status;
	note_failure(driver, &event);
}

static void send(struct acm_driver *driver, const struct acm_action *action)
{
	int status = driver->backlog_count ? -EAGAIN : transmit(driver, action);

	if (status == -EAGAIN)
		keep(driver, action);
	else if (status)
		report(driver, action, status);
}

static void flush(struct acm_driver *driver)
{
	while (driver->backlog_count) {
		struct blocked *blocked = blocked_at(driver, 0);
		int status;

		/* The copy's pointers are set here: the array is the only owner of the bytes. */
		if (blocked->action.type == ACM_ACTION_SEND)
			blocked->action.send.datagram.payload = blocked->bytes;
		else
			blocked->action.sa.mad = blocked->bytes;
		status = transmit(driver, &blocked->action);
		if (status == -EAGAIN)
			return;
		if (status)
			report(driver, &blocked->action, status);
		driver->backlog_first =
			(driver->backlog_first + 1) & (driver->backlog_capacity - 1);
		driver->backlog_count--;
	}
	free_if_empty(driver);
}

/* A cancelled transaction that still waits in the backlog must not go out. */
static void cancel(struct acm_driver *driver, uint64_t cookie)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < driver->backlog_count; i++) {
		struct blocked *from = blocked_at(driver, i);
		struct blocked *to = blocked_at(driver, kept);

		if (from->action.type == ACM_ACTION_SA_SEND && from->action.sa.cookie == cookie)
			continue;
		if (from != to)
			*to = *from;
		kept++;
	}
	driver->backlog_count = kept;
	free_if_empty(driver);
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
