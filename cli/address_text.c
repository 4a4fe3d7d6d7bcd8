/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "address_text.h"

#include <acmite/bytes.h>
#include <acmite/wire.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LID_MAX (ACM_LID_MULTICAST - 1)

bool address_format_parse(const char *text, enum address_format *format)
{
	static const char letters[] = "nigl";
	const char *letter = strlen(text) == 1 ? strchr(letters, *text) : NULL;

	if (!letter)
		return false;
	*format = (enum address_format)(ADDRESS_FORMAT_NAME + (letter - letters));
	return true;
}

static bool looks_like_gid(const uint8_t ip6[16])
{
	static const uint8_t link_local[8] = {0xfe, 0x80};
	const uint8_t *id = ip6 + 8;

	return !memcmp(ip6, link_local, 8) && (id[0] || id[1] || id[2]) &&
	       !(id[3] == 0xff && id[4] == 0xfe);
}

static bool is_hex(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

static bool looks_like_lid(const char *text)
{
	return is_hex(text) || (*text && !text[strspn(text, "0123456789")]);
}

static int parse_lid(const char *text, struct acm_address *address, char *why, size_t size)
{
	const char *digits = is_hex(text) ? text + 2 : text;
	const char *allowed = is_hex(text) ? "0123456789abcdefABCDEF" : "0123456789";
	unsigned long lid = 0;
	uint8_t data[2];

	/* Before strtoul(), which takes signs and blanks. ULONG_MAX stands for too many digits. */
	if (*digits && !digits[strspn(digits, allowed)])
		lid = strtoul(digits, NULL, is_hex(text) ? 16 : 10);
	if (lid < 1 || lid > LID_MAX) {
		snprintf(why, size,
			 "'%s' is not a LID; give a number from 1 to %u or from 0x1 to 0x%x, or "
			 "-f n when it is a name",
			 text, LID_MAX, LID_MAX);
		return -EINVAL;
	}
	store_be16(data, (uint16_t)lid);
	return acm_address_canonical(address, ACM_ADDRESS_LID, data, sizeof(data));
}

static int parse_gid(const char *text, struct acm_address *address, char *why, size_t size)
{
	uint8_t gid[16];

	if (inet_pton(AF_INET6, text, gid) == 1)
		return acm_address_canonical(address, ACM_ADDRESS_GID, gid, sizeof(gid));
	snprintf(why, size, "'%s' is not a GID; write it as an IPv6 address, fe80::2:c903:0:1",
		 text);
	return -EINVAL;
}

static int parse_ip(const char *text, struct acm_address *address, char *why, size_t size)
{
	uint8_t ip[16];

	if (inet_pton(AF_INET, text, ip) == 1)
		return acm_address_canonical(address, ACM_ADDRESS_IP, ip, 4);
	if (inet_pton(AF_INET6, text, ip) == 1)
		return acm_address_canonical(address, ACM_ADDRESS_IP6, ip, 16);
	snprintf(why, size, "'%s' is not an IP address; write 10.0.0.2 or fd00::2", text);
	return -EINVAL;
}

static int parse_name(const char *text, struct acm_address *address, char *why, size_t size)
{
	size_t length = strlen(text);
	int error = -EINVAL;

	if (length <= ACM_ADDRESS_MAX)
		error = acm_address_canonical(address, ACM_ADDRESS_NAME, (const uint8_t *)text,
					      length);
	if (!length)
		snprintf(why, size, "an address is empty; give a name, IP address, GID or LID");
	else if (length > ACM_ADDRESS_MAX)
		snprintf(why, size,
			 "the name '%.40s...' has %zu bytes; at most %d can be asked for", text,
			 length, ACM_ADDRESS_MAX);
	else if (error)
		snprintf(why, size, "a name has control characters in it; give one without");
	return error;
}

/* Nobody's name, but easily a mistyped IP address or GID. */
static int refuse_slip(const char *text, char *why, size_t size)
{
	snprintf(why, size,
		 "'%s' is neither an IP address, a GID nor a LID; correct it, or give -f n when it "
		 "is "
		 "a name",
		 text);
	return -EINVAL;
}

static int parse_any(const char *text, struct acm_address *address, char *why, size_t size)
{
	uint8_t ip6[16];

	if (inet_pton(AF_INET6, text, ip6) == 1)
		return looks_like_gid(ip6) ? parse_gid(text, address, why, size)
					   : parse_ip(text, address, why, size);
	if (looks_like_lid(text))
		return parse_lid(text, address, why, size);
	if (*text && !text[strspn(text, "0123456789.")])
		return parse_ip(text, address, why, size);
	if (strchr(text, ':'))
		return refuse_slip(text, why, size);
	return parse_name(text, address, why, size);
}

int address_text_parse(const char *text, enum address_format format, struct acm_address *address,
		       char *why, size_t size)
{
	switch (format) {
	case ADDRESS_FORMAT_NAME:
		return parse_name(text, address, why, size);
	case ADDRESS_FORMAT_IP:
		return parse_ip(text, address, why, size);
	case ADDRESS_FORMAT_GID:
		return parse_gid(text, address, why, size);
	case ADDRESS_FORMAT_LID:
		return parse_lid(text, address, why, size);
	case ADDRESS_FORMAT_ANY:
		break;
	}
	return parse_any(text, address, why, size);
}
