/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric_server.h"

#include "fabric_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLIENT_LIMIT  1024
#define GREETING_TIME (10 * ACM_NSEC_PER_SEC)
/* Events and connections taken at once: the fabric runs in between. */
#define EVENTS  64
#define ACCEPTS 64
/* When memory was lacking for a connection: until it is tried again, if nobody goes meanwhile. */
#define ACCEPT_AGAIN ACM_NSEC_PER_SEC

struct client_list {
	struct sim_fabric_client *first, *last;
};

struct sim_fabric_server {
	struct sim_fabric_host host;
	struct sim_fabric_server_options options;
	char *path;
	dev_t device; /* of the socket's file: another one that has its name is not removed */
	ino_t inode;
	int epoll_fd;
	int listen_fd;
	bool listening;     /* or there was no memory for a connection ... */
	uint64_t listen_at; /* ... and it is tried again then */
	int reserve_fd;     /* given up to take in, and refuse, whom no descriptor is left for */
	uint32_t crowd;     /* programs attached when that was told; 0: there is room */
	bool *stopped;      /* by node */
	uint32_t count;
	struct client_list clients; /* the longest connected first */
	bool awaiting;              /* some clients, for the fabric to find something out */
	/* Those with something to do. */
	struct sim_fabric_client *ready, **ready_end;
};

void sim_fabric_server_options_default(struct sim_fabric_server_options *options)
{
	*options = (struct sim_fabric_server_options){
		.mode = 0600, .client_limit = CLIENT_LIMIT, .greeting_time = GREETING_TIME};
}

/* ---- lists ---- */

static void append(struct client_list *list, struct sim_fabric_client *client)
{
	client->previous = list->last;
	*(list->last ? &list->last->next : &list->first) = client;
	list->last = client;
}

static void take_out(struct client_list *list, struct sim_fabric_client *client)
{
	*(client->previous ? &client->previous->next : &list->first) = client->next;
	*(client->next ? &client->next->previous : &list->last) = client->previous;
}

static void make_ready(void *context, struct sim_fabric_client *client)
{
	struct sim_fabric_server *server = context;

	if (client->ready)
		return;
	client->ready = true;
	client->next_ready = NULL;
	*server->ready_end = client;
	server->ready_end = &client->next_ready;
}

static struct sim_fabric_client *take_ready(struct sim_fabric_server *server)
{
	struct sim_fabric_client *first = server->ready;

	server->ready = first->next_ready;
	if (!server->ready)
		server->ready_end = &server->ready;
	first->ready = false;
	return first;
}

static void drop_ready(struct sim_fabric_server *server, struct sim_fabric_client *client)
{
	struct sim_fabric_client **at = &server->ready;

	while (*at && *at != client)
		at = &(*at)->next_ready;
	if (!*at)
		return;
	*at = client->next_ready;
	if (!*at)
		server->ready_end = at;
}

/* ---- what is waited for ---- */

static int watch(struct sim_fabric_server *server, int operation, int fd, uint32_t events,
		 void *subject)
{
	struct epoll_event event = {.events = events, .data.ptr = subject};

	return epoll_ctl(server->epoll_fd, operation, fd, &event) ? -errno : 0;
}

static void update_interest(struct sim_fabric_server *server, struct sim_fabric_client *client)
{
	uint32_t interest = (sim_fabric_client_reads(client) ? EPOLLIN : 0u) |
			    (sim_fabric_client_writes(client) ? EPOLLOUT : 0u);

	if (interest == client->interest)
		return;
	client->interest = interest;
	watch(server, EPOLL_CTL_MOD, client->fd, interest, client);
}

static void listen_on(struct sim_fabric_server *server, bool listening)
{
	if (listening == server->listening)
		return;
	server->listening = listening;
	watch(server, EPOLL_CTL_MOD, server->listen_fd, listening ? EPOLLIN : 0u,
	      &server->listen_fd);
}

/* ---- descriptors ---- */

static void notify(const struct sim_fabric_server *server, const char *text)
{
	if (server->options.notice)
		server->options.notice(server->options.notice_context, text);
}

static void explain_crowd(const struct sim_fabric_server *server, int error, char *text,
			  size_t size)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (error == -EMFILE)
		snprintf(text, size,
			 "all %llu files that the fabric server may have open are in use, with %u"
			 " programs attached, and no more are let in; end some, or start it where"
			 " the hard limit is higher (ulimit -Hn, LimitNOFILE=)",
			 (unsigned long long)limit.rlim_cur, server->count);
	else
		snprintf(text, size,
			 "the system has no file left to open, with %u programs attached, and no"
			 " more are let in; raise its limit (sysctl fs.file-max)",
			 server->count);
}

/* Told once, until many have gone: not with everybody who comes and goes. */
static void note_crowd(struct sim_fabric_server *server, const char *text)
{
	if (server->crowd)
		return;
	server->crowd = server->count + 1;
	notify(server, text);
}

static void note_room(struct sim_fabric_server *server)
{
	char text[SIM_ATTACH_TEXT];

	if (!server->crowd ||
	    (server->count && server->count >= server->crowd - server->crowd / 8 - 1))
		return;
	server->crowd = 0;
	snprintf(text, sizeof(text), "%u programs are attached, and more are let in again",
		 server->count);
	notify(server, text);
}

static void keep_reserve(struct sim_fabric_server *server)
{
	if (server->reserve_fd < 0)
		server->reserve_fd = fcntl(server->listen_fd, F_DUPFD_CLOEXEC, 0);
}

/* ---- clients that come and go ---- */

static void end_client(struct sim_fabric_server *server, struct sim_fabric_client *client)
{
	sim_fabric_client_leave(client); /* which may be news to itself */
	drop_ready(server, client);
	take_out(&server->clients, client);
	server->count--;
	sim_fabric_client_destroy(client);
	keep_reserve(server);
	note_room(server);
	listen_on(server, true);
}

static int add_client(struct sim_fabric_server *server, int fd, uint64_t now)
{
	struct sim_fabric_client *client = sim_fabric_client_create(&server->host, fd, now);
	int error;

	if (!client)
		return -ENOMEM;
	client->interest = EPOLLIN;
	error = watch(server, EPOLL_CTL_ADD, fd, EPOLLIN, client);
	append(&server->clients, client);
	server->count++;
	if (!error && server->count > server->options.client_limit) {
		sim_fabric_client_refuse(client, -EUSERS,
					 "%u programs are attached, and no more are let in",
					 server->options.client_limit);
		error = -EUSERS;
	}
	if (error)
		end_client(server, client);
	return error;
}

/* By the descriptor that is kept for that. Its program is told why, so that it does not wait. */
static int refuse_next(struct sim_fabric_server *server, int lack, uint64_t now)
{
	struct sim_fabric_client *client;
	char text[SIM_ATTACH_TEXT];
	int fd;

	if (server->reserve_fd < 0)
		return lack;
	close(server->reserve_fd);
	server->reserve_fd = -1;
	fd = sim_channel_accept(server->listen_fd);
	if (fd < 0) {
		keep_reserve(server);
		return fd;
	}
	explain_crowd(server, lack, text, sizeof(text));
	note_crowd(server, text);
	client = sim_fabric_client_create(&server->host, fd, now);
	if (client) {
		sim_fabric_client_refuse(client, lack, "%s", text);
		sim_fabric_client_destroy(client);
	} else {
		close(fd);
	}
	keep_reserve(server);
	return 0;
}

static void accept_clients(struct sim_fabric_server *server, uint64_t now)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = sim_channel_accept(server->listen_fd);
		int error = fd;

		if (fd >= 0)
			error = add_client(server, fd, now);
		else if (fd == -EMFILE || fd == -ENFILE)
			error = refuse_next(server, fd, now);
		if (fd >= 0 && error == -ENOMEM)
			close(fd);
		if (fd >= 0 || !error)
			continue;
		if (error != -EAGAIN) {
			listen_on(server, false); /* until somebody goes, or then */
			server->listen_at = now + ACCEPT_AGAIN;
		}
		return;
	}
}

static void run_client(struct sim_fabric_server *server, struct sim_fabric_client *client)
{
	bool more = sim_fabric_client_run(client);

	if (client->error) {
		end_client(server, client);
		return;
	}
	update_interest(server, client);
	server->awaiting |= client->awaiting;
	if (more)
		make_ready(server, client);
}

/* Once round: those that are ready anew have their turn after the fabric had its own. */
static void run_clients(struct sim_fabric_server *server)
{
	struct sim_fabric_client *last = NULL;

	for (struct sim_fabric_client *at = server->ready; at; at = at->next_ready)
		last = at;
	while (last) {
		struct sim_fabric_client *client = take_ready(server);

		if (client == last)
			last = NULL;
		run_client(server, client);
	}
}

static void take_epoll_event(struct sim_fabric_server *server, const struct epoll_event *event,
			     uint64_t now)
{
	struct sim_fabric_client *client = event->data.ptr;

	if (event->data.ptr == server->host.fabric)
		return; /* is looked at anyway */
	if (event->data.ptr == &server->listen_fd) {
		accept_clients(server, now);
		return;
	}
	/* Gone, and not to be read from before something else has happened: it is over now. */
	if ((event->events & (EPOLLHUP | EPOLLERR)) && !(client->interest & EPOLLIN) &&
	    !client->error)
		client->error = -EPIPE;
	client->readable |= (event->events & ~(uint32_t)EPOLLOUT) != 0;
	make_ready(server, client);
}

/* It may have found it out by now. */
static void resume_awaiting(struct sim_fabric_server *server)
{
	struct sim_fabric_client *client = server->awaiting ? server->clients.first : NULL;

	server->awaiting = false;
	for (; client; client = client->next)
		if (client->awaiting)
			make_ready(server, client);
}

/* The longest connected comes first, so that the search ends with the first that has time left. */
static const struct sim_fabric_client *find_silent(const struct sim_fabric_server *server)
{
	const struct sim_fabric_client *client = server->clients.first;

	while (client && client->greeted)
		client = client->next;
	return client;
}

static void end_silent(struct sim_fabric_server *server, uint64_t now)
{
	struct sim_fabric_client *client = server->clients.first;

	for (; client && client->since + server->options.greeting_time <= now;
	     client = client->next) {
		if (!client->greeted && !client->error) {
			sim_fabric_client_refuse(client, -ETIMEDOUT, "HELLO did not come in time");
			make_ready(server, client);
		}
	}
}

static bool reap(void *context, uint32_t node)
{
	struct sim_fabric_server *server = context;
	struct sim_fabric_client *client = server->clients.first;
	bool reaped = false;

	for (; client; client = client->next) {
		struct pollfd fd = {.fd = client->fd};

		if (client->node != node || !client->transport || poll(&fd, 1, 0) != 1 ||
		    !(fd.revents & POLLHUP))
			continue;
		sim_fabric_client_leave(client);
		make_ready(server, client);
		reaped = true;
	}
	return reaped;
}

/* ---- running ---- */

int sim_fabric_server_fd(const struct sim_fabric_server *server)
{
	return server->epoll_fd;
}

uint64_t sim_fabric_server_deadline(const struct sim_fabric_server *server)
{
	uint64_t fabric = sim_fabric_deadline(server->host.fabric), silent = ACM_NEVER;
	const struct sim_fabric_client *client = find_silent(server);

	if (server->ready)
		return 0;
	if (!server->listening && server->listen_at < fabric)
		fabric = server->listen_at;
	if (client)
		silent = client->since + server->options.greeting_time;
	return fabric < silent ? fabric : silent;
}

int sim_fabric_server_process(struct sim_fabric_server *server, uint64_t now)
{
	struct epoll_event events[EVENTS];
	int error = sim_fabric_process(server->host.fabric, now), count;

	if (error)
		return error;
	resume_awaiting(server);
	if (!server->listening && server->listen_at <= now)
		listen_on(server, true);
	count = epoll_wait(server->epoll_fd, events, EVENTS, 0);
	for (int i = 0; i < count; i++)
		take_epoll_event(server, &events[i], now);
	end_silent(server, now);
	run_clients(server);
	return 0;
}

/* ---- what happens to nodes ---- */

static void end_node(struct sim_fabric_server *server, uint32_t node, const char *happened)
{
	struct sim_fabric_client *client = server->clients.first;

	for (; client; client = client->next) {
		if (client->node != node || client->error)
			continue;
		sim_fabric_client_refuse(client, -EHOSTDOWN, "%s was %s by a fault",
					 server->host.topology->nodes[node].name, happened);
		client->paused = false;
		make_ready(server, client);
	}
}

void sim_fabric_server_stop_node(struct sim_fabric_server *server, uint32_t node)
{
	server->stopped[node] = true;
	end_node(server, node, "stopped");
}

void sim_fabric_server_start_node(struct sim_fabric_server *server, uint32_t node)
{
	server->stopped[node] = false;
}

void sim_fabric_server_restart_node(struct sim_fabric_server *server, uint32_t node)
{
	end_node(server, node, "restarted");
	server->stopped[node] = false;
}

static void set_paused(struct sim_fabric_server *server, uint32_t node, bool paused)
{
	struct sim_fabric_client *client = server->clients.first;

	for (; client; client = client->next) {
		if (client->node != node || client->paused == paused)
			continue;
		client->paused = paused;
		make_ready(server, client);
	}
}

void sim_fabric_server_pause_node(struct sim_fabric_server *server, uint32_t node)
{
	set_paused(server, node, true);
}

void sim_fabric_server_resume_node(struct sim_fabric_server *server, uint32_t node)
{
	set_paused(server, node, false);
}

/* ---- making and ending ---- */

static int no_fault(void *context, const char *text, char *why, size_t size)
{
	(void)context;
	(void)text;
	snprintf(why, size, "this server brings about no faults");
	return -EOPNOTSUPP;
}

static int open_socket(struct sim_fabric_server *server, char *why, size_t size)
{
	const char *path = server->options.path;
	struct stat status;
	int fd = sim_channel_listen(path, server->options.mode, why, size);

	if (fd < 0)
		return fd;
	server->listen_fd = fd;
	server->path = strdup(path);
	if (!server->path || lstat(path, &status)) {
		snprintf(why, size, "cannot serve the socket %s: %s", path,
			 strerror(server->path ? errno : ENOMEM));
		return server->path ? -errno : -ENOMEM;
	}
	server->device = status.st_dev;
	server->inode = status.st_ino;
	return 0;
}

static int open_watch(struct sim_fabric_server *server, char *why, size_t size)
{
	int error = 0;

	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll_fd < 0)
		error = -errno;
	if (!error)
		error = watch(server, EPOLL_CTL_ADD, server->listen_fd, EPOLLIN,
			      &server->listen_fd);
	if (!error)
		error = watch(server, EPOLL_CTL_ADD, sim_fabric_fd(server->host.fabric), EPOLLIN,
			      server->host.fabric);
	server->listening = true;
	keep_reserve(server);
	if (!error && server->reserve_fd < 0)
		error = -errno;
	if (error)
		snprintf(why, size, "the fabric cannot be served: %s", strerror(-error));
	return error;
}

int sim_fabric_server_create(const struct sim_topology *topology, struct sim_fabric *fabric,
			     const struct sim_fabric_server_options *options,
			     struct sim_fabric_server **server, char *why, size_t size)
{
	struct sim_fabric_server *made = calloc(1, sizeof(*made));
	int error = -ENOMEM;

	if (made)
		made->stopped = calloc((size_t)topology->node_count + 1, sizeof(bool));
	if (!made || !made->stopped) {
		free(made);
		snprintf(why, size, "the fabric cannot be served: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	made->options = *options;
	made->epoll_fd = made->listen_fd = made->reserve_fd = -1;
	made->ready_end = &made->ready;
	made->host = (struct sim_fabric_host){.fabric = fabric,
					      .topology = topology,
					      .stopped = made->stopped,
					      .wake = make_ready,
					      .reap = reap,
					      .context = made,
					      .fault = options->fault ? options->fault : no_fault,
					      .fault_context = options->fault_context};
	error = open_socket(made, why, size);
	if (!error)
		error = open_watch(made, why, size);
	if (error) {
		sim_fabric_server_destroy(made);
		return error;
	}
	*server = made;
	return 0;
}

void sim_fabric_server_destroy(struct sim_fabric_server *server)
{
	struct stat status;

	server->crowd = 0; /* nobody is let in any more */
	while (server->clients.first)
		end_client(server, server->clients.first);
	if (server->path && !lstat(server->path, &status) && status.st_dev == server->device &&
	    status.st_ino == server->inode)
		unlink(server->path);
	if (server->listen_fd >= 0)
		close(server->listen_fd);
	if (server->reserve_fd >= 0)
		close(server->reserve_fd);
	if (server->epoll_fd >= 0)
		close(server->epoll_fd);
	free(server->path);
	free(server->stopped);
	free(server);
}
