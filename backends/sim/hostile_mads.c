/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hostile_mads.h"

#include <acmite/wire.h>
#include <string.h>
#include "wiring.h"

/* Header of all MADs (IBA vol. 1, 13.4.3). */
#define AT_BASE_VERSION  0
#define AT_CLASS         1
#define AT_CLASS_VERSION 2
#define AT_METHOD        3
#define AT_TID           8
#define AT_ATTRIBUTE     16

/* ACM resolve messages; in their header the attribute is the control field. */
#define AT_CONTROL          6
#define AT_DESTINATION_TYPE 16
#define AT_SOURCE_TYPE      18
#define AT_GID_COUNT        20

/* MADs of the SA (15.2.1.1): RMPP header, offset of attributes, and the record. */
#define AT_RMPP             24
#define RMPP_LENGTH         12
#define AT_ATTRIBUTE_OFFSET 44
#define AT_RECORD           56
#define AT_PATH_DLID        96

static uint64_t draw_more(uint64_t *draw)
{
	return *draw = sim_mix(*draw + UINT64_C(0x9e3779b97f4a7c15));
}

static void fill(uint64_t *draw, uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)draw_more(draw);
}

/* ---- ACM datagrams ---- */

static void set_name(struct acm_address *address, uint64_t *draw)
{
	*address = (struct acm_address){.type = ACM_ADDRESS_NAME, .length = ACM_ADDRESS_MAX};
	/* Letters only: a name that some node might have is no longer than 63. */
	for (uint32_t i = 0; i < ACM_ADDRESS_MAX; i++)
		address->data[i] = (uint8_t)('a' + draw_more(draw) % 26);
}

/* Well-formed, from and for names that nobody has. */
static void write_request(uint64_t *draw, uint8_t *payload)
{
	struct acm_message message = {.tid = draw_more(draw), .gid_count = 1};

	set_name(&message.source, draw);
	set_name(&message.destination, draw);
	fill(draw, message.gids[0].raw, sizeof(message.gids[0].raw));
	acm_message_encode(&message, payload);
}

/* To a request that the receiver may have made; real ids are drawn from 2^64. */
static void write_answer(uint64_t *draw, uint8_t *payload)
{
	struct acm_message message = {.answer = true, .gid_count = 1};

	message.tid = draw_more(draw) & 1 ? draw_more(draw) : draw_more(draw) % 256;
	if (draw_more(draw) & 1)
		message.status = (uint16_t)draw_more(draw);
	if (draw_more(draw) & 1)
		set_name(&message.destination, draw);
	acm_message_encode(&message, payload);
}

enum datagram_shape {
	NOISE,
	CUT_SHORT,
	FOREIGN,
	BAD_ADDRESS,
	BAD_GID_COUNT,
	FORGED_ANSWER,
	STRANGER,
	DATAGRAM_SHAPES
};

uint16_t sim_hostile_datagram(uint64_t draw, uint8_t payload[ACM_DATAGRAM_MAX])
{
	static const uint8_t header[] = {AT_BASE_VERSION, AT_CLASS, AT_CLASS_VERSION, AT_METHOD,
					 AT_CONTROL};
	static const uint8_t types[] = {AT_DESTINATION_TYPE, AT_DESTINATION_TYPE + 1,
					AT_SOURCE_TYPE, AT_SOURCE_TYPE + 1};
	enum datagram_shape shape = (enum datagram_shape)(draw_more(&draw) % DATAGRAM_SHAPES);

	if (shape == FORGED_ANSWER)
		write_answer(&draw, payload);
	else
		write_request(&draw, payload);
	switch (shape) {
	case NOISE:
		fill(&draw, payload, ACM_DATAGRAM_MAX);
		return (uint16_t)(draw_more(&draw) % (ACM_DATAGRAM_MAX + 1));
	case CUT_SHORT:
		return (uint16_t)(draw_more(&draw) % ACM_MAD_LENGTH);
	case FOREIGN:
		payload[header[draw_more(&draw) % sizeof(header)]] ^=
			(uint8_t)(1 + draw_more(&draw) % 127);
		break;
	case BAD_ADDRESS:
		payload[types[draw_more(&draw) % sizeof(types)]] =
			(uint8_t)(ACM_ADDRESS_MAX + 1 + draw_more(&draw) % 191);
		break;
	case BAD_GID_COUNT:
		payload[AT_GID_COUNT] =
			(uint8_t)(draw_more(&draw) & 1
					  ? 0
					  : ACM_MAD_GIDS_MAX + 1 + draw_more(&draw) % 249);
		break;
	default:
		break;
	}
	return ACM_MAD_LENGTH;
}

/* ---- answers of the SA ---- */

enum answer_shape {
	OTHER_ATTRIBUTE,
	ANSWER_CUT_SHORT,
	OTHER_TID,
	NO_ANSWER,
	OTHER_CLASS,
	RMPP_NOISE,
	BAD_OFFSET,
	EMPTY_RECORD,
	NO_PORT,
	ALL_NOISE,
	ANSWER_SHAPES
};

static void spoil(enum answer_shape shape, uint64_t *draw, uint8_t *mad)
{
	static const uint8_t lids[][2] = {{0, 0}, {0xff, 0xff}, {0xc0, 0x01}};

	switch (shape) {
	case OTHER_ATTRIBUTE:
		mad[AT_ATTRIBUTE + 1] ^= (uint8_t)(1 + draw_more(draw) % 255);
		break;
	case OTHER_TID:
		/* The upper half is the transport's: ibsim and umad change it. */
		mad[AT_TID + 4 + draw_more(draw) % 4] ^= (uint8_t)(1 + draw_more(draw) % 255);
		break;
	case NO_ANSWER:
		mad[AT_METHOD] &= 0x7f;
		break;
	case OTHER_CLASS:
		mad[draw_more(draw) % AT_METHOD] ^= (uint8_t)(1 + draw_more(draw) % 255);
		break;
	case RMPP_NOISE:
		fill(draw, mad + AT_RMPP, RMPP_LENGTH);
		mad[AT_RMPP] = 1;      /* version */
		mad[AT_RMPP + 2] |= 1; /* active */
		memset(mad + AT_RECORD, 0, ACM_MAD_LENGTH - AT_RECORD);
		break;
	case BAD_OFFSET:
		mad[AT_ATTRIBUTE_OFFSET] = 0; /* in units of 8 bytes: shorter than any record */
		mad[AT_ATTRIBUTE_OFFSET + 1] = (uint8_t)(1 + draw_more(draw) % 5);
		break;
	case EMPTY_RECORD:
		memset(mad + AT_RECORD, 0, ACM_MAD_LENGTH - AT_RECORD);
		break;
	case NO_PORT:
		memcpy(mad + AT_PATH_DLID, lids[draw_more(draw) % 3], 2);
		/* A member record has its P_Key there: that it is another group's is to show. */
		memset(mad + AT_RECORD, 0, 8);
		mad[AT_RECORD] = 1;
		break;
	default:
		fill(draw, mad, ACM_MAD_LENGTH);
		break;
	}
}

void sim_hostile_sa_answer(uint64_t draw, uint8_t *mad, uint32_t *length, uint32_t room)
{
	enum answer_shape shape = (enum answer_shape)(draw_more(&draw) % ANSWER_SHAPES);

	(void)room;
	if (shape == ANSWER_CUT_SHORT)
		*length = (uint32_t)(draw_more(&draw) % (AT_RECORD + 8));
	else if (*length >= ACM_MAD_LENGTH)
		spoil(shape, &draw, mad);
}
