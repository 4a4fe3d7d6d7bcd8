/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "address_file.h"

#include <acmite/wire.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIELDS 4
#define BLANKS " \t\r\n"

static bool read_address(const char *text, struct acm_address *address)
{
	uint8_t ip[16];
	size_t length = strlen(text);

	if (inet_pton(AF_INET, text, ip) == 1)
		return !acm_address_canonical(address, ACM_ADDRESS_IP, ip, 4);
	if (inet_pton(AF_INET6, text, ip) == 1)
		return !acm_address_canonical(address, ACM_ADDRESS_IP6, ip, 16);
	return length <= ACM_ADDRESS_MAX &&
	       !acm_address_canonical(address, ACM_ADDRESS_NAME, (const uint8_t *)text, length);
}

static bool read_port(const char *text, uint8_t *port)
{
	char *end;
	unsigned long number;

	if (!isdigit((unsigned char)text[0]))
		return false;
	number = strtoul(text, &end, 10);
	if (*end || number < 1 || number > 254)
		return false;
	*port = (uint8_t)number;
	return true;
}

static bool read_pkey(const char *text, uint16_t *pkey)
{
	char *end;
	unsigned long number;

	if (!strcasecmp(text, "default")) {
		*pkey = 0;
		return true;
	}
	if (!isxdigit((unsigned char)text[0]))
		return false;
	number = strtoul(text, &end, 16);
	if (*end || number > UINT16_MAX || !(number & 0x7fff))
		return false;
	*pkey = (uint16_t)number;
	return true;
}

static int append(struct address_file *file, const struct address_entry *entry)
{
	/* Doubles whenever the count is a power of two. */
	if (!(file->count & (file->count - 1))) {
		size_t room = file->count ? file->count * 2 : 1;
		struct address_entry *entries = reallocarray(file->entries, room, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		file->entries = entries;
	}
	file->entries[file->count++] = *entry;
	return 0;
}

static unsigned int split(char *line, char *fields[FIELDS])
{
	unsigned int count = 0;
	char *rest = NULL;

	line[strcspn(line, "#")] = '\0';
	for (char *token = strtok_r(line, BLANKS, &rest); token;
	     token = strtok_r(NULL, BLANKS, &rest)) {
		if (count < FIELDS)
			fields[count] = token;
		count++;
	}
	return count;
}

/* True: `entry` is whole. False: told, or an IP address that does not count. */
static bool read_entry(struct address_file *file, char *fields[FIELDS], const char *path,
		       unsigned int line, enum address_file_ips ips, struct problems *problems,
		       struct address_entry *entry)
{
	bool right = true;

	if (!read_address(fields[0], &entry->address)) {
		problems_error(
			problems, path, line,
			"%.80s is no address; expected: an IP address or a name of 1 to %d bytes",
			fields[0], ACM_ADDRESS_MAX);
		return false;
	}
	if (entry->address.type != ACM_ADDRESS_NAME && ips == ADDRESS_FILE_SKIP_IPS) {
		file->skipped_ips++;
		return false;
	}
	if (strlen(fields[1]) >= sizeof(entry->device)) {
		problems_error(problems, path, line,
			       "%.80s is no device; expected: at most %d bytes", fields[1],
			       ACM_ADDRESS_MAX - 1);
		right = false;
	}
	if (!read_port(fields[2], &entry->port)) {
		problems_error(problems, path, line, "%.80s is no port; expected: 1 to 254",
			       fields[2]);
		right = false;
	}
	if (!read_pkey(fields[3], &entry->pkey)) {
		problems_error(
			problems, path, line,
			"%.80s is no P_Key; expected: default, or a hexadecimal number up to ffff",
			fields[3]);
		right = false;
	}
	if (!right)
		return false;
	memcpy(entry->text, fields[0], strlen(fields[0]));
	memcpy(entry->device, fields[1], strlen(fields[1]));
	return true;
}

static int read_lines(struct address_file *file, const char *path, FILE *in,
		      enum address_file_ips ips, struct problems *problems)
{
	char *line = NULL;
	size_t size = 0;
	unsigned int number = 0;
	int error = 0;

	while (!error && getline(&line, &size, in) >= 0) {
		struct address_entry entry = {.port = 0};
		char *fields[FIELDS];
		unsigned int count = split(line, fields);

		number++;
		if (!count)
			continue;
		if (count != FIELDS)
			problems_error(problems, path, number,
				       "%u words; expected: address device port pkey", count);
		else if (read_entry(file, fields, path, number, ips, problems, &entry))
			error = append(file, &entry);
	}
	free(line);
	if (!error && ferror(in))
		error = -EIO;
	return error;
}

int address_file_read(struct address_file *file, const char *path, FILE *in,
		      enum address_file_ips ips, struct problems *problems)
{
	int error;

	memset(file, 0, sizeof(*file));
	error = read_lines(file, path, in, ips, problems);
	if (error) {
		problems_error(problems, path, 0, "cannot be read: %s", strerror(-error));
		address_file_free(file);
		return error;
	}
	if (file->skipped_ips)
		problems_warning(
			problems, path, 0,
			"%u IP addresses are left out: they come from the system; the option"
			" support_ips_in_addr_cfg 1 takes them from here",
			file->skipped_ips);
	return 0;
}

int address_file_load(struct address_file *file, const char *path, enum address_file_ips ips,
		      struct problems *problems)
{
	FILE *in = fopen(path, "re");
	int error;

	if (!in) {
		error = -errno;
		memset(file, 0, sizeof(*file));
		problems_error(problems, path, 0, "cannot be read: %s", strerror(-error));
		return error;
	}
	error = address_file_read(file, path, in, ips, problems);
	fclose(in);
	return error;
}

void address_file_free(struct address_file *file)
{
	free(file->entries);
	memset(file, 0, sizeof(*file));
}
