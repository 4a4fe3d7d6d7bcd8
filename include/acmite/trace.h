/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace events: the engine's only voice. Logs, metrics and golden traces are renderings of them.
 */
#ifndef ACMITE_TRACE_H
#define ACMITE_TRACE_H

#include <acmite/types.h>
#include <acmite/wire.h>

enum acm_trace_type {
	ACM_TRACE_REQUEST, /* taken: request, destination, flags in `value` */
	ACM_TRACE_REPLY,   /* answered: request, status, destination */
	ACM_TRACE_CANCELLED,
	ACM_TRACE_COALESCED,    /* a look-up under way serves it too: request, destination, age in
				   `value` (ns) */
	ACM_TRACE_MULTICAST,    /* sent: destination, try number in `value` */
	ACM_TRACE_HEARD,        /* a request of another node: source, destination */
	ACM_TRACE_ANSWERED,     /* this node answered it */
	ACM_TRACE_LEARNED,      /* source's LID, GID, QP */
	ACM_TRACE_ADDRESS,      /* the destination's address is resolved: LID, GID */
	ACM_TRACE_SA_QUERY,     /* path asked for: destination, try number in `value` */
	ACM_TRACE_ROUTE,        /* path known: destination, LID */
	ACM_TRACE_SA_STATUS,    /* SA said no: MAD status in `value`, `reason` in words */
	ACM_TRACE_SA_WITHDRAWN, /* an SA query is given up before its end: destination */
	ACM_TRACE_FAILED,       /* a destination: status */
	ACM_TRACE_PORT,         /* state in `value`, LID */
	ACM_TRACE_ENDPOINT,     /* opened (value 1), closed (0), failed (-errno in status) */
	ACM_TRACE_JOIN,         /* asked for: GID is the group */
	ACM_TRACE_JOINED,       /* LID is the MLID */
	ACM_TRACE_JOIN_FAILED,  /* `reason`; MAD status in `value`, 0: none came; a transport's
				   -errno in status */
	ACM_TRACE_GROUP_RECORD, /* why: the group's own MTU, rate in `value` (MTU << 8 | rate),
				   P_Key */
	ACM_TRACE_LEFT,
	ACM_TRACE_EXPIRED,
	ACM_TRACE_EVICTED,
	ACM_TRACE_DROPPED,       /* a datagram or answer: `reason` */
	ACM_TRACE_ADDRESS_ADDED, /* local: source */
	ACM_TRACE_ADDRESS_REMOVED,
	ACM_TRACE_CLAIMED, /* another node has an address of this one: source, that node's LID, GID
			    */
	ACM_TRACE_TYPE_COUNT,
};

struct acm_trace {
	enum acm_trace_type type;
	uint64_t time;     /* ns */
	uint64_t sequence; /* from 1, no gaps */
	uint64_t request;
	uint32_t endpoint;
	uint32_t port;
	bool bypass; /* of a look-up that bypasses the cache, and asks whatever others ask */
	enum acm_status status;
	uint16_t lid;
	uint16_t pkey;
	uint32_t qpn;
	uint64_t value;
	const char *reason; /* static, or NULL */
	struct acm_gid gid;
	struct acm_address source;      /* type 0: none */
	struct acm_address destination; /* type 0: none */
};

/* The snake_case name of a type, static. */
const char *acm_trace_name(enum acm_trace_type type);
/*
 * One line without a newline: "name key=value ...", NUL-terminated and cut at `size`. Returns the
 * length without the NUL. LIDs decimal; GUIDs, QPNs and P_Keys hex. `time` and `sequence` are left
 * out.
 */
size_t acm_trace_format(const struct acm_trace *trace, char *text, size_t size);
/* An address as people write it. Returns the length. `size` of 65 always suffices. */
size_t acm_address_format(const struct acm_address *address, char *text, size_t size);
/* A GID in IPv6 notation (RFC 5952). `size` of 46 always suffices. */
size_t acm_gid_format(const struct acm_gid *gid, char *text, size_t size);

#endif
