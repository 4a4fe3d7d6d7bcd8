/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The messages of attach_protocol.h over a socket, for both sides: each is whole and of the right
 * length, or refused. Sockets are non-blocking; whoever wants to wait does so with poll(). Nothing
 * is kept between calls, so a socket may be used by one thread that sends and one that receives.
 */
#ifndef ACMITE_SIM_ATTACH_CHANNEL_H
#define ACMITE_SIM_ATTACH_CHANNEL_H

#include "attach_protocol.h"
#include <sys/types.h>

union sim_attach_message {
	struct sim_attach_header header;
	struct sim_attach_hello hello;
	struct sim_attach_open open;
	struct sim_attach_close close;
	struct sim_attach_send send;
	struct sim_attach_qp_group group;
	struct sim_attach_mad mad;
	struct sim_attach_status status;
	struct sim_attach_fault fault;
	struct sim_attach_show show;
	struct sim_attach_welcome welcome;
	struct sim_attach_refused refused;
	struct sim_attach_address address;
	struct sim_attach_port port;
	struct sim_attach_opened opened;
	struct sim_attach_datagram datagram;
	struct sim_attach_answer answer;
	struct sim_attach_row row;
};

/*
 * A listening socket at `path` with this mode, made anew. What a server that died left there is
 * replaced. The socket, or negative errno with a sentence in `why`: -EADDRINUSE when a server is
 * alive there.
 */
int sim_channel_listen(const char *path, mode_t mode, char *why, size_t size);
/* A connection, or negative errno: -EAGAIN: none waits. */
int sim_channel_accept(int fd);
/* A connection to the server at `path`, or negative errno: -EAGAIN: it is busy, try again. */
int sim_channel_connect(const char *path);
/* Why that failed, as a sentence with the remedy. */
void sim_channel_explain(const char *path, int error, char *why, size_t size);

/* Sends HELLO. As sim_channel_send(); -ENAMETOOLONG: there is no such node. */
int sim_channel_hello(int fd, enum sim_attach_role role, const char *node);
/* Bytes of a message, by its type and its length field; 0: it is none. */
size_t sim_channel_length(const void *message);
/*
 * Sends one message: the bytes that its type and its length field say. 0; -EAGAIN: not now, nothing
 * was sent; -EPIPE: the other side is gone; -EINVAL: it is no message; or another
 * negative errno.
 */
int sim_channel_send(int fd, const void *message);
/*
 * 1 and a message: of the length that its type asks for, its texts NUL-terminated, counts of arrays
 * and LMCs in their range. 0: none is there. -EPIPE: the other side is gone; -EPROTO: it sent what
 * is no message, which is consumed; or another negative errno.
 */
int sim_channel_receive(int fd, union sim_attach_message *message);

#endif
