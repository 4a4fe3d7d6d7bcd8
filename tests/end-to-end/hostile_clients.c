/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Usage: hostile_clients SOCKET
 * Plays clients of every bad kind against a daemon that serves node01 of two-tier.yaml. After each
 * of them a client that behaves asks and must be answered as before.
 */
#include "hostile_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 30000 /* against hanging */
#define CROWD       2000
#define LURKERS     50 /* clients that hold half a message all the time */
#define VANISHING   300
#define PIPELINED   1000

static struct sockaddr_un service = {.sun_family = AF_UNIX};
static const char *doing = "starting";
static int good_client = -1;
static uint16_t good_dlid; /* what node17 resolves to */

static _Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "hostile_clients: %s: ", doing);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

/* ---- a client's means ---- */

static int open_client(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&service, sizeof(service)))
		die("cannot connect: %s", strerror(errno));
	return fd;
}

/* Bytes sent; fewer only when the other side has closed. */
static size_t put(int fd, const uint8_t *bytes, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t sent = send(fd, bytes + done, length - done, MSG_NOSIGNAL);

		if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
			break;
		if (sent < 0)
			die("cannot send: %s", strerror(errno));
		done += (size_t)sent;
	}
	return done;
}

/* Bytes received up to `length`; fewer only at the end of the stream. */
static size_t get(int fd, uint8_t *bytes, size_t length)
{
	size_t done = 0;

	while (done < length) {
		struct pollfd readable = {.fd = fd, .events = POLLIN};
		ssize_t got;

		if (poll(&readable, 1, PATIENCE_MS) != 1)
			die("the service does not answer");
		got = recv(fd, bytes + done, length - done, 0);
		if (got < 0 && errno != ECONNRESET)
			die("cannot receive: %s", strerror(errno));
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* False: the stream has ended instead. */
static bool get_answer(int fd, struct acm_reply *reply)
{
	uint8_t bytes[ACM_CLIENT_REPLY_MAX];
	size_t got = get(fd, bytes, ACM_CLIENT_HEADER_LENGTH);
	int length;

	if (!got)
		return false;
	length = acm_client_reply_frame(bytes, got);
	if (length < (int)got || (size_t)length > sizeof(bytes))
		die("an answer of %zu bytes cannot be framed", got);
	got += get(fd, bytes + got, (size_t)length - got);
	if (got != (size_t)length || acm_client_decode_reply(bytes, got, reply))
		die("an answer of %zu bytes is none", got);
	return true;
}

static void expect_end(int fd)
{
	uint8_t byte;

	if (get(fd, &byte, 1))
		die("the connection should have ended");
}

static void put_message(int fd, const struct message *message)
{
	put(fd, message->bytes, message->length);
}

/* Asks for node17 and takes the answer. */
static void expect_service(int fd, uint64_t tid)
{
	struct message message;
	struct acm_reply reply;

	message_resolve(&message, "node17", tid);
	put_message(fd, &message);
	if (!get_answer(fd, &reply))
		die("a client that behaves was closed");
	if (reply.status != ACM_STATUS_OK || reply.tid != tid)
		die("a client that behaves gets status %d", reply.status);
	if (!good_dlid)
		good_dlid = reply.path.dlid;
	if (reply.path.dlid != good_dlid)
		die("node17 is at LID %u now, was at %u", reply.path.dlid, good_dlid);
}

static void others_are_unharmed(void)
{
	static uint64_t tid;

	expect_service(good_client, ++tid);
}

/* ---- messages as they should not be ---- */

static void expect_outcome(int fd, const struct hostile_message *hostile, uint64_t tid)
{
	struct acm_reply reply;

	if (!get_answer(fd, &reply))
		die("closed without an answer");
	if (reply.status != hostile->status)
		die("status %d, expected %d", reply.status, hostile->status);
	if (reply.tid != tid)
		die("the answer has another tid");
	if (hostile->aftermath == CLIENT_IS_CLOSED)
		expect_end(fd);
	else
		expect_service(fd, 77);
}

static uint64_t tid_of(const struct message *message)
{
	uint64_t tid;

	memcpy(&tid, message->bytes + 8, sizeof(tid));
	return tid;
}

static void send_whole(const struct hostile_message *hostile, const struct message *message)
{
	int fd = open_client();

	put_message(fd, message);
	expect_outcome(fd, hostile, tid_of(message));
	close(fd);
	others_are_unharmed();
}

/* The service has read the first part when it has answered another client's later request. */
static void send_in_two(const struct hostile_message *hostile, const struct message *message,
			size_t first)
{
	int fd = open_client();

	put(fd, message->bytes, first);
	others_are_unharmed();
	put(fd, message->bytes + first, message->length - first);
	expect_outcome(fd, hostile, tid_of(message));
	close(fd);
}

static void vanish_after(const struct message *message, size_t length)
{
	int fd = open_client();

	put(fd, message->bytes, length);
	close(fd);
	others_are_unharmed();
}

/* Sends no more but waits: what was whole is answered, then the connection ends. */
static void end_after(const struct message *message, size_t length)
{
	struct acm_reply reply;
	int fd = open_client();

	put(fd, message->bytes, length);
	shutdown(fd, SHUT_WR);
	if (get_answer(fd, &reply))
		expect_end(fd);
	close(fd);
	others_are_unharmed();
}

static void play_messages(void)
{
	for (unsigned int i = 0; i < hostile_message_count; i++) {
		const struct hostile_message *hostile = &hostile_messages[i];
		struct message message;

		doing = hostile->what;
		hostile->make(&message);
		send_whole(hostile, &message);
		for (size_t cut = 1; cut < message.length; cut++)
			send_in_two(hostile, &message, cut);
		for (size_t cut = 0; cut <= message.length; cut++) {
			vanish_after(&message, cut);
			end_after(&message, cut);
		}
	}
}

static void play_good_message_cut(void)
{
	static const struct hostile_message good = {.status = ACM_STATUS_OK,
						    .aftermath = CLIENT_STAYS};
	struct message message;

	doing = "a good message, cut";
	message_resolve(&message, "node17", 9);
	for (size_t cut = 1; cut < message.length; cut++)
		send_in_two(&good, &message, cut);
	for (size_t cut = 0; cut <= message.length; cut++) {
		vanish_after(&message, cut);
		end_after(&message, cut);
	}
}

/* Any answer will do, or an end of the stream, but not silence. All at once: some names take time.
 */
static void play_altered_bytes(void)
{
	static const uint8_t alterations[] = {0x01, 0x20, 0x80, 0xff};
	int fds[sizeof(alterations) * 160];
	struct message message, altered;
	size_t count = 0;

	doing = "a message with one byte altered";
	message_resolve(&message, "node17", 9);
	for (size_t at = 0; at < message.length; at++) {
		for (size_t i = 0; i < sizeof(alterations); i++) {
			altered = message;
			altered.bytes[at] ^= alterations[i];
			fds[count] = open_client();
			put_message(fds[count], &altered);
			shutdown(fds[count++], SHUT_WR);
			others_are_unharmed();
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct acm_reply reply;

		while (get_answer(fds[i], &reply))
			; /* with another length it may be several messages */
		close(fds[i]);
	}
	others_are_unharmed();
}

/* ---- clients as they should not be ---- */

static void play_vanishing(void)
{
	struct message message;
	char name[32];

	doing = "clients that ask for what takes time, and vanish";
	for (int i = 0; i < VANISHING; i++) {
		int fd = open_client();

		snprintf(name, sizeof(name), "nobody%d", i % 10);
		message_resolve(&message, name, 1);
		put_message(fd, &message);
		close(fd);
		others_are_unharmed();
	}
}

static void play_pipelined(void)
{
	struct message message;
	struct acm_reply reply;
	uint8_t *all = malloc(PIPELINED * sizeof(message.bytes));
	size_t length = 0;
	int fd = open_client();

	doing = "many messages in one";
	if (!all)
		die("no memory");
	for (uint64_t tid = 1; tid <= PIPELINED; tid++) {
		message_resolve(&message, "node17", tid);
		memcpy(all + length, message.bytes, message.length);
		length += message.length;
	}
	put(fd, all, length);
	for (uint64_t tid = 1; tid <= PIPELINED; tid++)
		if (!get_answer(fd, &reply) || reply.tid != tid || reply.status)
			die("answer %llu is missing", (unsigned long long)tid);
	free(all);
	close(fd);
	others_are_unharmed();
}

/* Sends what goes. `sent_of_it` bytes of the last message are on their way, the rest is not. */
static unsigned int stuff(int fd, struct message *message, size_t *sent_of_it)
{
	unsigned int whole = 0;

	for (;;) {
		ssize_t sent = send(fd, message->bytes + *sent_of_it, message->length - *sent_of_it,
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EAGAIN)
			return whole;
		if (sent < 0)
			die("a slow reader was closed: %s", strerror(errno));
		*sent_of_it += (size_t)sent;
		if (*sent_of_it == message->length) {
			*sent_of_it = 0;
			whole++;
		}
	}
}

/*
 * Asks until the service takes no more of it: the socket still is full when others have been served
 * a few times. Returns the number of its whole requests.
 */
static unsigned int fill(int fd)
{
	struct message message;
	size_t sent_of_it = 0;
	unsigned int requests = 0, idle = 0;

	message_resolve(&message, "node17", 5);
	while (idle < 10) {
		unsigned int more = stuff(fd, &message, &sent_of_it);

		requests += more;
		idle = more ? 0 : idle + 1;
		others_are_unharmed();
	}
	return requests;
}

static void play_slow_reader(void)
{
	struct acm_reply reply;
	struct message message;
	unsigned int requests, answers = 0;
	int fd = open_client(), gone = open_client();

	doing = "a client that does not read";
	message_resolve(&message, "node17", 5);
	requests = fill(fd);
	fill(gone);
	close(gone); /* and one that never will */
	others_are_unharmed();
	doing = "a client that reads late";
	shutdown(fd, SHUT_WR);
	while (get_answer(fd, &reply)) {
		if (reply.status)
			die("status %d", reply.status);
		answers++;
	}
	if (answers != requests)
		die("%u answers to %u requests", answers, requests);
	printf("a slow reader had %u requests on their way\n", requests);
	close(fd);
	others_are_unharmed();
}

static void play_crowd(void)
{
	static int fds[CROWD];
	struct message message;

	doing = "2,000 clients at once";
	for (int i = 0; i < CROWD; i++)
		fds[i] = open_client();
	message_resolve(&message, "node17", 3);
	for (int i = 0; i < CROWD; i++)
		put_message(fds[i], &message);
	for (int i = 0; i < CROWD; i++) {
		struct acm_reply reply;

		if (!get_answer(fds[i], &reply) || reply.status)
			die("client %d is not answered", i);
	}
	others_are_unharmed();
	doing = "half of 2,000 clients send what cannot be framed";
	hostile_messages[0].make(&message);
	for (int i = 0; i < CROWD; i += 2)
		put_message(fds[i], &message);
	for (int i = 0; i < CROWD; i++) {
		if (i % 2)
			expect_service(fds[i], 4);
		else
			expect_outcome(fds[i], &hostile_messages[0], tid_of(&message));
		close(fds[i]);
	}
	others_are_unharmed();
}

static void raise_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < CROWD + 500)
		die("the limit of open files is %llu, and %d are needed; ulimit -Hn raises it",
		    (unsigned long long)limit.rlim_max, CROWD + 500);
}

int main(int argc, char **argv)
{
	struct message message;
	int lurkers[LURKERS];

	if (argc != 2 || strlen(argv[1]) >= sizeof(service.sun_path)) {
		fprintf(stderr, "usage: hostile_clients SOCKET\n");
		return 2;
	}
	strcpy(service.sun_path, argv[1]);
	raise_limit();
	good_client = open_client();
	others_are_unharmed();
	message_resolve(&message, "node17", 6);
	for (size_t i = 0; i < LURKERS; i++) {
		lurkers[i] = open_client();
		put(lurkers[i], message.bytes, 1 + i * 3);
	}
	play_messages();
	play_good_message_cut();
	play_altered_bytes();
	play_vanishing();
	play_pipelined();
	play_slow_reader();
	play_crowd();
	doing = "clients with half a message go on";
	for (size_t i = 0; i < LURKERS; i++) {
		struct acm_reply reply;

		put(lurkers[i], message.bytes + 1 + i * 3, message.length - 1 - i * 3);
		if (!get_answer(lurkers[i], &reply) || reply.status)
			die("one is not answered");
		close(lurkers[i]);
	}
	others_are_unharmed();
	close(good_client);
	return EXIT_SUCCESS;
}
