/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where an ACM service listens, as people write it. */
#ifndef CLIENT_ADDRESS_H
#define CLIENT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

struct client_address {
	bool is_path;
	char host[256]; /* or the path */
	char port[8];
};

/*
 * Reads a path that begins with '/', HOST, HOST:PORT, [IPV6] or [IPV6]:PORT. 0, or -EINVAL and one
 * sentence in `why`.
 */
int client_address_parse(const char *text, struct client_address *address, char *why, size_t size);

#endif
