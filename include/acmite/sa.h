/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subnet administration as an SA sees it: requests decoded with everything that they constrain, and
 * answers of many records. For models of an SA and for tests; nodes need acmite/wire.h only.
 *
 * Source: IBA vol. 1, chapter 15.
 */
#ifndef ACMITE_SA_H
#define ACMITE_SA_H

#include <acmite/wire.h>

#define ACM_SA_METHOD_GET       0x01
#define ACM_SA_METHOD_SET       0x02
#define ACM_SA_METHOD_GET_TABLE 0x12
#define ACM_SA_METHOD_DELETE    0x15
#define ACM_SA_METHOD_RESPONSE  0x80 /* added to the others; a Set is answered as a Get */

/* MAD status: attribute and method that the SA does not serve. */
#define ACM_SA_STATUS_UNSUPPORTED 0x000c

/* Components of a PathRecord. */
#define ACM_SA_PATH_SERVICE_ID    (UINT64_C(3) << 0)
#define ACM_SA_PATH_DGID          (UINT64_C(1) << 2)
#define ACM_SA_PATH_SGID          (UINT64_C(1) << 3)
#define ACM_SA_PATH_DLID          (UINT64_C(1) << 4)
#define ACM_SA_PATH_SLID          (UINT64_C(1) << 5)
#define ACM_SA_PATH_RAW_TRAFFIC   (UINT64_C(1) << 6)
#define ACM_SA_PATH_FLOW_LABEL    (UINT64_C(1) << 8)
#define ACM_SA_PATH_HOP_LIMIT     (UINT64_C(1) << 9)
#define ACM_SA_PATH_TRAFFIC_CLASS (UINT64_C(1) << 10)
#define ACM_SA_PATH_REVERSIBLE    (UINT64_C(1) << 11)
#define ACM_SA_PATH_COUNT         (UINT64_C(1) << 12)
#define ACM_SA_PATH_PKEY          (UINT64_C(1) << 13)
#define ACM_SA_PATH_QOS_CLASS     (UINT64_C(1) << 14)
#define ACM_SA_PATH_SL            (UINT64_C(1) << 15)
/* With their selectors, two bits each. */
#define ACM_SA_PATH_MTU         (UINT64_C(3) << 16)
#define ACM_SA_PATH_RATE        (UINT64_C(3) << 18)
#define ACM_SA_PATH_PACKET_LIFE (UINT64_C(3) << 20)

/* Components of an MCMemberRecord. */
#define ACM_SA_MC_MGID          (UINT64_C(1) << 0)
#define ACM_SA_MC_PORT_GID      (UINT64_C(1) << 1)
#define ACM_SA_MC_QKEY          (UINT64_C(1) << 2)
#define ACM_SA_MC_MLID          (UINT64_C(1) << 3)
#define ACM_SA_MC_MTU_SELECTOR  (UINT64_C(1) << 4)
#define ACM_SA_MC_MTU           (UINT64_C(3) << 4) /* with its selector */
#define ACM_SA_MC_TRAFFIC_CLASS (UINT64_C(1) << 6)
#define ACM_SA_MC_PKEY          (UINT64_C(1) << 7)
#define ACM_SA_MC_RATE_SELECTOR (UINT64_C(1) << 8)
#define ACM_SA_MC_RATE          (UINT64_C(3) << 8) /* with its selector */
#define ACM_SA_MC_SL            (UINT64_C(1) << 12)
#define ACM_SA_MC_FLOW_LABEL    (UINT64_C(1) << 13)
#define ACM_SA_MC_HOP_LIMIT     (UINT64_C(1) << 14)
#define ACM_SA_MC_SCOPE         (UINT64_C(1) << 15)
#define ACM_SA_MC_JOIN_STATE    (UINT64_C(1) << 16)

/* Join state bits. */
#define ACM_SA_JOIN_FULL           0x1
#define ACM_SA_JOIN_NON_MEMBER     0x2
#define ACM_SA_JOIN_SEND_ONLY      0x4
#define ACM_SA_JOIN_SEND_ONLY_FULL 0x8

/* A request as it came: fields without their component bit mean nothing. */
struct acm_sa_request {
	uint8_t method;
	uint16_t attribute;
	uint64_t tid;
	uint64_t sm_key;
	uint64_t components;
	bool raw_traffic;           /* a path's */
	struct acm_path path;       /* of ACM_SA_ATTRIBUTE_PATH */
	struct acm_mcmember member; /* of ACM_SA_ATTRIBUTE_MCMEMBER */
	uint8_t member_mtu_selector;
	uint8_t member_rate_selector;
};

/* -EMSGSIZE: shorter than a MAD. -EPROTO: not SA class 3 version 2, or an answer. */
int acm_sa_decode_request(const uint8_t *mad, size_t length, struct acm_sa_request *request);

/* Asks for all records that match: as acm_sa_encode_path_get(), with `path_count` as given. */
void acm_sa_encode_path_get_table(const struct acm_path *constraint, uint64_t tid, uint8_t *mad);

/* Asks for the SA's ClassPortInfo, which has no effect on anything: the cheapest thing to ask. */
void acm_sa_encode_ping(uint64_t tid, uint8_t *mad);

/*
 * Header of an answer to `request`: ACM_SA_ANSWER_HEADER bytes, all segments of RMPP counted as
 * one. `record_length` is what lies between the records that follow, a multiple of 8.
 */
#define ACM_SA_ANSWER_HEADER   56
#define ACM_SA_PATH_LENGTH     64
#define ACM_SA_MCMEMBER_LENGTH 56
void acm_sa_encode_answer(const struct acm_sa_request *request, uint16_t status,
			  size_t record_length, uint8_t *answer);
/* One record of those lengths. */
void acm_sa_store_path(const struct acm_path *path, uint8_t *record);
void acm_sa_store_mcmember(const struct acm_mcmember *member, uint8_t *record);

#endif
