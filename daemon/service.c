/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "service.h"
#include "backend.h"
#include "background.h"
#include "client_server.h"
#include "event_loop.h"
#include "listeners.h"
#include "lock_file.h"
#include "log.h"
#include "monotonic.h"
#include "notify.h"
#include "open_files.h"
#include "signals.h"
#include "source_queue.h"

#include <errno.h>
#include <event2/event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A deadline as near as this is waited for by looking again: a timer would be later. */
#define NEAR_NS (30 * ACM_NSEC_PER_USEC)
/* Then clients get their turn. */
#define ROUNDS_AT_ONCE 64

#define WHY_SIZE 2048

struct service {
	const struct configuration *configuration;
	int background;
	bool serving;
	int status;
	struct log *log;
	struct lock_file lock;
	struct listeners listeners;
	struct event_base *base;
	struct event_loop loop;
	struct client_server *server;
	struct daemon_backend *backend;
	struct source_queue sources;
	uint64_t arrived; /* when the requests came that are being handled */
};

__attribute__((format(printf, 2, 3))) static void fail(struct service *service, const char *format,
						       ...)
{
	char text[WHY_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "acmited: %s\n", text);
	if (strcmp(service->configuration->log_file, "stderr"))
		log_line(service->log, LOG_BASIC, "%s", text);
	service->status = EXIT_FAILURE;
	if (service->base)
		event_base_loopbreak(service->base);
}

/* ---- between clients and engine ---- */

static void step(struct service *service, const struct acm_event *event)
{
	int error = service->backend->ops->step(service->backend, event);

	if (error)
		fail(service, "the engine refused an event: %s", strerror(-error));
}

/* What answers from the cache do not need costs them nothing: no look at the fabric, no timer. */
static void settle_where_needed(void *context)
{
	struct service *service = context;

	if (source_queue_length(&service->sources) ||
	    service->backend->ops->deadline(service->backend) < event_loop_armed(&service->loop))
		event_loop_settle_soon(&service->loop);
}

static void handle_arrival(void *context)
{
	struct service *service = context;

	service->arrived = monotonic_now();
}

static void handle_request(void *context, const struct acm_request *request)
{
	struct service *service = context;
	struct acm_event event = {
		.type = ACM_EVENT_REQUEST, .time = service->arrived, .request = request};

	step(service, &event);
	/* Not answered, or answered and begun: something was sent. */
	if (request->no_delay || client_server_waits(service->server, request->id))
		event_loop_settle_soon(&service->loop);
}

static void handle_cancel(void *context, uint64_t id)
{
	struct service *service = context;
	struct acm_event event = {.type = ACM_EVENT_CANCEL, .time = service->arrived, .cancel = id};

	step(service, &event);
}

static void pass_reply(void *context, const struct acm_reply *reply)
{
	struct service *service = context;

	client_server_reply(service->server, reply);
}

static void pass_trace(void *context, const struct acm_trace *trace)
{
	struct service *service = context;

	log_trace(service->log, trace);
}

static void find_source(void *context, uint64_t cookie, const struct acm_address *destination)
{
	struct service *service = context;

	source_queue_put(&service->sources, cookie,
			 local_addresses_source(service->backend->ops->addresses(service->backend),
						destination));
}

static void answer_sources(struct service *service)
{
	struct acm_event event = {.type = ACM_EVENT_SOURCE_FOUND};

	while (source_queue_take(&service->sources, &event.source.cookie, &event.source.address)) {
		event.source.status =
			event.source.address.type == ACM_ADDRESS_NONE ? -EADDRNOTAVAIL : 0;
		event.time = monotonic_now();
		step(service, &event);
	}
}

/* ---- readiness ---- */

static void tell_ready(struct service *service)
{
	char words[WHY_SIZE];

	if (service->background >= 0) {
		background_ready(service->background);
		service->background = -1;
		return;
	}
	service->backend->ops->describe(service->backend, words, sizeof(words));
	printf("READY socket=%s%s", service->listeners.socket, words);
	if (service->listeners.port)
		printf(" tcp=%u", service->listeners.port);
	printf("\n");
	fflush(stdout);
}

static void tell_served(const struct service *service)
{
	const struct command_line *line = service->configuration->line;

	if (line->backend == COMMAND_LINE_VERBS)
		log_line(service->log, LOG_BASIC, "serving %s", service->listeners.socket);
	else
		log_line(service->log, LOG_BASIC, "serving %s as %s of %s",
			 service->listeners.socket, line->node, line->fabric);
}

static void serve(struct service *service)
{
	int error = client_server_listen(service->server, service->listeners.fds,
					 service->listeners.count);

	if (error) {
		fail(service, "clients cannot be accepted: %s", strerror(-error));
		return;
	}
	service->serving = true;
	event_loop_stop_waiting(&service->loop);
	tell_served(service);
	tell_ready(service);
	error = notify_manager("READY=1");
	if (error < 0)
		log_line(service->log, LOG_BASIC, "the service manager cannot be told: %s",
			 strerror(-error));
}

static void give_up(void *context)
{
	struct service *service = context;
	const char *node = "?";
	uint32_t unready = service->backend->ops->unready(service->backend, &node);

	fail(service,
	     "not ready after %u s: %u nodes hold not all of their multicast groups, %s for one;"
	     " log_level 1 shows what their joins came to, --ready-timeout waits longer",
	     service->configuration->line->ready_timeout_s, unready, node);
}

/* ---- the loop's hooks ---- */

/* Lets fabric and nodes act until nothing is due, and arms the timer for what is due next. */
static void settle(void *context)
{
	struct service *service = context;
	char why[WHY_SIZE];

	for (int round = 0; round < ROUNDS_AT_ONCE; round++) {
		uint64_t now;
		uint64_t next;

		answer_sources(service);
		now = monotonic_now();
		if (service->backend->ops->process(service->backend, now, why, sizeof(why))) {
			fail(service, "%s", why);
			return;
		}
		if (!service->serving && !service->backend->ops->unready(service->backend, NULL))
			serve(service);
		next = service->backend->ops->deadline(service->backend);
		if (!source_queue_length(&service->sources) && next > now + NEAR_NS) {
			event_loop_arm(&service->loop, next);
			return;
		}
	}
	event_loop_settle_soon(&service->loop);
}

static void stop(void *context)
{
	struct service *service = context;

	service->status = service->serving ? EXIT_SUCCESS : EXIT_FAILURE;
	notify_manager("STOPPING=1");
	log_line(service->log, LOG_BASIC, "told to stop");
	event_base_loopbreak(service->base);
}

static void reopen_log(void *context)
{
	struct service *service = context;

	log_reopen(service->log);
}

static void show_progress(void *context, const char *text)
{
	struct service *service = context;

	log_line(service->log, LOG_VERBOSE, "%s", text);
}

static void show_notice(void *context, const char *text)
{
	struct service *service = context;

	log_line(service->log, LOG_BASIC, "%s", text);
}

/* ---- start and end ---- */

static int open_files(struct service *service)
{
	const struct configuration *configuration = service->configuration;
	char why[WHY_SIZE];
	int error;

	error = lock_file_take(&service->lock, configuration->lock_file, why, sizeof(why));
	if (!error)
		error = log_open(configuration->log_file, configuration->options.log_level,
				 &service->log, why, sizeof(why));
	if (!error)
		error = listeners_open(&service->listeners, configuration->line->socket,
				       &configuration->options, why, sizeof(why));
	if (error)
		fail(service, "%s", why);
	else if (configuration->options.server_mode == SERVER_OPEN)
		log_line(service->log, LOG_BASIC,
			 "server_mode open: any host that reaches TCP port %u is"
			 " answered",
			 service->listeners.port);
	return error;
}

static int start_backend(struct service *service)
{
	struct daemon_backend_setup setup = {
		.configuration = service->configuration,
		.hooks = {.reply = pass_reply,
			  .trace = pass_trace,
			  .find_source = find_source,
			  .context = service},
		.cancel_fd = signals_stop_fd(),
		.progress = show_progress,
		.notice = show_notice,
		.context = service,
	};
	char why[WHY_SIZE];
	int error = daemon_backend_create(&setup, &service->backend, why, sizeof(why));

	if (error)
		fail(service, "%s", error == -ECANCELED ? "told to stop while starting" : why);
	return error;
}

static int start_server(struct service *service, uint32_t client_limit)
{
	struct client_server_hooks hooks = {.request = handle_request,
					    .cancel = handle_cancel,
					    .arrived = handle_arrival,
					    .handled = settle_where_needed,
					    .context = service};
	struct client_server_limits limits;
	int error;

	client_server_limits_default(&limits);
	limits.clients = client_limit;
	error = client_server_create(service->base, &hooks, &limits, service->log,
				     &service->server);
	if (error)
		fail(service, "clients cannot be served: %s", strerror(-error));
	return error;
}

static int start_loop(struct service *service, uint64_t begun)
{
	struct event_loop_hooks hooks = {.settle = settle,
					 .stop = stop,
					 .reopen = reopen_log,
					 .give_up = give_up,
					 .context = service};
	uint64_t give_up_at =
		begun + service->configuration->line->ready_timeout_s * ACM_NSEC_PER_SEC;
	int error = event_loop_open(&service->loop, service->base, &hooks,
				    service->backend->ops->fd(service->backend), give_up_at);

	if (error)
		fail(service, "the event loop cannot be made: %s", strerror(-error));
	return error;
}

static int start(struct service *service)
{
	uint64_t begun = monotonic_now();
	uint32_t client_limit = open_files_raise();
	int error = open_files(service);

	if (error)
		return error;
	service->base = event_loop_base();
	if (!service->base) {
		fail(service, "the event loop cannot be made: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	error = start_server(service, client_limit);
	if (!error)
		error = start_backend(service);
	if (!error)
		error = start_loop(service, begun);
	return error;
}

static void finish(struct service *service)
{
	client_server_destroy(service->server);
	listeners_close(&service->listeners);
	event_loop_close(&service->loop);
	if (service->backend)
		service->backend->ops->destroy(service->backend);
	source_queue_clear(&service->sources);
	if (service->base)
		event_base_free(service->base);
	log_close(service->log);
	lock_file_release(&service->lock);
	signals_close();
	if (service->background >= 0)
		close(service->background);
}

int service_run(const struct configuration *configuration, int background)
{
	struct service service = {.configuration = configuration,
				  .background = background,
				  .lock = {.fd = -1},
				  .status = EXIT_FAILURE};
	int error = signals_open();

	event_loop_init(&service.loop);
	if (error)
		fail(&service, "signals cannot be taken: %s", strerror(-error));
	else if (!start(&service))
		event_base_dispatch(service.base);
	finish(&service);
	return service.status;
}
