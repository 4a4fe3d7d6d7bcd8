/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bench/side_by_side measures of two or three services that run side by side, each on a node
 * of its own partition of one served fabric. A service is written SOCKET,PID,SOURCE,DESTINATION: it
 * is SOURCE that asks, with its names SOURCE-0, SOURCE-1, ...; it asks for DESTINATION01-0 and so
 * on. Rows are printed as name, unit, one value for each service, then the ratio of the first to
 * the last: its median, and between what half of the rounds were; and the aim. Separated by tabs.
 */
#include "clock.h"
#include "figures.h"
#include "socket_load.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVICES_MAX 3
#define ROUNDS_MAX   101
#define NODES_MAX    50
#define DEAD_NODE    99
#define CLIENTS      8
#define PATIENCE_MS  60000

struct service {
	char *socket;
	pid_t pid;
	char *source;
	char *destination;
};

static struct service services[SERVICES_MAX];
static size_t service_count;

static unsigned long number(const char *text, unsigned long least, unsigned long most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	errno = 0;
	if (end == text || *end || value < least || value > most)
		load_die("a number in the arguments is out of range");
	return value;
}

static void take_service(char *text)
{
	struct service *service = &services[service_count++];
	char *pid;

	service->socket = strtok(text, ",");
	pid = strtok(NULL, ",");
	service->source = strtok(NULL, ",");
	service->destination = strtok(NULL, ",");
	if (!service->destination)
		load_die("a service is SOCKET,PID,SOURCE,DESTINATION");
	service->pid = (pid_t)number(pid, 1, INT32_MAX);
}

/* The service's name number `from` asks for a node's name number `to`. */
static void make_question(const struct service *service, size_t from, size_t node, size_t to,
			  struct load_question *question)
{
	char source[ACM_ADDRESS_MAX], destination[ACM_ADDRESS_MAX];

	snprintf(source, sizeof(source), "%s-%zu", service->source, from);
	snprintf(destination, sizeof(destination), "%s%02zu-%zu", service->destination, node, to);
	load_question_make(question, source, destination);
}

/* ---- rows ---- */

struct series {
	double values[SERVICES_MAX][ROUNDS_MAX];
	double ratios[ROUNDS_MAX];
	size_t rounds;
};

static void print_row(const char *name, const char *unit, struct series *series, const char *aim)
{
	double median;

	for (size_t round = 0; round < series->rounds; round++)
		series->ratios[round] =
			series->values[0][round] / series->values[service_count - 1][round];
	printf("%s\t%s", name, unit);
	for (size_t i = 0; i < service_count; i++)
		printf("\t%.6g", figures_median(series->values[i], series->rounds));
	median = figures_median(series->ratios, series->rounds); /* which sorts them */
	printf("\t%.3f\t%.3f\t%.3f\t%s\n", median, series->ratios[series->rounds / 4],
	       series->ratios[series->rounds - 1 - series->rounds / 4], aim);
	fflush(stdout);
}

/* ---- cached ---- */

#define NAMES_OF_EACH 8

static const struct {
	int clients;
	int busy;
	const char *name;
	const char *rate_aim;
} loads[] = {
	{1, 1, "1 client", ">= 1"},
	{16, 16, "16 clients", ">= 1"},
	{64, 64, "64 clients", ">= 1"},
	{256, 256, "256 clients", ">= 1"},
	{900, 900, "900 clients", ">= 1"},
	{900, 1, "900 clients, 1 busy", ">= 7"},
	{900, 16, "900 clients, 16 busy", ">= 1"},
};

static void measure_load(struct load_server *servers, size_t load, size_t rounds)
{
	static struct series rate, cpu;
	char name[80];

	rate.rounds = cpu.rounds = rounds;
	for (size_t i = 0; i < service_count; i++)
		load_connect_up_to(&servers[i], loads[load].clients);
	for (size_t round = 0; round < rounds; round++) {
		for (size_t turn = 0; turn < service_count; turn++) {
			size_t i = (turn + round) % service_count;
			struct load_sample sample = load_measure(&servers[i], loads[load].busy);

			rate.values[i][round] = sample.rate;
			cpu.values[i][round] = sample.cpu / 1000;
		}
	}
	snprintf(name, sizeof(name), "cached, %s: rate", loads[load].name);
	print_row(name, "/s", &rate, loads[load].rate_aim);
	snprintf(name, sizeof(name), "cached, %s: CPU per request", loads[load].name);
	print_row(name, "us", &cpu, "< 1");
}

static void rates(size_t nodes, size_t rounds)
{
	static struct load_server servers[SERVICES_MAX];
	pid_t pids[SERVICES_MAX];

	for (size_t i = 0; i < service_count; i++) {
		struct load_question question;

		pids[i] = services[i].pid;
		load_open(&servers[i], services[i].socket, pids[i]);
		for (size_t node = 1; node <= nodes; node++) {
			for (size_t to = 0; to < NAMES_OF_EACH; to++) {
				make_question(&services[i], 0, node, to, &question);
				load_add_question(&servers[i], &question);
			}
		}
	}
	for (size_t load = 0; load < sizeof(loads) / sizeof(loads[0]); load++) {
		(loads[load].busy == 1 ? load_pin_together : load_pin_apart)(pids, service_count);
		measure_load(servers, load, rounds);
	}
}

/* ---- cold ---- */

static double time_question(int fd, const struct load_question *question)
{
	uint64_t begin = clock_now(CLOCK_MONOTONIC);
	size_t length;

	load_send(fd, question);
	if (load_receive(fd, &length) != ACM_STATUS_OK)
		load_die("a name is not resolved");
	return (double)(clock_now(CLOCK_MONOTONIC) - begin) / 1000;
}

/* One name after the other, in turns. Each round's value is the median of its nodes. */
static void measure_cold(const char *what, const char *aim, size_t nodes, size_t rounds,
			 size_t first_from, size_t from_step, size_t first_to)
{
	static struct series latency;
	int fds[SERVICES_MAX];
	char name[80];

	latency.rounds = rounds;
	for (size_t i = 0; i < service_count; i++)
		fds[i] = load_connect(services[i].socket);
	for (size_t round = 0; round < rounds; round++) {
		double of_nodes[SERVICES_MAX][NODES_MAX];

		for (size_t node = 1; node <= nodes; node++) {
			for (size_t turn = 0; turn < service_count; turn++) {
				size_t i = (turn + node + round) % service_count;
				struct load_question question;

				make_question(&services[i], first_from + round * from_step, node,
					      first_to + round, &question);
				of_nodes[i][node - 1] = time_question(fds[i], &question);
			}
		}
		for (size_t i = 0; i < service_count; i++)
			latency.values[i][round] = figures_median(of_nodes[i], nodes);
	}
	for (size_t i = 0; i < service_count; i++)
		close(fds[i]);
	snprintf(name, sizeof(name), "cold name, %s", what);
	print_row(name, "us", &latency, aim);
}

/* Names 1 to `rounds` of the asker are new to those who are asked for theirs; name 0 no more. */
static void cold(const char *route, size_t nodes, size_t rounds)
{
	char what[64];

	snprintf(what, sizeof(what), "route from %s: new to each other", route);
	measure_cold(what, "<= 0.6", nodes, rounds, 1, 1, 1);
	snprintf(what, sizeof(what), "route from %s: asker known", route);
	measure_cold(what, "", nodes, rounds, 1, 0, rounds + 1);
}

/* ---- many cold ones ---- */

/* Takes one answer from any of the connections that are not negative; returns whose. */
static size_t await_any(const int *fds, size_t count)
{
	struct pollfd polled[NODES_MAX];
	size_t length;

	for (size_t i = 0; i < count; i++)
		polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	if (poll(polled, (nfds_t)count, PATIENCE_MS) <= 0)
		load_die("no answer came for a minute");
	for (size_t i = 0; i < count; i++) {
		if (!polled[i].revents)
			continue;
		if (load_receive(fds[i], &length) != ACM_STATUS_OK)
			load_die("a name is not resolved");
		return i;
	}
	load_die("poll");
}

/* Each of eight clients asks for every node's name, beginning at another; prints ms until all is
 * known. */
static void crowd(size_t nodes, size_t name)
{
	const struct service *service = &services[0];
	struct load_question question;
	size_t asked[CLIENTS];
	int fds[CLIENTS];
	uint64_t begin;
	size_t left = CLIENTS * nodes;

	for (size_t i = 0; i < CLIENTS; i++)
		fds[i] = load_connect(service->socket);
	begin = clock_now(CLOCK_MONOTONIC);
	for (size_t i = 0; i < CLIENTS; i++) {
		make_question(service, name, 1 + i * nodes / CLIENTS, name, &question);
		load_send(fds[i], &question);
		asked[i] = 1;
	}
	for (; left; left--) {
		size_t i = await_any(fds, CLIENTS);

		if (asked[i] == nodes)
			continue;
		make_question(service, name, 1 + (i * nodes / CLIENTS + asked[i]++) % nodes, name,
			      &question);
		load_send(fds[i], &question);
	}
	printf("%.3f\n", (double)(clock_now(CLOCK_MONOTONIC) - begin) / 1e6);
}

/* A name that nobody has is asked for first, then all but one of the nodes; prints ms until these
 * are known. */
static void dead(size_t nodes, size_t name)
{
	const struct service *service = &services[0];
	struct load_question question;
	int fds[NODES_MAX];
	size_t left = nodes - 1;
	uint64_t begin;
	int dead_one;

	dead_one = load_connect(service->socket);
	for (size_t i = 0; i < left; i++)
		fds[i] = load_connect(service->socket);
	make_question(service, name, DEAD_NODE, name, &question);
	begin = clock_now(CLOCK_MONOTONIC);
	load_send(dead_one, &question);
	for (size_t i = 0; i < left; i++) {
		make_question(service, name, 1 + i, name, &question);
		load_send(fds[i], &question);
	}
	for (size_t i; left; left--) {
		i = await_any(fds, nodes - 1);
		close(fds[i]);
		fds[i] = -1;
	}
	printf("%.3f\n", (double)(clock_now(CLOCK_MONOTONIC) - begin) / 1e6);
}

/* Has the service learn names `first` to `last` of every node, by one client for each node. */
static void learn(size_t nodes, size_t first, size_t last)
{
	const struct service *service = &services[0];
	struct load_question question;
	size_t next[NODES_MAX];
	int fds[NODES_MAX];
	size_t left = nodes * (last - first + 1);

	for (size_t i = 0; i < nodes; i++) {
		fds[i] = load_connect(service->socket);
		next[i] = first;
		make_question(service, 0, 1 + i, next[i]++, &question);
		load_send(fds[i], &question);
	}
	for (; left; left--) {
		size_t i = await_any(fds, nodes);

		if (next[i] > last)
			continue;
		make_question(service, 0, 1 + i, next[i]++, &question);
		load_send(fds[i], &question);
	}
}

/* ---- commands ---- */

/* Whether it is this command, with so many arguments before its services, which are taken. */
static bool command_is(int argc, char **argv, const char *name, int arguments)
{
	int first = 2 + arguments;

	if (argc <= first || argc > first + SERVICES_MAX || strcmp(argv[1], name))
		return false;
	for (int i = first; i < argc; i++)
		take_service(argv[i]);
	return true;
}

static size_t nodes_in(const char *text)
{
	return number(text, 1, NODES_MAX);
}

static size_t rounds_in(const char *text)
{
	return number(text, 1, ROUNDS_MAX);
}

static size_t name_in(const char *text)
{
	return number(text, 0, 99999);
}

int main(int argc, char **argv)
{
	if (command_is(argc, argv, "rates", 2)) {
		rates(nodes_in(argv[2]), rounds_in(argv[3]));
	} else if (command_is(argc, argv, "cold", 3)) {
		cold(argv[2], nodes_in(argv[3]), rounds_in(argv[4]));
	} else if (command_is(argc, argv, "crowd", 2)) {
		crowd(nodes_in(argv[2]), name_in(argv[3]));
	} else if (command_is(argc, argv, "dead", 2)) {
		dead(nodes_in(argv[2]), name_in(argv[3]));
	} else if (command_is(argc, argv, "learn", 3)) {
		learn(nodes_in(argv[2]), name_in(argv[3]), name_in(argv[4]));
	} else {
		fprintf(stderr, "Usage: bench_side_by_side rates NODES ROUNDS SERVICE...\n"
				"       bench_side_by_side cold ROUTE NODES ROUNDS SERVICE...\n"
				"       bench_side_by_side crowd NODES NAME SERVICE\n"
				"       bench_side_by_side dead NODES NAME SERVICE\n"
				"       bench_side_by_side learn NODES FIRST LAST SERVICE\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
