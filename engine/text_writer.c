/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "text_writer.h"

void text_writer_init(struct text_writer *writer, char *text, size_t size)
{
	writer->text = text;
	writer->size = size;
	writer->length = 0;
	if (size > 0)
		text[0] = '\0';
}

void text_writer_char(struct text_writer *writer, char c)
{
	if (writer->length + 1 >= writer->size)
		return;
	writer->text[writer->length++] = c;
	writer->text[writer->length] = '\0';
}

void text_writer_string(struct text_writer *writer, const char *string)
{
	while (*string != '\0')
		text_writer_char(writer, *string++);
}

static void write_digits(struct text_writer *writer, uint64_t value, unsigned int base,
			 unsigned int least)
{
	char reversed[20]; /* UINT64_MAX in decimal */
	unsigned int count = 0;

	do {
		reversed[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value > 0);
	for (unsigned int i = count; i < least; i++)
		text_writer_char(writer, '0');
	while (count > 0)
		text_writer_char(writer, reversed[--count]);
}

void text_writer_decimal(struct text_writer *writer, uint64_t value)
{
	write_digits(writer, value, 10, 1);
}

void text_writer_hex(struct text_writer *writer, uint64_t value, unsigned int digits)
{
	write_digits(writer, value, 16, digits);
}
