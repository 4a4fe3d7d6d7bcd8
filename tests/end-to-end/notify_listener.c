/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Usage: notify_listener SOCKET MILLISECONDS
 * A service manager's side of NOTIFY_SOCKET: says "listening", then each message that comes, until
 * one is STOPPING=1 or the time is over (exit 1). A path that begins with @ is in the abstract
 * namespace.
 */
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (length >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	return bind(fd, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length))
		       ? -1
		       : fd;
}

int main(int argc, char **argv)
{
	struct pollfd readable = {.events = POLLIN};
	char text[256];

	if (argc != 3)
		return 2;
	readable.fd = listen_at(argv[1]);
	if (readable.fd < 0) {
		perror("notify_listener");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("listening");
	while (poll(&readable, 1, atoi(argv[2])) == 1) {
		ssize_t length = recv(readable.fd, text, sizeof(text) - 1, 0);

		text[length > 0 ? length : 0] = '\0';
		puts(text);
		if (!strcmp(text, "STOPPING=1"))
			return EXIT_SUCCESS;
	}
	fputs("notify_listener: nothing came\n", stderr);
	return EXIT_FAILURE;
}
