/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_manager(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t length;
	ssize_t sent;
	int error;
	int fd;

	if (!path || !*path)
		return 0;
	length = strlen(path);
	if (length >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return -EINVAL;
	memcpy(to.sun_path, path, length);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	error = errno;
	close(fd);
	return sent < 0 ? -error : 1;
}
