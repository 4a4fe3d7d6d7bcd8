/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any frame decodes to something; what is not malformed survives a trip through the encoder. */
#include <stdlib.h>
#include <string.h>

#include <acmite/wire.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t frame[ACM_CLIENT_REQUEST_MAX];
	struct acm_request request = {0}, again = {0};
	int length = acm_client_frame(data, size);

	if (length > ACM_CLIENT_REQUEST_MAX)
		abort();
	acm_client_decode_request(data, size, &request);
	if (request.kind == ACM_REQUEST_MALFORMED)
		return 0;
	length = acm_client_encode_request(&request, frame, sizeof(frame));
	if (length < ACM_CLIENT_HEADER_LENGTH || acm_client_frame(frame, (size_t)length) != length)
		abort();
	acm_client_decode_request(frame, (size_t)length, &again);
	if (again.kind != request.kind || again.tid != request.tid ||
	    !acm_address_equal(&again.destination, &request.destination) ||
	    !acm_address_equal(&again.source, &request.source))
		abort();
	return 0;
}
