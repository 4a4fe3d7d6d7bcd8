/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client library against a service that this test plays itself, at the other end of a socket
 * pair. */
#include <acmite/client.h>
#include <client_address.h>

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

/* Long enough for any machine where an answer must come. */
#define LONG_MS 20000

struct world {
	struct acm_client *client;
	int service;
	uint8_t pending[ACM_CLIENT_REQUEST_MAX];
	size_t have;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	int fds[2];

	assert_non_null(world);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	world->service = fds[1];
	world->client = acm_client_create();
	assert_non_null(world->client);
	assert_int_equal(acm_client_adopt(world->client, fds[0], "/the/service"), 0);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	acm_client_destroy(world->client);
	if (world->service >= 0)
		close(world->service);
	free(world);
	return 0;
}

static void ask(struct world *world, const char *name, uint64_t cookie)
{
	struct acm_request request = {.kind = ACM_REQUEST_RESOLVE};

	assert_int_equal(acm_address_canonical(&request.destination, ACM_ADDRESS_NAME,
					       (const uint8_t *)name, strlen(name)),
			 0);
	assert_int_equal(acm_client_send(world->client, &request, cookie), 0);
}

/* The next request that has come to the service whole; false: none yet. */
static bool take_request(struct world *world, struct acm_request *request)
{
	int length = acm_client_frame(world->pending, world->have);
	ssize_t count;

	if (length <= 0 || (size_t)length > world->have) {
		count = recv(world->service, world->pending + world->have,
			     sizeof(world->pending) - world->have, MSG_DONTWAIT);
		if (count > 0)
			world->have += (size_t)count;
		length = acm_client_frame(world->pending, world->have);
	}
	assert_true(length >= 0);
	if (!length || (size_t)length > world->have)
		return false;
	acm_client_decode_request(world->pending, (size_t)length, request);
	world->have -= (size_t)length;
	memmove(world->pending, world->pending + length, world->have);
	return true;
}

static int encode_answer(const struct acm_request *request, uint16_t dlid, uint8_t *data,
			 size_t size)
{
	const struct acm_reply reply = {
		.tid = request->tid,
		.opcode = request->opcode,
		.kind = request->kind,
		.path = {.dlid = dlid, .slid = 1, .mtu = 5, .rate = 16, .pkey = 0xffff},
	};
	int length = acm_client_encode_reply(&reply, data, size);

	assert_true(length > 0);
	return length;
}

static void answer(struct world *world, const struct acm_request *request, uint16_t dlid)
{
	uint8_t data[ACM_CLIENT_REPLY_MAX];
	int length = encode_answer(request, dlid, data, sizeof(data));

	assert_int_equal(send(world->service, data, (size_t)length, 0), length);
}

static void expect(struct world *world, uint64_t cookie, uint16_t dlid)
{
	struct acm_reply reply;
	uint64_t got = 0;

	if (acm_client_receive(world->client, LONG_MS, &got, &reply))
		fail_msg("%s", acm_client_error(world->client));
	assert_int_equal(got, cookie);
	assert_int_equal(reply.status, ACM_STATUS_OK);
	assert_int_equal(reply.path.dlid, dlid);
}

static void expect_error(struct world *world, uint32_t timeout_ms, int error)
{
	struct acm_reply reply;
	uint64_t cookie;

	assert_int_equal(acm_client_receive(world->client, timeout_ms, &cookie, &reply), error);
	assert_non_null(strstr(acm_client_error(world->client), "/the/service"));
	assert_null(strchr(acm_client_error(world->client), '\n'));
}

static void test_request_arrives(void **state)
{
	struct world *world = *state;
	struct acm_request request;

	ask(world, "node02", 1);
	assert_true(take_request(world, &request));
	assert_int_equal(request.kind, ACM_REQUEST_RESOLVE);
	assert_int_equal(request.destination.type, ACM_ADDRESS_NAME);
	assert_memory_equal(request.destination.data, "node02", 6);
	assert_int_equal(acm_client_pending(world->client), 1);
	answer(world, &request, 7);
	expect(world, 1, 7);
	assert_int_equal(acm_client_pending(world->client), 0);
}

static void test_out_of_order(void **state)
{
	struct world *world = *state;
	struct acm_request requests[5];

	for (uint64_t i = 0; i < 5; i++)
		ask(world, "node02", 100 + i);
	for (size_t i = 0; i < 5; i++)
		assert_true(take_request(world, &requests[i]));
	for (size_t i = 5; i-- > 0;)
		answer(world, &requests[i], (uint16_t)(i + 1));
	for (size_t i = 5; i-- > 0;)
		expect(world, 100 + i, (uint16_t)(i + 1));
}

static void test_split_at_every_byte(void **state)
{
	struct world *world = *state;
	struct acm_request request;
	struct acm_reply reply;
	uint8_t data[ACM_CLIENT_REPLY_MAX];
	uint64_t cookie;
	int length;

	ask(world, "node02", 9);
	assert_true(take_request(world, &request));
	length = encode_answer(&request, 3, data, sizeof(data));
	for (int i = 0; i < length; i++) {
		assert_int_equal(acm_client_receive(world->client, 0, &cookie, &reply), -ETIMEDOUT);
		assert_int_equal(send(world->service, data + i, 1, 0), 1);
	}
	expect(world, 9, 3);
}

static void test_joined_answers(void **state)
{
	struct world *world = *state;
	struct acm_request request;
	uint8_t data[3 * ACM_CLIENT_REPLY_MAX];
	size_t length = 0;

	for (uint64_t i = 0; i < 3; i++)
		ask(world, "node02", i);
	for (uint16_t i = 0; i < 3; i++) {
		assert_true(take_request(world, &request));
		length += (size_t)encode_answer(&request, (uint16_t)(i + 1), data + length,
						sizeof(data) - length);
	}
	assert_int_equal(send(world->service, data, length, 0), length);
	for (uint16_t i = 0; i < 3; i++)
		expect(world, i, (uint16_t)(i + 1));
}

/* More than the socket holds: what does not fit leaves while answers are waited for. */
static void test_thousands_under_way(void **state)
{
	enum { COUNT = 20000 };
	struct world *world = *state;
	struct acm_request request;
	struct acm_reply reply;
	uint64_t cookie;
	uint32_t answered = 0, got = 0;

	for (uint64_t i = 0; i < COUNT; i++)
		ask(world, "node02", i);
	while (got < COUNT) {
		/* The test plays both sides, so it stays within what the socket holds. */
		for (int i = 0; i < 20 && take_request(world, &request); i++) {
			answer(world, &request, (uint16_t)(1 + answered % 1000));
			answered++;
		}
		while (got < COUNT && !acm_client_receive(world->client, 0, &cookie, &reply)) {
			assert_int_equal(cookie, got);
			assert_int_equal(reply.path.dlid, 1 + got % 1000);
			got++;
		}
	}
	assert_int_equal(acm_client_pending(world->client), 0);
}

static void test_silent_service(void **state)
{
	struct world *world = *state;
	struct acm_request request;

	ask(world, "node02", 4);
	expect_error(world, 5, -ETIMEDOUT);
	/* The request stays under way; a late answer is still one. */
	assert_int_equal(acm_client_pending(world->client), 1);
	assert_true(take_request(world, &request));
	answer(world, &request, 2);
	expect(world, 4, 2);
}

static void test_service_gone(void **state)
{
	struct world *world = *state;
	struct acm_request request;

	ask(world, "node02", 1);
	ask(world, "node03", 2);
	assert_true(take_request(world, &request));
	answer(world, &request, 2);
	assert_true(take_request(world, &request));
	close(world->service);
	world->service = -1;
	/* What was answered before is not lost. */
	expect(world, 1, 2);
	expect_error(world, LONG_MS, -ECONNRESET);
}

static void test_service_gone_before_the_request(void **state)
{
	struct world *world = *state;

	close(world->service);
	world->service = -1;
	ask(world, "node02", 1);
	expect_error(world, LONG_MS, -ECONNRESET);
}

static void test_garbage(void **state)
{
	struct world *world = *state;
	static const char text[] = "HTTP/1.1 400 Bad Request\r\n\r\n";

	ask(world, "node02", 1);
	assert_int_equal(send(world->service, text, sizeof(text), 0), sizeof(text));
	expect_error(world, LONG_MS, -EBADMSG);
}

static void test_answer_to_nothing_asked(void **state)
{
	struct world *world = *state;
	struct acm_request request;

	ask(world, "node02", 1);
	assert_true(take_request(world, &request));
	request.tid += 1;
	answer(world, &request, 2);
	expect_error(world, LONG_MS, -EBADMSG);
}

static void test_answer_twice(void **state)
{
	struct world *world = *state;
	struct acm_request request;

	ask(world, "node02", 1);
	assert_true(take_request(world, &request));
	answer(world, &request, 2);
	answer(world, &request, 3);
	expect(world, 1, 2);
	/* The place is in use again, but not for the question that was answered. */
	ask(world, "node03", 2);
	expect_error(world, LONG_MS, -EBADMSG);
}

static void test_failure_status(void **state)
{
	struct world *world = *state;
	struct acm_request request;
	struct acm_reply reply;
	uint8_t data[ACM_CLIENT_REPLY_MAX];
	uint64_t cookie;
	int length;

	ask(world, "nobody", 8);
	assert_true(take_request(world, &request));
	reply = (struct acm_reply){
		.tid = request.tid,
		.opcode = request.opcode,
		.kind = request.kind,
		.status = ACM_STATUS_TIMED_OUT,
	};
	length = acm_client_encode_reply(&reply, data, sizeof(data));
	assert_true(length > 0);
	assert_int_equal(send(world->service, data, (size_t)length, 0), length);
	assert_int_equal(acm_client_receive(world->client, LONG_MS, &cookie, &reply), 0);
	assert_int_equal(cookie, 8);
	assert_int_equal(reply.status, ACM_STATUS_TIMED_OUT);
}

static void test_counters_and_endpoint(void **state)
{
	struct world *world = *state;
	static const char addresses[2][ACM_ADDRESS_MAX] = {"node01", "10.0.0.1"};
	struct acm_request request = {.kind = ACM_REQUEST_ENDPOINT, .index = 1};
	struct acm_reply reply;
	uint8_t data[1024];
	uint64_t cookie;
	int length;

	assert_int_equal(acm_client_send(world->client, &request, 1), 0);
	assert_true(take_request(world, &request));
	assert_int_equal(request.kind, ACM_REQUEST_ENDPOINT);
	assert_int_equal(request.index, 1);
	reply = (struct acm_reply){
		.tid = request.tid,
		.opcode = request.opcode,
		.kind = request.kind,
		.endpoint = {.index = 1,
			     .device_guid = 5,
			     .port = 1,
			     .port_count = 1,
			     .pkey = 0xffff,
			     .provider = "acmite",
			     .address_count = 2,
			     .addresses = addresses},
	};
	length = acm_client_encode_reply(&reply, data, sizeof(data));
	assert_true(length > 0);
	assert_int_equal(send(world->service, data, (size_t)length, 0), length);
	assert_int_equal(acm_client_receive(world->client, LONG_MS, &cookie, &reply), 0);
	assert_int_equal(reply.endpoint.address_count, 2);
	assert_string_equal(reply.endpoint.addresses[1], "10.0.0.1");
	assert_string_equal(reply.endpoint.provider, "acmite");
}

static void test_nothing_under_way(void **state)
{
	struct world *world = *state;
	struct acm_reply reply;
	uint64_t cookie;

	assert_int_equal(acm_client_receive(world->client, LONG_MS, &cookie, &reply), -ENOENT);
}

static void test_connect_unix(void **state)
{
	char folder[] = "/tmp/acmite-client-XXXXXX";
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct acm_client *client = acm_client_create();
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_non_null(client);
	assert_non_null(mkdtemp(folder));
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/s", folder);
	assert_int_equal(acm_client_connect(client, name.sun_path, LONG_MS), -ENOENT);
	assert_non_null(strstr(acm_client_error(client), name.sun_path));
	assert_int_equal(bind(listener, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(acm_client_connect(client, name.sun_path, LONG_MS), -ECONNREFUSED);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(acm_client_connect(client, name.sun_path, LONG_MS), 0);
	acm_client_destroy(client);
	close(listener);
	unlink(name.sun_path);
	rmdir(folder);
}

static void test_connect_tcp(void **state)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(name);
	struct acm_client *client = acm_client_create();
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	char address[32];

	(void)state;
	assert_non_null(client);
	assert_int_equal(bind(listener, (struct sockaddr *)&name, size), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(name.sin_port));
	assert_int_equal(acm_client_connect(client, address, LONG_MS), -ECONNREFUSED);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(acm_client_connect(client, address, LONG_MS), 0);
	acm_client_destroy(client);
	close(listener);
}

static void expect_place(const char *text, bool is_path, const char *host, const char *port)
{
	struct client_address address;
	char why[400];

	assert_int_equal(client_address_parse(text, &address, why, sizeof(why)), 0);
	assert_int_equal(address.is_path, is_path);
	assert_string_equal(address.host, host);
	assert_string_equal(address.port, port);
}

static void test_places(void **state)
{
	static const char *const wrong[] = {"",       ":1",   "host:",  "host:0", "host:65536",
					    "host:x", "[::1", "[::1]x", "[]:1",   "host:-1"};
	struct client_address address;
	char why[400];
	char path[200];

	(void)state;
	expect_place("/run/x.sock", true, "/run/x.sock", "");
	expect_place("host", false, "host", "6125");
	expect_place("host:77", false, "host", "77");
	expect_place("::1", false, "::1", "6125");
	expect_place("[::1]", false, "::1", "6125");
	expect_place("[::1]:77", false, "::1", "77");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (client_address_parse(wrong[i], &address, why, sizeof(why)) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
	memset(path, 'p', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(client_address_parse(path, &address, why, sizeof(why)), -EINVAL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_request_arrives),
		TEST(test_out_of_order),
		TEST(test_split_at_every_byte),
		TEST(test_joined_answers),
		TEST(test_thousands_under_way),
		TEST(test_silent_service),
		TEST(test_service_gone),
		TEST(test_service_gone_before_the_request),
		TEST(test_garbage),
		TEST(test_answer_to_nothing_asked),
		TEST(test_answer_twice),
		TEST(test_failure_status),
		TEST(test_counters_and_endpoint),
		TEST(test_nothing_under_way),
		cmocka_unit_test(test_connect_unix),
		cmocka_unit_test(test_connect_tcp),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
