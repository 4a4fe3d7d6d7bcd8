/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address handles of a device, kept for the next datagram to the same place. Their number is
 * bounded: the least recently used one leaves when another wants its place, unless a send that is
 * under way still needs it.
 */
#ifndef ACMITE_VERBS_HANDLES_H
#define ACMITE_VERBS_HANDLES_H

#include <acmite/transport.h>
#include <infiniband/verbs.h>

#define VERBS_HANDLES_MAX 1024

/* All that makes an address handle; compared as bytes, so it has no padding. */
struct verbs_way {
	struct acm_gid dgid;
	uint32_t flow_label;
	uint16_t dlid;
	uint8_t port; /* on the device, from 1 */
	uint8_t sl;
	uint8_t path_bits;
	uint8_t static_rate;
	uint8_t hop_limit;
	uint8_t traffic_class;
};

struct verbs_handle {
	struct verbs_way way;
	struct ibv_ah *ah; /* NULL: the place is free */
	uint32_t sending;  /* datagrams under way that use it */
	uint64_t used;     /* when it was used last: a number that grows */
};

struct verbs_handles;

/* NULL: no memory. */
struct verbs_handles *verbs_handles_create(struct ibv_pd *pd);
void verbs_handles_destroy(struct verbs_handles *handles);

/*
 * For one datagram; verbs_handle_release() when it has been sent. 0; -EAGAIN: worth another try
 * when some send of the device has ended; or why there can be none.
 */
int verbs_handles_get(struct verbs_handles *handles, uint8_t port,
		      const struct acm_datagram *datagram, struct verbs_handle **handle);
void verbs_handle_release(struct verbs_handle *handle);

#endif
