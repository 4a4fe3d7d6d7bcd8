/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Partitions under ibsim: those of the topology, with what changed of them since. */
#ifndef ACMITE_SIM_IBSIM_PARTITIONS_H
#define ACMITE_SIM_IBSIM_PARTITIONS_H

#include "control.h"

struct ibsim_partitions {
	struct sim_topology view; /* the topology with partitions of our own, to be written out */
};

/* 0 or -ENOMEM; in either case ibsim_partitions_free() is to be called. The topology must outlive
 * it. */
int ibsim_partitions_init(struct ibsim_partitions *partitions, const struct sim_topology *topology);
void ibsim_partitions_free(struct ibsim_partitions *partitions);
/* What a host is in the partition of these 15 bits, which is made when there is none. 0, -EINVAL
 * (no such host or P_Key) or -ENOMEM. */
int ibsim_partitions_change(struct ibsim_partitions *partitions, uint32_t node, uint16_t pkey,
			    enum sim_membership membership);

#endif
