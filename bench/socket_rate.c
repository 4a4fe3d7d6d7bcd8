/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cached resolutions through the Unix socket, against a bare echo server with the same bytes in and
 * out: turn by turn, so that what disturbs one disturbs the other. Of so many clients some are
 * busy: each asks again as soon as it has its answer.
 */
#include "clock.h"
#include "figures.h"

#include <acmite/client.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 1000
#define EVENTS_MAX  512
#define SLICE       (100 * ACM_NSEC_PER_MSEC)
#define WARM_UP     (20 * ACM_NSEC_PER_MSEC)
#define PATIENCE    (10 * ACM_NSEC_PER_SEC)
#define BUFFER_SIZE 4096
#define ROUNDS_MAX  101
/* Nodes of topologies/two-tier.yaml, all but the daemon's own. */
#define FIRST_NODE 2
#define LAST_NODE  32

static const struct row {
	int clients;
	int busy;
	const char *name;
} rows[] = {
	{1, 1, "1 client"},
	{64, 64, "64 clients"},
	{1000, 1000, "1,000 clients"},
	{1000, 1, "1,000 clients, 1 busy"},
	{1000, 16, "1,000 clients, 16 busy"},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

struct server {
	const char *path;
	clockid_t cpu;
	int epoll;
	int count;
	int fds[CLIENTS_MAX];
};

struct sample {
	double rate;
	double cpu; /* ns a request */
};

/* ACM_CLIENT_REQUEST_MAX is more than one record takes. */
static uint8_t requests[LAST_NODE + 1][ACM_CLIENT_REQUEST_MAX];
static size_t request_length;
static size_t answer_length;

static void die(const char *what)
{
	fprintf(stderr, "bench_socket_rate: %s%s%s\n", what, errno ? ": " : "",
		errno ? strerror(errno) : "");
	exit(EXIT_FAILURE);
}

static int connect_to(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	uint64_t begin = clock_now(CLOCK_MONOTONIC);
	int fd;

	if (strlen(path) >= sizeof(name.sun_path))
		die("a socket's path is too long");
	memcpy(name.sun_path, path, strlen(path));
	for (;;) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			die("socket");
		if (!connect(fd, (struct sockaddr *)&name, sizeof(name)))
			return fd;
		close(fd);
		/* The echo server has just been started. */
		if (clock_now(CLOCK_MONOTONIC) - begin > PATIENCE)
			die(path);
		poll(NULL, 0, 1);
	}
}

static void connect_up_to(struct server *server, int count)
{
	for (; server->count < count; server->count++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)server->count};

		server->fds[server->count] = connect_to(server->path);
		if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->fds[server->count], &event))
			die("epoll_ctl");
	}
}

static void ask(const struct server *server, int client)
{
	int node = FIRST_NODE + client % (LAST_NODE - FIRST_NODE + 1);

	if (send(server->fds[client], requests[node], request_length, MSG_NOSIGNAL) !=
	    (ssize_t)request_length)
		die("a request was not sent");
}

static void take_answer(const struct server *server, int client)
{
	uint8_t data[BUFFER_SIZE];

	if (recv(server->fds[client], data, sizeof(data), 0) != (ssize_t)answer_length)
		die("an answer of another length came");
}

/* Takes what has come. Returns the number of answers; asks anew for each while `asking`. */
static uint64_t turn(const struct server *server, bool asking)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(server->epoll, events, EVENTS_MAX, 10000);

	if (count <= 0)
		die("no answer came for 10 s");
	for (int i = 0; i < count; i++) {
		take_answer(server, (int)events[i].data.u32);
		if (asking)
			ask(server, (int)events[i].data.u32);
	}
	return (uint64_t)count;
}

static struct sample measure(const struct server *server, int busy)
{
	uint64_t begin = clock_now(CLOCK_MONOTONIC) + WARM_UP;
	uint64_t answers = 0;
	uint64_t left = (uint64_t)busy;
	uint64_t cpu;
	uint64_t now;
	struct sample sample;

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

static void print_row(const struct row *row, struct sample (*samples)[2], size_t rounds)
{
	double values[6][ROUNDS_MAX];
	char name[80];
	static const struct {
		const char *what, *unit, *aim;
	} figures[] = {
		{"rate, of echo's", "", ">= 0.95"},
		{"CPU per request, of echo's", "", "<= 1.1"},
		{"rate", "/s", ""},
		{"echo's rate", "/s", ""},
		{"CPU per request", "us", ""},
		{"echo's CPU per request", "us", ""},
	};

	for (size_t i = 0; i < rounds; i++) {
		const struct sample *ours = &samples[i][0];
		const struct sample *echo = &samples[i][1];

		values[0][i] = ours->rate / echo->rate;
		values[1][i] = ours->cpu / echo->cpu;
		values[2][i] = ours->rate;
		values[3][i] = echo->rate;
		values[4][i] = ours->cpu / 1000;
		values[5][i] = echo->cpu / 1000;
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		snprintf(name, sizeof(name), "socket, %s: %s", row->name, figures[i].what);
		figures_print(name, figures_median(values[i], rounds), figures[i].unit,
			      figures[i].aim);
	}
}

static void run(struct server servers[2], size_t rounds)
{
	for (size_t r = 0; r < ROWS; r++) {
		struct sample samples[ROUNDS_MAX][2];

		connect_up_to(&servers[0], rows[r].clients);
		connect_up_to(&servers[1], rows[r].clients);
		for (size_t round = 0; round < rounds; round++) {
			/* Who goes first changes, so that neither always follows the other. */
			size_t first = round % 2;

			samples[round][first] = measure(&servers[first], rows[r].busy);
			samples[round][!first] = measure(&servers[!first], rows[r].busy);
		}
		print_row(&rows[r], samples, rounds);
	}
}

/* ---- what is asked, and how long the answer is ---- */

static void encode_requests(void)
{
	for (int node = FIRST_NODE; node <= LAST_NODE; node++) {
		struct acm_request request = {.kind = ACM_REQUEST_RESOLVE, .tid = (uint64_t)node};
		char name[16];
		int length = snprintf(name, sizeof(name), "node%02d", node);

		acm_address_canonical(&request.destination, ACM_ADDRESS_NAME, (uint8_t *)name,
				      (size_t)length);
		length =
			acm_client_encode_request(&request, requests[node], sizeof(requests[node]));
		if (length <= 0)
			die("a request cannot be encoded");
		request_length = (size_t)length;
	}
}

/* Asks once for every node: now they are cached. */
static void warm(const char *path)
{
	int fd = connect_to(path);

	for (int node = FIRST_NODE; node <= LAST_NODE; node++) {
		uint8_t data[BUFFER_SIZE];
		struct acm_reply reply;
		ssize_t length;

		if (send(fd, requests[node], request_length, MSG_NOSIGNAL) < 0)
			die("a request was not sent");
		length = recv(fd, data, sizeof(data), 0);
		if (length <= 0 || acm_client_decode_reply(data, (size_t)length, &reply) ||
		    reply.status != ACM_STATUS_OK)
			die("acmited cannot resolve all nodes of its fabric");
		answer_length = (size_t)length;
	}
	close(fd);
}

static pid_t start_echo(const char *program, const char *path)
{
	char sizes[2][16];
	pid_t child;

	snprintf(sizes[0], sizeof(sizes[0]), "%zu", request_length);
	snprintf(sizes[1], sizeof(sizes[1]), "%zu", answer_length);
	child = fork();
	if (child < 0)
		die("fork");
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl(program, program, path, sizes[0], sizes[1], (char *)NULL);
	die(program);
	return -1;
}

/*
 * The servers on one processor, this program on another: where the kernel would put them is what
 * differs most from one second to the next.
 */
static void pin(pid_t pid, size_t processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		die("sched_setaffinity");
}

static void open_server(struct server *server, const char *path, pid_t pid)
{
	*server = (struct server){.path = path, .epoll = epoll_create1(EPOLL_CLOEXEC)};
	if (server->epoll < 0)
		die("epoll_create1");
	errno = clock_getcpuclockid(pid, &server->cpu);
	if (errno)
		die("a server's CPU clock");
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		pin(pid, 1);
}

int main(int argc, char **argv)
{
	static struct server servers[2];
	char path[108];
	size_t rounds;
	pid_t echo;

	if (argc != 5) {
		fprintf(stderr, "Usage: bench_socket_rate ACMITED-SOCKET ACMITED-PID ECHO-SERVER"
				" ROUNDS\n");
		return EXIT_FAILURE;
	}
	rounds = strtoul(argv[4], NULL, 10);
	if (rounds < 1 || rounds > ROUNDS_MAX)
		die("at least one round, at most 101");
	encode_requests();
	warm(argv[1]);
	if ((size_t)snprintf(path, sizeof(path), "%s.echo", argv[1]) >= sizeof(path))
		die("the socket's path is too long");
	echo = start_echo(argv[3], path);
	open_server(&servers[0], argv[1], (pid_t)strtol(argv[2], NULL, 10));
	open_server(&servers[1], path, echo);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		pin(0, 0);
	run(servers, rounds);
	kill(echo, SIGKILL);
	unlink(path);
	return EXIT_SUCCESS;
}
