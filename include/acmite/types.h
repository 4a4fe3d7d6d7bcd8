/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values that every part of acmite shares.
 *
 * All integers are host-endian; only the codecs (acmite/wire.h) know other byte orders. GIDs and IP
 * addresses are byte strings in network order, as printed. Durations and times are nanoseconds.
 */
#ifndef ACMITE_TYPES_H
#define ACMITE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A time that never comes. Times are monotonic nanoseconds from an arbitrary origin. */
#define ACM_NEVER UINT64_MAX

#define ACM_NSEC_PER_USEC UINT64_C(1000)
#define ACM_NSEC_PER_MSEC UINT64_C(1000000)
#define ACM_NSEC_PER_SEC  UINT64_C(1000000000)

/* Most bytes of an address (IBA-independent; the ACM protocol's field size). */
#define ACM_ADDRESS_MAX 64

/* P_Key: 15 bits of partition, the top bit set for full members (IBA vol. 1, 10.9). */
#define ACM_PKEY_FULL    0x8000u
#define ACM_PKEY_DEFAULT 0xffffu

/* First multicast LID, first LID that is neither unicast nor multicast (IBA vol. 1, 4.1.3). */
#define ACM_LID_MULTICAST  0xc000u
#define ACM_LID_PERMISSIVE 0xffffu

struct acm_gid {
	uint8_t raw[16]; /* network order */
};

/* The numbers are those of the client and the node-to-node protocol. */
enum acm_address_type {
	ACM_ADDRESS_NONE = 0,
	ACM_ADDRESS_NAME = 1, /* 1 to 64 bytes, no NUL inside; compared without ASCII case */
	ACM_ADDRESS_IP = 2,   /* 4 bytes */
	ACM_ADDRESS_IP6 = 3,  /* 16 bytes */
	ACM_ADDRESS_GID = 4,  /* 16 bytes */
	ACM_ADDRESS_LID = 5,  /* 2 bytes, network order */
};

/*
 * An address in canonical form: `length` bytes of `data` count, the rest is zero; names are in
 * lower case (acm_address_canonical() in wire.h makes them so; `spelling` of a name is not kept).
 */
struct acm_address {
	uint8_t type; /* enum acm_address_type */
	uint8_t length;
	uint8_t data[ACM_ADDRESS_MAX];
};

/* A path record (IBA vol. 1, 15.2.5.16), host-endian. MTU and rate are the IBA's codes. */
struct acm_path {
	uint64_t service_id;
	struct acm_gid dgid;
	struct acm_gid sgid;
	uint16_t dlid;
	uint16_t slid;
	uint32_t flow_label; /* 20 bits */
	uint8_t hop_limit;
	uint8_t traffic_class;
	bool reversible;
	uint8_t path_count; /* 7 bits */
	uint16_t pkey;
	uint16_t qos_class;   /* 12 bits */
	uint8_t sl;           /* 4 bits */
	uint8_t mtu;          /* code: 1 is 256 ... 5 is 4096 */
	uint8_t mtu_selector; /* 0 greater, 1 less, 2 exactly, 3 largest */
	uint8_t rate;         /* code, 6 bits */
	uint8_t rate_selector;
	uint8_t packet_life; /* 4.096 us * 2^n */
	uint8_t packet_life_selector;
	uint8_t preference;
};

/* Where all memory of an object comes from. `alloc` returns NULL when there is none. */
struct acm_allocator {
	void *(*alloc)(void *context, size_t size);
	void (*free)(void *context, void *memory, size_t size);
	void *context;
};

#endif
