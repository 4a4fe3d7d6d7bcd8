/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attach_channel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128
#define LMC_MAX 7 /* three bits: IBA vol. 1, 14.2.5.6 */

/* ---- lengths ---- */

/* Of a type: the whole, and, where its end counts only in part, what comes before that. */
struct shape {
	size_t size;
	size_t fixed; /* 0: the whole counts */
};

#define WHOLE(type)                                                                                \
	{                                                                                          \
		sizeof(struct type), 0                                                             \
	}
#define ENDING(type, array)                                                                        \
	{                                                                                          \
		sizeof(struct type), offsetof(struct type, array)                                  \
	}

static const struct shape shapes[] = {
	[SIM_ATTACH_HELLO] = WHOLE(sim_attach_hello),
	[SIM_ATTACH_START] = WHOLE(sim_attach_header),
	[SIM_ATTACH_OPEN] = WHOLE(sim_attach_open),
	[SIM_ATTACH_CLOSE] = WHOLE(sim_attach_close),
	[SIM_ATTACH_SEND] = ENDING(sim_attach_send, payload),
	[SIM_ATTACH_JOIN_QP] = WHOLE(sim_attach_qp_group),
	[SIM_ATTACH_PART_QP] = WHOLE(sim_attach_qp_group),
	[SIM_ATTACH_SA_SEND] = WHOLE(sim_attach_mad),
	[SIM_ATTACH_MAD_SEND] = WHOLE(sim_attach_mad),
	[SIM_ATTACH_MAD_CANCEL] = WHOLE(sim_attach_status),
	[SIM_ATTACH_FAULT] = ENDING(sim_attach_fault, text),
	[SIM_ATTACH_SHOW] = WHOLE(sim_attach_show),
	[SIM_ATTACH_WELCOME] = WHOLE(sim_attach_welcome),
	[SIM_ATTACH_REFUSED] = WHOLE(sim_attach_refused),
	[SIM_ATTACH_PORT] = WHOLE(sim_attach_port),
	[SIM_ATTACH_REREGISTER] = {offsetof(struct sim_attach_port, facts), 0},
	[SIM_ATTACH_OPENED] = WHOLE(sim_attach_opened),
	[SIM_ATTACH_JOINED_QP] = WHOLE(sim_attach_status),
	[SIM_ATTACH_DATAGRAM] = ENDING(sim_attach_datagram, payload),
	[SIM_ATTACH_SEND_FAILED] = WHOLE(sim_attach_status),
	[SIM_ATTACH_ANSWER] = ENDING(sim_attach_answer, bytes),
	[SIM_ATTACH_FAILED] = WHOLE(sim_attach_status),
	[SIM_ATTACH_FORGOTTEN] = WHOLE(sim_attach_status),
	[SIM_ATTACH_ROW] = ENDING(sim_attach_row, text),
	[SIM_ATTACH_RESULT] = WHOLE(sim_attach_status),
	[SIM_ATTACH_ADDRESS] = WHOLE(sim_attach_address),
};

/* NULL: there is no such type. */
static const struct shape *shape_of(uint32_t type)
{
	if (type >= sizeof(shapes) / sizeof(shapes[0]) || !shapes[type].size)
		return NULL;
	return &shapes[type];
}

/* What the length field of a message says, where its type has one. */
static uint32_t length_field(const union sim_attach_message *message)
{
	switch ((enum sim_attach_type)message->header.type) {
	case SIM_ATTACH_SEND:
		return message->send.length;
	case SIM_ATTACH_DATAGRAM:
		return message->datagram.length;
	case SIM_ATTACH_ANSWER:
		return message->answer.length;
	case SIM_ATTACH_FAULT:
		return message->fault.length;
	case SIM_ATTACH_ROW:
		return message->row.length;
	default:
		return 0;
	}
}

/* ---- messages ---- */

size_t sim_channel_length(const void *message)
{
	const union sim_attach_message *sent = message;
	const struct shape *shape = shape_of(sent->header.type);
	size_t length;

	if (!shape)
		return 0;
	length = shape->fixed ? shape->fixed + length_field(sent) : shape->size;
	return length <= shape->size ? length : 0;
}

int sim_channel_send(int fd, const void *message)
{
	size_t length = sim_channel_length(message);

	if (!length)
		return -EINVAL;
	if (send(fd, message, length, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	if (errno == EINTR || errno == ENOBUFS)
		return -EAGAIN;
	return errno == ECONNRESET ? -EPIPE : -errno;
}

int sim_channel_hello(int fd, enum sim_attach_role role, const char *node)
{
	struct sim_attach_hello hello = {.header.type = SIM_ATTACH_HELLO,
					 .magic = SIM_ATTACH_MAGIC,
					 .version = SIM_ATTACH_VERSION,
					 .role = role};

	if (strlen(node) >= sizeof(hello.node))
		return -ENAMETOOLONG;
	strcpy(hello.node, node);
	return sim_channel_send(fd, &hello);
}

static bool is_whole(const union sim_attach_message *message, size_t length)
{
	const struct shape *shape;

	if (length < sizeof(message->header))
		return false;
	shape = shape_of(message->header.type);
	if (!shape || length > shape->size)
		return false;
	if (!shape->fixed)
		return length == shape->size;
	return length >= shape->fixed && length - shape->fixed >= length_field(message);
}

/* What a reader indexes or shifts by; texts apart. */
static bool is_in_range(const union sim_attach_message *message)
{
	const struct acm_port_facts *facts = &message->port.facts;

	switch ((enum sim_attach_type)message->header.type) {
	case SIM_ATTACH_ADDRESS:
		return message->address.address.length <= ACM_ADDRESS_MAX;
	case SIM_ATTACH_PORT:
		return facts->gid_count <= ACM_PORT_GIDS_MAX &&
		       facts->pkey_count <= ACM_PORT_PKEYS_MAX && facts->lmc <= LMC_MAX;
	default:
		return true;
	}
}

#define END(text) ((text)[sizeof(text) - 1] = 0)

static void end_texts(union sim_attach_message *message)
{
	switch ((enum sim_attach_type)message->header.type) {
	case SIM_ATTACH_HELLO:
		END(message->hello.node);
		break;
	case SIM_ATTACH_WELCOME:
		END(message->welcome.device);
		END(message->welcome.fabric);
		break;
	case SIM_ATTACH_REFUSED:
		END(message->refused.text);
		break;
	case SIM_ATTACH_PORT:
		END(message->port.facts.device);
		break;
	case SIM_ATTACH_RESULT:
		END(message->status.text);
		break;
	case SIM_ATTACH_FAULT:
		message->fault.text[message->fault.length < sizeof(message->fault.text)
					    ? message->fault.length
					    : sizeof(message->fault.text) - 1] = 0;
		break;
	case SIM_ATTACH_ROW:
		END(message->row.text);
		break;
	default:
		break;
	}
}

int sim_channel_receive(int fd, union sim_attach_message *message)
{
	ssize_t length = recv(fd, message, sizeof(*message), MSG_DONTWAIT | MSG_TRUNC);

	/* It went with something unread: what it said before can still be read. */
	if (length < 0 && errno == ECONNRESET)
		length = recv(fd, message, sizeof(*message), MSG_DONTWAIT | MSG_TRUNC);
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (length < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (length == 0) /* an empty message looks the same, and is as good as none */
		return -EPIPE;
	if (!is_whole(message, (size_t)length) || !is_in_range(message))
		return -EPROTO;
	end_texts(message);
	return 1;
}

/* ---- sockets ---- */

__attribute__((format(printf, 4, 5))) static int explain(char *why, size_t size, int error,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, size, format, arguments);
	va_end(arguments);
	return error;
}

static int make_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	return 0;
}

static int make_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

int sim_channel_connect(const char *path)
{
	struct sockaddr_un address;
	int error = make_address(&address, path), fd;

	if (error)
		return error;
	fd = make_socket();
	if (fd < 0 || !connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

void sim_channel_explain(const char *path, int error, char *why, size_t size)
{
	const char *remedy = "acmite fabric serve starts one";

	if (error == -EACCES)
		remedy = "the --mode of acmite fabric serve decides who may";
	if (error == -ENAMETOOLONG)
		remedy = "use a shorter path";
	if (error == -ENOTSOCK || error == -EPROTOTYPE)
		remedy = "name the --socket of acmite fabric serve";
	snprintf(why, size, "no fabric server can be reached at %s: %s; %s", path, strerror(-error),
		 remedy);
}

int sim_channel_accept(int fd)
{
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (accepted >= 0)
		return accepted;
	return errno == EINTR || errno == ECONNABORTED ? -EAGAIN : -errno;
}

/* 0: nothing is at the path now. */
static int clear_path(const char *path, char *why, size_t size)
{
	struct stat status;
	int fd;

	if (lstat(path, &status))
		return errno == ENOENT
			       ? 0
			       : explain(why, size, -errno, "cannot look at the socket %s: %s",
					 path, strerror(errno));
	if (!S_ISSOCK(status.st_mode))
		return explain(why, size, -EEXIST,
			       "%s is there and is not a socket; remove it or choose another"
			       " --socket",
			       path);
	fd = sim_channel_connect(path);
	if (fd == -ECONNREFUSED && !unlink(path))
		return 0;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -EAGAIN || fd == -EPROTOTYPE)
		return explain(why, size, -EADDRINUSE,
			       "%s is in use: a program serves it; stop that one or choose another"
			       " --socket",
			       path);
	return explain(why, size, fd,
		       "cannot replace the socket %s: %s; remove it or choose another --socket",
		       path, strerror(-fd));
}

int sim_channel_listen(const char *path, mode_t mode, char *why, size_t size)
{
	struct sockaddr_un address;
	mode_t umask_before;
	int error = make_address(&address, path), fd;

	if (error)
		return explain(why, size, error,
			       "the socket path '%s' has %zu bytes; expected: 1 to %zu", path,
			       strlen(path), sizeof(address.sun_path) - 1);
	error = clear_path(path, why, size);
	if (error)
		return error;
	fd = make_socket();
	if (fd < 0)
		return explain(why, size, fd, "cannot make a socket: %s", strerror(-fd));
	umask_before = umask(0177); /* closed until its mode is what was asked for */
	error = bind(fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	umask(umask_before);
	if (error) {
		explain(why, size, error, "cannot make the socket %s: %s; choose another --socket",
			path, strerror(-error));
	} else if (chmod(path, mode) || listen(fd, BACKLOG)) {
		error = explain(why, size, -errno, "cannot serve the socket %s: %s", path,
				strerror(errno));
		unlink(path);
	}
	if (!error)
		return fd;
	close(fd);
	return error;
}
