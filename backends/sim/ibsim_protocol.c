/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_protocol.h"

#include <acmite/bytes.h>
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAGIC 0xdeadbeefu

enum message_type { MESSAGE_ERROR, MESSAGE_ATTACH, MESSAGE_DETACH };

struct message {
	uint32_t magic;
	uint32_t slot;
	uint32_t type;
	uint32_t length;
	union {
		uint8_t bytes[64];
		struct {
			uint32_t id; /* the client's in the request, the slot in the answer */
			uint32_t qp;
			uint32_t is_sm;
			char node[IBSIM_NAME_SIZE];
		} attach;
	} data;
};

static_assert(sizeof(struct message) == 80, "ibsim's control message");
static_assert(sizeof(struct ibsim_packet) == 288, "ibsim's packet");
static_assert(offsetof(struct ibsim_packet, mad) == 32, "ibsim's packet");

/* Length of the address. The NUL behind the name is part of it: ibsim counts it. */
static socklen_t make_address(struct sockaddr_un *address, const char *name, const char *kind)
{
	int n;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s:%s", name, kind);
	assert(n > 0 && (size_t)n < sizeof(address->sun_path) - 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

int ibsim_socket_open(const char *name, const char *kind, uint32_t id)
{
	struct sockaddr_un address;
	socklen_t length;
	char own[32];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(own, sizeof(own), "%s%u", kind, id);
	length = make_address(&address, name, own);
	if (bind(fd, (const struct sockaddr *)&address, length) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

int ibsim_socket_connect(int fd, const char *name, const char *kind)
{
	struct sockaddr_un address;
	socklen_t length = make_address(&address, name, kind);

	return connect(fd, (const struct sockaddr *)&address, length) < 0 ? -errno : 0;
}

int ibsim_socket_connect_slot(int fd, const char *name, uint32_t slot)
{
	char kind[32];

	snprintf(kind, sizeof(kind), "out%u", slot);
	return ibsim_socket_connect(fd, name, kind);
}

void ibsim_socket_disconnect(int fd)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	struct ibsim_packet packet;

	/* A packet left in the queue would make the kernel signal an error to ibsim's socket. */
	while (recv(fd, &packet, sizeof(packet), 0) >= 0)
		;
	connect(fd, &none, sizeof(none));
}

static int send_message(int fd, const struct message *message)
{
	return send(fd, message, sizeof(*message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int ibsim_send_attach(int control_fd, uint32_t id, const char *node)
{
	struct message message = {.magic = MAGIC, .type = MESSAGE_ATTACH};

	message.length = sizeof(message.data.attach);
	message.data.attach.id = id;
	message.data.attach.qp = 1;
	snprintf(message.data.attach.node, sizeof(message.data.attach.node), "%s", node);
	return send_message(control_fd, &message);
}

int ibsim_send_detach(int control_fd, uint32_t slot)
{
	struct message message = {.magic = MAGIC, .slot = slot, .type = MESSAGE_DETACH};

	return send_message(control_fd, &message);
}

int ibsim_receive_control(int control_fd, uint32_t *slot)
{
	struct message message;
	ssize_t n = recv(control_fd, &message, sizeof(message), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if ((size_t)n != sizeof(message) || message.magic != MAGIC)
		return -EPROTO;
	if (message.type == MESSAGE_ERROR)
		return -ECONNREFUSED;
	*slot = message.type == MESSAGE_ATTACH ? message.data.attach.id : message.slot;
	return 1;
}

int ibsim_send_packet(int fd, const struct ibsim_address *to, const uint8_t *mad)
{
	struct ibsim_packet packet = {
		.dlid = htons(to->dlid),
		.slid = htons(to->slid),
		.dqp = htonl(to->qp),
		.sqp = htonl(to->qp),
		.length = htobe64(ACM_MAD_LENGTH),
	};

	memcpy(packet.mad, mad, ACM_MAD_LENGTH);
	return send(fd, &packet, sizeof(packet), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int ibsim_receive_packet(int fd, struct ibsim_packet *packet)
{
	ssize_t n;

	do
		n = recv(fd, packet, sizeof(*packet), 0);
	while (n >= 0 && (size_t)n != sizeof(*packet)); /* not a packet: the next */
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return 1;
}

#define CLASS_SA       3
#define TID            8
#define RMPP_TYPE      25
#define RMPP_FLAGS     26
#define RMPP_SEGMENT   28
#define RMPP_LENGTH    32
#define RMPP_END       36 /* the payload begins */
#define RMPP_ACTIVE    0x01
#define RMPP_ONLY      0x07 /* active, the first and the last */
#define RMPP_DATA_TYPE 1

static bool has_rmpp(const uint8_t *mad)
{
	return mad[1] == CLASS_SA && mad[RMPP_FLAGS] & RMPP_ACTIVE;
}

void ibsim_finish_segment(struct ibsim_packet *packet)
{
	uint64_t length = be64toh(packet->length);
	uint8_t *mad = packet->mad;

	if (!has_rmpp(mad) || length < RMPP_END || length > ACM_MAD_LENGTH)
		return;
	mad[RMPP_TYPE] = RMPP_DATA_TYPE;
	mad[RMPP_FLAGS] |= RMPP_ONLY;
	store_be32(mad + RMPP_SEGMENT, 1);
	store_be32(mad + RMPP_LENGTH, (uint32_t)length - RMPP_END);
}

uint32_t ibsim_mad_length(const uint8_t *mad)
{
	uint32_t payload = load_be32(mad + RMPP_LENGTH);

	if (!has_rmpp(mad) || payload > ACM_MAD_LENGTH - RMPP_END)
		return ACM_MAD_LENGTH;
	return RMPP_END + payload;
}

void ibsim_encode_smp(enum ibsim_attribute attribute, uint32_t modifier, const uint8_t *path,
		      uint8_t hops, uint8_t *mad)
{
	assert(hops <= IBSIM_HOPS_MAX);
	memset(mad, 0, ACM_MAD_LENGTH);
	mad[0] = 1;
	mad[1] = 0x81; /* subnet management, directed route */
	mad[2] = 1;
	mad[3] = 0x01; /* Get */
	mad[7] = hops;
	store_be16(mad + 16, (uint16_t)attribute);
	store_be32(mad + 20, modifier);
	store_be16(mad + 32, IBSIM_LID_NONE);
	store_be16(mad + 34, IBSIM_LID_NONE);
	for (uint8_t i = 1; i <= hops; i++)
		mad[128 + i] = path[i];
}

const uint8_t *ibsim_smp_data(const uint8_t *mad)
{
	uint16_t status = load_be16(mad + 4) & 0x7fff; /* the top bit is the direction */

	return status == 0 && mad[3] == 0x81 ? mad + 64 : NULL;
}

uint64_t ibsim_mad_tid(const uint8_t *mad)
{
	return load_be64(mad + TID);
}

void ibsim_mad_set_tid(uint8_t *mad, uint64_t tid)
{
	store_be64(mad + TID, tid);
}
