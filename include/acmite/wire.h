/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Codecs: the only code that knows byte order. Every length and range of what came from outside is
 * checked here, once. Decoders read at most `length` bytes, write their result on success only, and
 * need no alignment. Encoders write whole messages and clear all reserved fields.
 *
 * Sources: include/infiniband/acm.h (client protocol), IBA vol. 1 chapters 13 and 15 (MADs, SA).
 */
#ifndef ACMITE_WIRE_H
#define ACMITE_WIRE_H

#include <acmite/types.h>

/* ---- addresses ---- */

/*
 * Makes the canonical form. Names end at the first NUL or at `length`; they become lower case
 * (ASCII). -EINVAL: unknown type, wrong length for it, an empty name, a name byte that is a control
 * character.
 */
int acm_address_canonical(struct acm_address *address, enum acm_address_type type,
			  const uint8_t *data, size_t length);
bool acm_address_equal(const struct acm_address *a, const struct acm_address *b);

/* ---- MTU and rate codes ---- */

/* Code of an MTU in bytes (256 to 4096), 0 when there is none. And back. */
uint8_t acm_mtu_code(uint32_t bytes);
uint32_t acm_mtu_bytes(uint8_t code);
/* Code of a rate in Gb/s by its customary name (2.5 is given as 25: tenths of Gb/s), 0: none. */
uint8_t acm_rate_code(uint32_t tenths_gbps);
/* Tenths of Gb/s, 0 for an unknown code. Covers SDR to XDR, 1x to 12x but 12x XDR, which has no
 * code. */
uint32_t acm_rate_tenths_gbps(uint8_t code);
/* <0, 0, >0 by bandwidth: codes are not in order of bandwidth. Unknown codes are below all. */
int acm_rate_compare(uint8_t a, uint8_t b);
/*
 * Rate code of a port: `width_active` is PortInfo's code (1, 2, 4, 8, 16), `speed_active`
 * PortInfo's LinkSpeedActive (1 SDR, 2 DDR, 4 QDR), `speed_ext_active` LinkSpeedExtActive (0 none,
 * 1 FDR, 2 EDR, 4 HDR, 8 NDR), `speed_ext2_active` LinkSpeedExtActive2 (0, 1 XDR). 0: unknown.
 */
uint8_t acm_rate_of_link(uint8_t width_active, uint8_t speed_active, uint8_t speed_ext_active,
			 uint8_t speed_ext2_active);

/* ---- client protocol ---- */

enum acm_status {
	ACM_STATUS_OK = 0,
	ACM_STATUS_NO_MEMORY = 1,
	ACM_STATUS_INVALID = 2,
	ACM_STATUS_NO_DATA = 3,
	ACM_STATUS_NOT_CONNECTED = 5,
	ACM_STATUS_TIMED_OUT = 6,
	ACM_STATUS_SOURCE_ADDRESS = 7,
	ACM_STATUS_SOURCE_TYPE = 8,
	ACM_STATUS_DESTINATION_ADDRESS = 9,
	ACM_STATUS_DESTINATION_TYPE = 10,
};

#define ACM_CLIENT_HEADER_LENGTH 16
#define ACM_CLIENT_RECORD_LENGTH 72
#define ACM_CLIENT_RECORDS_MAX   8
/* Longest request that is taken. */
#define ACM_CLIENT_REQUEST_MAX                                                                     \
	(ACM_CLIENT_HEADER_LENGTH + ACM_CLIENT_RECORDS_MAX * ACM_CLIENT_RECORD_LENGTH)
/* Longest answer to anything but an endpoint query. */
#define ACM_CLIENT_REPLY_MAX (ACM_CLIENT_HEADER_LENGTH + 25 * 8)

#define ACM_OPCODE_RESOLVE  0x01
#define ACM_OPCODE_COUNTERS 0x02
#define ACM_OPCODE_ENDPOINT 0x03
#define ACM_OPCODE_ANSWER   0x80

/*
 * Length of the message that begins at `data`, of which `have` bytes are there: >0 when its header
 * tells (the message may not be complete yet), 0 when fewer than 16 bytes are there, -EBADMSG when
 * it cannot be framed (wrong version, length below 16 or above ACM_CLIENT_REQUEST_MAX in its
 * opcode's byte order; for an unknown opcode, no byte order that makes sense). After -EBADMSG the
 * stream is lost: answer ACM_STATUS_INVALID and close.
 */
int acm_client_frame(const uint8_t *data, size_t have);

enum acm_request_kind {
	ACM_REQUEST_RESOLVE,   /* by addresses: .destination, .source */
	ACM_REQUEST_PATH,      /* by a partial path record: .path */
	ACM_REQUEST_COUNTERS,  /* .index (0: service) or .source */
	ACM_REQUEST_ENDPOINT,  /* .index, .port */
	ACM_REQUEST_MALFORMED, /* .malformed says how; it is to be answered with that status */
};

struct acm_request {
	uint64_t id;  /* the daemon's own, not from the message; comes back in the reply */
	uint64_t tid; /* the client's, byte for byte as it was */
	uint8_t opcode;
	enum acm_request_kind kind;
	enum acm_status malformed;
	bool query_sa; /* bypass the cache */
	bool no_delay; /* answer from the cache or not at all, but begin the look-up */
	bool has_source;
	struct acm_address source;
	struct acm_address destination;
	struct acm_path path; /* zero fields are not constrained */
	uint8_t index;
	uint8_t port;
};

/*
 * Decodes one whole frame. Always fills in `request` (but `id`); what is wrong with a frame makes
 * it ACM_REQUEST_MALFORMED: no or two destinations -> DESTINATION_TYPE / INVALID, two sources or
 * records that are neither -> INVALID, unknown types -> SOURCE_TYPE / DESTINATION_TYPE, bad
 * contents -> SOURCE_ADDRESS / DESTINATION_ADDRESS, ragged length, unknown opcode, answers (0x80)
 * -> INVALID. A path record without flags behind addresses is librdmacm's route hint and is passed
 * over.
 */
void acm_client_decode_request(const uint8_t *frame, size_t length, struct acm_request *request);

struct acm_reply {
	uint64_t id;
	uint64_t tid;
	uint8_t opcode; /* the request's */
	enum acm_request_kind kind;
	enum acm_status status;
	struct acm_path path;
	bool has_source; /* a second record names the source that was picked */
	struct acm_address source;
	uint8_t counter_count;
	uint64_t counters[24];
	struct {
		uint8_t index;
		uint64_t device_guid;
		uint8_t port;
		uint8_t port_count;
		uint16_t pkey;
		const char *provider;
		uint16_t address_count;
		const char (*addresses)[ACM_ADDRESS_MAX]; /* text, NUL-terminated where shorter */
	} endpoint;
};

/* Bytes that acm_client_encode_reply() will write. */
size_t acm_client_reply_length(const struct acm_reply *reply);
/* Bytes written, or -ENOSPC, also for more than the protocol's 65535. Failures carry no body. */
int acm_client_encode_reply(const struct acm_reply *reply, uint8_t *data, size_t size);

/* The client's side of the same messages, for acmite and the tests. Bytes written, or negative
 * errno. */
int acm_client_encode_request(const struct acm_request *request, uint8_t *data, size_t size);
/* Length of the answer that begins at `data`, as acm_client_frame(); both opcodes 0x01 and 0x81
 * pass. */
int acm_client_reply_frame(const uint8_t *data, size_t have);
/*
 * Decodes one whole answer. endpoint.provider and .addresses point into `frame`; `kind` is RESOLVE
 * for paths too, MALFORMED for the failure of an unknown opcode; `id` is 0. -EBADMSG when it is not
 * one.
 */
int acm_client_decode_reply(const uint8_t *frame, size_t length, struct acm_reply *reply);

/* "success", "timed out", ... static. */
const char *acm_status_text(enum acm_status status);

/* ---- between nodes: ACM MADs ---- */

/* The protocol's list has room for 10, but a MAD ends after the sixth. */
#define ACM_MAD_GIDS_MAX 6
#define ACM_QKEY         0x80010000u

struct acm_message {
	bool answer;
	uint16_t status; /* 0: success; class-specific in the high byte */
	uint64_t tid;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	struct acm_address destination;
	struct acm_address source;
	uint8_t gid_count; /* 1 to ACM_MAD_GIDS_MAX */
	struct acm_gid gids[ACM_MAD_GIDS_MAX];
};

/*
 * -EMSGSIZE: shorter than a whole message. -EPROTO: not an ACM resolve MAD of this version.
 * -EBADMSG: a field out of range (types other than name, IPv4, IPv6; lengths above 64 or too short
 * for the type; addresses that are not canonical; GID counts above ACM_MAD_GIDS_MAX or zero; in an
 * answer with nonzero status the GID count may be anything and is given as 0). Nodes in the field
 * leave the addresses out of their answers: there type 0 is right and gives ACM_ADDRESS_NONE.
 */
int acm_message_decode(const uint8_t *data, size_t length, struct acm_message *message);
/* Writes ACM_MAD_LENGTH bytes. Lengths go out as 64, as 0 for an address that is not there. */
void acm_message_encode(const struct acm_message *message, uint8_t *data);

/* ---- subnet administration ---- */

/* Class-specific SA status codes (IBA vol. 1, table 188), from the high byte of the MAD status. */
enum acm_sa_status {
	ACM_SA_OK = 0,
	ACM_SA_NO_RESOURCES = 1,
	ACM_SA_REQ_INVALID = 2,
	ACM_SA_NO_RECORDS = 3,
	ACM_SA_TOO_MANY_RECORDS = 4,
	ACM_SA_INVALID_GID = 5,
	ACM_SA_INSUFFICIENT_COMPONENTS = 6,
	ACM_SA_DENIED = 7,
};

#define ACM_SA_ATTRIBUTE_PATH     0x35
#define ACM_SA_ATTRIBUTE_MCMEMBER 0x38

struct acm_sa_header {
	uint8_t method; /* 0x81 GetResp, 0x92 GetTableResp, 0x95 DeleteResp, ... */
	uint16_t attribute;
	uint16_t status; /* all 16 bits: busy is 0x0001, redirect 0x0002 */
	uint64_t tid;
	uint16_t record_length; /* bytes, from the attribute offset; 0 when not given */
};

/* -EMSGSIZE, -EPROTO (not SA class 3 version 2, not a response method). */
int acm_sa_decode_header(const uint8_t *mad, size_t length, struct acm_sa_header *header);

/* A PathRecord Get. Component bits are set for every nonzero field (numb_path always, reversible
 * where true). Writes ACM_MAD_LENGTH bytes. */
void acm_sa_encode_path_get(const struct acm_path *constraint, uint64_t tid, uint8_t *mad);
/* The first record. -EBADMSG when shorter than one record or a field is out of range (LIDs 0 or
 * multicast unless the DGID is multicast, MTU or rate code unknown). */
int acm_sa_decode_path(const uint8_t *mad, size_t length, struct acm_path *path);

struct acm_mcmember {
	struct acm_gid mgid;
	struct acm_gid port_gid;
	uint32_t qkey;
	uint16_t mlid;
	uint8_t mtu;
	uint8_t traffic_class;
	uint16_t pkey;
	uint8_t rate;
	uint8_t packet_life;
	uint8_t sl;
	uint32_t flow_label;
	uint8_t hop_limit;
	uint8_t scope;
	uint8_t join_state;
};

/* Set with the mask that protocol.md names: MGID, port GID, Q_Key, MTU and rate exactly, traffic
 * class, P_Key, SL, flow label, scope, join state. */
void acm_sa_encode_join(const struct acm_mcmember *member, uint64_t tid, uint8_t *mad);
/* Delete with MGID, port GID and join state. */
void acm_sa_encode_leave(const struct acm_mcmember *member, uint64_t tid, uint8_t *mad);
/* Get of a group's record by MGID. */
void acm_sa_encode_group_get(const struct acm_gid *mgid, uint64_t tid, uint8_t *mad);
/* -EBADMSG: short, or MLID outside 0xc000-0xfffe, MTU or rate code unknown, MGID not multicast. */
int acm_sa_decode_mcmember(const uint8_t *mad, size_t length, struct acm_mcmember *member);

/* The other direction, for models of an SA and for tests. NULL where an answer carries no record.
 */
void acm_sa_encode_path_answer(const struct acm_path *path, uint16_t status, uint64_t tid,
			       uint8_t *mad);
void acm_sa_encode_mcmember_answer(const struct acm_mcmember *member, uint8_t method,
				   uint16_t status, uint64_t tid, uint8_t *mad);

/* The table from SA status (16 bits of the MAD) to client status; never OK for a nonzero status. */
enum acm_status acm_sa_client_status(uint16_t mad_status);
/* What the SA says with a status that is not 0, in a few words; static. */
const char *acm_sa_status_text(uint16_t mad_status);

/* Group id of the ACM protocol: ff15:4001:PPPP:TTRR:MM00::, P_Key with the full-member bit. */
void acm_group_mgid(struct acm_gid *mgid, uint16_t pkey, uint8_t rate, uint8_t mtu);
/* Rate and MTU codes out of such an MGID; false when it is not one of `pkey`'s (15 bits). */
bool acm_group_parse(const struct acm_gid *mgid, uint16_t pkey, uint8_t *rate, uint8_t *mtu);

#endif
