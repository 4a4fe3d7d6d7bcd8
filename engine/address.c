/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "address.h"

#include <errno.h>
#include <string.h>

#include <acmite/bytes.h>
#include <acmite/trace.h>
#include <acmite/wire.h>

#include "text_writer.h"

#define IP_LENGTH  4
#define IP6_LENGTH 16
#define LID_LENGTH 2

/* Bytes of an address of a type with one length only, else 0. */
static size_t fixed_length(unsigned int type)
{
	switch (type) {
	case ACM_ADDRESS_IP:
		return IP_LENGTH;
	case ACM_ADDRESS_IP6:
	case ACM_ADDRESS_GID:
		return IP6_LENGTH;
	case ACM_ADDRESS_LID:
		return LID_LENGTH;
	default:
		return 0;
	}
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static int canonical_name(struct acm_address *address, const uint8_t *data, size_t length)
{
	struct acm_address name = {.type = ACM_ADDRESS_NAME};
	size_t end = 0;

	for (; end < length && data[end] != '\0'; end++) {
		if (end == ACM_ADDRESS_MAX || data[end] < 0x20 || data[end] == 0x7f)
			return -EINVAL;
		name.data[end] = lower(data[end]);
	}
	if (end == 0)
		return -EINVAL;
	name.length = (uint8_t)end;
	*address = name;
	return 0;
}

int acm_address_canonical(struct acm_address *address, enum acm_address_type type,
			  const uint8_t *data, size_t length)
{
	struct acm_address result = {.type = (uint8_t)type};

	if (type == ACM_ADDRESS_NAME)
		return canonical_name(address, data, length);
	if (length == 0 || length != fixed_length(type))
		return -EINVAL;
	/* By way of a copy, as `data` may lie in `address`. */
	memcpy(result.data, data, length);
	result.length = (uint8_t)length;
	*address = result;
	return 0;
}

bool acm_address_equal(const struct acm_address *a, const struct acm_address *b)
{
	return a->type == b->type && a->length == b->length &&
	       memcmp(a->data, b->data, a->length) == 0;
}

int acm_address_load(struct acm_address *address, unsigned int type, const uint8_t *field,
		     size_t length)
{
	size_t fixed = fixed_length(type);

	if (type != ACM_ADDRESS_NAME && (fixed == 0 || length < fixed))
		return -EINVAL;
	return acm_address_canonical(address, (enum acm_address_type)type, field,
				     fixed != 0 ? fixed : length);
}

void acm_address_store(const struct acm_address *address, uint8_t *field)
{
	memcpy(field, address->data, ACM_ADDRESS_MAX);
}

static void write_ip(struct text_writer *writer, const uint8_t *bytes)
{
	for (unsigned int i = 0; i < IP_LENGTH; i++) {
		if (i > 0)
			text_writer_char(writer, '.');
		text_writer_decimal(writer, bytes[i]);
	}
}

/* The longest run of at least two zero groups, the first of equals: [*begin, *end); 8, 8 for none.
 */
static void find_zero_run(const uint8_t *bytes, unsigned int *begin, unsigned int *end)
{
	*begin = *end = 8;
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int j = i;

		while (j < 8 && load_be16(bytes + 2 * j) == 0)
			j++;
		if (j - i >= 2 && j - i > *end - *begin) {
			*begin = i;
			*end = j;
		}
		if (j > i)
			i = j;
	}
}

/* RFC 5952, with section 5's form for IPv4-mapped addresses. */
static void write_ip6(struct text_writer *writer, const uint8_t *bytes)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	unsigned int begin, end;

	if (memcmp(bytes, mapped, sizeof(mapped)) == 0) {
		text_writer_string(writer, "::ffff:");
		write_ip(writer, bytes + sizeof(mapped));
		return;
	}
	find_zero_run(bytes, &begin, &end);
	for (unsigned int i = 0; i < 8; i++) {
		if (i == begin) {
			text_writer_string(writer, "::");
			i = end - 1;
			continue;
		}
		if (i > 0 && i != end)
			text_writer_char(writer, ':');
		text_writer_hex(writer, load_be16(bytes + 2 * i), 1);
	}
}

size_t acm_gid_format(const struct acm_gid *gid, char *text, size_t size)
{
	struct text_writer writer;

	text_writer_init(&writer, text, size);
	write_ip6(&writer, gid->raw);
	return writer.length;
}

size_t acm_address_format(const struct acm_address *address, char *text, size_t size)
{
	struct text_writer writer;

	text_writer_init(&writer, text, size);
	switch (address->type) {
	case ACM_ADDRESS_NAME:
		for (unsigned int i = 0; i < address->length; i++)
			text_writer_char(&writer, (char)address->data[i]);
		break;
	case ACM_ADDRESS_IP:
		write_ip(&writer, address->data);
		break;
	case ACM_ADDRESS_IP6:
	case ACM_ADDRESS_GID:
		write_ip6(&writer, address->data);
		break;
	case ACM_ADDRESS_LID:
		text_writer_decimal(&writer, load_be16(address->data));
		break;
	default:
		break;
	}
	return writer.length;
}
