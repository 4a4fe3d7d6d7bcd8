/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The MADs that nodes exchange to find each other's addresses. */
#include <errno.h>
#include <string.h>

#include <acmite/bytes.h>
#include <acmite/transport.h>
#include <acmite/wire.h>

#include "address.h"

#define BASE_VERSION     1
#define MANAGEMENT_CLASS 0x2c
#define CLASS_VERSION    1
#define METHOD_GET       0x01
#define METHOD_ANSWER    0x81
#define CONTROL_RESOLVE  0x0001

/* Offsets in the MAD; the resolve record begins behind the header's 16 bytes. */
#define AT_METHOD           3
#define AT_STATUS           4
#define AT_CONTROL          6
#define AT_TID              8
#define AT_DESTINATION_TYPE 16
#define AT_SOURCE_TYPE      18
#define AT_GID_COUNT        20
#define AT_RESOURCES        21
#define AT_DEPTH            22
#define AT_DESTINATION      24
#define AT_SOURCE           88
#define AT_GIDS             152

/* `type` points to the address's type and length. Nodes in the field leave both out of answers. */
static int load_address(struct acm_address *address, const uint8_t *type, const uint8_t *field,
			bool answer)
{
	if (type[1] > ACM_ADDRESS_MAX)
		return -EBADMSG;
	if (answer && type[0] == ACM_ADDRESS_NONE) {
		*address = (struct acm_address){0};
		return 0;
	}
	if (type[0] > ACM_ADDRESS_IP6 || acm_address_load(address, type[0], field, type[1]) != 0)
		return -EBADMSG;
	return 0;
}

static int load_gids(const uint8_t *data, struct acm_message *message)
{
	uint8_t count = data[AT_GID_COUNT];

	message->gid_count = 0;
	if (message->answer && message->status != 0)
		return 0;
	if (count == 0 || count > ACM_MAD_GIDS_MAX)
		return -EBADMSG;
	message->gid_count = count;
	memcpy(message->gids, data + AT_GIDS, count * sizeof(message->gids[0]));
	return 0;
}

int acm_message_decode(const uint8_t *data, size_t length, struct acm_message *message)
{
	struct acm_message decoded = {0};

	if (length < ACM_MAD_LENGTH)
		return -EMSGSIZE;
	if (data[0] != BASE_VERSION || data[1] != MANAGEMENT_CLASS || data[2] != CLASS_VERSION ||
	    (data[AT_METHOD] != METHOD_GET && data[AT_METHOD] != METHOD_ANSWER) ||
	    load_be16(data + AT_CONTROL) != CONTROL_RESOLVE)
		return -EPROTO;
	decoded.answer = data[AT_METHOD] == METHOD_ANSWER;
	decoded.status = load_be16(data + AT_STATUS);
	decoded.tid = load_be64(data + AT_TID);
	decoded.responder_resources = data[AT_RESOURCES];
	decoded.initiator_depth = data[AT_DEPTH];
	if (load_address(&decoded.destination, data + AT_DESTINATION_TYPE, data + AT_DESTINATION,
			 decoded.answer) != 0 ||
	    load_address(&decoded.source, data + AT_SOURCE_TYPE, data + AT_SOURCE,
			 decoded.answer) != 0 ||
	    load_gids(data, &decoded) != 0)
		return -EBADMSG;
	*message = decoded;
	return 0;
}

static void store_address(const struct acm_address *address, uint8_t *type, uint8_t *field)
{
	type[0] = address->type;
	type[1] = address->type != ACM_ADDRESS_NONE ? ACM_ADDRESS_MAX : 0;
	acm_address_store(address, field);
}

void acm_message_encode(const struct acm_message *message, uint8_t *data)
{
	memset(data, 0, ACM_MAD_LENGTH);
	data[0] = BASE_VERSION;
	data[1] = MANAGEMENT_CLASS;
	data[2] = CLASS_VERSION;
	data[AT_METHOD] = message->answer ? METHOD_ANSWER : METHOD_GET;
	store_be16(data + AT_STATUS, message->status);
	store_be16(data + AT_CONTROL, CONTROL_RESOLVE);
	store_be64(data + AT_TID, message->tid);
	data[AT_GID_COUNT] = message->gid_count;
	data[AT_RESOURCES] = message->responder_resources;
	data[AT_DEPTH] = message->initiator_depth;
	store_address(&message->destination, data + AT_DESTINATION_TYPE, data + AT_DESTINATION);
	store_address(&message->source, data + AT_SOURCE_TYPE, data + AT_SOURCE);
	memcpy(data + AT_GIDS, message->gids, message->gid_count * sizeof(message->gids[0]));
}
