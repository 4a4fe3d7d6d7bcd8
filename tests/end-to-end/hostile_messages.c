/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Built from the bytes of the protocol's header, not by the project's own encoder. */
#include "hostile_messages.h"

#include <infiniband/acm.h>
#include <string.h>

static struct acm_hdr *start(struct message *message, uint8_t opcode)
{
	struct acm_hdr *header = (struct acm_hdr *)(void *)message->bytes;

	memset(message, 0, sizeof(*message));
	message->length = ACM_MSG_HDR_LENGTH;
	header->version = ACM_VERSION;
	header->opcode = opcode;
	header->length = ACM_MSG_HDR_LENGTH;
	return header;
}

static struct acm_hdr *header_of(struct message *message)
{
	return (struct acm_hdr *)(void *)message->bytes;
}

static struct acm_ep_addr_data *record_of(struct message *message, unsigned int index)
{
	return (struct acm_ep_addr_data *)(void *)(message->bytes + ACM_MSG_HDR_LENGTH +
						   index * ACM_MSG_EP_LENGTH);
}

static void add(struct message *message, uint32_t flags, uint16_t type, const char *name)
{
	struct acm_ep_addr_data *record =
		record_of(message, (unsigned int)((message->length - ACM_MSG_HDR_LENGTH) /
						  ACM_MSG_EP_LENGTH));

	record->flags = flags;
	record->type = type;
	memcpy(record->info.name, name, strlen(name));
	message->length += ACM_MSG_EP_LENGTH;
	header_of(message)->length = (uint16_t)message->length;
}

static void add_source(struct message *message)
{
	add(message, ACM_EP_FLAG_SOURCE, ACM_EP_INFO_NAME, "node01");
}

static void add_destination(struct message *message)
{
	add(message, ACM_EP_FLAG_DEST, ACM_EP_INFO_NAME, "node17");
}

void message_resolve(struct message *message, const char *destination, uint64_t tid)
{
	start(message, ACM_OP_RESOLVE)->tid = tid;
	add_source(message);
	add(message, ACM_EP_FLAG_DEST, ACM_EP_INFO_NAME, destination);
}

static void make_good(struct message *message)
{
	message_resolve(message, "node17", 0x1122334455667788);
}

/* ---- what cannot be framed ---- */

static void make_version_0(struct message *message)
{
	make_good(message);
	header_of(message)->version = 0;
}

static void make_version_2(struct message *message)
{
	make_good(message);
	header_of(message)->version = 2;
}

static void make_length_0(struct message *message)
{
	make_good(message);
	header_of(message)->length = 0;
}

static void make_length_15(struct message *message)
{
	make_good(message);
	header_of(message)->length = 15;
}

static void make_length_593(struct message *message)
{
	make_good(message);
	header_of(message)->length = ACM_CLIENT_REQUEST_MAX + 1;
}

static void make_length_65535(struct message *message)
{
	make_good(message);
	header_of(message)->length = 65535;
}

/* In host order, which is wrong for a query. */
static void make_query_length(struct message *message)
{
	start(message, ACM_OP_PERF_QUERY);
}

static void make_text(struct message *message)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: node01\r\n\r\n";

	start(message, 0);
	message->length = sizeof(text) - 1;
	memcpy(message->bytes, text, message->length);
}

static void make_garbage(struct message *message)
{
	uint32_t state = 1;

	start(message, 0);
	message->length = 300;
	for (size_t i = 0; i < message->length; i++) {
		state = state * 1664525 + 1013904223;
		message->bytes[i] = (uint8_t)(state >> 24);
	}
	message->bytes[0] |= 0x80; /* no version */
}

/* ---- what can be framed, but is no request ---- */

static void make_opcode_4(struct message *message)
{
	make_good(message);
	header_of(message)->opcode = 4;
}

static void make_opcode_0(struct message *message)
{
	make_good(message);
	header_of(message)->opcode = 0;
}

static void make_answer(struct message *message)
{
	make_good(message);
	header_of(message)->opcode = ACM_OP_RESOLVE | ACM_OP_ACK;
}

static void make_ragged(struct message *message)
{
	make_good(message);
	header_of(message)->length = (uint16_t)--message->length;
}

static void make_empty(struct message *message)
{
	start(message, ACM_OP_RESOLVE);
}

static void make_no_destination(struct message *message)
{
	start(message, ACM_OP_RESOLVE);
	add_source(message);
}

static void make_two_destinations(struct message *message)
{
	make_good(message);
	add_destination(message);
}

static void make_eight_destinations(struct message *message)
{
	start(message, ACM_OP_RESOLVE);
	for (int i = 0; i < 8; i++)
		add_destination(message);
}

static void make_two_sources(struct message *message)
{
	start(message, ACM_OP_RESOLVE);
	add_source(message);
	add_source(message);
	add_destination(message);
}

static void make_both_in_one(struct message *message)
{
	start(message, ACM_OP_RESOLVE);
	add(message, ACM_EP_FLAG_SOURCE | ACM_EP_FLAG_DEST, ACM_EP_INFO_NAME, "node17");
}

static void make_neither(struct message *message)
{
	make_good(message);
	add(message, 0, ACM_EP_INFO_NAME, "node17");
}

static void make_destination_type(struct message *message)
{
	make_good(message);
	record_of(message, 1)->type = 99;
}

static void make_source_type(struct message *message)
{
	make_good(message);
	record_of(message, 0)->type = 99;
}

static void make_destination_empty(struct message *message)
{
	message_resolve(message, "", 1);
}

static void make_source_foreign(struct message *message)
{
	make_good(message);
	memcpy(record_of(message, 0)->info.name, "node02", 6);
}

static void make_path_and_more(struct message *message)
{
	start(message, ACM_OP_RESOLVE);
	add(message, 0, ACM_EP_INFO_PATH, "");
	add_destination(message);
}

static void make_path_of_nothing(struct message *message)
{
	start(message, ACM_OP_RESOLVE);
	add(message, 0, ACM_EP_INFO_PATH, "");
}

static uint16_t big_endian(uint16_t value)
{
	uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
	uint16_t result;

	memcpy(&result, bytes, sizeof(result));
	return result;
}

static void make_no_endpoint(struct message *message)
{
	struct acm_hdr *header = start(message, ACM_OP_EP_QUERY);

	header->length = big_endian(ACM_MSG_HDR_LENGTH);
	header->src_out = 255;
}

static void make_no_counters(struct message *message)
{
	struct acm_hdr *header = start(message, ACM_OP_PERF_QUERY);

	header->length = big_endian(ACM_MSG_HDR_LENGTH);
	header->src_index = 255;
}

const struct hostile_message hostile_messages[] = {
	{"version 0", make_version_0, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"version 2", make_version_2, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"length 0", make_length_0, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"length 15", make_length_15, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"length 593", make_length_593, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"length 65535", make_length_65535, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"a query's length in host order", make_query_length, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"text", make_text, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"garbage", make_garbage, ACM_STATUS_INVALID, CLIENT_IS_CLOSED},
	{"opcode 4", make_opcode_4, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"opcode 0", make_opcode_0, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"an answer", make_answer, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"a ragged length", make_ragged, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"no record", make_empty, ACM_STATUS_DESTINATION_TYPE, CLIENT_STAYS},
	{"no destination", make_no_destination, ACM_STATUS_DESTINATION_TYPE, CLIENT_STAYS},
	{"two destinations", make_two_destinations, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"eight destinations", make_eight_destinations, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"two sources", make_two_sources, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"source and destination in one", make_both_in_one, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"a record that is neither", make_neither, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"destination type 99", make_destination_type, ACM_STATUS_DESTINATION_TYPE, CLIENT_STAYS},
	{"source type 99", make_source_type, ACM_STATUS_SOURCE_TYPE, CLIENT_STAYS},
	{"an empty destination", make_destination_empty, ACM_STATUS_DESTINATION_ADDRESS,
	 CLIENT_STAYS},
	{"another node's source", make_source_foreign, ACM_STATUS_SOURCE_ADDRESS, CLIENT_STAYS},
	{"a path and more", make_path_and_more, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"a path of nothing", make_path_of_nothing, ACM_STATUS_DESTINATION_ADDRESS, CLIENT_STAYS},
	{"endpoint 255", make_no_endpoint, ACM_STATUS_INVALID, CLIENT_STAYS},
	{"counters of endpoint 255", make_no_counters, ACM_STATUS_INVALID, CLIENT_STAYS},
};
const unsigned int hostile_message_count = sizeof(hostile_messages) / sizeof(hostile_messages[0]);
