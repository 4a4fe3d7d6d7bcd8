/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "listeners.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The kernel cuts it to net.core.somaxconn. */
#define BACKLOG 4096

#define DEFAULT_SOCKET      "/run/ibacm-unix.sock"
#define DEFAULT_SOCKET_LINK "/run/ibacm.sock"
#define DEFAULT_PORT_FILE   "/run/ibacm-tcp.port"
#define DEFAULT_PORT_LINK   "/run/ibacm.port"

struct explanation {
	char *text;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int explain(struct explanation why, int error,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why.text, why.size, format, arguments);
	va_end(arguments);
	return error;
}

/* ---- the Unix socket ---- */

/* 0: the path is free now. */
static int clear_path(const struct sockaddr_un *address, struct explanation why)
{
	const char *path = address->sun_path;
	struct stat status;
	int error;
	int fd;

	if (lstat(path, &status))
		return errno == ENOENT ? 0
				       : explain(why, -errno, "cannot look at the socket %s: %s",
						 path, strerror(errno));
	if (!S_ISSOCK(status.st_mode))
		return explain(why, -EEXIST,
			       "%s is there and is not a socket; remove it or choose another"
			       " --socket",
			       path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return explain(why, -errno, "cannot make a socket: %s", strerror(errno));
	error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
	close(fd);
	if (error == ECONNREFUSED && !unlink(path))
		return 0;
	if (!error || error == EAGAIN)
		return explain(why, -EADDRINUSE,
			       "%s is in use: a program serves it; stop that one or choose"
			       " another --socket",
			       path);
	return explain(why, -error,
		       "cannot replace the socket %s: %s; remove it or choose another --socket",
		       path, strerror(error));
}

static int bind_unix(struct listeners *listeners, int fd, const struct sockaddr_un *address,
		     mode_t mode, struct explanation why)
{
	const char *path = address->sun_path;
	mode_t umask_before = umask(0177); /* closed until its mode is what was asked for */
	int error = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
	struct stat status;

	umask(umask_before);
	if (error)
		return explain(why, -error,
			       "cannot make the socket %s: %s; choose another --socket", path,
			       strerror(error));
	if (listen(fd, BACKLOG) || lstat(path, &status) || chmod(path, mode)) {
		error = errno;
		unlink(path);
		return explain(why, -error, "cannot serve the socket %s: %s", path,
			       strerror(error));
	}
	listeners->device = status.st_dev;
	listeners->inode = status.st_ino;
	strcpy(listeners->socket, path); /* it fits: sun_path is shorter */
	return 0;
}

static int open_unix(struct listeners *listeners, const char *path, mode_t mode,
		     struct explanation why)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int error;
	int fd;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return explain(why, -ENAMETOOLONG,
			       "the socket path %s has %zu bytes; expected: 1 to %zu", path,
			       strlen(path), sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	error = clear_path(&address, why);
	if (error)
		return error;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return explain(why, -errno, "cannot make a socket: %s", strerror(errno));
	error = bind_unix(listeners, fd, &address, mode, why);
	if (error) {
		close(fd);
		return error;
	}
	listeners->fds[listeners->count++] = fd;
	return 0;
}

/* ---- TCP ---- */

union tcp_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* The socket, or negative errno. `only_v6` is IPV6_V6ONLY's value. */
static int listen_tcp(const union tcp_address *address, int only_v6)
{
	socklen_t length =
		address->any.sa_family == AF_INET ? sizeof(address->v4) : sizeof(address->v6);
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;
	int error;

	if (fd < 0)
		return -errno;
	/* Accepted sockets inherit TCP_NODELAY: each answer is one small segment. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    (address->any.sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof(only_v6))) ||
	    bind(fd, &address->any, length) || listen(fd, BACKLOG)) {
		error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

static uint16_t port_of(int fd)
{
	union tcp_address address;
	socklen_t length = sizeof(address);

	if (getsockname(fd, &address.any, &length))
		return 0;
	return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

static bool has_no_ipv6(int error)
{
	return error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL;
}

static int keep_tcp(struct listeners *listeners, int fd, uint16_t asked, struct explanation why)
{
	if (fd < 0)
		return explain(why, fd,
			       "cannot serve TCP port %u: %s; choose another with the option"
			       " server_port",
			       asked, strerror(-fd));
	listeners->port = port_of(fd);
	listeners->fds[listeners->count++] = fd;
	return 0;
}

static int open_loopback(struct listeners *listeners, uint16_t port, struct explanation why)
{
	union tcp_address v4 = {.v4 = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	union tcp_address v6 = {
		.v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};
	int error = keep_tcp(listeners, listen_tcp(&v4, 0), port, why);
	int fd;

	if (error)
		return error;
	v6.v6.sin6_port = htons(listeners->port);
	fd = listen_tcp(&v6, 1);
	return has_no_ipv6(fd) ? 0 : keep_tcp(listeners, fd, listeners->port, why);
}

static int open_everywhere(struct listeners *listeners, uint16_t port, struct explanation why)
{
	union tcp_address v6 = {.v6 = {.sin6_family = AF_INET6,
				       .sin6_port = htons(port),
				       .sin6_addr = IN6ADDR_ANY_INIT}};
	union tcp_address v4 = {.v4 = {.sin_family = AF_INET, .sin_port = htons(port)}};
	int fd = listen_tcp(&v6, 0);

	if (has_no_ipv6(fd))
		fd = listen_tcp(&v4, 0);
	return keep_tcp(listeners, fd, port, why);
}

static int open_tcp(struct listeners *listeners, const struct options *options,
		    struct explanation why)
{
	switch (options->server_mode) {
	case SERVER_LOOP:
		return open_loopback(listeners, options->server_port, why);
	case SERVER_OPEN:
		return open_everywhere(listeners, options->server_port, why);
	case SERVER_UNIX:
		break;
	}
	return 0;
}

/* ---- files by which clients find them ---- */

/* Written beside and renamed, so that nobody reads half of it or is led through a link. */
static int write_port_file(const struct listeners *listeners, struct explanation why)
{
	char beside[sizeof(listeners->port_file) + 8];
	char text[16];
	int length = snprintf(text, sizeof(text), "%u\n", listeners->port);
	int error = 0;
	int fd;

	snprintf(beside, sizeof(beside), "%s.new", listeners->port_file);
	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, (size_t)length) != length ||
	    rename(beside, listeners->port_file))
		error = errno ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
	if (!error)
		return 0;
	unlink(beside);
	return explain(why, error, "cannot write the port file %s: %s", listeners->port_file,
		       strerror(-error));
}

static int make_link(const char *target, const char *path, struct explanation why)
{
	struct stat status;

	if (!lstat(path, &status) && !S_ISLNK(status.st_mode))
		return explain(why, -EEXIST, "%s is there and is not a symbolic link; remove it",
			       path);
	if ((unlink(path) && errno != ENOENT) || symlink(target, path))
		return explain(why, -errno, "cannot make the link %s: %s", path, strerror(errno));
	return 0;
}

/* Links are for clients other than ib_acme: none of them is made when only that is to be served. */
static int publish(struct listeners *listeners, const char *path, const struct options *options,
		   struct explanation why)
{
	bool default_paths = !path;
	bool links = default_paths && !options->acme_plus_kernel_only;
	int error = 0;

	if (default_paths)
		strcpy(listeners->port_file, DEFAULT_PORT_FILE);
	else
		snprintf(listeners->port_file, sizeof(listeners->port_file), "%s.port", path);
	/* What an earlier run left would lead clients to a port that nobody serves. */
	if (default_paths)
		unlink(DEFAULT_PORT_LINK);
	unlink(listeners->port_file);
	if (links) {
		error = make_link(DEFAULT_SOCKET, DEFAULT_SOCKET_LINK, why);
		if (!error)
			strcpy(listeners->socket_link, DEFAULT_SOCKET_LINK);
	}
	if (!error && listeners->port)
		error = write_port_file(listeners, why);
	if (!error && listeners->port && links) {
		error = make_link(DEFAULT_PORT_FILE, DEFAULT_PORT_LINK, why);
		if (!error)
			strcpy(listeners->port_link, DEFAULT_PORT_LINK);
	}
	return error;
}

int listeners_open(struct listeners *listeners, const char *path, const struct options *options,
		   char *why, size_t size)
{
	struct explanation explanation = {why, size};
	int error;

	memset(listeners, 0, sizeof(*listeners));
	error = open_unix(listeners, path ? path : DEFAULT_SOCKET, options->socket_mode,
			  explanation);
	if (!error)
		error = open_tcp(listeners, options, explanation);
	if (!error)
		error = publish(listeners, path, options, explanation);
	if (error)
		listeners_close(listeners);
	return error;
}

void listeners_close(struct listeners *listeners)
{
	struct stat status;

	if (listeners->port_link[0])
		unlink(listeners->port_link);
	if (listeners->socket_link[0])
		unlink(listeners->socket_link);
	if (listeners->port_file[0] && listeners->port)
		unlink(listeners->port_file);
	if (listeners->socket[0] && !lstat(listeners->socket, &status) &&
	    status.st_dev == listeners->device && status.st_ino == listeners->inode)
		unlink(listeners->socket);
	for (size_t i = 0; i < listeners->count; i++)
		close(listeners->fds[i]);
	memset(listeners, 0, sizeof(*listeners));
}
