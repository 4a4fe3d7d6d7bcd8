/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sa_model.h"

#include "sa_state.h"

#include <acmite/bytes.h>
#include <acmite/transport.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SM_KEY        1 /* OpenSM's default */
#define RATE_CODE_MAX 0x3f

/* ---- answers ---- */

static int make_room(struct sim_sa_answer *answer, uint32_t length)
{
	uint32_t room = answer->room ? answer->room : ACM_MAD_LENGTH;
	uint8_t *grown;

	while (room < length)
		room *= 2;
	if (room == answer->room)
		return 0;
	grown = realloc(answer->data, room);
	if (!grown)
		return -ENOMEM;
	answer->data = grown;
	answer->room = room;
	return 0;
}

static uint8_t *add_record(struct sa_service *service, uint32_t length)
{
	struct sim_sa_answer *answer = service->answer;
	uint8_t *record;

	service->error =
		service->error ? service->error : make_room(answer, answer->length + length);
	if (service->error)
		return NULL;
	record = answer->data + answer->length;
	answer->length += length;
	service->records++;
	return record;
}

void sa_add_path(struct sa_service *service, const struct acm_path *path)
{
	uint8_t *record = add_record(service, ACM_SA_PATH_LENGTH);

	if (record)
		acm_sa_store_path(path, record);
}

void sa_add_member(struct sa_service *service, const struct acm_mcmember *member)
{
	uint8_t *record = add_record(service, ACM_SA_MCMEMBER_LENGTH);

	if (record)
		acm_sa_store_mcmember(member, record);
}

void sa_add_record(struct sa_service *service, const uint8_t *record, uint32_t length)
{
	uint8_t *added = add_record(service, length);

	if (added)
		memcpy(added, record, length);
}

static size_t record_length(const struct acm_sa_request *request)
{
	switch (request->attribute) {
	case ACM_SA_ATTRIBUTE_PATH:
		return ACM_SA_PATH_LENGTH;
	case ACM_SA_ATTRIBUTE_MCMEMBER:
		return ACM_SA_MCMEMBER_LENGTH;
	default:
		return sa_record_length(request->attribute);
	}
}

/* All but tables are one whole MAD; a refusal has no record. */
static int end_answer(const struct acm_sa_request *request, uint16_t status,
		      struct sim_sa_answer *answer)
{
	int error = make_room(answer, ACM_MAD_LENGTH);

	if (error)
		return error;
	if (status)
		answer->length = ACM_SA_ANSWER_HEADER;
	if (status || request->method != ACM_SA_METHOD_GET_TABLE) {
		memset(answer->data + answer->length, 0, ACM_MAD_LENGTH - answer->length);
		answer->length = ACM_MAD_LENGTH;
	}
	acm_sa_encode_answer(request, status, record_length(request), answer->data);
	return 0;
}

static uint16_t serve(struct sa_service *service)
{
	const struct acm_sa_request *request = service->request;
	uint16_t status;

	if (request->attribute == ACM_SA_ATTRIBUTE_PATH)
		status = sa_serve_paths(service);
	else if (request->attribute == ACM_SA_ATTRIBUTE_MCMEMBER)
		status = sa_serve_members(service);
	else
		status = sa_serve_records(service);
	if (status || request->method != ACM_SA_METHOD_GET)
		return status;
	if (service->records > 1)
		return SA_STATUS(ACM_SA_TOO_MANY_RECORDS);
	return service->records ? 0 : SA_STATUS(ACM_SA_NO_RECORDS);
}

int sim_sa_serve(struct sim_subnet *subnet, struct sim_port_ref from, const uint8_t *mad,
		 uint64_t now, struct sim_sa_answer *answer)
{
	struct acm_sa_request request;
	struct sa_service service = {.subnet = subnet,
				     .requester = sim_subnet_port_index(subnet, from),
				     .now = now,
				     .request = &request,
				     .record = mad + ACM_SA_ANSWER_HEADER,
				     .subset = (mad[20] & 0x80) != 0,
				     .answer = answer};
	uint16_t status;

	if (acm_sa_decode_request(mad, ACM_MAD_LENGTH, &request) || service.requester == SIM_NONE ||
	    !subnet->ports[service.requester].known ||
	    (request.sm_key != 0 && request.sm_key != SM_KEY))
		return -EPROTO;
	answer->length = ACM_SA_ANSWER_HEADER;
	service.error = make_room(answer, ACM_MAD_LENGTH);
	status = serve(&service);
	return service.error ? service.error : end_answer(&request, status, answer);
}

int sim_sa_refuse(const uint8_t *mad, uint16_t status, struct sim_sa_answer *answer)
{
	struct acm_sa_request request;

	if (acm_sa_decode_request(mad, ACM_MAD_LENGTH, &request))
		return -EPROTO;
	answer->length = ACM_SA_ANSWER_HEADER;
	return end_answer(&request, status, answer);
}

/* ---- what both need ---- */

bool sa_share_pkey(const struct sim_subnet *subnet, uint32_t a, uint32_t b)
{
	return a == b || sim_subnet_common_pkey(subnet, a, b) != 0;
}

struct acm_gid sa_gid(const struct sim_subnet *subnet, uint64_t guid)
{
	uint64_t prefix = sim_subnet_prefix(subnet);
	struct acm_gid gid;

	store_be64(gid.raw, prefix);
	store_be64(gid.raw + 8, guid);
	return gid;
}

uint64_t sa_guid(const struct acm_gid *gid)
{
	return load_be64(gid->raw + 8);
}

bool sa_is_of_subnet(const struct sim_subnet *subnet, const struct acm_gid *gid)
{
	struct acm_gid own = sa_gid(subnet, 0);

	return memcmp(gid->raw, own.raw, 8) == 0;
}

uint8_t sa_rate_below(uint8_t rate)
{
	uint8_t best = 0;

	for (uint8_t code = 1; code <= RATE_CODE_MAX; code++)
		if (acm_rate_tenths_gbps(code) && acm_rate_compare(code, rate) < 0 &&
		    acm_rate_compare(code, best) > 0)
			best = code;
	return best;
}
