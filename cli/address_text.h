/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses as people type them. Without a format they are told apart so:
 *
 *   10.0.0.2               four decimal parts: IPv4
 *   fd00::2                IPv6
 *   fe80::2ac:1:2:3        link-local, the last 64 bits look like a port GUID (its company id, the
 *                          first 24, is not zero, and it was not made from an Ethernet address by
 *                          putting ff:fe into the middle): GID, as an IPv6 address of a link
 * without that link's name leads nowhere 17, 0x11               only digits, or 0x and hex digits:
 * LID anything else          name, unless it can only be a slip in one of the above
 */
#ifndef ADDRESS_TEXT_H
#define ADDRESS_TEXT_H

#include <acmite/types.h>

enum address_format {
	ADDRESS_FORMAT_ANY,
	ADDRESS_FORMAT_NAME,
	ADDRESS_FORMAT_IP,
	ADDRESS_FORMAT_GID,
	ADDRESS_FORMAT_LID,
};

/* The format of a letter: n, i, g, l. False for anything else. */
bool address_format_parse(const char *text, enum address_format *format);

/* 0 and the canonical address, or -EINVAL and one sentence in `why`. */
int address_text_parse(const char *text, enum address_format format, struct acm_address *address,
		       char *why, size_t size);

#endif
