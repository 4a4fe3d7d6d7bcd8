/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients of an ACM service on its Unix socket, as many as wanted, each with one request under way.
 * What fails ends the program with a sentence.
 */
#ifndef ACMITE_BENCH_SOCKET_LOAD_H
#define ACMITE_BENCH_SOCKET_LOAD_H

#include <acmite/wire.h>
#include <sys/types.h>
#include <time.h>

#define LOAD_CLIENTS_MAX   1000
#define LOAD_QUESTIONS_MAX 64

struct load_question {
	uint8_t bytes[ACM_CLIENT_REQUEST_MAX];
	size_t length;
};

struct load_server {
	const char *path;
	clockid_t cpu; /* the server's process, all its threads */
	int epoll;
	int count; /* clients, each with its place in fds */
	int fds[LOAD_CLIENTS_MAX];
	struct load_question questions[LOAD_QUESTIONS_MAX]; /* dealt out to the clients in turns */
	size_t question_count;
	size_t answer_length; /* of each of them */
};

struct load_sample {
	double rate; /* answers a second */
	double cpu;  /* the server's, ns a request */
};

_Noreturn void load_die(const char *what);
/* Waits for the server to be there. The socket blocks; what is not answered within a minute fails.
 */
int load_connect(const char *path);
/* `source` may be NULL: the service picks one. Both are names. */
void load_question_make(struct load_question *question, const char *source,
			const char *destination);
void load_send(int fd, const struct load_question *question);
/* Takes one answer, and returns its status. */
enum acm_status load_receive(int fd, size_t *length);

/* Of a process that runs. `path` stays the caller's. */
void load_open(struct load_server *server, const char *path, pid_t pid);
/* Asks once, so that it is cached, and has it asked by clients from then on. */
void load_add_question(struct load_server *server, const struct load_question *question);
void load_connect_up_to(struct load_server *server, int count);
/* The first `busy` clients ask, each again as soon as it has its answer, for a slice of time. */
struct load_sample load_measure(const struct load_server *server, int busy);

/*
 * Where the kernel would put programs is what differs most from one second to the next: the servers
 * on one processor, this program on another, or on the same when only one of them has something to
 * do at a time, as otherwise the waking of processors is measured. Nothing where there is only one.
 */
void load_pin_apart(const pid_t *servers, size_t count);
void load_pin_together(const pid_t *servers, size_t count);

#endif
