/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes text into a buffer of fixed size without the C library's formatting. What does not fit is
 * cut off; the text is always NUL-terminated, unless the buffer has no byte at all.
 */
#ifndef ACMITE_TEXT_WRITER_H
#define ACMITE_TEXT_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct text_writer {
	char *text;
	size_t size;
	size_t length; /* without the NUL, always below `size` unless that is 0 */
};

void text_writer_init(struct text_writer *writer, char *text, size_t size);
void text_writer_char(struct text_writer *writer, char c);
void text_writer_string(struct text_writer *writer, const char *string);
void text_writer_decimal(struct text_writer *writer, uint64_t value);
/* Lower case, without a prefix, at least `digits` of them. */
void text_writer_hex(struct text_writer *writer, uint64_t value, unsigned int digits);

#endif
