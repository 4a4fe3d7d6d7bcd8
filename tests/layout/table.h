/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The body of both tables: included once behind each <infiniband/acm.h>, with TABLE the table's
 * name and TABLE_COUNT that of its length.
 */
#include "layout.h"

/* Flags are unsigned in one header and signed in the other: what counts is the 32 bits. */
#define VALUE(name)                                                                                \
	{                                                                                          \
#name, (uint32_t)(name)                                                            \
	}
#define SIZE(type)                                                                                 \
	{                                                                                          \
		"sizeof " #type, sizeof(type)                                                      \
	}
#define ALIGNMENT(type)                                                                            \
	{                                                                                          \
		"alignof " #type, _Alignof(type)                                                   \
	}
#define FIELD(type, field)                                                                         \
	{                                                                                          \
#type "." #field, offsetof(type, field)                                            \
	}
#define FIELD_SIZE(type, field)                                                                    \
	{                                                                                          \
		"sizeof " #type "." #field, sizeof(((type *)0)->field)                             \
	}
#define MEMBER(type, field) FIELD(type, field), FIELD_SIZE(type, field)
#define FLEXIBLE(type, field, one)                                                                 \
	FIELD(type, field),                                                                        \
	{                                                                                          \
		"sizeof " #type "." #field "[0]", sizeof(one)                                      \
	}

const struct layout_entry TABLE[] = {
	VALUE(ACM_VERSION),
	VALUE(ACM_OP_MASK),
	VALUE(ACM_OP_RESOLVE),
	VALUE(ACM_OP_PERF_QUERY),
	VALUE(ACM_OP_EP_QUERY),
	VALUE(ACM_OP_ACK),
	VALUE(ACM_STATUS_SUCCESS),
	VALUE(ACM_STATUS_ENOMEM),
	VALUE(ACM_STATUS_EINVAL),
	VALUE(ACM_STATUS_ENODATA),
	VALUE(ACM_STATUS_ENOTCONN),
	VALUE(ACM_STATUS_ETIMEDOUT),
	VALUE(ACM_STATUS_ESRCADDR),
	VALUE(ACM_STATUS_ESRCTYPE),
	VALUE(ACM_STATUS_EDESTADDR),
	VALUE(ACM_STATUS_EDESTTYPE),
	VALUE(ACM_FLAGS_QUERY_SA),
	VALUE(ACM_FLAGS_NODELAY),
	VALUE(ACM_MSG_HDR_LENGTH),
	VALUE(ACM_MAX_ADDRESS),
	VALUE(ACM_MSG_EP_LENGTH),
	VALUE(ACM_MAX_PROV_NAME),
	VALUE(ACM_MSG_DATA_LENGTH),
	VALUE(ACM_EP_INFO_NAME),
	VALUE(ACM_EP_INFO_ADDRESS_IP),
	VALUE(ACM_EP_INFO_ADDRESS_IP6),
	VALUE(ACM_EP_INFO_PATH),
	VALUE(ACM_EP_FLAG_SOURCE),
	VALUE(ACM_EP_FLAG_DEST),
	VALUE(ACM_CNTR_ERROR),
	VALUE(ACM_CNTR_RESOLVE),
	VALUE(ACM_CNTR_NODATA),
	VALUE(ACM_CNTR_ADDR_QUERY),
	VALUE(ACM_CNTR_ADDR_CACHE),
	VALUE(ACM_CNTR_ROUTE_QUERY),
	VALUE(ACM_CNTR_ROUTE_CACHE),
	VALUE(ACM_MAX_COUNTER),
	VALUE(IBV_PATH_RECORD_REVERSIBLE),
	VALUE(IBV_PATH_FLAG_GMP),
	VALUE(IBV_PATH_FLAG_PRIMARY),
	VALUE(IBV_PATH_FLAG_ALTERNATE),
	VALUE(IBV_PATH_FLAG_OUTBOUND),
	VALUE(IBV_PATH_FLAG_INBOUND),
	VALUE(IBV_PATH_FLAG_INBOUND_REVERSE),
	VALUE(IBV_PATH_FLAG_BIDIRECTIONAL),

	SIZE(struct acm_hdr),
	ALIGNMENT(struct acm_hdr),
	MEMBER(struct acm_hdr, version),
	MEMBER(struct acm_hdr, opcode),
	MEMBER(struct acm_hdr, status),
	MEMBER(struct acm_hdr, data),
	MEMBER(struct acm_hdr, src_out),
	MEMBER(struct acm_hdr, src_index),
	MEMBER(struct acm_hdr, dst_index),
	MEMBER(struct acm_hdr, length),
	MEMBER(struct acm_hdr, tid),

	SIZE(union acm_ep_info),
	ALIGNMENT(union acm_ep_info),
	MEMBER(union acm_ep_info, addr),
	MEMBER(union acm_ep_info, name),
	MEMBER(union acm_ep_info, path),

	SIZE(struct acm_ep_addr_data),
	ALIGNMENT(struct acm_ep_addr_data),
	MEMBER(struct acm_ep_addr_data, flags),
	MEMBER(struct acm_ep_addr_data, type),
	MEMBER(struct acm_ep_addr_data, reserved),
	MEMBER(struct acm_ep_addr_data, info),

	SIZE(struct acm_resolve_msg),
	ALIGNMENT(struct acm_resolve_msg),
	MEMBER(struct acm_resolve_msg, hdr),
	FLEXIBLE(struct acm_resolve_msg, data, ((struct acm_resolve_msg *)0)->data[0]),

	SIZE(struct acm_perf_msg),
	ALIGNMENT(struct acm_perf_msg),
	MEMBER(struct acm_perf_msg, hdr),
	FLEXIBLE(struct acm_perf_msg, data, ((struct acm_perf_msg *)0)->data[0]),

	SIZE(struct acm_ep_config_data),
	ALIGNMENT(struct acm_ep_config_data),
	MEMBER(struct acm_ep_config_data, dev_guid),
	MEMBER(struct acm_ep_config_data, port_num),
	MEMBER(struct acm_ep_config_data, phys_port_cnt),
	MEMBER(struct acm_ep_config_data, rsvd),
	MEMBER(struct acm_ep_config_data, pkey),
	MEMBER(struct acm_ep_config_data, addr_cnt),
	MEMBER(struct acm_ep_config_data, prov_name),
	FLEXIBLE(struct acm_ep_config_data, addrs, ((struct acm_ep_config_data *)0)->addrs[0]),

	SIZE(struct acm_ep_query_msg),
	ALIGNMENT(struct acm_ep_query_msg),
	MEMBER(struct acm_ep_query_msg, hdr),
	FLEXIBLE(struct acm_ep_query_msg, data, ((struct acm_ep_query_msg *)0)->data[0]),

	SIZE(struct acm_msg),
	ALIGNMENT(struct acm_msg),
	MEMBER(struct acm_msg, hdr),
	MEMBER(struct acm_msg, data),
	FLEXIBLE(struct acm_msg, resolve_data, ((struct acm_msg *)0)->resolve_data[0]),
	FLEXIBLE(struct acm_msg, perf_data, ((struct acm_msg *)0)->perf_data[0]),
	MEMBER(struct acm_msg, ep_data),

	SIZE(struct ibv_path_record),
	ALIGNMENT(struct ibv_path_record),
	MEMBER(struct ibv_path_record, service_id),
	MEMBER(struct ibv_path_record, dgid),
	MEMBER(struct ibv_path_record, dgid.raw),
	MEMBER(struct ibv_path_record, dgid.global.subnet_prefix),
	MEMBER(struct ibv_path_record, dgid.global.interface_id),
	MEMBER(struct ibv_path_record, sgid),
	MEMBER(struct ibv_path_record, dlid),
	MEMBER(struct ibv_path_record, slid),
	MEMBER(struct ibv_path_record, flowlabel_hoplimit),
	MEMBER(struct ibv_path_record, tclass),
	MEMBER(struct ibv_path_record, reversible_numpath),
	MEMBER(struct ibv_path_record, pkey),
	MEMBER(struct ibv_path_record, qosclass_sl),
	MEMBER(struct ibv_path_record, mtu),
	MEMBER(struct ibv_path_record, rate),
	MEMBER(struct ibv_path_record, packetlifetime),
	MEMBER(struct ibv_path_record, preference),
	MEMBER(struct ibv_path_record, reserved),

	SIZE(struct ibv_path_data),
	ALIGNMENT(struct ibv_path_data),
	MEMBER(struct ibv_path_data, flags),
	MEMBER(struct ibv_path_data, reserved),
	MEMBER(struct ibv_path_data, path),
};

const size_t TABLE_COUNT = sizeof(TABLE) / sizeof(TABLE[0]);
