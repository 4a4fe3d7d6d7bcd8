/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int output_queue_append(struct output_queue *queue, const uint8_t *data, size_t length)
{
	size_t held = output_queue_length(queue);

	if (queue->begin) {
		memmove(queue->data, queue->data + queue->begin, held);
		queue->begin = 0;
		queue->end = held;
	}
	if (held + length > queue->size) {
		size_t size = queue->size ? queue->size : 1024;
		uint8_t *grown;

		while (size < held + length)
			size *= 2;
		grown = realloc(queue->data, size);
		if (!grown)
			return -ENOMEM;
		queue->data = grown;
		queue->size = size;
	}
	memcpy(queue->data + queue->end, data, length);
	queue->end += length;
	return 0;
}

size_t output_queue_length(const struct output_queue *queue)
{
	return queue->end - queue->begin;
}

ptrdiff_t output_queue_send(struct output_queue *queue, int fd)
{
	ssize_t sent = send(fd, queue->data + queue->begin, output_queue_length(queue),
			    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	queue->begin += (size_t)sent;
	if (queue->begin == queue->end)
		output_queue_clear(queue);
	return sent;
}

void output_queue_clear(struct output_queue *queue)
{
	free(queue->data);
	memset(queue, 0, sizeof(*queue));
}
