/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "client_server.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HELD_MAX 4096
/* A test that waits for what never comes ends with SIGALRM. */
#define PATIENCE_S 120

/* A service that answers at once, or holds what it is asked until the test answers. */
struct stub {
	struct event_base *base;
	struct client_server *server;
	bool hold;
	struct acm_request held[HELD_MAX];
	size_t held_count;
	size_t requests;
	size_t malformed;
	uint64_t cancelled[HELD_MAX];
	size_t cancelled_count;
	uint16_t address_count; /* in answers to endpoint queries */
};

static void answer(struct stub *stub, const struct acm_request *request)
{
	static char addresses[2000][ACM_ADDRESS_MAX];
	struct acm_reply reply = {.id = request->id,
				  .tid = request->tid,
				  .opcode = request->opcode,
				  .kind = request->kind,
				  .status = request->malformed};

	reply.path.dlid = 7;
	reply.path.mtu = 4;
	reply.endpoint.provider = "stub";
	reply.endpoint.address_count = stub->address_count;
	reply.endpoint.addresses = (const char(*)[ACM_ADDRESS_MAX])addresses;
	client_server_reply(stub->server, &reply);
}

static void take_request(void *context, const struct acm_request *request)
{
	struct stub *stub = context;

	stub->requests++;
	stub->malformed += request->kind == ACM_REQUEST_MALFORMED;
	if (!stub->hold) {
		answer(stub, request);
		return;
	}
	assert_true(stub->held_count < HELD_MAX);
	stub->held[stub->held_count++] = *request;
}

static void take_cancel(void *context, uint64_t id)
{
	struct stub *stub = context;

	assert_true(stub->cancelled_count < HELD_MAX);
	stub->cancelled[stub->cancelled_count++] = id;
}

static void answer_held(struct stub *stub)
{
	size_t count = stub->held_count;

	stub->held_count = 0;
	for (size_t i = 0; i < count; i++)
		answer(stub, &stub->held[i]);
}

static void start_server(struct stub *stub, const struct client_server_limits *limits)
{
	struct client_server_hooks hooks = {
		.request = take_request, .cancel = take_cancel, .context = stub};

	assert_int_equal(client_server_create(stub->base, &hooks, limits, NULL, &stub->server), 0);
}

static int start(void **state)
{
	struct client_server_limits limits;
	struct stub *stub = calloc(1, sizeof(*stub));

	alarm(PATIENCE_S);
	stub->base = event_base_new();
	client_server_limits_default(&limits);
	start_server(stub, &limits);
	*state = stub;
	return 0;
}

static int stop(void **state)
{
	struct stub *stub = *state;

	client_server_destroy(stub->server);
	event_base_free(stub->base);
	free(stub);
	alarm(0);
	return 0;
}

static void restart(struct stub *stub, const struct client_server_limits *limits)
{
	client_server_destroy(stub->server);
	start_server(stub, limits);
}

/* ---- the clients' side ---- */

static int join(struct stub *stub)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
			 0);
	assert_int_equal(client_server_adopt(stub->server, ends[1]), 0);
	return ends[0];
}

/* Whatever the server can do now. */
static void pump(struct stub *stub)
{
	for (int i = 0; i < 4; i++)
		event_base_loop(stub->base, EVLOOP_NONBLOCK);
}

static size_t encode(uint8_t *message, uint64_t tid)
{
	struct acm_request request = {
		.tid = tid, .opcode = ACM_OPCODE_RESOLVE, .kind = ACM_REQUEST_RESOLVE};
	int length;

	acm_address_canonical(&request.destination, ACM_ADDRESS_NAME, (const uint8_t *)"node02", 6);
	length = acm_client_encode_request(&request, message, ACM_CLIENT_REQUEST_MAX);
	assert_true(length > 0);
	return (size_t)length;
}

static void put(int fd, const void *data, size_t length)
{
	assert_int_equal(send(fd, data, length, MSG_NOSIGNAL), (ssize_t)length);
}

static void ask(int fd, uint64_t tid)
{
	uint8_t message[ACM_CLIENT_REQUEST_MAX];
	size_t length = encode(message, tid);

	put(fd, message, length);
}

/* Reads exactly `length` bytes, letting the server work meanwhile. False: the stream ended. */
static bool get(struct stub *stub, int fd, uint8_t *data, size_t length)
{
	size_t have = 0;

	while (have < length) {
		ssize_t got = recv(fd, data + have, length - have, 0);

		if (got < 0 && errno == EAGAIN) {
			event_base_loop(stub->base, EVLOOP_NONBLOCK);
			continue;
		}
		if (got <= 0)
			return false;
		have += (size_t)got;
	}
	return true;
}

static void expect_answer(struct stub *stub, int fd, uint64_t tid, enum acm_status status)
{
	static uint8_t frame[1 << 17];
	struct acm_reply reply;
	int length;

	assert_true(get(stub, fd, frame, ACM_CLIENT_HEADER_LENGTH));
	length = acm_client_reply_frame(frame, ACM_CLIENT_HEADER_LENGTH);
	assert_true(length >= ACM_CLIENT_HEADER_LENGTH);
	assert_true(get(stub, fd, frame + ACM_CLIENT_HEADER_LENGTH,
			(size_t)length - ACM_CLIENT_HEADER_LENGTH));
	assert_int_equal(acm_client_decode_reply(frame, (size_t)length, &reply), 0);
	assert_int_equal(reply.tid, tid);
	assert_int_equal(reply.status, status);
}

static void expect_end(struct stub *stub, int fd)
{
	uint8_t byte;

	assert_false(get(stub, fd, &byte, 1));
}

static void expect_silence(struct stub *stub, int fd)
{
	uint8_t byte;

	pump(stub);
	assert_int_equal(recv(fd, &byte, 1, MSG_PEEK), -1);
	assert_int_equal(errno, EAGAIN);
}

static uint32_t clients(struct stub *stub)
{
	struct client_server_stats stats;

	client_server_stats(stub->server, &stats);
	return stats.clients;
}

static void expect_clients(struct stub *stub, uint32_t count)
{
	while (clients(stub) != count)
		event_base_loop(stub->base, EVLOOP_NONBLOCK);
}

/* ---- tests ---- */

static void test_split_at_every_byte(void **state)
{
	struct stub *stub = *state;
	uint8_t message[ACM_CLIENT_REQUEST_MAX];
	size_t length = encode(message, 1);
	int fd = join(stub);

	for (size_t at = 1; at < length; at++) {
		put(fd, message, at);
		expect_silence(stub, fd);
		put(fd, message + at, length - at);
		expect_answer(stub, fd, 1, ACM_STATUS_OK);
	}
	for (size_t at = 0; at < length; at++) {
		put(fd, message + at, 1);
		pump(stub);
	}
	expect_answer(stub, fd, 1, ACM_STATUS_OK);
	close(fd);
}

static void test_joined(void **state)
{
	struct stub *stub = *state;
	uint8_t messages[3 * ACM_CLIENT_REQUEST_MAX];
	size_t length = encode(messages, 1);
	int fd = join(stub);

	length += encode(messages + length, 2);
	/* The third comes in two halves, the first of them with the second. */
	encode(messages + length, 3);
	put(fd, messages, length + 20);
	expect_answer(stub, fd, 1, ACM_STATUS_OK);
	expect_answer(stub, fd, 2, ACM_STATUS_OK);
	expect_silence(stub, fd);
	put(fd, messages + length + 20, encode(messages + length, 3) - 20);
	expect_answer(stub, fd, 3, ACM_STATUS_OK);
	close(fd);
}

static void test_pipelined(void **state)
{
	struct stub *stub = *state;
	uint8_t *messages = malloc(100 * ACM_CLIENT_REQUEST_MAX);
	size_t length = 0;
	int fd = join(stub);

	for (uint64_t tid = 0; tid < 100; tid++)
		length += encode(messages + length, tid);
	put(fd, messages, length);
	for (uint64_t tid = 0; tid < 100; tid++)
		expect_answer(stub, fd, tid, ACM_STATUS_OK);
	free(messages);
	close(fd);
}

/* One answer is one write, so that a client's one recv() has all of it. */
static void test_answer_is_one_write(void **state)
{
	struct stub *stub = *state;
	uint8_t frame[2048];
	int ends[2];
	ssize_t length;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(client_server_adopt(stub->server, ends[1]), 0);
	ask(ends[0], 5);
	pump(stub);
	length = recv(ends[0], frame, sizeof(frame), 0);
	assert_int_equal(length, acm_client_reply_frame(frame, (size_t)length));
	close(ends[0]);
}

static void test_pending_is_bounded(void **state)
{
	struct stub *stub = *state;
	struct client_server_limits limits;
	uint8_t *messages = malloc(300 * ACM_CLIENT_REQUEST_MAX);
	size_t length = 0;
	int other;
	int fd;

	client_server_limits_default(&limits);
	limits.pending = 16;
	restart(stub, &limits);
	fd = join(stub);
	other = join(stub);
	stub->hold = true;
	for (uint64_t tid = 0; tid < 300; tid++)
		length += encode(messages + length, tid);
	put(fd, messages, length);
	pump(stub);
	assert_int_equal(stub->held_count, 16);
	ask(other, 1000);
	pump(stub);
	assert_int_equal(stub->held_count, 17);
	/* Out of order: each is answered for itself. */
	answer(stub, &stub->held[5]);
	expect_answer(stub, fd, stub->held[5].tid, ACM_STATUS_OK);
	pump(stub);
	assert_int_equal(stub->held_count, 18);
	stub->hold = false;
	stub->held[5] = stub->held[--stub->held_count];
	answer_held(stub);
	expect_answer(stub, other, 1000, ACM_STATUS_OK);
	for (int i = 0; i < 299; i++) {
		uint8_t frame[96];

		assert_true(get(stub, fd, frame, 88));
		assert_int_equal(acm_client_reply_frame(frame, 88), 88);
	}
	expect_silence(stub, fd);
	free(messages);
	close(fd);
	close(other);
}

/* Sends until nothing more is taken. Returns how many whole requests went out. */
static uint64_t flood(struct stub *stub, int fd)
{
	uint8_t message[ACM_CLIENT_REQUEST_MAX];
	uint64_t tid = 0;

	for (;;) {
		size_t length = encode(message, tid);
		ssize_t sent = send(fd, message, length, MSG_NOSIGNAL);

		if (sent == (ssize_t)length) {
			tid++;
			continue;
		}
		assert_int_equal(sent, -1);
		assert_int_equal(errno, EAGAIN);
		/* Only when the server took nothing of it either. */
		pump(stub);
		sent = send(fd, message, length, MSG_NOSIGNAL);
		if (sent < 0)
			return tid;
		assert_int_equal(sent, length);
		tid++;
	}
}

static void test_slow_reader_is_paused(void **state)
{
	struct stub *stub = *state;
	int slow = join(stub);
	int other = join(stub);
	uint64_t sent = flood(stub, slow);
	size_t before = stub->requests;

	assert_true(sent > 100);
	pump(stub);
	assert_int_equal(stub->requests, before);
	for (uint64_t tid = 0; tid < 100; tid++) {
		ask(other, tid);
		expect_answer(stub, other, tid, ACM_STATUS_OK);
	}
	for (uint64_t tid = 0; tid < sent; tid++)
		expect_answer(stub, slow, tid, ACM_STATUS_OK);
	ask(slow, 1);
	expect_answer(stub, slow, 1, ACM_STATUS_OK);
	close(slow);
	close(other);
}

static void test_who_never_reads_is_closed(void **state)
{
	struct stub *stub = *state;
	struct client_server_limits limits;
	struct client_server_stats stats;
	int other;
	int slow;

	client_server_limits_default(&limits);
	limits.stall_ns = 20 * ACM_NSEC_PER_MSEC;
	restart(stub, &limits);
	other = join(stub);
	slow = join(stub);
	flood(stub, slow);
	while (clients(stub) == 2)
		event_base_loop(stub->base, EVLOOP_ONCE);
	client_server_stats(stub->server, &stats);
	assert_int_equal(stats.stalled, 1);
	ask(other, 1);
	expect_answer(stub, other, 1, ACM_STATUS_OK);
	close(slow);
	close(other);
}

static void test_abrupt_end_at_every_byte(void **state)
{
	struct stub *stub = *state;
	uint8_t message[ACM_CLIENT_REQUEST_MAX];
	size_t length = encode(message, 1);
	int other = join(stub);

	stub->hold = true;
	for (size_t at = 0; at <= length; at++) {
		int fd = join(stub);

		if (at)
			put(fd, message, at);
		pump(stub);
		close(fd);
		expect_clients(stub, 1);
		pump(stub);
	}
	/* Only the whole one was handed on, and taken back. */
	assert_int_equal(stub->requests, 1);
	assert_int_equal(stub->cancelled_count, 1);
	assert_int_equal(stub->cancelled[0], stub->held[0].id);
	stub->hold = false;
	ask(other, 2);
	expect_answer(stub, other, 2, ACM_STATUS_OK);
	close(other);
}

static void test_every_pending_request_is_cancelled(void **state)
{
	struct stub *stub = *state;
	struct client_server_stats stats;
	int fd = join(stub);

	stub->hold = true;
	for (uint64_t tid = 0; tid < 50; tid++)
		ask(fd, tid);
	pump(stub);
	assert_int_equal(stub->held_count, 50);
	answer(stub, &stub->held[7]);
	close(fd);
	expect_clients(stub, 0);
	pump(stub);
	assert_int_equal(stub->cancelled_count, 49);
	client_server_stats(stub->server, &stats);
	assert_int_equal(stats.pending, 0);
	answer_held(stub); /* ignored */
}

/* Without SIGPIPE, which would end this test. */
static void test_answer_to_closed_socket(void **state)
{
	struct stub *stub = *state;

	for (int i = 0; i < 100; i++) {
		int fd = join(stub);

		ask(fd, 1);
		ask(fd, 2);
		close(fd);
		pump(stub);
	}
	expect_clients(stub, 0);
	/* The second of each is of no interest once the first answer found nobody. */
	assert_in_range(stub->requests, 100, 200);
}

static void test_late_answer_reaches_nobody_else(void **state)
{
	struct stub *stub = *state;
	struct acm_request late;
	int fd = join(stub);

	stub->hold = true;
	ask(fd, 1);
	pump(stub);
	late = stub->held[0];
	close(fd);
	expect_clients(stub, 0);
	pump(stub);
	fd = join(stub);
	ask(fd, 2);
	pump(stub);
	assert_int_equal(stub->held_count, 2);
	assert_int_not_equal(stub->held[1].id, late.id);
	answer(stub, &late);
	expect_silence(stub, fd);
	answer(stub, &stub->held[1]);
	answer(stub, &stub->held[1]); /* twice */
	expect_answer(stub, fd, 2, ACM_STATUS_OK);
	expect_silence(stub, fd);
	close(fd);
}

/* Has a whole header, but no length that could be believed. */
static void garbage(uint8_t *header, int kind)
{
	static const uint16_t lengths[] = {0, 15, ACM_CLIENT_REQUEST_MAX + 1, 65535};
	uint16_t length = lengths[kind % 4];

	memset(header, 0, ACM_CLIENT_HEADER_LENGTH);
	header[0] = 1;
	header[1] = ACM_OPCODE_RESOLVE;
	memcpy(header + 4 + 2, &length, 2);
	if (kind == 4)
		header[0] = 2;
	if (kind == 5)
		memset(header, 0xff, 8);
	header[8] = 0x42;
}

static void test_garbage_is_refused(void **state)
{
	struct stub *stub = *state;
	struct client_server_stats stats;
	int other = join(stub);

	for (int kind = 0; kind < 6; kind++) {
		uint8_t header[ACM_CLIENT_HEADER_LENGTH];
		uint8_t more[5000] = {0};
		uint8_t frame[ACM_CLIENT_HEADER_LENGTH];
		int fd = join(stub);

		garbage(header, kind);
		put(fd, header, sizeof(header));
		put(fd, more, sizeof(more));
		assert_true(get(stub, fd, frame, sizeof(frame)));
		assert_int_equal(frame[0], 1);
		assert_int_equal(frame[2], ACM_STATUS_INVALID);
		assert_memory_equal(frame + 8, header + 8, 8);
		expect_end(stub, fd);
		close(fd);
		expect_clients(stub, 1);
	}
	client_server_stats(stub->server, &stats);
	assert_int_equal(stats.refused, 6);
	assert_int_equal(stub->requests, 0);
	ask(other, 9);
	expect_answer(stub, other, 9, ACM_STATUS_OK);
	close(other);
}

/* Reads its refusal, then neither sends nor closes. */
static void test_refused_client_that_stays_is_closed(void **state)
{
	struct stub *stub = *state;
	struct client_server_limits limits;
	uint8_t header[ACM_CLIENT_HEADER_LENGTH];
	int fd;

	client_server_limits_default(&limits);
	limits.linger_ns = 20 * ACM_NSEC_PER_MSEC;
	restart(stub, &limits);
	fd = join(stub);
	stub->hold = true;
	ask(fd, 1);
	garbage(header, 4);
	put(fd, header, sizeof(header));
	while (clients(stub))
		event_base_loop(stub->base, EVLOOP_ONCE);
	pump(stub);
	assert_int_equal(stub->cancelled_count, 1);
	close(fd);
}

/* What can be framed is answered, and the client stays. */
static void test_malformed_but_framed(void **state)
{
	struct stub *stub = *state;
	uint8_t message[ACM_CLIENT_REQUEST_MAX];
	size_t length = encode(message, 3);
	int fd = join(stub);

	message[ACM_CLIENT_HEADER_LENGTH] = 0; /* neither source nor destination */
	message[1] = ACM_OPCODE_RESOLVE;
	put(fd, message, length);
	pump(stub);
	assert_int_equal(stub->malformed, 1);
	message[1] = ACM_OPCODE_RESOLVE | ACM_OPCODE_ANSWER;
	put(fd, message, length);
	pump(stub);
	assert_int_equal(stub->malformed, 2);
	while (recv(fd, message, sizeof(message), 0) > 0)
		;
	ask(fd, 4);
	expect_answer(stub, fd, 4, ACM_STATUS_OK);
	close(fd);
}

static void test_random_bytes(void **state)
{
	struct stub *stub = *state;
	int other = join(stub);
	uint32_t seed = 12345;

	for (int round = 0; round < 500; round++) {
		uint8_t noise[700];
		int fd = join(stub);

		for (size_t i = 0; i < sizeof(noise); i++) {
			seed = seed * 1664525u + 1013904223u;
			noise[i] = (uint8_t)(seed >> 24);
		}
		noise[0] = (uint8_t)(round & 1);
		noise[1] = (uint8_t)(round % 5);
		put(fd, noise, 1 + seed % sizeof(noise));
		pump(stub);
		close(fd);
	}
	expect_clients(stub, 1);
	ask(other, 1);
	expect_answer(stub, other, 1, ACM_STATUS_OK);
	close(other);
}

static void test_half_closed_client_gets_its_answer(void **state)
{
	struct stub *stub = *state;
	int fd = join(stub);

	stub->hold = true;
	ask(fd, 1);
	shutdown(fd, SHUT_WR);
	pump(stub);
	assert_int_equal(stub->cancelled_count, 0);
	answer_held(stub);
	expect_answer(stub, fd, 1, ACM_STATUS_OK);
	expect_end(stub, fd);
	expect_clients(stub, 0);
	close(fd);
}

static void test_long_answers(void **state)
{
	struct stub *stub = *state;
	struct acm_request request = {
		.opcode = ACM_OPCODE_ENDPOINT, .kind = ACM_REQUEST_ENDPOINT, .index = 1};
	uint8_t message[ACM_CLIENT_REQUEST_MAX];
	int length;
	int fd = join(stub);

	stub->address_count = 900;
	for (uint64_t tid = 0; tid < 20; tid++) {
		request.tid = tid;
		length = acm_client_encode_request(&request, message, sizeof(message));
		assert_true(length > 0);
		put(fd, message, (size_t)length);
	}
	pump(stub);
	for (uint64_t tid = 0; tid < 20; tid++)
		expect_answer(stub, fd, tid, ACM_STATUS_OK);
	close(fd);
}

/* ---- with a listening socket ---- */

static int listen_at(struct sockaddr_un *address)
{
	/* An abstract name of this process's own: nothing to remove. */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "acmite-test-%ld",
		 (long)getpid());
	assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
	assert_int_equal(listen(fd, 4096), 0);
	return fd;
}

static int connect_to(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	return fd;
}

static void test_many_clients(void **state)
{
	enum { MANY = 2000 };
	struct stub *stub = *state;
	struct rlimit limit;
	struct sockaddr_un address;
	static int fds[MANY];
	int listening = listen_at(&address);

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < 2 * MANY + 100)
		skip();
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(client_server_listen(stub->server, &listening, 1), 0);
	for (int i = 0; i < MANY; i++) {
		fds[i] = connect_to(&address);
		pump(stub);
	}
	expect_clients(stub, MANY);
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < MANY; i++)
			ask(fds[i], round * MANY + i);
		for (uint64_t i = 0; i < MANY; i++)
			expect_answer(stub, fds[i], round * MANY + i, ACM_STATUS_OK);
	}
	/* Every other one goes, in the middle of a message. */
	for (int i = 0; i < MANY; i += 2) {
		put(fds[i], "\1\1\0", 3);
		close(fds[i]);
	}
	expect_clients(stub, MANY / 2);
	for (int i = 1; i < MANY; i += 2) {
		ask(fds[i], 1);
		expect_answer(stub, fds[i], 1, ACM_STATUS_OK);
		close(fds[i]);
	}
	expect_clients(stub, 0);
	close(listening);
}

static void test_full_server_lets_others_wait(void **state)
{
	struct stub *stub = *state;
	struct client_server_limits limits;
	struct sockaddr_un address;
	int listening = listen_at(&address);
	int fds[3];

	client_server_limits_default(&limits);
	limits.clients = 2;
	restart(stub, &limits);
	assert_int_equal(client_server_listen(stub->server, &listening, 1), 0);
	for (int i = 0; i < 3; i++) {
		fds[i] = connect_to(&address);
		ask(fds[i], (uint64_t)i);
	}
	expect_answer(stub, fds[0], 0, ACM_STATUS_OK);
	expect_answer(stub, fds[1], 1, ACM_STATUS_OK);
	expect_silence(stub, fds[2]);
	close(fds[0]);
	expect_answer(stub, fds[2], 2, ACM_STATUS_OK);
	close(fds[1]);
	close(fds[2]);
	expect_clients(stub, 0);
	close(listening);
}

static void test_out_of_descriptors(void **state)
{
	struct stub *stub = *state;
	struct rlimit before;
	struct rlimit limit;
	struct sockaddr_un address;
	int listening = listen_at(&address);
	int first = connect_to(&address);
	int second = connect_to(&address);
	int turns = 0;

	assert_int_equal(client_server_listen(stub->server, &listening, 1), 0);
	expect_clients(stub, 2);
	int third = connect_to(&address);

	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	limit.rlim_cur = (rlim_t)third + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* Every number below the limit may still be free. */
	int fill[64];
	int filled = 0;
	while (filled < 64 && (fill[filled] = dup(first)) >= 0)
		filled++;
	ask(third, 3);
	ask(first, 1);
	expect_answer(stub, first, 1, ACM_STATUS_OK);
	expect_silence(stub, third);
	/* It does not spin: nothing is active any more. */
	while (turns < 10 && event_base_loop(stub->base, EVLOOP_NONBLOCK) == 0 &&
	       event_base_get_num_events(stub->base, EVENT_BASE_COUNT_ACTIVE))
		turns++;
	assert_int_equal(turns, 0);
	while (filled)
		close(fill[--filled]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(second); /* room again */
	expect_answer(stub, third, 3, ACM_STATUS_OK);
	close(first);
	close(third);
	close(listening);
}

/* As many as ever: places are used again, and none stays behind. */
static void test_coming_and_going(void **state)
{
	struct stub *stub = *state;

	for (uint64_t i = 0; i < 20000; i++) {
		int fd = join(stub);

		ask(fd, i);
		event_base_loop(stub->base, EVLOOP_NONBLOCK);
		expect_answer(stub, fd, i, ACM_STATUS_OK);
		close(fd);
	}
	expect_clients(stub, 0);
	assert_int_equal(stub->cancelled_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_split_at_every_byte),
		TEST(test_joined),
		TEST(test_pipelined),
		TEST(test_answer_is_one_write),
		TEST(test_pending_is_bounded),
		TEST(test_slow_reader_is_paused),
		TEST(test_who_never_reads_is_closed),
		TEST(test_abrupt_end_at_every_byte),
		TEST(test_every_pending_request_is_cancelled),
		TEST(test_answer_to_closed_socket),
		TEST(test_late_answer_reaches_nobody_else),
		TEST(test_garbage_is_refused),
		TEST(test_refused_client_that_stays_is_closed),
		TEST(test_malformed_but_framed),
		TEST(test_random_bytes),
		TEST(test_half_closed_client_gets_its_answer),
		TEST(test_long_answers),
		TEST(test_many_clients),
		TEST(test_full_server_lets_others_wait),
		TEST(test_out_of_descriptors),
		TEST(test_coming_and_going),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
