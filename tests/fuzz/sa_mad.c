/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The three decoders of SA MADs; a record that is taken has its LIDs and codes in range. */
#include <stdlib.h>

#include <acmite/wire.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct acm_sa_header header;
	struct acm_path path;
	struct acm_mcmember member;

	if (acm_sa_decode_header(data, size, &header) == 0 && header.status != 0 &&
	    acm_sa_client_status(header.status) == ACM_STATUS_OK)
		abort();
	if (acm_sa_decode_path(data, size, &path) == 0 &&
	    (path.dlid == 0 || path.slid == 0 || acm_mtu_bytes(path.mtu) == 0))
		abort();
	if (acm_sa_decode_mcmember(data, size, &member) == 0 &&
	    (member.mlid < ACM_LID_MULTICAST || acm_rate_tenths_gbps(member.rate) == 0))
		abort();
	return 0;
}
