/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The messages of the ACM client protocol, for programs that speak it over the service's socket.
 *
 * Names, values and layouts are those of rdma-core's header of the same name, so a program builds
 * with either; this one needs nothing but the compiler. A program that needs <infiniband/sa.h> or
 * <infiniband/verbs.h> too includes them first: the path record is then theirs. When this header
 * comes first, a later <infiniband/sa.h> adds nothing.
 *
 * Byte order. Resolve messages: header, flags and types are host-endian, what a record's `info`
 * holds is in network order. The two queries: `length` and the answer's body are in network order,
 * a record in the question as in a resolve message. `tid` comes back as it was.
 */
#ifndef ACM_H
#define ACM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef INFINIBAND_SA_H
#define INFINIBAND_SA_H

/* A GID, as union ibv_gid; network order. */
union acm_path_gid {
	uint8_t raw[16];
	struct {
		uint64_t subnet_prefix;
		uint64_t interface_id;
	} global;
};

#define IBV_PATH_RECORD_REVERSIBLE 0x80

/* IBA vol. 1, 15.2.5.16; all in network order. */
struct ibv_path_record {
	uint64_t service_id;
	union acm_path_gid dgid;
	union acm_path_gid sgid;
	uint16_t dlid;
	uint16_t slid;
	uint32_t flowlabel_hoplimit; /* 27:8 and 7:0 */
	uint8_t tclass;
	uint8_t reversible_numpath; /* 7 and 6:0 */
	uint16_t pkey;
	uint16_t qosclass_sl;   /* 15:4 and 3:0 */
	uint8_t mtu;            /* selector 7:6, code 5:0 */
	uint8_t rate;           /* likewise */
	uint8_t packetlifetime; /* likewise */
	uint8_t preference;
	uint8_t reserved[6];
};

#define IBV_PATH_FLAG_GMP             (1 << 0)
#define IBV_PATH_FLAG_PRIMARY         (1 << 1)
#define IBV_PATH_FLAG_ALTERNATE       (1 << 2)
#define IBV_PATH_FLAG_OUTBOUND        (1 << 3)
#define IBV_PATH_FLAG_INBOUND         (1 << 4)
#define IBV_PATH_FLAG_INBOUND_REVERSE (1 << 5)
#define IBV_PATH_FLAG_BIDIRECTIONAL   (IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_INBOUND_REVERSE)

/* A resolve answer's record that holds a path, with `type` cleared. */
struct ibv_path_data {
	uint32_t flags;
	uint32_t reserved;
	struct ibv_path_record path;
};

#endif /* INFINIBAND_SA_H */

#define ACM_VERSION 1

#define ACM_OP_MASK       0x0F
#define ACM_OP_RESOLVE    0x01
#define ACM_OP_PERF_QUERY 0x02
#define ACM_OP_EP_QUERY   0x03
#define ACM_OP_ACK        0x80 /* set in answers, though not by every service in every one */

#define ACM_STATUS_SUCCESS   0
#define ACM_STATUS_ENOMEM    1
#define ACM_STATUS_EINVAL    2
#define ACM_STATUS_ENODATA   3
#define ACM_STATUS_ENOTCONN  5
#define ACM_STATUS_ETIMEDOUT 6
#define ACM_STATUS_ESRCADDR  7
#define ACM_STATUS_ESRCTYPE  8
#define ACM_STATUS_EDESTADDR 9
#define ACM_STATUS_EDESTTYPE 10

/* With a destination or a path: bypass the cache; answer from the cache or not at all. */
#define ACM_FLAGS_QUERY_SA (1U << 31)
#define ACM_FLAGS_NODELAY  (1U << 30)

#define ACM_MSG_HDR_LENGTH  16
#define ACM_MAX_ADDRESS     64
#define ACM_MSG_EP_LENGTH   72
#define ACM_MAX_PROV_NAME   64
#define ACM_MSG_DATA_LENGTH (ACM_MSG_EP_LENGTH * 8)

/* In answers to performance queries data[0] is the number of counters; in endpoint queries data[0]
 * is the endpoint's index and data[1] the port, in performance queries data[1] is the index. */
#define src_out   data[0]
#define src_index data[1]
#define dst_index data[2]

struct acm_hdr {
	uint8_t version;
	uint8_t opcode;
	uint8_t status;
	uint8_t data[3];
	uint16_t length; /* of the whole message */
	uint64_t tid;
};

#define ACM_EP_INFO_NAME        0x0001 /* NUL-padded */
#define ACM_EP_INFO_ADDRESS_IP  0x0002
#define ACM_EP_INFO_ADDRESS_IP6 0x0003
#define ACM_EP_INFO_PATH        0x0010

union acm_ep_info {
	uint8_t addr[ACM_MAX_ADDRESS];
	uint8_t name[ACM_MAX_ADDRESS];
	struct ibv_path_record path;
};

#define ACM_EP_FLAG_SOURCE (1 << 0)
#define ACM_EP_FLAG_DEST   (1 << 1)

struct acm_ep_addr_data {
	uint32_t flags;
	uint16_t type;
	uint16_t reserved;
	union acm_ep_info info;
};

struct acm_resolve_msg {
	struct acm_hdr hdr;
	struct acm_ep_addr_data data[];
};

/* The order of the counters in an answer to a performance query. */
enum {
	ACM_CNTR_ERROR,
	ACM_CNTR_RESOLVE,
	ACM_CNTR_NODATA,
	ACM_CNTR_ADDR_QUERY,
	ACM_CNTR_ADDR_CACHE,
	ACM_CNTR_ROUTE_QUERY,
	ACM_CNTR_ROUTE_CACHE,
	ACM_MAX_COUNTER
};

struct acm_perf_msg {
	struct acm_hdr hdr;
	uint64_t data[];
};

struct acm_ep_config_data {
	uint64_t dev_guid;
	uint8_t port_num;
	uint8_t phys_port_cnt;
	uint8_t rsvd[2];
	uint16_t pkey;
	uint16_t addr_cnt;
	uint8_t prov_name[ACM_MAX_PROV_NAME];
	union acm_ep_info addrs[]; /* as text */
};

struct acm_ep_query_msg {
	struct acm_hdr hdr;
	struct acm_ep_config_data data[];
};

struct acm_msg {
	struct acm_hdr hdr;
	union {
		uint8_t data[ACM_MSG_DATA_LENGTH];
		struct acm_ep_addr_data resolve_data[0];
		uint64_t perf_data[0];
		struct acm_ep_config_data ep_data;
	};
};

#ifdef __cplusplus
}
#endif

#endif /* ACM_H */
