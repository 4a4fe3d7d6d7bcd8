/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists of names with ranges, as batch systems write them: node[01-32], a[1,3-5],
 * rack[1-2]n[1-4]-ib0, and several of these with commas between. Numbers keep the width of a lower
 * end that begins with a zero; several brackets give every combination, the last bracket counting
 * fastest.
 */
#ifndef ACMITE_SIM_HOSTLIST_H
#define ACMITE_SIM_HOSTLIST_H

#include <stddef.h>
#include <stdint.h>

#define HOSTLIST_NAMES_MAX       1000000u
#define HOSTLIST_NAME_LENGTH_MAX 255u

struct hostlist {
	uint32_t count;
	char **names; /* in the order written */
	char *text;   /* what the names point into */
};

struct hostlist_fault {
	size_t offset;  /* bytes from the start of the text */
	char text[160]; /* what is wrong, what was expected */
};

/*
 * Expands `length` bytes of text. Blanks around the whole and around commas between names do not
 * count. 0 and the list is the caller's to free; -EINVAL and the first fault; -ENOMEM.
 */
int hostlist_expand(const char *text, size_t length, struct hostlist *list,
		    struct hostlist_fault *fault);
void hostlist_free(struct hostlist *list);

#endif
