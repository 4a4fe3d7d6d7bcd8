/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SA's side of its MADs (IBA vol. 1, chapter 15). */
#include <errno.h>
#include <string.h>

#include <acmite/bytes.h>
#include <acmite/sa.h>
#include <acmite/transport.h>

#include "mcmember_record.h"
#include "path_record.h"

#define BASE_VERSION     1
#define MANAGEMENT_CLASS 0x03
#define CLASS_VERSION    2
#define CLASS_PORT_INFO  0x0001

/* Offsets in the MAD. */
#define AT_METHOD           3
#define AT_STATUS           4
#define AT_TID              8
#define AT_ATTRIBUTE        16
#define AT_SM_KEY           36
#define AT_ATTRIBUTE_OFFSET 44
#define AT_COMPONENT_MASK   48
#define AT_RECORD           ACM_SA_ANSWER_HEADER

#define RAW_TRAFFIC 0x80u /* in byte 44 of a PathRecord */
#define COUNT_BITS  0x7fu /* in byte 49 */

int acm_sa_decode_request(const uint8_t *mad, size_t length, struct acm_sa_request *request)
{
	const uint8_t *record = mad + AT_RECORD;

	if (length < ACM_MAD_LENGTH)
		return -EMSGSIZE;
	if (mad[0] != BASE_VERSION || mad[1] != MANAGEMENT_CLASS || mad[2] != CLASS_VERSION ||
	    (mad[AT_METHOD] & ACM_SA_METHOD_RESPONSE) != 0)
		return -EPROTO;
	*request = (struct acm_sa_request){
		.method = mad[AT_METHOD],
		.attribute = load_be16(mad + AT_ATTRIBUTE),
		.tid = load_be64(mad + AT_TID),
		.sm_key = load_be64(mad + AT_SM_KEY),
		.components = load_be64(mad + AT_COMPONENT_MASK),
	};
	if (request->attribute == ACM_SA_ATTRIBUTE_PATH) {
		acm_path_record_load(&request->path, record);
		request->raw_traffic = (record[44] & RAW_TRAFFIC) != 0;
	} else if (request->attribute == ACM_SA_ATTRIBUTE_MCMEMBER) {
		acm_mcmember_record_load(&request->member, record);
		request->member_mtu_selector = record[38] >> 6;
		request->member_rate_selector = record[42] >> 6;
	}
	return 0;
}

void acm_sa_encode_path_get_table(const struct acm_path *constraint, uint64_t tid, uint8_t *mad)
{
	acm_sa_encode_path_get(constraint, tid, mad);
	mad[AT_METHOD] = ACM_SA_METHOD_GET_TABLE;
	if (constraint->path_count != 0)
		return;
	/* No number of paths: all of them. */
	mad[AT_RECORD + 49] &= (uint8_t)~COUNT_BITS;
	store_be64(mad + AT_COMPONENT_MASK,
		   load_be64(mad + AT_COMPONENT_MASK) & ~ACM_SA_PATH_COUNT);
}

static uint8_t answering_method(uint8_t method)
{
	if (method == ACM_SA_METHOD_SET)
		method = ACM_SA_METHOD_GET;
	return method | ACM_SA_METHOD_RESPONSE;
}

void acm_sa_encode_ping(uint64_t tid, uint8_t *mad)
{
	memset(mad, 0, ACM_MAD_LENGTH);
	mad[0] = BASE_VERSION;
	mad[1] = MANAGEMENT_CLASS;
	mad[2] = CLASS_VERSION;
	mad[AT_METHOD] = ACM_SA_METHOD_GET;
	store_be64(mad + AT_TID, tid);
	store_be16(mad + AT_ATTRIBUTE, CLASS_PORT_INFO);
}

void acm_sa_encode_answer(const struct acm_sa_request *request, uint16_t status,
			  size_t record_length, uint8_t *answer)
{
	memset(answer, 0, ACM_SA_ANSWER_HEADER);
	answer[0] = BASE_VERSION;
	answer[1] = MANAGEMENT_CLASS;
	answer[2] = CLASS_VERSION;
	answer[AT_METHOD] = answering_method(request->method);
	store_be16(answer + AT_STATUS, status);
	store_be64(answer + AT_TID, request->tid);
	store_be16(answer + AT_ATTRIBUTE, request->attribute);
	store_be16(answer + AT_ATTRIBUTE_OFFSET, (uint16_t)(record_length / 8));
	store_be64(answer + AT_COMPONENT_MASK, request->components);
}

void acm_sa_store_path(const struct acm_path *path, uint8_t *record)
{
	acm_path_record_store(path, record);
}

void acm_sa_store_mcmember(const struct acm_mcmember *member, uint8_t *record)
{
	memset(record, 0, ACM_SA_MCMEMBER_LENGTH);
	acm_mcmember_record_store(member, record);
	record[43] |= 2u << 6; /* the lifetime is exact, as MTU and rate */
}
