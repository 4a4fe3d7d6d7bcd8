/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology_file.h"

#include "topology_fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Far above the largest fabric written out line by line. */
#define FILE_BYTES_MAX (64u << 20)

static int report_unreadable(const char *path, const char *why, const char *what,
			     struct sim_errors *errors)
{
	struct sim_faults faults = {0};

	sim_fault_add(&faults, (struct sim_place){0}, "cannot be read: %s, %s was expected", why,
		      what);
	return sim_faults_report(&faults, path, errors);
}

/* The whole of a file, which may be a pipe. NULL: errno. */
static char *read_all(FILE *file, size_t *length)
{
	size_t room = 65536;
	char *text = malloc(room);

	*length = 0;
	while (text) {
		char *larger;

		*length += fread(text + *length, 1, room - *length, file);
		if (ferror(file) || *length > FILE_BYTES_MAX) {
			if (!ferror(file))
				errno = EFBIG;
			free(text);
			return NULL;
		}
		if (*length < room)
			return text;
		room *= 2;
		larger = realloc(text, room);
		if (!larger)
			free(text);
		text = larger;
	}
	errno = ENOMEM;
	return NULL;
}

int sim_topology_file_read(const char *path, const char *what, char **text, size_t *length,
			   struct sim_errors *errors)
{
	FILE *file = fopen(path, "re");
	int ret;

	memset(errors, 0, sizeof(*errors));
	if (!file)
		return report_unreadable(path, strerror(errno), what, errors);
	*text = read_all(file, length);
	ret = *text ? 0 : -errno;
	fclose(file);
	if (!ret || ret == -ENOMEM)
		return ret;
	return report_unreadable(path, strerror(-ret), what, errors);
}
