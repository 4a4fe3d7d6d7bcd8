/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What decodes as an answer is encoded again to the same length. */
#include <stdlib.h>

#include <acmite/wire.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t frame[UINT16_MAX];
	struct acm_reply reply, again;
	int length;

	if (acm_client_decode_reply(data, size, &reply) != 0)
		return 0;
	length = acm_client_encode_reply(&reply, frame, sizeof(frame));
	if (length < ACM_CLIENT_HEADER_LENGTH || (size_t)length > size)
		abort();
	if (acm_client_decode_reply(frame, (size_t)length, &again) != 0 ||
	    again.status != reply.status || again.tid != reply.tid)
		abort();
	return 0;
}
