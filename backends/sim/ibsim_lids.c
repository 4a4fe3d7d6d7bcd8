/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ibsim_lids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LID_END 0xc000u /* the first that is none of a port */

struct given {
	uint64_t guid;
	uint32_t first, last;
};

struct given_list {
	struct given *all;
	uint32_t count, room;
};

static bool append(struct given_list *list, const struct given *given)
{
	uint32_t room = 2 * list->room + 64;
	struct given *larger;

	if (list->count == list->room) {
		larger = reallocarray(list->all, room, sizeof(*larger));
		if (!larger)
			return false;
		list->all = larger;
		list->room = room;
	}
	list->all[list->count++] = *given;
	return true;
}

/* Lines of a GUID, the first LID and the last one; empty ones between them. */
static int read_file(const char *path, struct given_list *list)
{
	FILE *file = fopen(path, "re");
	char line[128];
	bool good = true;

	if (!file)
		return -errno;
	while (good && fgets(line, sizeof(line), file)) {
		struct given given;

		if (sscanf(line, "%" SCNx64 " %" SCNx32 " %" SCNx32, &given.guid, &given.first,
			   &given.last) == 3)
			good = append(list, &given);
	}
	fclose(file);
	return good ? 0 : -ENOMEM;
}

static int write_file(const char *path, const struct given_list *list)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -errno;
	for (uint32_t i = 0; i < list->count; i++)
		fprintf(file, "0x%016" PRIx64 " 0x%04" PRIx32 " 0x%04" PRIx32 "\n\n",
			list->all[i].guid, list->all[i].first, list->all[i].last);
	return fclose(file) == 0 ? 0 : -EIO;
}

/* `lid`, or the next one that might be free: where nobody has it, the same. */
static uint32_t pass_used(const struct given_list *list, uint32_t lid)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (lid >= list->all[i].first && lid <= list->all[i].last)
			return list->all[i].last + 1;
	return lid;
}

static int move(struct given_list *list, uint64_t guid)
{
	uint32_t lid = 1, next;

	while (lid < LID_END && (next = pass_used(list, lid)) != lid)
		lid = next;
	if (lid >= LID_END)
		return -ENOSPC;
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->all[i].guid != guid)
			continue;
		list->all[i].first = list->all[i].last = lid;
		return 0;
	}
	return -ENOENT;
}

int ibsim_lids_move(const char *path, uint64_t guid)
{
	struct given_list list = {0};
	int error = read_file(path, &list);

	if (!error)
		error = move(&list, guid);
	if (!error)
		error = write_file(path, &list);
	free(list.all);
	return error;
}
