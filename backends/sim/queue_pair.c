/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "queue_pair.h"

#include "wiring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MASK      0xffffffu
#define NUMBER_MULTICAST 0xffffffu

int sim_queue_pairs_init(struct sim_queue_pairs *pairs, uint32_t port_count, uint64_t seed)
{
	uint64_t mixed = sim_mix(seed + UINT64_C(0x9e3779b97f4a7c15));

	*pairs = (struct sim_queue_pairs){.bucket_mask = 63};
	pairs->next_number = (uint32_t)mixed & NUMBER_MASK;
	/* Odd: all numbers come before one comes again. */
	pairs->step = ((uint32_t)(mixed >> 32) | 1) & NUMBER_MASK;
	pairs->buckets = calloc(64, sizeof(struct sim_queue_pair *));
	pairs->attachments = calloc((size_t)port_count + 1, sizeof(struct sim_attachment *));
	if (!pairs->buckets || !pairs->attachments) {
		sim_queue_pairs_free(pairs);
		return -ENOMEM;
	}
	return 0;
}

void sim_queue_pairs_free(struct sim_queue_pairs *pairs)
{
	assert(!pairs->count);
	free(pairs->buckets);
	free(pairs->attachments);
	*pairs = (struct sim_queue_pairs){0};
}

static struct sim_queue_pair **bucket_of(const struct sim_queue_pairs *pairs, uint32_t number)
{
	return &pairs->buckets[sim_mix(number) & pairs->bucket_mask];
}

/* When there is no memory the lists become longer, that is all. */
static void grow(struct sim_queue_pairs *pairs)
{
	struct sim_queue_pair **old = pairs->buckets;
	uint32_t count = pairs->bucket_mask + 1;
	struct sim_queue_pair **buckets =
		calloc((size_t)count * 2, sizeof(struct sim_queue_pair *));

	if (!buckets)
		return;
	pairs->buckets = buckets;
	pairs->bucket_mask = 2 * count - 1;
	for (uint32_t i = 0; i < count; i++) {
		while (old[i]) {
			struct sim_queue_pair *moved = old[i];
			struct sim_queue_pair **bucket = bucket_of(pairs, moved->number);

			old[i] = moved->next;
			moved->next = *bucket;
			*bucket = moved;
		}
	}
	free(old);
}

/* 0 and 1 are the management queue pairs' numbers. */
static uint32_t draw_number(struct sim_queue_pairs *pairs)
{
	uint32_t number;

	do {
		number = pairs->next_number;
		pairs->next_number = (number + pairs->step) & NUMBER_MASK;
	} while (number <= 1 || number == NUMBER_MULTICAST || sim_queue_pairs_find(pairs, number));
	return number;
}

struct sim_queue_pair *sim_queue_pairs_open(struct sim_queue_pairs *pairs,
					    const struct sim_queue_pair_options *options)
{
	struct sim_queue_pair *opened = calloc(1, sizeof(*opened));
	struct sim_queue_pair **bucket;

	if (!opened)
		return NULL;
	if (pairs->count > pairs->bucket_mask)
		grow(pairs);
	opened->options = *options;
	opened->number = draw_number(pairs);
	bucket = bucket_of(pairs, opened->number);
	opened->next = *bucket;
	*bucket = opened;
	pairs->count++;
	return opened;
}

static void detach_all(struct sim_queue_pairs *pairs, const struct sim_queue_pair *queue_pair)
{
	struct sim_attachment **link = &pairs->attachments[queue_pair->options.port];

	while (*link) {
		struct sim_attachment *attachment = *link;

		if (attachment->queue_pair == queue_pair) {
			*link = attachment->next;
			free(attachment);
		} else {
			link = &attachment->next;
		}
	}
}

void sim_queue_pairs_close(struct sim_queue_pairs *pairs, struct sim_queue_pair *queue_pair)
{
	struct sim_queue_pair **link = bucket_of(pairs, queue_pair->number);

	detach_all(pairs, queue_pair);
	while (*link != queue_pair)
		link = &(*link)->next;
	*link = queue_pair->next;
	pairs->count--;
	free(queue_pair);
}

struct sim_queue_pair *sim_queue_pairs_find(const struct sim_queue_pairs *pairs, uint32_t number)
{
	struct sim_queue_pair *found = *bucket_of(pairs, number);

	while (found && found->number != number)
		found = found->next;
	return found;
}

int sim_queue_pairs_attach(struct sim_queue_pairs *pairs, struct sim_queue_pair *queue_pair,
			   const struct acm_gid *mgid, uint16_t mlid)
{
	struct sim_attachment **link = &pairs->attachments[queue_pair->options.port];
	struct sim_attachment *made;

	for (; *link; link = &(*link)->next) {
		if ((*link)->queue_pair == queue_pair &&
		    !memcmp(&(*link)->mgid, mgid, sizeof(*mgid)))
			return -EEXIST;
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->mgid = *mgid;
	made->mlid = mlid;
	made->queue_pair = queue_pair;
	*link = made;
	return 0;
}

int sim_queue_pairs_detach(struct sim_queue_pairs *pairs, struct sim_queue_pair *queue_pair,
			   const struct acm_gid *mgid, uint16_t mlid)
{
	struct sim_attachment **link = &pairs->attachments[queue_pair->options.port];

	for (; *link; link = &(*link)->next) {
		struct sim_attachment *attachment = *link;

		if (attachment->queue_pair != queue_pair || attachment->mlid != mlid ||
		    memcmp(&attachment->mgid, mgid, sizeof(*mgid)) != 0)
			continue;
		*link = attachment->next;
		free(attachment);
		return 0;
	}
	return -ENOENT;
}

const struct sim_attachment *sim_attachment_match(const struct sim_attachment *attachment,
						  const struct acm_gid *mgid)
{
	while (attachment && memcmp(&attachment->mgid, mgid, sizeof(*mgid)) != 0)
		attachment = attachment->next;
	return attachment;
}

int sim_queue_pair_pkey_index(const struct acm_port_facts *facts, uint16_t pkey)
{
	int found = -ENOENT;

	if ((pkey & ~ACM_PKEY_FULL) == 0)
		return -ENOENT; /* what an empty entry holds */
	for (int i = 0; i < facts->pkey_count; i++) {
		if (facts->pkeys[i] == pkey)
			return i;
		if (found < 0 && ((facts->pkeys[i] ^ pkey) & ~ACM_PKEY_FULL) == 0)
			found = i;
	}
	return found;
}

struct sim_queue_pair *sim_queue_pairs_pick(const struct sim_queue_pairs *pairs, uint64_t draw)
{
	uint64_t place = pairs->count ? draw % pairs->count : 0;

	for (uint32_t i = 0; i <= pairs->bucket_mask; i++) {
		for (struct sim_queue_pair *at = pairs->buckets[i]; at; at = at->next) {
			if (place-- == 0)
				return at;
		}
	}
	return NULL;
}
