/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "missing_operations.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include "call.h"

static void *miss(const char *name)
{
	preload_complain("%s is not there on a simulated node", name);
	errno = EOPNOTSUPP;
	return NULL;
}

static int miss_status(const char *name)
{
	miss(name);
	return EOPNOTSUPP;
}

/* Of an object, or a status; `of` is what it is done to, `how` its attributes. */
#define OBJECT(call, type, of_type, how_type)                                                      \
	static type *miss_##call(of_type *of, how_type *how)                                       \
	{                                                                                          \
		(void)of;                                                                          \
		(void)how;                                                                         \
		return miss("ibv_" #call);                                                         \
	}
#define STATUS(call, of_type, how_type)                                                            \
	static int miss_##call(of_type *of, how_type *how)                                         \
	{                                                                                          \
		(void)of;                                                                          \
		(void)how;                                                                         \
		return miss_status("ibv_" #call);                                                  \
	}

OBJECT(create_cq_ex, struct ibv_cq_ex, struct ibv_context, struct ibv_cq_init_attr_ex)
OBJECT(create_qp_ex, struct ibv_qp, struct ibv_context, struct ibv_qp_init_attr_ex)
OBJECT(open_qp, struct ibv_qp, struct ibv_context, struct ibv_qp_open_attr)
OBJECT(create_srq_ex, struct ibv_srq, struct ibv_context, struct ibv_srq_init_attr_ex)
OBJECT(open_xrcd, struct ibv_xrcd, struct ibv_context, struct ibv_xrcd_init_attr)
OBJECT(create_wq, struct ibv_wq, struct ibv_context, struct ibv_wq_init_attr)
OBJECT(create_rwq_ind_table, struct ibv_rwq_ind_table, struct ibv_context,
       struct ibv_rwq_ind_table_init_attr)
OBJECT(create_flow, struct ibv_flow, struct ibv_qp, struct ibv_flow_attr)
OBJECT(create_flow_action_esp, struct ibv_flow_action, struct ibv_context,
       struct ibv_flow_action_esp_attr)
OBJECT(create_counters, struct ibv_counters, struct ibv_context, struct ibv_counters_init_attr)
OBJECT(alloc_dm, struct ibv_dm, struct ibv_context, struct ibv_alloc_dm_attr)
OBJECT(alloc_td, struct ibv_td, struct ibv_context, struct ibv_td_init_attr)
OBJECT(alloc_parent_domain, struct ibv_pd, struct ibv_context, struct ibv_parent_domain_init_attr)
STATUS(modify_cq, struct ibv_cq, struct ibv_modify_cq_attr)
STATUS(modify_qp_rate_limit, struct ibv_qp, struct ibv_qp_rate_limit_attr)
STATUS(query_rt_values_ex, struct ibv_context, struct ibv_values_ex)

static struct ibv_mr *miss_alloc_null_mr(struct ibv_pd *domain)
{
	(void)domain;
	return miss("ibv_alloc_null_mr");
}

static struct ibv_mw *miss_alloc_mw(struct ibv_pd *domain, enum ibv_mw_type type)
{
	(void)domain;
	(void)type;
	return miss("ibv_alloc_mw");
}

static int miss_advise_mr(struct ibv_pd *domain, enum ibv_advise_mr_advice advice, uint32_t flags,
			  struct ibv_sge *pieces, uint32_t count)
{
	(void)domain;
	(void)advice;
	(void)flags;
	(void)pieces;
	(void)count;
	return miss_status("ibv_advise_mr");
}

void preload_miss_operations(struct verbs_context *context)
{
	context->create_cq_ex = miss_create_cq_ex;
	context->create_qp_ex = miss_create_qp_ex;
	context->open_qp = miss_open_qp;
	context->create_srq_ex = miss_create_srq_ex;
	context->open_xrcd = miss_open_xrcd;
	context->create_wq = miss_create_wq;
	context->create_rwq_ind_table = miss_create_rwq_ind_table;
	context->ibv_create_flow = miss_create_flow;
	context->create_flow_action_esp = miss_create_flow_action_esp;
	context->create_counters = miss_create_counters;
	context->alloc_dm = miss_alloc_dm;
	context->alloc_td = miss_alloc_td;
	context->alloc_parent_domain = miss_alloc_parent_domain;
	context->modify_cq = miss_modify_cq;
	context->modify_qp_rate_limit = miss_modify_qp_rate_limit;
	context->query_rt_values = miss_query_rt_values_ex;
	context->alloc_null_mr = miss_alloc_null_mr;
	context->advise_mr = miss_advise_mr;
	context->context.ops.alloc_mw = miss_alloc_mw;
}
