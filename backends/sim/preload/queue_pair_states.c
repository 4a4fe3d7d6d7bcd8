/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "queue_pair_states.h"

#include <errno.h>
#include <stddef.h>

struct change {
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int needed;
	int allowed; /* besides IBV_QP_STATE and what is needed */
};

/* IBA vol. 1, 11.2.5.2, unreliable datagrams. */
static const struct change changes[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
};

int preload_state_change_check(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE) ? EINVAL : 0;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		const struct change *change = &changes[i];

		if (change->from == from && change->to == to)
			return (mask & change->needed) != change->needed ||
					       mask & ~(IBV_QP_STATE | change->needed |
							change->allowed)
				       ? EINVAL
				       : 0;
	}
	return EINVAL;
}
