/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_completion.h"

#include "verbs_slab.h"

#include <acmite/bytes.h>
#include <errno.h>
#include <string.h>

int verbs_completion_status(const struct ibv_wc *completion)
{
	switch (completion->status) {
	case IBV_WC_SUCCESS:
		return 0;
	case IBV_WC_WR_FLUSH_ERR:
		return -ECANCELED;
	case IBV_WC_LOC_LEN_ERR:
		return -EMSGSIZE;
	case IBV_WC_LOC_PROT_ERR:
		return -EFAULT;
	default:
		return -EIO;
	}
}

/* The GRH as it came. */
static void read_grh(const uint8_t *grh, struct acm_datagram_received *datagram)
{
	uint32_t first = load_be32(grh);

	datagram->traffic_class = (uint8_t)(first >> 20);
	datagram->flow_label = first & 0xfffff;
	datagram->hop_limit = grh[7];
	memcpy(datagram->sgid.raw, grh + 8, 16);
	memcpy(datagram->dgid.raw, grh + 24, 16);
}

bool verbs_completion_datagram(const struct ibv_wc *completion, const uint8_t *bytes,
			       struct acm_datagram_received *datagram)
{
	if (completion->byte_len < VERBS_GRH_LENGTH || !(completion->wc_flags & IBV_WC_GRH))
		return false;
	datagram->slid = completion->slid;
	datagram->sl = completion->sl;
	datagram->source_qpn = completion->src_qp;
	datagram->payload = bytes + VERBS_GRH_LENGTH;
	datagram->length = (uint16_t)(completion->byte_len - VERBS_GRH_LENGTH);
	read_grh(bytes, datagram);
	if (datagram->dgid.raw[0] != 0xff) /* it means nothing with a group's LID */
		datagram->dlid_path_bits = completion->dlid_path_bits;
	return true;
}
