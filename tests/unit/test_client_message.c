/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Golden bytes are those of a little-endian host: there the two byte orders can be told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include <acmite/wire.h>

#include "support/hostile_bytes.h"

#define REQUEST_ROOM (ACM_CLIENT_REQUEST_MAX + 2 * ACM_CLIENT_RECORD_LENGTH)

#define TID              "0102030405060708"
#define HEADER_RESOLVE_1 "01010000 0000 5800" TID
#define HEADER_RESOLVE_2 "01010000 0000 a000" TID
/* A record: flags, type, reserved, info. */
#define SOURCE_NAME      "01000000 0100 0000 6e6f646530 31 00*58."
#define DESTINATION_NAME "02000000 0100 0000 4e4f444530 32 00*58."
#define DESTINATION_IP   "02000000 0200 0000 0a000002 00*60."
#define PATH_INFO                                                                                  \
	"0000000000001234"                                                                         \
	"fe80000000000000 0002c90300000002"                                                        \
	"fe80000000000000 0002c90300000001"                                                        \
	"0007 0003 000abc40 11 81 ffff 1235 84 87 92 09 00*6."

static const struct acm_path golden_path = {
	.service_id = 0x1234,
	.dgid = {{0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, [15] = 2}},
	.sgid = {{0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, [15] = 1}},
	.dlid = 7,
	.slid = 3,
	.flow_label = 0xabc,
	.hop_limit = 0x40,
	.traffic_class = 0x11,
	.reversible = true,
	.path_count = 1,
	.pkey = 0xffff,
	.qos_class = 0x123,
	.sl = 5,
	.mtu = 4,
	.mtu_selector = 2,
	.rate = 7,
	.rate_selector = 2,
	.packet_life = 18,
	.packet_life_selector = 2,
	.preference = 9,
};

static uint64_t golden_tid(void)
{
	uint64_t tid;

	memcpy(&tid, (const uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8}, sizeof(tid));
	return tid;
}

static void decode_exact(const uint8_t *bytes, size_t length, struct acm_request *request)
{
	uint8_t *copy = exact_copy(bytes, length);

	memset(request, 0xa5, sizeof(*request));
	request->id = 77;
	acm_client_decode_request(copy, length, request);
	assert_int_equal(request->id, 77);
	free(copy);
}

static void decode_hex(const char *hex, struct acm_request *request)
{
	uint8_t bytes[REQUEST_ROOM] = {0};
	size_t length = from_hex(hex, bytes, sizeof(bytes));

	assert_int_equal(acm_client_frame(bytes, length), (int)length);
	decode_exact(bytes, length, request);
}

static void check_malformed(const char *hex, enum acm_status expected)
{
	struct acm_request request;

	decode_hex(hex, &request);
	assert_int_equal(request.kind, ACM_REQUEST_MALFORMED);
	assert_int_equal(request.malformed, expected);
	assert_int_equal(request.tid, golden_tid());
}

/* The encoder gives back exactly these bytes, and says so when there is no room for them. */
static void check_encodes_to(const struct acm_request *request, const char *hex)
{
	uint8_t expected[REQUEST_ROOM];
	size_t length = from_hex(hex, expected, sizeof(expected));

	for (size_t size = 0; size <= length; size++) {
		uint8_t *room = malloc(size);

		if (size > 0)
			memset(room, 0xa5, size);
		assert_int_equal(acm_client_encode_request(request, room, size),
				 size < length ? -ENOSPC : (int)length);
		if (size == length)
			assert_memory_equal(room, expected, length);
		free(room);
	}
}

static void test_resolve_by_name(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex(HEADER_RESOLVE_2 SOURCE_NAME DESTINATION_NAME, &request);
	assert_int_equal(request.kind, ACM_REQUEST_RESOLVE);
	assert_int_equal(request.malformed, ACM_STATUS_OK);
	assert_int_equal(request.opcode, ACM_OPCODE_RESOLVE);
	assert_int_equal(request.tid, golden_tid());
	assert_true(request.has_source);
	assert_int_equal(request.source.length, 6);
	assert_memory_equal(request.source.data, "node01\0\0", 8);
	assert_int_equal(request.destination.type, ACM_ADDRESS_NAME);
	assert_int_equal(request.destination.length, 6);
	assert_memory_equal(request.destination.data, "node02\0\0", 8);
	assert_false(request.query_sa);
	assert_false(request.no_delay);
	check_encodes_to(&request,
			 HEADER_RESOLVE_2 SOURCE_NAME "02000000 0100 0000 6e6f64653032 00*58.");
}

static void test_resolve_by_every_type(void **state)
{
	static const struct {
		uint8_t type, length;
		const char *info;
	} types[] = {
		{ACM_ADDRESS_IP, 4, "0200 0000 0a000002 00*60."},
		{ACM_ADDRESS_IP6, 16, "0300 0000 fd*16. 00*48."},
		{ACM_ADDRESS_GID, 16, "0400 0000 fe80*15. 00*48."},
		{ACM_ADDRESS_LID, 2, "0500 0000 0102 00*62."},
	};
	char hex[600];
	struct acm_request request;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		strcpy(hex, HEADER_RESOLVE_1 "020000c0");
		strcat(hex, types[i].info);
		decode_hex(hex, &request);
		assert_int_equal(request.kind, ACM_REQUEST_RESOLVE);
		assert_false(request.has_source);
		assert_int_equal(request.source.type, ACM_ADDRESS_NONE);
		assert_int_equal(request.destination.type, types[i].type);
		assert_int_equal(request.destination.length, types[i].length);
		assert_true(request.query_sa);
		assert_true(request.no_delay);
		check_encodes_to(&request, hex);
	}
}

static void test_bytes_behind_an_ip_address_are_ignored(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex(HEADER_RESOLVE_1 "02000000 0200 0000 0a000002 ee*60.", &request);
	assert_int_equal(request.kind, ACM_REQUEST_RESOLVE);
	assert_int_equal(request.destination.length, 4);
	assert_int_equal(request.destination.data[4], 0);
}

static void test_a_name_may_fill_its_field(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex(HEADER_RESOLVE_1 "02000000 0100 0000 41*64.", &request);
	assert_int_equal(request.kind, ACM_REQUEST_RESOLVE);
	assert_int_equal(request.destination.length, ACM_ADDRESS_MAX);
	assert_int_equal(request.destination.data[63], 'a');
}

static void test_a_route_hint_behind_addresses_is_passed_over(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex(HEADER_RESOLVE_2 DESTINATION_IP "00000000 1000 0000" PATH_INFO, &request);
	assert_int_equal(request.kind, ACM_REQUEST_RESOLVE);
	assert_int_equal(request.destination.type, ACM_ADDRESS_IP);
}

static void test_resolve_by_path(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex(HEADER_RESOLVE_1 "00000080 1000 0000" PATH_INFO, &request);
	assert_int_equal(request.kind, ACM_REQUEST_PATH);
	assert_true(request.query_sa);
	assert_false(request.no_delay);
	assert_int_equal(request.path.service_id, golden_path.service_id);
	assert_memory_equal(&request.path.dgid, &golden_path.dgid, 16);
	assert_memory_equal(&request.path.sgid, &golden_path.sgid, 16);
	assert_int_equal(request.path.dlid, 7);
	assert_int_equal(request.path.slid, 3);
	assert_int_equal(request.path.flow_label, 0xabc);
	assert_int_equal(request.path.hop_limit, 0x40);
	assert_int_equal(request.path.traffic_class, 0x11);
	assert_true(request.path.reversible);
	assert_int_equal(request.path.path_count, 1);
	assert_int_equal(request.path.pkey, 0xffff);
	assert_int_equal(request.path.qos_class, 0x123);
	assert_int_equal(request.path.sl, 5);
	assert_int_equal(request.path.mtu, 4);
	assert_int_equal(request.path.mtu_selector, 2);
	assert_int_equal(request.path.rate, 7);
	assert_int_equal(request.path.rate_selector, 2);
	assert_int_equal(request.path.packet_life, 18);
	assert_int_equal(request.path.packet_life_selector, 2);
	assert_int_equal(request.path.preference, 9);
	check_encodes_to(&request, HEADER_RESOLVE_1 "00000080 1000 0000" PATH_INFO);
}

static void test_counter_queries(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex("01020000 0500 0010" TID, &request);
	assert_int_equal(request.kind, ACM_REQUEST_COUNTERS);
	assert_int_equal(request.index, 5);
	assert_false(request.has_source);
	check_encodes_to(&request, "01020000 0500 0010" TID);

	decode_hex("01020000 0000 0058" TID SOURCE_NAME, &request);
	assert_int_equal(request.kind, ACM_REQUEST_COUNTERS);
	assert_int_equal(request.index, 0);
	assert_true(request.has_source);
	check_encodes_to(&request, "01020000 0000 0058" TID SOURCE_NAME);
}

static void test_endpoint_queries(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex("01030002 0100 0010" TID, &request);
	assert_int_equal(request.kind, ACM_REQUEST_ENDPOINT);
	assert_int_equal(request.index, 2);
	assert_int_equal(request.port, 1);
	check_encodes_to(&request, "01030002 0100 0010" TID);
}

static void test_what_is_not_a_request_is_not_encoded(void **state)
{
	struct acm_request request = {.kind = ACM_REQUEST_MALFORMED};
	uint8_t bytes[REQUEST_ROOM];

	(void)state;
	assert_int_equal(acm_client_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
}

static void test_malformed_resolves(void **state)
{
	(void)state;
	/* No destination, or two. */
	check_malformed("01010000 0000 1000" TID, ACM_STATUS_DESTINATION_TYPE);
	check_malformed(HEADER_RESOLVE_1 SOURCE_NAME, ACM_STATUS_DESTINATION_TYPE);
	check_malformed(HEADER_RESOLVE_2 DESTINATION_NAME DESTINATION_IP, ACM_STATUS_INVALID);
	/* Two sources; both; neither. */
	check_malformed(HEADER_RESOLVE_2 SOURCE_NAME SOURCE_NAME, ACM_STATUS_INVALID);
	check_malformed(HEADER_RESOLVE_1 "03000000 0100 0000 61 00*63.", ACM_STATUS_INVALID);
	check_malformed(HEADER_RESOLVE_2 DESTINATION_NAME "00000000 0100 0000 61 00*63.",
			ACM_STATUS_INVALID);
	check_malformed("01010000 0000 5002" TID "00*576.", ACM_STATUS_INVALID);
	/* Types. */
	check_malformed(HEADER_RESOLVE_1 "02000000 0000 0000 61 00*63.",
			ACM_STATUS_DESTINATION_TYPE);
	check_malformed(HEADER_RESOLVE_1 "02000000 0600 0000 61 00*63.",
			ACM_STATUS_DESTINATION_TYPE);
	check_malformed(HEADER_RESOLVE_1 "02000000 0101 0000 61 00*63.",
			ACM_STATUS_DESTINATION_TYPE);
	check_malformed(HEADER_RESOLVE_2 "01000000 0000 0000 61 00*63." DESTINATION_NAME,
			ACM_STATUS_SOURCE_TYPE);
	check_malformed(HEADER_RESOLVE_2 "01000000 0600 0000 61 00*63." DESTINATION_NAME,
			ACM_STATUS_SOURCE_TYPE);
	check_malformed(HEADER_RESOLVE_2 DESTINATION_NAME "01000000 1000 0000" PATH_INFO,
			ACM_STATUS_SOURCE_TYPE);
	/* Contents. */
	check_malformed(HEADER_RESOLVE_1 "02000000 0100 0000 00*64.",
			ACM_STATUS_DESTINATION_ADDRESS);
	check_malformed(HEADER_RESOLVE_1 "02000000 0100 0000 610a 00*62.",
			ACM_STATUS_DESTINATION_ADDRESS);
	check_malformed(HEADER_RESOLVE_2 "01000000 0100 0000 00*64." DESTINATION_NAME,
			ACM_STATUS_SOURCE_ADDRESS);
	/* Ragged. */
	check_malformed("01010000 0000 1100" TID "00", ACM_STATUS_INVALID);
	check_malformed("01010000 0000 5900" TID DESTINATION_NAME "00", ACM_STATUS_INVALID);
	check_malformed("01010000 0000 5700" TID "02000000 0100 0000 61 00*62.",
			ACM_STATUS_INVALID);
}

#define PATH_RECORD(dgid, dlid, slid, mtu, rate)                                                   \
	HEADER_RESOLVE_1 "00000000 1000 0000"                                                      \
			 "00*8." dgid "00*16." dlid slid "00000000 00 00 0000 0000" mtu rate       \
			 "00 00 00*6."

static void test_paths_out_of_range(void **state)
{
	struct acm_request request;

	(void)state;
	decode_hex(PATH_RECORD("00*16.", "0007", "0000", "00", "00"), &request);
	assert_int_equal(request.kind, ACM_REQUEST_PATH);
	decode_hex(PATH_RECORD("fe80*15.", "0000", "bfff", "85", "99"), &request);
	assert_int_equal(request.kind, ACM_REQUEST_PATH);
	check_malformed(PATH_RECORD("00*16.", "0000", "0003", "00", "00"),
			ACM_STATUS_DESTINATION_ADDRESS);
	check_malformed(PATH_RECORD("00*16.", "ffff", "0003", "00", "00"),
			ACM_STATUS_DESTINATION_ADDRESS);
	check_malformed(PATH_RECORD("00*16.", "0007", "c000", "00", "00"),
			ACM_STATUS_SOURCE_ADDRESS);
	check_malformed(PATH_RECORD("00*16.", "0007", "0003", "86", "00"), ACM_STATUS_INVALID);
	check_malformed(PATH_RECORD("00*16.", "0007", "0003", "00", "81"), ACM_STATUS_INVALID);
	check_malformed(PATH_RECORD("00*16.", "0007", "0003", "00", "9a"), ACM_STATUS_INVALID);
	check_malformed(HEADER_RESOLVE_2 "00000000 1000 0000" PATH_INFO DESTINATION_NAME,
			ACM_STATUS_INVALID);
}

static void test_malformed_queries(void **state)
{
	(void)state;
	check_malformed("01020000 0000 0058" TID DESTINATION_NAME, ACM_STATUS_INVALID);
	check_malformed("01020000 0000 0058" TID "00000000 0100 0000 61 00*63.",
			ACM_STATUS_INVALID);
	check_malformed("01020000 0000 0058" TID "01000000 0700 0000 61 00*63.",
			ACM_STATUS_SOURCE_TYPE);
	check_malformed("01020000 0000 0058" TID "01000000 0100 0000 00*64.",
			ACM_STATUS_SOURCE_ADDRESS);
	check_malformed("01020000 0000 00a0" TID SOURCE_NAME SOURCE_NAME, ACM_STATUS_INVALID);
	check_malformed("01020000 0000 0011" TID "00", ACM_STATUS_INVALID);
	check_malformed("01030000 0000 0058" TID SOURCE_NAME, ACM_STATUS_INVALID);
	check_malformed("01030000 0000 0018" TID "00*8.", ACM_STATUS_INVALID);
}

static void test_opcodes_that_are_no_question(void **state)
{
	(void)state;
	/* Answers and operations with other high bits: framed by the low nibble. */
	check_malformed("01810000 0000 5800" TID DESTINATION_NAME, ACM_STATUS_INVALID);
	check_malformed("01820000 0000 0010" TID, ACM_STATUS_INVALID);
	check_malformed("01830000 0000 0010" TID, ACM_STATUS_INVALID);
	check_malformed("01110000 0000 1000" TID, ACM_STATUS_INVALID);
	/* Operations that do not exist: framed by what makes sense. */
	check_malformed("01000000 0000 1000" TID, ACM_STATUS_INVALID);
	check_malformed("01040000 0000 1000" TID, ACM_STATUS_INVALID);
	check_malformed("01040000 0000 0010" TID, ACM_STATUS_INVALID);
	check_malformed("010f0000 0000 0058" TID SOURCE_NAME, ACM_STATUS_INVALID);
}

static int frame_of(const char *hex)
{
	uint8_t bytes[REQUEST_ROOM];

	return acm_client_frame(bytes, from_hex(hex, bytes, sizeof(bytes)));
}

static void test_framing(void **state)
{
	uint8_t bytes[ACM_CLIENT_HEADER_LENGTH] = {1, 1, [6] = 0x50, 0x02};

	(void)state;
	for (size_t have = 0; have < sizeof(bytes); have++) {
		uint8_t *copy = exact_copy(bytes, have);

		assert_int_equal(acm_client_frame(copy, have), 0);
		assert_int_equal(acm_client_reply_frame(copy, have), 0);
		free(copy);
	}
	assert_int_equal(acm_client_frame(bytes, sizeof(bytes)), ACM_CLIENT_REQUEST_MAX);
	assert_int_equal(frame_of("01010000 0000 1000" TID), 16);
	/* Two messages in one read: the first one's length. */
	assert_int_equal(frame_of("01030000 0000 0010" TID "01010000 0000 5800" TID), 16);
	/* Wrong versions. */
	assert_int_equal(frame_of("00010000 0000 1000" TID), -EBADMSG);
	assert_int_equal(frame_of("02010000 0000 1000" TID), -EBADMSG);
	/* Lengths, in each byte order. */
	assert_int_equal(frame_of("01010000 0000 0f00" TID), -EBADMSG);
	assert_int_equal(frame_of("01010000 0000 0000" TID), -EBADMSG);
	assert_int_equal(frame_of("01010000 0000 5102" TID), -EBADMSG);
	assert_int_equal(frame_of("01010000 0000 0010" TID), -EBADMSG);
	assert_int_equal(frame_of("01020000 0000 1000" TID), -EBADMSG);
	assert_int_equal(frame_of("01030000 0000 000f" TID), -EBADMSG);
	assert_int_equal(frame_of("01030000 0000 0251" TID), -EBADMSG);
	assert_int_equal(frame_of("01810000 0000 0010" TID), -EBADMSG);
	assert_int_equal(frame_of("01070000 0000 ffff" TID), -EBADMSG);
	assert_int_equal(frame_of("01070000 0000 0f00" TID), -EBADMSG);
	/* Answers may be longer. */
	assert_int_equal(acm_client_reply_frame((const uint8_t[16]){1, 0x83, [6] = 0xff, 0xd0}, 16),
			 0xffd0);
	assert_int_equal(acm_client_reply_frame((const uint8_t[16]){2, 0x83, [7] = 16}, 16),
			 -EBADMSG);
}

static void check_reply_bytes(const struct acm_reply *reply, const char *hex)
{
	uint8_t expected[1024];
	size_t length = from_hex(hex, expected, sizeof(expected));

	assert_int_equal(acm_client_reply_length(reply), length);
	for (size_t size = 0; size <= length; size++) {
		uint8_t *room = malloc(size);

		if (size > 0)
			memset(room, 0xa5, size);
		assert_int_equal(acm_client_encode_reply(reply, room, size),
				 size < length ? -ENOSPC : (int)length);
		if (size == length)
			assert_memory_equal(room, expected, length);
		free(room);
	}
}

static int decode_reply_hex(const char *hex, uint8_t **frame, struct acm_reply *reply)
{
	uint8_t bytes[1024];
	size_t length = from_hex(hex, bytes, sizeof(bytes));

	*frame = exact_copy(bytes, length);
	memset(reply, 0xa5, sizeof(*reply));
	return acm_client_decode_reply(*frame, length, reply);
}

static void check_bad_reply(const char *hex)
{
	struct acm_reply reply;
	uint8_t *frame;

	assert_int_equal(decode_reply_hex(hex, &frame, &reply), -EBADMSG);
	free(frame);
}

#define PATH_ANSWER   "2b000000 1000 0000" PATH_INFO
#define SOURCE_ANSWER "01000000 0200 0000 0a000001 00*60."

static void test_path_answers(void **state)
{
	struct acm_reply reply = {.tid = golden_tid(),
				  .opcode = ACM_OPCODE_RESOLVE,
				  .kind = ACM_REQUEST_RESOLVE,
				  .path = golden_path};
	uint8_t *frame;

	(void)state;
	check_reply_bytes(&reply, "01810000 0000 5800" TID PATH_ANSWER);
	reply.kind = ACM_REQUEST_PATH;
	check_reply_bytes(&reply, "01810000 0000 5800" TID PATH_ANSWER);
	reply.has_source = true;
	assert_int_equal(acm_address_canonical(&reply.source, ACM_ADDRESS_IP,
					       (const uint8_t[]){10, 0, 0, 1}, 4),
			 0);
	check_reply_bytes(&reply, "01810000 0000 a000" TID PATH_ANSWER SOURCE_ANSWER);

	assert_int_equal(decode_reply_hex("01810000 0000 a000" TID PATH_ANSWER SOURCE_ANSWER,
					  &frame, &reply),
			 0);
	assert_int_equal(reply.kind, ACM_REQUEST_RESOLVE);
	assert_int_equal(reply.opcode, ACM_OPCODE_RESOLVE);
	assert_int_equal(reply.status, ACM_STATUS_OK);
	assert_int_equal(reply.tid, golden_tid());
	assert_int_equal(reply.path.dlid, golden_path.dlid);
	assert_int_equal(reply.path.rate, golden_path.rate);
	assert_true(reply.has_source);
	assert_int_equal(reply.source.type, ACM_ADDRESS_IP);
	free(frame);
	/* The field's services leave the answer bit out of successes. */
	assert_int_equal(decode_reply_hex("01010000 0000 5800" TID PATH_ANSWER, &frame, &reply), 0);
	assert_int_equal(reply.kind, ACM_REQUEST_RESOLVE);
	assert_false(reply.has_source);
	free(frame);
}

static void test_failures_have_no_body(void **state)
{
	struct acm_reply reply = {.tid = golden_tid(), .has_source = true, .counter_count = 7};
	uint8_t *frame;

	(void)state;
	reply.status = ACM_STATUS_TIMED_OUT;
	for (int kind = ACM_REQUEST_RESOLVE; kind <= ACM_REQUEST_PATH; kind++) {
		reply.kind = (enum acm_request_kind)kind;
		reply.opcode = ACM_OPCODE_RESOLVE;
		check_reply_bytes(&reply, "01810600 0000 1000" TID);
	}
	reply.kind = ACM_REQUEST_COUNTERS;
	reply.opcode = ACM_OPCODE_COUNTERS;
	check_reply_bytes(&reply, "01820600 0000 0010" TID);
	reply.kind = ACM_REQUEST_ENDPOINT;
	reply.opcode = ACM_OPCODE_ENDPOINT;
	reply.status = ACM_STATUS_INVALID;
	check_reply_bytes(&reply, "01830200 0000 0010" TID);
	reply.kind = ACM_REQUEST_MALFORMED;
	reply.opcode = 0x07;
	check_reply_bytes(&reply, "01870200 0000 1000" TID);
	reply.opcode = 0x81;
	check_reply_bytes(&reply, "01810200 0000 1000" TID);

	assert_int_equal(decode_reply_hex("01810600 0000 1000" TID, &frame, &reply), 0);
	assert_int_equal(reply.status, ACM_STATUS_TIMED_OUT);
	free(frame);
	assert_int_equal(decode_reply_hex("01870200 0000 1000" TID, &frame, &reply), 0);
	assert_int_equal(reply.kind, ACM_REQUEST_MALFORMED);
	free(frame);
	/* An errno where a status belongs, as some services send. */
	assert_int_equal(decode_reply_hex("01816500 0000 1000" TID, &frame, &reply), 0);
	assert_int_equal(reply.status, 0x65);
	free(frame);
}

static void test_counter_answers(void **state)
{
	struct acm_reply reply = {.tid = golden_tid(),
				  .opcode = ACM_OPCODE_COUNTERS,
				  .kind = ACM_REQUEST_COUNTERS,
				  .counter_count = 2,
				  .counters = {1, 0x0102030405060708}};
	uint8_t *frame;

	(void)state;
	check_reply_bytes(&reply, "01820002 0000 0020" TID "0000000000000001 0102030405060708");
	assert_int_equal(decode_reply_hex("01820002 0000 0020" TID
					  "0000000000000001 0102030405060708",
					  &frame, &reply),
			 0);
	assert_int_equal(reply.counter_count, 2);
	assert_int_equal(reply.counters[1], 0x0102030405060708);
	assert_int_equal(reply.counters[2], 0);
	free(frame);
}

#define ENDPOINT_BODY                                                                              \
	"0002c90300000001 02 04 0000 8001 0002"                                                    \
	"61636d70 00*60."                                                                          \
	"6e6f64653031 00*58."                                                                      \
	"78*64."

static void test_endpoint_answers(void **state)
{
	char addresses[2][ACM_ADDRESS_MAX] = {"node01"};
	struct acm_reply reply = {.tid = golden_tid(),
				  .opcode = ACM_OPCODE_ENDPOINT,
				  .kind = ACM_REQUEST_ENDPOINT,
				  .endpoint = {.index = 1,
					       .device_guid = 0x0002c90300000001,
					       .port = 2,
					       .port_count = 4,
					       .pkey = 0x8001,
					       .provider = "acmp",
					       .address_count = 2,
					       .addresses = addresses}};
	uint8_t *frame;

	(void)state;
	memset(addresses[1], 'x', ACM_ADDRESS_MAX);
	check_reply_bytes(&reply, "01830001 0000 00e0" TID ENDPOINT_BODY);
	assert_int_equal(decode_reply_hex("01830001 0000 00e0" TID ENDPOINT_BODY, &frame, &reply),
			 0);
	assert_int_equal(reply.endpoint.index, 1);
	assert_int_equal(reply.endpoint.device_guid, 0x0002c90300000001);
	assert_int_equal(reply.endpoint.port, 2);
	assert_int_equal(reply.endpoint.port_count, 4);
	assert_int_equal(reply.endpoint.pkey, 0x8001);
	assert_string_equal(reply.endpoint.provider, "acmp");
	assert_int_equal(reply.endpoint.address_count, 2);
	assert_string_equal(reply.endpoint.addresses[0], "node01");
	assert_memory_equal(reply.endpoint.addresses[1], addresses[1], ACM_ADDRESS_MAX);
	assert_int_equal((const uint8_t *)reply.endpoint.addresses[1] - frame, 16 + 80 + 64);
	free(frame);
}

static void test_a_provider_name_always_ends(void **state)
{
	char provider[ACM_ADDRESS_MAX + 8];
	uint8_t bytes[16 + 80];
	struct acm_reply reply = {.opcode = ACM_OPCODE_ENDPOINT,
				  .kind = ACM_REQUEST_ENDPOINT,
				  .endpoint = {.provider = provider}};

	(void)state;
	memset(provider, 'p', sizeof(provider) - 1);
	provider[sizeof(provider) - 1] = '\0';
	assert_int_equal(acm_client_encode_reply(&reply, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(bytes[16 + 16 + 62], 'p');
	assert_int_equal(bytes[16 + 16 + 63], 0);
	bytes[16 + 16 + 63] = 'p';
	assert_int_equal(acm_client_decode_reply(bytes, sizeof(bytes), &reply), -EBADMSG);
}

static void test_more_addresses_than_a_length_can_say(void **state)
{
	static uint8_t bytes[1 << 17];
	static const char addresses[1023][ACM_ADDRESS_MAX];
	struct acm_reply reply = {
		.opcode = ACM_OPCODE_ENDPOINT,
		.kind = ACM_REQUEST_ENDPOINT,
		.endpoint = {.provider = "", .address_count = 1022, .addresses = addresses}};

	(void)state;
	assert_int_equal(acm_client_encode_reply(&reply, bytes, sizeof(bytes)),
			 16 + 80 + 1022 * 64);
	reply.endpoint.address_count = 1023;
	assert_int_equal(acm_client_encode_reply(&reply, bytes, sizeof(bytes)), -ENOSPC);
}

static void test_bad_answers(void **state)
{
	(void)state;
	check_bad_reply("01810000 0000 1000" TID); /* success without a path */
	check_bad_reply("01810000 0000 5800" TID SOURCE_ANSWER);
	check_bad_reply("01810000 0000 a000" TID PATH_ANSWER "00000000 0200 0000 00*64.");
	check_bad_reply("01810000 0000 a000" TID PATH_ANSWER "01000000 0900 0000 00*64.");
	check_bad_reply("01810000 0000 e800" TID PATH_ANSWER SOURCE_ANSWER SOURCE_ANSWER);
	check_bad_reply("01810000 0000 5900" TID PATH_ANSWER "00");
	check_bad_reply("01810000 0000 5800" TID PATH_ANSWER "00"); /* more than it says */
	check_bad_reply("02810000 0000 5800" TID PATH_ANSWER);
	check_bad_reply("01820002 0000 0018" TID "0000000000000001");
	check_bad_reply("01820019 0000 00d8" TID "00*200."); /* 25 counters */
	check_bad_reply("01830001 0000 0010" TID);
	check_bad_reply("01830001 0000 0060" TID "00*14. 0001 00*64.");
	check_bad_reply("01870000 0000 1000" TID); /* nobody succeeds at nothing */
}

static const char *const samples[] = {
	HEADER_RESOLVE_2 SOURCE_NAME DESTINATION_NAME,
	HEADER_RESOLVE_1 DESTINATION_IP,
	HEADER_RESOLVE_1 "00000080 1000 0000" PATH_INFO,
	"01020000 0000 0058" TID SOURCE_NAME,
	"01030002 0100 0010" TID,
	"01810000 0000 a000" TID PATH_ANSWER SOURCE_ANSWER,
	"01820002 0000 0020" TID "0000000000000001 0102030405060708",
	"01830001 0000 00e0" TID ENDPOINT_BODY,
	"01810600 0000 1000" TID,
};

#define SAMPLE_COUNT (sizeof(samples) / sizeof(samples[0]))

static void test_every_truncation(void **state)
{
	uint8_t bytes[1024];
	struct acm_request request;
	struct acm_reply reply;

	(void)state;
	for (size_t i = 0; i < SAMPLE_COUNT; i++) {
		size_t whole = from_hex(samples[i], bytes, sizeof(bytes));

		for (size_t length = 0; length < whole; length++) {
			uint8_t *copy = exact_copy(bytes, length);
			int framed = acm_client_reply_frame(copy, length);

			assert_int_equal(framed, length < 16 ? 0 : (int)whole);
			assert_int_equal(acm_client_decode_reply(copy, length, &reply), -EBADMSG);
			decode_exact(copy, length, &request);
			if (length < 16)
				assert_int_equal(request.kind, ACM_REQUEST_MALFORMED);
			free(copy);
		}
	}
}

/* Whatever bytes come: a request is malformed with a failure, or it is whole and canonical. */
static void check_request_invariants(const struct acm_request *request)
{
	struct acm_address again;

	if (request->kind == ACM_REQUEST_MALFORMED) {
		assert_int_not_equal(request->malformed, ACM_STATUS_OK);
		return;
	}
	assert_int_equal(request->malformed, ACM_STATUS_OK);
	assert_int_equal(request->kind == ACM_REQUEST_RESOLVE,
			 request->destination.type != ACM_ADDRESS_NONE);
	assert_int_equal(request->has_source, request->source.type != ACM_ADDRESS_NONE);
	if (request->kind == ACM_REQUEST_RESOLVE) {
		assert_int_equal(acm_address_canonical(
					 &again, (enum acm_address_type)request->destination.type,
					 request->destination.data, request->destination.length),
				 0);
		assert_true(acm_address_equal(&again, &request->destination));
	}
}

static void test_mutations(void **state)
{
	struct mutator mutator = {.state = 0xacedacedull};
	uint8_t bytes[1024];
	struct acm_request request;
	struct acm_reply reply;
	unsigned int kinds[ACM_REQUEST_MALFORMED + 1] = {0};
	unsigned int replies = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		size_t length = from_hex(samples[i % SAMPLE_COUNT], bytes, sizeof(bytes));
		uint8_t *copy;
		int framed;

		length = mutate(&mutator, bytes, length);
		copy = exact_copy(bytes, length);
		framed = acm_client_frame(copy, length);
		assert_true(framed == 0 || framed == -EBADMSG ||
			    (framed >= 16 && framed <= ACM_CLIENT_REQUEST_MAX));
		decode_exact(copy, length, &request);
		check_request_invariants(&request);
		kinds[request.kind]++;
		replies += acm_client_decode_reply(copy, length, &reply) == 0;
		free(copy);
	}
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		assert_true(kinds[kind] > 100);
	assert_true(replies > 100);
}

static void test_status_texts(void **state)
{
	(void)state;
	assert_string_equal(acm_status_text(ACM_STATUS_OK), "success");
	assert_string_equal(acm_status_text(ACM_STATUS_TIMED_OUT), "timed out");
	for (unsigned int status = 0; status < 256; status++) {
		const char *text = acm_status_text((enum acm_status)status);

		assert_non_null(text);
		assert_int_equal(strcmp(text, "unknown status") == 0, status == 4 || status > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_by_name),
		cmocka_unit_test(test_resolve_by_every_type),
		cmocka_unit_test(test_bytes_behind_an_ip_address_are_ignored),
		cmocka_unit_test(test_a_name_may_fill_its_field),
		cmocka_unit_test(test_a_route_hint_behind_addresses_is_passed_over),
		cmocka_unit_test(test_resolve_by_path),
		cmocka_unit_test(test_counter_queries),
		cmocka_unit_test(test_endpoint_queries),
		cmocka_unit_test(test_what_is_not_a_request_is_not_encoded),
		cmocka_unit_test(test_malformed_resolves),
		cmocka_unit_test(test_paths_out_of_range),
		cmocka_unit_test(test_malformed_queries),
		cmocka_unit_test(test_opcodes_that_are_no_question),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_path_answers),
		cmocka_unit_test(test_failures_have_no_body),
		cmocka_unit_test(test_counter_answers),
		cmocka_unit_test(test_endpoint_answers),
		cmocka_unit_test(test_a_provider_name_always_ends),
		cmocka_unit_test(test_more_addresses_than_a_length_can_say),
		cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_status_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
