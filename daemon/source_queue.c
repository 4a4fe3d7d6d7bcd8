/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source_queue.h"

#include <stdlib.h>
#include <string.h>

struct source_answer {
	uint64_t cookie;
	struct acm_address address;
};

void source_queue_put(struct source_queue *queue, uint64_t cookie,
		      const struct acm_address *address)
{
	struct source_answer *answer;

	if (queue->end == queue->size) {
		size_t size = queue->size ? queue->size * 2 : 16;
		struct source_answer *grown = reallocarray(queue->answers, size, sizeof(*grown));

		if (!grown)
			return;
		queue->answers = grown;
		queue->size = size;
	}
	answer = &queue->answers[queue->end++];
	memset(answer, 0, sizeof(*answer));
	answer->cookie = cookie;
	if (address)
		answer->address = *address;
}

bool source_queue_take(struct source_queue *queue, uint64_t *cookie, struct acm_address *address)
{
	if (queue->begin == queue->end)
		return false;
	*cookie = queue->answers[queue->begin].cookie;
	*address = queue->answers[queue->begin].address;
	queue->begin++;
	if (queue->begin == queue->end) {
		queue->begin = 0;
		queue->end = 0;
	}
	return true;
}

size_t source_queue_length(const struct source_queue *queue)
{
	return queue->end - queue->begin;
}

void source_queue_clear(struct source_queue *queue)
{
	free(queue->answers);
	memset(queue, 0, sizeof(*queue));
}
