/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first byte is the type: canonical forms are their own canonical form and can be printed. */
#include <stdlib.h>
#include <string.h>

#include <acmite/trace.h>
#include <acmite/wire.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct acm_address address, again;
	char text[ACM_ADDRESS_MAX + 1];
	size_t length;

	if (size == 0 || acm_address_canonical(&address, data[0], data + 1, size - 1) != 0)
		return 0;
	if (acm_address_canonical(&again, address.type, address.data, address.length) != 0 ||
	    !acm_address_equal(&address, &again))
		abort();
	length = acm_address_format(&address, text, sizeof(text));
	if (length == 0 || length != strlen(text))
		abort();
	return 0;
}
