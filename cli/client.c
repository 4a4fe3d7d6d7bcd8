/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <acmite/client.h>

#include "client_address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define READ_CHUNK 65536
#define NO_SLOT    UINT32_MAX

/* A request under way. Its tid is its place and the place's use count, so none comes twice soon. */
struct slot {
	uint64_t cookie;
	uint32_t uses;
	uint32_t next_free;
	uint8_t opcode;
	bool busy;
};

/* Bytes [start, end) of `data` are there. */
struct buffer {
	uint8_t *data;
	size_t start;
	size_t end;
	size_t size;
};

struct acm_client {
	int fd;
	char address[280];
	char error[512];
	struct slot *slots;
	uint32_t slot_count;
	uint32_t first_free;
	uint32_t pending;
	struct buffer out;
	struct buffer in;
	size_t taken; /* bytes of `in` that the last reply still points into */
};

__attribute__((format(printf, 3, 4))) static int fail(struct acm_client *client, int error,
						      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(client->error, sizeof(client->error), format, arguments);
	va_end(arguments);
	return error;
}

static int fail_memory(struct acm_client *client)
{
	return fail(client, -ENOMEM, "there is no memory for another request");
}

/* ---- time ---- */

static uint64_t monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int remaining_ms(uint64_t deadline)
{
	uint64_t now = monotonic_ms();

	if (now >= deadline)
		return 0;
	return deadline - now > INT_MAX ? INT_MAX : (int)(deadline - now);
}

/* 1: one of `events`, or an end, is there; 0: time is up. */
static int wait_for(int fd, short events, uint64_t deadline)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	int count;

	do {
		count = poll(&poll_fd, 1, remaining_ms(deadline));
	} while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count;
}

/* ---- buffers ---- */

/* Makes room for `length` bytes behind the end; moves the rest down only when that pays. */
static bool buffer_reserve(struct buffer *buffer, size_t length)
{
	size_t have = buffer->end - buffer->start;
	size_t size;
	uint8_t *data;

	if (buffer->size - buffer->end >= length)
		return true;
	if (buffer->start >= have) {
		if (have)
			memmove(buffer->data, buffer->data + buffer->start, have);
		buffer->start = 0;
		buffer->end = have;
	}
	if (buffer->size - buffer->end >= length)
		return true;
	size = 2 * (buffer->end + length);
	data = realloc(buffer->data, size);
	if (!data)
		return false;
	buffer->data = data;
	buffer->size = size;
	return true;
}

/* ---- requests under way ---- */

static bool add_slots(struct acm_client *client)
{
	uint32_t count = client->slot_count ? 2 * client->slot_count : 16;
	struct slot *slots = realloc(client->slots, count * sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = client->slot_count; i < count; i++)
		slots[i] = (struct slot){.next_free = i + 1 < count ? i + 1 : NO_SLOT};
	client->first_free = client->slot_count;
	client->slots = slots;
	client->slot_count = count;
	return true;
}

static uint64_t slot_tid(const struct acm_client *client, uint32_t index)
{
	return (uint64_t)client->slots[index].uses << 32 | index;
}

/* Takes the first free slot. Returns its tid. */
static uint64_t slot_take(struct acm_client *client, uint64_t cookie, uint8_t opcode)
{
	uint32_t index = client->first_free;
	struct slot *slot = &client->slots[index];

	client->first_free = slot->next_free;
	slot->cookie = cookie;
	slot->opcode = opcode;
	slot->busy = true;
	client->pending++;
	return slot_tid(client, index);
}

static void slot_release(struct acm_client *client, uint32_t index)
{
	struct slot *slot = &client->slots[index];

	slot->busy = false;
	slot->uses++;
	slot->next_free = client->first_free;
	client->first_free = index;
	client->pending--;
}

/* ---- connecting ---- */

struct acm_client *acm_client_create(void)
{
	struct acm_client *client = calloc(1, sizeof(*client));

	if (client) {
		client->fd = -1;
		client->first_free = NO_SLOT;
	}
	return client;
}

void acm_client_destroy(struct acm_client *client)
{
	if (!client)
		return;
	if (client->fd >= 0)
		close(client->fd);
	free(client->slots);
	free(client->out.data);
	free(client->in.data);
	free(client);
}

/* A connected socket, or a negative errno. */
static int connect_socket(int family, const struct sockaddr *name, socklen_t length,
			  uint64_t deadline)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(int);
	int error;

	if (fd < 0)
		return -errno;
	for (;;) {
		error = connect(fd, name, length) ? errno : 0;
		/* A Unix socket's word for a full backlog: nothing tells when there is room. */
		if (error != EAGAIN || !remaining_ms(deadline))
			break;
		poll(NULL, 0, 1);
	}
	if (error == EINPROGRESS) {
		int ready = wait_for(fd, POLLOUT, deadline);

		error = ready < 0 ? -ready : 0;
		if (!ready)
			error = ETIMEDOUT;
		else if (ready > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
			error = errno;
	}
	if (!error)
		return fd;
	close(fd);
	return error == EAGAIN ? -ETIMEDOUT : -error;
}

static int connect_path(const char *path, uint64_t deadline)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};

	memcpy(name.sun_path, path, strlen(path));
	return connect_socket(AF_UNIX, (struct sockaddr *)&name, sizeof(name), deadline);
}

static int connect_host(struct acm_client *client, const struct client_address *address,
			uint64_t deadline)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	int error = getaddrinfo(address->host, address->port, &hints, &list);
	int fd = -EHOSTUNREACH;
	int on = 1;

	if (error)
		return fail(client, -EHOSTUNREACH,
			    "the host '%s' cannot be looked up (%s); check the spelling, or give a "
			    "path that begins with '/'",
			    address->host, gai_strerror(error));
	for (struct addrinfo *entry = list; entry && fd < 0; entry = entry->ai_next)
		fd = connect_socket(entry->ai_family, entry->ai_addr, entry->ai_addrlen, deadline);
	freeaddrinfo(list);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static int explain_connect(struct acm_client *client, int error)
{
	if (error == -EHOSTUNREACH && *client->error)
		return error;
	if (error == -ENOENT || error == -ECONNREFUSED)
		return fail(client, error,
			    "no service listens at %s; start acmited, or name its socket with -S",
			    client->address);
	if (error == -EACCES || error == -EPERM)
		return fail(client, error,
			    "the socket %s may not be used by this user; ask for access to it",
			    client->address);
	if (error == -ETIMEDOUT)
		return fail(client, error,
			    "%s does not take the connection in time; see whether the service is "
			    "overloaded",
			    client->address);
	return fail(client, error, "%s cannot be connected to: %s", client->address,
		    strerror(-error));
}

int acm_client_connect(struct acm_client *client, const char *text, uint32_t timeout_ms)
{
	uint64_t deadline = monotonic_ms() + timeout_ms;
	struct client_address address;
	int fd;

	client->error[0] = '\0';
	if (!text)
		text = ACM_CLIENT_SOCKET;
	fd = client_address_parse(text, &address, client->error, sizeof(client->error));
	if (fd)
		return fd;
	snprintf(client->address, sizeof(client->address), "%s", text);
	if (address.is_path)
		fd = connect_path(address.host, deadline);
	else
		fd = connect_host(client, &address, deadline);
	if (fd < 0)
		return explain_connect(client, fd);
	return acm_client_adopt(client, fd, text);
}

int acm_client_adopt(struct acm_client *client, int fd, const char *address)
{
	int flags = fcntl(fd, F_GETFL);

	snprintf(client->address, sizeof(client->address), "%s", address);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
		int error = -errno;

		close(fd);
		return fail(client, error, "%s is not usable: %s", address, strerror(-error));
	}
	if (client->fd >= 0)
		close(client->fd);
	client->fd = fd;
	return 0;
}

/* ---- sending ---- */

static int lost(struct acm_client *client, int error)
{
	if (error == -EPIPE || error == -ECONNRESET)
		return fail(client, -ECONNRESET,
			    "the service at %s closed the connection (%u requests under way); see "
			    "its log",
			    client->address, client->pending);
	return fail(client, error, "the connection to %s failed: %s", client->address,
		    strerror(-error));
}

/* Writes what the socket takes. */
static int flush(struct acm_client *client)
{
	struct buffer *out = &client->out;

	while (out->start < out->end) {
		ssize_t count = send(client->fd, out->data + out->start, out->end - out->start,
				     MSG_NOSIGNAL);

		if (count > 0)
			out->start += (size_t)count;
		else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		else if (count < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

static uint8_t opcode_of(enum acm_request_kind kind)
{
	switch (kind) {
	case ACM_REQUEST_COUNTERS:
		return ACM_OPCODE_COUNTERS;
	case ACM_REQUEST_ENDPOINT:
		return ACM_OPCODE_ENDPOINT;
	default:
		return ACM_OPCODE_RESOLVE;
	}
}

int acm_client_send(struct acm_client *client, const struct acm_request *request, uint64_t cookie)
{
	struct acm_request copy = *request;
	int length;

	if (client->fd < 0)
		return fail(client, -ENOTCONN, "the client is not connected");
	if ((client->first_free == NO_SLOT && !add_slots(client)) ||
	    !buffer_reserve(&client->out, ACM_CLIENT_REQUEST_MAX))
		return fail_memory(client);
	copy.opcode = opcode_of(request->kind);
	copy.tid = slot_tid(client, client->first_free);
	length = acm_client_encode_request(&copy, client->out.data + client->out.end,
					   client->out.size - client->out.end);
	if (length < 0)
		return fail(client, -EINVAL, "the request cannot be put into a message");
	client->out.end += (size_t)length;
	slot_take(client, cookie, copy.opcode);
	/* A lost connection is told by acm_client_receive(), after the answers that came before. */
	(void)flush(client);
	return 0;
}

/* ---- receiving ---- */

static int explain_garbage(struct acm_client *client)
{
	return fail(
		client, -EBADMSG,
		"%s sent what is no answer to anything asked; check that an ACM service listens "
		"there",
		client->address);
}

/* 1: the first whole answer is decoded; 0: it is not all there. */
static int take_reply(struct acm_client *client, uint64_t *cookie, struct acm_reply *reply)
{
	struct buffer *in = &client->in;
	const uint8_t *frame = in->data + in->start;
	size_t have = in->end - in->start;
	int length = have ? acm_client_reply_frame(frame, have) : 0;
	uint32_t index;

	if (length < 0)
		return explain_garbage(client);
	if (!length || (size_t)length > have)
		return 0;
	if (acm_client_decode_reply(frame, (size_t)length, reply))
		return explain_garbage(client);
	index = (uint32_t)reply->tid;
	if (index >= client->slot_count || !client->slots[index].busy ||
	    slot_tid(client, index) != reply->tid ||
	    client->slots[index].opcode != (reply->opcode & ~ACM_OPCODE_ANSWER))
		return explain_garbage(client);
	*cookie = client->slots[index].cookie;
	slot_release(client, index);
	client->taken = (size_t)length;
	return 1;
}

/* Reads what is there, once. 0 also when nothing is. */
static int fill(struct acm_client *client)
{
	struct buffer *in = &client->in;
	ssize_t count;

	if (!buffer_reserve(in, READ_CHUNK))
		return fail_memory(client);
	count = recv(client->fd, in->data + in->end, in->size - in->end, 0);
	if (count > 0)
		in->end += (size_t)count;
	else if (!count)
		return lost(client, -ECONNRESET);
	else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
		return lost(client, -errno);
	return 0;
}

/* Moves bytes in both directions; a failed send counts only when nothing more can be read. */
static int exchange(struct acm_client *client, uint64_t deadline)
{
	int unsent = flush(client);
	short events = POLLIN;
	int ready;

	if (!unsent && client->out.start < client->out.end)
		events |= POLLOUT;
	ready = wait_for(client->fd, events, unsent ? 0 : deadline);
	if (ready < 0)
		return lost(client, ready);
	if (!ready && unsent)
		return lost(client, unsent);
	if (!ready)
		return fail(client, -ETIMEDOUT,
			    "%s did not answer in time (%u under way); allow more with --timeout, "
			    "or see "
			    "the service's log",
			    client->address, client->pending);
	return fill(client);
}

int acm_client_receive(struct acm_client *client, uint32_t timeout_ms, uint64_t *cookie,
		       struct acm_reply *reply)
{
	uint64_t deadline = monotonic_ms() + timeout_ms;

	if (client->fd < 0)
		return fail(client, -ENOTCONN, "the client is not connected");
	if (!client->pending)
		return fail(client, -ENOENT, "no request is under way");
	client->in.start += client->taken;
	client->taken = 0;
	for (;;) {
		int result = take_reply(client, cookie, reply);

		if (result)
			return result < 0 ? result : 0;
		result = exchange(client, deadline);
		if (result)
			return result;
	}
}

uint32_t acm_client_pending(const struct acm_client *client)
{
	return client->pending;
}

const char *acm_client_error(const struct acm_client *client)
{
	return client->error;
}
