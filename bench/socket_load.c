/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "socket_load.h"

#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define EVENTS_MAX  512
#define SLICE       (100 * ACM_NSEC_PER_MSEC)
#define WARM_UP     (20 * ACM_NSEC_PER_MSEC)
#define PATIENCE    (10 * ACM_NSEC_PER_SEC)
#define ANSWER_S    60
#define BUFFER_SIZE 4096

void load_die(const char *what)
{
	fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, what, errno ? ": " : "",
		errno ? strerror(errno) : "");
	exit(EXIT_FAILURE);
}

/* ---- one client ---- */

int load_connect(const char *path)
{
	const struct timeval patience = {.tv_sec = ANSWER_S};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	uint64_t begin = clock_now(CLOCK_MONOTONIC);
	int fd;

	if (strlen(path) >= sizeof(name.sun_path))
		load_die("a socket's path is too long");
	memcpy(name.sun_path, path, strlen(path));
	for (;;) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
			load_die("socket");
		if (!connect(fd, (struct sockaddr *)&name, sizeof(name)))
			return fd;
		close(fd);
		if (clock_now(CLOCK_MONOTONIC) - begin > PATIENCE)
			load_die(path);
		poll(NULL, 0, 1);
	}
}

static void name_address(struct acm_address *address, const char *name)
{
	if (acm_address_canonical(address, ACM_ADDRESS_NAME, (const uint8_t *)name, strlen(name)))
		load_die("a name is none");
}

void load_question_make(struct load_question *question, const char *source, const char *destination)
{
	struct acm_request request = {.kind = ACM_REQUEST_RESOLVE,
				      .opcode = ACM_OPCODE_RESOLVE,
				      .tid = 1,
				      .has_source = source != NULL};
	int length;

	if (source)
		name_address(&request.source, source);
	name_address(&request.destination, destination);
	length = acm_client_encode_request(&request, question->bytes, sizeof(question->bytes));
	if (length <= 0)
		load_die("a request cannot be encoded");
	question->length = (size_t)length;
}

void load_send(int fd, const struct load_question *question)
{
	if (send(fd, question->bytes, question->length, MSG_NOSIGNAL) != (ssize_t)question->length)
		load_die("a request was not sent");
}

enum acm_status load_receive(int fd, size_t *length)
{
	uint8_t data[BUFFER_SIZE];
	struct acm_reply reply;
	ssize_t got = recv(fd, data, sizeof(data), 0);

	if (got <= 0 || acm_client_decode_reply(data, (size_t)got, &reply))
		load_die("no answer came");
	*length = (size_t)got;
	return reply.status;
}

/* ---- many ---- */

void load_open(struct load_server *server, const char *path, pid_t pid)
{
	*server = (struct load_server){.path = path, .epoll = epoll_create1(EPOLL_CLOEXEC)};
	if (server->epoll < 0)
		load_die("epoll_create1");
	errno = clock_getcpuclockid(pid, &server->cpu);
	if (errno)
		load_die("a server's CPU clock");
}

void load_add_question(struct load_server *server, const struct load_question *question)
{
	int fd = load_connect(server->path);

	if (server->question_count == LOAD_QUESTIONS_MAX)
		load_die("too many questions");
	load_send(fd, question);
	if (load_receive(fd, &server->answer_length) != ACM_STATUS_OK)
		load_die("the service cannot resolve all names");
	server->questions[server->question_count++] = *question;
	close(fd);
}

void load_connect_up_to(struct load_server *server, int count)
{
	for (; server->count < count; server->count++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)server->count};

		server->fds[server->count] = load_connect(server->path);
		if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->fds[server->count], &event))
			load_die("epoll_ctl");
	}
}

static void ask(const struct load_server *server, int client)
{
	load_send(server->fds[client], &server->questions[(size_t)client % server->question_count]);
}

static void take_answer(const struct load_server *server, int client)
{
	uint8_t data[BUFFER_SIZE];

	if (recv(server->fds[client], data, sizeof(data), 0) != (ssize_t)server->answer_length)
		load_die("an answer of another length came");
}

/* Takes what has come. Returns the number of answers; asks anew for each while `asking`. */
static uint64_t turn(const struct load_server *server, bool asking)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(server->epoll, events, EVENTS_MAX, 10000);

	if (count <= 0)
		load_die("no answer came for 10 s");
	for (int i = 0; i < count; i++) {
		take_answer(server, (int)events[i].data.u32);
		if (asking)
			ask(server, (int)events[i].data.u32);
	}
	return (uint64_t)count;
}

struct load_sample load_measure(const struct load_server *server, int busy)
{
	uint64_t begin = clock_now(CLOCK_MONOTONIC) + WARM_UP;
	uint64_t answers = 0;
	uint64_t left = (uint64_t)busy;
	uint64_t cpu;
	uint64_t now;
	struct load_sample sample;

	for (int i = 0; i < busy; i++)
		ask(server, i);
	while (clock_now(CLOCK_MONOTONIC) < begin)
		turn(server, true);
	cpu = clock_now(server->cpu);
	begin = clock_now(CLOCK_MONOTONIC);
	do {
		answers += turn(server, true);
		now = clock_now(CLOCK_MONOTONIC);
	} while (now - begin < SLICE);
	sample.cpu = (double)(clock_now(server->cpu) - cpu) / (double)answers;
	sample.rate = (double)answers / ((double)(now - begin) / 1e9);
	while (left)
		left -= turn(server, false);
	return sample;
}

/* ---- processors ---- */

static void pin(pid_t pid, size_t processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		load_die("sched_setaffinity");
}

static void pin_all(const pid_t *servers, size_t count, size_t own_processor)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	for (size_t i = 0; i < count; i++)
		pin(servers[i], 1);
	pin(0, own_processor);
}

void load_pin_apart(const pid_t *servers, size_t count)
{
	pin_all(servers, count, 0);
}

void load_pin_together(const pid_t *servers, size_t count)
{
	pin_all(servers, count, 1);
}
