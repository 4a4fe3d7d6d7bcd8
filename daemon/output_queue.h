/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ACMITE_DAEMON_OUTPUT_QUEUE_H
#define ACMITE_DAEMON_OUTPUT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that a socket did not take yet. All zero: empty, and without memory. */
struct output_queue {
	uint8_t *data;
	size_t begin;
	size_t end;
	size_t size;
};

/* 0 or -ENOMEM. */
int output_queue_append(struct output_queue *queue, const uint8_t *data, size_t length);
size_t output_queue_length(const struct output_queue *queue);
/* Sends what the socket takes. Bytes sent, 0 when it takes none now, or negative errno. */
ptrdiff_t output_queue_send(struct output_queue *queue, int fd);
/* Frees the memory. */
void output_queue_clear(struct output_queue *queue);

#endif
