/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A message that decodes is encoded to one that decodes the same. */
#include <stdlib.h>
#include <string.h>

#include <acmite/transport.h>
#include <acmite/wire.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t mad[ACM_MAD_LENGTH];
	struct acm_message message, again;

	if (acm_message_decode(data, size, &message) != 0)
		return 0;
	acm_message_encode(&message, mad);
	if (acm_message_decode(mad, sizeof(mad), &again) != 0 || again.tid != message.tid ||
	    again.gid_count != message.gid_count ||
	    memcmp(again.gids, message.gids, sizeof(again.gids)) != 0 ||
	    !acm_address_equal(&again.source, &message.source) ||
	    !acm_address_equal(&again.destination, &message.destination))
		abort();
	return 0;
}
