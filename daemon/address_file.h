/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_ADDRESS_FILE_H
#define ACMITE_DAEMON_ADDRESS_FILE_H

#include <acmite/types.h>
#include "problems.h"

struct address_entry {
	struct acm_address address;
	char text[ACM_ADDRESS_MAX + 1]; /* as written */
	char device[ACM_ADDRESS_MAX];
	uint8_t port;  /* from 1 */
	uint16_t pkey; /* 0: the default partition */
};

struct address_file {
	struct address_entry *entries;
	size_t count;
	unsigned int skipped_ips;
};

/* Whether IP addresses of the file count (the option support_ips_in_addr_cfg). */
enum address_file_ips { ADDRESS_FILE_SKIP_IPS, ADDRESS_FILE_TAKE_IPS };

/*
 * Reads `address device port pkey` lines; # begins a comment. A line with a fault is told and left
 * out. 0 and `file` the caller's (address_file_free()), or negative errno, told too.
 */
int address_file_load(struct address_file *file, const char *path, enum address_file_ips ips,
		      struct problems *problems);
int address_file_read(struct address_file *file, const char *path, FILE *in,
		      enum address_file_ips ips, struct problems *problems);
void address_file_free(struct address_file *file);

#endif
