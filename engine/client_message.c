/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The client protocol (include/infiniband/acm.h), both directions. In resolve messages the header's
 * length and the records' flags and types are in host order; in the two queries the header's length
 * and the answers' bodies are big-endian, while a record in a query stays in host order.
 */
#include <errno.h>
#include <string.h>

#include <acmite/bytes.h>
#include <acmite/wire.h>

#include "address.h"
#include "host_bytes.h"
#include "path_record.h"

#define VERSION     1
#define OPCODE_MASK 0x0fu

/* Offsets in the header. */
#define AT_OPCODE 1
#define AT_STATUS 2
#define AT_DATA   3
#define AT_LENGTH 6
#define AT_TID    8

/* Offsets in a record. */
#define AT_FLAGS 0
#define AT_TYPE  4
#define AT_INFO  8

#define FLAG_SOURCE      (1u << 0)
#define FLAG_DESTINATION (1u << 1)
#define FLAG_NO_DELAY    (1u << 30)
#define FLAG_QUERY_SA    (1u << 31)

#define TYPE_PATH 0x10u

/* Flags of the path in an answer. */
#define PATH_GMP             (1u << 0)
#define PATH_PRIMARY         (1u << 1)
#define PATH_OUTBOUND        (1u << 3)
#define PATH_INBOUND_REVERSE (1u << 5)
#define PATH_FLAGS           (PATH_GMP | PATH_PRIMARY | PATH_OUTBOUND | PATH_INBOUND_REVERSE)

/* The fixed part of an endpoint answer's body. */
#define ENDPOINT_LENGTH      80
#define AT_ENDPOINT_PROVIDER 16

/* ---- framing ---- */

static bool is_query(uint8_t opcode)
{
	uint8_t operation = opcode & OPCODE_MASK;

	return operation == ACM_OPCODE_COUNTERS || operation == ACM_OPCODE_ENDPOINT;
}

static uint16_t load_length(const uint8_t *data)
{
	return is_query(data[AT_OPCODE]) ? load_be16(data + AT_LENGTH)
					 : load_host16(data + AT_LENGTH);
}

static void store_header(uint8_t *data, uint8_t opcode, size_t length, uint64_t tid)
{
	memset(data, 0, AT_TID);
	data[0] = VERSION;
	data[AT_OPCODE] = opcode;
	if (is_query(opcode))
		store_be16(data + AT_LENGTH, (uint16_t)length);
	else
		store_host16(data + AT_LENGTH, (uint16_t)length);
	store_host64(data + AT_TID, tid);
}

/* `most` is the longest message that is taken. */
static int frame_length(const uint8_t *data, size_t have, int most)
{
	uint8_t operation;
	int length;

	if (have < ACM_CLIENT_HEADER_LENGTH)
		return 0;
	if (data[0] != VERSION)
		return -EBADMSG;
	length = load_length(data);
	if (length >= ACM_CLIENT_HEADER_LENGTH && length <= most)
		return length;
	operation = data[AT_OPCODE] & OPCODE_MASK;
	if (operation == ACM_OPCODE_RESOLVE || is_query(operation))
		return -EBADMSG;
	/* Nobody knows the byte order of an operation that does not exist: any that makes sense. */
	length = load_be16(data + AT_LENGTH);
	return length >= ACM_CLIENT_HEADER_LENGTH && length <= most ? length : -EBADMSG;
}

int acm_client_frame(const uint8_t *data, size_t have)
{
	return frame_length(data, have, ACM_CLIENT_REQUEST_MAX);
}

/* ---- requests ---- */

static size_t record_offset(size_t index)
{
	return ACM_CLIENT_HEADER_LENGTH + index * ACM_CLIENT_RECORD_LENGTH;
}

static enum acm_status load_source(const uint8_t *record, struct acm_request *request)
{
	uint16_t type = load_host16(record + AT_TYPE);

	if (request->has_source)
		return ACM_STATUS_INVALID;
	if (type < ACM_ADDRESS_NAME || type > ACM_ADDRESS_LID)
		return ACM_STATUS_SOURCE_TYPE;
	if (acm_address_load(&request->source, type, record + AT_INFO, ACM_ADDRESS_MAX) != 0)
		return ACM_STATUS_SOURCE_ADDRESS;
	request->has_source = true;
	return ACM_STATUS_OK;
}

static void load_flags(uint32_t flags, struct acm_request *request)
{
	request->query_sa = (flags & FLAG_QUERY_SA) != 0;
	request->no_delay = (flags & FLAG_NO_DELAY) != 0;
}

static enum acm_status load_destination(const uint8_t *record, struct acm_request *request)
{
	uint16_t type = load_host16(record + AT_TYPE);

	if (request->destination.type != ACM_ADDRESS_NONE)
		return ACM_STATUS_INVALID;
	if (type < ACM_ADDRESS_NAME || type > ACM_ADDRESS_LID)
		return ACM_STATUS_DESTINATION_TYPE;
	if (acm_address_load(&request->destination, type, record + AT_INFO, ACM_ADDRESS_MAX) != 0)
		return ACM_STATUS_DESTINATION_ADDRESS;
	load_flags(load_host32(record + AT_FLAGS), request);
	return ACM_STATUS_OK;
}

static enum acm_status load_address_record(const uint8_t *record, struct acm_request *request)
{
	switch (load_host32(record + AT_FLAGS) & (FLAG_SOURCE | FLAG_DESTINATION)) {
	case FLAG_SOURCE:
		return load_source(record, request);
	case FLAG_DESTINATION:
		return load_destination(record, request);
	case 0:
		/* librdmacm puts its caller's route hint behind the addresses: not a question. */
		return load_host16(record + AT_TYPE) == TYPE_PATH ? ACM_STATUS_OK
								  : ACM_STATUS_INVALID;
	default:
		return ACM_STATUS_INVALID;
	}
}

static enum acm_status load_path_request(const uint8_t *record, struct acm_request *request)
{
	struct acm_path *path = &request->path;

	acm_path_record_load(path, record + AT_INFO);
	load_flags(load_host32(record + AT_FLAGS), request);
	if ((path->dlid == 0 && acm_gid_is_zero(&path->dgid)) || path->dlid == ACM_LID_PERMISSIVE)
		return ACM_STATUS_DESTINATION_ADDRESS;
	if (path->slid >= ACM_LID_MULTICAST)
		return ACM_STATUS_SOURCE_ADDRESS;
	if (path->mtu != 0 && acm_mtu_bytes(path->mtu) == 0)
		return ACM_STATUS_INVALID;
	if (path->rate != 0 && acm_rate_tenths_gbps(path->rate) == 0)
		return ACM_STATUS_INVALID;
	return ACM_STATUS_OK;
}

static enum acm_status decode_resolve(const uint8_t *frame, size_t records,
				      struct acm_request *request)
{
	enum acm_status status;

	if (records == 0)
		return ACM_STATUS_DESTINATION_TYPE;
	if (load_host16(frame + record_offset(0) + AT_TYPE) == TYPE_PATH) {
		request->kind = ACM_REQUEST_PATH;
		return records == 1 ? load_path_request(frame + record_offset(0), request)
				    : ACM_STATUS_INVALID;
	}
	request->kind = ACM_REQUEST_RESOLVE;
	for (size_t i = 0; i < records; i++) {
		status = load_address_record(frame + record_offset(i), request);
		if (status != ACM_STATUS_OK)
			return status;
	}
	return request->destination.type != ACM_ADDRESS_NONE ? ACM_STATUS_OK
							     : ACM_STATUS_DESTINATION_TYPE;
}

static enum acm_status decode_counters(const uint8_t *frame, size_t records,
				       struct acm_request *request)
{
	request->kind = ACM_REQUEST_COUNTERS;
	request->index = frame[AT_DATA + 1];
	if (records == 0)
		return ACM_STATUS_OK;
	if (records > 1 || (load_host32(frame + record_offset(0) + AT_FLAGS) &
			    (FLAG_SOURCE | FLAG_DESTINATION)) != FLAG_SOURCE)
		return ACM_STATUS_INVALID;
	return load_source(frame + record_offset(0), request);
}

static enum acm_status decode_endpoint(const uint8_t *frame, size_t records,
				       struct acm_request *request)
{
	request->kind = ACM_REQUEST_ENDPOINT;
	request->index = frame[AT_DATA];
	request->port = frame[AT_DATA + 1];
	return records == 0 ? ACM_STATUS_OK : ACM_STATUS_INVALID;
}

static enum acm_status decode_request(const uint8_t *frame, size_t length,
				      struct acm_request *request)
{
	size_t body = length - ACM_CLIENT_HEADER_LENGTH;
	size_t records = body / ACM_CLIENT_RECORD_LENGTH;

	if (body % ACM_CLIENT_RECORD_LENGTH != 0 || records > ACM_CLIENT_RECORDS_MAX)
		return ACM_STATUS_INVALID;
	switch (request->opcode) {
	case ACM_OPCODE_RESOLVE:
		return decode_resolve(frame, records, request);
	case ACM_OPCODE_COUNTERS:
		return decode_counters(frame, records, request);
	case ACM_OPCODE_ENDPOINT:
		return decode_endpoint(frame, records, request);
	default:
		return ACM_STATUS_INVALID;
	}
}

void acm_client_decode_request(const uint8_t *frame, size_t length, struct acm_request *request)
{
	*request = (struct acm_request){.id = request->id};
	if (length < ACM_CLIENT_HEADER_LENGTH) {
		request->malformed = ACM_STATUS_INVALID;
	} else {
		request->tid = load_host64(frame + AT_TID);
		request->opcode = frame[AT_OPCODE];
		request->malformed = frame[0] == VERSION ? decode_request(frame, length, request)
							 : ACM_STATUS_INVALID;
	}
	if (request->malformed != ACM_STATUS_OK)
		request->kind = ACM_REQUEST_MALFORMED;
}

static void store_record(uint8_t *record, uint32_t flags, uint16_t type)
{
	store_host32(record + AT_FLAGS, flags);
	store_host16(record + AT_TYPE, type);
	store_host16(record + AT_TYPE + 2, 0);
}

static void store_address_record(uint8_t *record, uint32_t flags, const struct acm_address *address)
{
	store_record(record, flags, address->type);
	acm_address_store(address, record + AT_INFO);
}

static uint32_t request_flags(const struct acm_request *request)
{
	return (request->query_sa ? FLAG_QUERY_SA : 0) | (request->no_delay ? FLAG_NO_DELAY : 0);
}

static int encode_resolve(const struct acm_request *request, uint8_t *data, size_t size)
{
	size_t records = request->has_source ? 2 : 1;
	size_t length = record_offset(records);

	if (length > size)
		return -ENOSPC;
	store_header(data, ACM_OPCODE_RESOLVE, length, request->tid);
	if (request->has_source)
		store_address_record(data + record_offset(0), FLAG_SOURCE, &request->source);
	store_address_record(data + record_offset(records - 1),
			     FLAG_DESTINATION | request_flags(request), &request->destination);
	return (int)length;
}

static int encode_path(const struct acm_request *request, uint8_t *data, size_t size)
{
	size_t length = record_offset(1);

	if (length > size)
		return -ENOSPC;
	store_header(data, ACM_OPCODE_RESOLVE, length, request->tid);
	store_record(data + record_offset(0), request_flags(request), TYPE_PATH);
	acm_path_record_store(&request->path, data + record_offset(0) + AT_INFO);
	return (int)length;
}

static int encode_counters(const struct acm_request *request, uint8_t *data, size_t size)
{
	size_t length = record_offset(request->has_source ? 1 : 0);

	if (length > size)
		return -ENOSPC;
	store_header(data, ACM_OPCODE_COUNTERS, length, request->tid);
	data[AT_DATA + 1] = request->index;
	if (request->has_source)
		store_address_record(data + record_offset(0), FLAG_SOURCE, &request->source);
	return (int)length;
}

static int encode_endpoint(const struct acm_request *request, uint8_t *data, size_t size)
{
	if (size < ACM_CLIENT_HEADER_LENGTH)
		return -ENOSPC;
	store_header(data, ACM_OPCODE_ENDPOINT, ACM_CLIENT_HEADER_LENGTH, request->tid);
	data[AT_DATA] = request->index;
	data[AT_DATA + 1] = request->port;
	return ACM_CLIENT_HEADER_LENGTH;
}

int acm_client_encode_request(const struct acm_request *request, uint8_t *data, size_t size)
{
	switch (request->kind) {
	case ACM_REQUEST_RESOLVE:
		return encode_resolve(request, data, size);
	case ACM_REQUEST_PATH:
		return encode_path(request, data, size);
	case ACM_REQUEST_COUNTERS:
		return encode_counters(request, data, size);
	case ACM_REQUEST_ENDPOINT:
		return encode_endpoint(request, data, size);
	default:
		return -EINVAL;
	}
}

/* ---- replies ---- */

size_t acm_client_reply_length(const struct acm_reply *reply)
{
	if (reply->status != ACM_STATUS_OK)
		return ACM_CLIENT_HEADER_LENGTH;
	switch (reply->kind) {
	case ACM_REQUEST_RESOLVE:
	case ACM_REQUEST_PATH:
		return record_offset(reply->has_source ? 2 : 1);
	case ACM_REQUEST_COUNTERS:
		return ACM_CLIENT_HEADER_LENGTH + reply->counter_count * sizeof(uint64_t);
	case ACM_REQUEST_ENDPOINT:
		return ACM_CLIENT_HEADER_LENGTH + ENDPOINT_LENGTH +
		       (size_t)reply->endpoint.address_count * ACM_ADDRESS_MAX;
	default:
		return ACM_CLIENT_HEADER_LENGTH;
	}
}

static void store_resolved(const struct acm_reply *reply, uint8_t *data)
{
	uint8_t *record = data + record_offset(0);

	store_record(record, PATH_FLAGS, TYPE_PATH);
	acm_path_record_store(&reply->path, record + AT_INFO);
	if (reply->has_source)
		store_address_record(data + record_offset(1), FLAG_SOURCE, &reply->source);
}

static void store_counters(const struct acm_reply *reply, uint8_t *data)
{
	data[AT_DATA] = reply->counter_count;
	for (size_t i = 0; i < reply->counter_count; i++)
		store_be64(data + ACM_CLIENT_HEADER_LENGTH + i * sizeof(uint64_t),
			   reply->counters[i]);
}

/* NUL-padded; as long as the field is what an address may fill, else the last byte is a NUL. */
static void store_text(uint8_t *field, const char *text, size_t most)
{
	size_t length = strnlen(text, most);

	memcpy(field, text, length);
	memset(field + length, 0, ACM_ADDRESS_MAX - length);
}

static void store_endpoint(const struct acm_reply *reply, uint8_t *data)
{
	uint8_t *body = data + ACM_CLIENT_HEADER_LENGTH;

	data[AT_DATA] = reply->endpoint.index;
	store_be64(body, reply->endpoint.device_guid);
	body[8] = reply->endpoint.port;
	body[9] = reply->endpoint.port_count;
	store_be16(body + 10, 0);
	store_be16(body + 12, reply->endpoint.pkey);
	store_be16(body + 14, reply->endpoint.address_count);
	store_text(body + AT_ENDPOINT_PROVIDER, reply->endpoint.provider, ACM_ADDRESS_MAX - 1);
	body += ENDPOINT_LENGTH;
	for (size_t i = 0; i < reply->endpoint.address_count; i++)
		store_text(body + i * ACM_ADDRESS_MAX, reply->endpoint.addresses[i],
			   ACM_ADDRESS_MAX);
}

int acm_client_encode_reply(const struct acm_reply *reply, uint8_t *data, size_t size)
{
	size_t length = acm_client_reply_length(reply);

	if (length > size || length > UINT16_MAX)
		return -ENOSPC;
	store_header(data, reply->opcode | ACM_OPCODE_ANSWER, length, reply->tid);
	data[AT_STATUS] = (uint8_t)reply->status;
	if (reply->status != ACM_STATUS_OK)
		return (int)length;
	switch (reply->kind) {
	case ACM_REQUEST_RESOLVE:
	case ACM_REQUEST_PATH:
		store_resolved(reply, data);
		break;
	case ACM_REQUEST_COUNTERS:
		store_counters(reply, data);
		break;
	case ACM_REQUEST_ENDPOINT:
		store_endpoint(reply, data);
		break;
	default:
		break;
	}
	return (int)length;
}

int acm_client_reply_frame(const uint8_t *data, size_t have)
{
	return frame_length(data, have, UINT16_MAX);
}

/* A record of an answer: the first path counts, further ones are for uses that acmite has not. */
static int load_answer_record(const uint8_t *record, bool *has_path, struct acm_reply *reply)
{
	uint16_t type = load_host16(record + AT_TYPE);

	if (type == TYPE_PATH) {
		if (!*has_path)
			acm_path_record_load(&reply->path, record + AT_INFO);
		*has_path = true;
		return 0;
	}
	if ((load_host32(record + AT_FLAGS) & FLAG_SOURCE) == 0 || reply->has_source ||
	    acm_address_load(&reply->source, type, record + AT_INFO, ACM_ADDRESS_MAX) != 0)
		return -EBADMSG;
	reply->has_source = true;
	return 0;
}

static int load_resolved(const uint8_t *frame, size_t length, struct acm_reply *reply)
{
	size_t body = length - ACM_CLIENT_HEADER_LENGTH;
	bool has_path = false;

	if (body % ACM_CLIENT_RECORD_LENGTH != 0)
		return -EBADMSG;
	for (size_t i = 0; i < body / ACM_CLIENT_RECORD_LENGTH; i++) {
		if (load_answer_record(frame + record_offset(i), &has_path, reply) != 0)
			return -EBADMSG;
	}
	return has_path ? 0 : -EBADMSG;
}

static int load_counters(const uint8_t *frame, size_t length, struct acm_reply *reply)
{
	size_t count = frame[AT_DATA];

	if (count > sizeof(reply->counters) / sizeof(reply->counters[0]) ||
	    length != ACM_CLIENT_HEADER_LENGTH + count * sizeof(uint64_t))
		return -EBADMSG;
	reply->counter_count = (uint8_t)count;
	for (size_t i = 0; i < count; i++)
		reply->counters[i] =
			load_be64(frame + ACM_CLIENT_HEADER_LENGTH + i * sizeof(uint64_t));
	return 0;
}

static int load_endpoint(const uint8_t *frame, size_t length, struct acm_reply *reply)
{
	const uint8_t *body = frame + ACM_CLIENT_HEADER_LENGTH;
	const uint8_t *provider = body + AT_ENDPOINT_PROVIDER;

	if (length < ACM_CLIENT_HEADER_LENGTH + ENDPOINT_LENGTH)
		return -EBADMSG;
	reply->endpoint.index = frame[AT_DATA];
	reply->endpoint.device_guid = load_be64(body);
	reply->endpoint.port = body[8];
	reply->endpoint.port_count = body[9];
	reply->endpoint.pkey = load_be16(body + 12);
	reply->endpoint.address_count = load_be16(body + 14);
	if (length != acm_client_reply_length(reply) ||
	    strnlen((const char *)provider, ACM_ADDRESS_MAX) == ACM_ADDRESS_MAX)
		return -EBADMSG;
	reply->endpoint.provider = (const char *)provider;
	reply->endpoint.addresses = (const char(*)[ACM_ADDRESS_MAX])(body + ENDPOINT_LENGTH);
	return 0;
}

static int decode_body(const uint8_t *frame, size_t length, struct acm_reply *reply)
{
	switch (reply->kind) {
	case ACM_REQUEST_RESOLVE:
		return load_resolved(frame, length, reply);
	case ACM_REQUEST_COUNTERS:
		return load_counters(frame, length, reply);
	case ACM_REQUEST_ENDPOINT:
		return load_endpoint(frame, length, reply);
	default:
		return -EBADMSG;
	}
}

static enum acm_request_kind kind_of_opcode(uint8_t opcode)
{
	switch (opcode & (uint8_t)~ACM_OPCODE_ANSWER) {
	case ACM_OPCODE_RESOLVE:
		return ACM_REQUEST_RESOLVE;
	case ACM_OPCODE_COUNTERS:
		return ACM_REQUEST_COUNTERS;
	case ACM_OPCODE_ENDPOINT:
		return ACM_REQUEST_ENDPOINT;
	default:
		return ACM_REQUEST_MALFORMED;
	}
}

int acm_client_decode_reply(const uint8_t *frame, size_t length, struct acm_reply *reply)
{
	struct acm_reply decoded = {0};
	int framed = acm_client_reply_frame(frame, length);

	if (framed <= 0 || (size_t)framed != length)
		return -EBADMSG;
	decoded.opcode = frame[AT_OPCODE] & (uint8_t)~ACM_OPCODE_ANSWER;
	decoded.kind = kind_of_opcode(decoded.opcode);
	decoded.status = (enum acm_status)frame[AT_STATUS];
	decoded.tid = load_host64(frame + AT_TID);
	if (decoded.status == ACM_STATUS_OK && decode_body(frame, length, &decoded) != 0)
		return -EBADMSG;
	*reply = decoded;
	return 0;
}

const char *acm_status_text(enum acm_status status)
{
	switch (status) {
	case ACM_STATUS_OK:
		return "success";
	case ACM_STATUS_NO_MEMORY:
		return "no memory";
	case ACM_STATUS_INVALID:
		return "invalid request";
	case ACM_STATUS_NO_DATA:
		return "no data";
	case ACM_STATUS_NOT_CONNECTED:
		return "not connected";
	case ACM_STATUS_TIMED_OUT:
		return "timed out";
	case ACM_STATUS_SOURCE_ADDRESS:
		return "unknown source address";
	case ACM_STATUS_SOURCE_TYPE:
		return "unknown source address type";
	case ACM_STATUS_DESTINATION_ADDRESS:
		return "unknown destination address";
	case ACM_STATUS_DESTINATION_TYPE:
		return "unknown destination address type";
	}
	return "unknown status";
}
