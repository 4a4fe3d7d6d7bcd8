/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cached resolutions through the Unix socket, against a bare echo server with the same bytes in and
 * out: turn by turn, so that what disturbs one disturbs the other. Of so many clients some are
 * busy: each asks again as soon as it has its answer.
 */
#include "figures.h"
#include "socket_load.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ROUNDS_MAX 101
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

static void print_row(const struct row *row, struct load_sample (*samples)[2], size_t rounds)
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
		const struct load_sample *ours = &samples[i][0];
		const struct load_sample *echo = &samples[i][1];

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

static void run(struct load_server servers[2], size_t rounds)
{
	for (size_t r = 0; r < ROWS; r++) {
		struct load_sample samples[ROUNDS_MAX][2];

		load_connect_up_to(&servers[0], rows[r].clients);
		load_connect_up_to(&servers[1], rows[r].clients);
		for (size_t round = 0; round < rounds; round++) {
			/* Who goes first changes, so that neither always follows the other. */
			size_t first = round % 2;

			samples[round][first] = load_measure(&servers[first], rows[r].busy);
			samples[round][!first] = load_measure(&servers[!first], rows[r].busy);
		}
		print_row(&rows[r], samples, rounds);
	}
}

static void add_questions(struct load_server *server)
{
	for (int node = FIRST_NODE; node <= LAST_NODE; node++) {
		struct load_question question;
		char name[16];

		snprintf(name, sizeof(name), "node%02d", node);
		load_question_make(&question, NULL, name);
		load_add_question(server, &question);
	}
}

static pid_t start_echo(const char *program, const char *path, const struct load_server *like)
{
	char sizes[2][16];
	pid_t child;

	snprintf(sizes[0], sizeof(sizes[0]), "%zu", like->questions[0].length);
	snprintf(sizes[1], sizeof(sizes[1]), "%zu", like->answer_length);
	child = fork();
	if (child < 0)
		load_die("fork");
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl(program, program, path, sizes[0], sizes[1], (char *)NULL);
	load_die(program);
}

static void open_echo(struct load_server *echo, const char *path, pid_t pid,
		      const struct load_server *like)
{
	load_open(echo, path, pid);
	memcpy(echo->questions, like->questions, sizeof(echo->questions));
	echo->question_count = like->question_count;
	echo->answer_length = like->answer_length;
}

int main(int argc, char **argv)
{
	static struct load_server servers[2];
	char path[108];
	size_t rounds;
	pid_t pids[2];

	if (argc != 5) {
		fprintf(stderr, "Usage: bench_socket_rate ACMITED-SOCKET ACMITED-PID ECHO-SERVER"
				" ROUNDS\n");
		return EXIT_FAILURE;
	}
	rounds = strtoul(argv[4], NULL, 10);
	if (rounds < 1 || rounds > ROUNDS_MAX)
		load_die("at least one round, at most 101");
	if ((size_t)snprintf(path, sizeof(path), "%s.echo", argv[1]) >= sizeof(path))
		load_die("the socket's path is too long");
	pids[0] = (pid_t)strtol(argv[2], NULL, 10);
	load_open(&servers[0], argv[1], pids[0]);
	add_questions(&servers[0]);
	pids[1] = start_echo(argv[3], path, &servers[0]);
	open_echo(&servers[1], path, pids[1], &servers[0]);
	load_pin_apart(pids, 2);
	run(servers, rounds);
	kill(pids[1], SIGKILL);
	unlink(path);
	return EXIT_SUCCESS;
}
