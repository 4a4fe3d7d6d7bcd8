/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which changes of state a queue pair for datagrams can make, and what each needs. Pure. */
#ifndef PRELOAD_QUEUE_PAIR_STATES_H
#define PRELOAD_QUEUE_PAIR_STATES_H

#include <infiniband/verbs.h>

/* 0, or EINVAL: no such change, or `mask` (enum ibv_qp_attr_mask) has too little or too much. */
int preload_state_change_check(enum ibv_qp_state from, enum ibv_qp_state to, int mask);

#endif
