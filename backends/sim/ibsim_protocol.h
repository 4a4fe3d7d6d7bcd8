/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsim's socket protocol, as a client speaks it: datagrams between sockets in the abstract
 * namespace. Control messages go to NAME:ctl; a client that is attached in slot N exchanges packets
 * with NAME:outN from a socket called NAME:inID, where ID is a number of its own choice.
 *
 * Both structures are laid out as ibsim (0.7 to 0.12) has them in memory: fields are in host order
 * but where said.
 */
#ifndef ACMITE_SIM_IBSIM_PROTOCOL_H
#define ACMITE_SIM_IBSIM_PROTOCOL_H

#include <acmite/transport.h>
#include <stdint.h>

#define IBSIM_NAME_SIZE 32 /* of a netlist node, with its NUL */
#define IBSIM_HOPS_MAX  63
#define IBSIM_LID_NONE  0xffffu /* a directed route instead of LIDs */

/* Where a MAD goes. */
struct ibsim_address {
	uint16_t dlid;
	uint16_t slid;
	uint8_t qp;
};

struct ibsim_packet {
	uint32_t dlid; /* big-endian in the first two bytes */
	uint32_t slid;
	uint32_t dqp; /* big-endian */
	uint32_t sqp;
	uint32_t status; /* big-endian; nonzero: undeliverable, and this is the request come back */
	uint64_t length; /* big-endian */
	uint8_t mad[ACM_MAD_LENGTH];
};

/* A non-blocking socket named NAME:KINDid. And connected to the one called NAME:KIND. */
int ibsim_socket_open(const char *name, const char *kind, uint32_t id);
int ibsim_socket_connect(int fd, const char *name, const char *kind);
/* Connects to NAME:outSLOT. 0 or negative errno. */
int ibsim_socket_connect_slot(int fd, const char *name, uint32_t slot);
/*
 * Undoes that, dropping what was received. Without it, ibsim's attempt to connect another slot's
 * socket to this one fails, at which it ends itself.
 */
void ibsim_socket_disconnect(int fd);

/* Asks for an attachment to the node's first port with packets to NAME:in<id>; or gives it up. */
int ibsim_send_attach(int control_fd, uint32_t id, const char *node);
int ibsim_send_detach(int control_fd, uint32_t slot);
/*
 * The answer to either: 1 and *slot (the one attached, or what a detach named), 0: nothing there
 * yet, -ECONNREFUSED: ibsim says no, or another negative errno.
 */
int ibsim_receive_control(int control_fd, uint32_t *slot);

/* 0, -EAGAIN, or another negative errno. */
int ibsim_send_packet(int fd, const struct ibsim_address *to, const uint8_t *mad);
/* 1 and the packet, 0: none there, or negative errno. */
int ibsim_receive_packet(int fd, struct ibsim_packet *packet);

/*
 * OpenSM leaves RMPP to the kernel, and what stands in for that here sends the first segment as it
 * is, with the bytes that are of use in the packet. Makes a segment of it that says so itself.
 */
void ibsim_finish_segment(struct ibsim_packet *packet);
/* Bytes of an answer: fewer than ACM_MAD_LENGTH where its segment says so. */
uint32_t ibsim_mad_length(const uint8_t *mad);

/* Attributes of subnet management (IBA vol. 1, 14.2.5). */
enum ibsim_attribute {
	IBSIM_SWITCH_INFO = 0x12,
	IBSIM_PORT_INFO = 0x15,
	IBSIM_PKEY_TABLE = 0x16,
	IBSIM_LINEAR_TABLE = 0x19,
	IBSIM_MULTICAST_TABLE = 0x1b,
};

/*
 * A SubnGet along `path` (the out ports, from [1]) of `hops` hops; none reaches the port itself.
 * Writes ACM_MAD_LENGTH bytes.
 */
void ibsim_encode_smp(enum ibsim_attribute attribute, uint32_t modifier, const uint8_t *path,
		      uint8_t hops, uint8_t *mad);
/* The 64 bytes of attribute data of an answer, or NULL when its status is not good. */
const uint8_t *ibsim_smp_data(const uint8_t *mad);

uint64_t ibsim_mad_tid(const uint8_t *mad);
void ibsim_mad_set_tid(uint8_t *mad, uint64_t tid);

#endif
