/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a fabric server and the programs attached to it say to each other; docs/attach.md tells the
 * rules. One connection (a Unix socket of type SOCK_SEQPACKET) is one attachment to one node, and
 * ends with it. Both sides run on one machine: integers are host-endian, GIDs and MADs as on the
 * wire. Every message begins with its header; its length is that of its structure, or shorter where
 * the last member is an array of which `length` bytes count.
 *
 * An attachment does for one node what acmite/transport.h says, message by message, and besides
 * sends MADs to any port, for the programs that do so on hardware.
 */
#ifndef ACMITE_SIM_ATTACH_PROTOCOL_H
#define ACMITE_SIM_ATTACH_PROTOCOL_H

#include <acmite/engine.h>
#include <acmite/transport.h>

#define SIM_ATTACH_MAGIC   0x61636d66u /* "acmf" */
#define SIM_ATTACH_VERSION 1
#define SIM_ATTACH_NAME    64 /* bytes of a name, NUL-terminated */
#define SIM_ATTACH_TEXT    512
#define SIM_ATTACH_CHUNK   16384 /* bytes of an answer in one message */
#define SIM_ATTACH_MADS    256   /* SA_SENDs and MAD_SENDs in flight; more get FAILED, -EAGAIN */

enum sim_attach_type {
	/* From a program. The first one is HELLO; WELCOME or REFUSED answers it. */
	SIM_ATTACH_HELLO = 1,
	SIM_ATTACH_START, /* header only: port events are wanted, one PORT for each follows */
	SIM_ATTACH_OPEN,
	SIM_ATTACH_CLOSE,
	SIM_ATTACH_SEND,
	SIM_ATTACH_JOIN_QP, /* attach a queue pair to a group */
	SIM_ATTACH_PART_QP,
	SIM_ATTACH_SA_SEND,
	SIM_ATTACH_MAD_SEND,
	SIM_ATTACH_MAD_CANCEL, /* of either; nothing with its cookie comes after FORGOTTEN */
	SIM_ATTACH_FAULT,      /* one fault as in a scenario; RESULT answers */
	SIM_ATTACH_SHOW,       /* ROWs answer, then RESULT */
	/* From the server. */
	SIM_ATTACH_WELCOME = 64,
	SIM_ATTACH_REFUSED,
	SIM_ATTACH_PORT,
	SIM_ATTACH_REREGISTER,
	SIM_ATTACH_OPENED,
	SIM_ATTACH_JOINED_QP,
	SIM_ATTACH_DATAGRAM,
	SIM_ATTACH_SEND_FAILED,
	SIM_ATTACH_ANSWER, /* to SA_SEND or MAD_SEND, in chunks */
	SIM_ATTACH_FAILED, /* of SA_SEND or MAD_SEND: no answer will come */
	SIM_ATTACH_FORGOTTEN,
	SIM_ATTACH_ROW,
	SIM_ATTACH_RESULT,
	SIM_ATTACH_ADDRESS, /* of its node, to an owner, right behind WELCOME */
};

struct sim_attach_header {
	uint32_t type; /* enum sim_attach_type */
	uint32_t reserved;
};

enum sim_attach_role {
	/* The node's service: one at a time for each node. */
	SIM_ATTACH_OWNER = 1,
	/* A program on the node, as many as there are, beside an owner or without one. */
	SIM_ATTACH_PROGRAM,
	/* Of no node: FAULT and SHOW only. */
	SIM_ATTACH_OBSERVER,
};

struct sim_attach_hello {
	struct sim_attach_header header;
	uint32_t magic;
	uint32_t version;
	uint32_t role;
	char node[SIM_ATTACH_NAME]; /* "" for an observer */
};

struct sim_attach_welcome {
	struct sim_attach_header header;
	uint32_t version;
	uint32_t port_count;
	uint64_t node_guid;
	uint64_t system_guid;
	uint32_t address_count; /* that many ADDRESS messages follow; 0 but for an owner */
	uint32_t reserved;
	char device[SIM_ATTACH_NAME];
	char fabric[SIM_ATTACH_NAME];
};

struct sim_attach_address {
	struct sim_attach_header header;
	struct acm_address address;
	uint8_t reserved[6];
};

/* Then the server closes. */
struct sim_attach_refused {
	struct sim_attach_header header;
	int32_t status; /* negative errno: -EBUSY taken, -ENOENT unknown, -EPROTO version, ... */
	uint32_t reserved;
	char text[SIM_ATTACH_TEXT]; /* one sentence */
};

/* As acm_transport_ops.open_endpoint; OPENED answers. */
struct sim_attach_open {
	struct sim_attach_header header;
	uint32_t endpoint;
	uint32_t port; /* from 0 */
	uint32_t qkey;
	uint32_t recv_depth;
	uint16_t pkey;
	uint16_t reserved[3];
};

struct sim_attach_close {
	struct sim_attach_header header;
	uint32_t endpoint;
	uint32_t reserved;
};

struct sim_attach_opened {
	struct sim_attach_header header;
	uint32_t endpoint;
	int32_t status;
	uint32_t qpn;
	uint32_t reserved;
};

/* As struct acm_datagram. */
struct sim_attach_send {
	struct sim_attach_header header;
	uint64_t cookie;
	uint32_t endpoint;
	uint32_t qpn;
	uint32_t qkey;
	uint32_t flow_label;
	struct acm_gid dgid;
	uint16_t dlid;
	uint16_t length;
	uint8_t sl;
	uint8_t path_bits;
	uint8_t static_rate;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t reserved[7];
	uint8_t payload[ACM_DATAGRAM_MAX];
};

/* As struct acm_datagram_received. */
struct sim_attach_datagram {
	struct sim_attach_header header;
	uint32_t endpoint;
	uint32_t source_qpn;
	uint32_t flow_label;
	uint16_t slid;
	uint16_t length;
	struct acm_gid sgid;
	struct acm_gid dgid;
	uint8_t sl;
	uint8_t dlid_path_bits;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t reserved[4];
	uint8_t payload[ACM_DATAGRAM_MAX];
};

struct sim_attach_qp_group {
	struct sim_attach_header header;
	uint64_t cookie; /* JOINED_QP brings it back */
	struct acm_gid mgid;
	uint32_t endpoint;
	uint16_t mlid;
	uint16_t reserved;
};

/* JOINED_QP, SEND_FAILED, FAILED, FORGOTTEN, RESULT; MAD_CANCEL without a status. */
struct sim_attach_status {
	struct sim_attach_header header;
	uint64_t cookie;
	int32_t status; /* 0 or negative errno */
	uint32_t reserved;
	char text[SIM_ATTACH_TEXT]; /* RESULT: one sentence where the status is not 0 */
};

/* SA_SEND: to the port's SM, `dlid`, `qpn`, `qkey` and `sl` do not count. */
struct sim_attach_mad {
	struct sim_attach_header header;
	uint64_t cookie;
	uint32_t port; /* from 0 */
	uint32_t qpn;
	uint32_t qkey;
	uint16_t dlid; /* ACM_LID_PERMISSIVE: by the directed route in the MAD */
	uint16_t pkey_index;
	uint8_t sl;
	uint8_t reserved[7];
	uint8_t mad[ACM_MAD_LENGTH];
};

struct sim_attach_answer {
	struct sim_attach_header header;
	uint64_t cookie;
	uint32_t total;  /* bytes of the whole: header, and data of all RMPP segments joined */
	uint32_t offset; /* of this chunk; chunks come in order, one answer after the other */
	uint32_t length; /* of this chunk */
	uint32_t reserved;
	uint8_t bytes[SIM_ATTACH_CHUNK];
};

struct sim_attach_port {
	struct sim_attach_header header;
	uint32_t port; /* from 0; REREGISTER ends here */
	uint32_t reserved;
	struct acm_port_facts facts; /* the port as it is now */
};

/* A fault of a scenario file, as YAML: "kind: link_down, link: ..." with or without braces. */
struct sim_attach_fault {
	struct sim_attach_header header;
	uint32_t length;
	char text[4096];
};

enum sim_attach_table {
	SIM_ATTACH_NODES = 1, /* hosts and switches, LIDs, attachments */
	SIM_ATTACH_GROUPS,    /* queue pairs that are attached to multicast groups */
	SIM_ATTACH_TABLES,    /* forwarding tables */
	SIM_ATTACH_DROPS,     /* packets lost, by cause */
	SIM_ATTACH_MEMBERS,   /* ports that are members of groups, for the SA, and attached */
};

struct sim_attach_show {
	struct sim_attach_header header;
	uint32_t table; /* enum sim_attach_table */
	uint32_t reserved;
};

/* One row: `columns` texts, each NUL-terminated, in the order that docs/attach.md gives. */
struct sim_attach_row {
	struct sim_attach_header header;
	uint32_t columns;
	uint32_t length;
	char text[4096];
};

#endif
