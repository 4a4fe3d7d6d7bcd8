/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asking an ACM service: one connection, any number of requests under way on it, answers in the
 * order in which they come.
 *
 * A client belongs to one thread. Functions return 0 or a negative errno; after an error
 * acm_client_error() is one sentence with the place and the remedy. After any error but -ETIMEDOUT,
 * -EINVAL and -ENOMEM the connection is of no more use.
 */
#ifndef ACMITE_CLIENT_H
#define ACMITE_CLIENT_H

#include <acmite/wire.h>

#define ACM_CLIENT_SOCKET   "/run/ibacm-unix.sock"
#define ACM_CLIENT_TCP_PORT 6125

struct acm_client;

/*
 * Makes a client that is not connected. NULL: no memory. acm_client_destroy() closes and frees it;
 * requests under way are dropped. NULL is allowed.
 */
struct acm_client *acm_client_create(void);
void acm_client_destroy(struct acm_client *client);

/*
 * Connects within `timeout_ms`. `address` is a Unix socket's path, beginning with '/', or HOST or
 * HOST:PORT or [IPV6]:PORT for TCP; NULL stands for ACM_CLIENT_SOCKET. -EINVAL: none of these;
 * -EHOSTUNREACH: the host has no address; -ETIMEDOUT; else what the system says. May be tried again
 * after a failure. Looking up the name of a host is not covered by the time-out.
 */
int acm_client_connect(struct acm_client *client, const char *address, uint32_t timeout_ms);

/* Takes over a connected stream socket, closed on errors also. `address` is for messages only. */
int acm_client_adopt(struct acm_client *client, int fd, const char *address);

/*
 * Queues a request; it leaves as soon as the socket takes it, at the latest in
 * acm_client_receive(). `cookie` is the caller's and comes back with the answer. The request's id
 * and tid are not used. -EINVAL: it cannot be encoded.
 */
int acm_client_send(struct acm_client *client, const struct acm_request *request, uint64_t cookie);

/*
 * Waits up to `timeout_ms` for an answer to any request under way. 0: `reply` (whose endpoint's
 * texts are valid until the next call) and `cookie` are filled in. -ETIMEDOUT: nothing came,
 * requests stay under way. -ECONNRESET: the service closed the connection. -EBADMSG: it sent what
 * is no answer to anything asked. -ENOENT: no request is under way.
 */
int acm_client_receive(struct acm_client *client, uint32_t timeout_ms, uint64_t *cookie,
		       struct acm_reply *reply);

/* Requests that have no answer yet. */
uint32_t acm_client_pending(const struct acm_client *client);

/* One sentence on the last failure, without a full stop or newline; "" before the first. */
const char *acm_client_error(const struct acm_client *client);

#endif
