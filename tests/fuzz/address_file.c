/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The daemon's address file; an entry that is taken has everything in its range. */
#include "address_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems problems = {.out = fopen("/dev/null", "w")};
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct address_file file;

	if (in && !address_file_read(&file, "addresses", in, ADDRESS_FILE_TAKE_IPS, &problems)) {
		for (size_t i = 0; i < file.count; i++) {
			const struct address_entry *entry = &file.entries[i];

			if (!entry->port || !entry->address.length || !*entry->device ||
			    strlen(entry->text) > ACM_ADDRESS_MAX)
				abort();
		}
		address_file_free(&file);
	}
	if (in)
		fclose(in);
	fclose(problems.out);
	return 0;
}
