/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_address.h"

#include <acmite/client.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static int parse_path(const char *text, struct client_address *address, char *why, size_t size)
{
	const size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;

	if (strlen(text) > most) {
		snprintf(why, size, "%s: a socket's path has at most %zu bytes; use a shorter one",
			 text, most);
		return -EINVAL;
	}
	address->is_path = true;
	snprintf(address->host, sizeof(address->host), "%s", text);
	return 0;
}

static bool is_port(const char *text)
{
	size_t length = strlen(text);
	long port;

	if (!length || length > 5 || strspn(text, "0123456789") != length)
		return false;
	port = strtol(text, NULL, 10);
	return port >= 1 && port <= 65535;
}

/* Where the host ends and what follows it: "" or ":PORT"; NULL when a bracket is not closed. */
static const char *find_host(const char **host, size_t *length)
{
	const char *end;

	if (**host == '[') {
		++*host;
		end = strchr(*host, ']');
		if (!end)
			return NULL;
		*length = (size_t)(end - *host);
		return end + 1;
	}
	end = strchr(*host, ':');
	if (!end || strchr(end + 1, ':')) /* none, or an IPv6 address without brackets */
		end = *host + strlen(*host);
	*length = (size_t)(end - *host);
	return end;
}

int client_address_parse(const char *text, struct client_address *address, char *why, size_t size)
{
	const char *host = text;
	size_t length = 0;
	const char *rest;

	memset(address, 0, sizeof(*address));
	if (*text == '/')
		return parse_path(text, address, why, size);
	rest = find_host(&host, &length);
	if (!rest || !length || length >= sizeof(address->host) ||
	    (*rest && (*rest != ':' || !is_port(rest + 1)))) {
		snprintf(why, size,
			 "'%s' is not where a service can be; give a path that begins with '/', or "
			 "HOST, or HOST:PORT with a port from 1 to 65535",
			 text);
		return -EINVAL;
	}
	memcpy(address->host, host, length);
	if (*rest)
		snprintf(address->port, sizeof(address->port), "%.5s", rest + 1);
	else
		snprintf(address->port, sizeof(address->port), "%d", ACM_CLIENT_TCP_PORT);
	return 0;
}
