/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the SA model share. */
#ifndef ACMITE_SIM_SA_STATE_H
#define ACMITE_SIM_SA_STATE_H

#include "sa_model.h"
#include "subnet_state.h"

#include <acmite/sa.h>

/* A request under way. */
struct sa_service {
	struct sim_subnet *subnet;
	uint32_t requester; /* port */
	uint64_t now;
	const struct acm_sa_request *request;
	const uint8_t *record; /* as it came, in wire order */
	bool subset;           /* of capabilities: those asked for must be there, others may */
	struct sim_sa_answer *answer;
	uint32_t records;
	int error; /* no memory */
};

#define SA_STATUS(class_status) ((uint16_t)((class_status) << 8))

/* Adds a record to the answer. */
void sa_add_path(struct sa_service *service, const struct acm_path *path);
void sa_add_member(struct sa_service *service, const struct acm_mcmember *member);
void sa_add_record(struct sa_service *service, const uint8_t *record, uint32_t length);

/* Add records, and return the status of the answer. */
uint16_t sa_serve_paths(struct sa_service *service);
uint16_t sa_serve_members(struct sa_service *service);
/* All others. */
uint16_t sa_serve_records(struct sa_service *service);
/* Bytes of a record of theirs, 0: there is no such. */
uint16_t sa_record_length(uint16_t attribute);

/* Two ports may talk to each other. */
bool sa_share_pkey(const struct sim_subnet *subnet, uint32_t a, uint32_t b);
/* fe80:: and a GUID; the GUID of a GID. */
struct acm_gid sa_gid(const struct sim_subnet *subnet, uint64_t guid);
uint64_t sa_guid(const struct acm_gid *gid);
bool sa_is_of_subnet(const struct sim_subnet *subnet, const struct acm_gid *gid);
/* The highest rate below another; 0: there is none. */
uint8_t sa_rate_below(uint8_t rate);

#endif
