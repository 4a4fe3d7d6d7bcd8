/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs to and from subnet administration (IBA vol. 1, chapter 15). */
#include <errno.h>
#include <string.h>

#include <acmite/bytes.h>
#include <acmite/sa.h>
#include <acmite/transport.h>
#include <acmite/wire.h>

#include "mcmember_record.h"
#include "path_record.h"

#define BASE_VERSION     1
#define MANAGEMENT_CLASS 0x03
#define CLASS_VERSION    2

#define METHOD_GET          0x01
#define METHOD_SET          0x02
#define METHOD_DELETE       0x15
#define METHOD_GET_ANSWER   0x81
#define METHOD_RESPONSE_BIT 0x80u

/* Offsets in the MAD. */
#define AT_METHOD           3
#define AT_STATUS           4
#define AT_TID              8
#define AT_ATTRIBUTE        16
#define AT_ATTRIBUTE_OFFSET 44 /* distance of records in units of 8 bytes */
#define AT_COMPONENT_MASK   48
#define AT_RECORD           56
#define MAD_HEADER_LENGTH   24

#define SELECTOR_LARGEST 3

/* The part of the status that every management class has. */
#define STATUS_BUSY          0x0001u
#define STATUS_REDIRECT      0x0002u
#define STATUS_FIELD(status) ((uint8_t)((status) >> 2 & 7u)) /* what is wrong with a field */
#define STATUS_CLASS(status) ((uint8_t)((status) >> 8))

/* ---- headers ---- */

/* Bytes from one record to the next, 0 when the SA does not say. */
static size_t record_distance(const uint8_t *mad)
{
	return load_be16(mad + AT_ATTRIBUTE_OFFSET) * (size_t)8;
}

int acm_sa_decode_header(const uint8_t *mad, size_t length, struct acm_sa_header *header)
{
	if (length < MAD_HEADER_LENGTH)
		return -EMSGSIZE;
	if (mad[0] != BASE_VERSION || mad[1] != MANAGEMENT_CLASS || mad[2] != CLASS_VERSION ||
	    (mad[AT_METHOD] & METHOD_RESPONSE_BIT) == 0)
		return -EPROTO;
	header->method = mad[AT_METHOD];
	header->attribute = load_be16(mad + AT_ATTRIBUTE);
	header->status = load_be16(mad + AT_STATUS);
	header->tid = load_be64(mad + AT_TID);
	header->record_length = 0;
	if (length >= AT_RECORD) {
		size_t distance = record_distance(mad);

		header->record_length = distance > UINT16_MAX ? UINT16_MAX : (uint16_t)distance;
	}
	return 0;
}

static void encode_header(uint8_t *mad, uint8_t method, uint16_t attribute, uint64_t tid)
{
	memset(mad, 0, ACM_MAD_LENGTH);
	mad[0] = BASE_VERSION;
	mad[1] = MANAGEMENT_CLASS;
	mad[2] = CLASS_VERSION;
	mad[AT_METHOD] = method;
	store_be64(mad + AT_TID, tid);
	store_be16(mad + AT_ATTRIBUTE, attribute);
}

/* A record of `record_length` bytes is there whole. */
static bool holds_record(const uint8_t *mad, size_t length, size_t record_length)
{
	size_t distance;

	if (length < AT_RECORD + record_length)
		return false;
	distance = record_distance(mad);
	return distance == 0 || distance >= record_length;
}

/* ---- path records ---- */

static uint64_t address_components(const struct acm_path *path)
{
	return (path->service_id != 0 ? ACM_SA_PATH_SERVICE_ID : 0) |
	       (!acm_gid_is_zero(&path->dgid) ? ACM_SA_PATH_DGID : 0) |
	       (!acm_gid_is_zero(&path->sgid) ? ACM_SA_PATH_SGID : 0) |
	       (path->dlid != 0 ? ACM_SA_PATH_DLID : 0) | (path->slid != 0 ? ACM_SA_PATH_SLID : 0) |
	       (path->flow_label != 0 ? ACM_SA_PATH_FLOW_LABEL : 0) |
	       (path->hop_limit != 0 ? ACM_SA_PATH_HOP_LIMIT : 0) |
	       (path->traffic_class != 0 ? ACM_SA_PATH_TRAFFIC_CLASS : 0) |
	       (path->pkey != 0 ? ACM_SA_PATH_PKEY : 0);
}

/* "The largest there is" needs no value; every other selector does. */
static bool is_constrained(uint8_t selector, uint8_t value)
{
	return value != 0 || selector == SELECTOR_LARGEST;
}

static uint64_t quality_components(const struct acm_path *path)
{
	return (path->reversible ? ACM_SA_PATH_REVERSIBLE : 0) |
	       (path->qos_class != 0 ? ACM_SA_PATH_QOS_CLASS : 0) |
	       (path->sl != 0 ? ACM_SA_PATH_SL : 0) |
	       (is_constrained(path->mtu_selector, path->mtu) ? ACM_SA_PATH_MTU : 0) |
	       (is_constrained(path->rate_selector, path->rate) ? ACM_SA_PATH_RATE : 0) |
	       (is_constrained(path->packet_life_selector, path->packet_life)
			? ACM_SA_PATH_PACKET_LIFE
			: 0);
}

void acm_sa_encode_path_get(const struct acm_path *constraint, uint64_t tid, uint8_t *mad)
{
	struct acm_path path = *constraint;

	/* A Get returns one record; zero paths would be a question without an answer. */
	if (path.path_count == 0)
		path.path_count = 1;
	encode_header(mad, METHOD_GET, ACM_SA_ATTRIBUTE_PATH, tid);
	store_be64(mad + AT_COMPONENT_MASK,
		   address_components(&path) | quality_components(&path) | ACM_SA_PATH_COUNT);
	acm_path_record_store(&path, mad + AT_RECORD);
}

static bool is_multicast_lid(uint16_t lid)
{
	return lid >= ACM_LID_MULTICAST && lid < ACM_LID_PERMISSIVE;
}

static bool is_unicast_lid(uint16_t lid)
{
	return lid != 0 && lid < ACM_LID_MULTICAST;
}

static bool is_multicast_gid(const struct acm_gid *gid)
{
	return gid->raw[0] == 0xff;
}

int acm_sa_decode_path(const uint8_t *mad, size_t length, struct acm_path *path)
{
	struct acm_path decoded;

	if (!holds_record(mad, length, PATH_RECORD_LENGTH))
		return -EBADMSG;
	acm_path_record_load(&decoded, mad + AT_RECORD);
	if (!is_unicast_lid(decoded.slid))
		return -EBADMSG;
	if (is_multicast_gid(&decoded.dgid) ? !is_multicast_lid(decoded.dlid)
					    : !is_unicast_lid(decoded.dlid))
		return -EBADMSG;
	if (acm_mtu_bytes(decoded.mtu) == 0 || acm_rate_tenths_gbps(decoded.rate) == 0)
		return -EBADMSG;
	*path = decoded;
	return 0;
}

/* ---- group members ---- */

void acm_sa_encode_join(const struct acm_mcmember *member, uint64_t tid, uint8_t *mad)
{
	struct acm_mcmember asked = *member;

	/* These are the SA's to choose; what no mask bit names goes out as zero. */
	asked.mlid = 0;
	asked.hop_limit = 0;
	asked.packet_life = 0;
	encode_header(mad, METHOD_SET, ACM_SA_ATTRIBUTE_MCMEMBER, tid);
	store_be64(mad + AT_COMPONENT_MASK, ACM_SA_MC_MGID | ACM_SA_MC_PORT_GID | ACM_SA_MC_QKEY |
						    ACM_SA_MC_MTU | ACM_SA_MC_TRAFFIC_CLASS |
						    ACM_SA_MC_PKEY | ACM_SA_MC_RATE | ACM_SA_MC_SL |
						    ACM_SA_MC_FLOW_LABEL | ACM_SA_MC_SCOPE |
						    ACM_SA_MC_JOIN_STATE);
	acm_mcmember_record_store(&asked, mad + AT_RECORD);
}

void acm_sa_encode_leave(const struct acm_mcmember *member, uint64_t tid, uint8_t *mad)
{
	encode_header(mad, METHOD_DELETE, ACM_SA_ATTRIBUTE_MCMEMBER, tid);
	store_be64(mad + AT_COMPONENT_MASK,
		   ACM_SA_MC_MGID | ACM_SA_MC_PORT_GID | ACM_SA_MC_JOIN_STATE);
	memcpy(mad + AT_RECORD, member->mgid.raw, sizeof(member->mgid.raw));
	memcpy(mad + AT_RECORD + 16, member->port_gid.raw, sizeof(member->port_gid.raw));
	mad[AT_RECORD + 48] = member->join_state & 0xfu;
}

void acm_sa_encode_group_get(const struct acm_gid *mgid, uint64_t tid, uint8_t *mad)
{
	encode_header(mad, METHOD_GET, ACM_SA_ATTRIBUTE_MCMEMBER, tid);
	store_be64(mad + AT_COMPONENT_MASK, ACM_SA_MC_MGID);
	memcpy(mad + AT_RECORD, mgid->raw, sizeof(mgid->raw));
}

int acm_sa_decode_mcmember(const uint8_t *mad, size_t length, struct acm_mcmember *member)
{
	struct acm_mcmember decoded;

	if (!holds_record(mad, length, MCMEMBER_RECORD_LENGTH))
		return -EBADMSG;
	acm_mcmember_record_load(&decoded, mad + AT_RECORD);
	if (!is_multicast_gid(&decoded.mgid) || !is_multicast_lid(decoded.mlid) ||
	    acm_mtu_bytes(decoded.mtu) == 0 || acm_rate_tenths_gbps(decoded.rate) == 0)
		return -EBADMSG;
	*member = decoded;
	return 0;
}

/* ---- the SA's side ---- */

static void encode_answer_header(uint8_t *mad, uint8_t method, uint16_t attribute, uint16_t status,
				 uint64_t tid, size_t record_length)
{
	encode_header(mad, method, attribute, tid);
	store_be16(mad + AT_STATUS, status);
	store_be16(mad + AT_ATTRIBUTE_OFFSET, (uint16_t)((record_length + 7) / 8));
}

void acm_sa_encode_path_answer(const struct acm_path *path, uint16_t status, uint64_t tid,
			       uint8_t *mad)
{
	encode_answer_header(mad, METHOD_GET_ANSWER, ACM_SA_ATTRIBUTE_PATH, status, tid,
			     PATH_RECORD_LENGTH);
	if (path != NULL)
		acm_path_record_store(path, mad + AT_RECORD);
}

void acm_sa_encode_mcmember_answer(const struct acm_mcmember *member, uint8_t method,
				   uint16_t status, uint64_t tid, uint8_t *mad)
{
	encode_answer_header(mad, method, ACM_SA_ATTRIBUTE_MCMEMBER, status, tid,
			     MCMEMBER_RECORD_LENGTH);
	if (member != NULL)
		acm_mcmember_record_store(member, mad + AT_RECORD);
}

/* ---- status ---- */

enum acm_status acm_sa_client_status(uint16_t mad_status)
{
	if (mad_status == 0)
		return ACM_STATUS_OK;
	/* The SA that stays busy has not answered in time. */
	if ((mad_status & STATUS_BUSY) != 0)
		return ACM_STATUS_TIMED_OUT;
	if ((mad_status & STATUS_REDIRECT) != 0)
		return ACM_STATUS_NOT_CONNECTED;
	switch (STATUS_CLASS(mad_status)) {
	case ACM_SA_NO_RESOURCES:
		return ACM_STATUS_NO_MEMORY;
	case ACM_SA_NO_RECORDS:
	case ACM_SA_DENIED:
		return ACM_STATUS_NO_DATA;
	case ACM_SA_INVALID_GID:
		return ACM_STATUS_DESTINATION_ADDRESS;
	default:
		return ACM_STATUS_INVALID;
	}
}

const char *acm_sa_status_text(uint16_t mad_status)
{
	static const char *const classes[] = {
		[ACM_SA_NO_RESOURCES] = "no resources",
		[ACM_SA_REQ_INVALID] = "invalid request",
		[ACM_SA_NO_RECORDS] = "no records",
		[ACM_SA_TOO_MANY_RECORDS] = "too many records",
		[ACM_SA_INVALID_GID] = "invalid GID",
		[ACM_SA_INSUFFICIENT_COMPONENTS] = "insufficient components",
		[ACM_SA_DENIED] = "denied",
	};
	static const char *const fields[] = {
		[1] = "unsupported version",
		[2] = "unsupported method",
		[3] = "unsupported method or attribute",
		[7] = "invalid attribute",
	};
	const char *text = NULL;

	if ((mad_status & STATUS_BUSY) != 0)
		return "busy";
	if ((mad_status & STATUS_REDIRECT) != 0)
		return "redirected";
	if (STATUS_CLASS(mad_status) < sizeof(classes) / sizeof(classes[0]))
		text = classes[STATUS_CLASS(mad_status)];
	if (text == NULL && STATUS_CLASS(mad_status) == 0)
		text = fields[STATUS_FIELD(mad_status)];
	return text != NULL ? text : "unknown status";
}
