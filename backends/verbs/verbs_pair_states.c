/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verbs_pair_states.h"

#include "verbs_error.h"

int verbs_pair_initialise(struct ibv_qp *pair, const struct verbs_pair_attributes *attributes)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .pkey_index = attributes->pkey_index,
				   .port_num = attributes->port,
				   .qkey = attributes->qkey};

	return verbs_error(ibv_modify_qp(
		pair, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
}

int verbs_pair_start(struct ibv_qp *pair)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	int error = verbs_error(ibv_modify_qp(pair, &attr, IBV_QP_STATE));

	attr.qp_state = IBV_QPS_RTS;
	if (!error)
		error = verbs_error(ibv_modify_qp(pair, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return error;
}

int verbs_pair_reset(struct ibv_qp *pair)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return verbs_error(ibv_modify_qp(pair, &attr, IBV_QP_STATE));
}

int verbs_pair_resume(struct ibv_qp *pair)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE};

	return verbs_error(ibv_modify_qp(pair, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
}

int verbs_pair_state(struct ibv_qp *pair, enum ibv_qp_state *state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_qp_init_attr init;
	int error = verbs_error(ibv_query_qp(pair, &attr, IBV_QP_STATE, &init));

	*state = attr.qp_state;
	return error;
}
