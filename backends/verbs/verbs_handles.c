/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_handles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A handle can be in one of this many places. */
#define PLACES 8
#define SETS   (VERBS_HANDLES_MAX / PLACES)

struct verbs_handles {
	struct ibv_pd *pd;
	uint64_t clock;
	struct verbs_handle sets[SETS][PLACES];
};

_Static_assert(sizeof(struct verbs_way) == 28, "no padding");

struct verbs_handles *verbs_handles_create(struct ibv_pd *pd)
{
	struct verbs_handles *handles = calloc(1, sizeof(*handles));

	if (handles)
		handles->pd = pd;
	return handles;
}

void verbs_handles_destroy(struct verbs_handles *handles)
{
	if (!handles)
		return;
	for (uint32_t i = 0; i < VERBS_HANDLES_MAX; i++) {
		struct ibv_ah *ah = handles->sets[i / PLACES][i % PLACES].ah;

		if (ah)
			ibv_destroy_ah(ah);
	}
	free(handles);
}

/* FNV-1a. Who chooses LIDs so that they meet costs himself handles, nobody else. */
static struct verbs_handle *set_of(struct verbs_handles *handles, const struct verbs_way *way)
{
	const uint8_t *bytes = (const uint8_t *)way;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < sizeof(*way); i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return handles->sets[(hash ^ (hash >> 16)) % SETS];
}

static struct verbs_handle *find(struct verbs_handle *set, const struct verbs_way *way)
{
	for (int i = 0; i < PLACES; i++) {
		if (set[i].ah && !memcmp(&set[i].way, way, sizeof(*way)))
			return &set[i];
	}
	return NULL;
}

/* A free place, or that of the one that nobody has used for longest; NULL: all are in use. */
static struct verbs_handle *find_place(struct verbs_handle *set)
{
	struct verbs_handle *oldest = NULL;

	for (int i = 0; i < PLACES; i++) {
		if (!set[i].ah)
			return &set[i];
		if (!set[i].sending && (!oldest || set[i].used < oldest->used))
			oldest = &set[i];
	}
	return oldest;
}

/* Gives back those that no send needs. Whether there were any. */
static bool shrink(struct verbs_handles *handles)
{
	bool any = false;

	for (uint32_t i = 0; i < VERBS_HANDLES_MAX; i++) {
		struct verbs_handle *at = &handles->sets[i / PLACES][i % PLACES];

		if (!at->ah || at->sending)
			continue;
		ibv_destroy_ah(at->ah);
		at->ah = NULL;
		any = true;
	}
	return any;
}

static int fill(struct verbs_handles *handles, struct verbs_handle *handle,
		const struct verbs_way *way)
{
	struct ibv_ah_attr attr = {
		.grh = {.flow_label = way->flow_label,
			.sgid_index = 0,
			.hop_limit = way->hop_limit,
			.traffic_class = way->traffic_class},
		.dlid = way->dlid,
		.sl = way->sl,
		.src_path_bits = way->path_bits,
		.static_rate = way->static_rate, /* the codes are the same */
		.is_global = 1,
		.port_num = way->port,
	};

	memcpy(attr.grh.dgid.raw, way->dgid.raw, sizeof(attr.grh.dgid.raw));
	if (handle->ah)
		ibv_destroy_ah(handle->ah);
	errno = ENOMEM;
	handle->ah = ibv_create_ah(handles->pd, &attr);
	/* The device may have room for fewer than this keeps. */
	if (!handle->ah && errno == ENOMEM && shrink(handles)) {
		errno = ENOMEM;
		handle->ah = ibv_create_ah(handles->pd, &attr);
	}
	if (!handle->ah)
		return errno == EAGAIN ? -ENOMEM : -errno;
	handle->way = *way;
	return 0;
}

int verbs_handles_get(struct verbs_handles *handles, uint8_t port,
		      const struct acm_datagram *datagram, struct verbs_handle **handle)
{
	struct verbs_way way = {
		.dgid = datagram->dgid,
		.flow_label = datagram->flow_label,
		.dlid = datagram->dlid,
		.port = port,
		.sl = datagram->sl,
		.path_bits = datagram->path_bits,
		.static_rate = datagram->static_rate,
		.hop_limit = datagram->hop_limit,
		.traffic_class = datagram->traffic_class,
	};
	struct verbs_handle *set = set_of(handles, &way), *found = find(set, &way);
	int error;

	if (!found) {
		found = find_place(set);
		if (!found)
			return -EAGAIN;
		error = fill(handles, found, &way);
		if (error)
			return error;
	}
	found->used = ++handles->clock;
	found->sending++;
	*handle = found;
	return 0;
}

void verbs_handle_release(struct verbs_handle *handle)
{
	handle->sending--;
}
